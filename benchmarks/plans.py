"""Every planning call of 60 games of Cooking World: how long it takes, and how much longer than optimal the plans are.

The optimum is Fast Downward's: A* with LM-cut on the same ground task, which is written as PDDL without variables. So
this compares searches; that the ground task means what the PDDL says is what the tests compare with Fast Downward.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.episodes import play
from benchmarks.table import show
from pddlego.methods.textgames.loading import load
from pddlego.pddl import Domain, Problem
from pddlego.planning import Planner, PlanResult, ProcessPlanner, Search
from pddlego.planning.ground import GOAL_STEP, GroundTask, ground

GAMES = ("cooking-hard", "cooking-full")
SEEDS = range(60)
OPTIMUM_TIMEOUT = 300.0
"""Seconds for one optimal plan; where they do not do, the call is left out of the comparison."""


@dataclass
class RecordingPlanner:
    """A planner that remembers every call."""

    planner: Planner
    calls: list[tuple[Domain, Problem, PlanResult]] = field(default_factory=list)

    @property
    def description(self) -> Mapping[str, Any]:
        return self.planner.description

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        result = self.planner.solve(domain, problem, search)
        self.calls.append((domain, problem, result))
        return result

    def close(self) -> None:
        self.planner.close()


def main() -> None:
    rows, seconds, ratios = [], [], []
    for name in GAMES:
        with ProcessPlanner() as planner:
            recorder = RecordingPlanner(planner)
            play(load(name), "edit", SEEDS, recorder)
        goals = {rung.goal: rung.name for rung in load(name).start.ladder}
        searches = {rung.name: str(rung.search) for rung in load(name).start.ladder}
        optimal = _optima(recorder.calls)
        for goal, rung in goals.items():
            mine = [
                (number, result) for number, (_, problem, result) in enumerate(recorder.calls) if problem.goal == goal
            ]
            plans = [(len(result.plan), optimal.get(number)) for number, result in mine if result.plan is not None]
            times = [result.seconds for _, result in mine]
            seconds += times
            ratios += [ours / best for ours, best in plans if best]
            rows.append(
                [f"{name}: {rung}", searches[rung], str(len(times)), *_times(times), str(len(plans)), *_lengths(plans)]
            )
    rows.append(["all", "", str(len(seconds)), *_times(seconds), str(len(ratios)), "", "", _longer(ratios)])
    head = ["goal", "search", "calls", "median ms", "slowest ms", "plans", "steps", "optimal", "longer"]
    show(f"Planning calls of seeds {SEEDS.start}-{SEEDS.stop - 1}, edit, built-in reader", head, rows)


def _times(seconds: list[float]) -> list[str]:
    return [f"{statistics.median(seconds) * 1000:.1f}", f"{max(seconds) * 1000:.1f}"] if seconds else ["-", "-"]


def _lengths(plans: list[tuple[int, int | None]]) -> list[str]:
    known = [(ours, best) for ours, best in plans if best]
    if not known:
        return ["-", "-", "-"]
    ours, best = (sum(column) for column in zip(*known, strict=True))
    return [str(ours), str(best), _longer([one / two for one, two in known])]


def _longer(ratios: list[float]) -> str:
    return f"{(statistics.mean(ratios) - 1) * 100:.1f}%" if ratios else "n/a"


def _optima(calls: Iterable[tuple[Domain, Problem, PlanResult]]) -> dict[int, int | None]:
    """The length of an optimal plan by the number of the call, for the calls that found a plan."""
    if find_spec("up_fast_downward") is None:
        print("  (the extra fast-downward is not installed: no optimal plans to compare with)")
        return {}
    solved = [(number, domain, problem) for number, (domain, problem, result) in enumerate(calls) if result.plan]
    # Grounding silences standard output, which is the process's: one after another, and only then the threads.
    tasks = [ground(domain, problem) for _, domain, problem in solved]
    with ThreadPoolExecutor(2) as pool:
        return dict(zip((number for number, _, _ in solved), pool.map(_optimum, tasks), strict=True))


def _optimum(task: GroundTask | None) -> int | None:
    spec = find_spec("up_fast_downward")
    assert task is not None
    assert spec is not None
    driver = Path(str(spec.origin)).parent / "downward" / "fast-downward.py"
    with tempfile.TemporaryDirectory() as folder:
        for name, text in zip(("domain.pddl", "problem.pddl"), _propositional(task), strict=True):
            Path(folder, name).write_text(text)
        command = [sys.executable, str(driver), "domain.pddl", "problem.pddl", "--search", "astar(lmcut())"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=OPTIMUM_TIMEOUT)
        plan = Path(folder, "sas_plan")
        if not plan.exists():
            return None
        lines = plan.read_text().splitlines()
    return sum(line.startswith("(step") for line in lines)


def _propositional(task: GroundTask) -> tuple[str, str]:
    """The ground task as a domain without parameters and its problem."""
    names = {fact: f"p{number}" for number, fact in enumerate(sorted(task.facts))}

    def atoms(facts: Iterable[str]) -> str:
        return " ".join(f"({names[fact]})" for fact in sorted(facts))

    actions = [
        f"(:action {'goal' if operator.action == GOAL_STEP else 'step'}{number} :parameters () "
        f":precondition (and {atoms(operator.preconditions)}) :effect (and {atoms(operator.adds)} "
        + "".join(f"(not ({names[fact]}))" for fact in sorted(operator.deletes - operator.adds))
        + "))"
        for number, operator in enumerate(task.operators)
    ]
    predicates = " ".join(f"({name})" for name in names.values())
    domain = f"(define (domain ground) (:requirements :strips) (:predicates {predicates})\n{chr(10).join(actions)})"
    init, goal = atoms(task.initial), atoms(task.goals)
    return domain, f"(define (problem ground) (:domain ground) (:init {init}) (:goal (and {goal})))"
