"""Asks models what a planner asks: which actions to keep, and which to try first. Every question is events."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, TypeVar

from pddlego.events import Event, Rejected
from pddlego.models.base import Message, Request
from pddlego.models.feedback import Feedback
from pddlego.pddl.sexpr import show
from pddlego.planning.asking import Answer, Asking
from pddlego.planning.graphplan.answers import named_actions, written
from pddlego.planning.graphplan.values import Moment, Question
from pddlego.refine.ask import ask
from pddlego.refine.asked import Advisers
from pddlego.refine.usage import Meter
from pddlego.util import resources
from pddlego.util.answers import spoken

if TYPE_CHECKING:
    from pddlego.models.prompts import Prompts

T = TypeVar("T")

PROMPTS = ("task", "prune", "sort")
"""The templates in `prompts/graphplan/`."""

UNUSABLE = "unusable advice"
"""The category of an answer that names no candidate."""


def _nothing(moment: Moment) -> Iterator[Event]:
    return iter(())


def advised(
    planning: Asking[T], advisers: Advisers, meter: Meter, told: Callable[[Moment], Iterator[Event]] = _nothing
) -> Generator[Event, None, T]:
    """Plan, asking the advisers within the limits of the episode; `told` are the events of what happens besides.

    Raises what `ask` raises; the planning is broken off then.
    """
    from pddlego.models.prompts import Prompts  # what renders templates is loaded when somebody is asked

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
                if not answer:
                    kept = "everything is kept" if found.purpose == "prune" else "the order stays as it is"
                    yield Rejected(0, Feedback(UNUSABLE, f"it names none of the candidates, and {kept}"))
                meter.check_time()
    finally:
        planning.close()


def prompt_digests() -> dict[str, str]:
    """Digests of the prompts, for a run folder."""
    texts = {name: resources.read("prompts", f"graphplan/{name}.j2") for name in PROMPTS}
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


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
