"""One planning call on half-explored houses: pddlego, plain pyperplan, and unified-planning with two engines."""

from __future__ import annotations

import contextlib
import io
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from benchmarks.table import show
from pddlego.pddl import Atom, Problem
from pddlego.pddl.conditions import And
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from tests.methods.textgames.houses import COIN, explored

T = TypeVar("T")

ROOMS = 11
VISITED, SEEDS = (4, 6, 8), range(4)

STRIPS = """(define (domain coin-collector)
  (:requirements :strips :typing)
  (:types location direction)
  (:constants north south east west - direction)
  (:predicates (at ?l - location) (connected ?from ?to - location ?d - direction)
               (closed_door ?from ?to - location) (open_way ?from ?to - location))
  (:action move
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (open_way ?from ?to))
    :effect (and (not (at ?from)) (at ?to)))
  (:action open_door
    :parameters (?from ?to - location ?d - direction)
    :precondition (and (at ?from) (connected ?from ?to ?d) (closed_door ?from ?to))
    :effect (and (not (closed_door ?from ?to)) (not (closed_door ?to ?from))
                 (open_way ?from ?to) (open_way ?to ?from))))
"""


def main() -> None:
    problems = [explored(ROOMS, visited, seed) for visited in VISITED for seed in SEEDS]
    with ProcessPlanner() as planner:
        planner.solve(COIN, problems[0], Search())
        ours = _timed(problems, lambda problem: _solve(planner, problem))
        rows = [["pddlego (its own process, plan validated)", "as is", *_milliseconds(ours)]]
        rows += _others(problems, planner)
        for row in rows:
            row.append(f"{float(row[2]) / (statistics.median(ours) * 1000):.1f}x")
        title = f"Nearest unvisited room, {ROOMS} rooms, {len(problems)} half-explored houses; milliseconds per call"
        show(title, ["planner", "problem", "median", "slowest", "against pddlego"], rows)
        print("  'plain STRIPS': pyperplan refuses `exists` and `not`, so it gets the nearest room as its goal and")
        print("  positive preconditions, made for it outside the measured time.")
        print()
        _sizes(planner)


def _sizes(planner: ProcessPlanner) -> None:
    rows = []
    for rooms in (11, 50, 200, 1000):
        problems = [explored(rooms, int(rooms * share), seed) for share in (0.3, 0.6, 0.95, 0.99) for seed in range(4)]
        times = _timed(problems, lambda problem: _solve(planner, problem))
        rows.append([str(rooms), *_milliseconds(times)])
    title = "pddlego by size of the house (30, 60, 95 and 99 % explored, 4 houses each); milliseconds per call"
    show(title, ["rooms", "median", "slowest"], rows)


def _solve(planner: ProcessPlanner, problem: Problem) -> None:
    result = planner.solve(COIN, problem, Search())
    assert result.status is PlanStatus.SOLVED, result


def _others(problems: list[Problem], planner: ProcessPlanner) -> list[list[str]]:
    strips = [_as_strips(planner, problem) for problem in problems]
    rows = []
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            domain = Path("domain.pddl")
            domain.write_text(STRIPS)
            files = []
            for number, text in enumerate(strips):
                files.append(Path(f"problem{number}.pddl"))
                files[-1].write_text(text)
            rows.append(["pyperplan", "plain STRIPS", *_milliseconds(_timed(files, _pyperplan))])
            if find_spec("up_fast_downward") is None:
                rows.append(["unified-planning", "(not installed)", "nan", "nan"])
                return rows
            if find_spec("up_pyperplan") is not None:
                times = _timed(strips, lambda text: _unified(STRIPS, text, "pyperplan"))
                rows.append(["unified-planning, pyperplan", "plain STRIPS", *_milliseconds(times)])
            with ProcessPlanner("fast-downward") as direct:
                times = _timed(problems, lambda problem: _solve(direct, problem))
            rows.append(["pddlego, Fast Downward", "as is", *_milliseconds(times)])
            texts = [str(problem) for problem in problems]
            times = _timed(texts, lambda text: _unified(COIN.text, text, "fast-downward"))
            rows.append(["unified-planning, Fast Downward", "as is", *_milliseconds(times)])
        finally:
            os.chdir(here)
    return rows


def _pyperplan(problem: Path) -> None:
    from pyperplan.planner import search_plan
    from pyperplan.search import breadth_first_search

    assert search_plan("domain.pddl", str(problem), breadth_first_search, None)


def _unified(domain: str, problem: str, engine: str) -> None:
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import OneshotPlanner, get_environment

    get_environment().credits_stream = None
    with contextlib.redirect_stdout(io.StringIO()), OneshotPlanner(name=engine) as planner:
        assert planner.solve(PDDLReader().parse_problem_string(domain, problem)).plan


def _as_strips(planner: ProcessPlanner, problem: Problem) -> str:
    """The same map without negation and quantifiers, with the nearest unvisited room as the goal."""
    plan = planner.solve(COIN, problem, Search()).plan
    assert plan is not None
    closed = {fact.args for fact in problem.facts if fact.predicate == "closed_door"}
    ways = [fact.args[:2] for fact in problem.facts if fact.predicate == "connected"]
    facts = {fact for fact in problem.facts if fact.predicate != "visited"}
    facts |= {Atom("open_way", pair) for pair in ways if pair not in closed}
    goal = Atom("at", (plan.steps[-1].args[1],))
    return str(Problem(problem.name, problem.domain, problem.objects, frozenset(facts), And((goal,))))


def _timed(items: list[T], call: Callable[[T], None]) -> list[float]:
    times = []
    for item in items:
        started = time.perf_counter()
        call(item)
        times.append(time.perf_counter() - started)
    return times


def _milliseconds(times: list[float]) -> list[str]:
    return [f"{statistics.median(times) * 1000:.2f}", f"{max(times) * 1000:.2f}"]
