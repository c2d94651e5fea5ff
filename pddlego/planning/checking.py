"""Everything that can be said of a domain and a problem before anything is planned: what `pddlego check` and builders
go by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pddlego.pddl import Defect, DefectKind, Domain, Problem
from pddlego.pddl.check import check_reading
from pddlego.pddl.check_domain import check_domain
from pddlego.pddl.domain import read_domain
from pddlego.pddl.problem import read_problem
from pddlego.pddl.remarks import domain_remarks, problem_remarks
from pddlego.pddl.rules import text_defect
from pddlego.planning.result import NOTHING_THERE
from pddlego.planning.validate import goal_holds, speaks_of_nothing
from pddlego.planning.world import World

MOST_CASES = 1_000_000
"""Ways to bind the variables of a goal that are looked at."""


@dataclass(frozen=True)
class CheckedDomain:
    """A text read as a domain, and what is wrong with it; `domain` is None where nothing can be planned with it."""

    domain: Domain | None
    defects: tuple[Defect, ...]


@dataclass(frozen=True)
class CheckedProblem:
    """A text read as a problem, and what is wrong with it; `problem` is None where nothing can be planned with it."""

    problem: Problem | None
    defects: tuple[Defect, ...]


def checked_domain(text: str) -> CheckedDomain:
    """Check a domain: what is wrong with its text, else all defects, else what is most likely a mistake. Total."""
    reading = read_domain(text)
    defects = tuple(map(text_defect, reading.faults)) or check_domain(reading.domain)
    if any(each.blocking for each in defects):
        return CheckedDomain(None, defects)
    return CheckedDomain(reading.domain, (*defects, *domain_remarks(reading.domain)))


def checked_problem(domain: Domain, text: str) -> CheckedProblem:
    """Check a problem of a sound domain: all defects, and where planning is possible what is most likely a mistake."""
    reading = read_problem(text)
    defects = check_reading(domain, reading)
    if any(each.blocking for each in defects):
        return CheckedProblem(None, defects)
    remarks = (*problem_remarks(domain, reading.problem), *_goal(domain, reading.problem))
    return CheckedProblem(reading.problem, (*defects, *remarks))


def _goal(domain: Domain, problem: Problem) -> Iterator[Defect]:
    if problem.goal in ((), ("and",)):
        return  # said already
    ways = World(domain, problem).cases(problem.goal)
    if ways > MOST_CASES:
        message = f"the goal has {ways:,} ways to be true, and is not looked at; bind fewer variables at once"
        yield Defect(DefectKind.TOO_LARGE, ":goal", message, blocking=False)
        return
    if goal_holds(domain, problem):
        why = NOTHING_THERE if speaks_of_nothing(domain, problem) else "there is nothing to plan"
        message = f"the goal is true in the initial state: {why}; ask for what is not there yet"
        yield Defect(DefectKind.GOAL_TRUE, ":goal", message, blocking=False)
