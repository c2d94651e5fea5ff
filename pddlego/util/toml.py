"""TOML files, with the errors that their users need."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pddlego.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def parse_toml(text: str) -> dict[str, Any]:
    """Raises `ValueError` for whatever is no TOML."""
    try:
        found: dict[str, Any] = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return found


def read_toml(path: Path, option: str) -> dict[str, Any]:
    """The tables of a file that the user named with `option`. Raises `UsageError`."""
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read", f"{error.strerror}.", f"Check {option}.") from error
    except ValueError as error:  # UnicodeDecodeError is one, too
        raise UsageError(f"{path} is not TOML", f"{error}.", "Mend the file.") from error
