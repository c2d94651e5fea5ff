"""What tables and figures say of Graphplan: those of the paper (LLMs4Plan)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pddlego.episode.events import Asked, Rejected
from pddlego.episode.trace import Trace
from pddlego.methods.base import Column, CountTable, Figure, Measuring, Published, whole
from pddlego.methods.graphplan.events import SOLVED, Grown, Looked, NeededPruned, PassEnded, PlanConcluded, TaskGiven
from pddlego.methods.graphplan.options import BY_MODEL
from pddlego.methods.graphplan.pruned import check_recorded
from pddlego.methods.setting_files import published
from pddlego.runs.summary import Measures

_NODES = "search nodes"


def measure(trace: Trace) -> Measures:
    """What planning took, and what came of it. A model that plans by itself makes no graph."""
    done, start = trace.last(PlanConcluded), trace.last(TaskGiven)
    is_graph = trace.started is None or whole(trace.started.mode) != BY_MODEL
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
    first_error = f"pruned {pruned.action} at level {pruned.level}, which is in a shortest plan" if pruned else message
    return Measures(numbers, {"lost": lost}, {_NODES: points}, first_error=first_error)


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


def _of_intact_domain(setting: str, options: Mapping[str, Any]) -> Published:
    """The paper's success rates, by model and mode; its Table 1 is about domains that are not damaged."""
    return {} if options.get("corrupt") else published(setting, options)


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
    ),
    published=_of_intact_domain,
    checked=check_recorded,
)
