"""`python -m benchmarks mutants [GAME…] [--rules FILE] [--episodes N]`: what the checks of mode `learn` find.

Each mutant of a game's reading rules has one typical fault (`reading/mutants.py`). It is found at once by the check of
its form, while playing, because the facts contradict the plan or an invariant, because a sentence has no rule, or
because the rules go back to the model in an episode that they read alone (audit). It is harmless if all facts stay the
same in all episodes, and otherwise silent. The built-in reader plays the
episodes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pddlego
from benchmarks.table import show
from pddlego.methods.textgames.formalize import PromptContext
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reader import ReaderModel, situation_of
from pddlego.methods.textgames.reading.checks import RuleChecker
from pddlego.methods.textgames.reading.engine import HistoryReader, ReadResult
from pddlego.methods.textgames.reading.mutants import mutants
from pddlego.methods.textgames.reading.rules import LearnedRules, ReadingRule
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Request
from pddlego.pddl.invariants import contradictions, one_way

FIRST = 300
"""The first seed."""

WAYS = ("at once", "while playing", "asked again", "audit", "harmless", "silent")


class _Watched(ReaderModel):
    """The built-in reader, and the situations of its requests."""

    def __init__(self) -> None:
        self.situations: list[PromptContext] = []

    def complete(self, request: Request) -> Completion:
        self.situations.append(situation_of(request))
        return super().complete(request)


def found_by(
    setting: GameSetting, rules: Sequence[ReadingRule], place: int, situations: Sequence[PromptContext]
) -> str:
    """How the fault of the rule at that place is found: one of `WAYS`."""
    domain, others = setting.start.domain, [*rules[:place], *rules[place + 1 :]]
    checker = RuleChecker(domain, situations[-1].knowledge.problem, setting.map, bool(setting.start.placeholder))
    if dict(checker.faults([rules[place]], others)):
        return "at once"
    harmless = True
    for situation in situations:
        right, result = situation.knowledge, _read(setting, rules, situation)
        if result.untyped:
            return "at once"
        if result.unread:
            return "asked again"
        new = len(situation.seen.history) - len(situation.seen.news)
        hidden = setting.start.only_planned
        unmet = [fact for index, fact, _ in result.unmet if index >= new and fact.predicate not in hidden]
        invariants = right.invariants
        if unmet or contradictions(result.problem, invariants) or any(one_way(result.problem, invariants)):
            return "while playing"
        harmless = harmless and _facts(result, setting) == _facts(_RIGHT[id(situation)], setting)
    return "harmless" if harmless else "silent"


_RIGHT: dict[int, ReadResult] = {}
"""What the right rules read, by the identity of the situation."""


def _read(setting: GameSetting, rules: Sequence[ReadingRule], situation: PromptContext) -> ReadResult:
    return HistoryReader().read(situation, setting.start, rules)


def _facts(result: ReadResult, setting: GameSetting) -> object:
    opinions = setting.reader.opinions
    return {fact for fact in result.problem.facts if fact.predicate not in opinions}, result.problem.objects


def counts(game: str, rules: Sequence[ReadingRule], episodes: int) -> tuple[Counter[str], list[str]]:
    """How many mutants of the rules are found in each way, and the silent ones with their kind."""
    setting, watched = load(game), _Watched()
    for seed in range(FIRST, FIRST + episodes):
        pddlego.play(game, mode="edit", seed=seed, model=watched)
    ignored = {sentence for one in watched.situations for _, sentence in _read(setting, rules, one).unread}
    whole = [*rules, *(ReadingRule(sentence=(_literal(sentence),), ignore=True) for sentence in sorted(ignored))]
    situations = [replace(one, reader=setting.reader) for one in watched.situations]
    _RIGHT.update({id(one): _read(setting, whole, one) for one in situations})
    ways, silent = Counter[str](), list[str]()
    for place, kind, mutant in _all(rules):
        changed = [*whole[:place], mutant, *whole[place + 1 :]]
        way = found_by(setting, changed, place, situations)
        if way == "silent" and any(_goes_back(game, changed, seed) for seed in range(FIRST, FIRST + episodes)):
            way = "audit"
        ways[way] += 1
        if way == "silent":
            silent.append(f"{kind}: {json.dumps(mutant.as_table())}")
    return ways, silent


class _Silent:
    """A model that answers without rules. `told` is whether a request said what is wrong with the rules."""

    name = "silent"
    description: Mapping[str, Any] = {}
    told = False

    def complete(self, request: Request) -> Completion:
        self.told = self.told or "What is wrong:" in request.messages[-1].content
        return Completion('{"rules": []}')


def _goes_back(game: str, rules: Sequence[ReadingRule], seed: int) -> bool:
    """Whether the rules go back to the model in an episode that is read with them."""
    model = _Silent()
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(LearnedRules(tuple(rules)).text)
        file.flush()
        pddlego.play(game, mode="learn-no-opinions", seed=seed, model=model, from_=file.name, retries=1)
    return model.told


def _literal(sentence: str) -> str:
    return sentence.replace("{", "(").replace("}", ")")


def _all(rules: Sequence[ReadingRule]) -> Iterator[tuple[int, str, ReadingRule]]:
    for place, rule in enumerate(rules):
        yield from ((place, kind, mutant) for kind, mutant in mutants(rule, "kitchen"))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks mutants", description=__doc__)
    parser.add_argument("games", nargs="*", default=["coin", "mapreader", "twc", "cooking-easy"])
    parser.add_argument("--rules", help="a JSON list of rules in place of the game's own")
    parser.add_argument("--episodes", type=int, default=4)
    options = parser.parse_args(arguments)
    rows = []
    for game in options.games:
        own = load(game).reader.rules
        tables = json.loads(Path(options.rules).read_text()) if options.rules else None
        rules = tuple(map(ReadingRule.model_validate, tables)) if tables else own
        ways, silent = counts(game, rules, options.episodes)
        rows.append([game, str(sum(ways.values())), *(str(ways[way]) for way in WAYS)])
        for line in silent:
            print(f"{game}: {line}")
    show("mutants of reading rules", ["game", "mutants", *WAYS], rows)
