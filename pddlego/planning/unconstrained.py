"""Constraints rewritten for planners that have none: facts remember what was true, and actions and the goal read them.

Every action sets such a fact from the state before it, so the fact speaks of the earlier states; conditions judge the
state at hand. Bonassi et al. (2021) set such facts from the state after an action, which needs
a regression through its effects; looking back needs none, also with derived predicates and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import TypeVar

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import (
    TRUE,
    And,
    Atom,
    Forall,
    Formula,
    Not,
    Or,
    Trajectory,
    TypedName,
    When,
    conjuncts,
    parts_of,
)
from pddlego.pddl.costs import needs_numbers, needs_time
from pddlego.pddl.domain import Action, Predicate
from pddlego.planning.ground import PlanningError
from pddlego.planning.result import Plan
from pddlego.planning.trajectories import Monitor, instances
from pddlego.planning.world import World
from pddlego.util.limits import Work

Found = TypeVar("Found")

_MOST_ALTERNATIVES = 3
"""The maximum number of conditions with `or` in an action, whose operators they multiply. One fact replaces more."""

_MOST_COPIES = 500_000
"""Every action gets every constraint; this many take about ten seconds."""

REWRITTEN = frozenset({"at end", "always", "sometime", "at-most-once", "sometime-after", "sometime-before"})


def constraints_of(domain: Domain, problem: Problem) -> Formula:
    """What the plans of a task must keep: the constraints of the domain and of the problem."""
    return And((domain.constraints, problem.constraints))


def without_constraints(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """The task with the same plans, without its constraints. A task with time, and constraints with times, stay.

    All objects become constants of the domain, because actions may name them. Raises `PlanningError`.
    """
    constraints = [*quantified(constraints_of(domain, problem), ())]
    if not constraints or needs_time(domain, problem) or any(own.operator not in REWRITTEN for own, _ in constraints):
        return domain, problem
    check_size(len(domain.actions) * len(constraints) + sum(len(variables) for _, variables in constraints))
    names = fresh_names({*domain.predicates_by_name, *domain.functions_by_name})
    tracked = [track(constraint, variables, names) for constraint, variables in constraints]
    needed = [own.condition for own in tracked if own.condition != TRUE]
    goal = [problem.goal, *_given(needed, problem.goal), *(own.goal for own in tracked)]
    alternatives = [part for part in needed if isinstance(part, Or)]
    if len(alternatives) > _MOST_ALTERNATIVES:
        failed = Atom(next(names), ())
        effects = tuple(When(And(tuple(map(negated, part.parts))), failed) for part in alternatives)
        tracked.append(_Tracked((Predicate(failed.predicate, ()),), effects))
        needed = [*(part for part in needed if not isinstance(part, Or)), Not(failed)]
        goal.append(Not(failed))
    effect = And(tuple(part for own in tracked for part in own.effects))
    rewritten = replace(
        domain,
        constants=(*domain.constants, *(own for own in problem.sorted_objects() if own not in domain.constants)),
        predicates=(*domain.predicates, *(predicate for own in tracked for predicate in own.predicates)),
        actions=tuple(_with(action, And(tuple(needed)), effect) for action in domain.actions),
        constraints=TRUE,
    )
    last = And(tuple(goal))
    return replace(rewritten, text=str(rewritten)), replace(problem, objects=frozenset(), goal=last, constraints=TRUE)


def check_size(copies: int) -> None:
    """Raise `PlanningError` for too many `copies` of constraints, with their variables, in actions."""
    if copies > _MOST_COPIES:
        needed = f"{copies:,} copies of constraints, preferences and their variables are needed in actions"
        raise PlanningError(f"{needed}, and at most {_MOST_COPIES:,} are planned with")


def plan_keeping(domain: Domain, problem: Problem, solver: Callable[[Domain, Problem], Found], at_once: bool) -> Found:
    """What a solver without constraints finds for the task; `at_once`: with all constraints from the start.

    Facts that look back, and conditions with `or`, multiply the operators of a ground task. So constraints that need
    them are added only once a plan breaks them: a shortest plan that breaks none is a shortest one of the whole task.
    """
    whole, world = without_constraints(domain, problem), World(domain, problem)
    try:
        every = [*dict.fromkeys(instances(world, constraints_of(domain, problem)))]
    except TooManyCasesError:
        return solver(*whole)
    needed = [own for own in every if own.operator in ("always", "at end") and _has_one_way(own.parts[0])]
    if at_once or whole[0] is domain or len(needed) == len(every) or needs_numbers(domain, problem):
        return solver(*whole)
    while True:
        task = replace(domain, constraints=TRUE), replace(problem, constraints=And(tuple(needed)))
        plan = solver(*without_constraints(*task))
        states = World(domain, problem, Work())  # the solver's time is no time of the check
        known = {*needed}
        broken = [own for own in _broken(states, every, plan) if own not in known] if isinstance(plan, Plan) else []
        if not broken:
            return plan
        needed += broken


def _has_one_way(condition: Formula) -> bool:
    """Whether a condition is a conjunction of facts and negated facts."""
    parts = (part.part if isinstance(part, Not) else part for part in conjuncts(condition))
    return all(isinstance(part, Atom) for part in parts)


def _broken(world: World, constraints: Iterable[Trajectory], plan: Plan) -> list[Trajectory]:
    """The constraints that a plan breaks."""
    monitor, state = Monitor(world, constraints), world.initial
    monitor.observe(state, Fraction(0))
    for number, step in enumerate(plan.steps, 1):
        state = world.after(step, state)
        monitor.observe(state, Fraction(number))
    return [*monitor.unsatisfied()]


def quantified(
    formula: Formula, variables: tuple[TypedName, ...]
) -> Iterator[tuple[Trajectory, tuple[TypedName, ...]]]:
    """The constraints of a section, each with the variables of `forall` around it."""
    if isinstance(formula, Trajectory):
        yield formula, variables
        return
    if isinstance(formula, Forall):  # its constraints share the variables: both may be many
        variables = tuple({variable.name: variable for variable in (*variables, *formula.variables)}.values())
    for part in parts_of(formula):
        yield from quantified(part, variables)


def fresh_names(used: Iterable[str]) -> Iterator[str]:
    """Names that begin with the longest used name, so that none is used."""
    longest = max(used, key=len, default="true")
    return (f"{longest}-before{number}" for number in count(1))


@dataclass(frozen=True)
class _Tracked:
    """What stands for a constraint: predicates, effects of each action, and conditions of each action and of the goal.

    `condition` must be true in every state, `goal` in the last one.
    """

    predicates: tuple[Predicate, ...] = ()
    effects: tuple[Formula, ...] = ()
    condition: Formula = TRUE
    goal: Formula = TRUE


def track(constraint: Trajectory, variables: tuple[TypedName, ...], names: Iterator[str]) -> _Tracked:
    """What stands for a constraint, with new `names`."""

    def predicate() -> tuple[Predicate, Atom]:
        own = Predicate(next(names), variables)
        return own, Atom(own.name, tuple(variable.name for variable in variables))

    def every(part: Formula) -> Formula:
        return Forall(variables, part) if variables else part

    first, second = constraint.parts[0], constraint.parts[-1]
    match constraint.operator:
        case "at end":
            return _Tracked(goal=every(first))
        case "always":
            return _Tracked(condition=every(first))
    head, seen = predicate()
    match constraint.operator:
        case "sometime":
            return _Tracked((head,), (every(When(first, seen)),), goal=every(Or((seen, first))))
        case "sometime-before":
            return _Tracked((head,), (every(When(second, seen)),), every(Or((Not(first), seen))))
        case "sometime-after":
            waits = And((first, Not(second)))
            effects = (every(When(waits, seen)), every(When(second, Not(seen))))
            return _Tracked((head,), effects, goal=every(Or((second, And((Not(seen), Not(first)))))))
    other, over = predicate()
    effects = (every(When(first, seen)), every(When(And((seen, Not(first))), over)))
    return _Tracked((head, other), effects, every(Or((Not(over), Not(first)))))


def _with(action: Action, needed: Formula, effect: Formula) -> Action:
    """The action with a further condition and effect, whose variables keep their names: `plain` renames them."""
    return replace(action, precondition=And((action.precondition, needed)), effect=And((action.effect, effect)))


def _given(needed: Iterable[Formula], known: Formula) -> Iterator[Formula]:
    """What is left of conditions where another one is true."""
    facts = frozenset(conjuncts(known))
    for part in needed:
        ways = part.parts if isinstance(part, Or) else (part,)
        if facts.isdisjoint(ways):
            left = tuple(way for way in ways if negated(way) not in facts)
            yield left[0] if len(left) == 1 else Or(left)


def negated(condition: Formula) -> Formula:
    return condition.part if isinstance(condition, Not) else Not(condition)
