"""S-expressions: the layer below PDDL. Text in, nested tuples of lower-case words out.

Reading never stops at the first fault: it returns all expressions that can be made out and a list of what was wrong,
so that a check can show every fault of a text at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

Sexpr: TypeAlias = "str | tuple[Sexpr, ...]"

MAX_DEPTH = 100
"""Deepest nesting that is read. Real domains stay below 15; beyond this a text is an accident or an attack."""

_TOKEN = re.compile(r";[^\n]*|[()]|[^\s();]+")


class PddlSyntaxError(ValueError):
    """A text is not the PDDL it should be. `faults` lists everything that is wrong, one sentence each."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


@dataclass(frozen=True)
class SexprReading:
    """What could be read: top-level expressions in order, and the faults of the text."""

    expressions: tuple[Sexpr, ...]
    faults: tuple[str, ...]


def read_sexprs(text: str) -> SexprReading:
    """Read all expressions of `text`. Total: any string gives a reading.

    A parenthesis that is never closed is closed at the end of the text, a closing one too many is skipped, and nesting
    deeper than `MAX_DEPTH` ends the reading; each of these is a fault.
    """
    stack: list[tuple[int, list[Sexpr]]] = []
    top: list[Sexpr] = []
    faults: list[str] = []
    stray = 0
    for token, position in _tokens(text):
        if token == "(":
            if len(stack) >= MAX_DEPTH:
                faults.append(f"parentheses are nested more than {MAX_DEPTH} deep: the text is read no further")
                return SexprReading((), tuple(faults))
            stack.append((position, []))
        elif token == ")":
            if stack:
                _, items = stack.pop()
                (stack[-1][1] if stack else top).append(tuple(items))
            else:
                stray += 1
        else:
            (stack[-1][1] if stack else top).append(token)
    if stray:
        faults.append(f"unbalanced parenthesis: {stray} closing one(s) too many")
    if stack:
        where = _place(text, stack[-1][0])
        faults.append(f"unbalanced parenthesis: {len(stack)} closing one(s) missing; the one opened at {where} is open")
        while stack:
            _, items = stack.pop()
            (stack[-1][1] if stack else top).append(tuple(items))
    return SexprReading(tuple(top), tuple(faults))


def show(expression: Sexpr) -> str:
    """The expression on one line, in canonical spacing."""
    if isinstance(expression, str):
        return expression
    return "(" + " ".join(show(part) for part in expression) + ")"


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    for match in _TOKEN.finditer(text):
        token = match.group()
        if not token.startswith(";"):
            yield token.lower(), match.start()


def _place(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    excerpt = " ".join(text[position : position + 30].split())
    return f"line {line}, '{excerpt}'"
