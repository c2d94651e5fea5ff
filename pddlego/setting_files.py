"""Reads settings: `envs/NAME.toml` with its domain and starting problem, checked, and changed as the user asks."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pddlego import resources
from pddlego.errors import SettingError, UsageError
from pddlego.pddl import Domain, PddlSyntaxError, Problem, check, parse_domain, parse_problem
from pddlego.pddl.sexpr import read_sexprs
from pddlego.planning import Rung, Search
from pddlego.settings import ActionRule, MapRule, Parameter, Setting

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Game(_Strict):
    engine: str
    name: str
    fold: str
    max_steps: int = Field(gt=0)
    refused: list[str] = []
    folds: dict[str, str]


class _Observation(_Strict):
    drop: list[str] = []
    keep: list[str] = []


class _Planning(_Strict):
    domain: str
    problem: str


class _Rung(_Strict):
    name: str
    goal: str
    search: str = "bfs"


class _Action(_Strict):
    command: str
    expect: str = ""


class _Prompts(_Strict):
    folder: str


class _Parameter(_Strict):
    value: int
    min: int
    max: int
    about: str = ""


class _Map(_Strict):
    room: str
    here: str
    visited: str
    exit: str
    closed: str
    things: str
    directions: dict[str, tuple[int, int]]


class _File(_Strict):
    title: str
    about: str = ""
    game: _Game
    seeds: dict[str, str] = {}
    parameters: dict[str, _Parameter] = {}
    observation: _Observation = _Observation()
    planning: _Planning
    ladder: list[_Rung] = Field(min_length=1)
    actions: dict[str, _Action]
    prompts: _Prompts
    map: _Map | None = None


def setting_names() -> list[str]:
    """All settings that can be played, sorted."""
    return resources.names("envs", ".toml")


def load_setting(
    name: str,
    overrides: Mapping[str, str] | None = None,
    max_steps: int | None = None,
    fold: str | None = None,
    search: str | None = None,
) -> Setting:
    """Read `envs/NAME.toml` with its domain, and apply what the user changed.

    `overrides` are game parameters as text, `search` replaces the search of every rung. Raises `UsageError` for an
    unknown name, parameter, value, fold or search, listing what there is, and `SettingError` if a file is wrong.
    """
    if name not in setting_names():
        listed = ", ".join(setting_names())
        raise UsageError(
            f"There is no game '{name}'", f"The games are: {listed}.", "Choose one, or add envs/NAME.toml."
        )
    setting = _build(name, _read(name))
    setting = _with_parameters(setting, overrides or {})
    if fold is not None:
        if fold not in setting.folds:
            listed = ", ".join(setting.folds)
            raise UsageError(f"{name} has no fold '{fold}'", f"Its folds are: {listed}.", "Choose one with --fold.")
        setting = replace(setting, fold=fold)
    if max_steps is not None:
        if max_steps < 1:
            raise UsageError("--max-steps must be at least 1", f"It was {max_steps}.", "Give a positive number.")
        setting = replace(setting, max_steps=max_steps)
    if search is not None:
        chosen = parse_search(search)
        setting = replace(setting, ladder=tuple(replace(rung, search=chosen) for rung in setting.ladder))
    return setting


def parse_search(text: str) -> Search:
    """Raises `UsageError` that lists the searches if `text` is none."""
    try:
        return Search.parse(text)
    except ValueError as error:
        raise UsageError(f"'{text}' is no search", f"{error}.", "Example: --search 'astar(lmcut)'.") from error


def _read(name: str) -> _File:
    try:
        return _File.model_validate(tomllib.loads(resources.read("envs", f"{name}.toml")))
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"envs/{name}.toml is not TOML", f"{error}.", "Mend the file.") from error
    except RecursionError as error:
        raise SettingError(f"envs/{name}.toml is no setting", "It is nested too deeply.", "Mend the file.") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise SettingError(
            f"envs/{name}.toml is no setting", f"{faults}.", "See envs/coin.toml for the form."
        ) from error


def _build(name: str, file: _File) -> Setting:
    domain, start = _load_domain(file.planning.domain), _load_problem(file.planning.problem)
    sources = {f"envs/{name}.toml": resources.read("envs", f"{name}.toml")}
    for part in (file.planning.domain, file.planning.problem):
        sources[f"domains/{part}.pddl"] = resources.read("domains", f"{part}.pddl")
    try:
        for pattern in (*file.game.refused, *file.observation.drop, *file.observation.keep):
            re.compile(pattern)
        ladder = tuple(_rung(name, domain, start, rung) for rung in file.ladder)
        return Setting(
            name,
            file.title,
            file.about,
            file.game.engine,
            file.game.name,
            _member(file.game.fold, file.game.folds),
            file.game.max_steps,
            tuple(file.game.refused),
            {fold: parse_range(seeds) for fold, seeds in file.game.folds.items()},
            {split: parse_range(seeds) for split, seeds in file.seeds.items()},
            {key: _parameter(key, each) for key, each in file.parameters.items()},
            tuple(file.observation.drop),
            tuple(file.observation.keep),
            domain,
            start,
            ladder,
            _action_rules(domain, file.actions),
            file.prompts.folder,
            MapRule(**file.map.model_dump()) if file.map else None,
            sources,
        )
    except (ValueError, re.error) as error:
        raise SettingError(f"envs/{name}.toml is no setting", f"{error}.", "Mend the file.") from error


def _parameter(key: str, read: _Parameter) -> Parameter:
    if not read.min <= read.value <= read.max:
        raise ValueError(f"parameters.{key}: {read.value} is not from {read.min} to {read.max}")
    return Parameter(**read.model_dump())


def _rung(name: str, domain: Domain, start: Problem, rung: _Rung) -> Rung:
    reading = read_sexprs(rung.goal)
    if reading.faults or len(reading.expressions) != 1:
        raise ValueError(f"ladder '{rung.name}': the goal is not one PDDL condition")
    goal = reading.expressions[0]
    defects = [each for each in check(domain, start.with_goal(goal)) if each.blocking]
    if defects:
        raise ValueError(f"ladder '{rung.name}': {defects[0].message}")
    return Rung(rung.name, goal, Search.parse(rung.search))


def _action_rules(domain: Domain, rules: Mapping[str, _Action]) -> dict[str, ActionRule]:
    missing, unknown = (
        sorted(set(domain.actions_by_name) - set(rules)),
        sorted(set(rules) - set(domain.actions_by_name)),
    )
    if missing or unknown:
        raise ValueError(f"actions: no command for {missing}, no such action {unknown}")
    for name, rule in rules.items():
        parameters = {each.name.lstrip("?") for each in domain.actions_by_name[name].parameters}
        used = set(re.findall(r"\{(\w+)\}", rule.command)) | set(re.compile(rule.expect).groupindex)
        if re.search(r"[{}]", re.sub(r"\{\w+\}", "", rule.command)):
            raise ValueError(f"actions.{name}: '{rule.command}' has a brace that belongs to no {{name}}")
        if used - parameters:
            raise ValueError(f"actions.{name}: {sorted(used - parameters)} is no parameter of the action")
    return {name: ActionRule(rule.command, rule.expect) for name, rule in rules.items()}


def _load_domain(name: str) -> Domain:
    try:
        return parse_domain(resources.read("domains", f"{name}.pddl"))
    except PddlSyntaxError as error:
        raise SettingError(f"domains/{name}.pddl is no domain", f"{error}.", "Mend the file.") from error


def _load_problem(name: str) -> Problem:
    try:
        return parse_problem(resources.read("domains", f"{name}.pddl"))
    except PddlSyntaxError as error:
        raise SettingError(f"domains/{name}.pddl is no problem", f"{error}.", "Mend the file.") from error


def _member(word: str, options: Mapping[str, object]) -> str:
    if word not in options:
        raise ValueError(f"'{word}' is none of {', '.join(options)}")
    return word


def _with_parameters(setting: Setting, overrides: Mapping[str, str]) -> Setting:
    parameters = dict(setting.parameters)
    for key, text in overrides.items():
        if key not in parameters:
            raise UsageError(f"{setting.name} has no parameter '{key}'", _describe(parameters), "Use --set KEY=VALUE.")
        known = parameters[key]
        try:
            value = int(text)
        except ValueError:
            value = known.min - 1
        if not known.min <= value <= known.max:
            why = f"It takes a whole number from {known.min} to {known.max} ({known.about})."
            raise UsageError(f"{key}={text} is not possible", why, _describe(parameters))
        parameters[key] = replace(known, value=value)
    return replace(setting, parameters=parameters, overrides=dict(overrides))


def _describe(parameters: Mapping[str, Parameter]) -> str:
    listed = (f"{name} ({each.min}-{each.max}, now {each.value})" for name, each in parameters.items())
    return f"The parameters are: {', '.join(listed)}."


def parse_overrides(pairs: Sequence[str]) -> dict[str, str]:
    """`KEY=VALUE` as given on the command line. Raises `UsageError` for anything else."""
    overrides = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set {pair} cannot be read", "It takes KEY=VALUE.", "Example: --set numLocations=5.")
        overrides[key.strip()] = value.strip()
    return overrides


def parse_range(text: str) -> range:
    """`10-59` as a range that holds both ends; `7` alone. Raises `ValueError` otherwise."""
    match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", text)
    if not match:
        raise ValueError(f"'{text}' is no range of seeds: write FIRST-LAST")
    first, last = int(match.group(1)), int(match.group(2) or match.group(1))
    if last < first:
        raise ValueError(f"'{text}' is no range of seeds: the last is before the first")
    return range(first, last + 1)
