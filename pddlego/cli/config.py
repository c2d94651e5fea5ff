"""`pddlego config`."""

from __future__ import annotations

import os
from pathlib import Path

import typer
from rich.table import Table
from rich.text import Text

from pddlego.cli.options import ConfigFile
from pddlego.display.console import Console
from pddlego.evaluation.config import COMMON, DEFAULT, resolve
from pddlego.util.options import options_of
from pddlego.util.text import clean


def command(config: ConfigFile = None) -> None:
    """Show the configuration of 'pddlego eval': each value and its source."""
    resolved = resolve({}, os.environ, Path(config) if config else None)
    table = Table("name", "value", "from", box=None, pad_edge=False)
    for group, values in resolved.config.groups().items():
        shown = values.model_dump()
        for option in options_of(type(values)):
            origin = resolved.origins.get((group, option.name), DEFAULT)
            style = "dim" if origin == DEFAULT else "bold"
            name = option.name if group in COMMON else f"{group}.{option.name}"
            table.add_row(name, Text(clean(_shown(shown[option.field]))), Text(clean(origin), style))
    Console().print(table, highlight=False)
    raise typer.Exit


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={item}" for key, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
