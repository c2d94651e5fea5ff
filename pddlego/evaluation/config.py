"""The configuration of an evaluation: a flag beats the environment, that beats a file, and that beats the default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from pddlego.errors import UsageError
from pddlego.methods.base import Method
from pddlego.methods.registry import method as method_named
from pddlego.methods.registry import methods, modes, parse_mode
from pddlego.models.base import CacheUse
from pddlego.util.toml import read_toml

MOST_SEEDS = 1_000_000
"""A longer range is not looked at one by one."""

OTHER_NAMES = {"base_url": "OPENAI_BASE_URL", "models": "PDDLEGO_MODEL"}
"""Environment variables that are not called PDDLEGO_ and the name of the value."""

OLD_NAMES = {"engine": "executor"}
"""What options were called before."""


class EvalConfig(BaseModel):
    """What `pddlego eval` can be told whatever is played, with its defaults. Names are those of the flags.

    Many fields, because it is one for each option.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    games: tuple[str, ...] = ("coin",)
    modes: tuple[str, ...] = ("edit",)
    ablate: tuple[str, ...] = ()
    models: tuple[str, ...] = ("reader",)
    seeds: str = "dev"
    repeats: int = Field(1, ge=1, le=10_000)
    set: tuple[str, ...] = ()
    max_seconds: float | None = Field(None, ge=0, le=1e7)
    retries: int = Field(5, ge=0, le=1000)
    carry: bool = False
    base_url: str | None = None
    temperature: float = Field(1.0, ge=0, le=10)
    reasoning_effort: str | None = Field(None, pattern=r"^[a-z]{1,20}$")
    extra_body: tuple[str, ...] = ()
    stream: bool = True
    cache: CacheUse = "off"
    model_timeout: float = Field(120.0, gt=0, le=86_400)
    max_answer_tokens: int | None = Field(None, ge=1)
    planner: str = "pyperplan"
    planner_timeout: float = Field(30.0, gt=0, le=86_400)
    planner_memory: int = Field(4096, ge=0)
    prune: str | None = Field(None, min_length=1)
    sort: str | None = Field(None, min_length=1)
    kappa: tuple[Annotated[float, Field(ge=0, le=1)], ...] = Field((1.0,), min_length=1, max_length=100)
    levels: int | None = Field(None, ge=1, le=100_000)
    workers: int = Field(4, ge=1, le=1024)
    llm_jobs: int = Field(16, ge=1, le=1024)
    executor: Literal["threads", "processes", "ray"] = "threads"
    address: str | None = None
    max_calls: int | None = Field(None, ge=0)
    max_tokens: int | None = Field(None, ge=0)
    max_cost: float | None = Field(None, ge=0)
    prices: str | None = None
    run: str | None = None
    runs: str = "runs"

    @field_validator("games", "modes", "ablate", "models", "set", "extra_body", mode="before")
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

    @field_validator("kappa", mode="before")
    @classmethod
    def _numbers(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(","))
        return tuple(value) if isinstance(value, list) else (value,) if isinstance(value, (int, float)) else value

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
            return tuple(str(parse_mode(mode)) for mode in value)
        except UsageError as error:
            raise _refused(error) from error

    @field_validator("ablate")
    @classmethod
    def _ablations(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        known = dict.fromkeys(part for mode in modes() for part in mode.parts)
        for ablation in value:
            parts = ablation.split("+")
            if set(parts) - set(known) or len(set(parts)) < len(parts):
                why = f"These can be taken out, each once: {', '.join(known)}"
                raise PydanticCustomError(
                    "mode", "There is nothing like '{what}'. {why}", {"what": ablation, "why": why}
                )
        return value


def _refused(error: UsageError) -> PydanticCustomError:
    return PydanticCustomError("mode", "{why}", {"why": f"{error.what}. {error.why.removesuffix('.')}"})


CHOOSING = ("model=", "variant=", "domain=")
"""What may stand behind the name of a file of conversations."""


def _listed(text: str) -> tuple[str, ...]:
    """A list with commas. Options of a model (`reader+noise:0.1,seed=3`) have commas of their own."""
    found: list[str] = []
    for part in (each.strip() for each in text.split(",")):
        noise = bool(found) and found[-1].startswith("reader+") and "=" in part
        chosen = bool(found) and found[-1].startswith("transcript:") and part.startswith(CHOOSING)
        if noise or chosen:
            found[-1] += f",{part}"
        elif part:
            found.append(part)
    return tuple(found)


@dataclass(frozen=True)
class Resolved:
    """A configuration, the options of each method by its name, and for each value where it came from: `flag`, a
    variable's name, a file's name or `default`."""

    config: EvalConfig
    options: Mapping[str, BaseModel]
    origins: Mapping[str, str]


def resolve(flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None = None) -> Resolved:
    """Put the configuration together. `flags` are only those that were given. Raises `UsageError` for a wrong value.

    What is no common option is one of the methods that have an option of that name.
    """
    tables = {method.name: _options_of(method) for method in methods()}
    known = (*EvalConfig.model_fields, *dict.fromkeys(name for table in tables.values() for name in table))
    values: dict[str, Any] = {}
    own: dict[str, dict[str, Any]] = {name: {} for name in tables}
    origins = dict.fromkeys(known, "default")
    for origin, found in (*_from_file(file), *_from_environment(environment, known), ("flag", flags)):
        strict = origin == str(file)  # TOML has types: "8" and true are no numbers in it
        for key, value in found.items():
            name = OLD_NAMES.get(key, key)
            if name in tables and isinstance(value, Mapping):
                _check_table(name, value, tables[name], origin)
                own[name] |= value
                origins |= dict.fromkeys(value, origin)
            elif name not in EvalConfig.model_fields and name in known:
                for method, table in tables.items():
                    if name in table:
                        own[method][name] = value
                origins[name] = origin
            else:
                values[name], origins[name] = value, origin
        if strict:
            _validate(EvalConfig, values, origins, strict=True)
            for method, given in own.items():
                _validate(_class_of(method), given, origins, strict=True)
    config = _validate(EvalConfig, values, origins)
    return Resolved(config, {name: _validate(_class_of(name), given, origins) for name, given in own.items()}, origins)


def with_overrides(method: str, options: BaseModel, overrides: Mapping[str, str]) -> BaseModel:
    """The options of a method with what `--set` says: options by their names, else parameters where it has some.

    Raises `UsageError` for what it has not.
    """
    fields = type(options).model_fields
    changes: dict[str, Any] = {key: value for key, value in overrides.items() if key in fields and key != PARAMETERS}
    rest = {key: value for key, value in overrides.items() if key not in changes}
    if rest and PARAMETERS not in fields:
        what = f"{method} has no option '{next(iter(rest))}'"
        raise UsageError(what, f"Its options are: {', '.join(fields) or '(none)'}.", "Use --set KEY=VALUE.")
    if rest:
        changes[PARAMETERS] = {**getattr(options, PARAMETERS), **rest}
    given = {name: getattr(options, name) for name in options.model_fields_set}
    return _validate(type(options), {**given, **changes}, dict.fromkeys(changes, "--set"))


PARAMETERS = "parameters"
"""The field of a method's options that takes what `--set` names beyond them."""


def _options_of(method: Method) -> tuple[str, ...]:
    return tuple(name for name in method.options.model_fields if name != PARAMETERS)


def _class_of(method: str) -> type[BaseModel]:
    return method_named(method).options


def _check_table(name: str, value: Mapping[str, Any], known: tuple[str, ...], origin: str) -> None:
    unknown = [key for key in value if key not in (*known, PARAMETERS)]
    if unknown:
        why = f"It was given in: {origin}."
        raise UsageError(f"[{name}] has no option '{unknown[0]}'", why, f"Its options are: {', '.join(known)}.")


T = TypeVar("T", bound=BaseModel)


def _validate(kind: type[T], values: Mapping[str, Any], origins: Mapping[str, str], strict: bool = False) -> T:
    try:
        return kind.model_validate(values, strict=strict)
    except ValidationError as error:
        raise _wrong(error, origins) from error


def _from_file(file: Path | None) -> list[tuple[str, Mapping[str, Any]]]:
    if file is None:
        return []
    return [(str(file), read_toml(file, "--config"))]


def _from_environment(environment: Mapping[str, str], known: Iterable[str]) -> list[tuple[str, Mapping[str, Any]]]:
    found: list[tuple[str, Mapping[str, Any]]] = []
    for name in (*OLD_NAMES, *known):
        variable = OTHER_NAMES.get(name, f"PDDLEGO_{name.upper()}")
        if environment.get(variable):
            found.append((f"environment ({variable})", {name: environment[variable]}))
    return found


def _wrong(error: ValidationError, origins: Mapping[str, str]) -> UsageError:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "?"
    origin = origins.get(name, "flag")
    if first["type"] == "extra_forbidden":
        listed = ", ".join(each for each in origins if origins[each] == "default" or each != name)
        return UsageError(f"There is no option '{name}'", f"It was given in: {origin}.", f"The options are: {listed}.")
    given = first.get("input")
    value = (", ".join(map(str, given)) if isinstance(given, (tuple, list)) else str(given))[:60]
    why = f"{first['msg']}. It was given in: {origin}."
    return UsageError(f"{name} = {value} is not possible", why, "See the command's --help for what is.")
