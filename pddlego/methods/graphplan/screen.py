"""The screen of Graphplan: the graph level by level, the search, the plan, and the conversation."""

from __future__ import annotations

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.rows import cut, numbered, wrapped
from pddlego.display.screens import Canvas, Column, Pane, Screen, Tab, conversation
from pddlego.episode.events import Rejected
from pddlego.episode.trace import Step, Trace
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
from pddlego.planning.graphplan.values import LevelAdded, Searched, SearchProgress
from pddlego.util.text import clean, count, one_line

_NUMBERS = 34
"""Columns of a level's numbers, before its bar."""


def panes(trace: Trace, canvas: Canvas) -> list[Column]:
    """The graph, the search and the conversation; for a model that plans by itself its plan and the conversation."""
    height, started = canvas.height, trace.started
    if started is not None and whole(started.mode) == BY_MODEL:
        return [Column([_proposed_pane(trace, canvas.glyphs), _talk_pane(trace, canvas, max(6, height // 3))])]
    graph = _graph_pane(trace, canvas.glyphs)
    if canvas.is_wide:
        right = [_search_pane(trace, max(6, height // 3), canvas.glyphs), _talk_pane(trace, canvas, None)]
        return [Column([graph], canvas.share(56)), Column(right)]
    search = _search_pane(trace, max(5, height // 4), canvas.glyphs)
    return [Column([graph, search, _talk_pane(trace, canvas, max(4, height // 4))])]


def _levels(trace: Trace) -> list[LevelAdded]:
    """The levels of the last pass."""
    levels = [event.made for event in trace.all(Grown)]
    return [level for level in levels if level.iteration == levels[-1].iteration]


def _graph_pane(trace: Trace, glyphs: Glyphs) -> Pane:
    """A row for each level: its facts, its actions, its mutex pairs, and a bar of what was kept and pruned."""
    given, levels, passes = trace.last(TaskGiven), _levels(trace), trace.all(PassEnded)
    title = "planning graph" if given is None else f"planning graph: {count(given.objects, 'object')}"
    if not levels:
        return Pane(title, lambda width, height: [Text("no level yet", "dim")])
    if len(passes) > 1 or (passes and trace.last(PlanConcluded) is None):
        title = f"{title}, pass {levels[-1].iteration}"
    head = Text(f"{'level':>5} {'facts':>6} {'actions':>9} {'mutexes':>9} kept, pruned", "dim")
    most = max(level.candidates for level in levels)

    def rows(width: int, height: int) -> list[Text]:
        return [head, *[_level(level, width, most, glyphs) for level in levels][-max(1, height - 1) :]]

    return Pane(title, rows)


def _level(level: LevelAdded, width: int, most: int, glyphs: Glyphs) -> Text:
    line = Text()
    line.append(f"{level.level:>5} {level.new_facts:>6} ", "bold green" if level.satisfied else "bold")
    kept = f"{level.kept}/{level.candidates}" if level.pruned else f"{level.kept}"
    line.append(f"{kept:>9} {level.mutexes:>9,} ")
    room = max(0, width - _NUMBERS - 2)
    total = round(room * level.candidates / most) if most else 0
    part = round(total * level.kept / level.candidates) if level.candidates else 0
    line.append(glyphs.across * part, "green" if level.satisfied else "cyan")
    line.append(glyphs.across * (total - part), "red")
    line.append(f" {glyphs.done}" if level.satisfied else "", "bold green")
    return line


def _proposed_pane(trace: Trace, glyphs: Glyphs) -> Pane:
    """The last plan of the model, and its fault."""
    proposed, rejected = trace.last(Proposed), trace.last(Rejected)
    lines = [Text("no plan yet", "dim")] if proposed is None else numbered(proposed.actions)
    faults: list[Text] = []
    if rejected is not None and trace.place(Rejected) > trace.place(Proposed):
        feedback = rejected.feedback
        text = "\n".join((f"{glyphs.failed} {feedback.category}", feedback.message, *feedback.evidence))
        faults = [Text(line, "red") for line in text.splitlines()]

    def rows(width: int, height: int) -> list[Text]:
        fault = cut(wrapped(faults, width), max(1, height // 2))
        return [*cut(wrapped(lines, width), max(1, height - len(fault))), *fault]

    return Pane("plan" if proposed is None else proposed.command, rows)


def _search_pane(trace: Trace, height: int, glyphs: Glyphs) -> Pane:
    """Each search of the pass: how many nodes it took, and how many no-goods it found."""
    levels, moved = _levels(trace), trace.place(Grown, Looked, PassEnded)
    searches = [event.made for event in trace.all(Looked) if levels and event.made.iteration == levels[-1].iteration]
    running = trace.last(Looking) if trace.place(Looking) > moved else None
    passes = [event.made for event in trace.all(PassEnded) if event.made.ending != "found"]

    def rows(width: int, height: int) -> list[Text]:
        lines = [_search(made, width, glyphs) for made in searches]
        lines += [_running(running.so_far, width)] if running is not None else []
        lines += [Text(one_line(f"pass {made.iteration}: {ENDINGS[made.ending]}", width), "yellow") for made in passes]
        return lines[-height:] or [Text("not all goals are in the graph yet", "dim")]

    return Pane("backward search", rows, height)


def _search(made: Searched, width: int, glyphs: Glyphs) -> Text:
    mark, style = (glyphs.done, "green") if made.found else (glyphs.failed, "red")
    counts = f"{many(made.nodes, 'node')}, {many(made.nogoods, 'no-good')}"
    return Text(one_line(f"{mark} from level {made.level}: {counts}", width), style)


def _running(so_far: SearchProgress, width: int) -> Text:
    took = f"{many(so_far.nodes, 'node')}, {many(so_far.nogoods, 'no-good')}"
    progress = f"from level {so_far.level}, now at {so_far.depth}: {took}"
    return Text(one_line(progress, width), "cyan")


def _talk_pane(trace: Trace, canvas: Canvas, rows: int | None) -> Pane:
    """What the model is asked and writes, or the plan, or the actions that were pruned last."""
    done, levels, glyphs = trace.last(PlanConcluded), _levels(trace), canvas.glyphs
    if trace.request is not None:
        return conversation(trace, canvas.now, "answer", [], rows)
    if done is not None:
        bound = "" if done.bound is None else f", {count(done.bound, done.unit)} are enough"
        lines = [Text(f"{done.kind}{bound}", "bold green" if done.kind == SOLVED else "bold red")]
        lines += [Text(clean(done.message), "red")] if done.message else []
        lines += numbered([" ".join(level) for level in done.steps])
        title = "plan"
    elif levels and levels[-1].pruned:
        lines = [Text(f"{glyphs.removed} {name}", "red") for name in levels[-1].pruned]
        title = f"pruned from level {levels[-1].level}"
    else:
        lines, title = [Text("nothing was pruned from the last level" if levels else "", "dim")], "pruned"
    return Pane(title, lambda width, height: cut(wrapped(lines, width), height), rows, latest=True)


def _pruned_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    lines = []
    for event in step.events:
        if isinstance(event, Grown):
            made = event.made
            lines.append(Text(f"level {made.level}: {made.kept} of {made.candidates} actions kept", "bold"))
            lines += [Text(clean(f"{glyphs.removed} {name}"), "red") for name in made.pruned]
    return lines or [Text("the graph did not grow in this step", "dim")]


def _plan_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    done, proposed = step.after.last(PlanConcluded), step.after.last(Proposed)
    if done is not None:
        actions = [" ".join(level) for level in done.steps]
    else:
        actions = [] if proposed is None else list(proposed.actions)
    return numbered(actions) or [Text("no plan yet", "dim")]


SCREEN = Screen(panes, (Tab("pruned", _pruned_lines), Tab("plan", _plan_lines)))
