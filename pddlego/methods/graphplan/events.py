"""What happens in Graphplan besides what happens everywhere: a graph grows, is searched, and the plan is judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pddlego.display.console import Glyphs
from pddlego.display.description import Describe, Description, Line, in_one_line
from pddlego.episode.events import Event
from pddlego.planning.graphplan.values import LevelAdded, Passed, Searched, SearchProgress
from pddlego.util.text import count

Unit = Literal["level", "action"]
"""In what the length of a plan is counted."""


class GraphplanEvent(Event):
    """An event of Graphplan."""

    method = "graphplan"


@dataclass(frozen=True)
class TaskGiven(GraphplanEvent):
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
    """A level was added to the graph."""

    type = "grown"
    step: int
    command: str
    made: LevelAdded


@dataclass(frozen=True)
class Looking(GraphplanEvent):
    """The graph is being searched."""

    type = "looking"
    passing = True
    so_far: SearchProgress


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
class NeededPruned(GraphplanEvent):
    """The model pruned an action of a shortest plan: the first one, at its level. Found out later (`truth`)."""

    type = "needed_pruned"
    level: int
    action: str


@dataclass(frozen=True)
class PlanConcluded(GraphplanEvent):
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


SOLVED, INVALID = "solved", "invalid plan"


def many(number: int, noun: str) -> str:
    """`1 node`, `1,234,567 nodes`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


ENDINGS = {
    "found": "a plan was found",
    "no plan": "proved that no plan exists",
    "levels": "no plan within the levels that are allowed",
    "given up": "no plan without what was pruned",
}


def _given(event: TaskGiven, glyphs: Glyphs) -> Description:
    text = f"     {event.domain}, {event.task}: {count(event.objects, 'object')}, {count(event.goals, 'goal')}"
    if not event.removed:
        return Description("", Line(text, "dim"))
    lost = Line(
        f"     the domain has lost {len(event.removed)} preconditions and effects ({event.corrupt:.0%})", "yellow"
    )
    lines = tuple(Line(f"{glyphs.removed} {action}", "red") for action in event.removed)
    return Description("", Line(text, "dim"), (lost,), lines)


def _proposed(event: Proposed, glyphs: Glyphs) -> Description:
    line = Line(f"{event.step:>3}  {event.command}", "bold")
    return Description("observed", line, (line,), tuple(Line(f"  {action}") for action in event.actions))


def _grown(event: Grown, glyphs: Glyphs) -> Description:
    made = event.made
    mark = f" {glyphs.done} all goals" if made.satisfied else ""
    text = (
        f"{event.step:>3}  level {made.level:>2}: {made.new_facts} facts, {made.kept} of {made.candidates} actions, "
        f"{made.mutexes:,} mutex pairs{mark}"
    )
    line = Line(text, "green" if made.satisfied else "bold" if made.pruned else "")
    pruned = tuple(Line(f"{glyphs.removed} {name}", "red") for name in made.pruned)
    return Description("observed", line, (line,), pruned)


def _looking(event: Looking, glyphs: Glyphs) -> Description:
    so_far = event.so_far
    text = f"     searching from level {so_far.level}, at {so_far.depth}: {many(so_far.nodes, 'node')}"
    return Description("", Line(f"{text}, {many(so_far.nogoods, 'no-good')}", "dim"))


def _looked(event: Looked, glyphs: Glyphs) -> Description:
    made = event.made
    mark, style = (glyphs.done, "green") if made.found else (glyphs.failed, "dim")
    counts = f"{many(made.nodes, 'node')}, {many(made.nogoods, 'no-good')}, {made.hits:,} met again"
    line = Line(f"     {mark} search from level {made.level}: {counts}", style)
    return Description("planned", line, (line,))


def _passed(event: PassEnded, glyphs: Glyphs) -> Description:
    made = event.made
    style = "green" if made.ending == "found" else "yellow"
    pruning = f"pruning with probability {made.kappa:g}" if made.kappa else "nothing is pruned"
    text = f"     pass {made.iteration} ({pruning}) ends at level {made.levels}: {ENDINGS[made.ending]}"
    return Description("planned", Line(text, style), (Line(text, style),))


def _bounded(event: Bounded, glyphs: Glyphs) -> Description:
    what = "not known: no plan was found in time" if event.most is None else count(event.most, event.unit)
    return in_one_line("", f"     the bound on the intact domain: {what}", "dim")


def _concluded(event: PlanConcluded, glyphs: Glyphs) -> Description:
    style = "bold green" if event.kind == SOLVED else "bold red"
    bound = "" if event.bound is None else f" (bound {count(event.bound, event.unit)})"
    where = ", not valid in the intact domain" if event.valid_damaged and not event.valid else ""
    verdict = f": {event.kind}{bound}{where}" if event.steps else ""
    line = Line(f"{event.step:>3}  {event.command}{verdict}", style)
    detail = tuple(Line(f"  {number:>2}  {' '.join(level)}") for number, level in enumerate(event.steps, start=1))
    return Description("observed", line, (line,), detail)


def _needed_pruned(event: NeededPruned, glyphs: Glyphs) -> Description:
    text = f"     {event.action}, pruned at level {event.level}, is in a shortest plan"
    return in_one_line("facts", text, "magenta")


DESCRIBED: Mapping[type[Event], Describe] = {
    NeededPruned: _needed_pruned,
    TaskGiven: _given,
    Proposed: _proposed,
    Grown: _grown,
    Looking: _looking,
    Looked: _looked,
    PassEnded: _passed,
    Bounded: _bounded,
    PlanConcluded: _concluded,
}
"""Every event of Graphplan, with what is said of it."""
