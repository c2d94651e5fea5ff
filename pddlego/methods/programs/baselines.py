"""What programs are compared with: a classical planner, and a policy that does anything that it can."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass

from pddlego.episode.budget import Budget
from pddlego.episode.events import Event
from pddlego.errors import TooManyCasesError
from pddlego.methods.base import Tools
from pddlego.methods.programs.episode import judged_by
from pddlego.methods.programs.events import SOLVED, Evaluated, Ran
from pddlego.methods.programs.loading import task_limits
from pddlego.methods.programs.options import ProgramOptions
from pddlego.pddl import Domain
from pddlego.planning import Plan, PlanStatus, PlanStep, Search, validate
from pddlego.planning.world import Simulator, World
from pddlego.tasks import Split, Task, Tasks
from pddlego.util.limits import Work

SEARCH = Search("gbf", "hff", "auto")
"""Greedy best-first search with FF: any plan is good, and the tasks are large."""

KINDS = {
    PlanStatus.SOLVED: SOLVED,
    PlanStatus.ALREADY_TRUE: SOLVED,
    PlanStatus.TIMEOUT: "timeout",
    PlanStatus.MEMORY: "memory",
}
"""How an answer of the planner is counted; any other is its own name."""


Solve = Callable[[Task, float], tuple[str, int, str]]
"""Solves a task in at most so many seconds: how that went, the length of the plan, and what is to be said."""


@dataclass(frozen=True)
class Baseline:
    """Solves tasks one by one without a model; a planner also solves the training tasks."""

    domain: Domain
    tasks: Tasks
    options: ProgramOptions
    tools: Tools
    budget: Budget

    def plan(self) -> Generator[Event, None, None]:
        """Solve with the planner. Time is wall time, because it runs in its own process."""
        yield from self._tried("training", self._planned)
        yield from self._tried("evaluation", self._planned)
        raise judged_by(self.budget, len(self.tasks.evaluation))

    def walk(self, seed: str) -> Generator[Event, None, None]:
        """The paper's random policy: until the goal, a dead end, or the horizon."""
        rng = random.Random(seed)
        yield from self._tried("evaluation", lambda task, seconds: self._walked(task, seconds, rng))
        raise judged_by(self.budget, len(self.tasks.evaluation))

    def _tried(self, split: Split, solve: Solve) -> Generator[Event, None, None]:
        tasks = self.tasks.of(split)
        solved = 0
        for number, task in enumerate(tasks):
            self.budget.check_time()
            limit, left = task_limits(self.options, split == "evaluation").seconds, self.budget.seconds_left
            began = time.perf_counter()
            kind, length, message = solve(task, limit if left is None else min(limit, left))
            if kind == "timeout":
                self.budget.check_time(left is not None and left < limit)
            solved += kind == SOLVED
            if split == "evaluation":
                self.budget.score = solved / len(tasks)
            took = time.perf_counter() - began
            yield Ran(split, number, task.name, task.size, kind, length=length, seconds=took, message=message)
        self.budget.step()
        command = f"{split}: {solved} of {len(tasks)}"
        yield Evaluated(self.budget.usage.steps, command, solved, len(tasks), final=split == "evaluation")

    def _planned(self, task: Task, seconds: float) -> tuple[str, int, str]:
        result = self.tools.planner.solve(self.domain, task.problem, SEARCH, seconds)
        return KINDS.get(result.status, result.status.value), len(result.plan or ()), result.message

    def _walked(self, task: Task, seconds: float, rng: random.Random) -> tuple[str, int, str]:
        world = World(self.domain, task.problem, Work(seconds=seconds))
        done: list[PlanStep] = []
        try:
            reason = self._walk(Simulator(world, task.problem.facts), task, done, rng)
        except TooManyCasesError:
            reason = "timeout"
        if reason:
            return reason, len(done), ""
        valid = validate(self.domain, task.problem, Plan(tuple(done)), Work()) is None
        return (SOLVED if valid else "plan semantics"), len(done), ""

    def _walk(self, simulator: Simulator, task: Task, done: list[PlanStep], rng: random.Random) -> str:
        """Do random steps until the goal is reached; why it is not, if not. Raises `TooManyCasesError` out of time."""
        while not simulator.world.holds(task.problem.goal, simulator.state, {}):
            possible = list(simulator.applicable()) if len(done) < self.options.horizon else []
            if not possible:
                return "horizon" if len(done) >= self.options.horizon else "dead end"
            done.append(rng.choice(possible))
            simulator.do(done[-1])
        return ""
