"""Run time against size, of our programs and of the planner (the paper's figure 2): the median of a few tasks each."""

from __future__ import annotations

import random
import statistics
import time

from benchmarks.table import show
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.methods.programs.reference_model import reference
from pddlego.methods.programs.trial import attempt
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from pddlego.sandbox import Sandbox, SandboxLimits
from pddlego.tasks import Task
from pddlego.tasks.generators import GENERATORS

TASKS, SECONDS = 3, 10.0

TITLE = "programs: run time against size, median of 3 tasks"
SIZES = {
    "ferry": [{"locations": size, "cars": size // 2} for size in (10, 20, 40, 80)],
    "gripper": [{"rooms": size // 2, "balls": size} for size in (10, 20, 40, 80)],
    "heavy": [{"items": size} for size in (10, 25, 50, 100)],
}


def main() -> None:
    rows = []
    with Sandbox() as sandbox, ProcessPlanner(timeout=SECONDS) as planner:
        for name, sizes in SIZES.items():
            domain = PlanningSetting(**load_planning(name)).domain
            program = reference(name) or ""
            in_reach = True
            for drawn in sizes:
                problems = [GENERATORS[name](random.Random(seed), **drawn) for seed in range(TASKS)]
                by_program, by_planner = [], []
                for problem in problems:
                    trial = attempt(sandbox, program, domain, Task(name, problem), SandboxLimits(), whole=False)
                    assert trial.solved, trial
                    by_program.append(trial.seconds)
                    if not in_reach:  # what is larger takes longer
                        by_planner.append(float("inf"))
                        continue
                    began = time.perf_counter()
                    result = planner.solve(domain, problem, Search("gbf", "hff"))
                    solved = result.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE)
                    by_planner.append(time.perf_counter() - began if solved else float("inf"))
                planned = statistics.median(by_planner)
                in_reach = planned < SECONDS
                shown = f"{planned:.3f}" if planned < SECONDS else f"> {SECONDS:.0f}"
                size = len(problems[0].objects)
                rows.append((name, str(size), f"{statistics.median(by_program):.4f}", shown))
    show(TITLE, ("domain", "objects", "program, s", "pyperplan gbf(hff), s"), rows)


if __name__ == "__main__":
    main()
