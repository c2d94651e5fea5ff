"""Printing the results of `pddlego.tools` as text or as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from pddlego.cli import exits
from pddlego.util.text import clean

if TYPE_CHECKING:
    from pddlego.tools import Finding

Format = Annotated[Literal["text", "json"], typer.Option("--format", help="text or json.")]

Line = tuple[str, str]
"""A text and its style."""

_WIDTH = 100
"""The maximum number of characters of a source line that are shown."""


def end(ok: bool) -> NoReturn:
    """End the command with the exit code of its result."""
    raise typer.Exit(exits.WON if ok else exits.NOT_WON)


def say(text: str) -> None:
    """Print a message on standard error, because standard output contains the result."""
    typer.echo(clean(text), err=True)


def print_result(result: Any, form: Literal["text", "json"], lines: Iterable[Line]) -> None:
    """Print a result as JSON, or as `lines` of text."""
    if form == "json":
        typer.echo(json.dumps(dataclasses.asdict(result), indent=2, ensure_ascii=False))
    else:
        show_lines(lines)


def show_lines(lines: Iterable[Line], *, errors: bool = False) -> None:
    """Print lines on standard output or on standard error."""
    from rich.console import Console

    console = Console(stderr=errors, soft_wrap=True, emoji=False)
    for text, style in lines:
        console.print(clean(text), style=style, markup=False, highlight=False)


def finding_lines(finding: Finding, path: Path | None) -> Iterator[Line]:
    """The lines about a finding: place and rule, the source line with a caret, the reason, and the advice."""
    style = "yellow" if finding.severity == "warning" else "bold red"
    yield f"{path}:{finding.line}:{finding.column}: {finding.severity}: {finding.rule}", style
    if finding.source:
        start = max(0, finding.column - _WIDTH // 2) if len(finding.source) > _WIDTH else 0
        yield f"  {finding.source[start : start + _WIDTH]}", "dim"
        yield f"  {' ' * len(clean(finding.source[start : finding.column - 1]))}^", style
    for label, text in (("  why: ", finding.message), ("  do:  ", finding.advice)):
        first, *others = clean(text).splitlines() or [""]
        yield f"{label}{first}", ""
        yield from ((f"{' ' * len(label)}{line}", "") for line in others)
