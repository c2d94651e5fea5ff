"""What happens in Graphplan besides what happens everywhere: a graph grows, is searched, and the plan is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pddlego.events import Event
from pddlego.planning.graphplan.values import Expanded, Passed, Searched, Searching

Unit = Literal["level", "action"]
"""In what the length of a plan is counted."""


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
class Proposed(GraphplanEvent):
    """The model wrote a plan. If it is not valid, `Rejected` follows."""

    type = "proposed"
    step: int
    command: str
    actions: tuple[str, ...]


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
    """The length of a shortest plan in the intact domain, in levels or actions. None: it was not found in time."""

    type = "bounded"
    most: int | None
    unit: Unit = "level"


@dataclass(frozen=True)
class Concluded(GraphplanEvent):
    """How planning ended: `kind` is `solved`, or why it is not. `steps` are the actions of each level of the plan.

    `found` says that there is a plan, `valid_damaged` that it works in the domain that was planned with, and `valid`
    that it works in the intact one. `bound` is how many levels or actions (`unit`) are enough, if that is known.
    """

    type = "concluded"
    step: int
    command: str
    kind: str
    message: str = ""
    steps: tuple[tuple[str, ...], ...] = ()
    found: bool = False
    valid_damaged: bool = False
    valid: bool = False
    bound: int | None = None
    unit: Unit = "level"

    @property
    def may_be_cut_short(self) -> bool:
        return self.kind != SOLVED


SOLVED = "solved"
