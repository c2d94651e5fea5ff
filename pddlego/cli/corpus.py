"""The arguments of `pddlego corpus`."""

from __future__ import annotations

from typing import Annotated

import typer

corpus = typer.Typer(help="What language models wrote, as data.", no_args_is_help=True)


@corpus.callback()
def _common() -> None:
    """What language models wrote, as data."""


@corpus.command()
def check(
    file: Annotated[str, typer.Argument(help="JSON lines with id, domain, problem, and what was recorded.")],
) -> None:
    """Read, repair and plan with every pair of a domain and a problem, and compare with what was recorded.

    Exit code: 0 no contradiction, 1 contradictions, 2 wrong usage.
    """
    from pddlego.cli.run_corpus import run_corpus

    raise typer.Exit(run_corpus(file))
