"""Problems exchanged with unified-planning (extra `unified-planning`)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pddlego.errors import PddlegoError
from pddlego.pddl import Domain, PddlSyntaxError, Problem, check, parse_domain, parse_problem
from pddlego.pddl.check import check_domain
from pddlego.pddl.names import is_name
from pddlego.pddl.plain import in_plain_pddl, write_out
from pddlego.pddl.problem import without

_REQUIREMENTS = (":typing", ":adl", ":action-costs")
"""unified-planning refuses requirements that it does not know, and needs none."""


_LIMITS = "It knows only types with one parent, and arguments of the declared types or narrower; else check it."


class ExchangeError(PddlegoError):
    """A problem cannot be exchanged with unified-planning (exit code 3)."""


def to_unified(domain: Domain, problem: Problem) -> Any:
    """Convert a domain and a problem to a `unified_planning.model.Problem`.

    Constants of the domain become objects. Raises `ExchangeError` if the extra `unified-planning` is not installed, and
    for features that unified-planning lacks, such as recursive derived predicates.
    """
    up = _unified_planning()
    from pyparsing import ParseBaseException
    from unified_planning.exceptions import UPException

    if domain.circles:
        reason = f"The derived predicate {next(iter(domain.circles))} is recursive, and it has no derived predicates."
        raise ExchangeError("unified-planning cannot hold the problem", reason, "Write the domain without it.")
    readable, problem = in_plain_pddl(domain, without(problem, domain.constants))
    readable, goal = write_out(readable, problem.goal)
    readable = replace(readable, requirements=_REQUIREMENTS)
    name = problem.name if is_name(problem.name) else "problem"
    stated = replace(problem, name=name, domain=domain.name, goal=goal)
    environment = up.shortcuts.get_environment()
    strict, environment.error_used_name = environment.error_used_name, False  # a type and a predicate may share a name
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of shared names
            return up.io.PDDLReader().parse_problem_string(readable.canonical, str(stated))
    except (UPException, ParseBaseException, AssertionError, LookupError, ValueError, TypeError, SyntaxError) as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        what = "unified-planning cannot hold the problem"
        raise ExchangeError(what, f"{reason}.", _LIMITS) from error
    finally:
        environment.error_used_name = strict


def from_unified(problem: Any) -> tuple[Domain, Problem]:
    """Convert a `unified_planning.model.Problem` to a domain and a problem.

    Objects that actions name become constants. Names that PDDL does not allow are changed. Raises `ExchangeError` for
    features that are not supported here, such as time, and numbers other than action costs.
    """
    up = _unified_planning()
    from unified_planning.exceptions import UPException

    try:
        writer = up.io.PDDLWriter(problem, rewrite_bool_assignments=True)
        texts = writer.get_domain(), writer.get_problem()
        named = (*problem.fluents, *problem.all_objects)
        names = {writer.get_pddl_name(item): str(item.name).lower() for item in named}
        domain_text, problem_text = (_renamed(text, names) for text in texts)
        domain, stated = parse_domain(domain_text), parse_problem(problem_text)
        defects = [defect for defect in (*check_domain(domain), *check(domain, stated)) if defect.blocking]
        if defects:
            raise PddlSyntaxError(defects)
        return domain, stated
    except PddlSyntaxError as error:
        todo = "Leave time, and numbers other than action costs, out."
        raise ExchangeError("The problem cannot be planned with here", f"{error.faults[0]}.", todo) from error
    except (UPException, AssertionError, NotImplementedError, ValueError) as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise ExchangeError(
            "unified-planning cannot write the problem as PDDL", f"{reason}.", "Simplify it."
        ) from error


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with the original names: the writer renames a predicate or object with the name of something else."""
    wanted = {new: old for new, old in names.items() if new != old and is_name(old) and old not in names}
    pattern = re.compile(rf"(?<=[(\s])({'|'.join(map(re.escape, wanted))})(?=[\s)])")
    return pattern.sub(lambda match: wanted[match[1]], text) if wanted else text


def _unified_planning() -> Any:
    try:
        import unified_planning as up
        import unified_planning.io
        import unified_planning.shortcuts
    except ImportError as error:
        advice = "Install pddlego with its extra: pip install '.[unified-planning]'."
        raise ExchangeError("unified-planning is not installed", f"{error}.", advice) from error
    return up
