"""Table 3 of LLMs4Plan: tasks that Graphplan solves in damaged domains, for both ways to damage a domain.

`python -m benchmarks damage [small|paper] [SECONDS]`: with tasks as small as those of `tos`, or of the paper's sizes.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Literal

from benchmarks.table import show
from pddlego.methods.graphplan.options import GraphplanOptions
from pddlego.methods.graphplan.setting import GraphplanSetting, load
from pddlego.planning import PlanStatus, ProcessPlanner
from pddlego.planning.graphplan.values import Graphplan

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)

PAPER: Mapping[str, Sequence[float]] = {
    "gripper": (0.40, 0.87, 0.73, 0.80, 0.67),
    "miconic": (0.60, 0.60, 0.60, 0.80, 0.40),
    "logistics": (0.20, 0.80, 0.80, 0.67, 0.60),
    "movie": (1.00, 1.00, 1.00, 1.00, 0.60),
    "blocks": (1.00, 0.26, 0.07, 0.27, 0.47),
    "satellite": (0.60, 0.73, 1.00, 0.86, 0.87),
    "zenotravel": (0.93, 0.93, 1.00, 0.93, 0.80),
    "driverlog": (0.80, 1.00, 1.00, 1.00, 1.00),
    "woodworking": (1.00, 0.73, 0.40, 0.27, 0.40),
    "openstacks": (1.00, 1.00, 1.00, 1.00, 1.00),
}
"""The shares of solved tasks in the paper's Table 3."""

SETS, TRIALS = 5, 3
"""Damages of a domain, and tasks for each damage, as in the paper."""

WORKERS = 2


def main(arguments: Sequence[str] = ()) -> None:
    """Both tables: a plan counts if it is valid in the damaged domain, whatever its length."""
    if unknown := [word for word in arguments if word not in ("small", "paper") and not word.isdigit()]:
        sys.exit(f"Unknown argument {', '.join(unknown)}; write: damage [small|paper] [SECONDS]")
    small, seconds = "paper" not in arguments, next((float(word) for word in arguments if word.isdigit()), 10.0)
    print(f"Graphplan in damaged domains: {'small tasks' if small else 'sizes of the paper'}, {seconds:g} s a task")
    shares: dict[str, dict[str, Sequence[float]]] = {}
    rules: tuple[Literal["each", "pooled"], ...] = ("each", "pooled")
    for rule in rules:
        late = 0
        for name in PAPER:
            row = [_solved(name, rule, share, small, seconds) for share in SHARES]
            shares.setdefault(rule, {})[name] = [solved / (SETS * TRIALS) for solved, _ in row]
            late += sum(out for _, out in row)
            print(f"  {rule} {name} {shares[rule][name]}", file=sys.stderr)
        print(f"{rule}: {late} of {len(PAPER) * len(SHARES) * SETS * TRIALS} tasks reached the time limit")
    head = ["", *(f"{share:.0%} {column}" for share in SHARES for column in ("paper", "each", "pooled"))]
    rows = [
        [name, *(f"{table[name][place]:.2f}" for place in range(len(SHARES)) for table in (PAPER, *shares.values()))]
        for name in PAPER
    ]
    show("share of tasks solved", head, rows)
    for label, table in shares.items():
        ours, theirs = ([value for name in PAPER for value in source[name]] for source in (table, PAPER))
        distance = statistics.mean(abs(one - other) for one, other in zip(ours, theirs, strict=True))
        print(f"{label}: mean distance {distance:.2f}, correlation {statistics.correlation(ours, theirs):.2f}")


def _solved(name: str, rule: Literal["each", "pooled"], share: float, small: bool, seconds: float) -> tuple[int, int]:
    """The numbers of tasks that are solved, and of those that reach the time limit."""
    setting = load(name, GraphplanOptions(corrupt=share, damage=rule))
    if small:
        setting = replace(setting, file=setting.file.model_copy(update={"graphplan": setting.file.search}))
    with ThreadPoolExecutor(WORKERS) as pool:
        statuses = list(pool.map(lambda number: _status(setting, number, seconds), range(SETS * TRIALS)))
    solved = sum(status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE) for status in statuses)
    return solved, statuses.count(PlanStatus.TIMEOUT)


def _status(setting: GraphplanSetting, number: int, seconds: float) -> PlanStatus:
    damage, trial = divmod(number, TRIALS)
    domain, _ = setting.damaged_domain(damage)
    with ProcessPlanner("graphplan", seconds, 4096) as planner:
        return planner.solve(domain, setting.one_task(damage, trial).problem, Graphplan()).status
