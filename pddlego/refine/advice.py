"""Asks models what a planner asks: which actions to keep, and which to try first. Every question is events."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import TypeVar

from pddlego.events import Event
from pddlego.models.base import Message, Model, Request
from pddlego.models.prompts import Prompts
from pddlego.pddl.sexpr import show
from pddlego.planning.asking import Answer, Asking
from pddlego.planning.graphplan.answers import named_actions, written
from pddlego.planning.graphplan.values import Moment, Purpose, Question
from pddlego.refine.ask import ask
from pddlego.refine.usage import Meter
from pddlego.util.answers import spoken

T = TypeVar("T")


@dataclass(frozen=True)
class Advisers:
    """Who is asked which actions to keep, and in which order to try them; None: nobody."""

    prune: Model | None = None
    sort: Model | None = None

    def of(self, purpose: Purpose) -> Model | None:
        return self.prune if purpose == "prune" else self.sort


def _nothing(moment: Moment) -> Iterator[Event]:
    return iter(())


def advised(
    planning: Asking[T], advisers: Advisers, meter: Meter, told: Callable[[Moment], Iterator[Event]] = _nothing
) -> Generator[Event, None, T]:
    """Plan, asking the advisers within the limits of the episode; `told` are the events of what happens besides.

    Raises what `ask` raises; the planning is broken off then.
    """
    prompts = Prompts("graphplan")
    answer: Answer = None
    try:
        while True:
            try:
                found = planning.send(answer)
            except StopIteration as ended:
                result: T = ended.value
                return result
            answer = None
            if not isinstance(found, Question):
                yield from told(found)
            elif (model := advisers.of(found.purpose)) is not None:
                completion = yield from ask(model, question_request(prompts, found), meter)
                answer = read_advice(completion.text, found)
    finally:
        planning.close()


def question_request(prompts: Prompts, question: Question) -> Request:
    """The request that asks a question. Raises `SettingError` for a template that cannot be rendered."""
    assert question.domain is not None
    assert question.problem is not None
    text = prompts.render(
        f"graphplan/{question.purpose}",
        domain=question.domain.text.strip(),
        initial=sorted(map(str, question.problem.facts)),
        goal=show(question.problem.goal),
        level=question.level,
        facts=question.facts,
        candidates=[written(name, question.domain) for name in question.candidates],
    )
    return Request(question.purpose, (Message("user", text),), context=question)


def read_advice(text: str, question: Question) -> tuple[str, ...]:
    """The candidates that an answer names; an order may name no-ops, too."""
    assert question.domain is not None
    facts = question.facts if question.purpose == "sort" else ()
    return named_actions(spoken(text), question.candidates, question.domain, facts)
