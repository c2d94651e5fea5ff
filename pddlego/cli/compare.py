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
    from pddlego.planning.compare import Comparison, Witness

FirstFile = Annotated[
    Path, typer.Argument(metavar="DOMAIN", help="The domain of both problems, or one of two domains.")
]
SecondFile = Annotated[Path, typer.Argument(metavar="A", help="A problem, or the other domain.")]
ThirdFile = Annotated[Path | None, typer.Argument(metavar="[B]", help="Another problem, or one of the first domain.")]
Invariants = Annotated[Path | None, typer.Option(metavar="FILE", help="Conditions that are true in every state.")]


def command(
    first: FirstFile, second: SecondFile, third: ThirdFile = None, invariants: Invariants = None, form: Format = "text"
) -> None:
    """Compare two problems of a domain, or two domains, up to the names of what they declare.

    Goals are compared by what they mean: what must be true in every state that reaches them. Domains are compared by
    what their actions do in every state; with a problem as third file, in the states that it may reach.
    Exit code: 0 the same, 1 different or undecided, 2 wrong usage.
    """
    from pddlego.runs.folders import runs_folder
    from pddlego.runs.listing import is_run

    for path in (first, second):
        if is_run(path) or (not path.exists() and is_run(runs_folder() / path)):
            advice = f"Compare runs with 'pddlego report {first} {second}'."
            raise UsageError(f"{path} is a run", "'pddlego compare' compares PDDL files.", advice)
    from pddlego.tools import is_domain, read_conditions

    assumed = () if invariants is None else read_conditions(invariants)
    result = pddlego.compare(first, second, third, invariants=assumed)
    left, right = (first, second) if third is None or is_domain(second) else (second, third)
    print_result(result, form, _lines(result, left, right))
    end(result.verdict.value == "same")


def _lines(result: Comparison, left: Path, right: Path) -> Iterator[Line]:
    style = {"same": "green", "different": "red"}.get(result.verdict.value, "yellow")
    yield f"{result.verdict.value}: {result.reason}", style
    for kind, own, other in result.renamed[:_SHOWN]:
        yield f"  {kind} {own} of {left} is {other} in {right}", ""
    for witness in result.witnesses[:_SHOWN]:
        yield from _witness_lines(witness, left, right)
    for invariant in result.invariants:
        yield f"  invariant: {invariant}", ""
    if result.note:
        yield f"  note: {result.note}", "yellow"
    for path, only in ((left, result.only_left), (right, result.only_right)):
        yield from ((f"  only in {path}: {line}", "") for line in only[:_SHOWN])
        if len(only) > _SHOWN:
            yield f"  only in {path}: {len(only) - _SHOWN} more (all: --format json)", ""


def _witness_lines(witness: Witness, left: Path, right: Path) -> Iterator[Line]:
    moment = {"start": "the start of ", "end": "the end of ", "all": "the time of "}.get(witness.moment, "")
    yield f"  {moment}{witness.action}", "bold"
    if witness.plan is None:
        yield f"    objects: {', '.join(witness.objects)}", ""
        yield f"    state:   {' '.join(witness.facts) or 'no fact is true'}", ""
    else:
        yield f"    after:   {' '.join(witness.plan) or 'nothing: it is the initial state'}", ""
    for path, outcome in ((left, witness.left), (right, witness.right)):
        does = "impossible" if outcome is None else f"possible, then {' '.join(outcome) or 'nothing changes'}"
        yield f"    {path}: {does}", ""


_SHOWN = 10
"""The number of differences of a side that are printed."""
