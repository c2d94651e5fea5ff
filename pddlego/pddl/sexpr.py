"""S-expressions: the layer below PDDL. Text in, nested tuples of lower-case words out, each list with its position.

Reading never stops at the first error: it returns every expression that can be read and a list of defects, so that a
check can report everything that is wrong with a text at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TypeAlias

from pddlego.pddl.rules import Defect, DefectKind, Position, syntax_defect, warning

Sexpr: TypeAlias = "str | tuple[Sexpr, ...]"

MAX_DEPTH = 100
"""Deepest nesting that is read. Real domains stay below 15; beyond this a text is an accident or an attack."""

TOKEN = re.compile(r"[()]|[^\s();][^\s();?]*(?:(?:(?<=[_-])\?|\?(?![A-Za-z]))[^\s();?]*)*|;[^\r\n]*")

_GLUED = re.compile(r"[^\s();?_-](\?[A-Za-z][^\s();?]*)|;[^\r\n]*")
"""A variable that is not separated from the word before it, or a comment."""

LINE_BREAK = re.compile(r"\r\n?|\n")
"""The end of a line, on any system."""


NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)\Z", re.ASCII)

MAX_NUMBER = 100
"""Characters of a number: sums and common denominators of costs stay far below the 4,300 digits that Python prints."""


class Expression(tuple[Sexpr, ...]):
    """A list that was read from a text. `places` holds the position of its parenthesis, then those of its parts."""

    places: list[Position]


def place_of(part: Sexpr) -> Position | None:
    """The position of a list that was read from a text; None for a word, and for a list that code made."""
    return part.places[0] if isinstance(part, Expression) else None


def placed(part: Iterable[Sexpr], start: int = 0) -> Iterator[tuple[Sexpr, Position | None]]:
    """The parts of a list from number `start` on, each with its position."""
    parts = tuple(part)[start:]
    return zip(parts, part.places[start + 1 :] if isinstance(part, Expression) else repeat(None), strict=False)


@dataclass(frozen=True)
class SexprReading:
    """The top-level expressions of a text in order, and its defects. `unclosed` counts missing parentheses, `extra`
    those that close nothing. `warnings` are about variables without a space before them."""

    expressions: Expression
    defects: tuple[Defect, ...] = ()
    warnings: tuple[Defect, ...] = ()
    unclosed: int = 0
    extra: int = 0


def read_sexprs(text: str) -> SexprReading:
    """Read all expressions of `text`. Total: any string gives a reading.

    A parenthesis that is never closed is closed at the end of the text, a closing one too many is skipped, and nesting
    deeper than `MAX_DEPTH` ends the reading; each of these is a defect.
    """
    items: list[Sexpr] = []
    places = [(1, 1)]
    stack: list[tuple[list[Sexpr], list[Position]]] = []
    extra: list[Position] = []
    defects: list[Defect] = []
    for number, line in enumerate(LINE_BREAK.split(text.lower()), start=1):
        for match in TOKEN.finditer(line):
            token, place = match.group(), (number, match.start() + 1)
            if token == "(":
                if len(stack) >= MAX_DEPTH:
                    message = f"parentheses are nested more than {MAX_DEPTH} deep: the text is read no further"
                    return SexprReading(_expression([], [(1, 1)]), (syntax_defect(message, place),))
                places.append(place)
                stack.append((items, places))
                items, places = [], [place]
            elif token == ")":
                if stack:
                    whole = Expression(items)
                    whole.places = places
                    items, places = stack.pop()
                    items.append(whole)
                else:
                    extra.append(place)
            elif token[0] != ";":
                items.append(token)
                places.append(place)
                if len(token) > MAX_NUMBER and NUMBER.match(token):
                    message = f"a number has {len(token):,} characters; write one of at most {MAX_NUMBER}"
                    defects.append(syntax_defect(message, place))
    if extra:
        defects.append(syntax_defect(f"unbalanced parenthesis: {len(extra)} closing one(s) too many", extra[0]))
    unclosed, innermost = len(stack), places[0]
    while stack:
        whole = _expression(items, places)
        items, places = stack.pop()
        items.append(whole)
    if unclosed:
        message = f"unbalanced parenthesis: {unclosed} closing one(s) missing; "
        message += f"the one opened at line {innermost[0]}, '{_excerpt(text, innermost)}' is open"
        defects.append(syntax_defect(message, innermost))
    return SexprReading(_expression(items, places), tuple(defects), tuple(_glued(text)), unclosed, len(extra))


def _glued(text: str) -> Iterator[Defect]:
    """Every variable that is glued to the word before it: it is read as if there were a space."""
    for number, line in enumerate(LINE_BREAK.split(text) if "?" in text else (), start=1):
        for match in _GLUED.finditer(line):
            variable = match.group(1)
            if variable is not None:
                message = f"there is no space before {variable}; write one"
                yield warning(DefectKind.GLUED_VARIABLE, variable, message, (number, match.start(1) + 1))


def at_words(text: str, defects: Iterable[Defect]) -> Iterator[Defect]:
    """The defects, each at the word in question instead of at the parenthesis before it."""
    lines = LINE_BREAK.split(text.lower())
    for defect in defects:
        place = _find(lines, defect.word, defect.place) if defect.word and defect.place else None
        yield replace(defect, place=place) if place else defect


def _find(lines: list[str], word: str, start: Position) -> Position | None:
    """The position of the first such word from `start` on."""
    first, column = start
    for number in range(first, len(lines) + 1):
        for match in TOKEN.finditer(lines[number - 1], column - 1 if number == first else 0):
            if match.group() == word:
                return number, match.start() + 1
    return None


def show(expression: Sexpr) -> str:
    """The expression on one line, in canonical spacing."""
    if isinstance(expression, str):
        return expression
    return "(" + " ".join(show(part) for part in expression) + ")"


def _expression(items: list[Sexpr], places: list[Position]) -> Expression:
    expression = Expression(items)
    expression.places = places
    return expression


def _excerpt(text: str, place: Position) -> str:
    line, column = place
    rest = "\n".join(LINE_BREAK.split(text)[line - 1 :])
    return " ".join(rest[column - 1 : column + 29].split())
