"""The arguments of `pddlego cache`."""

from __future__ import annotations

from typing import Annotated

import typer

cache = typer.Typer(help="Answers of models that were kept (--cache use).", no_args_is_help=True)


@cache.command()
def info() -> None:
    """Say where the cache is and what it holds of each model."""
    from pddlego.cli.run_cache import run_info

    raise typer.Exit(run_info())


@cache.command()
def clear(
    model: Annotated[str | None, typer.Option(help="Only the answers of this model.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove what was kept. It was paid for: you are asked first."""
    from pddlego.cli.run_cache import run_clear

    raise typer.Exit(run_clear(model, yes))
