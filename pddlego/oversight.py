"""A person who looks over the agent's shoulder: what is asked of them, and what they may say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from pddlego.events import Event
from pddlego.situation import Feedback

What = Literal["edits", "plans", "commands"]
"""What a person may want to see before it takes effect."""

WHATS: tuple[What, ...] = ("edits", "plans", "commands")


@dataclass(frozen=True)
class Question:
    """`text` is about to take effect: a problem file, a plan's commands a line each, or a command.

    `added`, `removed` and `renamed` (old, new) say what an edit changes, `reason` what a plan is for. `preview` is what
    will have happened when it is accepted: a plan is judged by the problem that it was made for. `faults` says why a
    changed text cannot be used; it is empty for one that can.
    """

    what: What
    text: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    faults: Callable[[str], tuple[str, ...]] = lambda text: ()
    preview: tuple[Event, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What a person says: `text` is the hint of a rejection, or what takes the place of what was shown."""

    kind: Literal["accepted", "rejected", "replaced"] = "accepted"
    text: str = ""

    @property
    def feedback(self) -> Feedback:
        """A rejection as the model is told of it."""
        hint = (self.text,) if self.text else ()
        return Feedback("rejected by a person", "a person looked at it and rejected it:", hint)


ACCEPTED = Verdict()


class Overseer(Protocol):
    """Is asked before something takes effect. May raise `KeyboardInterrupt`."""

    def wants(self, what: What) -> bool:
        """Whether to ask at all."""

    def judge(self, question: Question) -> Verdict: ...


class RecordedOverseer:
    """Says again what a person said, in that order; accepts what they were not asked about."""

    def __init__(self, verdicts: Iterable[tuple[What, Verdict]]) -> None:
        self._left = list(verdicts)

    def wants(self, what: What) -> bool:
        return bool(self._left) and self._left[0][0] == what

    def judge(self, question: Question) -> Verdict:
        return self._left.pop(0)[1]
