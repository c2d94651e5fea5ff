"""`pddlego repair`: PDDL that a model wrote, as strict PDDL."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pddlego.cli import exits
from pddlego.cli.check import show_finding
from pddlego.errors import UsageError
from pddlego.util.answers import spoken
from pddlego.util.files import read_source, read_text, write_whole
from pddlego.util.text import clean

if TYPE_CHECKING:
    from pddlego.tools import RepairResult

Files = Annotated[list[Path], typer.Argument(metavar="FILE", help="Files that a model wrote.")]
DomainFile = Annotated[Path | None, typer.Option("--domain", help="The valid domain of the problems.")]
Diff = Annotated[bool, typer.Option("--diff", help="Print what changes instead of the repaired files.")]
Write = Annotated[bool, typer.Option("--write", help="Overwrite the files that change.")]


def command(files: Files, domain: DomainFile = None, diff: Diff = False, write: Write = False) -> None:
    """Repair PDDL that a model wrote, and print it as strict PDDL; the repairs go to standard error.

    A domain and a problem given together are repaired together. Nothing is guessed: what stays wrong is reported.
    Exit code: 0 no errors are left, 1 errors are left, 2 wrong usage.
    """
    from rich.console import Console

    results = _repaired(files, domain)
    errors = Console(stderr=True, soft_wrap=True, emoji=False)
    for path, result in zip(files, results, strict=True):
        before, after = read_source(path), result.text
        if before.endswith("\n") and not after.endswith("\n"):
            after += "\n"
        for repair in result.repairs:
            errors.print(clean(repair), markup=False, highlight=False)
        for finding in result.findings:
            show_finding(errors, finding, str(path))
        state = f"{'changed' if after != before else 'unchanged'}, {'no errors' if result.ok else 'errors are left'}"
        errors.print(clean(f"{path}: {state}"), markup=False, highlight=False, style="green" if result.ok else "red")
        if write and after != before:
            write_whole(path, after)
        if diff:
            old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
            typer.echo("".join(difflib.unified_diff(old, new, str(path), f"{path} (repaired)")), nl=False)
        elif not write:
            typer.echo(after, nl=not after.endswith("\n"))
    raise typer.Exit(exits.WON if all(result.ok for result in results) else exits.NOT_WON)


def _repaired(files: list[Path], domain: Path | None) -> list[RepairResult]:
    from pddlego import tools

    if domain is not None:
        return [tools.repair(path, domain) for path in files]
    kinds = ["problem" if tools.is_problem(spoken(read_text(path))) else "domain" for path in files]
    if sorted(kinds) == ["domain", "problem"]:
        pair = tools.repair_files(files[kinds.index("domain")], files[kinds.index("problem")])
        return list(pair if kinds[0] == "domain" else pair[::-1])
    if "problem" in kinds and "domain" in kinds:
        reason = "With several problems it is not clear which domain is whose."
        raise UsageError("Too many files", reason, "Give one domain and one problem, or name the domain with --domain.")
    return [tools.repair(path) for path in files]
