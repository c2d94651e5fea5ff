"""`pddlego validate`: executes a plan, and reports its cost or its first fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pddlego.cli.printing import Format, Line, end, print_result

if TYPE_CHECKING:
    from pddlego.tools import ValidationResult

DomainFile = Annotated[Path, typer.Argument(metavar="DOMAIN", help="A PDDL domain file.")]
ProblemFile = Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file of that domain.")]
PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan, or the output of a planner.")]


def command(domain: DomainFile, problem: ProblemFile, plan: PlanFile, form: Format = "text") -> None:
    """Execute a plan: whether it reaches the goal, its cost, or the first step that fails and what it lacks.

    `pddlego check --plan` also names the line of the fault. Exit code: 0 valid, 1 not valid, 2 wrong usage.
    """
    from pddlego import tools

    result = tools.validate(domain, problem, plan)
    print_result(result, form, _lines(result, plan))
    end(result.valid)


def _lines(result: ValidationResult, plan: Path) -> Iterator[Line]:
    if result.valid:
        cost = "the metric has no value" if result.cost is None else f"cost {result.cost}"
        yield f"{plan}: valid, {cost}", "green"
        yield from ((f"  {verdict}", "") for verdict in result.preferences)
    else:
        yield f"{plan}: not valid: {result.rule}", "bold red"
        yield f"  why: {result.message}", ""
        yield f"  do:  {result.advice or 'Correct this step.'}", ""
    if result.note:
        yield result.note, "yellow"
