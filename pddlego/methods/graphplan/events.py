"""The events of Graphplan, with their sentences, and the columns, figures, panes and tabs made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.description import Description, Line, MethodEvent, in_one_line
from pddlego.display.rows import numbered, outcome_line, truncated, wrapped
from pddlego.display.screens import Canvas, Pane, PaneColumn, Screen, Tab, conversation
from pddlego.episode.events import Asked, Event, Rejected
from pddlego.episode.trace import Step, Trace
from pddlego.methods.base import Column, CountTable, Figure, Measuring, base_mode
from pddlego.methods.graphplan.options import PLANS_BY_MODEL, GraphplanOptions
from pddlego.methods.graphplan.records.published import printed_numbers
from pddlego.methods.graphplan.setting import GraphplanSetting, shortest_plan
from pddlego.methods.setting_files import published
from pddlego.models import Model
from pddlego.planning.graphplan.values import LevelAdded, Passed, Searched, SearchProgress
from pddlego.planning.process import ProcessPlanner
from pddlego.runs.summary import LastingError, Measures
from pddlego.util.text import clean, count, one_line

Unit = Literal["level", "action"]
"""The unit in which the length of a plan is counted."""

SOLVED, INVALID = "solved", "invalid plan"
"""Two kinds of `PlanConcluded`. Other kinds are the status of the planner's result, or a reason not to count a plan."""

_ENDINGS = {
    "found": "a plan was found",
    "no plan": "proved that no plan exists",
    "levels": "no plan within the levels that are allowed",
    "given up": "no plan without what was pruned",
}


def _nodes(made: Searched | SearchProgress) -> str:
    """`1 node, 1,234 no-goods`."""
    numbers = ((made.nodes, "node"), (made.nogoods, "no-good"))
    return ", ".join(count(number, noun) for number, noun in numbers)


class GraphplanEvent(MethodEvent):
    """An event of Graphplan."""

    method = "graphplan"


@dataclass(frozen=True)
class TaskGiven(GraphplanEvent):
    """The task of the seed: its numbers of objects and goals, and the conditions that were removed from its domain.

    One that was changed ends with ` -> ` and the wrong condition.
    """

    type = "given"
    domain: str
    task: str
    objects: int
    goals: int
    corrupt: float = 0.0
    removed: tuple[str, ...] = ()

    def describe(self, glyphs: Glyphs) -> Description:
        text = f"     {self.domain}, {self.task}: {count(self.objects, 'object')}, {count(self.goals, 'goal')}"
        if not self.removed:
            return Description(Line(text, "dim"))
        is_changed = any(" -> " in part for part in self.removed)
        how = "has wrong numbers in" if is_changed else "has lost"
        lost = f"     the domain {how} {len(self.removed)} preconditions and effects ({self.corrupt:.0%})"
        lines = tuple(Line(f"{glyphs.removed} {part}", "red") for part in self.removed)
        return Description(Line(text, "dim"), (Line(lost, "yellow"),), lines)


@dataclass(frozen=True)
class Proposed(GraphplanEvent):
    """The model wrote a plan. If it is not valid, `Rejected` follows."""

    type = "proposed"
    step: int
    command: str
    actions: tuple[str, ...]

    def describe(self, glyphs: Glyphs) -> Description:
        line = Line(f"{self.step:>3}  {self.command}", "bold")
        return Description(line, (line,), tuple(Line(f"  {action}") for action in self.actions))


@dataclass(frozen=True)
class Grown(GraphplanEvent):
    """A level was added to the graph."""

    type = "grown"
    step: int
    command: str
    made: LevelAdded

    def describe(self, glyphs: Glyphs) -> Description:
        made = self.made
        mark = f" {glyphs.done} all goals" if made.satisfied else ""
        text = (
            f"{self.step:>3}  level {made.level:>2}: {made.new_facts} facts, {made.kept} of {made.candidates} actions, "
            f"{made.mutexes:,} mutex pairs{mark}"
        )
        line = Line(text, "green" if made.satisfied else "bold" if made.pruned else "")
        pruned = tuple(Line(f"{glyphs.removed} {name}", "red") for name in made.pruned)
        return Description(line, (line,), pruned)


@dataclass(frozen=True)
class Looking(GraphplanEvent):
    """The graph is being searched."""

    type = "looking"
    passing = True
    so_far: SearchProgress

    def describe(self, glyphs: Glyphs) -> Description:
        text = f"     searching from level {self.so_far.level}, at {self.so_far.depth}: {_nodes(self.so_far)}"
        return Description(Line(text, "dim"))


@dataclass(frozen=True)
class Looked(GraphplanEvent):
    """The graph was searched."""

    type = "looked"
    made: Searched

    def describe(self, glyphs: Glyphs) -> Description:
        made = self.made
        mark, style = (glyphs.done, "green") if made.found else (glyphs.failed, "dim")
        text = f"     {mark} search from level {made.level}: {_nodes(made)}, {made.hits:,} met again"
        return in_one_line(text, style)


@dataclass(frozen=True)
class PassEnded(GraphplanEvent):
    """A pass has ended."""

    type = "pass"
    made: Passed

    def describe(self, glyphs: Glyphs) -> Description:
        made = self.made
        style = "green" if made.ending == "found" else "yellow"
        pruning = f"pruning with probability {made.kappa:g}" if made.kappa else "nothing is pruned"
        text = f"     pass {made.iteration} ({pruning}) ends at level {made.levels}: {_ENDINGS[made.ending]}"
        return in_one_line(text, style)


@dataclass(frozen=True)
class Bounded(GraphplanEvent):
    """The length of a shortest plan in the intact domain, in levels or actions; None if it was not found in time."""

    type = "bounded"
    most: int | None
    unit: Unit = "level"

    def describe(self, glyphs: Glyphs) -> Description:
        what = "not known: no plan was found in time" if self.most is None else count(self.most, self.unit)
        return in_one_line(f"     the bound on the intact domain: {what}", "dim")


@dataclass(frozen=True)
class NeededPruned(GraphplanEvent):
    """The first action of a shortest plan that the model pruned, with its level. `pddlego truth` adds this event."""

    type = "needed_pruned"
    derived = True
    level: int
    action: str

    def describe(self, glyphs: Glyphs) -> Description:
        text = f"     {self.action}, pruned at level {self.level}, is in a shortest plan"
        return in_one_line(text, "magenta")


@dataclass(frozen=True)
class PlanConcluded(GraphplanEvent):
    """How planning ended: `kind` is `solved`, or the reason why the task is not solved.

    `steps` are the actions of each level of the plan. `found` is true if there is a plan, `valid_damaged` if it is
    valid in the domain that was planned with, and `valid` if it is valid in the intact domain. `bound` is the length,
    in the `unit`, of a shortest plan, if that is known.
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

    def describe(self, glyphs: Glyphs) -> Description:
        style = "bold green" if self.kind == SOLVED else "bold red"
        bound = "" if self.bound is None else f" (bound {count(self.bound, self.unit)})"
        where = ", not valid in the intact domain" if self.valid_damaged and not self.valid else ""
        verdict = f": {self.kind}{bound}{where}" if self.steps else ""
        line = Line(f"{self.step:>3}  {self.command}{verdict}", style)
        detail = tuple(Line(f"  {number:>2}  {' '.join(level)}") for number, level in enumerate(self.steps, start=1))
        return Description(line, (line,), detail)


EVENTS = tuple(GraphplanEvent.__subclasses__())

_NODES, _ACTIONS = "search nodes", "actions by level"


def measure(trace: Trace) -> Measures:
    """The effort and the result of planning; only the result if the model plans by itself, without a graph."""
    done, start = trace.last(PlanConcluded), trace.last(TaskGiven)
    is_graph = trace.started is None or base_mode(trace.started.mode) not in PLANS_BY_MODEL
    numbers = _graph_numbers(trace) if is_graph else {}
    if done is not None:
        numbers |= {"found": int(done.found), "valid_damaged": int(done.valid_damaged), "valid": int(done.valid)}
        if done.steps:
            numbers |= {"levels": len(done.steps)} if is_graph else {}
            numbers["actions"] = sum(map(len, done.steps))
        if done.bound is not None:
            numbers["bound"] = done.bound
    solved = done is not None and done.kind == SOLVED
    lost = Counter([done.kind] if done is not None and not solved else [])
    points = ((float(start.objects), float(numbers["nodes"])),) if solved and start is not None and is_graph else ()
    pruned = trace.last(NeededPruned)
    message = done.message if done is not None and not solved else ""
    errors = [LastingError(done.kind, message)] if done is not None and message else []
    if pruned:
        text = f"pruned {pruned.action} at level {pruned.level}, which is in a shortest plan"
        errors.insert(0, LastingError("pruned a needed action", text))
    series = {_NODES: points, _ACTIONS: _actions_by_level(trace)}
    return Measures(numbers, {"lost": lost}, series, tuple(errors))


def _actions_by_level(trace: Trace) -> tuple[tuple[float, float], ...]:
    """The actions of each level of the first pass, including no-ops (LLMs4Plan, Figure 7)."""
    first_pass = takewhile(lambda event: not isinstance(event, PassEnded), trace.events)
    grown = [event.made for event in first_pass if isinstance(event, Grown)]
    return tuple((float(made.level), float(made.actions)) for made in grown)


def _graph_numbers(trace: Trace) -> dict[str, int | float]:
    """Sums over all passes: actions of all levels with their no-ops, mutex pairs, and search nodes."""
    grown = [event.made for event in trace.all(Grown)]
    looked = [event.made for event in trace.all(Looked)]
    asked = Counter(event.purpose for event in trace.all(Asked))
    return {
        "expanded": sum(made.actions for made in grown),
        "pruned": sum(len(made.pruned) for made in grown),
        "mutexes": sum(made.mutexes for made in grown),
        "nodes": sum(made.nodes for made in looked),
        "goal_sets": sum(made.sets for made in looked),
        "nogoods": sum(made.nogoods for made in looked),
        "passes": len(trace.all(PassEnded)),
        "prune_calls": asked["prune"],
        "sort_calls": asked["sort"],
        "unusable": len(trace.all(Rejected)),
    }


def check_recorded(
    trace: Trace, setting: GraphplanSetting, options: GraphplanOptions, model: Model | None = None
) -> Trace:
    """A recorded episode; if no short enough plan was found, with the first pruned action of a shortest plan.

    The shortest plan is that of the domain of the episode, if it can be found in 10 seconds.
    """
    unsolved = any(event.kind not in (SOLVED, INVALID) for event in trace.all(PlanConcluded))
    pruned = [event.made for event in trace.all(Grown) if event.made.pruned]
    levels: tuple[tuple[str, ...], ...] = ()
    if unsolved and pruned:
        seed = (trace.started.seed if trace.started is not None else None) or 0
        domain, problem = setting.damaged_domain(seed)[0], setting.one_task(seed, options.task).problem
        with ProcessPlanner() as planner:
            levels = shortest_plan(planner, domain, problem, seconds=10.0) or ()

    def checks(event: Event) -> Iterator[NeededPruned]:
        for number, level in enumerate(levels, start=1) if isinstance(event, PlanConcluded) else ():
            lost = {name for made in pruned if made.level == number for name in made.pruned}
            first = next((action for action in level if action in lost), None)
            if first is not None:
                yield NeededPruned(number, first)
                return

    return trace.without(NeededPruned).with_checks(checks)


MEASURING = Measuring(
    of=measure,
    columns=(
        Column("found", counted=True, shown=False),
        Column("valid_damaged", counted=True, shown=False),
        Column("valid", counted=True),
        Column("expanded", digits=0),
        Column("mutexes", digits=0),
        Column("nodes", over="won", digits=0, compared=True),
        Column("passes", shown=False),
        Column("levels", over="won", digits=1),
        Column("actions", over="won", digits=1, shown=False),
        Column("bound", digits=1, shown=False),
        Column("pruned", digits=0, shown=False),
        Column("goal_sets", digits=0, shown=False),
        Column("nogoods", digits=0, shown=False),
        Column("prune_calls", digits=1, shown=False),
        Column("sort_calls", digits=1, shown=False),
        Column("unusable", blank_zero=True),
    ),
    counts=(CountTable("lost", "Why tasks were not solved", "reason"),),
    figures=(
        Figure(_NODES, "Search nodes against size, of solved tasks", "objects", "nodes", "median", logarithmic=True),
        Figure(_ACTIONS, "Actions by level, with no-ops", "level", "actions", "median"),
    ),
    published=published,
    more_published=printed_numbers,
    checked=check_recorded,
)


def panes(trace: Trace, canvas: Canvas) -> list[PaneColumn]:
    """The graph, the search and the conversation; for a model that plans by itself its plan and the conversation."""
    height, started = canvas.height, trace.started
    if started is not None and base_mode(started.mode) in PLANS_BY_MODEL:
        return [PaneColumn([_proposed_pane(trace, canvas.glyphs), _talk_pane(trace, canvas, max(6, height // 3))])]
    graph = _graph_pane(trace, canvas.glyphs)
    if canvas.is_wide:
        right = [_search_pane(trace, max(6, height // 3), canvas.glyphs), _talk_pane(trace, canvas, None)]
        return [PaneColumn([graph], canvas.share(56)), PaneColumn(right)]
    search = _search_pane(trace, max(5, height // 4), canvas.glyphs)
    return [PaneColumn([graph, search, _talk_pane(trace, canvas, max(4, height // 4))])]


def _levels(trace: Trace) -> list[LevelAdded]:
    """The levels of the last pass."""
    levels = [event.made for event in trace.all(Grown)]
    return [level for level in levels if level.iteration == levels[-1].iteration]


def _graph_pane(trace: Trace, glyphs: Glyphs) -> Pane:
    """A row for each level: the numbers of facts, actions and mutex pairs, and a bar of kept and pruned actions."""
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

    return Pane(title, rows, page_columns=48)


def _level(level: LevelAdded, width: int, most: int, glyphs: Glyphs) -> Text:
    line = Text()
    line.append(f"{level.level:>5} {level.new_facts:>6} ", "bold green" if level.satisfied else "bold")
    kept = f"{level.kept}/{level.candidates}" if level.pruned else f"{level.kept}"
    line.append(f"{kept:>9} {level.mutexes:>9,} ")
    room = max(0, width - 36)  # 34 columns of numbers before the bar, and a mark after it
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
        fault = truncated(wrapped(faults, width), max(1, height // 2))
        return [*truncated(wrapped(lines, width), max(1, height - len(fault))), *fault]

    return Pane("plan" if proposed is None else proposed.command, rows)


def _search_pane(trace: Trace, height: int, glyphs: Glyphs) -> Pane:
    """The searches of the pass, with their numbers of nodes and no-goods."""
    levels, moved = _levels(trace), trace.place(Grown, Looked, PassEnded)
    searches = [event.made for event in trace.all(Looked) if levels and event.made.iteration == levels[-1].iteration]
    running = trace.last(Looking) if trace.place(Looking) > moved else None
    passes = [event.made for event in trace.all(PassEnded) if event.made.ending != "found"]

    def rows(width: int, height: int) -> list[Text]:
        lines = [
            outcome_line(made.found, one_line(f"from level {made.level}: {_nodes(made)}", width - 2), glyphs)
            for made in searches
        ]
        if running is not None:
            at = f"from level {running.so_far.level}, now at {running.so_far.depth}: {_nodes(running.so_far)}"
            lines.append(Text(one_line(at, width), "cyan"))
        lines += [Text(one_line(f"pass {made.iteration}: {_ENDINGS[made.ending]}", width), "yellow") for made in passes]
        return lines[-height:] or [Text("not all goals are in the graph yet", "dim")]

    return Pane("backward search", rows, height)


def _talk_pane(trace: Trace, canvas: Canvas, rows: int | None) -> Pane:
    """The open request, or the plan, or the actions that were pruned last."""
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
    return Pane(title, lambda width, height: truncated(wrapped(lines, width), height), rows, shows_latest=True)


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
