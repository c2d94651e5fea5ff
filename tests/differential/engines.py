"""What `check` and each planner say about a task."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from pddlego.pddl import Domain, Problem
from pddlego.pddl.portable import checked_domain
from pddlego.pddl.sexpr import Sexpr, read_sexprs
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from pddlego.planning.checked import checked_problem
from pddlego.planning.ground import PlanningError, translating
from pddlego.planning.unified import ExchangeError, to_unified
from tests.differential.variants import Variant

PLANNERS = ("pyperplan", "mimir", "fast-downward")
READERS = ("unified-planning", "translator")
"""Which read only: unified-planning what we write for it, Fast Downward's translator the files as they are."""

_SEARCH = Search.parse("gbf(hff)")


@dataclass(frozen=True)
class Verdicts:
    """The errors that `check` finds; if there are none, what each planner says, and which readers refuse the task."""

    errors: tuple[str, ...] = ()
    planned: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


class Bench:
    """Planners in processes of their own."""

    def __init__(self) -> None:
        self._planners = {name: ProcessPlanner(name, timeout=60) for name in PLANNERS}

    def close(self) -> None:
        for planner in self._planners.values():
            planner.close()

    def verdicts(self, variant: Variant) -> Verdicts:
        domain, problem, errors = checked(variant)
        if domain is None or problem is None:
            return Verdicts(errors)
        planned, refused = {}, {}
        for name, planner in self._planners.items():
            result = planner.solve(domain, problem, _SEARCH)
            if result.status in (PlanStatus.SOLVED, PlanStatus.UNSOLVABLE, PlanStatus.ALREADY_TRUE):
                planned[name] = result.status.value  # a plan that was found was executed in the given domain
            else:
                refused[name] = f"{result.status.value}: {result.message}"
        for name, message in (("unified-planning", _unified(domain, problem)), ("translator", _translator(variant))):
            refused.update({name: message} if message else {})
        return Verdicts((), planned, refused)


@contextlib.contextmanager
def bench() -> Iterator[Bench]:
    planners = Bench()
    try:
        yield planners
    finally:
        planners.close()


def checked(variant: Variant) -> tuple[Domain | None, Problem | None, tuple[str, ...]]:
    """The task as `check` reads it, and its errors."""
    domain = checked_domain(variant.domain)
    if domain.domain is None:
        return None, None, tuple(defect.message for defect in domain.defects if defect.blocking)
    problem = checked_problem(domain.domain, variant.problem)
    return domain.domain, problem.problem, tuple(defect.message for defect in problem.defects if defect.blocking)


def _unified(domain: Domain, problem: Problem) -> str:
    """Why unified-planning does not read what we write for it; empty if it does."""
    try:
        to_unified(domain, problem)
    except ExchangeError as error:
        return str(error)
    return ""


def _translator(variant: Variant) -> str:
    """Why Fast Downward's translator does not read the files as they are; empty if it does."""
    from fast_downward.translate import normalize, options
    from fast_downward.translate.pddl_parser import parsing_functions

    if options.options is None:
        options.set_options(["domain", "problem"])
    texts = (_lists(read_sexprs(text).expressions[0]) for text in (variant.domain, variant.problem))
    try:
        with translating():
            normalize.normalize(parsing_functions.parse_task(*texts))
    except PlanningError as error:
        return str(error)
    return ""


def _lists(part: Sexpr) -> object:
    return part if isinstance(part, str) else [_lists(child) for child in part]
