"""What happens while something is built, besides what happens everywhere."""

from __future__ import annotations

from dataclasses import dataclass

from pddlego.events import Event
from pddlego.planning import PlanStatus


class BuilderEvent(Event):
    """An event of the builders."""

    method = "builders"


@dataclass(frozen=True)
class Found(BuilderEvent):
    """A look at what is there: by the `checks`, or an opinion by its kind; `fine` says that nothing is to be done."""

    type = "found"
    by: str
    fine: bool
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tried(BuilderEvent):
    """A planner tried the domain and the problem that were built."""

    type = "tried"
    status: PlanStatus
    message: str
    plan: tuple[str, ...] = ()


@dataclass(frozen=True)
class Concluded(BuilderEvent):
    """What came of it. `read`: both files are PDDL; `valid`: the checks find nothing that stops; `solvable`: there is a
    plan. `plan_valid` says that the plan works in the gold domain, and `equivalent` that the task is the gold one but
    for names; None where there is no gold to compare with, it is too large, or no goal can be reached in either."""

    type = "concluded"
    read: bool
    valid: bool
    solvable: bool
    plan_valid: bool | None = None
    equivalent: bool | None = None
