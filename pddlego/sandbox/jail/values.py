"""Python values as JSON text, for the pipe between host and sandbox. Values of other types than JSON's get a tag.

Not pickle, because a model's program can write to the pipe: reading this format creates only plain values.
"""

from __future__ import annotations

import json
import marshal
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

MOST_DEEP = 200
"""Maximum depth of nested values."""

REPR = 200
"""Maximum characters of the `repr` of a value that cannot be sent."""

MOST_PARTS = 1_000_000
"""Maximum number of nested values in a line: a short line may contain many empty lists."""

MOST_ALIKE = 100
"""Maximum number of keys with the same hash in a set or a dictionary, because such keys take quadratic time. A program
can construct them: the hashes of tuples of numbers are predictable."""

LARGEST = 1 << 63
"""Integers from `-LARGEST` to `LARGEST - 1` are sent as numbers, others as `Opaque`."""

WITHOUT_REFERENCES = 2
"""The version of marshal's format in which equal values have equal bytes."""

PART = 12
"""Characters that each nested container counts besides its contents."""

# The tags: t tuple, s set, f frozen set, m dictionary with text keys, d other dictionary, q fraction, o `Opaque`.
# Without a call for each part: T list of tuples, L list of lists of tuples, S set of tuples, c list of dictionaries
# with the same keys, by column.
_NUMBERS = frozenset((int, float, bool, type(None)))
_TEXTS = frozenset((str,))
_ATOMS = _NUMBERS | _TEXTS
_TUPLES = frozenset((tuple,))
_LISTS = frozenset((list,))
_DICTS = frozenset((dict,))

KEPT = "None, bool, int, float, Fraction, str, list, tuple, dict, set and frozenset"
"""The types whose values survive between two calls."""


class TooLargeError(Exception):
    """A value is too large to be sent."""


@dataclass(frozen=True)
class Opaque:
    """Stands for a value of a type that cannot be sent: the name of the type, and the value's `repr`."""

    kind: str
    shown: str

    def __repr__(self) -> str:
        return self.shown


def tagged(value: object, most: int) -> object:
    """The JSON value that represents a value. Raises `TooLargeError` if its text has more than about `most` characters.

    Tuples, sets, frozen sets and dictionaries become objects with one key, the tag of the type; other types become
    `Opaque`. Most values are lists and tuples of numbers or strings: these are handled without a call for each part.
    """
    return _Tagger(most).tagged(value, 0)


def tagged_whole(value: object, most: int) -> object:
    """The value as `tagged` represents it. Raises `TypeError` for a part that would come back as `Opaque`."""
    tagger = _Tagger(most)
    form = tagger.tagged(value, 0)
    if tagger.lost:
        raise TypeError(f"a state holds {tagger.lost}, which does not survive between two calls: use {KEPT}")
    return form


def parts(line: bytes) -> int:
    """An upper bound for the number of nested values in a line of JSON, from its punctuation, also in strings."""
    return line.count(b",") + line.count(b"[") + line.count(b"{")


def plain(value: Any) -> Any:
    """The value that a result of `tagged` represents, sent as JSON or not.

    Raises `ValueError` for other and for too large values.
    """
    try:
        return _Reader().plain(value)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        raise ValueError(f"no value: {error!r:.100}") from error


def differs(value: Any, before: Any) -> bool:
    """Whether a value has changed. A value with a NaN, which is not equal to itself, has not."""
    if value == before:
        return False
    try:
        return marshal.dumps(value, WITHOUT_REFERENCES) != marshal.dumps(before, WITHOUT_REFERENCES)
    except ValueError:
        return True


def as_list(value: Any) -> list[Any]:
    """The items of a function's result as a list. Raises `TypeError` for texts, bytes and dictionaries."""
    if isinstance(value, (str, bytes, dict)):
        raise TypeError(f"a list of states is wanted, and it returned a {type(value).__name__}")
    return list(value)


def without_addresses(text: str) -> str:
    """A text without memory addresses, which differ from run to run."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def _are_small(value: Any, kinds: set[type]) -> bool:
    """Whether all integers in a collection are small enough to be sent. `kinds` are the types of its items."""
    if int not in kinds:
        return True
    whole = value if kinds == {int} else [part for part in value if type(part) is int]
    return min(whole) >= -LARGEST and max(whole) < LARGEST


class _Tagger:
    """Tags a value and counts its characters at the same time, so that it stops early at a value that is too large."""

    def __init__(self, most: int) -> None:
        self.left, self.lost = most, ""

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
        if isinstance(value, (str, bool, int, float)):  # an instance of a subclass
            return self._plain_of(value, depth)
        if isinstance(value, Fraction) and _are_small((value.numerator, value.denominator), {int}):
            return {"q": [value.numerator, value.denominator]}
        return self._opaque(value)

    def _list(self, value: Any, depth: int) -> Any:
        """Tag a list; fast for numbers, strings, lists or tuples of these, and dictionaries with equal keys."""
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
        """The items are sorted: the order of a set would otherwise influence the results of the receiver."""
        tag, kinds = "f" if isinstance(value, frozenset) else "s", set(map(type, value))
        if kinds <= _TEXTS and self._takes_flat(value):
            return {tag: sorted(value)}
        if tag == "s" and kinds == _TUPLES:
            inside = list(chain.from_iterable(value))
            if set(map(type, inside)) <= _TEXTS and self._takes_flat(inside, len(value)):
                return {"S": sorted(value)}
        return {tag: sorted((self.tagged(part, depth) for part in value), key=json.dumps)}

    def _takes_flat(self, value: Any, parts: int = 0) -> bool:
        """Whether all items are numbers or strings; if so, count their characters and those of `parts` containers."""
        kinds = set(map(type, value))
        if not kinds <= _ATOMS or not _are_small(value, kinds):
            return False
        self._take(PART * parts + 20 * len(value))
        if str in kinds:
            texts = value if kinds == _TEXTS else [part for part in value if type(part) is str]
            self._take(sum(map(len, texts)) * (1 if all(map(str.isascii, texts)) else 6))
        return True

    def _plain_of(self, value: Any, depth: int) -> Any:
        """An instance of a subclass, converted to the built-in type."""
        base = next(kind for kind in (str, bool, int, float) if isinstance(value, kind))
        plain = base(value)
        return self.tagged(plain, depth) if type(plain) is base else self._opaque(value)

    def _opaque(self, value: object) -> object:
        if type(value).__module__ == "numpy" and hasattr(value, "tolist") and type(value.tolist()) is not type(value):
            return self.tagged(value.tolist(), 1)
        self.lost = self.lost or f"a value of type {type(value).__name__[:REPR]}"
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


def _whole(value: object) -> int:
    """A numerator or a denominator. Raises `ValueError` for other and for too large values."""
    if type(value) is not int or not -LARGEST <= value < LARGEST:
        raise ValueError("a fraction has two integers")
    return value


class _Reader:
    """Converts tagged values to plain ones, and counts them because the line may be forged."""

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
        if isinstance(value, str):  # lone surrogates cannot be encoded
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
        if tag == "q":
            return Fraction(*map(_whole, parts))
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

    def _rows(self, value: Sequence[Sequence[object]]) -> Sequence[Sequence[object]]:
        """The lists in a list, converted only if they contain other values than numbers and ASCII strings."""
        self._count(len(value))
        if not set(map(type, value)) <= _LISTS | _TUPLES:  # JSON makes lists of tuples
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
