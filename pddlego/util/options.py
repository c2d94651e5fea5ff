"""Options as fields of pydantic models: help, flags, variables, TOML tables and manifests are derived from these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo


class Options(BaseModel):
    """A group of options. The `title` of its `model_config` is the heading of the group in help."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, populate_by_name=True, defer_build=True)


@dataclass(frozen=True)
class Flag:
    """How an option is typed, where that does not follow from its name and type.

    `variable` is its environment variable (default: the name with
    `PDDLEGO_` before it), `metavar` its value in help. A `repeatable` flag may be given several times. An option that
    is `free` changes no episode: a run folder does not record it, and a run may be continued with another value.
    `default` is shown in help instead of the default value.
    """

    variable: str = ""
    metavar: str | None = None
    repeatable: bool = False
    free: bool = False
    default: str = ""


def option(default: Any, text: str, flag: Flag | None = None, *, name: str | None = None, **constraints: Any) -> Any:
    """A field that has a flag: its default, its help text, and constraints of pydantic such as `ge`.

    `name` is the name for users (flag, variable, TOML key, keyword argument) where it is not the field's.
    """
    extra: Any = {"flag": flag or Flag()}
    return Field(default, description=text, validation_alias=name, json_schema_extra=extra, **constraints)


@dataclass(frozen=True)
class Option:
    """An option of a group: the name for users, the field's name, and the field. Without a `flag` it has no flag."""

    name: str
    field: str
    info: FieldInfo

    @property
    def flag(self) -> Flag | None:
        extra = self.info.json_schema_extra
        flag = extra.get("flag") if isinstance(extra, dict) else None
        return flag if isinstance(flag, Flag) else None

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return (self.flag and self.flag.variable) or f"PDDLEGO_{self.name.upper()}"


def options_of(group: type[BaseModel]) -> Iterator[Option]:
    """The options of a group, in the order of its fields."""
    for field, info in group.model_fields.items():
        yield Option(str(info.validation_alias or field), field, info)


def names_of(*groups: type[BaseModel]) -> set[str]:
    """The names of the options of groups that have a flag."""
    return {option.name for group in groups for option in options_of(group) if option.flag is not None}


def recorded(values: BaseModel) -> dict[str, Any]:
    """The values of a group that determine an episode, as plain JSON values by field."""
    free = {option.field for option in options_of(type(values)) if option.flag and option.flag.free}
    return values.model_dump(mode="json", exclude=free)
