"""Python values as JSON text, for the pipe between host and sandbox: what has no JSON form of its own gets a tag.

Never pickle: whoever writes to the pipe is a program that a model wrote. Reading makes plain values and nothing else.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MOST_DEEP = 200
"""Levels of values within values."""

REPR = 200
"""Characters of the representation of a value that has no form here."""

MOST_PARTS = 1_000_000
"""Values within a value that are read: a forged line may hold many empty lists."""

LARGEST = 1 << 63
"""Integers are sent below this size; others are only named."""


PART = 12
"""Characters that a value within a value counts besides its own."""


class TooLargeError(Exception):
    """A value has more in it than may be sent."""


@dataclass(frozen=True)
class Opaque:
    """A value of a type that cannot be sent: the name of the type, and how it shows itself."""

    kind: str
    shown: str

    def __repr__(self) -> str:
        return self.shown


def tagged(value: Any, most: int) -> Any:
    """What stands for a value in JSON. Raises `TooLargeError` if its text is longer than about `most` characters.

    Tuples, sets, frozen sets and dictionaries are objects with one key that says so; all other types are only named.
    """
    return _Tagger(most).tagged(value, 0)


def plain(found: Any) -> Any:
    """The value that stands for it. Raises `ValueError` for what `tagged` never makes, and for more than it sends."""
    try:
        return _Reader().plain(found)
    except (KeyError, TypeError, IndexError, RecursionError) as error:
        raise ValueError(f"no value: {error!r:.100}") from error


def without_addresses(text: str) -> str:
    """A text without places in memory, which are others in every run."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


class _Tagger:
    """Tags a value and counts what is in it on the way, so that nothing large is built up for nothing."""

    def __init__(self, most: int) -> None:
        self.left = most

    def tagged(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            self._take((len(value) if value.isascii() else 6 * len(value)) + 3)
            return value
        if kind is bool or value is None or kind is float:
            self._take(24 if kind is float else 6)
            return value
        if kind is int:
            if -LARGEST <= value < LARGEST:
                self._take(20)
                return value
            return self._opaque(value)
        if depth > MOST_DEEP:
            raise TooLargeError("it is nested too deeply")
        return self._container(value, depth + 1)

    def _container(self, value: Any, depth: int) -> Any:
        self._take(PART)
        if isinstance(value, list):
            return [self.tagged(part, depth) for part in value]
        if isinstance(value, tuple):
            return {"t": [self.tagged(part, depth) for part in value]}
        if isinstance(value, frozenset):
            return {"f": self._sorted(value, depth)}
        if isinstance(value, set):
            return {"s": self._sorted(value, depth)}
        if isinstance(value, dict):
            return {"d": [[self.tagged(key, depth), self.tagged(part, depth)] for key, part in value.items()]}
        if isinstance(value, (str, bool, int, float)):  # of a class of the program's own
            return self._plain_of(value, depth)
        return self._opaque(value)

    def _sorted(self, value: Any, depth: int) -> list[Any]:
        """The parts of a set in an order that does not depend on the sender: it would go on in what is made of them."""
        return sorted((self.tagged(part, depth) for part in value), key=json.dumps)

    def _plain_of(self, value: Any, depth: int) -> Any:
        base = next(kind for kind in (str, bool, int, float) if isinstance(value, kind))
        plain = base(value)
        return self.tagged(plain, depth) if type(plain) is base else self._opaque(value)

    def _opaque(self, value: Any) -> Any:
        try:
            shown = without_addresses(repr(value))[:REPR]
        except Exception as error:  # noqa: BLE001 -- a program's own class may raise anything
            shown = f"<no representation: {type(error).__name__}>"
        self._take(len(shown))
        return {"o": [type(value).__name__[:REPR], shown]}

    def _take(self, characters: int) -> None:
        self.left -= characters
        if self.left < 0:
            raise TooLargeError("it is too large")


class _Reader:
    """Makes values of what was tagged, and counts them: whoever wrote the line may have forged it."""

    def __init__(self) -> None:
        self.left = MOST_PARTS

    def plain(self, value: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise ValueError("it has too many parts")
        if isinstance(value, str):  # half a surrogate pair can be written nowhere
            return value if value.isascii() else value.encode("utf-8", "replace").decode()
        if isinstance(value, int) and not -LARGEST <= value < LARGEST:
            raise ValueError("an integer is too large")
        if isinstance(value, list):
            return [self.plain(part) for part in value]
        if not isinstance(value, dict):
            return value
        ((tag, parts),) = value.items()
        if tag == "d":
            return {self.plain(key): self.plain(part) for key, part in parts}
        if tag == "o":
            return Opaque(self.plain(str(parts[0])), self.plain(str(parts[1])))
        found = [self.plain(part) for part in parts]
        return {"t": tuple, "s": set, "f": frozenset}[tag](found)
