"""What can be wrong with a function: the ten kinds of feedback of the paper (section 6), and what a prompt may show."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from pddlego.methods.thought_of_search.space import Which

SHOWN = 2_000
"""Characters of a value that a prompt shows."""


class Kind(str, Enum):
    """Why a function goes back to the model, in the order of the paper's list."""

    TRANSITION = "unsound transition"
    CHANGED = "input changed"
    MISSING = "successors missing"
    GOAL = "wrong goal test"
    SUCCESSOR_ERROR = "successor exception"
    GOAL_ERROR = "goal exception"
    SEARCH_TIME = "search timeout"
    SUCCESSOR_TIME = "successor timeout"
    GOAL_TIME = "goal timeout"
    UNREADABLE = "no function"


@dataclass(frozen=True)
class Fault:
    """What is wrong with one of the functions. `message` says it in a line; the rest is what a prompt shows.

    `shown` are values by their names: the state, a wrong successor, what the functions were given besides. Many fields
    may be empty: each kind has some. `limit` is the option whose limit was exceeded.
    """

    kind: Kind
    which: Which
    message: str
    shown: tuple[tuple[str, Any], ...] = ()
    trace: str = ""
    why: str = ""
    as_goal: bool = False
    limit: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """What is shown, a line each."""
        return tuple(f"{name}: {brief(value)}" for name, value in self.shown)


def brief(value: Any) -> str:
    """A value as it is written in Python, cut where it is endless. A set is in the same order in every run."""
    shown = _written(value)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]} …"


def _written(value: Any) -> str:
    if isinstance(value, (set, frozenset)) and value:
        return f"{{{', '.join(sorted(map(_written, value)))}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, tuple):
        inside = ", ".join(map(_written, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_written(name)}: {_written(part)}' for name, part in value.items())}}}"
    return repr(value)
