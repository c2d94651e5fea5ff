"""Compiles trajectory constraints away, for planners that have none: monitoring facts remember what was true.

Each action sets these facts from the state before it, and reads them in its precondition, as the goal does. Bonassi et
al. (2021) set them from the state after an action, which needs a regression through its effects; looking back needs
none, also with derived predicates and numbers.
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
from pddlego.pddl.domain import Predicate
from pddlego.planning.ground import PlanningError
from pddlego.planning.result import Plan
from pddlego.planning.trajectories import Monitor, instances
from pddlego.planning.world import World
from pddlego.util.limits import Work

Result = TypeVar("Result")

_MOST_ALTERNATIVES = 3
"""The maximum number of conditions with `or` in an action, whose ground operators they multiply."""

_MOST_COPIES = 500_000
"""The maximum number of constraints in all actions together: they take about ten seconds."""

REWRITTEN = frozenset({"at end", "always", "sometime", "at-most-once", "sometime-after", "sometime-before"})


def constraints_of(domain: Domain, problem: Problem) -> Formula:
    """What the plans of a task must keep: the constraints of the domain and of the problem."""
    return And((domain.constraints, problem.constraints))


def without_constraints(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """The task with the same plans, without its constraints. A task with time, and constraints with times, stay.

    All objects become constants of the domain, because actions may name them. Raises `PlanningError`.
    """
    constraints = list(quantified(constraints_of(domain, problem), ()))
    is_compilable = all(constraint.operator in REWRITTEN for constraint, _ in constraints)
    if not constraints or not is_compilable or needs_time(domain, problem):
        return domain, problem
    check_size(len(domain.actions) * len(constraints) + sum(len(variables) for _, variables in constraints))
    names = fresh_names({*domain.predicates_by_name, *domain.functions_by_name})
    compiled = [compile_constraint(constraint, variables, names) for constraint, variables in constraints]
    needed = [part.condition for part in compiled if part.condition != TRUE]
    goals = [problem.goal, *_given(needed, problem.goal), *(part.goal for part in compiled)]
    disjunctions = [condition for condition in needed if isinstance(condition, Or)]
    if len(disjunctions) > _MOST_ALTERNATIVES:  # one fact stands for all of them
        failed = Atom(next(names), ())
        effects = tuple(When(And(tuple(map(negated, condition.parts))), failed) for condition in disjunctions)
        compiled.append(CompiledConstraint((Predicate(failed.predicate, ()),), effects))
        needed = [*(condition for condition in needed if not isinstance(condition, Or)), Not(failed)]
        goals.append(Not(failed))
    precondition, effect = And(tuple(needed)), And(tuple(effect for part in compiled for effect in part.effects))
    rewritten = replace(
        domain,
        constants=(*domain.constants, *(obj for obj in problem.sorted_objects() if obj not in domain.constants)),
        predicates=(*domain.predicates, *(predicate for part in compiled for predicate in part.predicates)),
        actions=tuple(
            replace(action, precondition=And((action.precondition, precondition)), effect=And((action.effect, effect)))
            for action in domain.actions
        ),
        constraints=TRUE,
    )
    task = replace(problem, objects=frozenset(), goal=And(tuple(goals)), constraints=TRUE)
    return replace(rewritten, text=str(rewritten)), task


def check_size(copies: int) -> None:
    """Raise `PlanningError` for too many `copies` of constraints, with their variables, in actions."""
    if copies > _MOST_COPIES:
        needed = f"{copies:,} copies of constraints, preferences and their variables are needed in actions"
        raise PlanningError(f"{needed}, and at most {_MOST_COPIES:,} are planned with")


def plan_keeping(
    domain: Domain, problem: Problem, solver: Callable[[Domain, Problem], Result], at_once: bool
) -> Result:
    """What a solver without constraints finds for the task; `at_once`: with all constraints from the start.

    Monitoring facts, and conditions with `or`, multiply the operators of a ground task. So constraints that need them
    are added only after a plan breaks them: a shortest plan that breaks none is a shortest one of the whole task.
    """
    whole, world = without_constraints(domain, problem), World(domain, problem)
    try:
        constraints = list(dict.fromkeys(instances(world, constraints_of(domain, problem))))
    except TooManyCasesError:
        return solver(*whole)
    added = [constraint for constraint in constraints if _is_cheap(constraint)]
    if at_once or whole[0] is domain or len(added) == len(constraints) or needs_numbers(domain, problem):
        return solver(*whole)
    while True:
        task = replace(domain, constraints=TRUE), replace(problem, constraints=And(tuple(added)))
        plan = solver(*without_constraints(*task))
        if not isinstance(plan, Plan):
            return plan
        world = World(domain, problem, Work())  # the check has a limit of its own, besides the solver's
        known = set(added)
        broken = [constraint for constraint in _broken(world, constraints, plan) if constraint not in known]
        if not broken:
            return plan
        added += broken


def _is_cheap(constraint: Trajectory) -> bool:
    """Whether a constraint needs no monitoring facts and no disjunction, but only literals in one state."""
    literals = (part.part if isinstance(part, Not) else part for part in conjuncts(constraint.parts[0]))
    return constraint.operator in ("always", "at end") and all(isinstance(part, Atom) for part in literals)


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
class CompiledConstraint:
    """What takes the place of a constraint: monitoring predicates, and effects of each action that set them.

    `condition` must be true in every state, `goal` in the last one.
    """

    predicates: tuple[Predicate, ...] = ()
    effects: tuple[Formula, ...] = ()
    condition: Formula = TRUE
    goal: Formula = TRUE


def compile_constraint(
    constraint: Trajectory, variables: tuple[TypedName, ...], names: Iterator[str]
) -> CompiledConstraint:
    """Compile a constraint that is true for all values of its variables; `names` are those of new predicates."""

    def monitor() -> tuple[Predicate, Atom]:
        predicate = Predicate(next(names), variables)
        return predicate, Atom(predicate.name, tuple(variable.name for variable in variables))

    def for_all(part: Formula) -> Formula:
        return Forall(variables, part) if variables else part

    first, second = constraint.parts[0], constraint.parts[-1]
    match constraint.operator:
        case "at end":
            return CompiledConstraint(goal=for_all(first))
        case "always":
            return CompiledConstraint(condition=for_all(first))
    predicate, seen = monitor()
    match constraint.operator:
        case "sometime":
            return CompiledConstraint((predicate,), (for_all(When(first, seen)),), goal=for_all(Or((seen, first))))
        case "sometime-before":
            return CompiledConstraint((predicate,), (for_all(When(second, seen)),), for_all(Or((Not(first), seen))))
        case "sometime-after":
            waiting = seen
            begins, ends = When(And((first, Not(second))), waiting), When(second, Not(waiting))
            goal = for_all(Or((second, And((Not(waiting), Not(first))))))
            return CompiledConstraint((predicate,), (for_all(begins), for_all(ends)), goal=goal)
    other, ended = monitor()  # at-most-once
    effects = (for_all(When(first, seen)), for_all(When(And((seen, Not(first))), ended)))
    return CompiledConstraint((predicate, other), effects, for_all(Or((Not(ended), Not(first)))))


def _given(conditions: Iterable[Formula], known: Formula) -> Iterator[Formula]:
    """The conditions that do not follow from a known one, without alternatives that it excludes."""
    facts = frozenset(conjuncts(known))
    for condition in conditions:
        alternatives = condition.parts if isinstance(condition, Or) else (condition,)
        if facts.isdisjoint(alternatives):
            possible = tuple(alternative for alternative in alternatives if negated(alternative) not in facts)
            yield possible[0] if len(possible) == 1 else Or(possible)


def negated(condition: Formula) -> Formula:
    return condition.part if isinstance(condition, Not) else Not(condition)
