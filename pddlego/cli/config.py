"""`pddlego config`: prints the configuration."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from pddlego.cli.options import ConfigFile
from pddlego.errors import UsageError
from pddlego.evaluation.config import COMMON_GROUPS, DEFAULT, groups, resolve
from pddlego.util.options import Option, options_of
from pddlego.util.text import clean


def command(
    config: ConfigFile = None,
    form: Annotated[
        Literal["text", "toml"], typer.Option("--format", help="text, or toml: a file with all options as comments.")
    ] = "text",
) -> None:
    """Show the configuration of 'pddlego eval': each value and its source."""
    from rich.table import Table
    from rich.text import Text

    from pddlego.display.console import Console

    if form == "toml":
        if config is not None:
            raise UsageError("--config has no effect here", "The file has the defaults.", "Leave it out.")
        typer.echo("\n".join(_template()))
        raise typer.Exit
    resolved = resolve({}, os.environ, Path(config) if config else None)
    table = Table("name", "value", "from", box=None, pad_edge=False)
    for group, values in resolved.config.groups().items():
        value_by_field = values.model_dump()
        for option in options_of(type(values)):
            origin = resolved.origins.get((group, option.name), DEFAULT)
            style = "dim" if origin == DEFAULT else "bold"
            name = option.name if group in COMMON_GROUPS else f"{group}.{option.name}"
            value = value_by_field[option.field]
            text = option.flag.default if value is None and option.flag is not None else _text(value)
            table.add_row(name, Text(clean(text)), Text(clean(origin), style))
    Console().print(table)
    raise typer.Exit


def _template() -> Iterator[str]:
    """The lines of a configuration file in which every option is a comment with its default value."""
    yield "# Options of pddlego: remove the '#' before an option to set it. Use it with --config FILE."
    for name, kind in groups().items():
        yield f"\n# {kind.model_config.get('title') or name}"
        yield f"[{name}]"
        for option in options_of(kind):
            if option.flag is not None:
                yield f"# {option.info.description}"
                yield f"# {option.name} ={_toml(option)}"


def _toml(option: Option) -> str:
    """A space and the default value in TOML; empty without a default."""
    value = option.info.get_default(call_default_factory=True)
    return "" if value in (None, "", ()) else f" {json.dumps(value)}"


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
