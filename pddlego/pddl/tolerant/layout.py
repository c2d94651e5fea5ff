"""Edits of a text that keep the spaces, line breaks, comments and capitals of its other parts.

A repair computes the lists of the repaired file. `edits` compares them with the lists that were read, and replaces only
what differs; a list that moves keeps its text. An `EditedText` maps its positions to the original text, so that the
position of a remaining error is a position in the user's file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pddlego.pddl.parentheses import Edit
from pddlego.pddl.rules import Position
from pddlego.pddl.sexpr import Expression, Sexpr, Source

Section = tuple[Sexpr, ...]


@dataclass(frozen=True)
class EditedText:
    """A text that was edited. `kept` are its unchanged pieces: start in the draft, start in the original, length."""

    original: str
    text: str
    kept: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, text: str) -> EditedText:
        return cls(text, text, ((0, 0, len(text)),))

    def edited(self, edits: Iterable[Edit]) -> EditedText:
        """The draft after edits that do not overlap."""
        pieces: list[str] = []
        kept: list[tuple[int, int, int]] = []
        done = size = 0
        for start, end, new in (*sorted(edits, key=lambda edit: edit[:2]), (len(self.text), len(self.text), "")):
            kept += self._kept(done, start, size - done)
            pieces += (self.text[done:start], new)
            size += start - done + len(new)
            done = end
        return EditedText(self.original, "".join(pieces), tuple(kept))

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
    def _original_source(self) -> Source:
        return Source(self.original)

    def original_place(self, place: Position) -> Position:
        """The position in the original text; for inserted text, the position of the text before it."""
        offset = self._source.offset(place)
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return (1, 1)
        here, there, length = self.kept[number]
        return self._original_source.position(there + min(offset - here, max(length - 1, 0)))


def same_or(old: Section, new: Section) -> Section:
    """The old list if the new one is equal to it, because only the old list knows its text."""
    return old if old == new else new


def text_of(part: Sexpr) -> str:
    """The text of a part; parts that were read keep the text that they were read from."""
    if isinstance(part, Expression):
        return part.source.text[slice(*part.spans[0])]
    return part if isinstance(part, str) else f"({' '.join(map(text_of, part))})"


def edits(old: Expression, new: Section) -> Iterator[Edit]:
    """The edits of the text of `old` that make it read as `new`."""
    if old == new:
        return
    here = there = 0
    for left, right in (*_common(old, new), (len(old), len(new))):
        yield from _between(old, here, left, new[there:right])
        here, there = left + 1, right + 1


def _between(old: Expression, start: int, end: int, wanted: Section) -> Iterator[Edit]:
    """The edits that replace parts of a list by other parts, where no old part is equal to a new one."""
    here = there = 0
    gone = old[start:end]
    for left, right in (*_common(tuple(map(_key, gone)), tuple(map(_key, wanted))), (len(gone), len(wanted))):
        yield from _swapped(old, start + here, start + left, wanted[there:right])
        if left < len(gone):
            yield from _replaced(old, start + left, wanted[right])
        here, there = left + 1, right + 1


def _key(part: Sexpr) -> Sexpr:
    """The first words of a list, by which a list with changes inside is recognised."""
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
        yield start, end, _apart(old.source.text, start, end, text_of(part))


def _removed(old: Expression, number: int) -> Edit:
    """The edit that removes a part and the space before it, unless a comment is before it."""
    start, end = old.spans[number + 1]
    first = start
    while old.source.text[first - 1].isspace():
        first -= 1
    if first > (old.spans[number][1] if number else old.spans[0][0] + 1):
        first = start
    return first, end, _apart(old.source.text, first, end, "")


def _inserted(old: Expression, number: int, parts: Section) -> Edit:
    """The edit that inserts parts behind part `number`, or at the beginning of a list (-1)."""
    source = old.source.text
    if number < 0:
        place = old.spans[0][0] + 1
        return place, place, _apart(source, place, place, " ".join(map(text_of, parts)))
    place = old.spans[number + 1][1]
    start = old.spans[min(max(number, 2), len(old) - 1) + 1][0]  # the spacing after the name of a list may be special
    before = source[len(source[:start].rstrip()) : start] if any(isinstance(part, tuple) for part in parts) else ""
    space = "\n" + before.rpartition("\n")[2] if "\n" in before else " "
    text = "".join(f"{space}{text_of(part)}" for part in parts)
    return place, place, _apart(source, place, place, text)


def _apart(source: str, start: int, end: int, new: str) -> str:
    """The new text, with spaces where it would touch a neighbouring word."""
    left, right = source[max(0, start - 1) : start], source[end : end + 1]
    if not new:
        return " " if _is_word(left) and _is_word(right) else ""
    return " " * (_is_word(left) and _is_word(new[0])) + new + " " * (_is_word(new[-1]) and _is_word(right))


def _is_word(character: str) -> bool:
    return re.fullmatch(r"[^\s();]", character) is not None


def _common(old: Sequence[Sexpr], new: Sequence[Sexpr]) -> list[tuple[int, int]]:
    """The pairs of indices of equal parts, in the same order in both lists (a longest increasing subsequence)."""
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
