"""Heuristics against the searches of planners, under the same limits, and what the sandbox costs.

The tasks are so large that blind search fails. Coverage, expanded states and CPU time; for the good heuristics also
the CPU time of the same search without a sandbox, in the same run.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from benchmarks.table import show
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.methods.programs.guide import GREEDY, Guide
from pddlego.methods.programs.guided import GroundedTask, guided
from pddlego.methods.programs.reference_model import reference
from pddlego.pddl import Domain
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from pddlego.planning.engines import _translated
from pddlego.sandbox import Sandbox, SandboxLimits
from pddlego.tasks import Task
from pddlego.tasks.generators import GENERATORS

SIZES = {
    "blocks": [{"blocks": 45}],
    "spanner": [{"locations": 30, "nuts": 15, "extra_spanners": 3}],
}


@dataclass(frozen=True)
class Result:
    """One search on one task: expanded states (0: not counted), and CPU seconds without grounding."""

    solved: bool
    expanded: int = 0
    seconds: float = 0.0


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks heuristics", description=__doc__)
    parser.add_argument("--tasks", type=int, default=15, help="tasks of each size")
    parser.add_argument("--others", type=int, default=2, help="tasks of each size for the other searches")
    parser.add_argument("--seconds", type=float, default=30.0, help="limit of a search, with grounding")
    parser.add_argument("--memory", type=int, default=4096, help="limit in MiB")
    options = parser.parse_args(arguments)
    for name, sizes in SIZES.items():
        domain = PlanningSetting(**load_planning(name)).domain
        compare(name, domain, sizes, options)
        coverage(name, domain, sizes, options)


def tasks_of(name: str, size: dict[str, int], number: int) -> list[Task]:
    return [Task(f"{name}-{seed}", GENERATORS[name](random.Random(seed), **size)) for seed in range(number)]


def coverage(name: str, domain: Domain, sizes: list[dict[str, int]], options: argparse.Namespace) -> None:
    """The share of solved tasks and the median of expanded states, by size."""
    ways = dict(_ways(name, domain, options))
    rows = []
    for size in sizes:
        label = " ".join(f"{value} {key}" for key, value in size.items())
        for way, run in ways.items():
            tasks = tasks_of(name, size, options.tasks if way == f"heuristic {name}" else options.others)
            results = [run(task) for task in tasks]
            solved = [result for result in results if result.solved]
            expanded = sorted(result.expanded for result in solved if result.expanded)
            middle = str(expanded[len(expanded) // 2]) if expanded else ""
            seconds = f"{sum(result.seconds for result in results) / len(results):.2f}"
            rows.append((label, way, f"{len(solved)}/{len(tasks)}", middle, seconds))
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    show(f"{name}: {options.seconds:g} s, {options.memory} MiB", ("size", "search", "solved", "expanded", "s"), rows)


def _ways(name: str, domain: Domain, options: argparse.Namespace) -> Iterator[tuple[str, Callable[[Task], Result]]]:
    for heuristic in ("blind", "hff"):
        yield f"pyperplan {heuristic}", partial(_planned, domain, heuristic, options)
    if find_spec("up_fast_downward") is not None:
        for heuristic in ("blind()", "ff()"):
            yield f"Fast Downward {heuristic}", partial(_downward, domain, f"eager_greedy([{heuristic}])", options)
    for kind in ("goal-count", name):
        yield f"heuristic {kind}", partial(_by_heuristic, domain, reference(kind, "heuristics") or "", options)


def _planned(domain: Domain, heuristic: str, options: argparse.Namespace, task: Task) -> Result:
    with ProcessPlanner("pyperplan", options.seconds, options.memory) as planner:
        result = planner.solve(domain, task.problem, Search("gbf", heuristic))
    plan = result.plan
    return Result(result.status is PlanStatus.SOLVED, plan.expanded if plan is not None else 0, result.seconds)


def _downward(domain: Domain, search: str, options: argparse.Namespace, task: Task) -> Result:
    """Fast Downward's own search; the planner of pddlego uses stronger ones."""
    began = time.monotonic()
    sas, _ = _translated(domain, task.problem, Search("gbf", "hff"))
    left = options.seconds - (time.monotonic() - began)
    spec = find_spec("up_fast_downward")
    place = next(iter(spec.submodule_search_locations or ())) if spec is not None else ""
    binary = Path(place) / "downward" / "builds" / "release" / "bin" / "downward"
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(subprocess.TimeoutExpired):
        limited = f"ulimit -v {options.memory * 1024}; exec {binary} --search '{search}'"
        done = subprocess.run(
            ["sh", "-c", limited], input=sas, cwd=folder, capture_output=True, timeout=max(0.1, left), check=False
        )
        expanded = [line for line in done.stdout.decode().splitlines() if "Expanded" in line and "state" in line]
        count = int(expanded[-1].split("Expanded ")[1].split()[0]) if expanded else 0
        return Result(done.returncode == 0, count, time.monotonic() - began)
    return Result(False, 0, options.seconds)


def _by_heuristic(domain: Domain, text: str, options: argparse.Namespace, task: Task) -> Result:
    limits = SandboxLimits(seconds=options.seconds, memory=options.memory)
    with ProcessPlanner("pyperplan", options.seconds, options.memory) as planner, Sandbox() as sandbox:
        grounded = GroundedTask.of(planner, domain, task, options.seconds)
        trial = guided(sandbox, text, grounded, limits)
    return Result(trial.solved, trial.expanded, trial.seconds)


def compare(name: str, domain: Domain, sizes: list[dict[str, int]], options: argparse.Namespace) -> None:
    """The total CPU time of the good heuristic in the sandbox, and in this process; grounding counts in both."""
    text, rows = reference(name, "heuristics") or "", []
    limits = SandboxLimits(seconds=options.seconds, memory=options.memory)
    with ProcessPlanner("pyperplan", options.seconds, options.memory) as planner, Sandbox() as sandbox:
        for size in sizes:
            tasks = tasks_of(name, size, options.tasks)
            grounding = inside = outside = 0.0
            solved = 0
            for task in tasks:
                before, own = _cpu_of(planner._process.pid), time.process_time()
                grounded = GroundedTask.of(planner, domain, task, options.seconds)
                grounding += _cpu_of(planner._process.pid) - before + time.process_time() - own
                own = time.process_time()
                trial = guided(sandbox, text, grounded, limits)
                # The trial's seconds are those of grounding, and CPU time of the sandboxed process.
                inside += time.process_time() - own + trial.seconds - grounded.result.seconds
                solved += trial.solved
                outside += _in_this_process(text, grounded, options.seconds)
            label = " ".join(f"{value} {key}" for key, value in size.items())
            ratio = (grounding + inside) / (grounding + outside)
            figures = (f"{grounding:.2f}", f"{inside:.2f}", f"{outside:.2f}", f"{ratio:.2f}")
            rows.append((label, f"{solved}/{len(tasks)}", *figures))
    head = ("size", "solved", "grounding, s", "sandbox, s", "this process, s", "ratio of sums")
    show(f"{name}: total CPU time of the good heuristic", head, rows)


def _in_this_process(text: str, grounded: GroundedTask, seconds: float) -> float:
    began = time.process_time()
    module = sys.modules["program"] = ModuleType("program")
    exec(text, vars(module))
    guide, slices = Guide(), grounded.result.slices
    guide.begin("task", slices[0], slices[1])
    for part in slices[2:]:
        guide.add(part)
    guide.make()
    assert guide.search(GREEDY, seconds)["ended"] == "plan"
    return time.process_time() - began


def _cpu_of(process: int) -> float:
    return time.clock_gettime((~process << 3) | 2)
