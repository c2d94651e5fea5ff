"""The arguments of `pddlego doctor`."""

from __future__ import annotations

from typing import Annotated

import typer


def doctor(
    model: Annotated[str | None, typer.Option(envvar="PDDLEGO_MODEL", help="The model to try.")] = None,
    base_url: Annotated[str | None, typer.Option(envvar="OPENAI_BASE_URL", help="Its endpoint.")] = None,
    runs: Annotated[str, typer.Option(help="The folder for runs.")] = "runs",
    java: Annotated[str | None, typer.Option(envvar="PDDLEGO_JAVA", help="The Java to try.")] = None,
) -> None:
    """Check Java, the engine, the planner, the model's endpoint and the folder for runs; say how to mend what fails."""
    from pddlego.cli.run_doctor import run_doctor

    raise typer.Exit(run_doctor(model, base_url, runs, java))
