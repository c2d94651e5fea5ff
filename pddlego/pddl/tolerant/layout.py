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
from pddlego.pddl.sexpr import LINE_BREAK, MAX_DEPTH, TOKEN, Sexpr

Section = tuple[Sexpr, ...]
Span = tuple[int, int]
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
    def _lines(self) -> list[int]:
        return _line_starts(self.text)

    @cached_property
    def _given_lines(self) -> list[int]:
        return _line_starts(self.given)

    def given_place(self, place: Position) -> Position:
        """The position in the given text of what is at `place`; for what was inserted, that of the text before it."""
        line, column = place
        offset = min(self._lines[min(line, len(self._lines)) - 1] + column - 1, len(self.text))
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return (1, 1)
        here, there, length = self.kept[number]
        origin = there + min(offset - here, max(length - 1, 0))
        line = bisect_right(self._given_lines, origin)
        return line, origin - self._given_lines[line - 1] + 1


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in LINE_BREAK.finditer(text))]


class Node(tuple[Sexpr, ...]):
    """A list that was read from `source`. `spans` holds the place of the whole list, then those of its parts."""

    source: str
    spans: list[Span]


@dataclass(frozen=True)
class Nodes:
    """The lists of a text. `unclosed` lists are not closed, and `extra` are the places of parentheses too many."""

    whole: Node
    unclosed: int = 0
    extra: tuple[int, ...] = ()


def read_nodes(text: str) -> Nodes:
    """Read the lists of a text as `read_sexprs` does. Nothing is read of a text that is nested too deeply."""
    parts: list[Sexpr] = []
    spans: list[Span] = [(0, len(text))]
    stack: list[tuple[list[Sexpr], list[Span]]] = []
    extra: list[int] = []
    for match in TOKEN.finditer(text):
        token, (start, end) = match.group(), match.span()
        if token == "(":
            if len(stack) >= MAX_DEPTH:
                return Nodes(_node(text, [], [(0, len(text))]))
            stack.append((parts, spans))
            parts, spans = [], [(start, start)]
        elif token == ")" and stack:
            whole = _node(text, parts, [(spans[0][0], end), *spans[1:]])
            parts, spans = stack.pop()
            parts.append(whole)
            spans.append(whole.spans[0])
        elif token == ")":
            extra.append(start)
        elif token[0] != ";":
            parts.append(token.lower())
            spans.append((start, end))
    unclosed = len(stack)
    while stack:
        whole = _node(text, parts, [(spans[0][0], len(text)), *spans[1:]])
        parts, spans = stack.pop()
        parts.append(whole)
        spans.append(whole.spans[0])
    return Nodes(_node(text, parts, spans), unclosed, tuple(extra))


def _node(text: str, parts: list[Sexpr], spans: list[Span]) -> Node:
    node = Node(parts)
    node.source, node.spans = text, spans
    return node


def same_or(old: Section, new: Section) -> Section:
    """The old list if the new one is equal to it: it has a text."""
    return old if old == new else new


def written(part: Sexpr) -> str:
    """The text of a part: as it was read, as far as it was read from a text."""
    if isinstance(part, Node):
        return part.source[slice(*part.spans[0])]
    return part if isinstance(part, str) else f"({' '.join(map(written, part))})"


def edits(old: Node, new: Section) -> Iterator[Edit]:
    """The edits of the text of `old` that make it read as `new`."""
    if old == new:
        return
    here = there = 0
    for left, right in (*_common(old, new), (len(old), len(new))):
        yield from _between(old, here, left, new[there:right])
        here, there = left + 1, right + 1


def _between(old: Node, start: int, end: int, wanted: Section) -> Iterator[Edit]:
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


def _swapped(old: Node, start: int, end: int, wanted: Section) -> Iterator[Edit]:
    both = min(end - start, len(wanted))
    for number in range(both):
        yield from _replaced(old, start + number, wanted[number])
    for number in range(start + both, end):
        yield _removed(old, number)
    if both < len(wanted):
        yield _inserted(old, start + both - 1, wanted[both:])


def _replaced(old: Node, number: int, part: Sexpr) -> Iterator[Edit]:
    before = old[number]
    if isinstance(before, Node) and isinstance(part, tuple) and not isinstance(part, Node) and _common(before, part):
        yield from edits(before, part)
    elif before != part:
        start, end = old.spans[number + 1]
        yield start, end, _apart(old.source, start, end, written(part))


def _removed(old: Node, number: int) -> Edit:
    """Remove a part with the space before it, unless a comment stands there."""
    start, end = old.spans[number + 1]
    first = start
    while old.source[first - 1].isspace():
        first -= 1
    if first > (old.spans[number][1] if number else old.spans[0][0] + 1):
        first = start
    return first, end, _apart(old.source, first, end, "")


def _inserted(old: Node, number: int, parts: Section) -> Edit:
    """Insert parts behind a part, or at the beginning of a list (-1)."""
    if number < 0:
        place = old.spans[0][0] + 1
        return place, place, _apart(old.source, place, place, " ".join(map(written, parts)))
    place = old.spans[number + 1][1]
    start = old.spans[min(max(number, 2), len(old) - 1) + 1][0]  # what follows the name of a list has its own spacing
    space = old.source[len(old.source[:start].rstrip()) : start] if any(isinstance(one, tuple) for one in parts) else ""
    space = "\n" + space.rpartition("\n")[2] if "\n" in space else " "
    text = "".join(f"{space}{written(part)}" for part in parts)
    return place, place, _apart(old.source, place, place, text)


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
