"""A planning domain as a search problem, whose tests come from pddlego's simulator.

A state is the set of all facts, each a tuple such as `("at", "car1", "l2")`. The simulator knows the successors of
every state: each generated transition is checked completely, and completeness is tested on states of random walks.
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
    SearchTask,
    Space,
    SpaceJudge,
    SuccessorTest,
    Which,
    brief,
)
from pddlego.pddl import Atom, Domain
from pddlego.pddl.conditions import And
from pddlego.planning import Plan, PlanStep, validate
from pddlego.planning.state import State
from pddlego.planning.world import Simulator, World
from pddlego.sandbox import Sandbox
from pddlego.tasks import Task
from pddlego.util.limits import Work

Facts = frozenset[Atom]

_TESTED_TASKS = 3
"""Tasks from whose states the tests are made, and which are searched to test soundness."""

_WALK = 20
"""Steps of a random walk."""

_MOST_EXPANDED = 3_000
"""States that are expanded to find a goal."""

_SECONDS = 60.0
"""Limit for simulating one task. A user's own tasks may have any size."""


@dataclass(frozen=True)
class PlanningSpace(Space):
    """A planning setting as a search problem. `sampled` is the number of states on which completeness is tested."""

    setting: PlanningSetting
    sampled: int
    templates: str = field(default="planning-", kw_only=True)
    arguments: Mapping[Which, tuple[str, ...]] = field(
        default_factory=lambda: {"successors": ("state", "objects"), "goal": ("state", "goal")}, kw_only=True
    )

    def prompt(self, judge: SpaceJudge) -> Mapping[str, Any]:
        search = judge.soundness[0].searches[0]
        return {
            "domain": self.setting.domain.text,
            "example": brief(search.start),
            "objects": brief(search.successor_arguments[0]),
            "goal": brief(search.goal_arguments[0]),
        }

    @contextmanager
    def judge(self, sandbox: Sandbox, seed: int) -> Iterator[SpaceJudge]:
        yield PlanningJudge(self.setting, self.sampled, seed)


class PlanningJudge:
    """The judge of a planning domain: the simulator and the validator."""

    def __init__(self, setting: PlanningSetting, sampled: int, seed: int) -> None:
        self.domain = setting.domain
        self._random = random.Random(f"{setting.name}/{seed}")
        tests = setting.small_tasks(seed, "tests")[:_TESTED_TASKS]
        self.soundness: Sequence[Instance] = [self._instance(task) for task in tests]
        self.instances: Sequence[Instance] = [self._instance(task) for task in setting.small_tasks(seed, "search")]
        self.goal_tests: Sequence[GoalTest] = [test for task in tests for test in self._goal_tests(task)]
        self.successor_tests: Sequence[SuccessorTest] = [
            test for task in tests for test in self._successor_tests(task, -(-sampled // len(tests)))
        ][:sampled]

    def first_bad(self, instance: Instance, transitions: Sequence[tuple[Any, Sequence[Any]]]) -> BadTransition | None:
        world = self._world(instance.item)
        for state, successors in transitions:
            known = {facts for _, facts in _successors(world, _atoms(state))}
            for successor in successors:
                if not _is_state(successor):
                    return BadTransition(state, successor, "a successor is not a valid state: a set of tuples")
                if _atoms(successor) not in known:
                    return BadTransition(state, successor, "no action leads from the state to this successor")
        return None

    def is_goal(self, instance: Instance, state: Any) -> bool:
        return _is_state(state) and _goal_of(self.domain, instance.item) <= set(state)

    def validate(self, instance: Instance, search: int, path: Sequence[Any] | None) -> str:
        if path is None:
            return "it can be solved, and no solution was found"
        if not all(map(_is_state, path)):
            return "it is not a valid state"
        world, steps = self._world(instance.item), []
        for number, (before, after) in enumerate(pairwise(path)):
            actions = [step for step, facts in _successors(world, _atoms(before)) if facts == _atoms(after)]
            if not actions:
                return f"no action leads from state {number} to state {number + 1}"
            steps.append(actions[0])
        return str(validate(self.domain, instance.item.problem, Plan(tuple(steps))) or "")

    def _world(self, task: Task) -> World:
        return World(self.domain, task.problem, Work(seconds=_SECONDS))

    def _search(self, task: Task, facts: Facts) -> SearchTask:
        world = self._world(task)
        goal = sorted(_goal_of(self.domain, task))
        return SearchTask(_tuples(facts), (dict(sorted(world.types.items())),), (goal,))

    def _instance(self, task: Task) -> Instance:
        return Instance(task.name, (self._search(task, frozenset(task.problem.facts)),), task)

    def _goal_tests(self, task: Task) -> list[GoalTest]:
        """A goal that can be reached, if one is found, and states of a random walk that are not goals."""
        goal, world, start = _goal_of(self.domain, task), self._world(task), frozenset(task.problem.facts)
        reached = _reached(world, start, goal)
        walk = dict.fromkeys(facts for facts in self._walk(world, start, 5) if not goal <= _tuples(facts))
        tests = [GoalTest(self._search(task, reached), True)] if reached is not None else []
        return [*tests, *(GoalTest(self._search(task, facts), False) for facts in walk)]

    def _successor_tests(self, task: Task, number: int) -> list[SuccessorTest]:
        world, start = self._world(task), frozenset(task.problem.facts)
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
    """Every applicable action with the state that it leads to."""
    state = State(facts)
    return [(step, frozenset(world.after(step, state).facts)) for step in Simulator(world, state).applicable()]


def _reached(world: World, start: Facts, goal: set[tuple[str, ...]]) -> Facts | None:
    """The nearest goal, if it is among the first states of a breadth-first search."""
    waiting, visited = deque([start]), {start}
    for _ in range(_MOST_EXPANDED):
        if not waiting:
            return None
        facts = waiting.popleft()
        if goal <= _tuples(facts):
            return facts
        for _, after in _successors(world, facts):
            if after not in visited:
                visited.add(after)
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
    """The facts of a task's goal. Raises `SettingError` for a goal that is not a set of facts."""
    goal = task.problem.goal
    parts = goal.parts if isinstance(goal, And) else (goal,)
    atoms = [part for part in parts if isinstance(part, Atom) and part.predicate not in domain.rules]
    if len(atoms) < len(parts):
        reason = f"The goal of {task.name} is more than facts that must be true."
        raise SettingError(f"{domain.name} cannot be played as a search space", reason, "Choose another mode.")
    return {(atom.predicate, *atom.args) for atom in atoms}
