"""Asks models what a planner asks: which actions to keep, and which to try first. Every question is events."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from pddlego.events import Event, Rejected
from pddlego.models.base import Message, Model, Request
from pddlego.models.feedback import Feedback
from pddlego.models.limiter import SLICE
from pddlego.pddl.sexpr import show
from pddlego.planning import PlanResult
from pddlego.planning.graphplan.answers import named_actions, written
from pddlego.planning.graphplan.values import Advise, Moment, Question, Watch
from pddlego.refine.ask import ask
from pddlego.refine.usage import Meter
from pddlego.util.answers import spoken

if TYPE_CHECKING:
    from pddlego.models.prompts import Prompts

PROMPTS = ("task", "prune", "sort")
"""The templates in `prompts/graphplan/`."""

UNUSABLE = "unusable advice"
"""The category of an answer that names no candidate."""


Answer = tuple[str, ...]

React = Callable[[Question | Moment], Generator[Event, None, Answer]]
"""The events of a question or of a moment; returns the answer, which is empty for a moment."""


class _LeftError(Exception):
    """Nobody waits for the plan any more."""


def planning(solve: Callable[[Advise, Watch], PlanResult], react: React) -> Generator[Event, None, PlanResult]:
    """Plan in a thread of its own, so that questions and moments are events here, where an episode can yield them.

    Raises what `solve` and `react` raise. If iteration stops early, the planning ends at its next question or moment.
    """
    arrived: SimpleQueue[Question | Moment | PlanResult | BaseException] = SimpleQueue()
    answers: SimpleQueue[Answer | None] = SimpleQueue()

    def tell(found: Question | Moment) -> Answer:
        arrived.put(found)
        answer = answers.get()
        if answer is None:
            raise _LeftError
        return answer

    def work() -> None:
        try:
            arrived.put(solve(tell, tell))
        except BaseException as error:  # noqa: BLE001 -- raised again below, in the thread that plays
            arrived.put(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        while True:
            with contextlib.suppress(Empty):  # not for ever: a signal to another thread waits for this one to wake
                found = arrived.get(timeout=SLICE)
                if isinstance(found, PlanResult):
                    return found
                if isinstance(found, BaseException):
                    raise found
                answers.put((yield from react(found)))
    finally:
        answers.put(None)


@dataclass(frozen=True)
class Advisers:
    """Asks models, within the limits of an episode: which actions to keep, and in which order to try them."""

    meter: Meter
    prune: Model | None = None
    sort: Model | None = None

    def ask(self, question: Question) -> Generator[Event, None, Answer]:
        """Ask. An answer that names no candidate is rejected, and nothing follows from it.

        Raises what `refine.ask.ask` raises.
        """
        from pddlego.models.prompts import Prompts  # what renders templates is loaded when a model is asked

        model = self.prune if question.purpose == "prune" else self.sort
        if model is None:
            return ()
        completion = yield from ask(model, question_request(Prompts("graphplan"), question), self.meter)
        answer = read_advice(completion.text, question)
        if not answer:
            kept = "everything is kept" if question.purpose == "prune" else "the order stays as it is"
            yield Rejected(0, Feedback(UNUSABLE, f"it names none of the candidates, and {kept}"))
        self.meter.check_time()
        return answer


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
