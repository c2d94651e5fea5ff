"""Which options were given, of all that a command has."""

from __future__ import annotations

from typing import Any

import typer


def given(context: typer.Context, *without: str) -> dict[str, Any]:
    """The options that were typed, by name, `without` some; several values are a tuple.

    What the environment says is left to the configuration, which knows who beats whom.
    """
    typed = [name for name in context.params if _is_typed(context, name)]
    found = {name: context.params[name] for name in typed if context.params[name] not in (None, [], ())}
    flags = {name.rstrip("_"): tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    return {name: value for name, value in flags.items() if name not in without}


def _is_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
