"""Planners on competition tasks: each engine and `auto`; Fast Downward directly and through unified-planning."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from benchmarks.table import show
from pddlego.pddl import Domain, Problem
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from pddlego.planning.validation.cost import plan_cost
from tests.methods.textgames.houses import COIN, explored
from tests.planning.unified_oracle import solve_unified
from tests.shared import suite

SUITES = (
    *("depot", "elevators-opt08-strips", "grid", "hiking-sat14-strips", "openstacks-opt08-strips"),
    *("pegsol-opt11-strips", "satellite", "sokoban-opt11-strips", "transport-opt08-strips", "visitall-opt11-strips"),
)
SECONDS = 60.0
TIMES = 5

Task = tuple[str, Domain, Problem]


def main() -> None:
    tasks: list[Task] = [("coin, 11 rooms", COIN, explored(11, 6, 0)), *map(_read, SUITES)]
    any_plan, optimal = Search("gbf", "hff"), Search("astar", "lmcut")
    show("Fast Downward; milliseconds for a plan, median", _HEADS, [_compared(task, any_plan) for task in tasks])
    show("The same, for a plan of least cost", _HEADS, [_compared(task, optimal) for task in tasks])
    engines = ("pyperplan", "fast-downward", "mimir", "auto")
    rows = [[name, *(_engine(engine, domain, problem) for engine in engines)] for name, domain, problem in tasks]
    show("Seconds until a plan is found, in a process that has started", ["task", *engines], rows)


_HEADS = ["task", "directly", "unified-planning", "ratio", "costs"]


def _read(name: str) -> Task:
    return name, *suite(name)


def _compared(task: Task, search: Search) -> list[str]:
    name, domain, problem = task
    with ProcessPlanner("fast-downward", SECONDS) as planner:
        planner.solve(domain, problem, search)
        direct = []
        for _ in range(TIMES):
            began = time.perf_counter()
            result = planner.solve(domain, problem, search)
            direct.append(time.perf_counter() - began)
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        through, plan = [], None
        try:
            for _ in range(TIMES):
                began = time.perf_counter()
                plan = solve_unified(domain, problem, search)
                through.append(time.perf_counter() - began)
        finally:
            os.chdir(here)
    ours, theirs = sorted(direct)[TIMES // 2] * 1000, sorted(through)[TIMES // 2] * 1000
    cost = "none" if plan is None else f"{plan_cost(domain, problem, plan):g}"
    return [name, f"{ours:.1f}", f"{theirs:.0f}", f"{theirs / ours:.0f}x", f"{result.cost:g} / {cost}"]


def _engine(engine: str, domain: Domain, problem: Problem) -> str:
    with ProcessPlanner(engine, SECONDS) as planner:
        planner.solve(COIN, explored(4, 2, 0), Search("gbf", "hff"))  # loads the engine
        result = planner.solve(domain, problem, Search("gbf", "hff"))
    return f"{result.seconds:.2f}" if result.status is PlanStatus.SOLVED else result.status.value
