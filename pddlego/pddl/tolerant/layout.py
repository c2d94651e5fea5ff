"""Changes of a text that leave everything else as it was: spaces, line breaks, comments and capitals.

A repair computes the lists that a file should consist of. `edits` compares them with the lists that were read, and
replaces only what differs; a list that moves takes its text along. A `Draft` remembers where its text was in the given
one, so that the position of an error that remains is a position in the text that the user has.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pddlego.pddl.rules import Position
from pddlego.pddl.sexpr import Expression, Sexpr, Source

Section = tuple[Sexpr, ...]
Edit = tuple[int, int, str]
"""The start and the end of what is replaced, and the text that replaces it."""


@dataclass(frozen=True)
class Draft:
    """A text that was made from a given one. `kept` are the pieces of both: their start in each, and their length."""

    given: str
    text: str
    kept: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, text: str) -> Draft:
        return cls(text, text, ((0, 0, len(text)),))

    def edited(self, edits: Iterable[Edit]) -> Draft:
        """The draft after edits that do not overlap."""
        pieces: list[str] = []
        kept: list[tuple[int, int, int]] = []
        done = size = 0
        for start, end, new in (*sorted(edits), (len(self.text), len(self.text), "")):
            kept += self._kept(done, start, size - done)
            pieces += (self.text[done:start], new)
            size += start - done + len(new)
            done = end
        return Draft(self.given, "".join(pieces), tuple(kept))

    def _kept(self, start: int, end: int, shift: int) -> Iterator[tuple[int, int, int]]:
        """The kept pieces between two offsets, moved."""
        for number in range(max(0, bisect_right(self._starts, start) - 1), bisect_left(self._starts, end)):
            here, there, length = self.kept[number]
            first, last = max(here, start), min(here + length, end)
            if first < last:
                yield first + shift, there + first - here, last - first

    @cached_property
    def _starts(self) -> list[int]:
        return [piece[0] for piece in self.kept]

    @cached_property
    def _source(self) -> Source:
        return Source(self.text)

    @cached_property
    def _given_source(self) -> Source:
        return Source(self.given)

    def given_place(self, place: Position) -> Position:
        """The position in the given text of what is at `place`; for what was inserted, that of the text before it."""
        offset = self._source.offset(place)
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return (1, 1)
        here, there, length = self.kept[number]
        return self._given_source.position(there + min(offset - here, max(length - 1, 0)))


def same_or(old: Section, new: Section) -> Section:
    """The old list if the new one is equal to it: it has a text."""
    return old if old == new else new


def written(part: Sexpr) -> str:
    """The text of a part: as it was read, as far as it was read from a text."""
    if isinstance(part, Expression):
        return part.source.text[slice(*part.spans[0])]
    return part if isinstance(part, str) else f"({' '.join(map(written, part))})"


def edits(old: Expression, new: Section) -> Iterator[Edit]:
    """The edits of the text of `old` that make it read as `new`."""
    if old == new:
        return
    here = there = 0
    for left, right in (*_common(old, new), (len(old), len(new))):
        yield from _between(old, here, left, new[there:right])
        here, there = left + 1, right + 1


def _between(old: Expression, start: int, end: int, wanted: Section) -> Iterator[Edit]:
    """The edits that replace some parts of a list by others, none of which are equal."""
    here = there = 0
    gone = old[start:end]
    for left, right in (*_common(tuple(map(_key, gone)), tuple(map(_key, wanted))), (len(gone), len(wanted))):
        yield from _swapped(old, start + here, start + left, wanted[there:right])
        if left < len(gone):
            yield from _replaced(old, start + left, wanted[right])
        here, there = left + 1, right + 1


def _key(part: Sexpr) -> Sexpr:
    """What a list is recognised by if something in it has changed: its first words."""
    if isinstance(part, str):
        return part
    return part[:2] if len(part) > 1 and isinstance(part[1], str) else (part[:1] if part else ())


def _swapped(old: Expression, start: int, end: int, wanted: Section) -> Iterator[Edit]:
    both = min(end - start, len(wanted))
    for number in range(both):
        yield from _replaced(old, start + number, wanted[number])
    for number in range(start + both, end):
        yield _removed(old, number)
    if both < len(wanted):
        yield _inserted(old, start + both - 1, wanted[both:])


def _replaced(old: Expression, number: int, part: Sexpr) -> Iterator[Edit]:
    before = old[number]
    if (
        isinstance(before, Expression)
        and isinstance(part, tuple)
        and not isinstance(part, Expression)
        and _common(before, part)
    ):
        yield from edits(before, part)
    elif before != part:
        start, end = old.spans[number + 1]
        yield start, end, _apart(old.source.text, start, end, written(part))


def _removed(old: Expression, number: int) -> Edit:
    """Remove a part with the space before it, unless a comment stands there."""
    start, end = old.spans[number + 1]
    first = start
    while old.source.text[first - 1].isspace():
        first -= 1
    if first > (old.spans[number][1] if number else old.spans[0][0] + 1):
        first = start
    return first, end, _apart(old.source.text, first, end, "")


def _inserted(old: Expression, number: int, parts: Section) -> Edit:
    """Insert parts behind a part, or at the beginning of a list (-1)."""
    source = old.source.text
    if number < 0:
        place = old.spans[0][0] + 1
        return place, place, _apart(source, place, place, " ".join(map(written, parts)))
    place = old.spans[number + 1][1]
    start = old.spans[min(max(number, 2), len(old) - 1) + 1][0]  # what follows the name of a list has its own spacing
    before = source[len(source[:start].rstrip()) : start] if any(isinstance(part, tuple) for part in parts) else ""
    space = "\n" + before.rpartition("\n")[2] if "\n" in before else " "
    text = "".join(f"{space}{written(part)}" for part in parts)
    return place, place, _apart(source, place, place, text)


def _apart(source: str, start: int, end: int, new: str) -> str:
    """The new text, with the spaces without which it would be glued to its neighbours."""
    left, right = source[max(0, start - 1) : start], source[end : end + 1]
    if not new:
        return " " if _is_word(left) and _is_word(right) else ""
    return " " * (_is_word(left) and _is_word(new[0])) + new + " " * (_is_word(new[-1]) and _is_word(right))


def _is_word(character: str) -> bool:
    return re.fullmatch(r"[^\s();]", character) is not None


def _common(old: Sequence[Sexpr], new: Sequence[Sexpr]) -> list[tuple[int, int]]:
    """The places of parts that both lists have in the same order: a longest increasing sequence of the equal ones."""
    places: dict[Sexpr, list[int]] = defaultdict(list)
    for number in range(len(old) - 1, -1, -1):
        places[old[number]].append(number)
    pairs = [(places[part].pop(), number) for number, part in enumerate(new) if places.get(part)]
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (place, _) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [index]
    chosen: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = before[index]
    return chosen[::-1]
