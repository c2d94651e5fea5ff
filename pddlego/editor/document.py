"""A PDDL file that is being edited, as a value: its text, its expressions with positions, and the names in it."""

from __future__ import annotations

import re
from collections import ChainMap, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, cast

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
    | {"increase", "decrease", "scale-up", "scale-down", "minimize", "maximize", "preference", "always", "sometime"}
)
TIMES = {("at", "start"), ("at", "end"), ("over", "all")}
ACTIONS = (":action", ":durative-action")
_WORDS = frozenset(["object", "number", "either", "define", "domain", "problem", "total-time", "#t", "?duration"])
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
    read. One that `is_too_long` has an empty text."""

    uri: str
    text: str
    is_too_long: bool = False

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

    @cached_property
    def by_key(self) -> dict[Key, list[Symbol]]:
        found: dict[Key, list[Symbol]] = defaultdict(list)
        for symbol in self.symbols:
            found[symbol.key].append(symbol)
        return dict(found)

    def symbol_at(self, offset: int) -> Symbol | None:
        """The name that covers an offset, or that ends there."""
        return next((symbol for symbol in self.symbols if symbol.start <= offset <= symbol.end), None)

    def lists_at(self, offset: int) -> list[Expression]:
        """The lists around an offset, from the outermost to the innermost."""
        around: list[Expression] = []
        parts: Sequence[Sexpr] = self.tree
        while inner := [
            part
            for part in parts
            if isinstance(part, Expression) and part.spans[0][0] < offset < part.spans[0][1] + _open(part, self.text)
        ]:
            around.append(inner[0])
            parts = inner[0]
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


def _open(part: Expression, text: str) -> int:
    """1 for a list without its closing parenthesis, in which the end of the text also lies."""
    return int(text[part.spans[0][1] - 1] != ")")


def _sections(define: Expression) -> Iterator[Symbol]:
    for section in define:
        head = section[0] if isinstance(section, Expression) and section else ""
        if not isinstance(section, Expression) or not isinstance(head, str):
            continue
        if head in (":types", ":constants", ":objects"):
            yield from _typed(section, 1, "type" if head == ":types" else "object", head)
        elif head in (":predicates", ":functions"):
            for part in section:
                if isinstance(part, Expression) and part:
                    yield from _named(part, 0, "predicate", head, show(part))
                    yield from _typed(part, 1, "variable", head, part.spans[0][0])
        elif head in ACTIONS and len(section) > 1:
            yield from _action(section)
        elif head == ":derived":
            scope = section.spans[0][0]
            for rule in section[1:2]:
                if isinstance(rule, Expression) and rule:
                    yield from _named(rule, 0, "predicate", head)
                    yield from _typed(rule, 1, "variable", head, scope)
                    variables = {name: scope for name in rule[1:] if isinstance(name, str)}
                    yield from _formulas(section, 2, variables, head)
        elif head in (":init", ":goal", ":metric", ":constraints"):
            yield from _formulas(section, 1, {}, head)


def _action(section: Expression) -> Iterator[Symbol]:
    scope, name = section.spans[0][0], str(section[1])
    part = f"action {name}"[:200]
    variables: Mapping[str, int] = {}
    fields = dict(zip(section[2::2], section[3::2], strict=False))
    parameters = fields.get(":parameters", ())
    yield from _named(section, 1, "action", part, f"({' '.join((name, show(parameters)[1:-1])).strip()})")
    if isinstance(parameters, Expression):
        variables = {word: scope for word in parameters if isinstance(word, str)}
        yield from _typed(parameters, 0, "variable", part, scope)
    for number in range(3, len(section), 2):
        if section[number - 1] != ":parameters":
            yield from _formula(section[number], variables, part)


def _named(
    parts: Expression, number: int, kind: Kind, part: str, signature: str = "", scope: int = -1
) -> Iterator[Symbol]:
    """The word with this number in a list, if it is a name."""
    word = parts[number]
    if isinstance(word, str) and word not in _WORDS and not NUMBER.match(word) and word[0] not in ":(":
        yield Symbol((kind, word, scope), *parts.spans[number + 1], part, signature)


def _typed(parts: Expression, start: int, kind: Kind, part: str, scope: int = -1) -> Iterator[Symbol]:
    """A list of names with types: each name is declared, each type is used."""
    end = start
    for number in range(start, len(parts) + 1):
        if number < len(parts) and parts[number] != "-":
            continue
        of_type = f" - {show(parts[number + 1])[:_MAX_SHOWN]}" if number + 1 < len(parts) else ""
        for name in range(end, number):
            yield from _named(parts, name, kind, part, f"{show(parts[name])[:_MAX_SHOWN]}{of_type}", scope)
        end = number + 2
        either = parts[number + 1] if number + 1 < len(parts) else ""
        if isinstance(either, Expression):
            for name in range(1, len(either)):
                yield from _named(either, name, "type", part)
        elif number + 1 < len(parts):
            yield from _named(parts, number + 1, "type", part)


def _formulas(parts: Expression, start: int, variables: Mapping[str, int], part: str) -> Iterator[Symbol]:
    for number in range(start, len(parts)):
        if isinstance(parts[number], Expression):
            yield from _formula(parts[number], variables, part)
        else:
            yield from _argument(parts, number, variables, part)


def _formula(node: Sexpr, variables: Mapping[str, int], part: str) -> Iterator[Symbol]:
    if not isinstance(node, Expression) or not node:
        return
    head = node[0]
    if head in ("forall", "exists") and len(node) > 1 and isinstance(node[1], Expression):
        scope = node.spans[0][0]
        yield from _typed(node[1], 0, "variable", part, scope)
        inner = {word: scope for word in node[1] if isinstance(word, str)}
        yield from _formulas(node, 2, ChainMap(inner, cast("dict[str, int]", variables)), part)
    elif node[:2] in TIMES or (head == "at" and len(node) == 3 and isinstance(node[2], tuple)):
        yield from _formulas(node, 2, variables, part)
    else:
        if isinstance(head, str) and head not in CONNECTIVES:
            yield from _named(node, 0, "predicate", part)
        yield from _formulas(node, 0 if isinstance(head, tuple) else 1, variables, part)


def _argument(parts: Expression, number: int, variables: Mapping[str, int], part: str) -> Iterator[Symbol]:
    word = str(parts[number])
    if word.startswith("?"):
        yield from _named(parts, number, "variable", part, scope=variables.get(word, -1))
    elif word not in CONNECTIVES:
        yield from _named(parts, number, "object", part)
