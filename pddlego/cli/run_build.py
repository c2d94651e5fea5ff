"""`pddlego build`: PDDL files from a description."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

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
from pddlego.util.files import cannot_make, read_text, write_whole
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
    for name, value, known in (
        ("WHAT", command.what, get_args(What)),
        ("--steps", command.steps, get_args(How)),
        ("--feedback", command.feedback, get_args(By)),
    ):
        if value not in known:
            raise UsageError(f"{name} {value} is not possible", f"It is one of: {', '.join(known)}.", "Choose one.")
    description = read_text(command.description)
    if not description.strip():
        raise UsageError(f"{command.description} is empty", "There is nothing to build of.", "Describe it in words.")
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
    journal = _journal(command.output)
    with ProcessPlanner(timeout=command.planner_timeout) as planner, closing(journal):
        build = Build(cast(What, command.what), description, model, planner, options, begin)
        ended = follow(build.events(), [journal.write, display.show])
    _write(command, build)
    console.print(f"The files are in {clean(str(command.output))}", markup=False, highlight=False)
    return exit_code(ended)


def _begin(command: BuildCommand) -> Draft:
    if command.what == "problem" and command.domain is None:
        raise UsageError("A problem needs its domain", "None was named.", "Name it with --domain.")
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
    """A new journal in the folder; one that is there stays, and is no longer the newest."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_make(folder, error) from error
    number = 1
    while (place := folder / (f"journal-{number}.jsonl" if number > 1 else "journal.jsonl")).exists():
        number += 1
    return JournalWriter(place)


def _write(command: BuildCommand, build: Build) -> None:
    """What there is, sound or not: nothing that was paid for is lost."""
    draft, folder = build.draft, command.output
    if draft.sections:
        write_whole(folder / "domain.pddl", draft.domain + "\n")
    if command.what != "domain" and (draft.objects or draft.facts):
        write_whole(folder / "problem.pddl", draft.problem + "\n")
    if build.verdict.plan:
        write_whole(folder / "plan.txt", build.verdict.plan + "\n")


def _person(console: Console, display: LineDisplay) -> AskingOverseer:
    if not (console.is_terminal and is_typed_at()):
        why = "--feedback person and both need somebody at a terminal."
        raise UsageError("Nobody is there to look", why, "Use --feedback model.")
    return AskingOverseer(display, ("files",), glyphs_for(console.encoding), lambda: console.width)
