"""The commands of `pddlego`. Only the module of the command that runs is imported."""

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
from pddlego.cli.parts import BUILT_IN, REMOVED, guest_commands, load
from pddlego.cli.retired import refuse_retired
from pddlego.errors import TOO_MANY_FILES, PddlegoError, UsageError, is_too_many_files
from pddlego.util.unexpected import explained, guest_line

_GROUPED_COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Play (pddlego play coin --mode edit --seed 12)": {
        "play": "Play one episode and watch it.",
        "games": "List games, or describe one; --modes lists the modes.",
        "doctor": "Check the installation, and explain how to fix what fails.",
    },
    "Evaluate (pddlego eval coin --modes act,edit --models gpt-4o-mini --seeds test)": {
        "eval": "Play many episodes: games x modes x models x seeds.",
        "report": "Report results: tables for a paper, figures, a page.",
        "runs": "Browse run folders and their episodes; keep notes on them.",
        "watch": "Follow running episodes from another terminal.",
        "view": "Browse runs and running episodes in a web browser.",
        "config": "Show the configuration: each value and its source.",
    },
    "Explain (pddlego show latest --only lost)": {
        "show": "Step through an episode; a lost one opens where it was lost.",
        "truth": "Say why episodes were lost, and which facts are true.",
        "counterfactual": "Correct what lost an episode, and see if it is won then.",
        "resume": "Go back to a step, correct the problem, and play on.",
        "replay": "Play episodes again without model calls, and compare.",
    },
    "PDDL (pddlego solve domain.pddl problem.pddl)": {
        "check": "Find defects in a domain, a problem or a plan.",
        "repair": "Repair PDDL that a language model wrote.",
        "solve": "Find a plan and print it, one action per line.",
        "validate": "Execute a plan: its cost, or its first fault.",
        "simulate": "Execute a plan, and print the states step by step.",
        "applicable": "List the actions that are possible in a state.",
        "compare": "Compare two problems or two domains.",
        "learn-domain": "Learn the actions of a domain from transitions.",
        "build": "Build PDDL files from a description, with a model.",
        "audit": "Find wrong labels in a benchmark of PDDL files.",
        "lsp": "Serve check, repair and solve to an editor (LSP).",
    },
    "Models and agents (pddlego export latest -o train.jsonl)": {
        "export": "Write training data: conversations, preferences, …",
        "serve": "Serve a game to trainers (OpenEnv).",
        "cache": "Manage cached answers of models.",
        "mcp": "Offer check, repair, solve and others to agents (MCP).",
    },
}
"""The commands by group, with the help of each. A title ends with an example."""

COMMANDS: Mapping[str, str] = {
    name: text for group in _GROUPED_COMMANDS.values() for name, text in group.items() if name not in REMOVED
}
"""The help of each command. The module with its name, unless `parts` names another, defines `command`: a function, or a
`Typer` of subcommands."""

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 120}

_TRACEBACK = "PDDLEGO_TRACEBACK"
"""If this environment variable is set, the traceback of a bug is shown."""


class _Commands(typer.core.TyperGroup):
    """The group of all commands. It loads only the command that runs."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: typer.core.TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Parse the arguments; `--plain` may be anywhere among them."""
        plain = ["--plain"] if "--plain" in args else []
        return super().parse_args(ctx, [*plain, *(arg for arg in args if arg != "--plain")])

    def list_commands(self, ctx: Any) -> list[str]:
        for name, text in guest_commands().items():
            self.commands.setdefault(name, typer.core.TyperCommand(name, help=text))
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args:
            refuse_retired(args[0], args[1:])
        if args and (args[0] in {*COMMANDS, *REMOVED} or args[0] in self.list_commands(ctx)):
            self.commands[args[0]] = load_command(args[0])
            gc.freeze()  # modules stay: neither collections nor the end of the process need to visit them
            gc.enable()  # see `main`
        elif args and not ctx.resilient_parsing:
            from pddlego.util.text import suggestion

            advice = suggestion(args[0], self.list_commands(ctx), "Choose another.")
            raise UsageError(f"No such command '{args[0]}'", "'pddlego --help' lists the commands.", advice)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the groups of commands."""
        names = self.list_commands(ctx)
        groups = {**_GROUPED_COMMANDS, "Other packages": dict.fromkeys(name for name in names if name not in COMMANDS)}
        for title, commands in groups.items():
            rows = [(name, self.commands[name].help or "") for name in commands if name in names]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and report an interrupt, which Typer does not."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.replace("Value error, ", "")  # words of pydantic, which Typer passes on
            raise
        except KeyboardInterrupt:
            typer.echo("Interrupted.", err=True)
            raise typer.Exit(exits.INTERRUPTED) from None


class _GroupedCommand(typer.core.TyperCommand):
    """A command whose help lists the options by group. `play` and `eval` show the main ones; `--help-all` shows all."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the usage line: arguments in capitals."""
        return [
            re.sub(r"\{(.*?)\}", lambda match: match[1].upper(), piece) for piece in super().collect_usage_pieces(ctx)
        ]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, then the description."""
        for example in _EXAMPLES.get(self.name or "", ()):
            formatter.write_paragraph()
            formatter.write_text(f"  {example}")
        super().format_help_text(ctx, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the groups of options. Options without a group are last where games are played."""
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Arguments", *_GROUPS)}
        main = () if ctx.meta.get(ALL_OPTIONS) else _MAIN.get(self.name or "", ())
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and (
                not main or parameter.opts[0] in main or parameter.param_type_name == "argument"
            ):
                default_group = "Arguments" if parameter.param_type_name == "argument" else _OTHERS
                usage = _TYPES.sub(lambda match: _METAVARS.get(match[1], "TEXT"), record[0])
                group = getattr(parameter, "rich_help_panel", None) or default_group
                rows.setdefault(group, []).append((usage, record[1]))
        plays = bool(rows[_GROUPS[0]])
        for title in sorted(rows, key=lambda title: title == _OTHERS if plays else title not in ("Arguments", _OTHERS)):
            if rows[title]:
                with formatter.section(title):
                    formatter.write_dl(rows[title])


_GROUPS = ("What to play", "Which episode", "Model", "Planner", "Limits", "Run", "Output")
"""The groups of options that help lists first. The groups of methods follow."""

_OTHERS = "Options"
ALL_OPTIONS = "all options"
"""The key in a context that is set by `--help-all`."""

_EXAMPLES = {
    "play": ("pddlego play coin --mode edit --seed 12", "pddlego play cooking-hard --model gpt-4o-mini --retries 3"),
    "eval": (
        "pddlego eval coin twc --modes act,edit --models gpt-4o-mini --seeds test --run table1",
        "pddlego eval coin --models local --dry-run",
    ),
}
_COMMON = ("--model", "--base-url", "--set", "--retries", "--max-calls", "--help", "-h", "--help-all")
_MAIN = {
    "play": (*_COMMON, "--mode", "--seed", "--pace", "--confirm", "--truth"),
    "eval": (*_COMMON, "--modes", "--models", "--seeds", "--max-cost", "--prices", "--workers", "--run", "--dry-run"),
}
"""The options in the short help of a command."""

_TYPES = re.compile(r"<([^<>]+)>")
_METAVARS = {"int": "N", "float": "N", "int range": "N", "float range": "N", "path": "FILE"}


def load_command(name: str) -> Any:
    """Import the module of a command, and return the command."""
    is_own = name in COMMANDS and name not in BUILT_IN
    command = import_module(f"pddlego.cli.{name.replace('-', '_')}").command if is_own else load(name)
    if not isinstance(command, typer.Typer):
        single = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        single.command(name, cls=_GroupedCommand, context_settings=SETTINGS)(command)
        command = single
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
    """Run a command. Report errors in three lines, and exit with the code of the error."""
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
    except Exception as error:  # a bug is reported in three lines, too
        if os.environ.get(_TRACEBACK):
            raise
        _report(_bug(error))
        sys.exit(exits.BROKEN)


def _bug(error: Exception) -> PddlegoError:
    """A bug as an error: its message, its place in the code, and how to see the traceback."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    reason = f"{Path(place.filename).name}, line {place.lineno}, in {place.name}."
    message = explained(error)
    to = " to the authors of that package" if guest_line(error)[1] else ""
    advice = f"Run it with {_TRACEBACK}=1 to see all of it, and report it{to}."
    return PddlegoError(message[0].upper() + message[1:], reason, advice)


def _version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"pddlego {__version__}")
        raise typer.Exit


def _plain(is_requested: bool) -> None:
    if is_requested:
        from pddlego.display.console import PLAIN

        os.environ[PLAIN] = "1"


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    plain: Annotated[
        bool, typer.Option("--plain", callback=_plain, help="Print lines in place of screens, in any command.")
    ] = False,
) -> None:
    """Let language models plan with a classical planner: play, evaluate, watch, check."""


def _report(error: PddlegoError) -> None:
    """Print an error on standard error in three lines: what failed, why, and what to do."""
    from pddlego.util.text import clean

    labels = ("Error: ", "  why: ", "  do:  ")
    for label, part in zip(labels, (error.what, error.reason, error.next_step), strict=True):
        if part:
            typer.echo(label + " ".join(clean(part).split()), err=True)
