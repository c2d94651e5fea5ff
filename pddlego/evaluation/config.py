"""The configuration, from flags, the environment, a file and defaults, in this order of precedence."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from pddlego.errors import UsageError
from pddlego.methods.base import BUILT_IN_MODEL
from pddlego.methods.registry import chosen_mode, methods, modes
from pddlego.methods.shared_options import PlannerOptions
from pddlego.models.endpoint import Endpoint
from pddlego.runs.folders import RUNS, RUNS_VARIABLE
from pddlego.util.files import read_toml
from pddlego.util.options import Flag, Options, names_of, option, options_of
from pddlego.util.text import is_whole, reason_of, suggestion

_MOST_SEEDS = 1_000_000
"""The maximum length of a range that is listed seed by seed."""


class WhatOptions(Options):
    """What to play: games x modes x models x seeds, `repeats` times. Without modes, the first mode of the games."""

    model_config = ConfigDict(title="What to play")

    games: tuple[str, ...] = option(("coin",), "Games or settings, separated by commas.", Flag(affects_episodes=False))
    modes: tuple[str, ...] = option((), "Modes, separated by commas (default: the first one of each game).")
    ablate: tuple[str, ...] = option((), "Also play without these parts: feedback, tolerance, feedback+tolerance, …")
    models: tuple[str, ...] = option(
        (BUILT_IN_MODEL,),
        "Models, separated by commas; also reader+noise:P, local:FILE.gguf, transcript:FILE.",
        Flag(variable="PDDLEGO_MODEL"),
    )
    seeds: str = option("dev", "dev, test, or a list such as 0-9,20.")
    repeats: int = option(1, "Episodes per seed.", ge=1, le=10_000)
    set: tuple[str, ...] = option(
        (),
        "An option of the method (see 'pddlego config') or parameter of the game. Repeatable.",
        Flag(metavar="KEY=VALUE", repeatable=True),
    )

    @field_validator("games", "modes", "ablate", "models", "set", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, Mapping):  # Python code may give `set` as names with values
            return tuple(f"{name}={item}" for name, item in value.items())
        if isinstance(value, str):
            return listed_names(value)
        return tuple(value) if isinstance(value, list) else value

    @field_validator("seeds", mode="before")
    @classmethod
    def _text(cls, value: object) -> object:
        """Seeds as text: files may contain numbers or lists of numbers, and Python code other iterables."""
        if isinstance(value, range) and abs(value.stop - value.start) > _MOST_SEEDS:  # no game has so many
            return f"{value[0]}-{value[-1]}"
        if is_whole(value) or isinstance(value, str) or not isinstance(value, Iterable):
            value = [value]
        items = list(value)
        if any(isinstance(seed, bool) or not (isinstance(seed, str) or is_whole(seed)) for seed in items):
            return value
        return ",".join(map(str, items))

    @field_validator("games", "modes", "models")
    @classmethod
    def _some(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise PydanticCustomError("empty", "Name at least one")
        return tuple(dict.fromkeys(value))

    @field_validator("modes")
    @classmethod
    def _modes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(dict.fromkeys(str(chosen_mode(mode)) for mode in value))
        except UsageError as error:
            if not error.reason:  # the one line about an old name
                raise
            text = " ".join((f"{error.what}.", error.reason, error.next_step)).removesuffix(".")
            raise PydanticCustomError("mode", "{reason}", {"reason": text}) from error

    @field_validator("ablate")
    @classmethod
    def _ablations(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        known = dict.fromkeys(part for mode in modes() for part in mode.parts)
        for ablation in value:
            parts = ablation.split("+")
            if set(parts) - set(known) or len(set(parts)) < len(parts):
                wrong = next((part for part in parts if part not in known), ablation)
                reason = suggestion(wrong, known, f"The parts are: {', '.join(known)}")
                raise PydanticCustomError("mode", "Unknown part '{what}'. {reason}", {"what": wrong, "reason": reason})
        return value


class LimitOptions(Options):
    """Limits of each episode, and (`max_calls`, `max_tokens`, `max_cost`) of all episodes together."""

    model_config = ConfigDict(title="Limits")

    max_seconds: float | None = option(None, "Seconds per episode.", ge=0, le=1e7)
    retries: int = option(5, "Retries after an unusable answer (tos: --set answers=N).", ge=0, le=1000)
    max_calls: int | None = option(None, "Requests in total, including retries.", Flag(affects_episodes=False), ge=0)
    max_tokens: int | None = option(None, "Input and output tokens in total.", Flag(affects_episodes=False), ge=0)
    max_cost: float | None = option(
        None, "Cost in total, in US dollars; requires --prices.", Flag(affects_episodes=False), ge=0
    )
    prices: str | None = option(
        None, "A TOML file with prices in US dollars per million tokens.", Flag(affects_episodes=False)
    )


class Run(Options):
    """Where and how episodes are played.

    With `carry`, an episode begins from the text of an earlier one with its setting, mode and model (`Carried`), and
    with `from_` from that of a run or a file. Run folders record it with the options of the method.
    """

    model_config = ConfigDict(title="Run")

    workers: int = option(4, "Parallel episodes; 1 with a local model.", Flag(affects_episodes=False), ge=1, le=1024)
    llm_jobs: int = option(16, "Parallel requests.", Flag(affects_episodes=False), ge=1, le=1024)
    executor: Literal["threads", "ray"] = option(
        "threads", "threads, or ray (extra 'cluster').", Flag(affects_episodes=False)
    )
    address: str | None = option(
        None, "Address of the Ray cluster.", Flag(affects_episodes=False, default="a local one")
    )
    carry: bool = option(False, "Begin with the domain or rules of the last won episode.")
    from_: str | None = option(
        None,
        "Begin with the domain or rules of this run or file.",
        Flag(affects_episodes=False, metavar="RUN|FILE"),
        name="from",
        min_length=1,
    )
    run: str | None = option(None, "Name of the run folder.", Flag(affects_episodes=False, default="from the cells"))
    runs: str = option(
        RUNS, "Folder that contains the run folders.", Flag(RUNS_VARIABLE, affects_episodes=False, typed=False)
    )


class Config(Options):
    """All options by groups, and the options of each method by its name."""

    what: WhatOptions = Field(default_factory=WhatOptions)
    endpoint: Endpoint = Field(default_factory=Endpoint)
    planner: PlannerOptions = Field(default_factory=PlannerOptions)
    limits: LimitOptions = Field(default_factory=LimitOptions)
    run: Run = Field(default_factory=Run)
    methods: dict[str, SerializeAsAny[BaseModel]] = Field(default_factory=dict)

    def groups(self) -> dict[str, BaseModel]:
        """All groups by the names of their tables in a TOML file."""
        return {name: getattr(self, name) for name in COMMON_GROUPS} | self.methods


COMMON_GROUPS: Mapping[str, type[BaseModel]] = {
    name: cast(type[BaseModel], field.annotation) for name, field in Config.model_fields.items() if name != "methods"
}
"""The groups that belong to no method, by the names of their tables."""

BUILDING = names_of(Endpoint, PlannerOptions, LimitOptions) - {"planner", "max_tokens", "max_cost", "prices"}
"""The common options that have an effect on `build`."""


def groups() -> dict[str, type[BaseModel]]:
    """All groups by the names of their tables: the common ones, and one for each method."""
    return {**COMMON_GROUPS, **{method.name: method.options for method in methods()}}


_CHOOSING = ("model=", "variant=", "domain=")
"""Options in the name of a transcript, after commas."""


def listed_names(text: str) -> tuple[str, ...]:
    """The items of a list with commas. Names of models may contain commas, too: `reader+noise:0.1,seed=3`."""
    items: list[str] = []
    for part in (piece.strip() for piece in text.split(",")):
        noise = bool(items) and items[-1].startswith(f"{BUILT_IN_MODEL}+") and "=" in part
        chosen = bool(items) and items[-1].startswith("transcript:") and part.startswith(_CHOOSING)
        if noise or chosen:
            items[-1] += f",{part}"
        elif part:
            items.append(part)
    return tuple(items)


FLAG, ARGUMENT, DEFAULT = "flag", "argument", "default"
"""Origins of values besides files and variables: the command line, Python, or none of these."""


@dataclass(frozen=True)
class Resolved:
    """A configuration, and the origins of the values that are not defaults, by group and option.

    An origin is `flag`, `argument`, the name of a variable or the name of a file.
    """

    config: Config
    origins: Mapping[tuple[str, str], str]

    def origin(self, name: str) -> str:
        """The origin of the value of an option."""
        return next((origin for (_, option), origin in self.origins.items() if option == name), DEFAULT)


def resolve(
    explicit: Mapping[str, Any],
    environment: Mapping[str, str],
    file: Path | None = None,
    *,
    names: Collection[str] | None = None,
    origin: str = FLAG,
) -> Resolved:
    """Combine the sources of the configuration. `explicit` are flags or arguments, by name.

    In a file, an option is a key at the top, or in the table of its group. An option of several methods is set for all
    of them. With `names`, only these options exist. Raises `UsageError` for unknown options and invalid values.
    """
    known = groups()
    values: dict[str, dict[str, Any]] = {group: {} for group in known}
    origins: dict[tuple[str, str], str] = {}
    wanted = {option.name for kind in known.values() for option in options_of(kind)} - {PARAMETERS}
    wanted &= set(names) if names is not None else wanted
    sources = [(str(file), read_toml(file, "--config"))] if file else []
    for source, table in (*sources, *_from_environment(environment, known, wanted), (origin, explicit)):
        for group, name, value in _assigned(table, known, wanted, source):
            values[group][name] = value
            origins[group, name] = source
        if source == str(file):  # TOML has types: "8" and true are not numbers
            for group, kind in known.items():
                _validated(kind, values[group], _of_group(group, origins), strict=True)
    made = {group: _validated(kind, values[group], _of_group(group, origins)) for group, kind in known.items()}
    common: dict[str, Any] = {group: made.pop(group) for group in COMMON_GROUPS}
    return Resolved(Config(**common, methods=made), origins)


def _assigned(
    values: Mapping[str, Any], known: Mapping[str, type[BaseModel]], wanted: Collection[str], source: str
) -> Iterator[tuple[str, str, Any]]:
    """Group, option and value of each key, at the top or in a table. Raises `UsageError` for unknown keys."""
    for key, value in values.items():
        key = key.removesuffix("_")  # `from_` in Python, where `from` is a keyword
        if key in known and isinstance(value, Mapping):
            options = {
                key_name: option.name for option in options_of(known[key]) for key_name in (option.field, option.name)
            }
            for inner, item in value.items():
                if inner not in options:
                    of = f"Its options are: {', '.join(dict.fromkeys(options.values()))}."
                    raise UsageError(
                        f"[{key}] has no option '{inner}'", f"It is set in: {source}.", suggestion(inner, options, of)
                    )
                yield key, options[inner], item
            continue
        if key not in wanted:
            what = f"Unknown option '{key}'"
            advice = suggestion(key, wanted, f"The options are: {', '.join(sorted(wanted))}.")
            raise UsageError(what, "" if source == ARGUMENT else f"It is set in: {source}.", advice)
        for group, kind in known.items():
            if any(option.name == key for option in options_of(kind)):
                yield group, key, value


def _of_group(group: str, origins: Mapping[tuple[str, str], str]) -> dict[str, str]:
    return {name: origin for (owner, name), origin in origins.items() if owner == group}


def given_options(flags: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The values of these options that were set by a flag or in the environment."""
    resolved = resolve(flags, os.environ, names=names)
    groups = resolved.config.groups().values()
    values = {option.name: getattr(group, option.field) for group in groups for option in options_of(type(group))}
    return {name: values[name] for name in names if resolved.origin(name) != DEFAULT}


def with_overrides(method: str, options: BaseModel, overrides: Mapping[str, str]) -> BaseModel:
    """The options of a method with the values of `--set`. Other names become parameters, if the method has any.

    Raises `UsageError` for unknown names.
    """
    fields = {option.name: option.field for option in options_of(type(options))}
    has_parameters = fields.pop(PARAMETERS, None) is not None
    changes: dict[str, Any] = {fields[key]: value for key, value in overrides.items() if key in fields}
    rest = {key: value for key, value in overrides.items() if key not in fields}
    if rest and not has_parameters:
        wrong = next(iter(rest))
        reason = f"Its options are: {', '.join(fields) or '(none)'}."
        raise UsageError(f"{method} has no option '{wrong}'", reason, suggestion(wrong, fields, "Use --set KEY=VALUE."))
    if rest:
        changes[PARAMETERS] = {**getattr(options, PARAMETERS), **rest}
    explicit = {name: getattr(options, name) for name in options.model_fields_set}
    return _validated(type(options), {**explicit, **changes}, dict.fromkeys(changes, "--set"))


PARAMETERS = "parameters"
"""The field of a method's options for parameters of the game, which `--set` can set."""


T = TypeVar("T", bound=BaseModel)


def _validated(kind: type[T], values: Mapping[str, Any], origins: Mapping[str, str], strict: bool = False) -> T:
    """The group with these values. Raises `UsageError`, with the origin, for an invalid one."""
    try:
        return kind.model_validate(values, strict=strict)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "?"
        rejected, origin = values.get(name), origins.get(name, "file")
        value = (", ".join(map(str, rejected)) if isinstance(rejected, (tuple, list)) else str(rejected))[:60]
        typed = any(option.typed for option in options_of(kind) if name in (option.name, option.field))
        what = f"--{name.replace('_', '-')} {value}" if origin == FLAG and typed else f"{name} = {value}"
        where = "" if origin in (FLAG, ARGUMENT) else f" It is set in: {origin}."
        advice = "Choose another value: see the command's --help."
        end = "" if first["msg"].endswith("?") else "."
        raise UsageError(f"{what} is invalid", f"{reason_of(first)}{end}{where}", advice) from error


def _from_environment(
    environment: Mapping[str, str], known: Mapping[str, type[BaseModel]], wanted: Collection[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    variables = {option.name: option.variable for kind in known.values() for option in options_of(kind)}
    for name, variable in variables.items():
        if name in wanted and environment.get(variable):
            yield f"environment ({variable})", {name: environment[variable]}
