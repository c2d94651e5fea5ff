"""Which planner can plan for a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pddlego.errors import EngineError
from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import Compare, Exists, Forall, Formula, Imply, Not, Or, When, walk
from pddlego.pddl.constraints import constraints_in
from pddlego.pddl.costs import counts_cost, needs_numbers, needs_time
from pddlego.planners import OWN, Feature, planner_names, spec_of
from pddlego.planning.defined import unset_numbers
from pddlego.planning.engines import EngineTurn, attempts, lacking, missing, numeric_attempts, refusal, unable
from pddlego.planning.ground import PlanningError
from pddlego.planning.preferences import without_preferences
from pddlego.planning.result import LEAST_COST, Search
from pddlego.planning.unconstrained import constraints_of, without_constraints


def needs(domain: Domain, problem: Problem, search: Search = LEAST_COST) -> dict[Feature, str]:
    """The features that a planner must have for a task, each with the first part that needs it; time comes first.

    Raises `PlanningError` for a task that no planner can have.
    """
    found: dict[Feature, str] = {}
    domain, problem = _plain(domain, problem, search)
    numeric, timed = needs_numbers(domain, problem), needs_time(domain, problem)
    if timed is not None:
        found[Feature.TIME] = ""
    if numeric is not None:
        found[Feature.NUMBERS] = ""
        unset = unset_numbers(domain, problem)
        constants = (term for term in unset if not term.parts and term.head not in domain.changed_functions)
        if (constant := next(constants, None)) is not None:
            found[Feature.UNSET] = str(constant)
    elif counts_cost(problem):
        found[Feature.COSTS] = str(problem.metric)
    if (constraint := next(constraints_in(constraints_of(domain, problem)), None)) is not None:
        found[Feature.CONSTRAINTS] = str(constraint)
    if domain.derived:
        found[Feature.DERIVED] = str(domain.derived[0])
    effects = [action.effect for action in domain.schemas]
    whens = [part for part in _parts(effects) if isinstance(part, When)]
    if whens:
        found[Feature.CONDITIONAL] = str(whens[0])
    if numbers := [part for part in _parts(when.condition for when in whens) if isinstance(part, Compare)]:
        found[Feature.NUMBERS_IN_WHEN] = str(numbers[0])
    conditions = [action.precondition for action in domain.schemas] + [rule.condition for rule in domain.derived]
    conditions += [problem.goal, *(when.condition for when in whens)]
    negations = (part for part in _parts(conditions) if isinstance(part, Not))
    logic = (part for part in _parts(conditions + effects) if isinstance(part, (Or, Imply, Exists, Forall)))
    for feature, parts in ((Feature.NEGATION, negations), (Feature.LOGIC, logic)):
        if (first := next(iter(parts), None)) is not None:
            found[feature] = str(first)
    return found


def _plain(domain: Domain, problem: Problem, search: Search) -> tuple[Domain, Problem]:
    """The task as planners have it, most of which have no preferences and no constraints. Raises `PlanningError`."""
    return without_constraints(*without_preferences(domain, problem, search)[:2])


def _parts(formulas: Iterable[Formula]) -> Iterable[Formula]:
    return (part for formula in formulas for part, _ in walk(formula))


def turns_for(domain: Domain, problem: Problem, search: Search, seconds: float) -> list[EngineTurn]:
    """The attempts of a planning call for a task. Raises `PlanningError` if no planner can do it."""
    domain, problem = _plain(domain, problem, search)
    is_constrained = next(constraints_in(constraints_of(domain, problem)), None) is not None
    if is_constrained or needs_numbers(domain, problem) is not None:
        return numeric_attempts(search, seconds, needs(domain, problem, search))
    turns = _attempts(search, seconds)
    if all(turn.engine in _CLASSICAL for turn in turns):
        return turns
    needed = needs(domain, problem, search)
    able = [turn for turn in turns if turn.engine in _CLASSICAL or not lacking(spec_of(turn.engine), needed)]
    if not able:
        raise PlanningError(unable(turns[0].engine, needed))
    return able


_attempts = lru_cache(maxsize=8)(attempts)  # it looks for installed packages

_CLASSICAL = (*OWN, "translator")
"""What plans for every classical task."""


@dataclass(frozen=True)
class PlannerAnswer:
    """Whether a planner can plan for a task.

    `reason` is why it cannot; empty if it can. `limits` are the features that the task needs, and that the planner has
    only in part. `can` are all of its features.
    """

    planner: str
    reason: str
    limits: tuple[str, ...] = ()
    can: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannerAnswers:
    """Which planner can plan for a task, those that are not installed included."""

    planners: tuple[PlannerAnswer, ...]


def planners_for(domain: Domain, problem: Problem, search: Search) -> PlannerAnswers:
    """Find out which planner can plan for a task with a search."""
    try:
        needed = needs(domain, problem, search)
    except PlanningError as error:
        return PlannerAnswers(tuple(PlannerAnswer(name, error.message) for name in planner_names()))
    return PlannerAnswers(tuple(_answer(name, search, needed, problem) for name in planner_names()))


def _answer(name: str, search: Search, needed: Mapping[Feature, str], problem: Problem) -> PlannerAnswer:
    try:
        spec = spec_of(name)
    except EngineError as error:
        return PlannerAnswer(name, f"{error.what}: {error.reason.rstrip('.')}")
    reason = lacking(spec, needed) or refusal(name, search)
    if problem.preferences and not reason and spec.limits.get(Feature.COSTS):
        reason = f"no preferences, which need {Feature.COSTS.value}"
    if not reason and (package := missing(name)) is not None:
        reason = f"not installed ({package[1]})"
    limits = {feature: f"{feature.value} ({limit})" for feature, limit in spec.limits.items()}
    features = tuple(limits.get(feature, feature.value) for feature in Feature if feature in spec.can)
    return PlannerAnswer(name, reason, tuple(limits[feature] for feature in needed if feature in limits), features)
