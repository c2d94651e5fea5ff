"""The commands of `pddlego`, each loaded when it is used."""

from __future__ import annotations

import gc
import io
import os
import re
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from pddlego import __version__
from pddlego.cli import exits
from pddlego.errors import TOO_MANY_FILES, PddlegoError, UsageError, explained, is_too_many_files

COMMANDS: Mapping[str, str] = {
    "play": "Play one episode and watch it.",
    "games": "List games and other settings.",
    "doctor": "Check the installation, and explain how to fix what fails.",
    "check": "Find defects in a domain, a problem or a plan.",
    "repair": "Repair PDDL that a language model wrote.",
    "compare": "Compare two problems or two domains.",
    "solve": "Find a plan and print it, one action per line.",
    "build": "Build PDDL files from a description, with a language model.",
    "eval": "Play many episodes: games x modes x models x seeds.",
    "config": "Show the configuration: each value and its source.",
    "report": "Report the results of one or several evaluations.",
    "runs": "Browse run folders and their episodes.",
    "watch": "Follow running episodes from another terminal.",
    "show": "Step through an episode.",
    "replay": "Play recorded episodes again without model calls, and compare.",
    "truth": "Say what models got wrong first, and which of their facts are true.",
    "counterfactual": "Correct what lost an episode, and see whether it is won then.",
    "export": "Write training data: conversations, preferences, trajectories.",
    "resume": "Go back to a step of an episode, correct the problem, and play on.",
    "corpus": "Check PDDL files written by language models.",
    "cache": "Manage cached answers of models.",
    "mcp": "Offer check, repair, solve and others to agents (MCP).",
}
"""Each command: the module of that name holds it as `command`, a function, or a `Typer` of several."""

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}

_TRACEBACK = "PDDLEGO_TRACEBACK"
"""The environment variable that shows the traceback of a bug."""


class _Commands(typer.core.TyperGroup):
    """Lists all commands, and loads only the one that is used."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: typer.core.TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] in COMMANDS:
            self.commands[args[0]] = loaded(args[0])
            gc.enable()  # see `main`
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Report an interrupt, which Typer would not."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(exits.INTERRUPTED) from None


class _GroupedCommand(typer.core.TyperCommand):
    """A command whose help lists options by groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by group, those without a group at the end."""
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", *_GROUPS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                own = "Arguments" if parameter.param_type_name == "argument" else _OTHERS
                usage = _TYPES.sub(lambda match: _METAVARS.get(match[1], "TEXT"), record[0])
                group = getattr(parameter, "rich_help_panel", None) or own
                rows.setdefault(group, []).append((usage, record[1]))
        rows[_OTHERS] = rows.pop(_OTHERS)
        for title, records in rows.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


_GROUPS = ("What to play", "Which episode", "Model", "Planner", "Limits", "Run", "Output")
"""The first groups in help. Those of methods follow."""

_OTHERS = "Options"
_TYPES = re.compile(r"<([^<>]+)>")
_METAVARS = {"int": "N", "float": "N", "int range": "N", "float range": "N", "path": "FILE"}


def loaded(name: str) -> Any:
    """The command of that name, with its module imported."""
    command = import_module(f"pddlego.cli.{name}").command
    if not isinstance(command, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(name, cls=_GroupedCommand, context_settings=SETTINGS)(command)
        command = alone
    return typer.main.get_command(command)


app = typer.Typer(
    name="pddlego",
    cls=_Commands,
    help="Let language models plan with a classical planner: play, evaluate, watch, check.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=SETTINGS,
)


def run() -> None:
    """Run a command. Errors become three lines and an exit code; `PDDLEGO_TRACEBACK` shows the traceback of a bug."""
    for stream in (sys.stdout, sys.stderr):
        # A question mark for an unprintable character is better than a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except PddlegoError as error:
        _report(error)
        sys.exit(exits.USAGE if isinstance(error, UsageError) else exits.BROKEN)
    except BrokenPipeError:
        sys.exit(exits.INTERRUPTED)
    except OSError as error:
        exits.silence_output()
        place = "The output cannot be written" if error.filename is None else f"{error.filename} cannot be used"
        advice = "Check free space and permissions there."
        if is_too_many_files(error):
            place, advice = "Too many files are open at once", TOO_MANY_FILES
        _report(PddlegoError(place, f"{error.strerror or error}.", advice))
        sys.exit(exits.BROKEN)
    except Exception as error:  # the border of the command line: a bug is reported in three lines, too
        if os.environ.get(_TRACEBACK):
            raise
        _report(_bug(error))
        sys.exit(exits.BROKEN)


def _bug(error: Exception) -> PddlegoError:
    """The message for a bug: where it happened, and how to see the traceback."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    reason = f"{Path(place.filename).name}, line {place.lineno}, in {place.name}."
    what = explained(error)
    return PddlegoError(
        what[0].upper() + what[1:], reason, f"Run it with {_TRACEBACK}=1 to see all of it, and report it."
    )


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"pddlego {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Let language models plan with a classical planner: play, evaluate, watch, check."""


def _report(error: PddlegoError) -> None:
    """Three lines on standard error: what, why, what to do next."""
    from pddlego.util.text import clean

    labels = ("Error: ", "  why: ", "  do:  ")
    for label, part in zip(labels, (error.what, error.reason, error.next_step), strict=True):
        if part:
            typer.echo(label + " ".join(clean(part).split()), err=True)
