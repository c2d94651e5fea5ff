"""`compare` and `difference`: two problems, or two domains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pddlego.errors import UsageError
from pddlego.pddl import Domain, Problem
from pddlego.pddl.check import check_reading
from pddlego.pddl.conditions import Formula
from pddlego.pddl.problem import is_define, read_problem
from pddlego.pddl.rules import Level
from pddlego.pddl.sexpr import read_sexprs, show
from pddlego.tools.files import DomainFile, ProblemFile, content_of, limited_depth, read_domain_file, read_problem_file
from pddlego.tools.results import DifferenceResult

if TYPE_CHECKING:
    from pddlego.planning.compare import Comparison


def compare(
    domain: DomainFile,
    left: ProblemFile | Domain,
    right: ProblemFile | None = None,
    *,
    invariants: Sequence[str] = (),
) -> Comparison:
    """Whether two problems of a domain are equal, or whether the domains `domain` and `left` are.

    `right` is the other problem, or a problem of the first of two domains: then the states are compared that it may
    reach. `invariants` are conditions without free variables that are taken to be true in every state. Raises
    `UsageError` for invalid files.
    """
    from pddlego.planning.compare import compare_problems
    from pddlego.planning.domains.process import compare_apart

    if right is None or is_domain(left):
        value, other = (read_domain_file(file, Level.TIME) for file in (domain, cast(DomainFile, left)))
        problem = None if right is None else read_problem_file(value, right, Level.TIME, domain)
        assumed = [_read_invariant(value, text) for text in invariants]
        with limited_depth():
            return compare_apart(value, other, problem, assumed)
    if invariants:
        reason = "They say which states count when two domains are compared."
        raise UsageError("Invariants are not possible with two problems", reason, "Leave them out.")
    value = read_domain_file(domain, Level.NUMBERS)
    with limited_depth():
        problems = (read_problem_file(value, file, Level.NUMBERS, domain) for file in (cast(ProblemFile, left), right))
        return compare_problems(value, *problems)


def difference(domain: DomainFile, left: ProblemFile, right: ProblemFile) -> DifferenceResult:
    """The objects, facts and numbers of `:init` that only one of two problems has. Raises `UsageError`."""
    from pddlego.pddl.edit import edit_between

    value = read_domain_file(domain, Level.NUMBERS)
    edit = edit_between(*(read_problem_file(value, file, Level.NUMBERS, domain) for file in (left, right)))
    return DifferenceResult((*edit.objects.delete, *edit.init.delete), (*edit.objects.add, *edit.init.add))


def is_domain(file: ProblemFile | Domain) -> bool:
    """Whether a value, a text or a file is a domain."""
    if isinstance(file, Domain | Problem):
        return isinstance(file, Domain)
    if str(file) == "-":  # standard input can be read once
        return False
    return any(
        isinstance(part, tuple) and is_define(part, "domain") for part in read_sexprs(content_of(file)).expressions
    )


def read_conditions(file: Path) -> tuple[str, ...]:
    """The texts of the conditions in a file. Raises `UsageError`."""
    reading = read_sexprs(content_of(file))
    if reading.defects or not reading.expressions:
        wrong = reading.defects[0].message if reading.defects else "it has no condition"
        advice = "Write conditions such as (forall (?x ?a ?b) (imply (and (at ?x ?a) (at ?x ?b)) (= ?a ?b)))."
        raise UsageError(f"{file} is not a list of conditions", f"{wrong}.", advice)
    return tuple(map(show, reading.expressions))


def _read_invariant(domain: Domain, text: str) -> Formula:
    """A condition of an invariant. Raises `UsageError`."""
    reading = read_problem(f"(define (problem p) (:domain {domain.name}) (:init) (:goal {text}))")
    wrong = [defect.message for defect in check_reading(domain, reading, Level.TIME) if defect.blocking]
    if wrong:
        advice = "Write it over the predicates and functions of the first domain."
        raise UsageError(f"The invariant {text} is not valid", f"{wrong[0]}.", advice)
    return reading.problem.goal
