"""The arguments of `pddlego replay`."""

from __future__ import annotations

from typing import Annotated

import typer

from pddlego.cli.shared import Java, Run


def replay(
    run: Run,
    seed: Annotated[int | None, typer.Option(help="Only the episodes of this seed.")] = None,
    java: Java = None,
) -> None:
    """Play recorded episodes again without any model call, and check that everything comes out the same.

    Exit code: 0 the same, 1 a difference, 2 wrong usage, 3 the engine failed.
    """
    from pddlego.cli.run_replay import run_replay

    raise typer.Exit(run_replay(run, seed, java))
