"""Options as fields of pydantic models. Help, flags, environment variables, TOML keys and manifests come from these."""

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
    """How an option is written on the command line and in the environment, unless its name and type determine it.

    `variable` is the environment variable; by default, `PDDLEGO_` and the name of the option in capitals. `metavar` and
    `default` replace the placeholder of the value and the default value in help. A `repeatable` flag may be given
    several times. Unless an option `affects_episodes`, a run folder does not record its value, and a run may be
    continued with another value. An option that `changes_task` is refused where a mode that plays does not read it: its
    results would be compared with those of another task. Without `typed` there is no flag: `--set` sets an option of a
    method, a file or a variable any option.
    """

    variable: str = ""
    metavar: str | None = None
    repeatable: bool = False
    affects_episodes: bool = True
    changes_task: bool = False
    default: str = ""
    typed: bool = True


SET = Flag(typed=False)
"""An option of a method without a flag of its own."""


def option(default: Any, text: str, flag: Flag | None = None, *, name: str | None = None, **constraints: Any) -> Any:
    """A field with a command-line flag. `text` is its help, and `constraints` are those of pydantic, such as `ge`.

    `name` is the name for users (flag, variable, TOML key, keyword argument) if it differs from the name of the field.
    """
    extra: Any = {"flag": flag or Flag()}
    return Field(default, description=text, validation_alias=name, json_schema_extra=extra, **constraints)


def internal(default: Any) -> Any:
    """A field that users do not set."""
    return Field(default, json_schema_extra={"internal": True})


@dataclass(frozen=True)
class Option:
    """An option of a group: its name for users, the name of its field, and the field."""

    name: str
    field: str
    info: FieldInfo

    @property
    def flag(self) -> Flag | None:
        """How the option is described and written; None for an option of a method without a description."""
        extra = self.info.json_schema_extra
        flag = extra.get("flag") if isinstance(extra, dict) else None
        return flag if isinstance(flag, Flag) else None

    @property
    def typed(self) -> bool:
        """Whether the option has a flag on the command line."""
        return self.flag is not None and self.flag.typed

    @property
    def variable(self) -> str:
        """The environment variable that sets the option."""
        return (self.flag and self.flag.variable) or f"PDDLEGO_{self.name.upper()}"


def options_of(group: type[BaseModel]) -> Iterator[Option]:
    """The options of a group that users set, in the order of its fields."""
    for field, info in group.model_fields.items():
        if not (isinstance(info.json_schema_extra, dict) and info.json_schema_extra.get("internal")):
            yield Option(str(info.validation_alias or field), field, info)


def names_of(*groups: type[BaseModel]) -> set[str]:
    """The names of all options of these groups that have a description."""
    return {option.name for group in groups for option in options_of(group) if option.flag is not None}


def recorded(values: BaseModel) -> dict[str, Any]:
    """The values of a group's options that affect episodes, as JSON values by the names of their fields."""
    options = options_of(type(values))
    unrecorded = {option.field for option in options if option.flag and not option.flag.affects_episodes}
    return values.model_dump(mode="json", exclude=unrecorded)
