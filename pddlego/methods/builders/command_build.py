"""`pddlego build`: builds PDDL files from a description, with a language model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console

from pddlego.cli.exits import is_typed_at
from pddlego.cli.options import with_options
from pddlego.cli.watching import exit_code
from pddlego.display.console import glyphs_for
from pddlego.display.lines import LineDisplay
from pddlego.display.person import AskingApprover
from pddlego.episode.events import Limits
from pddlego.errors import UsageError
from pddlego.evaluation.config import BUILDING, LimitOptions, resolve, with_overrides
from pddlego.methods.base import BUILT_IN_MODEL
from pddlego.methods.builders.builder import Build, Built, LevelName, first_draft
from pddlego.methods.builders.building import BuildPart
from pddlego.methods.builders.draft import Draft
from pddlego.methods.builders.options import BuilderOptions
from pddlego.methods.builders.play import STEPS
from pddlego.methods.builders.python import model_of
from pddlego.methods.builders.records.l2p import with_l2p
from pddlego.methods.builders.reviewing import FeedbackBy
from pddlego.methods.setting_files import parse_overrides
from pddlego.methods.shared_options import PlannerOptions
from pddlego.models import Model
from pddlego.models.endpoint import Endpoint
from pddlego.pddl import PddlSyntaxError, parse_domain
from pddlego.runs.folders import JOURNAL
from pddlego.runs.journal import JournalWriter, follow
from pddlego.util.files import read_text, write_whole
from pddlego.util.options import names_of
from pddlego.util.text import clean

_What = Annotated[str, typer.Argument(metavar="WHAT", help="domain, problem, or task (both).")]
_Description = Annotated[Path, typer.Argument(metavar="DESCRIPTION", help="A text file with the description.")]
_Folder = Annotated[Path, typer.Option("--output", "-o", help="Output folder.")]
_Mode = Annotated[str, typer.Option("--mode", help="build, build+whole or build+by-action.")]
_Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="feedback=model: a model reviews, in at most rounds=N rounds."),
]
_Confirm = Annotated[str | None, typer.Option("--confirm", metavar="files", help="files: you review the files.")]
_Level = Annotated[str, typer.Option(help="Level of PDDL: classical, numbers, or time (durative actions).")]
_ModelName = Annotated[str | None, typer.Option("--model", help="The language model. Default: PDDLEGO_MODEL.")]
_Given = Annotated[Path | None, typer.Option("--domain", help="Given domain: a PDDL file, or l2p components as JSON.")]
_Begin = Annotated[Path | None, typer.Option("--from", help="l2p components as JSON to start with.")]


_NAMES = BUILDING | names_of(BuilderOptions)


@with_options((Endpoint, LimitOptions, PlannerOptions), only=(BUILDING - names_of(Endpoint)) | {"base_url"})
def command(
    flags: dict[str, Any],
    what: _What,
    description: _Description,
    output: _Folder = Path("built"),
    mode: _Mode = "build",
    settings: _Set = None,
    confirm: _Confirm = None,
    model: _ModelName = None,
    domain: _Given = None,
    begin: _Begin = None,
    level: _Level = "classical",
) -> None:
    """Build PDDL files from a description: a model writes components, which are checked, planned with, and reviewed.

    Exit code: 0 sound (and there is a plan), 1 not, 2 wrong usage, 3 the model failed, 130 interrupted.
    """
    flags |= {"models": (model,)} if model is not None else {}
    config = resolve(flags, os.environ, names=_NAMES | {"models"}).config
    if domain is not None and what != "problem":
        reason = f"A {what} brings a domain of its own."
        raise UsageError("--domain is for a problem", reason, "Leave it out, or go on with parts of l2p by --from.")
    overrides = parse_overrides(tuple(settings or ()))
    builders = with_overrides("builders", config.methods["builders"], overrides)
    assert isinstance(builders, BuilderOptions)
    feedback = _reviewers(builders.feedback, confirm, overrides)
    if mode not in STEPS or mode == "build-problem":
        reason = "The modes are: build, build+whole, build+by-action."
        raise UsageError(f"--mode {mode} is not possible here", reason, "Choose one of them.")
    text, draft = read_text(description), _first_draft(cast(LevelName, level), domain, begin)
    language_model = _model(config.what.models[0], config.endpoint)
    console = Console()
    display = LineDisplay(console)
    approver = _person(console, display) if confirm else None
    with config.planner.make() as planner:
        build = Build(
            *(cast(BuildPart, what), text, language_model, planner),
            steps=STEPS[mode],
            feedback=feedback,
            rounds=builders.rounds,
            retries=config.limits.retries,
            limits=Limits(None, calls=config.limits.max_calls, seconds=config.limits.max_seconds),
            approver=approver,
            begin=draft,
        )
        with closing(_journal(output)) as journal:
            ended = follow(build.events(), [journal.write, display.show])
    names = _write(output, build.built(ended), has_own_domain=what != "problem")
    console.print(f"In {clean(str(output))}: {', '.join(names)}", markup=False, highlight=False)
    raise typer.Exit(exit_code(ended))


def _reviewers(by_model: str, confirm: str | None, overrides: Mapping[str, str]) -> FeedbackBy:
    """Who reviews the files. Raises `UsageError` for another word, and for rounds without a reviewer."""
    if confirm not in (None, "files"):
        raise UsageError(f"--confirm {confirm} is not possible", "A build shows files.", "Use --confirm files.")
    if by_model == "none" and confirm is None and "rounds" in overrides:
        raise UsageError("--set rounds has no effect here", "The files are not reviewed.", "Add --set feedback=model.")
    return ("both" if confirm else "model") if by_model == "model" else "person" if confirm else "none"


def _first_draft(level: LevelName, domain: Path | None, begin: Path | None) -> Draft:
    """The draft with the given domain and l2p components. Raises `UsageError` if they cannot be read."""
    draft = first_draft(level)
    if domain is not None and domain.suffix == ".json":
        draft = with_l2p(draft, read_text(domain), str(domain))
    elif domain is not None:
        try:
            draft = draft.with_domain(parse_domain(read_text(domain)))
        except PddlSyntaxError as error:
            what, reason = f"{domain} is not a valid domain", f"{error.faults[0]}."
            raise UsageError(what, reason, "See 'pddlego check'.") from error
    return draft if begin is None else with_l2p(draft, read_text(begin), str(begin))


def _model(name: str, endpoint: Endpoint) -> Model:
    if name == BUILT_IN_MODEL:
        what = f"The built-in model {BUILT_IN_MODEL} cannot build from your text"
        reason = "It knows only the built-in settings (pddlego play text-blocks)."
        raise UsageError(what, reason, "Name a language model with --model or PDDLEGO_MODEL.")
    return model_of(name, endpoint)


def _journal(folder: Path) -> JournalWriter:
    """The journal in the output folder. Raises `UsageError` if the folder contains an earlier build."""
    existing = [name for name in _FILES if (folder / name).exists()] if str(folder).strip() else []
    if existing or not str(folder).strip() or folder == Path():
        reason = f"There is {', '.join(existing)} in it." if existing else "It is the folder where you are."
        raise UsageError(f"Nothing can be built in '{folder}'", reason, "Name another folder with -o.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return JournalWriter(folder / JOURNAL)
    except OSError as error:
        raise UsageError(f"Cannot write to {folder}", f"{error.strerror}.", "Name another folder with -o.") from error


_FILES = ("domain.pddl", "problem.pddl", "plan.txt", JOURNAL)
"""The names of the files that a build writes."""


def _write(folder: Path, built: Built, has_own_domain: bool) -> list[str]:
    """Write the partial or complete results. Returns the names of all files of the build."""
    texts = {
        "domain.pddl": built.domain if has_own_domain else "",
        "problem.pddl": built.problem,
        "plan.txt": built.plan,
    }
    for name, text in texts.items():
        if text:
            write_whole(folder / name, f"{text}\n")
    return [name for name in _FILES if name == JOURNAL or texts[name]]


def _person(console: Console, display: LineDisplay) -> AskingApprover:
    if not (console.is_terminal and is_typed_at()):
        reason = "--confirm files asks you at the terminal."
        raise UsageError("Standard input is not a terminal", reason, "Use --set feedback=model.")
    return AskingApprover(display, ("files",), glyphs_for(console.encoding), lambda: console.width)
