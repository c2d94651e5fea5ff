"""Conversion between names in a game ("living room") and PDDL names (`living_room`), exactly and back.

A space becomes an underscore, so that a hyphen of the game ("frosted-glass door") stays a hyphen. The conversion is
exact for lower-case text of letters, digits, spaces and hyphens, which is all that the games print.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")
MAX_NAME = 200
"""The maximum length of a name, which has to fit into a line, a prompt and a command."""


def is_name(word: str) -> bool:
    """Whether `word` is a PDDL name: a letter, then letters, digits, `-` and `_`, at most `MAX_NAME` characters."""
    return len(word) <= MAX_NAME and bool(_NAME.match(word))


def to_name(text: str) -> str:
    """The PDDL name of a thing that the game calls `text`."""
    return "_".join(text.lower().split())


def from_name(name: str) -> str:
    """The name in the game of an object with the PDDL name `name`."""
    return name.replace("_", " ")


def same_name(left: str, right: str) -> bool:
    """Whether two spellings are the same name: `living-room`, `living_room` and "Living Room" are."""
    return _folded(left) == _folded(right)


def _folded(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.strip().lower())
