"""A domain and a problem as a model wrote them, read together: repaired, parsed and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pddlego.pddl.check import check_reading
from pddlego.pddl.check_domain import check_domain
from pddlego.pddl.domain import Domain, parse_domain
from pddlego.pddl.problem import Problem, read_problem
from pddlego.pddl.rules import Defect, text_defect
from pddlego.pddl.sexpr import PddlSyntaxError
from pddlego.pddl.tolerant.files import Repaired, repair


@dataclass(frozen=True)
class PairReading:
    """What could be read. `domain` and `problem` are values as far as the texts are files; the pair can be planned with
    if there is a domain and no defect.

    `in_domain` are the defects of the domain, `in_problem` those of the problem, blocking ones only; without a domain
    nothing is said of the problem.
    """

    files: Repaired
    domain: Domain | None
    problem: Problem
    in_domain: tuple[Defect, ...] = ()
    in_problem: tuple[Defect, ...] = ()

    @property
    def defects(self) -> tuple[Defect, ...]:
        """All that stops planning, the domain's first."""
        return self.in_domain + self.in_problem


def read_pair(domain: str, problem: str, goal_needed: bool = True) -> PairReading:
    """Read a domain and a problem. Total: any two texts give a reading.

    Where no `goal` is `needed` a problem without one is no defect.
    """
    files = repair(domain, problem)
    reading = read_problem(files.problem)
    if not goal_needed:
        missing = tuple(name for name in reading.missing if name != ":goal")
        reading = replace(reading, problem=reading.problem.with_goal(("and",)), missing=missing)
    try:
        value = parse_domain(files.domain)
    except PddlSyntaxError as error:
        faults = tuple(map(text_defect, error.faults))
        return PairReading(files, None, reading.problem, faults)
    in_problem = tuple(each for each in check_reading(value, reading) if each.blocking)
    return PairReading(files, value, reading.problem, check_domain(value), in_problem)
