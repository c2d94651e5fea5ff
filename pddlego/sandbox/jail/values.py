"""Python values as JSON text, for the pipe between host and sandbox: what has no JSON form of its own gets a tag.

Never pickle: a program that a model wrote writes to the pipe. Reading makes plain values and nothing else.
"""

from __future__ import annotations

import json
import marshal
import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import Any

MOST_DEEP = 200
"""Levels of values within values."""

REPR = 200
"""Characters of the representation of a value that has no form here."""

MOST_PARTS = 1_000_000
"""The most nested values in a line. A short line may hold many empty lists."""

MOST_ALIKE = 100
"""The most keys of a set or a dictionary with one hash: more would take quadratic time. A program can make such keys,
because the hash of a tuple of numbers is known."""

LARGEST = 1 << 63
"""Integers are sent below this size; others are only named."""


WITHOUT_REFERENCES = 2
"""The version of marshal's form in which equal values are equal bytes."""

PART = 12
"""Characters that a value within a value counts besides its own."""

_NUMBERS = frozenset((int, float, bool, type(None)))
_TEXTS = frozenset((str,))
_ATOMS = _NUMBERS | _TEXTS
_TUPLES = frozenset((tuple,))
_LISTS = frozenset((list,))
_DICTS = frozenset((dict,))


class TooLargeError(Exception):
    """A value has more in it than may be sent."""


@dataclass(frozen=True)
class Opaque:
    """A value of a type that cannot be sent: the name of the type, and how it shows itself."""

    kind: str
    shown: str

    def __repr__(self) -> str:
        return self.shown


def tagged(value: object, most: int) -> object:
    """What stands for a value in JSON. Raises `TooLargeError` if its text is longer than about `most` characters.

    Tuples, sets, frozen sets and dictionaries are objects with one key that says so; all other types are only named.
    Most values are lists and tuples of numbers or of strings: these are recognised at once, without a look at each.
    """
    return _Tagger(most).tagged(value, 0)


def parts(line: bytes) -> int:
    """Count the values within the values of a line of JSON, at least. It is not parsed: strings count too."""
    return line.count(b",") + line.count(b"[") + line.count(b"{")


def plain(value: Any) -> Any:
    """The value that stands for it. Raises `ValueError` for what `tagged` never makes, and for more than it sends."""
    try:
        return _Reader().plain(value)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        raise ValueError(f"no value: {error!r:.100}") from error


def differs(value: Any, before: Any) -> bool:
    """Whether a value was changed. What is not a number is not equal to itself, and was not."""
    if value == before:
        return False
    try:
        return marshal.dumps(value, WITHOUT_REFERENCES) != marshal.dumps(before, WITHOUT_REFERENCES)
    except ValueError:
        return True


def without_addresses(text: str) -> str:
    """A text without places in memory, which are others in every run."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def _are_small(value: Any, kinds: set[type]) -> bool:
    """Whether all integers among these are of a size that is sent."""
    if int not in kinds:
        return True
    whole = value if kinds == {int} else [part for part in value if type(part) is int]
    return min(whole) >= -LARGEST and max(whole) < LARGEST


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

    def _container(self, value: object, depth: int) -> object:
        self._take(PART)
        if isinstance(value, list):
            return self._list(value, depth)
        if isinstance(value, tuple):
            return {"t": list(value) if self._takes_flat(value) else [self.tagged(part, depth) for part in value]}
        if isinstance(value, (set, frozenset)):
            return self._set(value, depth)
        if isinstance(value, dict):
            if set(map(type, value)) <= _TEXTS:
                self._take(sum((len(key) if key.isascii() else 6 * len(key)) + 3 for key in value))
                return {"m": {key: self.tagged(part, depth) for key, part in value.items()}}
            return {"d": [[self.tagged(key, depth), self.tagged(part, depth)] for key, part in value.items()]}
        if isinstance(value, (str, bool, int, float)):  # of a class of the program's own
            return self._plain_of(value, depth)
        return self._opaque(value)

    def _list(self, value: Any, depth: int) -> Any:
        """Most are of numbers or strings, or of lists or tuples of these, or of dictionaries of one form."""
        kinds = set(map(type, value))
        if kinds == _DICTS and len(value) > 1 and depth <= MOST_DEEP:
            names = tuple(value[0])
            if set(map(type, names)) == _TEXTS and all(tuple(part) == names for part in value):
                return {"c": {name: self.tagged([part[name] for part in value], depth) for name in names}}
        if kinds <= _ATOMS:
            return list(value) if self._takes_flat(value) else [self.tagged(part, depth) for part in value]
        if kinds == _TUPLES and self._takes_flat(list(chain.from_iterable(value)), len(value)):
            return {"T": value[:]}
        if kinds == _LISTS:
            inside = list(chain.from_iterable(value))
            if self._takes_flat(inside, len(value)):
                return [part[:] for part in value]
            tuples = set(map(type, inside)) == _TUPLES
            if tuples and self._takes_flat(list(chain.from_iterable(inside)), len(value) + len(inside)):
                return {"L": [part[:] for part in value]}
        return [self.tagged(part, depth) for part in value]

    def _set(self, value: Any, depth: int) -> Any:
        """Its parts are in an order that does not depend on the sender: it would go on in what is made of them."""
        tag, kinds = "f" if isinstance(value, frozenset) else "s", set(map(type, value))
        if kinds <= _TEXTS and self._takes_flat(value):
            return {tag: sorted(value)}
        if tag == "s" and kinds == _TUPLES:
            inside = list(chain.from_iterable(value))
            if set(map(type, inside)) <= _TEXTS and self._takes_flat(inside, len(value)):
                return {"S": sorted(value)}
        return {tag: sorted((self.tagged(part, depth) for part in value), key=json.dumps)}

    def _takes_flat(self, value: Any, parts: int = 0) -> bool:
        """Whether these are numbers and strings only, which are counted then, with as many `parts` around them."""
        kinds = set(map(type, value))
        if not kinds <= _ATOMS or not _are_small(value, kinds):
            return False
        self._take(PART * parts + 20 * len(value))
        if str in kinds:
            texts = value if kinds == _TEXTS else [part for part in value if type(part) is str]
            self._take(sum(map(len, texts)) * (1 if all(map(str.isascii, texts)) else 6))
        return True

    def _plain_of(self, value: Any, depth: int) -> Any:
        base = next(kind for kind in (str, bool, int, float) if isinstance(value, kind))
        plain = base(value)
        return self.tagged(plain, depth) if type(plain) is base else self._opaque(value)

    def _opaque(self, value: object) -> object:
        if type(value).__module__ == "numpy" and hasattr(value, "tolist") and type(value.tolist()) is not type(value):
            return self.tagged(value.tolist(), 1)
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


def _checked_keys(keys: list[Any]) -> list[Any]:
    """The keys, if they can be put into a set in linear time. Raises `ValueError` if not."""
    if len(keys) > MOST_ALIKE and max(Counter(map(hash, keys)).values()) > MOST_ALIKE:
        raise ValueError("too many keys have the same hash")
    return keys


class _Reader:
    """Builds and counts values from tagged ones: the line may be forged."""

    def __init__(self) -> None:
        self.left = 2 * MOST_PARTS  # rows of columns and rows of tuples count twice
        self.depth = 0

    def _count(self, parts: int) -> None:
        self.left -= parts
        if self.left < 0:
            raise ValueError("it has too many parts")

    def plain(self, value: Any) -> Any:
        self._count(1)
        if self.depth > MOST_DEEP and isinstance(value, (list, dict)):
            raise ValueError("it is nested too deeply")
        self.depth += 1
        try:
            return self._plain(value)
        finally:
            self.depth -= 1

    def _plain(self, value: object) -> object:
        if isinstance(value, str):  # half a surrogate pair can be written nowhere
            return value if value.isascii() else value.encode("utf-8", "replace").decode()
        if isinstance(value, int) and not -LARGEST <= value < LARGEST:
            raise ValueError("an integer is too large")
        if isinstance(value, list):
            return self._list(value)
        if not isinstance(value, dict):
            return value
        ((tag, parts),) = value.items()
        if tag == "m":
            return {self.plain(key): self.plain(part) for key, part in parts.items()}
        if tag == "d":
            keys = _checked_keys([self.plain(key) for key, _ in parts])
            return dict(zip(keys, [self.plain(part) for _, part in parts], strict=True))
        if tag == "o":
            return Opaque(self.plain(str(parts[0])), self.plain(str(parts[1])))
        if tag == "c":
            names = [self.plain(name) for name in parts]
            columns = [self.plain(column) for column in parts.values()]
            if not all(isinstance(column, list) for column in columns):
                raise ValueError("a column is not a list")
            self._count(sum(map(len, columns)))
            return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        if tag in ("T", "S"):
            rows = list(map(tuple, self._rows(parts)))
            return rows if tag == "T" else set(_checked_keys(rows))
        if tag == "L":
            return [list(map(tuple, self._rows(part))) for part in parts]
        items = self._list(parts)
        return {"t": tuple, "s": set, "f": frozenset}[tag](items if tag == "t" else _checked_keys(items))

    def _list(self, value: list[Any]) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError("it is not a list")
        if self._counts_flat(value):
            return value[:]
        if set(map(type, value)) == _LISTS and self._counts_flat(list(chain.from_iterable(value))):
            self._count(len(value))
            return [part[:] for part in value]
        return [self.plain(part) for part in value]

    def _rows(self, value: list[list[object]]) -> list[list[object]]:
        """Lists of numbers or strings, as they are."""
        self._count(len(value))
        if not set(map(type, value)) <= _LISTS:
            raise ValueError("it is not what its tag says")
        if self._counts_flat(list(chain.from_iterable(value))):
            return value
        return [[self.plain(part) for part in row] for row in value]

    def _counts_flat(self, value: list[Any]) -> bool:
        kinds = set(map(type, value))
        if not kinds <= _ATOMS or not _are_small(value, kinds):
            return False
        if str in kinds:
            texts = value if kinds == _TEXTS else [part for part in value if type(part) is str]
            if not all(map(str.isascii, texts)):
                return False
        self._count(len(value))
        return True
