"""Options that several commands share, their completion, and options that are made from the configuration."""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import typer

from pddlego.cli.commands import ALL_OPTIONS
from pddlego.errors import UsageError
from pddlego.runs.folders import LATEST, MANIFEST, runs_folder

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pddlego.evaluation.truth import ResultFilter
    from pddlego.util.options import Option

_NEWEST = 50
"""The number of run folders whose models are offered as completions."""


def _complete_games(incomplete: str) -> list[str]:
    """The settings in `envs/`."""
    from pddlego.methods.setting_files import setting_names

    return _last_of_list(incomplete, setting_names())


def _complete_modes(incomplete: str) -> list[str]:
    """The modes of all methods."""
    from pddlego.methods.registry import modes

    return _last_of_list(incomplete, (mode.name for mode in modes()))


def _complete_models(incomplete: str) -> list[str]:
    """The built-in reader with and without noise, and the models of the newest runs."""
    names = {"reader": None, "reader+noise:0.1": None}
    for folder in sorted(_run_folders(), reverse=True)[:_NEWEST]:
        names |= dict.fromkeys(_models_of(folder))
    return _last_of_list(incomplete, names)


def _complete_runs(incomplete: str) -> list[str]:
    """`latest`, and the names of the run folders, the newest first."""
    names = sorted((folder.name for folder in _run_folders()), reverse=True)
    return [name for name in (LATEST, *names) if name.startswith(incomplete)]


COMPLETIONS: Mapping[str, Callable[[str], list[str]]] = {
    "games": _complete_games,
    "modes": _complete_modes,
    "models": _complete_models,
}
"""The completion functions of options of the configuration, by the name of the option."""


def _last_of_list(incomplete: str, names: Iterable[str]) -> list[str]:
    """Completions of the last name in a list that is separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


def _run_folders() -> list[Path]:
    try:
        return [folder for folder in runs_folder().iterdir() if (folder / MANIFEST).is_file()]
    except OSError:
        return []


def _models_of(folder: Path) -> list[str]:
    try:
        matrices = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["asked"]
        return [str(model) for matrix in matrices for model in matrix["models"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _show_all(context: typer.Context, is_requested: bool) -> None:
    """Print the help with all options, and exit."""
    if is_requested:
        context.meta[ALL_OPTIONS] = True
        typer.echo(context.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool, typer.Option("--help-all", is_eager=True, callback=_show_all, help="Show all options and exit.")
]

RunArgument = Annotated[
    str,
    typer.Argument(
        help="A run folder, its name or a unique prefix, a journal, or latest.", autocompletion=_complete_runs
    ),
]
WHAT, EPISODE, MODEL, RUN, OUTPUT = "What to play", "Which episode", "Model", "Run", "Output"
"""Titles of groups of options in help, for options that are not in the configuration."""

ConfigFile = Annotated[
    str | None,
    typer.Option("--config", help="A TOML file with options (pddlego config --format toml).", rich_help_panel=RUN),
]
OfGame = Annotated[str | None, typer.Option("--game", help="Only this game.", rich_help_panel=EPISODE)]
OfMode = Annotated[str | None, typer.Option("--mode", help="Only this mode.", rich_help_panel=EPISODE)]
OfModel = Annotated[str | None, typer.Option("--model", help="Only this model.", rich_help_panel=EPISODE)]
OfSeed = Annotated[int | None, typer.Option("--seed", help="Only this seed.", rich_help_panel=EPISODE)]
OfGames = Annotated[
    str | None, typer.Option("--game", help="Only these games, separated by commas.", rich_help_panel=EPISODE)
]
OfModes = Annotated[
    str | None, typer.Option("--mode", help="Only these modes, separated by commas.", rich_help_panel=EPISODE)
]
OfModels = Annotated[
    str | None, typer.Option("--model", help="Only these models, separated by commas.", rich_help_panel=EPISODE)
]
Only = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT",
        help="won, lost, an outcome such as 'no plan', or part of a cause. Both: OUTCOME,CAUSE.",
        rich_help_panel=EPISODE,
    ),
]
Pace = Annotated[
    float,
    typer.Option(min=0.0, max=60.0, help="Seconds between screens on a terminal.", rich_help_panel=OUTPUT),
]
Confirm = Annotated[
    str | None,
    typer.Option(help="Confirm these before they take effect: edits, plans, commands.", rich_help_panel=OUTPUT),
]


def result_filter(
    only: str | None, games: str | None = None, modes: str | None = None, models: str | None = None
) -> ResultFilter:
    """The filter of these options, each a list with commas. Raises `UsageError` for several outcomes or causes."""
    from pddlego.episode.events import Outcome
    from pddlego.evaluation.config import listed_names
    from pddlego.evaluation.truth import ResultFilter
    from pddlego.util.text import nearest

    words = [part.strip() for part in (only or "").split(",") if part.strip()]
    outcomes = [outcome for outcome in Outcome if outcome in words and outcome != LOST]
    causes = [word for word in words if word not in (*outcomes, LOST)]
    if len(outcomes) > 1 or len(causes) > 1 or {*words} >= {Outcome.WON.value, LOST}:
        raise UsageError(f"--only {only} selects nothing", "An episode has one outcome and one cause.", "Name one.")
    if causes and (meant := nearest(causes[0], [outcome.value for outcome in Outcome], cutoff=0.8)):
        reason = f"The outcomes are {', '.join(Outcome)}; other words are a part of a cause."
        raise UsageError(f"--only {only} is not possible", reason, f"Did you mean '{meant}'?")
    games_, modes_, models_ = (listed_names(names or "") for names in (games, modes, models))
    return ResultFilter(games_, modes_, models_, LOST in words, next(iter(outcomes), None), "".join(causes))


LOST = "lost"
"""The word of `--only` for every episode that was played to its end and not won."""


def refuse_unread(typed: Iterable[str], form: str, read_by: Mapping[str, Collection[str]]) -> None:
    """Raise `UsageError` for a typed option that a form does not read. Every form reads options not in `read_by`."""
    for option in typed:
        readers = read_by.get(option, (form,))
        if form not in readers:
            raise UsageError(f"{option} has no effect here", f"It is for: {', '.join(readers)}.", "Leave it out.")


def with_options(
    groups: Iterable[type[BaseModel]], only: Collection[str] = (), without: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options of groups of the configuration to a command: `only` some, or all but those of `without`.

    The argument `flags` of the command receives the values of the options that the user typed, by name. Its argument
    `context`, if it has one, receives the context.
    """
    from pddlego.util.options import options_of

    options: dict[str, tuple[Option, type[BaseModel]]] = {}
    for group in groups:
        for option in options_of(group):
            is_selected = option.name in only if only else option.name not in without
            if option.typed and is_selected:
                options.setdefault(option.name, (option, group))

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        accepted = inspect.signature(command, eval_str=True).parameters
        parameters = [parameter for name, parameter in accepted.items() if name not in ("flags", "context")]
        option_names = {f"{name}_": name for name in options}  # "_" avoids the names of arguments and keywords
        parameters += [_parameter(argument, *options[name]) for argument, name in option_names.items()]
        parameters.insert(0, inspect.Parameter("context", _KEYWORD, annotation=typer.Context))

        def run(context: typer.Context, **arguments: Any) -> None:
            flags = {
                name: arguments[argument] for argument, name in option_names.items() if _is_typed(context, argument)
            }
            values = {name: value for name, value in {**arguments, "context": context}.items() if name in accepted}
            command(**values, flags=flags)

        run.__doc__ = command.__doc__
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [parameter.replace(kind=_KEYWORD) for parameter in parameters]
        )
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorated


_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def options_typed(context: typer.Context, without: Collection[str] = ()) -> list[str]:
    """The options of a command that were typed, as in `--planner`, but for some."""
    typed = (option for option in context.command.params if option.name and _is_typed(context, option.name))
    return [option.opts[0] for option in typed if option.opts[0].startswith("--") and option.opts[0] not in without]


def _is_typed(context: typer.Context, name: str) -> bool:
    """Whether an option was typed: values from the environment are read by the configuration."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _parameter(argument: str, option: Option, group: type[BaseModel]) -> inspect.Parameter:
    """An option as a parameter of a command. Its default is None, because the configuration has the real default."""
    flag = option.flag
    assert flag is not None  # `with_options` selects options with flags
    kind: Any = list[str] if flag.repeatable else _kind(option.info.annotation)
    name = f"--{option.name.replace('_', '-')}"
    default = flag.default or _text(option.info.default)
    option_info = typer.Option(
        f"{name}/--no-{name[2:]}" if kind is bool else name,
        help=" ".join(filter(None, (option.info.description, f"[default: {default}]" if default else ""))),
        envvar=flag.variable or None,
        metavar=flag.metavar or ("N" if kind in (int, float) else "TEXT"),
        rich_help_panel=group.model_config.get("title"),
        autocompletion=COMPLETIONS.get(option.name),
    )
    return inspect.Parameter(argument, _KEYWORD, default=None, annotation=Annotated[Union[kind, None], option_info])  # noqa: UP007


def _kind(annotation: Any) -> type:
    """The type of the parameter: bool, int, float, or str for values that the configuration parses."""
    if get_origin(annotation) in (Union, types.UnionType):
        (annotation,) = (option for option in get_args(annotation) if option is not type(None))
    return annotation if annotation in (bool, int, float) else str


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else ""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return "" if value is None or value == {} else f"{value:g}" if isinstance(value, float) else str(value)
