"""The live picture of Graphplan: the graph level by level, the search, the plan, and what the model is saying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.frames import Frame
from pddlego.display.screens import Tab, asking_lines, beside, panel, word_lines, wrapped
from pddlego.display.view import View, cleaned, fold_common
from pddlego.episode.events import Event
from pddlego.methods.base import whole
from pddlego.methods.graphplan.events import (
    ENDINGS,
    SOLVED,
    Grown,
    Looked,
    Looking,
    PassEnded,
    PlanConcluded,
    Proposed,
    TaskGiven,
    many,
)
from pddlego.methods.graphplan.options import BY_MODEL
from pddlego.planning.graphplan.values import LevelAdded, Passed, Searched, SearchProgress
from pddlego.util.text import clean, count, one_line


@dataclass(frozen=True)
class GraphView(View):
    """The state of one episode as far as it is shown: the levels and searches of the pass that is under way."""

    given: TaskGiven | None = None
    levels: tuple[LevelAdded, ...] = ()
    searches: tuple[Searched, ...] = ()
    searching: SearchProgress | None = None
    passes: tuple[Passed, ...] = ()
    proposed: Proposed | None = None
    concluded: PlanConcluded | None = None


def fold(view: GraphView, event: Event, seconds: float) -> GraphView:
    """The view after `event`, which happened `seconds` after the start."""
    event = cleaned(event)
    view = fold_common(view, event, seconds)
    if isinstance(event, TaskGiven):
        return replace(view, given=event)
    if isinstance(event, Grown):
        anew = bool(view.levels) and view.levels[-1].iteration != event.made.iteration
        levels = () if anew else view.levels
        return replace(view, levels=(*levels, event.made), searches=() if anew else view.searches, searching=None)
    if isinstance(event, Looking):
        return replace(view, searching=event.so_far)
    if isinstance(event, Looked):
        return replace(view, searches=(*view.searches, event.made), searching=None)
    if isinstance(event, PassEnded):
        return replace(view, passes=(*view.passes, event.made), searching=None)
    if isinstance(event, Proposed):
        return replace(view, proposed=event, rejected=None)
    if isinstance(event, PlanConcluded):
        return replace(view, concluded=event)
    return view


WIDE = 110

NUMBERS = 34
"""Cells of a level's numbers, before its bar."""


class GraphScreen:
    """A `Screen`."""

    start = GraphView()

    @property
    def tabs(self) -> tuple[Tab, ...]:
        return (
            Tab("pruned", _pruned_lines),
            Tab("plan", _plan_lines),
        )

    def fold(self, view: GraphView, event: Event, seconds: float) -> GraphView:
        return fold(view, event, seconds)

    def body(self, view: GraphView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        if whole(view.mode) == BY_MODEL:
            talk = max(6, height // 3)
            return Group(
                _proposed_panel(view, width, height - talk, glyphs), _talk_panel(view, width, talk, now, glyphs)
            )
        if width >= WIDE:
            left = width * 56 // 100
            search = max(6, height // 3)
            right = Group(
                _search_panel(view, width - left, search, glyphs),
                _talk_panel(view, width - left, height - search, now, glyphs),
            )
            return beside(_graph_panel(view, left, height, glyphs), right)
        search, talk = max(5, height // 4), max(4, height // 4)
        return Group(
            _graph_panel(view, width, height - search - talk, glyphs),
            _search_panel(view, width, search, glyphs),
            _talk_panel(view, width, talk, now, glyphs),
        )

    def latest(self, view: GraphView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
        return _talk_panel(view, width, height, now, glyphs)


def _graph_panel(view: GraphView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """A row for each level: its facts, its actions, its mutex pairs, and a bar of what was kept and pruned."""
    given = view.given
    title = "planning graph" if given is None else f"planning graph: {count(given.objects, 'object')}"
    if not view.levels:
        return panel([Text("no level yet", "dim")], title, width, height)
    inside = width - 4
    head = f"{'level':>5} {'facts':>6} {'actions':>9} {'mutexes':>9} kept, pruned"
    if len(view.passes) > 1 or (view.passes and view.concluded is None):
        title = f"{title}, pass {view.levels[-1].iteration}"
    most = max(level.candidates for level in view.levels)
    rows = [_level(level, inside, most, glyphs) for level in view.levels]
    shown = rows[-max(1, height - 3) :]
    return panel([Text(head, "dim", no_wrap=True, overflow="crop"), *shown], title, width, height)


def _level(level: LevelAdded, width: int, most: int, glyphs: Glyphs) -> Text:
    line = Text(no_wrap=True, overflow="crop")
    line.append(f"{level.level:>5} {level.new_facts:>6} ", "bold green" if level.satisfied else "bold")
    kept = f"{level.kept}/{level.candidates}" if level.pruned else f"{level.kept}"
    line.append(f"{kept:>9} {level.mutexes:>9,} ")
    room = max(0, width - NUMBERS - 2)
    total = round(room * level.candidates / most) if most else 0
    part = round(total * level.kept / level.candidates) if level.candidates else 0
    line.append(glyphs.across * part, "green" if level.satisfied else "cyan")
    line.append(glyphs.across * (total - part), "red")
    line.append(f" {glyphs.done}" if level.satisfied else "", "bold green")
    return line


def _proposed_panel(view: GraphView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """The last plan of the model, and its fault."""
    lines = [Text("no plan yet", "dim")] if view.proposed is None else _numbered(view.proposed.actions)
    title = "plan" if view.proposed is None else view.proposed.command
    room, inside = max(1, height - 2), width - 4
    fault: list[Text] = []
    if view.rejected is not None:
        feedback = view.rejected.feedback
        text = "\n".join((f"{glyphs.failed} {feedback.category}", feedback.message, *feedback.evidence))
        fault = _cut(wrapped([Text(line, "red") for line in text.splitlines()], inside), max(1, room // 2))
    return panel([*_cut(wrapped(lines, inside), max(1, room - len(fault))), *fault], title, width, height)


def _numbered(actions: Sequence[str]) -> list[Text]:
    return [Text(f"{number:>3}  {action}") for number, action in enumerate(actions, start=1)]


def _search_panel(view: GraphView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """Each search from a level that has all goals: how many nodes it took, and what it found impossible."""
    inside, lines = width - 4, []
    lines = [_search(made, inside, glyphs) for made in view.searches]
    if view.searching is not None:
        lines.append(_running(view.searching, inside))
    lines += [
        Text(one_line(f"pass {made.iteration}: {ENDINGS[made.ending]}", inside), "yellow")
        for made in view.passes
        if made.ending != "found"
    ]
    if not lines:
        lines = [Text("not all goals are in the graph yet", "dim")]
    return panel(lines[-max(1, height - 2) :], "backward search", width, height)


def _search(made: Searched, width: int, glyphs: Glyphs) -> Text:
    mark, style = (glyphs.done, "green") if made.found else (glyphs.failed, "red")
    counts = f"{many(made.nodes, 'node')}, {many(made.nogoods, 'no-good')}"
    return Text(one_line(f"{mark} from level {made.level}: {counts}", width), style, no_wrap=True)


def _running(so_far: SearchProgress, width: int) -> Text:
    took = f"{many(so_far.nodes, 'node')}, {many(so_far.nogoods, 'no-good')}"
    progress = f"from level {so_far.level}, now at {so_far.depth}: {took}"
    return Text(one_line(progress, width), "cyan", no_wrap=True)


def _talk_panel(view: GraphView, width: int, height: int, now: float, glyphs: Glyphs) -> Panel:
    """The plan, or what the model is asked and says, or what it pruned last."""
    room, inside = max(1, height - 2), width - 4
    asking = asking_lines(view, now)
    if asking:
        words = word_lines(view, inside, max(0, room - len(asking)))
        return panel([*asking, *words][:room], "answer", width, height)
    done = view.concluded
    if done is not None:
        style = "bold green" if done.kind == SOLVED else "bold red"
        bound = "" if done.bound is None else f", {count(done.bound, done.unit)} are enough"
        lines = [Text(f"{done.kind}{bound}", style)]
        lines += [Text(clean(done.message), "red")] if done.message else []
        lines += _numbered([" ".join(level) for level in done.steps])
        return panel(_cut(wrapped(lines, inside), room), "plan", width, height)
    last = view.levels[-1] if view.levels else None
    if last is None or not last.pruned:
        return panel([Text("nothing was pruned from the last level" if last else "", "dim")], "pruned", width, height)
    rows = wrapped([Text(f"{glyphs.removed} {name}", "red") for name in last.pruned], inside)
    return panel(_cut(rows, room), f"pruned from level {last.level}", width, height)


def _cut(rows: list[Text], room: int) -> list[Text]:
    """The rows that fit; if some do not, the last one says how many."""
    if len(rows) <= room:
        return rows
    return [*rows[: room - 1], Text(f"{len(rows) - room + 1} more", "dim")]


def _pruned_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    lines = []
    for event in frame.events:
        if isinstance(event, Grown):
            made = event.made
            lines.append(Text(f"level {made.level}: {made.kept} of {made.candidates} actions kept", "bold"))
            lines += [Text(clean(f"{glyphs.removed} {name}"), "red") for name in made.pruned]
    return lines or [Text("the graph did not grow in this step", "dim")]


def _plan_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    done = next((event for event in frame.events if isinstance(event, PlanConcluded)), frame.after.concluded)
    if done is not None:
        actions = [" ".join(level) for level in done.steps]
    else:
        proposed = next((event for event in frame.events if isinstance(event, Proposed)), frame.after.proposed)
        actions = [] if proposed is None else list(proposed.actions)
    return _numbered([clean(action) for action in actions]) or [Text("no plan yet", "dim")]


SCREEN = GraphScreen
