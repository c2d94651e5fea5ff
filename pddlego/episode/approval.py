"""Approval by a person: questions, decisions, and the replay of recorded decisions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from pddlego.episode.budget import Budget
from pddlego.episode.events import Event, Judged
from pddlego.models.base import Feedback
from pddlego.util.text import writable


@dataclass(frozen=True)
class Question:
    """A request to approve a `text` before it takes effect.

    `what` is the kind of thing to approve (`edits`, `plans`, `commands`), `title` the question's heading, and `reason`
    the purpose. If it `changes` a text, the question shows the differences: `added`, `removed` and `renamed` (old,
    new). `preview` lists the events that acceptance will cause. `faults` returns the errors of a text that the person
    has changed; empty if it is usable. `suffix` is the suffix of a file with such a text.
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
"""The category of feedback that comes from a person."""


@dataclass(frozen=True)
class Decision:
    """A person's decision. `text` is the hint for the model with a rejection, or the replacement of the shown text."""

    kind: Literal["accepted", "rejected", "replaced"] = "accepted"
    text: str = ""

    @property
    def feedback(self) -> Feedback:
        """The feedback for the model on a rejection."""
        hint = (self.text,) if self.text else ()
        return Feedback(REJECTED_BY_PERSON, "a person looked at it and rejected it:", hint)


ACCEPTED = Decision()


class Approver(Protocol):
    """Decides about texts before they take effect."""

    def wants(self, what: str) -> bool:
        """Whether this kind of text needs approval."""

    def decide(self, question: Question) -> Decision:
        """The decision about a question. May raise `KeyboardInterrupt`."""


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
    """Ask the approver for a decision; accepted if it wants no question. Waiting does not count as episode time."""
    if approver is None or not approver.wants(what):
        return ACCEPTED
    with budget.paused():
        began = budget.clock()
        decision = approver.decide(question())
        seconds = budget.clock() - began  # measured within the pause, so that it never exceeds the paused time
    decision = replace(decision, text=writable(decision.text))
    yield Judged(what, decision.kind, decision.text, seconds)
    return decision
