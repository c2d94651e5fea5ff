"""S-expressions, the layer below PDDL: a text becomes nested tuples of lower-case words, with the position of each
list.

The reader does not stop at the first error: it returns every readable expression and all defects, so that a check can
report every error of a text at once.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from pddlego.pddl.rules import Defect, DefectKind, Position, syntax_defect, warning

Sexpr: TypeAlias = "str | tuple[Sexpr, ...]"

_MAX_DEPTH = 100
"""The maximum depth of nested parentheses. Real domains stay below 15."""

TOKEN = re.compile(r"[()]|[^\s();][^\s();?]*(?:(?:(?<=[_-])\?|\?(?![A-Za-z]))[^\s();?]*)*|;[^\r\n]*")
"""A parenthesis, a word or a comment. A `?` before a letter begins a new word, except after `-` or `_`."""

_GLUED = re.compile(r"[^\s();?_-](\?[A-Za-z][^\s();?]*)|;[^\r\n]*")
"""A variable without a space before it, as in `at?x`, or a comment."""

LINE_BREAK = re.compile(r"\r\n?|\n")
"""The end of a line, on any system."""


NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)\Z", re.ASCII)

MAX_NUMBER = 100
"""The maximum length of a number, with which sums and common denominators stay below the digits that Python prints."""


_Span: TypeAlias = tuple[int, int]
"""The offsets of the start and the end of an expression in a text."""


@dataclass(frozen=True)
class Source:
    """A text whose offsets can be converted into positions and back."""

    text: str

    @cached_property
    def _lines(self) -> list[int]:
        """The offset at which each line starts."""
        return [0, *(match.end() for match in LINE_BREAK.finditer(self.text))]

    def position(self, offset: int) -> Position:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def offset(self, position: Position) -> int:
        line, column = position
        return min(self._lines[min(line, len(self._lines)) - 1] + column - 1, len(self.text))


class Expression(tuple[Sexpr, ...]):
    """A list that was read from `source`. `spans` holds the span of the list, then the span of each part."""

    source: Source
    spans: list[_Span]


def place_of(part: Sexpr) -> Position | None:
    """The position of a list in its text; None for a word, and for a list that was not read from a text."""
    return part.source.position(part.spans[0][0]) if isinstance(part, Expression) else None


def place_at(parts: Sequence[Sexpr], number: int) -> Position | None:
    """The position of part `number` of a list; None if the list was not read from a text."""
    return parts.source.position(parts.spans[number + 1][0]) if isinstance(parts, Expression) else None


def placed(parts: Sequence[Sexpr], start: int = 0) -> Iterator[tuple[Sexpr, Position | None]]:
    """The parts of a list from number `start` on, each with its position."""
    return ((parts[number], place_at(parts, number)) for number in range(start, len(parts)))


@dataclass(frozen=True)
class SexprReading:
    """The top-level expressions of a text in order, and its defects.

    `unclosed` is the number of missing closing parentheses, `extra` the offsets of unmatched closing parentheses.
    """

    expressions: Expression
    defects: tuple[Defect, ...] = ()
    unclosed: int = 0
    extra: tuple[int, ...] = ()

    @property
    def warnings(self) -> Iterator[Defect]:
        """A warning for each variable without a space before it, which is read as a separate word."""
        source = self.expressions.source
        for match in _GLUED.finditer(source.text):
            if match[1] is not None:
                fault, place = f"there is no space before {match[1]}", source.position(match.start(1))
                yield warning(DefectKind.GLUED_VARIABLE, match[1], fault, "write one", place)


def read_sexprs(text: str) -> SexprReading:
    """Read all expressions of `text`. Total: any string gives a reading.

    Open lists are closed at the end of the text, and unmatched closing parentheses are skipped. A text with deeper
    nesting than `_MAX_DEPTH` gives no expressions. Each of these is a defect.
    """
    source = Source(text)
    items: list[Sexpr] = []
    spans: list[_Span] = [(0, len(text))]
    stack: list[tuple[list[Sexpr], list[_Span]]] = []
    extra: list[int] = []
    defects: list[Defect] = []
    for match in TOKEN.finditer(text):
        token = match.group()
        if token == "(":
            if len(stack) >= _MAX_DEPTH:
                fault = f"parentheses are nested more than {_MAX_DEPTH} deep: the text is read no further"
                defect = syntax_defect(fault, "simplify the condition", source.position(match.start()))
                return SexprReading(_expression(Source(""), [], [(0, 0)]), (defect,))
            stack.append((items, spans))
            items, spans = [], [match.span()]
        elif token == ")" and stack:
            expression = Expression(items)
            expression.source, expression.spans = source, spans
            spans[0] = span = spans[0][0], match.end()
            items, spans = stack.pop()
            items.append(expression)
            spans.append(span)
        elif token == ")":
            extra.append(match.start())
        elif token[0] != ";":
            items.append(token.lower())
            spans.append(match.span())
            if len(token) > MAX_NUMBER and NUMBER.match(token):
                fault, advice = f"a number has {len(token):,} characters", f"write one of at most {MAX_NUMBER}"
                defects.append(syntax_defect(fault, advice, source.position(match.start())))
    if extra:
        fault = f"unbalanced parenthesis: {len(extra)} closing one(s) too many"
        defects.append(syntax_defect(fault, "remove it", source.position(extra[0])))
    unclosed = len(stack)
    if unclosed:
        start = spans[0][0]
        place = source.position(start)
        excerpt = " ".join(LINE_BREAK.sub("\n", text[start : start + 60])[:30].split())
        fault = f"unbalanced parenthesis: {unclosed} closing one(s) missing; "
        fault += f"the one opened at line {place[0]}, '{excerpt}' is open"
        defects.append(syntax_defect(fault, "close it where it should end", place))
    while stack:
        spans[0] = spans[0][0], len(text)
        expression = _expression(source, items, spans)
        items, spans = stack.pop()
        items.append(expression)
        spans.append(expression.spans[0])
    return SexprReading(_expression(source, items, spans), tuple(defects), unclosed, tuple(extra))


def _expression(source: Source, items: list[Sexpr], spans: list[_Span]) -> Expression:
    expression = Expression(items)
    expression.source, expression.spans = source, spans
    return expression


def at_words(text: str, defects: Iterable[Defect]) -> Iterator[Defect]:
    """The defects, each with the position of its `word` in place of the position of the list around the word."""
    source = Source(text)
    offsets: dict[str, list[int]] = {}  # of each word, in order; made for the first defect that needs it
    for defect in defects:
        if not (defect.word and defect.place):
            yield defect
            continue
        if not offsets:
            for token in TOKEN.finditer(text):
                offsets.setdefault(token.group().lower(), []).append(token.start())
        places = offsets.get(defect.word.partition(" ")[0], [])
        after = bisect_left(places, source.offset(defect.place))
        yield replace(defect, place=source.position(places[after])) if after < len(places) else defect


def show(expression: Sexpr) -> str:
    """The expression on one line, in canonical spacing."""
    if isinstance(expression, str):
        return expression
    return "(" + " ".join(show(part) for part in expression) + ")"
