"""A fault of a plan: what is wrong with a step or the goal, and the repair advice."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pddlego.planning.result import PlanStep


class FaultKind(str, Enum):
    """The kinds of faults of a plan."""

    ACTION = "unknown action"
    ARITY = "wrong number of arguments"
    OBJECT = "unknown object"
    TYPE = "wrong argument type"
    PRECONDITION = "unsatisfied precondition"
    COST = "unknown cost"
    CHANGE = "impossible change"
    INTERFERENCE = "interfering actions"
    TIME = "wrong time"
    GOAL = "goal not reached"
    CONSTRAINT = "broken constraint"
    TOO_LARGE = "too large"


@dataclass(frozen=True)
class PlanFault:
    """A fault of a plan, and `advice` to fix it, which may have several lines or be empty.

    The text is `subject`, the index of the step, and `fault`; or `fault` alone if there is no subject.
    `val_advice` is the advice in the wording of VAL, whether an action can follow it or not.
    `time` is the index of the `step`; both are None for a fault of the state at the end.
    """

    kind: FaultKind
    fault: str
    advice: str = ""
    val_advice: str = ""
    time: int | None = None
    step: PlanStep | None = None
    subject: str = ""

    @property
    def what(self) -> str:
        """The text, with the index of the step."""
        return f"{self.subject} at time {self.time}{self.fault}" if self.subject else self.fault

    def __str__(self) -> str:
        return f"{self.what}\n{self.advice}" if self.advice else self.what
