"""`pddlego build`: PDDL files from a description."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from rich.console import Console

from pddlego.cli.interrupts import is_typed_at
from pddlego.cli.watching import exit_code
from pddlego.display.glyphs import glyphs_for
from pddlego.display.lines import LineDisplay
from pddlego.display.person import AskingOverseer
from pddlego.errors import UsageError
from pddlego.events import Limits
from pddlego.methods.builders.building import How, What
from pddlego.methods.builders.draft import Draft, draft_of
from pddlego.methods.builders.files import Build, BuildOptions
from pddlego.methods.builders.l2p import with_l2p
from pddlego.methods.builders.reviewing import By
from pddlego.methods.registry import picture_of
from pddlego.models import Model
from pddlego.models.endpoint import ModelOptions, make_endpoint
from pddlego.pddl import PddlSyntaxError
from pddlego.planning import ProcessPlanner
from pddlego.runs.journal import JournalWriter
from pddlego.runs.recording import follow
from pddlego.util.files import read_text, write_whole
from pddlego.util.text import clean


@dataclass(frozen=True)
class BuildCommand:
    """What the command was told. Many fields, because it is one for each option."""

    what: str
    description: Path
    output: Path
    steps: str
    feedback: str
    rounds: int
    model: str | None
    domain: Path | None
    begin: Path | None
    retries: int
    max_calls: int | None
    base_url: str | None
    temperature: float
    planner_timeout: float


def run_build(command: BuildCommand) -> int:
    """Build, telling what happens; returns the exit code. Raises `PddlegoError`."""
    _check_numbers(command)
    description = read_text(command.description)
    begin = _begin(command)
    model = _model(command)
    console = Console()
    display = LineDisplay(console, picture_of("builders").describe)
    options = BuildOptions(
        steps=cast(How, command.steps),
        feedback=cast(By, command.feedback),
        rounds=command.rounds,
        retries=command.retries,
        limits=Limits(None, calls=command.max_calls),
        overseer=_person(console, display) if command.feedback in ("person", "both") else None,
    )
    with ProcessPlanner(timeout=command.planner_timeout) as planner:
        build = Build(cast(What, command.what), description, model, planner, options, begin)
        with closing(_journal(command.output)) as journal:
            ended = follow(build.events(), [journal.write, display.show])
    written = _write(command, build)
    console.print(f"In {clean(str(command.output))}: {', '.join(written)}", markup=False, highlight=False)
    return exit_code(ended)


def _check_numbers(command: BuildCommand) -> None:
    """Raises `UsageError`."""
    for flag, value, most in (
        ("--temperature", command.temperature, 10),
        ("--planner-timeout", command.planner_timeout, 1e6),
    ):
        if not 0 <= value <= most:  # NaN is neither
            raise UsageError(f"{flag} {value:g} is not possible", f"It is from 0 to {most:g}.", "Give another.")
    if command.domain is not None and command.what != "problem":
        why = f"A {command.what} brings a domain of its own."
        raise UsageError("--domain is for a problem", why, "Leave it out, or go on with parts of l2p by --from.")


def _begin(command: BuildCommand) -> Draft:
    draft = Draft()
    if command.domain is not None:
        text = read_text(command.domain)
        try:
            draft = with_l2p(draft, text, str(command.domain)) if command.domain.suffix == ".json" else draft_of(text)
        except PddlSyntaxError as error:
            raise UsageError(f"{command.domain} is no domain", f"{error.faults[0]}.", "See 'pddlego check'.") from error
    if command.begin is not None:
        draft = with_l2p(draft, read_text(command.begin), str(command.begin))
    return draft


def _model(command: BuildCommand) -> Model:
    name = command.model or os.environ.get("PDDLEGO_MODEL")
    if name is None or name == "reader":
        why = "The built-in reader knows only the built-in settings (pddlego play text-blocks)."
        raise UsageError("No language model was named", why, "Name one with --model or PDDLEGO_MODEL.")
    key, url = os.environ.get("OPENAI_API_KEY"), command.base_url or os.environ.get("OPENAI_BASE_URL")
    return make_endpoint(ModelOptions(name=name, base_url=url, api_key=key, temperature=command.temperature))


def _journal(folder: Path) -> JournalWriter:
    """The journal in a folder in which nothing was built yet. Raises `UsageError` for any other."""
    there = [name for name in FILES if (folder / name).exists()] if str(folder).strip() else []
    if there or not str(folder).strip() or folder == Path():
        why = f"There is {', '.join(there)} in it." if there else "It is the folder where you are."
        raise UsageError(f"Nothing can be built in '{folder}'", why, "Name another folder with -o.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return JournalWriter(folder / JOURNAL)
    except OSError as error:
        raise UsageError(f"Cannot write to {folder}", f"{error.strerror}.", "Name another folder with -o.") from error


JOURNAL = "journal.jsonl"
FILES = ("domain.pddl", "problem.pddl", "plan.txt", JOURNAL)
"""What a build leaves in its folder."""


def _write(command: BuildCommand, build: Build) -> list[str]:
    """What there is, sound or not: nothing that was paid for is lost. The names of the files."""
    draft, folder = build.draft, command.output
    texts = {"plan.txt": build.plan}
    if draft.sections and command.what != "problem":
        texts["domain.pddl"] = draft.domain
    if command.what != "domain" and (draft.objects or draft.facts):
        texts["problem.pddl"] = draft.problem
    for name, text in texts.items():
        if text:
            write_whole(folder / name, f"{text}\n")
    return [name for name in FILES if name == JOURNAL or texts.get(name)]


def _person(console: Console, display: LineDisplay) -> AskingOverseer:
    if not (console.is_terminal and is_typed_at()):
        why = "--feedback person and both need somebody at a terminal."
        raise UsageError("Nobody is there to look", why, "Use --feedback model.")
    return AskingOverseer(display, ("files",), glyphs_for(console.encoding), lambda: console.width)
