"""Sentences with known facts, as questions of mode `learn-facts`: what share of them a model reads right."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pddlego.methods.textgames.formalize.completing import completed_facts
from pddlego.methods.textgames.formalize.facts import parse_facts
from pddlego.methods.textgames.formalize.lifting import AskedSentence, Stated
from pddlego.methods.textgames.formalize.question import ANSWER_SCHEMA, Example, narrow_schema, question_messages
from pddlego.methods.textgames.options import LEARN_FACTS
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Request
from pddlego.models.prompts import Prompts
from pddlego.pddl import Atom, TypedName


@dataclass(frozen=True)
class KnownSentence:
    """A sentence of a setting and its facts. The question knows the agent's room only."""

    question: AskedSentence
    right: Stated
    prompts: Prompts

    @classmethod
    def of(cls, row: Example, setting: GameSetting, prompts: Prompts) -> KnownSentence:
        """The sentence of a row in the form of an example. `prompts` has the examples that the question shows."""
        start, places, problem = setting.start, setting.reader.map, setting.start.problem
        if row.room and places:
            rooms = {TypedName(row.room, places.room)} - {*start.domain.constants}
            here = Atom(places.here, (row.room,))
            problem = replace(problem, objects=problem.objects | rooms, facts=problem.facts | {here})
        placeholder = f"{start.placeholder}3" if start.placeholder else ""
        knowledge, own = start.with_problem(problem), prompts.has_own("facts-example")
        question = AskedSentence(row.command, row.sentence, knowledge, placeholder, places, speaks_directions=own)
        return cls(question, parse_facts(row.answer, start.domain), prompts)

    @property
    def request(self) -> Request:
        """The question, as the mode asks it."""
        messages = question_messages(self.prompts, self.question)
        return Request(LEARN_FACTS, messages, None, ANSWER_SCHEMA, narrow_schema(self.question), longest=500)

    def is_right(self, answer: str, complete: bool = True) -> bool:
        """Whether an answer states the facts, before or after the program completes it. More deletions do no harm."""
        try:
            stated = parse_facts(answer, self.question.knowledge.domain)
        except ValueError:
            return False
        stated = completed_facts(stated, self.question) if complete else stated
        added = {*completed_facts(self.right, self.question).add} if complete else {*self.right.add}
        return {*stated.add} == added and {*self.right.delete} <= {*stated.delete}
