"""Printing the results of `pddlego.tools` as text or as JSON."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import typer

from pddlego.cli import exits
from pddlego.errors import UsageError
from pddlego.util.files import check_writable
from pddlego.util.text import clean

if TYPE_CHECKING:
    from pddlego.tools import Finding

Format = Annotated[Literal["text", "json"], typer.Option("--format", help="text or json.")]

Line = tuple[str, str]
"""A text and its style."""


START, REACHED = "the initial state", {True: "reached", False: "not reached"}
"""What lists of states say of the first one, and of the goal."""


def end(ok: bool) -> NoReturn:
    """End the command with the exit code of its result."""
    raise typer.Exit(exits.WON if ok else exits.NOT_WON)


def say(text: str) -> None:
    """Print a message on standard error, because standard output contains the result."""
    typer.echo(clean(text), err=True)


_ENDINGS = (".svg", ".html", ".htm", ".png", ".jpg", ".jpeg", ".gif", ".pdf", ".json", ".csv")
"""The endings of file names that promise a format."""


def check_target(target: Path | None, formats: Sequence[str], sources: Iterable[Path | None]) -> None:
    """Raise `UsageError` for a file to write that is one of `sources`, or whose ending promises another format.

    A plan may have any ending that promises nothing. Raises `JournalError` if the file cannot be written.
    """
    if target is None:
        return
    ending, title = target.suffix.lower(), f"{target} is not possible (-o)"
    if os.path.realpath(target) in [os.path.realpath(source) for source in sources if source is not None]:
        raise UsageError(title, "The file is also an input.", "Name another file.")
    if ending not in formats and (ending in _ENDINGS or ".plan" not in formats):
        raise UsageError(
            title, f"This command does not write {ending} files.", f"Use the ending {' or '.join(formats)}."
        )
    check_writable(target)


def print_result(result: Any, form: Literal["text", "json"], lines: Iterable[Line]) -> None:
    """Print a result as JSON, or as `lines` of text."""
    if form == "json":
        typer.echo(json.dumps(dataclasses.asdict(result), indent=2, ensure_ascii=False))
    else:
        show_lines(lines)


def show_lines(lines: Iterable[Line], *, errors: bool = False) -> None:
    """Print lines on standard output or on standard error. A terminal wraps them between words."""
    from rich.console import Console

    console = Console(stderr=errors, emoji=False)
    for text, style in lines:
        console.print(clean(text), style=style, markup=False, highlight=False, soft_wrap=not console.is_terminal)


def finding_lines(finding: Finding, path: Path | None) -> Iterator[Line]:
    """The lines about a finding: place and rule, the source line with a caret, the reason, and the advice.

    A source line that is wider than the terminal is cut on both sides of the caret.
    """
    from rich.console import Console

    style = "yellow" if finding.severity == "warning" else "bold red"
    yield f"{path}:{finding.line}:{finding.column}: {finding.severity}: {finding.rule}", style
    if finding.source:
        source, place = clean(finding.source), len(clean(finding.source[: finding.column - 1]))
        width = max(20, Console().width - 3)
        start = max(0, min(place - width // 2, len(source) - width))
        end = start + width
        shown = f"{'…' if start else ''}{source[start + (start > 0) : end - (end < len(source))]}"
        yield f"  {shown}{'…' if end < len(source) else ''}", "dim"
        yield f"  {' ' * (place - start)}^", style
    for label, text in (("  why: ", finding.message), ("  do:  ", finding.advice)):
        first, *others = clean(text).splitlines() or [""]
        yield f"{label}{first}", ""
        yield from ((f"{' ' * len(label)}{line}", "") for line in others)
