"""The arguments of `pddlego check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DomainFile = Annotated[Path, typer.Argument(metavar="DOMAIN", help="A PDDL domain file.")]
ProblemFile = Annotated[Path | None, typer.Argument(metavar="[PROBLEM]", help="A problem file of that domain.")]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="A plan for it: (action object …), one a line.")]


def check(domain: DomainFile, problem: ProblemFile = None, plan: PlanFile = None) -> None:
    """Say what is wrong with a domain, a problem, or a plan: three lines for each defect.

    Exit code: 0 nothing that matters, 1 something is wrong, 2 wrong usage.
    """
    from pddlego.cli.run_check import run_check

    raise typer.Exit(run_check(domain, problem, plan))
