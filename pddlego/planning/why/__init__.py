"""Why there is no plan: which parts of the goal can be reached, which exclude each other, and what is missing.

Two sources, both proofs: relaxed reachability, and the states that can be reached, if there are few enough to see all.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import TRUE, And, Formula, Not, Renaming, Term, conjuncts
from pddlego.pddl.constraints import constraints_in
from pddlego.pddl.costs import needs_numbers, needs_time
from pddlego.planning.checked import schema_name
from pddlego.planning.result import (
    EXPLAIN,
    GoalPart,
    Plan,
    Planner,
    PlanResult,
    PlanStatus,
    PlanStep,
    Search,
    WhyNoPlan,
)
from pddlego.planning.unconstrained import constraints_of
from pddlego.planning.unread import key_of, without_numbers, without_unread
from pddlego.planning.validation import validate
from pddlego.planning.why.blamed import blamed_constraints
from pddlego.planning.why.intervals import Interval, bounds_text
from pddlego.planning.why.missing import changed_problems
from pddlego.planning.why.relaxed import Relaxation, is_literal
from pddlego.planning.world import Transitions, World, transitions
from pddlego.util.limits import Clock, Work

_MOST_STATES, _MOST_FACTS = 20_000, 1_000_000
"""The maximum numbers of states, and of facts in all of them, that are explored."""

_MOST_SENTENCES = 8

_MOST_CHANGES, _MOST_NAMED = 200, 3
"""The maximum numbers of facts that are tried because they may have been forgotten, and of changes that are named."""

_MOST_SETS = 200
"""The maximum number of sets of facts that the search for a chain looks at."""

Parts = tuple[Formula, ...]


def explain_no_plan(domain: Domain, problem: Problem, seconds: float) -> WhyNoPlan:
    """What is known of a goal without a plan, within about `seconds`."""
    goals, work = tuple(dict.fromkeys(conjuncts(problem.goal))), Work(seconds=seconds)
    reached: dict[Formula, bool | None] = {}
    parts: Parts = ()
    chain: list[str] = []
    plan: Plan | None = None
    complete = False
    with contextlib.suppress(TooManyCasesError):  # what is known when the time is up
        relaxed = Relaxation(domain, problem, work)
        never = [goal for goal in goals if not relaxed.may_end_with(goal)]
        reached |= dict.fromkeys(never, False)
        chain = relaxed.causes(never[0], _MOST_SENTENCES) if never else []
        timed = needs_time(domain, problem) is not None or bool(problem.later)
        half = Work(seconds=seconds / 2)
        key = key_of(domain, problem)
        graph = transitions(domain, problem, 0 if timed else _MOST_STATES, half, _MOST_FACTS, key=key)
        states = _States(domain, problem, relaxed, graph, work)
        for goal in goals:
            is_true = not problem.later and states.where((goal,))  # timed literals change the only state
            reached.setdefault(goal, True if is_true else False if graph.complete else None)
        if not timed and (mask := states.where(goals)):
            path = Plan(tuple(states.path(_first(mask))), optimal=False)
            plan = path if validate(domain, problem, path, work) is None else None
        failed = tuple(goal for goal in goals if reached[goal] is False)[:1]
        is_impossible = graph.complete and not states.where(goals)
        parts = failed or (states.least(goals) if is_impossible else ())
        chain = chain or (states.sentences(parts) if parts and graph.complete else [])
        if not graph.complete:
            half.renew()  # raises if the time ended this search, not the number of states
        complete = True
    exclusive = tuple(map(str, parts)) if len(parts) > 1 else ()
    found = tuple(GoalPart(str(goal), reached.get(goal)) for goal in goals)
    return WhyNoPlan(found, exclusive, tuple(chain[:_MOST_SENTENCES]), complete=complete, plan=plan)


def _first(mask: int) -> int:
    """The lowest number in a set of states."""
    return (mask & -mask).bit_length() - 1


class _States:
    """The states that can be reached. Sets of states are whole numbers: bit n is state n."""

    def __init__(self, domain: Domain, problem: Problem, relaxed: Relaxation, graph: Transitions, work: Work) -> None:
        self.domain, self.problem, self.graph, self.work = domain, problem, graph, work
        self._world, self._cases = World(domain, problem, work), relaxed.world
        self._steps = sorted(relaxed.steps.items(), key=lambda item: str(item[0]))
        self._masks: dict[Formula, int] = {}
        self._atoms: dict[Atom, int] = {}
        for number, state in enumerate(graph.states):
            for atom in state.facts:
                self._atoms[atom] = self._atoms.get(atom, 0) | 1 << number
        self._parents: dict[int, tuple[int, PlanStep]] = {}
        for source, step, target in graph.edges:
            if target and target not in self._parents:
                self._parents[target] = source, step

    def where(self, parts: Parts) -> int:
        """The states in which all parts are true. Raises `TooManyCasesError` when the time is up."""
        self.work.renew()
        return reduce(lambda mask, part: mask & self._mask(part), parts, (1 << len(self.graph.states)) - 1)

    def _mask(self, part: Formula) -> int:
        if isinstance(part, Atom) and part.predicate not in self.domain.rules:
            return self._atoms.get(part, 0)
        if part not in self._masks:
            holds = (self._world.holds(part, state, {}) for state in self.graph.states)
            self._masks[part] = sum(1 << number for number, value in enumerate(holds) if value)
        return self._masks[part]

    def least(self, parts: Parts) -> Parts:
        """Parts that cannot be reached together, of which none can be left out."""
        for part in parts:
            without = tuple(other for other in parts if other != part)
            parts = parts if self.where(without) else without
        return parts

    def sentences(self, parts: Parts) -> list[str]:
        """The shortest chain of what is missing for parts that cannot be reached together: what they need, and so on.

        It goes back from effects to preconditions, until a state is found after which a part can never become true, or
        no step is left.
        """
        waiting, seen = deque([(parts, list[str]())]), {frozenset(parts)}
        while waiting and len(seen) < _MOST_SETS:
            parts, texts = waiting.popleft()
            later = next(self._later(parts), None) if len(parts) > 1 else None
            if later is not None:
                return [*texts, *later]
            ways = list(self._ways(parts))
            if not ways:
                bounds = bounds_text(parts, self._interval)
                return [*texts, f"no possible step makes {_joined(parts)} true{_together(parts)}{bounds}"]
            for step, needs in ways if len(texts) < _MOST_SENTENCES else ():
                if frozenset(needs) not in seen:
                    seen.add(frozenset(needs))
                    text = f"{step} could make {_joined(parts)} true, but needs {_joined(needs)}"
                    waiting.append((needs, [*texts, f"{text}, never true{_together(needs)}"]))
        return []

    def _ways(self, parts: Parts) -> Iterator[tuple[PlanStep, Parts]]:
        """Steps that may make a part true and keep the others, each with the least of its needs that is never true."""
        if not all(map(is_literal, parts)):
            return
        actions = self._cases.domain.actions_by_name
        for step, (adds, deletes) in self._steps:
            made = {part for part in parts if part in adds or (isinstance(part, Not) and part.part in deletes - adds)}
            broken = [part for part in parts if part in deletes - adds or (isinstance(part, Not) and part.part in adds)]
            if made and not broken:
                condition = actions[step.action].precondition
                ground = conjuncts(Renaming(self._cases.binding(step)).formula(condition))
                needs = tuple(dict.fromkeys((*(part for part in parts if part not in made), *ground)))
                if not self.where(needs):
                    name = schema_name(step.action)
                    yield PlanStep(name, step.args[: len(actions[name].parameters)]), self.least(needs)

    def _interval(self, fluent: Term) -> Interval | None:
        values = (self._world.value(fluent, state, {}) for state in self.graph.states)
        known = [value for value in values if value is not None]
        return (min(known), max(known)) if known else None

    def _later(self, parts: Parts) -> Iterator[list[str]]:
        """Sentences about a part that can no longer become true in a state in which the others are true."""
        for part in parts:
            others = tuple(other for other in parts if other != part)
            mask = self.where(others)
            if not mask:
                continue
            number = _first(mask)
            state = self.graph.states[number]
            start = replace(self.problem, facts=frozenset(state.facts))
            later = Relaxation(self.domain, start, self.work, state.numbers)
            if not later.may_hold(part, {}):
                path = self.path(number)
                after = f"after {' '.join(map(str, path))}, " if path else "at the beginning, "
                first = (
                    f"{after}{_joined(others)} {'are' if others[1:] else 'is'} true, and {part} can never become true"
                )
                yield [first, *later.causes(part, _MOST_SENTENCES)]

    def path(self, number: int) -> list[PlanStep]:
        """The steps from the initial state to a state."""
        path: list[PlanStep] = []
        while number:
            number, step = self._parents[number]
            path.append(step)
        return path[::-1]


def why_no_plan(
    planner: Planner,
    domain: Domain,
    problem: Problem,
    result: PlanResult,
    seconds: float,
    clock: Clock = time.monotonic,
) -> WhyNoPlan:
    """What is known of a goal after a `result` without a plan, by planning for its parts, within `seconds`.

    The planner's process does all of it. Its searches may decide what `explain_no_plan` leaves undecided. If the
    constraints are the cause, it says without which of them a plan exists; else they are left out.
    """
    if problem.preferences:  # no plan is missing because of them
        problem = replace(problem, preferences=(), metric=None)
    if next(constraints_in(constraints_of(domain, problem)), None) is None:
        return _why_no_goal(planner, domain, problem, result, seconds, clock)
    if blamed := blamed_constraints(planner, domain, problem, seconds / 2):
        goal = GoalPart(str(problem.goal), False if result.status is PlanStatus.UNSOLVABLE else None)
        return WhyNoPlan((goal,), cures=tuple(f"without {_joined(constraints)}" for constraints in blamed))
    free = replace(domain, constraints=TRUE, text=""), replace(problem, constraints=TRUE)
    why = _why_no_goal(planner, *free, result, seconds / 2, clock)
    return replace(why, cures=(), plan=None)  # which may break the constraints


def _why_no_goal(
    planner: Planner, domain: Domain, problem: Problem, result: PlanResult, seconds: float, clock: Clock
) -> WhyNoPlan:
    """What is known of a goal of a task without constraints; see `why_no_plan`."""
    ends = clock() + seconds
    goals = tuple(dict.fromkeys(conjuncts(problem.goal)))
    why = planner.solve(domain, problem, EXPLAIN, seconds / 2).why
    why = why or WhyNoPlan(tuple(GoalPart(str(goal)) for goal in goals), complete=False)
    complete = why.complete
    if why.plan is not None:
        return why

    def has_plan(task: Problem, share: float, domain: Domain = domain) -> bool | None:
        nonlocal complete
        left = ends - clock()  # less than half a second is too short to start a process and search
        if left <= 0:
            return None
        smaller = without_unread(domain, task)
        tried = planner.solve(*smaller, Search("gbf", "hff", "auto"), max(left * share, min(left, 0.5)))
        complete &= tried.status is not PlanStatus.TIMEOUT
        if tried.plan and validate(domain, task, tried.plan, Work(_MOST_FACTS)) is not None:
            return None  # a number that was left out has no value
        is_true = tried.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE)
        return is_true or (False if tried.status is PlanStatus.UNSOLVABLE else None)

    def reachable(*parts: Formula) -> bool | None:
        return has_plan(problem.with_goal(And(parts)), 1 / 3)

    is_impossible = result.status is PlanStatus.UNSOLVABLE
    if is_impossible and len(goals) == 1:
        why = replace(why, goals=(GoalPart(str(goals[0]), False),))
    parts = tuple(
        part if part.reachable is not None else replace(part, reachable=reachable(goal))
        for part, goal in zip(why.goals, goals, strict=True)
    )
    exclusive = why.exclusive
    if not exclusive and is_impossible and len(goals) > 1 and all(part.reachable for part in parts):
        pairs = itertools.combinations(goals, 2)
        pair = next((pair for pair in pairs if len(goals) == 2 or reachable(*pair) is False), ())
        exclusive = tuple(map(str, pair))
    cures: dict[str, str] = {}
    free, task = without_numbers(domain, problem)
    by_numbers = needs_numbers(domain, problem) is not None and has_plan(task, 1 / 5, free) is True
    is_numeric = by_numbers
    for change in changed_problems(domain, problem, _MOST_CHANGES, by_numbers):
        if clock() >= ends or len(cures) == _MOST_NAMED or (cures and bool(change.less) is not is_numeric):
            break  # one kind of changes is enough: facts, or numbers
        if change.head not in cures and has_plan(change.problem, 1 / 5):
            cures[change.head] = next((less for less in change.less if has_plan(less.problem, 1 / 5)), change).words
            is_numeric = bool(change.less)
    complete &= clock() < ends
    return replace(why, goals=parts, exclusive=exclusive, cures=tuple(cures.values()), complete=complete)


def _together(parts: Parts) -> str:
    return " together" if len(parts) > 1 else ""


def _joined(parts: Parts) -> str:
    return " and ".join(map(str, parts))
