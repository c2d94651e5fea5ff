"""Reads lists of states out of files: JSON lines, a JSON list of objects, or a table with a head."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from pddlego.errors import SettingError
from pddlego.util import resources

FOLDER = "domains"


def text_of(place: str) -> str:
    """The text of a file: of `domains/` if there is one of that name, else of the path. Raises `SettingError`."""
    plain = not Path(place).is_absolute() and ".." not in Path(place).parts
    if plain and resources.has(FOLDER, place):
        return resources.read(FOLDER, place)
    try:
        return Path(place).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise SettingError(f"{place} cannot be read", f"{why}.", "Name a file in domains/, or a path.") from error


def items_of(place: str, text: str) -> tuple[dict[str, Any], ...]:
    """What a file holds, each as an object: `{"state": …}` for a bare state, and `{"state", "successors"}` for a pair
    of a state with a list of them. Raises `SettingError`.
    """
    if place.endswith(".csv"):
        return tuple(dict(row) for row in csv.DictReader(io.StringIO(text)))
    try:
        return tuple(_item(value) for value in _values(text))
    except (ValueError, RecursionError) as error:
        raise SettingError(f"{place} holds no JSON lines", f"{error}.", "Give one JSON value a line.") from error


def _values(text: str) -> list[Any]:
    """A file that is one list of objects holds these, every other file a value a line."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, list) and whole and all(isinstance(each, dict) for each in whole):
        return whole
    if isinstance(whole, dict):
        return [whole]
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _item(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, list) for part in value):
        return {"state": value[0], "successors": value[1]}
    return {"state": value}
