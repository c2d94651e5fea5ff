"""Graphplan as an engine of the planning process: ground, compile, plan, and pass on questions and what happens."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from pddlego.pddl import Domain, Problem
from pddlego.planning.graphplan.search import plan_graph
from pddlego.planning.graphplan.task import GraphTask, compile_task
from pddlego.planning.graphplan.values import GraphSearch, Searching
from pddlego.planning.ground import BoundError, ground
from pddlego.planning.result import Plan, PlanStep, Search
from pddlego.planning.solve import Solver
from pddlego.util.text import count

OFTEN = 0.25
"""Seconds after which it is said how far a search is."""

Tell = Callable[[object], tuple[str, ...]]
"""Passes something on, and returns what was answered; nothing, if it was no question."""


def graph_solver(graph: GraphSearch, whole: bool, tell: Tell) -> Solver:
    """A solver that plans as `graph` says. The whole ground task holds also what no plan needs, and what never changes.

    What it tells is, in this order: the ground task, if somebody is to be asked about it; questions and moments.
    """

    def solve(domain: Domain, problem: Problem, search: Search) -> Plan | None:
        task = graph_task(domain, problem, whole)
        if task is None:
            return None
        if graph.prune or graph.sort:
            tell(task)
        # Where nobody gives a seed, another problem has other coins.
        seeded = replace(graph, seed=graph.seed or str(problem))
        planned = plan_graph(task, seeded, tell, tell, _tick(tell))
        if planned.ending == "levels":
            raise BoundError(f"no plan has at most {count(graph.levels or 0, 'level')}")
        if planned.steps is None:
            return None
        return Plan(tuple(PlanStep.read(name) for level in planned.steps for name in level))

    return solve


def graph_task(domain: Domain, problem: Problem, whole: bool = False) -> GraphTask | None:
    """The task of a problem. None where the goal is out of reach even if nothing were ever deleted.

    Raises `NotPlannableError` for what cannot be compiled.
    """
    task = ground(domain, problem, relevant=not whole)
    if task is None:
        return None
    others = [str(fact) for fact in problem.facts] if whole else []
    return compile_task(task, others)


def _tick(tell: Tell) -> Callable[[Callable[[], Searching]], None]:
    """Tells how far a search is, not more often than every `OFTEN` seconds."""
    told = time.monotonic()

    def tick(progress: Callable[[], Searching]) -> None:
        nonlocal told
        if time.monotonic() - told > OFTEN:
            tell(progress())
            told = time.monotonic()

    return tick
