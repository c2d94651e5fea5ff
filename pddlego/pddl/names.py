"""Names: between the words of a game ("living room") and PDDL names (`living_room`), exactly and back.

A space becomes an underscore, so that a hyphen of the game ("frosted-glass door") stays one. The mapping is exact for
lower-case text of letters, digits, spaces and hyphens that holds no underscore, which is all that the games print.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")
MAX_NAME = 200
"""Characters of a name. It has to fit into a line, a prompt and a command."""


def is_name(word: str) -> bool:
    """Whether `word` is a PDDL name: a letter, then letters, digits, `-` and `_`, all together `MAX_NAME`."""
    return len(word) <= MAX_NAME and bool(_NAME.match(word))


def to_name(text: str) -> str:
    """The PDDL name of a thing that the game calls `text`."""
    return "_".join(text.lower().split())


def from_name(name: str) -> str:
    """The words of the game for the PDDL name `name`."""
    return name.replace("_", " ")


def same_name(left: str, right: str) -> bool:
    """Whether two spellings mean one thing: `living-room`, `living_room` and "Living Room" do."""
    return _folded(left) == _folded(right)


def _folded(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.strip().lower())
