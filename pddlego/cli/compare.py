"""`pddlego compare`: whether two problems, or two domains, say the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import pddlego
from pddlego.cli.results import Format, Line, end, show

if TYPE_CHECKING:
    from pddlego.planning.compare import Comparison

First = Annotated[Path, typer.Argument(metavar="DOMAIN", help="The domain of both problems, or one of two domains.")]
Second = Annotated[Path, typer.Argument(metavar="A", help="A problem, or the other domain.")]
Third = Annotated[Path | None, typer.Argument(metavar="[B]", help="Another problem.")]


def command(domain: First, left: Second, right: Third = None, form: Format = "text") -> None:
    """Compare two problems of a domain, or two domains, up to the names of what they declare.

    Goals are compared by what they mean: what must be true in every state that reaches them.
    Exit code: 0 the same, 1 different or undecided, 2 wrong usage.
    """
    result = pddlego.compare(domain, left, right)
    first, second = (domain, left) if right is None else (left, right)
    show(result, form, _lines(result, first, second))
    end(result.verdict.value == "same")


def _lines(result: Comparison, first: Path, second: Path) -> Iterator[Line]:
    style = {"same": "green", "different": "red"}.get(result.verdict.value, "yellow")
    yield f"{result.verdict.value}: {result.reason}", style
    if result.note:
        yield f"  note: {result.note}", "yellow"
    for path, only in ((first, result.only_left), (second, result.only_right)):
        yield from ((f"  only in {path}: {line}", "") for line in only)
