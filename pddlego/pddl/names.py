"""Conversion between names in a game ("living room") and PDDL names (`living_room`), exactly and back.

A space becomes an underscore, so that a hyphen of the game ("frosted-glass door") stays a hyphen. The conversion is
exact for lower-case text of letters, digits, spaces and hyphens, which is all that the games print.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from pddlego.util.text import nearest

_NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")
MAX_NAME = 200
"""The maximum length of a name, which has to fit into a line, a prompt and a command."""


class UnknownNameError(ValueError):
    """A text holds names that a domain does not declare; `names` are all words of the text."""

    def __init__(self, message: str, *texts: str) -> None:
        super().__init__(message)
        self.names = re.findall(r"[\w-]+", " ".join(texts))


def is_name(word: str) -> bool:
    """Whether `word` is a PDDL name: a letter, then letters, digits, `-` and `_`, at most `MAX_NAME` characters."""
    return len(word) <= MAX_NAME and bool(_NAME.match(word))


def to_name(text: str) -> str:
    """The PDDL name of a thing that the game calls `text`."""
    return "_".join(text.lower().split())


def from_name(name: str) -> str:
    """The name in the game of an object with the PDDL name `name`."""
    return name.replace("_", " ")


_BEFORE_NAMES = (
    *("domain", "problem", ":domain", ":types", ":constants", ":objects", ":metric", ":action", ":durative-action"),
)
"""The words of PDDL that a word without a colon follows."""


def spelt(word: str, known: Collection[str]) -> str:
    """The right spelling of a misspelt word of PDDL: a known word, also with the next one; empty if none is near."""
    first, *others = re.findall(r":?[^:]+", word) or [""]
    if others and first in known:
        return " ".join((first, *others))
    for before in _BEFORE_NAMES:
        rest = word.removeprefix(before)
        if before in known and is_name(rest) and 1 < len(rest) < len(word):
            return f"{before} {rest}"
    return nearest(word, known) or ""


def same_name(left: str, right: str) -> bool:
    """Whether two spellings are the same name: `living-room`, `living_room` and "Living Room" are."""
    return _folded(left) == _folded(right)


def _folded(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.strip().lower())
