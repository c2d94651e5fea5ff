"""The arguments of `pddlego solve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pddlego.cli.shared import (
    BaseUrl,
    IsolationName,
    Kappa,
    Levels,
    PlannerMemory,
    PlannerTimeout,
    Prune,
    SortBy,
)

DomainFile = Annotated[Path, typer.Argument(metavar="DOMAIN", help="A PDDL domain file.")]
ProblemFile = Annotated[Path, typer.Argument(metavar="PROBLEM", help="A problem file of that domain.")]
Planner = Annotated[
    str,
    typer.Option(
        "--planner",
        help="pyperplan, graphplan, fast-downward (extra), or program:FILE: Python with get_plan, or a run folder.",
    ),
]
SearchName = Annotated[str, typer.Option("--search", help="How to search: gbf(hff), astar(lmcut), bfs and more.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="A file for the plan. Default: standard output.")]


def solve(
    domain: DomainFile,
    problem: ProblemFile,
    planner: Planner = "pyperplan",
    search: SearchName = "gbf(hff)",
    planner_timeout: PlannerTimeout = None,
    planner_memory: PlannerMemory = None,
    prune: Prune = None,
    sort: SortBy = None,
    kappa: Kappa = None,
    levels: Levels = None,
    base_url: BaseUrl = None,
    isolation: IsolationName = None,
    output: Output = None,
) -> None:
    """Find a plan and print it, one action a line. Every plan is validated before it is printed.

    A program that fails, or whose plan is wrong, is said so, and a search takes its place.
    Exit code: 0 a plan, 1 there is none or none was found in time, 2 wrong usage, 3 the planner failed.
    """
    from pddlego.cli.run_solve import SolveOptions, run_solve

    timeout = 30.0 if planner_timeout is None else planner_timeout
    memory = 4096 if planner_memory is None else planner_memory
    chosen = SolveOptions(
        planner,
        search,
        timeout,
        memory,
        isolation or "required",
        output,
        prune=prune,
        sort=sort,
        kappa=kappa or "1",
        levels=levels,
        base_url=base_url,
    )
    raise typer.Exit(run_solve(domain, problem, chosen))
