"""The commands of `pddlego`."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from pddlego import __version__
from pddlego.cli import eval as evaluating
from pddlego.cli import see
from pddlego.cli.cache import cache
from pddlego.cli.corpus import corpus
from pddlego.errors import TOO_MANY_FILES, PddlegoError, UsageError, is_too_many_files

EXIT_WON, EXIT_NOT_WON, EXIT_USAGE, EXIT_BROKEN, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


class _Commands(TyperGroup):
    """Says that it was interrupted, where Typer would end without a word."""

    def invoke(self, context: Any) -> Any:
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(EXIT_INTERRUPTED) from None


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
    """Run a command. Expected errors become three lines and an exit code; a traceback is always a bug of ours."""
    for stream in (sys.stdout, sys.stderr):
        # Where a sign cannot be shown a question mark is better than a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except PddlegoError as error:
        _report(error)
        sys.exit(EXIT_USAGE if isinstance(error, UsageError) else EXIT_BROKEN)
    except BrokenPipeError:
        sys.exit(EXIT_INTERRUPTED)
    except OSError as error:
        silence_output()
        place = "The output cannot be written" if error.filename is None else f"{error.filename} cannot be used"
        advice = "Check free space and permissions there."
        if is_too_many_files(error):
            place, advice = "Too many files are open at once", TOO_MANY_FILES
        _report(PddlegoError(place, f"{error.strerror or error}.", advice))
        sys.exit(EXIT_BROKEN)


def silence_output() -> None:
    """Standard output is full or gone: nothing may be written to it any more, not even when Python ends."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123


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


@app.command()
def play(
    context: typer.Context,
    game: Annotated[str, typer.Argument(help="What to play: a file in envs/ (see 'pddlego games').")],
    mode: Annotated[
        str,
        typer.Option(
            help="edit (PDDL-edit), gen (PDDL-gen), act (the model picks commands), random, human (you type)."
        ),
    ] = "edit",
    seed: Annotated[int, typer.Option(help="Which house: a seed of the game's fold.")] = 0,
    model: Annotated[
        str | None,
        typer.Option(
            help="A model's name, reader, reader+noise:P (a simulation) or transcript:FILE. Default: the reader.",
            envvar="PDDLEGO_MODEL",
            show_envvar=True,
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(help="An OpenAI-compatible endpoint, such as that of vLLM or Ollama.", envvar="OPENAI_BASE_URL"),
    ] = None,
    temperature: Annotated[float, typer.Option(min=0.0, max=10.0, help="Sent to the model; the paper's is 1.")] = 1.0,
    cache: Annotated[
        str, typer.Option(help="Answers of earlier runs: off, use, or refresh.", envvar="PDDLEGO_CACHE")
    ] = "off",
    model_timeout: Annotated[
        float, typer.Option(min=0.1, max=86400.0, help="Seconds that one answer may take.")
    ] = 120.0,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the game, such as numLocations=5. Repeatable."),
    ] = None,
    fold: Annotated[str | None, typer.Option(help="train, dev or test; default as the game says.")] = None,
    max_steps: Annotated[int | None, typer.Option(help="Commands that may be sent.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help="Model calls that may be made.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens, in and out, that may be used.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option(min=0.0, max=1e7, help="Seconds that the episode may take.")
    ] = None,
    max_answer_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens that one answer may have: sent to the model.")
    ] = None,
    retries: Annotated[
        int, typer.Option(min=0, help="How often the model is asked again about an unusable answer.")
    ] = 5,
    replan: Annotated[
        str, typer.Option(help="When to ask the model: 'on-surprise' (and at a plan's end) or 'every-step'.")
    ] = "on-surprise",
    search: Annotated[
        str | None,
        typer.Option(help="A search for every goal: bfs, astar(lmcut), gbf(hff) and more. Default: as the game says."),
    ] = None,
    planner: Annotated[
        str, typer.Option(help="pyperplan, or fast-downward (extra; it chooses its own search).")
    ] = "pyperplan",
    planner_timeout: Annotated[
        float, typer.Option(min=0.1, max=86400.0, help="Seconds that one planning call may take.")
    ] = 30.0,
    planner_memory: Annotated[int, typer.Option(min=0, help="MiB that the planner may use; 0: no limit.")] = 4096,
    runs: Annotated[str, typer.Option(help="Where the run folder is made.")] = "runs",
    pace: Annotated[float, typer.Option(min=0.0, max=60.0, help="Seconds that each moment stays on a terminal.")] = 0.4,
    java: Annotated[
        str | None,
        typer.Option(help="A Java to use instead of the one that comes along.", envvar="PDDLEGO_JAVA"),
    ] = None,
    confirm: Annotated[
        str | None,
        typer.Option(help="Ask before these take effect: edits, plans, commands, several with commas."),
    ] = None,
    json_lines: Annotated[bool, typer.Option("--json", help="Print every event as a line of JSON.")] = False,
) -> None:
    """Play one episode and watch it.

    Exit code: 0 won, 1 not won, 2 wrong usage, 3 the model or the engine failed, 130 interrupted.
    """
    from pddlego.cli.play import PlayOptions, parse_cache, parse_whats, run_play

    source = context.get_parameter_source("base_url")
    if model is None and source is not None and source.name == "COMMANDLINE":
        raise UsageError("--base-url needs a model", "No --model was given.", "Name a model that the endpoint serves.")
    options = PlayOptions(
        game=game,
        mode=mode,
        seed=seed,
        model=model,
        base_url=base_url,
        temperature=temperature,
        cache=parse_cache(cache),
        model_timeout=model_timeout,
        overrides=tuple(set_ or ()),
        fold=fold,
        max_steps=max_steps,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_seconds=max_seconds,
        max_answer_tokens=max_answer_tokens,
        retries=retries,
        replan=replan,
        search=search,
        planner=planner,
        planner_timeout=planner_timeout,
        planner_memory=planner_memory,
        runs=runs,
        pace=pace,
        java=java,
        json_lines=json_lines,
        confirm=parse_whats(confirm),
    )
    raise typer.Exit(run_play(options))


@app.command()
def games() -> None:
    """List what can be played."""
    from pddlego.cli.info import run_games

    run_games()


@app.command()
def doctor(
    model: Annotated[str | None, typer.Option(envvar="PDDLEGO_MODEL", help="The model to try.")] = None,
    base_url: Annotated[str | None, typer.Option(envvar="OPENAI_BASE_URL", help="Its endpoint.")] = None,
    runs: Annotated[str, typer.Option(help="The folder for runs.")] = "runs",
    java: Annotated[str | None, typer.Option(envvar="PDDLEGO_JAVA", help="The Java to try.")] = None,
) -> None:
    """Check Java, the engine, the planner, the model's endpoint and the folder for runs; say how to mend what fails."""
    from pddlego.cli.info import run_doctor

    raise typer.Exit(run_doctor(model, base_url, runs, java))


def _report(error: PddlegoError) -> None:
    """Three lines on standard error: what, why, what to do next."""
    from pddlego.display.text import clean

    labels = ("Error: ", "  why: ", "  do:  ")
    for label, part in zip(labels, (error.what, error.why, error.next_step), strict=True):
        if part:
            typer.echo(label + " ".join(clean(part).split()), err=True)


app.command(name="eval")(evaluating.evaluate)
app.command()(evaluating.config)
app.command()(evaluating.report)
app.command()(see.watch)
app.command()(see.show)
app.command()(see.replay)
app.command()(see.resume)
app.add_typer(corpus, name="corpus")
app.add_typer(cache, name="cache")
