"""A planning domain as a search space: our simulator provides the tests, so that none are written by hand.

A state is the set of all facts, each a tuple as `("at", "car1", "l2")`. The true successors of a state are known, so
that soundness is checked of everything that is generated, and completeness on states that random walks lead to.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from pddlego.errors import SettingError
from pddlego.methods.planning_settings import PlanningSetting
from pddlego.methods.thought_of_search.space import (
    BadTransition,
    GoalTest,
    Instance,
    Judge,
    SearchTask,
    Space,
    SuccessorTest,
    Which,
    brief,
    canonical,
)
from pddlego.pddl import Atom, Domain
from pddlego.pddl.conditions import And
from pddlego.planning import Plan, PlanStep, validate
from pddlego.planning.world import Simulator, World
from pddlego.sandbox import Sandbox
from pddlego.tasks import Task
from pddlego.util.limits import Work

Facts = frozenset[Atom]

_SAMPLED_TASKS = 3
"""Tasks whose states are sampled, and which the soundness search solves."""

_WALK = 20
"""Steps of a random walk."""

_MOST_EXPANDED = 3_000
"""States that are expanded by us to find a goal."""


_SECONDS = 60.0
"""Seconds that looking at the states of one task may take; tasks of users may be of any size."""


@dataclass(frozen=True)
class PlanningSpace(Space):
    """A planning setting as a search space, tested on so many `sampled` states."""

    setting: PlanningSetting
    sampled: int
    templates: str = field(default="planning-", kw_only=True)
    arguments: Mapping[Which, tuple[str, ...]] = field(
        default_factory=lambda: {"successors": ("state", "objects"), "goal": ("state", "goal")}, kw_only=True
    )

    def prompt(self, judge: Judge) -> Mapping[str, Any]:
        search = judge.soundness[0].searches[0]
        return {
            "domain": self.setting.text.strip(),
            "example": brief(search.start),
            "objects": brief(search.successor_arguments[0]),
            "goal": brief(search.goal_arguments[0]),
        }

    @contextmanager
    def judge(self, sandbox: Sandbox, seed: int) -> Iterator[Judge]:
        yield PlanningJudge(self.setting, self.sampled, seed)


class PlanningJudge:
    """Says what is right as the simulator and the validator do."""

    def __init__(self, setting: PlanningSetting, sampled: int, seed: int) -> None:
        self.domain = setting.domain
        self._key = canonical(())
        self._random = random.Random(f"{setting.name}/{seed}")
        tests = setting.small_tasks(seed, "tests")[:_SAMPLED_TASKS]
        self.soundness: Sequence[Instance] = [self._instance(task) for task in tests]
        self.instances: Sequence[Instance] = [self._instance(task) for task in setting.small_tasks(seed, "search")]
        self.goal_tests: Sequence[GoalTest] = [test for task in tests for test in self._goal_tests(task)]
        self.successor_tests: Sequence[SuccessorTest] = [
            test for task in tests for test in self._successor_tests(task, -(-sampled // len(tests)))
        ][:sampled]

    def first_bad(self, instance: Instance, transitions: Sequence[tuple[Any, Sequence[Any]]]) -> BadTransition | None:
        world = World(self.domain, instance.item.problem, Work(seconds=_SECONDS))
        for place, (state, successors) in enumerate(transitions):
            known = {self._key(_tuples(facts)) for _, facts in _successors(world, _atoms(state))}
            for number, successor in enumerate(successors):
                if not _is_state(successor):
                    return BadTransition(place, number, "a successor is not a valid state: a set of tuples")
                if self._key(successor) not in known:
                    reason = "no action leads from the state to this successor"
                    return BadTransition(place, number, reason)
        return None

    def is_goal(self, instance: Instance, search: int, state: Any) -> bool:
        return _is_state(state) and _goal_of(self.domain, instance.item) <= set(state)

    def fault(self, instance: Instance, search: int, path: Sequence[Any] | None) -> str:
        if path is None:
            return "it can be solved, and no solution was found"
        if not all(map(_is_state, path)):
            return "it is not a valid state"
        world, steps = World(self.domain, instance.item.problem, Work(seconds=_SECONDS)), []
        for number, (before, after) in enumerate(pairwise(path)):
            fitting = [step for step, facts in _successors(world, _atoms(before)) if _tuples(facts) == set(after)]
            if not fitting:
                return f"no action leads from state {number} to state {number + 1}"
            steps.append(fitting[0])
        return str(validate(self.domain, instance.item.problem, Plan(tuple(steps))) or "")

    def _search(self, task: Task, facts: Facts) -> SearchTask:
        world = World(self.domain, task.problem)
        goal = sorted(_goal_of(self.domain, task))
        return SearchTask(_tuples(facts), (dict(sorted(world.types.items())),), (goal,))

    def _instance(self, task: Task) -> Instance:
        return Instance(task.name, (self._search(task, frozenset(task.problem.facts)),), task)

    def _goal_tests(self, task: Task) -> list[GoalTest]:
        """A reachable goal, and states on the way that are not goals."""
        goal = _goal_of(self.domain, task)
        world, start = World(self.domain, task.problem, Work(seconds=_SECONDS)), frozenset(task.problem.facts)
        reached = _reached(world, start, goal)
        walk = [facts for facts in self._walk(world, start, 5) if not goal <= _tuples(facts)]
        ends = [reached] if reached is not None else []
        tests = [GoalTest(self._search(task, facts), True) for facts in ends]
        return [*tests, *(GoalTest(self._search(task, facts), False) for facts in dict.fromkeys(walk))]

    def _successor_tests(self, task: Task, number: int) -> list[SuccessorTest]:
        world, start = World(self.domain, task.problem, Work(seconds=_SECONDS)), frozenset(task.problem.facts)
        states: dict[Facts, None] = {start: None}
        for _ in range(number):
            for facts in self._walk(world, start, _WALK):
                states.setdefault(facts)
        chosen = self._random.sample(list(states), min(number, len(states)))
        return [
            SuccessorTest(self._search(task, facts), tuple(_tuples(after) for _, after in _successors(world, facts)))
            for facts in chosen
        ]

    def _walk(self, world: World, facts: Facts, steps: int) -> Iterator[Facts]:
        for _ in range(steps):
            yield facts
            following = _successors(world, facts)
            if not following:
                return
            facts = self._random.choice(following)[1]


def _successors(world: World, facts: Facts) -> list[tuple[PlanStep, Facts]]:
    """Every action that can be done, with the state that it leads to."""
    return [(step, world.after(step, facts)) for step in Simulator(world, facts).applicable()]


def _reached(world: World, start: Facts, goal: set[tuple[str, ...]]) -> Facts | None:
    """The nearest goal, if there is one among the first states."""
    waiting, met = deque([start]), {start}
    for _ in range(_MOST_EXPANDED):
        if not waiting:
            return None
        facts = waiting.popleft()
        if goal <= _tuples(facts):
            return facts
        for _, after in _successors(world, facts):
            if after not in met:
                met.add(after)
                waiting.append(after)
    return None


def _tuples(facts: Facts) -> set[tuple[str, ...]]:
    return {(fact.predicate, *fact.args) for fact in facts}


def _atoms(state: Any) -> Facts:
    return frozenset(Atom(fact[0], tuple(fact[1:])) for fact in state)


def _is_state(state: Any) -> bool:
    return isinstance(state, (set, frozenset)) and all(
        isinstance(fact, tuple) and fact and all(isinstance(part, str) for part in fact) for fact in state
    )


def _goal_of(domain: Domain, task: Task) -> set[tuple[str, ...]]:
    """The facts of a goal. Raises `SettingError` for a goal that is more than facts."""
    goal = task.problem.goal
    parts = goal.parts if isinstance(goal, And) else (goal,)
    atoms = [part for part in parts if isinstance(part, Atom) and part.predicate not in domain.rules]
    if len(atoms) < len(parts):
        reason = f"The goal of {task.name} is more than facts that must be true."
        raise SettingError(f"{domain.name} cannot be played as a search space", reason, "Choose another mode.")
    return {(atom.predicate, *atom.args) for atom in atoms}
