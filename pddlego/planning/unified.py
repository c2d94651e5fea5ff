"""unified-planning: problems exchanged with it, and Fast Downward through it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pddlego.errors import PddlegoError
from pddlego.pddl import Domain, PddlSyntaxError, Problem, parse_domain, parse_problem
from pddlego.pddl.derived import recursive_predicate, write_out
from pddlego.pddl.names import is_name
from pddlego.pddl.problem import without
from pddlego.planning.result import Plan, PlanStep, Search

OPTIMAL = frozenset({"bfs", "astar", "ids"})
"""Searches that promise the shortest plan; for these Fast Downward is asked for an optimal one too."""


def solve_fast_downward(domain: Domain, problem: Problem, search: Search) -> Plan | None:
    """A plan of Fast Downward, optimal where `search` is and the engine can be. Needs the extra `fast-downward`.

    unified-planning knows no derived predicates, so these are written out.

    Writes `output.sas` into the working directory, so two calls must not share one. Raises `NotPlannableError` where
    the reader or the engine refuses the problem.
    """
    from pyparsing import ParseBaseException
    from unified_planning.engines import PlanGenerationResultStatus as Status
    from unified_planning.exceptions import UPException
    from unified_planning.shortcuts import OneshotPlanner, get_environment

    from pddlego.planning.ground import EngineFailedError, NotPlannableError

    get_environment().credits_stream = None
    stated = replace(without(problem, domain.constants), domain=domain.name)
    engines = ["fast-downward"]
    if search.algorithm in OPTIMAL:
        # The optimal engine does not take axioms, which quantified goals become: then any plan is better than none.
        engines.insert(0, "fast-downward-opt")
    try:
        plain, goal = write_out(domain, stated.goal)
        parsed = _reader().parse_problem_string(plain.text, str(stated.with_goal(goal)))
        for name in engines:
            with OneshotPlanner(name=name) as engine:
                result = engine.solve(parsed)
            if result.status is not Status.UNSUPPORTED_PROBLEM:
                break
    except (UPException, ParseBaseException, AssertionError, KeyError, ValueError, SyntaxError) as error:
        raise NotPlannableError(f"unified-planning cannot handle it ({error})") from error
    if result.status in (Status.UNSOLVABLE_PROVEN, Status.UNSOLVABLE_INCOMPLETELY):
        return None
    if result.status is Status.MEMOUT:
        raise MemoryError
    if result.status in (Status.TIMEOUT, Status.INTERNAL_ERROR):
        raise EngineFailedError(f"Fast Downward ended with {result.status.name.lower().replace('_', ' ')}")
    if result.plan is None:
        raise NotPlannableError(f"Fast Downward gave no plan: {result.status.name.lower()}")
    steps = result.plan.actions
    return Plan(tuple(PlanStep(str(step.action.name), tuple(map(str, step.actual_parameters))) for step in steps))


@lru_cache(maxsize=1)
def _reader() -> Any:
    """The PDDL reader of unified-planning; building its grammar takes longer than reading a problem."""
    from unified_planning.io import PDDLReader

    return PDDLReader()


class ExchangeError(PddlegoError):
    """A problem says something that the other side has no words for (exit code 3)."""


def to_unified(domain: Domain, problem: Problem) -> Any:
    """The `unified_planning.model.Problem` that a domain and a problem are.

    Constants of the domain become objects. Needs unified-planning (extra `fast-downward`). Raises `ExchangeError` where
    it is missing, and for what it cannot say, such as a recursive derived predicate.
    """
    up = _unified_planning()
    from pyparsing import ParseBaseException
    from unified_planning.exceptions import UPException

    circle = recursive_predicate(domain)
    if circle:
        reason = f"The derived predicate {circle} is recursive, and it has no derived predicates."
        raise ExchangeError("unified-planning cannot hold the problem", reason, "Write the domain without it.")
    plain, goal = write_out(domain, problem.goal)
    stated = replace(without(problem, domain.constants), domain=domain.name, goal=goal)
    environment = up.shortcuts.get_environment()
    strict, environment.error_used_name = environment.error_used_name, False  # a type and a predicate may share a name
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of that as well
            return up.io.PDDLReader().parse_problem_string(plain.text, str(stated))
    except (UPException, ParseBaseException, AssertionError, KeyError, ValueError, SyntaxError) as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        what = "unified-planning cannot hold the problem"
        raise ExchangeError(what, f"{reason}.", "It knows no (either …) types; else check it.") from error
    finally:
        environment.error_used_name = strict


def from_unified(problem: Any) -> tuple[Domain, Problem]:
    """The domain and the problem that a `unified_planning.model.Problem` is.

    Objects that actions name become constants. Names that PDDL does not allow are written otherwise.
    Raises `ExchangeError` for what cannot be planned with here, such as numbers and time.
    """
    up = _unified_planning()
    from unified_planning.exceptions import UPException

    numbers = [str(fluent.name) for fluent in problem.fluents if not fluent.type.is_bool_type()]
    if numbers:
        reason = f"{', '.join(numbers)} has values other than true and false."
        raise ExchangeError("The problem cannot be planned with here", reason, "Leave numbers and time out.")
    try:
        writer = up.io.PDDLWriter(problem, rewrite_bool_assignments=True)
        texts = writer.get_domain(), writer.get_problem()
        names = {writer.get_pddl_name(fluent): str(fluent.name).lower() for fluent in problem.fluents}
        domain, stated = (_renamed(text, names) for text in texts)
        return parse_domain(domain), parse_problem(stated)
    except PddlSyntaxError as error:
        reason = f"{error.faults[0]}."
        raise ExchangeError("The problem cannot be planned with here", reason, "Leave numbers and time out.") from error
    except (UPException, AssertionError, NotImplementedError, ValueError) as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise ExchangeError(
            "unified-planning cannot write the problem as PDDL", f"{reason}.", "Simplify it."
        ) from error


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with predicates called as in the problem: the writer renames one that is called as a type."""
    wanted = {new: old for new, old in names.items() if new != old and is_name(old) and old not in names}
    pattern = re.compile(rf"(?<=[(\s])({'|'.join(map(re.escape, wanted))})(?=[\s)])")
    return pattern.sub(lambda match: wanted[match[1]], text) if wanted else text


def _unified_planning() -> Any:
    try:
        import unified_planning as up
        import unified_planning.io
        import unified_planning.shortcuts
    except ImportError as error:
        advice = "Install pddlego with its extra: pip install 'pddlego[fast-downward]'."
        raise ExchangeError("unified-planning is not installed", f"{error}.", advice) from error
    return up
