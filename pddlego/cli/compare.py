"""`pddlego compare`: compares two problems, or two domains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import pddlego
from pddlego.cli.printing import Format, Line, end, print_result
from pddlego.errors import UsageError

if TYPE_CHECKING:
    from pddlego.planning.compare import Comparison

FirstFile = Annotated[
    Path, typer.Argument(metavar="DOMAIN", help="The domain of both problems, or one of two domains.")
]
SecondFile = Annotated[Path, typer.Argument(metavar="A", help="A problem, or the other domain.")]
ThirdFile = Annotated[Path | None, typer.Argument(metavar="[B]", help="Another problem.")]


def command(first: FirstFile, second: SecondFile, third: ThirdFile = None, form: Format = "text") -> None:
    """Compare two problems of a domain, or two domains, up to the names of what they declare.

    Goals are compared by what they mean: what must be true in every state that reaches them.
    Exit code: 0 the same, 1 different or undecided, 2 wrong usage.
    """
    from pddlego.runs.folders import runs_folder
    from pddlego.runs.listing import is_run

    for path in (first, second):
        if is_run(path) or (not path.exists() and is_run(runs_folder() / path)):
            advice = f"Compare runs with 'pddlego report {first} {second}'."
            raise UsageError(f"{path} is a run", "'pddlego compare' compares PDDL files.", advice)
    result = pddlego.compare(first, second, third)
    left, right = (first, second) if third is None else (second, third)
    print_result(result, form, _lines(result, left, right))
    end(result.verdict.value == "same")


def _lines(result: Comparison, left: Path, right: Path) -> Iterator[Line]:
    style = {"same": "green", "different": "red"}.get(result.verdict.value, "yellow")
    yield f"{result.verdict.value}: {result.reason}", style
    if result.note:
        yield f"  note: {result.note}", "yellow"
    for path, only in ((left, result.only_left), (right, result.only_right)):
        yield from ((f"  only in {path}: {line}", "") for line in only[:_SHOWN])
        if len(only) > _SHOWN:
            yield f"  only in {path}: {len(only) - _SHOWN} more (all: --format json)", ""


_SHOWN = 10
"""The number of differences of a side that are printed."""
