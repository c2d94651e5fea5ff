"""Which options were given, of all that a command has."""

from __future__ import annotations

from typing import Any

import typer


def given(context: typer.Context, *without: str) -> dict[str, Any]:
    """The options that were given, by name, `without` some; several values are a tuple."""
    found = {name: value for name, value in context.params.items() if value not in (None, [], ())}
    flags = {name.rstrip("_"): tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    return {name: value for name, value in flags.items() if name not in without}
