"""The arguments of `pddlego build`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pddlego.cli.shared import BaseUrl, PlannerTimeout, Temperature

WhatName = Annotated[str, typer.Argument(metavar="WHAT", help="domain, problem, or task: a domain and a problem.")]
Description = Annotated[Path, typer.Argument(metavar="DESCRIPTION", help="A text that describes it.")]
Folder = Annotated[Path, typer.Option("--output", "-o", help="A folder for the files. Default: built.")]
Steps = Annotated[str, typer.Option(help="whole, by-component or by-action.")]
FeedbackBy = Annotated[str, typer.Option("--feedback", help="none, model, person or both, after checks and planner.")]
Rounds = Annotated[int, typer.Option(min=0, max=20, help="Rounds of feedback by a model, at most.")]
ModelName = Annotated[str | None, typer.Option("--model", help="The language model. Default: PDDLEGO_MODEL.")]
Given = Annotated[
    Path | None, typer.Option("--domain", help="The domain of a problem: a PDDL file, or components of l2p as JSON.")
]
Begin = Annotated[Path | None, typer.Option("--from", help="Components of l2p as JSON to go on with.")]
Again = Annotated[int, typer.Option("--retries", min=0, max=100, help="Tries more at an unusable component.")]
MostCalls = Annotated[int | None, typer.Option("--max-calls", min=1, help="Model calls, at most.")]


def build(
    what: WhatName,
    description: Description,
    output: Folder = Path("built"),
    steps: Steps = "by-component",
    feedback: FeedbackBy = "none",
    rounds: Rounds = 3,
    model: ModelName = None,
    domain: Given = None,
    begin: Begin = None,
    retries: Again = 5,
    max_calls: MostCalls = None,
    base_url: BaseUrl = None,
    temperature: Temperature = None,
    planner_timeout: PlannerTimeout = None,
) -> None:
    """Build PDDL from a description: a model writes components, they are checked, planned with, and reviewed.

    Exit code: 0 sound (and there is a plan), 1 not, 2 wrong usage, 3 the model failed, 130 interrupted.
    """
    from pddlego.cli.run_build import BuildCommand, run_build

    chosen = BuildCommand(
        what=what,
        description=description,
        output=output,
        steps=steps,
        feedback=feedback,
        rounds=rounds,
        model=model,
        domain=domain,
        begin=begin,
        retries=retries,
        max_calls=max_calls,
        base_url=base_url,
        temperature=1.0 if temperature is None else temperature,
        planner_timeout=30.0 if planner_timeout is None else planner_timeout,
    )
    raise typer.Exit(run_build(chosen))
