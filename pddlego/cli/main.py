"""The commands of `pddlego`."""

from __future__ import annotations

import io
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pddlego import __version__
from pddlego.cli import exits
from pddlego.cli.build import build
from pddlego.cli.cache import cache
from pddlego.cli.check import check
from pddlego.cli.config import config
from pddlego.cli.corpus import corpus
from pddlego.cli.doctor import doctor
from pddlego.cli.eval import evaluate
from pddlego.cli.games import games
from pddlego.cli.play import play
from pddlego.cli.replay import replay
from pddlego.cli.report import report
from pddlego.cli.resume import resume
from pddlego.cli.show import show
from pddlego.cli.solve import solve
from pddlego.cli.watch import watch
from pddlego.errors import TOO_MANY_FILES, PddlegoError, UsageError, explained, is_too_many_files


class _Commands(TyperGroup):
    """Says that it was interrupted, where Typer would end without a word."""

    def invoke(self, context: Any) -> Any:
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(exits.INTERRUPTED) from None


TRACEBACK = "PDDLEGO_TRACEBACK"
"""The environment variable that shows the traceback of a bug."""

app = typer.Typer(
    name="pddlego",
    cls=_Commands,
    help="Agents that play text games by planning: a model writes PDDL, a planner plans, the game answers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run() -> None:
    """Run a command. Errors become three lines and an exit code; of a bug the traceback is shown where it is wanted."""
    for stream in (sys.stdout, sys.stderr):
        # Where a sign cannot be shown a question mark is better than a traceback.
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
    except Exception as error:  # the border of the command line: a fault of ours ends in three lines, too
        if os.environ.get(TRACEBACK):
            raise
        _report(_bug(error))
        sys.exit(exits.BROKEN)


def _bug(error: Exception) -> PddlegoError:
    """What is said of an error that nobody expected: where it happened, and how to see more."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    why = f"{Path(place.filename).name}, line {place.lineno}, in {place.name}."
    what = explained(error)
    return PddlegoError(what[0].upper() + what[1:], why, f"Run it with {TRACEBACK}=1 to see all of it, and report it.")


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
    """Agents that play text games by planning: a model writes PDDL, a planner plans, the game answers."""


def _report(error: PddlegoError) -> None:
    """Three lines on standard error: what, why, what to do next."""
    from pddlego.util.text import clean

    labels = ("Error: ", "  why: ", "  do:  ")
    for label, part in zip(labels, (error.what, error.why, error.next_step), strict=True):
        if part:
            typer.echo(label + " ".join(clean(part).split()), err=True)


app.command()(play)
app.command()(games)
app.command()(doctor)
app.command()(check)
app.command()(solve)
app.command()(build)
app.command(name="eval")(evaluate)
app.command()(config)
app.command()(report)
app.command()(watch)
app.command()(show)
app.command()(replay)
app.command()(resume)
app.add_typer(corpus, name="corpus")
app.add_typer(cache, name="cache")
