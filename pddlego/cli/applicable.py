"""`pddlego applicable`: lists the ground actions that are possible in the initial state, or after a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pddlego.cli.printing import Format, print_result
from pddlego.cli.validate import DomainFile, ProblemFile

PlanFile = Annotated[Path | None, typer.Option("--plan", help="A plan to execute first.")]
ActionName = Annotated[str, typer.Option("--action", help="An action of the domain. Default: all.", show_default=False)]


def command(
    domain: DomainFile, problem: ProblemFile, plan: PlanFile = None, action: ActionName = "", form: Format = "text"
) -> None:
    """List the ground actions that are possible in the initial state, or after a plan, one a line."""
    from pddlego import tools

    result = tools.applicable(domain, problem, plan or "", action)
    print_result(result, form, ((step, "") for step in result.actions))
