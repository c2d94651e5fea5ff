"""Problems exchanged with unified-planning (extra `unified-planning`)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any

from pddlego.errors import PddlegoError
from pddlego.pddl import Domain, PddlSyntaxError, Problem, check, parse_domain, parse_problem
from pddlego.pddl.check import check_domain
from pddlego.pddl.conditions import Change, Compare, Formula
from pddlego.pddl.names import is_name
from pddlego.pddl.plain import in_plain_pddl, write_out
from pddlego.pddl.problem import without
from pddlego.pddl.rules import Level

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
    later = frozenset(replace(literal, part=_assigned(literal.part)) for literal in problem.later)
    stated = replace(problem, name=name, domain=domain.name, goal=goal, later=later)
    environment = up.shortcuts.get_environment()
    strict, environment.error_used_name = environment.error_used_name, False  # a type and a predicate may share a name
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of shared names
            return up.io.PDDLReader().parse_problem_string(readable.canonical, str(stated))
    except (UPException, ParseBaseException, AssertionError, LookupError, ValueError, TypeError, SyntaxError) as error:
        reason = " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__
        what = "unified-planning cannot hold the problem"
        raise ExchangeError(what, f"{reason}.", _LIMITS) from error
    finally:
        environment.error_used_name = strict


def _assigned(literal: Formula) -> Formula:
    """A timed literal as unified-planning reads it: `(assign (level) 3)` where PDDL has `(= (level) 3)`."""
    return Change("assign", literal.left, literal.right) if isinstance(literal, Compare) else literal


def from_unified(problem: Any) -> tuple[Domain, Problem]:
    """Convert a `unified_planning.model.Problem`, with or without numbers and time, to a domain and a problem.

    Objects that actions name become constants. Names that PDDL does not allow are changed. The bounds of a bounded
    number become conditions of all actions and of the goal. Raises `ExchangeError` for features that are not supported
    here, such as continuous effects.
    """
    up = _unified_planning()
    from unified_planning.exceptions import UPException

    try:
        writer = _exact_writer(up, _without_bounds(up, problem))
        texts = writer.get_domain(), writer.get_problem()
        named = (*writer.problem.fluents, *writer.problem.all_objects)
        names = {writer.get_pddl_name(item): str(item.name).lower() for item in named}
        domain_text, problem_text = (_renamed(text, names) for text in texts)
        domain, stated = parse_domain(domain_text), parse_problem(problem_text)
        checked = (*check_domain(domain, Level.TIME), *check(domain, stated, Level.TIME))
        if defects := [defect for defect in checked if defect.blocking]:
            raise PddlSyntaxError(defects)
        return domain, stated
    except PddlSyntaxError as error:
        todo = "Write the problem without it."
        raise ExchangeError("The problem cannot be planned with here", f"{error.faults[0]}.", todo) from error
    except (UPException, AssertionError, NotImplementedError, ValueError, ArithmeticError) as error:
        reason = " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__
        what = "unified-planning cannot write the problem as PDDL"
        raise ExchangeError(what, f"{reason}.", "Simplify it.") from error


def _without_bounds(up: Any, problem: Any) -> Any:
    """The problem without bounds of numbers. Raises `ExchangeError` for features that its writer leaves out."""
    kind = problem.kind
    features = {
        f"the class {type(problem).__name__}": kind.has_contingent() or not kind.has_action_based(),
        "simulated effects": kind.has_simulated_effects(),
        "discrete time": kind.has_discrete_time(),
    }
    for feature in (name for name, is_used in features.items() if is_used):
        reason = f"It uses {feature}, which the writer of unified-planning leaves out."
        raise ExchangeError("PDDL cannot hold the problem", reason, "Write the problem without it.")
    if not kind.has_bounded_types():
        return problem
    from unified_planning.engines.compilers.bounded_types_remover import BoundedTypesRemover

    compiled = BoundedTypesRemover().compile(problem, up.engines.CompilationKind.BOUNDED_TYPES_REMOVING).problem
    compiled.name = problem.name
    return compiled


def _exact_writer(up: Any, problem: Any) -> Any:
    """The writer of unified-planning, which by itself rounds fractions to ten digits and may write an exponent."""
    module = up.io.pddl_writer
    converter: Any = module.ConverterToPDDLString
    writer: Any = module.PDDLWriter

    class Converter(converter):  # type: ignore[misc]  # without stubs
        def convert(self, expression: Any) -> str:
            return "0" if expression is None else super().convert(expression)  # the cost of an action without a cost

        def convert_fraction(self, value: Fraction) -> str:
            decimal = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
            return decimal if Fraction(decimal) == value else f"(/ {value.numerator} {value.denominator})"

    class Writer(writer):  # type: ignore[misc]  # without stubs
        """Its methods find the converter by its global name: these find the exact one."""

        _write_domain, _write_problem = (
            FunctionType(method.__code__, {**method.__globals__, "ConverterToPDDLString": Converter})
            for method in (writer._write_domain, writer._write_problem)
        )

    return Writer(problem, rewrite_bool_assignments=True)


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
