"""`pddlego repair`: repairs PDDL that a model wrote."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pddlego.cli.printing import Line, end, finding_lines, show_lines
from pddlego.errors import UsageError
from pddlego.util.answers import spoken
from pddlego.util.files import STANDARD_INPUT, read_source, write_whole

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
    if write and STANDARD_INPUT in files:
        raise UsageError("--write is not possible here", "- is standard input, not a file.", "Leave --write out.")
    texts = map(read_source, files)
    sources = [text if "(" in text else f"{text}\n" for text in texts]  # not a word that could be the name of a file
    results = _repaired(sources, domain)
    for path, before, result in zip(files, sources, results, strict=True):
        after = result.text
        if before.endswith("\n") and not after.endswith("\n"):
            after += "\n"
        show_lines(_lines(path, result, changed=after != before), errors=True)
        if write and after != before:
            write_whole(path, after)
        if diff:
            old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
            typer.echo("".join(difflib.unified_diff(old, new, str(path), f"{path} (repaired)")), nl=False)
        elif not write:
            typer.echo(after, nl=not after.endswith("\n"))
    end(all(result.ok for result in results))


def _lines(path: Path, result: RepairResult, changed: bool) -> Iterator[Line]:
    yield from ((repair, "") for repair in result.repairs)
    for finding in result.findings:
        yield from finding_lines(finding, path)
    state = f"{'changed' if changed else 'unchanged'}, {'no errors' if result.ok else 'errors are left'}"
    yield f"{path}: {state}", "green" if result.ok else "red"


def _repaired(sources: list[str], domain: Path | None) -> list[RepairResult]:
    from pddlego import tools

    if domain is not None:
        return [tools.repair(source, domain) for source in sources]
    kinds = ["problem" if tools.is_problem(spoken(source)) else "domain" for source in sources]
    if sorted(kinds) == ["domain", "problem"]:
        pair = tools.repair_files(sources[kinds.index("domain")], sources[kinds.index("problem")])
        return list(pair if kinds[0] == "domain" else pair[::-1])
    if "problem" in kinds and "domain" in kinds:
        reason = "With several problems it is not clear which domain is whose."
        raise UsageError("Too many files", reason, "Give one domain and one problem, or name the domain with --domain.")
    return [tools.repair(source) for source in sources]
