"""The configuration of an evaluation: a flag beats the environment, that beats a file, and that beats the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from pddlego.errors import UsageError
from pddlego.models.base import CacheUse
from pddlego.modes import PLANNING, ablated, parse_mode
from pddlego.toml import read_toml

MOST_SEEDS = 1_000_000
"""A longer range is not looked at one by one."""

OTHER_NAMES = {"base_url": "OPENAI_BASE_URL", "models": "PDDLEGO_MODEL"}
"""Environment variables that are not called PDDLEGO_ and the name of the value."""


class EvalConfig(BaseModel):
    """What `pddlego eval` can be told, with its defaults. Names are those of the flags."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    games: tuple[str, ...] = ("coin",)
    modes: tuple[str, ...] = ("edit",)
    ablate: tuple[str, ...] = ()
    models: tuple[str, ...] = ("reader",)
    seeds: str = "dev"
    repeats: int = Field(1, ge=1, le=10_000)
    fold: str | None = None
    set: tuple[str, ...] = ()
    max_steps: int | None = Field(None, ge=1)
    max_seconds: float | None = Field(None, ge=0, le=1e7)
    search: str | None = None
    retries: int = Field(5, ge=0, le=1000)
    replan: Literal["on-surprise", "every-step"] = "on-surprise"
    base_url: str | None = None
    temperature: float = Field(1.0, ge=0, le=10)
    cache: CacheUse = "off"
    model_timeout: float = Field(120.0, gt=0, le=86_400)
    max_answer_tokens: int | None = Field(None, ge=1)
    planner: str = "pyperplan"
    planner_timeout: float = Field(30.0, gt=0, le=86_400)
    planner_memory: int = Field(4096, ge=0)
    workers: int = Field(4, ge=1, le=1024)
    llm_jobs: int = Field(16, ge=1, le=1024)
    engine: Literal["threads", "processes", "ray"] = "threads"
    address: str | None = None
    max_calls: int | None = Field(None, ge=0)
    max_tokens: int | None = Field(None, ge=0)
    max_cost: float | None = Field(None, ge=0)
    prices: str | None = None
    run: str | None = None
    runs: str = "runs"
    java: str | None = None

    @field_validator("games", "modes", "ablate", "models", "set", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return _listed(value)
        return tuple(value) if isinstance(value, list) else value

    @field_validator("seeds", mode="before")
    @classmethod
    def _text(cls, value: object) -> object:
        """A file may hold a number or a list of numbers, and Python code a range or a tuple, too."""
        if isinstance(value, range) and abs(value.stop - value.start) > MOST_SEEDS:  # no fold has them
            return f"{value[0]}-{value[-1]}"
        listed = list(value) if isinstance(value, (list, tuple, range)) else [value]
        if any(isinstance(each, bool) or not isinstance(each, (int, str)) for each in listed):
            return value
        return ",".join(map(str, listed))

    @field_validator("games", "modes", "models")
    @classmethod
    def _some(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise PydanticCustomError("empty", "Name at least one")
        return tuple(dict.fromkeys(value))

    @field_validator("modes")
    @classmethod
    def _modes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if "human" in value:
            raise PydanticCustomError("mode", "Nobody is there to play in mode human")
        return _known(value, ())

    @field_validator("ablate")
    @classmethod
    def _ablations(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        _known(PLANNING, value)
        return value


def _known(modes: tuple[str, ...], ablations: tuple[str, ...]) -> tuple[str, ...]:
    """The modes, if they and what is to be taken from them exist."""
    try:
        ablated(modes, ablations)
    except UsageError as error:
        raise PydanticCustomError("mode", "{why}", {"why": f"{error.what}. {error.why.removesuffix('.')}"}) from error
    return tuple(str(parse_mode(each)) for each in modes)


def _listed(text: str) -> tuple[str, ...]:
    """A list with commas. Options of a model (`reader+noise:0.1,seed=3`) have commas of their own."""
    found: list[str] = []
    for part in (each.strip() for each in text.split(",")):
        if found and found[-1].startswith("reader+") and "=" in part:
            found[-1] += f",{part}"
        elif part:
            found.append(part)
    return tuple(found)


@dataclass(frozen=True)
class Resolved:
    """A configuration, and for each value where it came from: `flag`, a variable's name, a file's name or `default`."""

    config: EvalConfig
    origins: Mapping[str, str]


def resolve(flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None = None) -> Resolved:
    """Put the configuration together. `flags` are only those that were given. Raises `UsageError` for a wrong value."""
    values: dict[str, Any] = {}
    origins = dict.fromkeys(EvalConfig.model_fields, "default")
    for origin, found in (*_from_file(file), *_from_environment(environment), ("flag", flags)):
        for name, value in found.items():
            values[name] = value
            origins[name] = origin
        if origin == str(file):
            _validate(values, origins, strict=True)  # TOML has types: "8" and true are no numbers in it
    return Resolved(_validate(values, origins), origins)


def _validate(values: Mapping[str, Any], origins: Mapping[str, str], strict: bool = False) -> EvalConfig:
    try:
        return EvalConfig.model_validate(values, strict=strict)
    except ValidationError as error:
        raise _wrong(error, origins) from error


def _from_file(file: Path | None) -> list[tuple[str, Mapping[str, Any]]]:
    if file is None:
        return []
    return [(str(file), read_toml(file, "--config"))]


def _from_environment(environment: Mapping[str, str]) -> list[tuple[str, Mapping[str, Any]]]:
    found: list[tuple[str, Mapping[str, Any]]] = []
    for name in EvalConfig.model_fields:
        variable = OTHER_NAMES.get(name, f"PDDLEGO_{name.upper()}")
        if environment.get(variable):
            found.append((f"environment ({variable})", {name: environment[variable]}))
    return found


def _wrong(error: ValidationError, origins: Mapping[str, str]) -> UsageError:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "?"
    known = ", ".join(EvalConfig.model_fields)
    if first["type"] == "extra_forbidden":
        return UsageError(
            f"There is no option '{name}'", f"It was given in: {origins.get(name)}.", f"The options are: {known}."
        )
    value = str(first.get("input"))[:60]
    why = f"{first['msg']}. It was given in: {origins[name]}."
    return UsageError(f"{name} = {value} is not possible", why, "See 'pddlego eval --help' for what is.")
