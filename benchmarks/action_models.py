"""`python -m benchmarks action-models [SETTING…] [--transitions N]`: actions that are learned from random transitions.

Of the transitions on training tasks, a fifth is refused. The safe domain is compared with the setting's domain in
states of the smallest evaluation tasks, which are larger, action by action by `compare`, and by the evaluation tasks
that the planner solves with either domain: plans are validated with the setting's.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.table import show
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.programs.play import SEARCH
from pddlego.methods.programs.setting import load
from pddlego.pddl import Domain, Problem
from pddlego.planning import validate
from pddlego.planning.learning.certificate import certify
from pddlego.planning.learning.learner import learn_domain
from pddlego.planning.learning.transitions import Transition
from pddlego.planning.process import ProcessPlanner
from pddlego.planning.result import PlanStep
from pddlego.planning.state import State
from pddlego.planning.world import Simulator, World
from pddlego.tasks import Task
from pddlego.util.limits import Work

SETTINGS = (
    *("blocks", "collector", "delivery", "driverlog", "ferry", "forest", "gripper", "heavy", "logistics", "miconic"),
    *("movie", "openstacks", "satellite", "spanner", "woodworking", "zenotravel"),
)

TRANSITIONS = 100

_REFUSED = 0.2
"""The share of transitions that are refused."""

_SOLVED, _SECONDS = 3, 15.0
"""The number of evaluation tasks that are planned for, and the seconds for each."""

STEPS = 4
"""The number of steps of the walk through an evaluation task."""


def random_transitions(domain: Domain, tasks: Sequence[Task], number: int, rng: random.Random) -> Iterator[Transition]:
    """At most `number` transitions: random steps on each task, each kind of action as often, and refused ones."""
    for task in tasks:
        world = World(domain, task.problem, Work())
        simulator, objects = Simulator(world, world.initial), frozenset(task.problem.objects)
        for _ in range(number // len(tasks)):
            possible, before = list(simulator.applicable()), frozenset(simulator.state.facts)
            if not possible:
                break
            if rng.random() < _REFUSED and (tried := _random_step(world, rng)) and tried not in possible:
                yield Transition(before, tried, None, objects)
                continue
            name = rng.choice(sorted({step.action for step in possible}))
            step = rng.choice([step for step in possible if step.action == name])
            simulator.do(step)
            yield Transition(before, step, frozenset(simulator.state.facts), objects)


def _random_step(world: World, rng: random.Random) -> PlanStep | None:
    action = rng.choice(world.domain.actions)
    objects = [world.of_type(parameter.type) for parameter in action.parameters]
    return PlanStep(action.name, tuple(map(rng.choice, objects))) if all(objects) else None


@dataclass
class Score:
    """What the safe domain calls possible in states of larger tasks."""

    wrong: int = 0
    wrong_states: int = 0
    missed: int = 0
    possible: int = 0

    def add(self, domain: Domain, safe: Domain, problem: Problem, steps: int, rng: random.Random) -> None:
        """Compare two domains in the states of a random walk."""
        worlds = [World(one, problem, Work()) for one in (domain, safe)]
        state = worlds[0].initial
        for _ in range(steps):
            truth, learned = ({*Simulator(world, state).applicable()} for world in worlds)
            self.possible += len(truth)
            self.wrong += len(learned - truth)
            self.missed += len(truth - learned)
            for step in rng.sample(sorted(truth & learned, key=str), min(20, len(truth & learned))):
                self.wrong_states += worlds[0].after(step, state).facts != worlds[1].after(step, state).facts
            if not truth:
                break
            state = State(frozenset(worlds[0].after(rng.choice(sorted(truth, key=str)), state).facts))


def main(arguments: list[str]) -> None:
    """Print a row for each setting."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks action-models")
    parser.add_argument("settings", nargs="*", default=SETTINGS)
    parser.add_argument("--transitions", type=int, default=TRANSITIONS)
    options = parser.parse_args(arguments)
    head = [
        "setting",
        "transitions",
        "wrong",
        "wrong states",
        "missed",
        "same",
        "safe",
        "wrong",
        "open",
        "solved",
        "ours",
    ]
    with ProcessPlanner() as planner:
        rows = [_row(name, options.transitions, planner) for name in options.settings]
    show("Safe domains learned from random transitions", head, rows)


def _row(name: str, number: int, planner: ProcessPlanner) -> list[str]:
    setting, rng = load(name, ProgramOptions()), random.Random(name)
    domain, tasks = setting.domain, setting.tasks(0)
    transitions = list(random_transitions(domain, tasks.training, number, rng))
    learned = learn_domain(domain, transitions)
    score = Score()
    smallest = sorted(tasks.evaluation, key=lambda task: task.size)
    for task in smallest[:2]:
        score.add(domain, learned.safe, task.problem, STEPS, rng)
    certificates = certify(domain, learned.safe, setting.small_tasks(0, "search")[0].problem)
    verdicts = Counter(certificate.verdict for certificate in certificates)
    solved = [0, 0]
    for task in smallest[:_SOLVED]:
        for side, one in enumerate((learned.safe, domain)):
            plan = planner.solve(one, task.problem, SEARCH, _SECONDS).plan
            solved[side] += plan is not None and validate(domain, task.problem, plan, Work()) is None
    counts = [verdicts[word] for word in ("same", "safe", "wrong")]
    missed = f"{score.missed} of {score.possible}"
    numbers = [len(transitions), score.wrong, score.wrong_states, missed, *counts, sum(verdicts.values()) - sum(counts)]
    return [name, *map(str, numbers), *(f"{count}/{_SOLVED}" for count in solved)]
