"""Finds and reads the setting files `envs/NAME.toml` for every method."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pddlego.errors import PddlegoError, SettingError, UsageError
from pddlego.methods.base import Published, Setting
from pddlego.util import resources
from pddlego.util.files import parse_toml
from pddlego.util.text import fault_of, nearest, one_line, suggestion

File = TypeVar("File", bound=BaseModel)

_KIND, _PAPER = "kind", "paper"
"""The key with the kind of a setting, and the table with a paper's figures."""


class SettingHead(BaseModel):
    """The keys that a setting file of every kind may have."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    title: str = ""
    about: str = ""
    recorded_as: tuple[str, ...] = ()
    """Names of the setting in conversations that others recorded."""
    paper: dict[str, dict[str, float]] = Field(default_factory=dict)
    """A paper's means of the number that the method compares with it, by model and mode."""


@dataclass(frozen=True)
class SettingTable:
    """A setting file merged with the files that it extends: the kind, the tables, and the texts of all these files."""

    kind: str
    tables: Mapping[str, Any]
    sources: Mapping[str, str]


def setting_names(kind: str | None = None) -> list[str]:
    """The sorted names of all settings, or of those of a kind. Files whose name begins with `_` are only extended.

    With a kind, raises `SettingError` for an invalid file.
    """
    names = [name for name in resources.names("envs", ".toml") if not name.startswith("_")]
    return names if kind is None else [name for name in names if read_setting(name).kind == kind]


def read_setting(name: str, kind: str | None = None) -> SettingTable:
    """Read `envs/NAME.toml`, which must be of the `kind`, if that is given.

    Raises `UsageError` for an unknown name or another kind, and `SettingError` for an invalid file.
    """
    if name not in setting_names():
        near = suggestion(name, setting_names(), "No game has a similar name.")
        raise UsageError(f"Unknown game '{name}'", near, "List all with 'pddlego games', or add envs/NAME.toml.")
    chain = _chain(name)
    merged: dict[str, Any] = {}
    for table in reversed(list(chain.values())):
        merged = _merged(merged, table)
    merged.pop("extends", None)
    merged.pop(_PAPER, None)  # a paper's figures are not inherited
    merged |= {_PAPER: chain[name][_PAPER]} if _PAPER in chain[name] else {}
    own_kind = str(merged.pop(_KIND, ""))
    if not own_kind:
        reason = 'It has no kind, such as kind = "text game" or kind = "planning".'
        misspelt = nearest(_KIND, merged)
        advice = f"Write {_KIND} in place of {misspelt}." if misspelt else "Add its kind."
        raise SettingError(f"envs/{name}.toml is not a valid setting", reason, advice)
    if kind not in (None, own_kind):
        reason = f"It is of the kind '{own_kind}', and the mode plays the kind '{kind}'."
        raise UsageError(f"{name} cannot be played in this mode", reason, f"See its modes: pddlego games {name}.")
    sources = {f"envs/{part}.toml": resources.read("envs", f"{part}.toml") for part in chain}
    return SettingTable(own_kind, merged, sources)


_MOST = 5
"""The maximum number of errors of a file that are reported."""


def validated(name: str, model: type[File], table: SettingTable) -> File:
    """The tables of a setting file as a value. Raises `SettingError` for an invalid key or value."""
    try:
        return model.model_validate(table.tables)
    except ValidationError as error:
        faults = error.errors()
        unknown = [fault for fault in faults if fault["type"] == "extra_forbidden"]
        # A key that is required is also missing where it is misspelt: unknown keys are reported alone.
        reason = " ".join(_reason(fault, model, table.sources) for fault in (unknown or faults)[:_MOST])
        raise SettingError(f"envs/{name}.toml is not a valid setting", reason, "Fix the file.") from error


def _reason(fault: Mapping[str, Any], model: type[BaseModel], sources: Mapping[str, str]) -> str:
    """An error of pydantic in sentences: the file and the line if it can be found, the key, and what is similar."""
    place, text = fault["loc"], fault_of(fault)
    text += "" if text.endswith("?") else "."
    if fault["type"] == "extra_forbidden":
        keys = list(_keys(model, place[:-1]))
        text = f"Unknown key '{'.'.join(map(str, place))}'. "
        text += suggestion(str(place[-1]), keys, f"The keys there are: {', '.join(keys)}.")
    elif fault["type"] == "literal_error":
        choices = re.findall("'(.*?)'", fault["ctx"]["expected"])
        text = f"{text} {suggestion(str(fault['input']), choices, '')}".strip()
    return line_of(place, sources) + text


def _keys(kind: Any, place: Sequence[str | int]) -> Iterator[str]:
    """The keys of the table at a place in a model."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = {str(info.validation_alias or info.alias or name): info for name, info in kind.model_fields.items()}
        if not place:
            yield from fields
        elif place[0] in fields:
            yield from _keys(fields[str(place[0])].annotation, place[1:])
    elif get_origin(kind) in (Union, UnionType):  # pydantic puts the name of a class that is not the only one in front
        for part in get_args(kind):
            yield from _keys(part, place[1:] if place[:1] == (getattr(part, "__name__", ""),) else place)
    elif parts := [part for part in get_args(kind) if part is not ...]:  # a table or a list of values of the last part
        yield from _keys(parts[-1], place[1:])


def line_of(place: Sequence[str | int], sources: Mapping[str, str]) -> str:
    """`envs/coin.toml, line 3: ` for a key or a table that is in one line of the nearest file; else empty."""
    wanted = [str(part) for part in place if not str(part).isdigit()]
    for file, text in sources.items():
        table: list[str] = []
        lines: list[int] = []
        for number, line in enumerate(text.splitlines(), 1):
            if match := re.match(r"""(\[*)\s*([\w."'-]+)\s*(?:\]|=)""", line.strip()):
                path = [part.strip("\"'") for part in match[2].split(".")]
                table = path if match[1] else table
                lines += [number] if (path if match[1] else [*table, *path]) == wanted else []
        if lines:
            return f"{file}, line {lines[0]}: " if len(lines) == 1 else f"{file}: "
    return ""


def prompt_texts(names: Iterable[str]) -> dict[str, str]:
    """Prompts such as `guess/ask`, as sources of a setting. Raises `SettingError` if one is missing."""
    files = (resources.first("prompts", (f"{name}.txt", f"{name}.j2")) for name in names)
    return {f"prompts/{file}": resources.read("prompts", file) for file in files}


def load_plain(name: str, kind: str, prompts: Iterable[str] = (), max_steps: int | None = None) -> Setting:
    """A setting that needs only a title and a description, with ten seeds for development (`dev`).

    `prompts` are the names of its templates, such as `guess/ask`. Raises `UsageError` and `SettingError`.
    """
    table = read_setting(name, kind)
    head = validated(name, SettingHead, table)
    sources = {**table.sources, **prompt_texts(prompts)}
    return Setting(name, head.title or name, head.about, max_steps, {"dev": range(10)}, range(100_000), sources=sources)


def published(name: str, options: Mapping[str, Any], seeds: Collection[int]) -> Published:
    """The figures in the table `[paper]` of a setting; empty for a setting that can no longer be read."""
    try:
        return TypeAdapter(Published).validate_python(read_setting(name).tables.get(_PAPER, {}))
    except (PddlegoError, ValidationError):
        return {}


def _chain(name: str) -> dict[str, dict[str, Any]]:
    """The tables of a setting and of the settings that it extends, nearest first. Raises `SettingError`."""
    chain: dict[str, dict[str, Any]] = {}
    known = resources.names("envs", ".toml")
    following: object = name
    while following is not None:
        last = next(reversed(chain), name)
        if not isinstance(following, str) or following in chain or following not in known:
            again = isinstance(following, str) and following in chain
            reason = "It extends itself." if again else f"extends names no setting: {following!r}."
            advice = "Fix the file." if again else suggestion(str(following), known, "Fix the file.")
            raise SettingError(f"envs/{last}.toml is not a valid setting", reason, advice)
        chain[following] = _table(following)
        following = chain[following].get("extends")
    return chain


def _table(name: str) -> dict[str, Any]:
    try:
        return parse_toml(resources.read("envs", f"{name}.toml"))
    except ValueError as error:
        raise SettingError(f"envs/{name}.toml is not TOML", f"{error}.", "Fix the file.") from error


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merge tables key by key; other values in `over` replace those in `base`."""
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def parse_overrides(pairs: tuple[str, ...]) -> dict[str, str]:
    """Parse `KEY=VALUE` of the command line. Raises `UsageError` for anything else, and for a key with two values."""
    overrides: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set {pair} cannot be read", "It takes KEY=VALUE.", "Example: --set numLocations=5.")
        name, text = key.strip(), value.strip()
        if overrides.setdefault(name, text) != text:
            reason = f"They are '{one_line(overrides[name], 60)}' and '{one_line(text, 60)}'."
            raise UsageError(f"--set {name} has two values", reason, "Leave one of them out.")
    return overrides
