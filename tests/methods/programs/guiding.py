"""Heuristics and tasks for tests of the search that they guide."""

from __future__ import annotations

import random
from functools import lru_cache

from pddlego.methods.programs.guide import GREEDY
from pddlego.methods.programs.guided import GroundedTask, GuidedTrial, guided
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.programs.reference_model import reference
from pddlego.methods.programs.setting import load
from pddlego.planning import Planner
from pddlego.sandbox import Sandbox, SandboxLimits
from pddlego.tasks import Task
from pddlego.tasks.generators import GENERATORS
from tests.scale import PATIENT

DOMAINS = ("blocks", "delivery", "ferry", "gripper", "miconic", "spanner")
"""The domains for which the package has a good heuristic."""

GOAL_COUNT = reference("goal-count", "heuristics") or ""


def heuristic(call: str, init: str = "pass", module: str = "") -> str:
    """A heuristic with these lines in its methods, and these lines before the class."""

    def indented(lines: str) -> str:
        return "\n".join(f"        {line}" for line in lines.splitlines())

    start = f"class Heuristic:\n    def __init__(self, task):\n        self.goals = task.goals\n{indented(init)}"
    return f"{module}\n\n{start}\n\n    def __call__(self, node):\n{indented(call)}\n"


def improving(seconds: float) -> str:
    """A heuristic whose value falls with each call, and whose calls take this CPU time."""
    wait = f"until = time.process_time() + {seconds}\nwhile time.process_time() < until:\n    pass\n"
    return heuristic(f"{wait}self.value -= 1\nreturn self.value", "self.value = 0", "import time")


@lru_cache(maxsize=32)
def blocks(number: int, seed: int = 0) -> Task:
    return Task(f"blocks-{number}", GENERATORS["blocks"](random.Random(seed), blocks=number))


def grounded(planner: Planner, task: Task, domain: str = "blocks", seconds: float = 60.0) -> GroundedTask:
    return GroundedTask.of(planner, load(domain, ProgramOptions()).domain, task, seconds)


def tried(
    sandbox: Sandbox,
    planner: Planner,
    text: str,
    number: int = 5,
    algorithms: tuple[str, ...] = (GREEDY,),
    seconds: float = 30.0,
    memory: int = 512,
) -> GuidedTrial:
    """The result of a heuristic on a task of blocks."""
    limits = SandboxLimits(seconds=seconds, memory=memory, patience=PATIENT)
    return guided(sandbox, text, grounded(planner, blocks(number)), limits, algorithms)
