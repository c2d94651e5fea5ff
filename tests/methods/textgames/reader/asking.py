"""Asks the reader about news, as the agent does."""

from __future__ import annotations

from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Message, Request
from pddlego.pddl import Atom, Problem, apply_edit, check, parse_edit


class Diary:
    """A problem that the reader keeps up to date. Every edit must apply completely and leave nothing to complain of."""

    def __init__(self, setting: GameSetting, task: str = "") -> None:
        self.setting, self.task, self.problem = setting, task, setting.start.problem
        self.history: list[Exchange] = []

    def read(self, *news: Exchange) -> Problem:
        self.history += news
        setting = self.setting
        knowledge, seen = setting.start.with_problem(self.problem), Observations(news, tuple(self.history))
        asked = PromptContext(knowledge, self.task, seen, reader=setting.reader)
        answer = ReaderModel().complete(Request("edit", (Message("user", ""),), asked)).text
        report = apply_edit(self.problem, parse_edit(answer), self.setting.start.domain.constants)
        assert not report.unmatched
        assert not report.refused
        self.problem = report.problem
        assert not check(self.setting.start.domain, self.problem)
        return self.problem

    def tell(self, command: str | None, text: str, gained: float = 0.0) -> Problem:
        return self.read(Exchange(command, text, None, gained))

    def holds(self, *facts: str) -> bool:
        return all(Atom(*_split(fact)) in self.problem.facts for fact in facts)

    def facts(self, predicate: str) -> set[tuple[str, ...]]:
        return {fact.args for fact in self.problem.facts if fact.predicate == predicate}


def _split(fact: str) -> tuple[str, tuple[str, ...]]:
    predicate, *args = fact.split()
    return predicate, tuple(args)
