"""`pddlego compare`: whether two problems, or two domains, say the same."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import pddlego
from pddlego.cli import exits
from pddlego.util.text import clean

if TYPE_CHECKING:
    from pddlego.planning.compare import Comparison

First = Annotated[Path, typer.Argument(metavar="DOMAIN", help="The domain of both problems, or one of two domains.")]
Second = Annotated[Path, typer.Argument(metavar="A", help="A problem, or the other domain.")]
Third = Annotated[Path | None, typer.Argument(metavar="[B]", help="Another problem.")]
Format = Annotated[Literal["text", "json"], typer.Option("--format", help="How the result is written.")]


def command(domain: First, left: Second, right: Third = None, form: Format = "text") -> None:
    """Compare two problems of a domain, or two domains, up to the names of what they declare.

    Goals are compared by what they mean: what must be true in every state that reaches them.
    Exit code: 0 the same, 1 different or undecided, 2 wrong usage.
    """
    result = pddlego.compare(domain, left, right)
    if form == "json":
        typer.echo(json.dumps(dataclasses.asdict(result), indent=2, ensure_ascii=False))
    else:
        first, second = (domain, left) if right is None else (left, right)
        _show(result, first, second)
    raise typer.Exit(exits.WON if result.verdict.value == "same" else exits.NOT_WON)


def _show(result: Comparison, first: Path, second: Path) -> None:
    from rich.console import Console

    console = Console(soft_wrap=True, emoji=False)
    style = {"same": "green", "different": "red"}.get(result.verdict.value, "yellow")
    console.print(clean(f"{result.verdict.value}: {result.reason}"), style=style, markup=False, highlight=False)
    if result.note:
        console.print(clean(f"  note: {result.note}"), style="yellow", markup=False, highlight=False)
    for path, only in ((first, result.only_left), (second, result.only_right)):
        for line in only:
            console.print(clean(f"  only in {path}: {line}"), markup=False, highlight=False)
