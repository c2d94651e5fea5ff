"""A PDDL file that is being edited, as a value: its text, its expressions with positions, and the names in it."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias
from urllib.parse import unquote

from pddlego.pddl.conditions import CONSTRAINTS
from pddlego.pddl.domain import Domain, read_domain
from pddlego.pddl.sexpr import LINE_BREAK, NUMBER, TOKEN, Expression, Sexpr, Source, read_sexprs, show

MAX_TEXT = 1_000_000
"""The maximum length of a text, in characters."""

Kind = Literal["type", "predicate", "action", "object", "variable"]
"""The kind of a name. Functions count as predicates, because their uses look the same."""

Key: TypeAlias = "tuple[Kind, str, int]"
"""The kind, the name, and for variables the offset of the list that declares them (otherwise -1)."""

CONNECTIVES = frozenset(
    {"and", "or", "not", "imply", "when", "forall", "exists", "=", "<", ">", "<=", ">=", "+", "-", "*", "/", "assign"}
    | {"increase", "decrease", "scale-up", "scale-down", "minimize", "maximize"}
)
TIMES = {("at", "start"), ("at", "end"), ("over", "all")}
ACTIONS = (":action", ":durative-action")
_WORDS = CONNECTIVES | {
    *("preference", "is-violated", "object", "number", "either", "define", "domain", "problem", "total-time"),
    *("#t", "?duration"),
}
"""Words of the language, which are declared nowhere."""

_WIDE = re.compile("[\U00010000-\U0010ffff]")

_MAX_SHOWN = 500
"""The maximum length of each part of a signature: one type may be repeated for each of many names."""


@dataclass(frozen=True)
class Symbol:
    """One occurrence of a name, between two offsets. `signature` is empty unless it is the declaration; `part` is the
    section or the action that holds it."""

    key: Key
    start: int
    end: int
    part: str
    signature: str = ""


@dataclass(frozen=True)
class Document:
    """A domain or a problem with its `uri`. Total: any text is a document, and broken ones have the names that can be
    read. One that `is_too_long` has an empty text. `version` is the editor's number of the text."""

    uri: str
    text: str
    is_too_long: bool = False
    version: int | None = None

    @property
    def name(self) -> str:
        """The name of the file."""
        return unquote(self.uri.rpartition("/")[2])

    @cached_property
    def source(self) -> Source:
        return Source(self.text)

    @cached_property
    def wide(self) -> list[int]:
        """The offsets of the characters that are two units of UTF-16, so that a long line is counted once."""
        return [match.start() for match in _WIDE.finditer(self.text)]

    @cached_property
    def tree(self) -> Expression:
        """The top-level expressions; lists that are still open end at the end of the text."""
        return read_sexprs(self.text).expressions

    @cached_property
    def define(self) -> Expression:
        """The expression `(define …)`, or an empty one."""
        lists = (part for part in self.tree if isinstance(part, Expression) and part[:1] == ("define",))
        return next(lists, read_sexprs("").expressions)

    @cached_property
    def names(self) -> dict[str, str]:
        """The names after `domain`, `problem` and `:domain`."""
        heads = (part for part in self.define if isinstance(part, tuple) and len(part) == 2)
        return {part[0]: part[1] for part in heads if isinstance(part[0], str) and isinstance(part[1], str)}

    @property
    def is_problem(self) -> bool:
        return "problem" in self.names or ":domain" in self.names

    @cached_property
    def domain(self) -> Domain:
        """The readable part of the domain."""
        return read_domain(self.text).domain

    @cached_property
    def symbols(self) -> tuple[Symbol, ...]:
        """All names, in the order of the text."""
        return tuple(sorted(_sections(self.define), key=lambda symbol: symbol.start))

    def symbol_at(self, offset: int) -> Symbol | None:
        """The name that covers an offset, or that ends there."""
        return next((symbol for symbol in self.symbols if symbol.start <= offset <= symbol.end), None)

    def lists_at(self, offset: int) -> list[Expression]:
        """The lists around an offset, from the outermost to the innermost. An open one ends with the text."""
        around, lists = [], [self.tree]
        while lists:
            lists = [part for part in lists[0] if isinstance(part, Expression) and _covers(part, offset)]
            around += lists
        return around

    def comment(self, symbol: Symbol) -> str:
        """The comment after a name on its line, or the comment lines directly before that line."""
        lines = LINE_BREAK.split(self.text)
        number = self.source.position(symbol.start)[0] - 1
        comment = next((token[0] for token in TOKEN.finditer(lines[number]) if token[0][0] == ";"), "")
        above = number
        while not comment and above and lines[above - 1].lstrip().startswith(";"):
            above -= 1
        block = [comment] if comment else lines[above:number]
        return "\n".join(line.strip().lstrip("; ") for line in block)


def _covers(part: Expression, offset: int) -> bool:
    start, end = part.spans[0]
    return start < offset and (offset < end or end == len(part.source.text))


def _sections(define: Expression) -> Iterator[Symbol]:
    for section, span in zip(define, define.spans[1:], strict=True):
        head = section[0] if isinstance(section, Expression) and section else ""
        if not isinstance(section, Expression) or not isinstance(head, str):
            continue
        if head in (":types", ":constants", ":objects"):
            yield from _typed(section, 1, "type" if head == ":types" else "object", head)
        elif head in (":predicates", ":functions"):
            for atom, place in zip(section, section.spans[1:], strict=True):
                yield from _atom(atom, head, place[0], show(atom))
        elif head in ACTIONS and len(section) > 1:
            yield from _action(section, span[0])
        elif head == ":derived" and len(section) > 1:
            yield from _atom(section[1], head, span[0])
            yield from _formulas(section, 2, ChainMap(_variables(section[1], span[0])), head)
        elif head in (":init", ":goal", ":metric", ":constraints"):
            yield from _formulas(section, 1, ChainMap(), head)


def _action(section: Expression, scope: int) -> Iterator[Symbol]:
    name = show(section[1])
    part = f"action {name}"[:200]
    fields = list(zip(section[2::2], section[3::2], strict=False))
    parameters = dict(fields).get(":parameters", ())
    yield from _named(section, 1, "action", part, f"({' '.join((name, show(parameters)[1:-1])).strip()})")
    if isinstance(parameters, Expression):
        yield from _typed(parameters, 0, "variable", part, scope)
    variables = ChainMap(_variables(parameters, scope))
    for keyword, field in fields:
        if keyword != ":parameters" and isinstance(field, Expression) and field:
            yield from _formula(field, variables, part)


def _atom(atom: Sexpr, part: str, scope: int, signature: str = "") -> Iterator[Symbol]:
    """A predicate or a function with its typed variables."""
    if isinstance(atom, Expression) and atom:
        yield from _named(atom, 0, "predicate", part, signature)
        yield from _typed(atom, 1, "variable", part, scope)


def _variables(parameters: Sexpr, scope: int) -> dict[str, int]:
    return {word: scope for word in parameters if isinstance(word, str) and word[0] == "?"}


def _named(
    parts: Expression, number: int, kind: Kind, part: str, signature: str = "", scope: int = -1
) -> Iterator[Symbol]:
    """The word with this number in a list, if it is a name."""
    word = parts[number]
    if isinstance(word, str) and word not in _WORDS and not NUMBER.match(word) and word[0] not in ":(":
        yield Symbol((kind, word, scope), *parts.spans[number + 1], part, signature)


def _typed(parts: Expression, start: int, kind: Kind, part: str, scope: int = -1) -> Iterator[Symbol]:
    """A list of names with types: each name is declared, each type is used."""
    for number in range(start, len(parts) + 1):
        if number < len(parts) and parts[number] != "-":
            continue
        of_type = parts[number + 1] if number + 1 < len(parts) else ""
        ending = f" - {show(of_type)[:_MAX_SHOWN]}" if of_type else ""
        for name in range(start, number):
            yield from _named(parts, name, kind, part, f"{show(parts[name])[:_MAX_SHOWN]}{ending}", scope)
        if isinstance(of_type, Expression):
            for choice in range(1, len(of_type)):
                yield from _named(of_type, choice, "type", part)
        elif of_type:
            yield from _named(parts, number + 1, "type", part)
        start = number + 2


def _formulas(parts: Expression, start: int, variables: ChainMap[str, int], part: str) -> Iterator[Symbol]:
    """The names in the parts of a list from number `start` on: words are arguments, lists are formulas."""
    for number in range(start, len(parts)):
        node = parts[number]
        if isinstance(node, Expression) and node:
            yield from _formula(node, variables, part)
        elif isinstance(node, str):
            kind: Kind = "variable" if node[0] == "?" else "object"
            yield from _named(parts, number, kind, part, scope=variables.get(node, -1))


def _formula(node: Expression, variables: ChainMap[str, int], part: str) -> Iterator[Symbol]:
    if node[0] in ("forall", "exists") and len(node) > 1 and isinstance(node[1], Expression):
        scope = node.spans[0][0]
        yield from _typed(node[1], 0, "variable", part, scope)
        yield from _formulas(node, 2, variables.new_child(_variables(node[1], scope)), part)
    elif node[:2] in TIMES or (node[0] == "at" and len(node) == 3 and isinstance(node[2], tuple)):
        yield from _formulas(node, 2, variables, part)
    else:
        if part != ":constraints" or node[0] not in CONSTRAINTS:
            yield from _named(node, 0, "predicate", part)
        yield from _formulas(node, 0 if isinstance(node[0], tuple) else 1, variables, part)
