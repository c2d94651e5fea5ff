"""What happens in Graphplan besides what happens everywhere: a graph grows, is searched, and the plan is judged."""

from __future__ import annotations

from dataclasses import dataclass

from pddlego.events import Event
from pddlego.planning.graphplan.values import Expanded, Passed, Searched, Searching


class GraphplanEvent(Event):
    """An event of Graphplan."""

    method = "graphplan"


@dataclass(frozen=True)
class Given(GraphplanEvent):
    """The task of the seed: how many objects and goals it has, and the conditions that its domain has lost."""

    type = "given"
    domain: str
    task: str
    objects: int
    goals: int
    corrupt: float = 0.0
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Grown(GraphplanEvent):
    """The graph has a level more."""

    type = "grown"
    step: int
    command: str
    made: Expanded


@dataclass(frozen=True)
class Looking(GraphplanEvent):
    """The graph is being searched."""

    type = "looking"
    passing = True
    so_far: Searching


@dataclass(frozen=True)
class Looked(GraphplanEvent):
    """The graph was searched."""

    type = "looked"
    made: Searched


@dataclass(frozen=True)
class PassEnded(GraphplanEvent):
    """A pass has ended."""

    type = "pass"
    made: Passed


@dataclass(frozen=True)
class Bounded(GraphplanEvent):
    """How many levels are enough without mistakes: Graphplan on the intact domain. None: that was not found in time."""

    type = "bounded"
    levels: int | None


@dataclass(frozen=True)
class Concluded(GraphplanEvent):
    """How planning ended: `kind` is `solved`, or why it is not. `steps` are the actions of each level of the plan.

    `valid` says that the plan works in the intact domain. `bound` is the number of levels that are enough, if it is
    known.
    """

    type = "concluded"
    step: int
    command: str
    kind: str
    message: str = ""
    steps: tuple[tuple[str, ...], ...] = ()
    valid: bool = False
    bound: int | None = None

    @property
    def may_be_cut_short(self) -> bool:
        return self.kind != SOLVED


SOLVED = "solved"
