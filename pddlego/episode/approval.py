"""Approval by a person: questions, decisions, and recorded decisions."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from pddlego.episode.budget import Budget
from pddlego.episode.events import Event, Judged
from pddlego.models.base import Feedback
from pddlego.util.text import writable


@dataclass(frozen=True)
class Question:
    """`text` is about to take effect: `what` the method calls such a thing (edits, plans, commands), `title` says it.

    One that `changes` something is shown by what it changes: `added`, `removed` and `renamed` (old, new). `reason` says
    what it is for. `preview` is what will have happened when it is accepted. `faults` says why a changed text cannot be
    used; it is empty for one that can. `suffix` is that of a file with such a text.
    """

    what: str
    title: str
    text: str
    changes: bool = False
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    faults: Callable[[str], tuple[str, ...]] = lambda text: ()
    preview: tuple[Event, ...] = ()
    suffix: str = ".txt"


REJECTED_BY_PERSON = "rejected by a person"
"""The category of what a person rejected."""


@dataclass(frozen=True)
class Decision:
    """What a person says: `text` is the hint of a rejection, or what takes the place of what was shown."""

    kind: Literal["accepted", "rejected", "replaced"] = "accepted"
    text: str = ""

    @property
    def feedback(self) -> Feedback:
        """A rejection as the model reads it."""
        hint = (self.text,) if self.text else ()
        return Feedback(REJECTED_BY_PERSON, "a person looked at it and rejected it:", hint)


ACCEPTED = Decision()


class Approver(Protocol):
    """Is asked before something takes effect. May raise `KeyboardInterrupt`."""

    def wants(self, what: str) -> bool:
        """Whether to ask at all."""

    def decide(self, question: Question) -> Decision: ...


class RecordedApprover:
    """Replays recorded decisions in their order, and accepts everything else."""

    def __init__(self, decisions: Iterable[tuple[str, Decision]]) -> None:
        self._left = list(decisions)

    def wants(self, what: str) -> bool:
        return bool(self._left) and self._left[0][0] == what

    def decide(self, question: Question) -> Decision:
        return self._left.pop(0)[1]


def ask_approval(
    approver: Approver | None, what: str, question: Callable[[], Question], budget: Budget
) -> Generator[Event, None, Decision]:
    """Ask for a person's decision, if there is an approver for it. Waiting does not count as episode time."""
    if approver is None or not approver.wants(what):
        return ACCEPTED
    with budget.paused():
        began = time.monotonic()
        decision = approver.decide(question())
        seconds = time.monotonic() - began  # within the pause: what is taken off outside is never more than was paused
    decision = replace(decision, text=writable(decision.text))
    yield Judged(what, decision.kind, decision.text, seconds)
    return decision
