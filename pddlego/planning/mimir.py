"""mimir: a compiled planner (`pymimir`) that works on the lifted task and knows derived predicates and costs."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import Any

from pddlego.pddl import Atom, Domain, Problem, conjuncts
from pddlego.pddl.conditions import ANY_TYPE, Compare, Not, Term
from pddlego.pddl.costs import TOTAL_COST, counts_cost
from pddlego.pddl.domain import Predicate, Rule
from pddlego.pddl.plain import plain
from pddlego.pddl.problem import without
from pddlego.planning.ground import EngineFailedError, NotPlannableError, OutOfTimeError
from pddlego.planning.result import Plan, PlanStep, Search, half_of
from pddlego.util.children import in_a_fork

_GOAL = "the-goal-is-reached"

_ERRORS = (NotPlannableError, OutOfTimeError, EngineFailedError)

_REQUIREMENTS = (":typing", ":adl", ":derived-predicates", ":action-costs")
"""mimir refuses what is not listed and used, and accepts what is listed and not used."""


def solve_mimir(domain: Domain, problem: Problem, search: Search, seconds: float) -> Plan | None:
    """The first plan that lazy greedy search with preferred operators finds; None if none exists.

    FF guides the search in the first half of the time, and the additive heuristic in the second. The grounded search of
    mimir is not used, because its plans differ from process to process. Raises `NotPlannableError` (also for an optimal
    `search`: the A* of mimir 0.13 overlooks goals), `OutOfTimeError`, `EngineFailedError` and `MemoryError`.
    """
    if search.is_optimal:
        raise NotPlannableError(f"mimir has no optimal search, and {search} is one; try fast-downward")
    texts = _texts(domain, problem)
    return in_a_fork(partial(_solved, texts, seconds), _ERRORS) if hasattr(os, "fork") else _solved(texts, seconds)


def _solved(texts: tuple[str, str], seconds: float) -> Plan | None:
    from pymimir.advanced import formalism
    from pymimir.advanced.search import AddHeuristic, FFHeuristic, LiftedGrounder

    try:
        parser = formalism.Parser(texts[0], "domain", formalism.ParserOptions())
        task = parser.parse_problem(texts[1], "problem", formalism.ParserOptions())
        grounder = LiftedGrounder(task)
        try:
            return _searched(task, FFHeuristic.create(grounder), half_of(seconds))
        except OutOfTimeError:
            return _searched(task, AddHeuristic.create(grounder), half_of(seconds))
    except RuntimeError as error:
        raise NotPlannableError(f"mimir cannot read it ({' '.join(str(error).split())})") from error


def _searched(task: Any, heuristic: Any, seconds: float) -> Plan | None:
    from pymimir.advanced import search

    lifted = search.LiftedOptions(search.LiftedKPKCOptions(search.SymmetryPruning.OFF))
    context = search.SearchContext.create(task, search.SearchContextOptions(lifted))
    options = search.GBFSLazyOptions()
    options.max_time_in_ms = int(seconds * 1000)
    result = search.find_solution_gbfs_lazy(context, heuristic, options)
    if result.status in (search.SearchStatus.UNSOLVABLE, search.SearchStatus.EXHAUSTED):
        return None
    if result.status is search.SearchStatus.OUT_OF_TIME:
        raise OutOfTimeError
    if result.status is not search.SearchStatus.SOLVED:
        raise EngineFailedError(f"mimir ended with {result.status.name.lower().replace('_', ' ')}")
    return Plan(tuple(PlanStep.read(str(step.to_string_for_plan(task))) for step in result.plan.get_actions()))


def _texts(domain: Domain, problem: Problem) -> tuple[str, str]:
    """The files as mimir reads them."""
    domain, problem = plain(domain, without(problem, domain.constants))
    domain, problem = _with_plain_goal(domain, problem)
    types = tuple(supertype for supertype in domain.supertypes if supertype.name != ANY_TYPE)
    stated = replace(domain, name="domain", requirements=_REQUIREMENTS, supertypes=types)
    start = Compare("=", TOTAL_COST, Term("0"))
    values = frozenset(value for value in problem.values if value.left != TOTAL_COST)
    if TOTAL_COST.head in domain.functions_by_name:
        values |= {start}
    metric = problem.metric if counts_cost(problem) else None
    given = replace(problem, name="problem", domain="domain", values=values, metric=metric)
    return str(stated), str(given)


def _with_plain_goal(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """The task with a conjunction of literals as its goal: any other goal becomes a derived predicate.

    A rule may name objects, so these become constants of the domain.
    """
    literals = (part.part if isinstance(part, Not) else part for part in conjuncts(problem.goal))
    if all(isinstance(part, Atom) for part in literals):
        return domain, problem
    reached = Predicate(_GOAL, ())
    domain = replace(
        domain,
        constants=(*domain.constants, *problem.sorted_objects()),
        predicates=(*domain.predicates, reached),
        derived=(*domain.derived, Rule(reached, problem.goal)),
    )
    return domain, replace(problem, objects=frozenset(), goal=Atom(_GOAL))
