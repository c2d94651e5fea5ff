"""What an editor shows of PDDL documents. Each feature is a function of documents and an offset, and changes nothing.

`related` are the documents with the same domain: the domain, and problems of it, without the document itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from pddlego.pddl.conditions import ANY_TYPE
from pddlego.pddl.constraints import MEANINGS, constraint_form
from pddlego.pddl.domain import MAX_TYPES, Domain
from pddlego.pddl.names import is_name
from pddlego.pddl.sexpr import TOKEN, Expression, read_sexprs, show
from pddlego.tools.editor.document import ACTIONS, Document, Kind, Symbol
from pddlego.tools.editor.keywords import first_words, next_words

MAX_ITEMS = 1_000
"""The maximum number of completions, and of parts of a section in the outline."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
"""A line as the protocol counts them, with its end."""

_SECTIONS = (
    *(":requirements", ":types", ":constants", ":predicates", ":functions", ":action", ":durative-action"),
    *(":derived", ":domain", ":objects", ":init", ":goal", ":constraints", ":metric"),
)


Use: TypeAlias = tuple[Document, Symbol]
"""A use or the declaration of a name, and the document with it."""


@dataclass(frozen=True)
class Item:
    """A part of the outline, with the offsets of all of it."""

    name: str
    kind: str
    start: int
    end: int
    children: tuple[Item, ...] = ()


def occurrences(document: Document, offset: int, related: Sequence[Document]) -> list[Use]:
    """All uses and declarations of the name at an offset.

    A variable belongs to its action, and an object that is not a constant of the domain to its problem.
    """
    symbol = document.symbol_at(offset)
    if symbol is None:
        return []
    found = [(file, use) for file in (document, *related) for use in file.symbols if use.key == symbol.key]
    kind = symbol.key[0]
    if kind == "variable" or (kind == "object" and all(file.is_problem for file, _ in found)):
        return [use for use in found if use[0] is document]
    return found


def hover(document: Document, offset: int, related: Sequence[Document]) -> str:
    """The signature of the name at an offset, the comment of its declaration, and where it is used; as Markdown.

    For the word of a constraint, its form and its meaning.
    """
    found = occurrences(document, offset, related)
    if not found:
        word = _constraint_at(document, offset)
        return f"```pddl\n{constraint_form(word)}\n```\n\nconstraint\n\n{MEANINGS[word]}" if word else ""
    file, symbol = next((use for use in found if use[1].signature), found[0])
    kind = "function" if symbol.signature and symbol.part == ":functions" else symbol.key[0]
    comment = file.comment(symbol) if symbol.signature else ""
    uses = Counter(other.part for _, other in found if not other.signature)
    where = ", ".join(f"{part} ({number})" for part, number in uses.most_common(10))
    used = f"Used in {where}{', …' if len(uses) > 10 else ''}." if uses else "Not used."
    return "\n\n".join(filter(None, (f"```pddl\n{symbol.signature or symbol.key[1]}\n```", kind, comment, used)))


def _constraint_at(document: Document, offset: int) -> str:
    """The word, or both words, at an offset that begin a constraint; empty for all other places."""
    lists = document.lists_at(offset)
    if not any(part[:1] == (":constraints",) for part in lists[:-1]):
        return ""
    around = lists[-1]
    name = "at end" if around[:2] == ("at", "end") else show(around[:1])[1:-1]
    ends = [end for _, end in around.spans[1 : 2 + name.count(" ")]]
    return name if name in MEANINGS and offset <= ends[-1] else ""


def rename_all(document: Document, offset: int, related: Sequence[Document], name: str) -> tuple[str, list[Use]] | str:
    """The new name and all that gets it, or the reason why the name at an offset cannot have it."""
    symbol = document.symbol_at(offset)
    if symbol is None:
        return "There is no name of a type, predicate, function, action, object or variable here."
    kind = symbol.key[0]
    if kind == "variable":
        name = f"?{name.removeprefix('?')}"
    if not is_name(name.lower().removeprefix("?") if kind == "variable" else name.lower()):
        return f"'{name[:50]}' is not a PDDL name: write a letter, then letters, digits, - and _."
    taken = [symbol for file in (document, *related) for symbol in file.symbols if symbol.key[1] == name.lower()]
    if any(other.key[0] == kind and (kind != "variable" or other.part == symbol.part) for other in taken):
        return f"There already is a {kind} {name.lower()}: both would be one."
    return name, occurrences(document, offset, related)


def complete(document: Document, offset: int, related: Sequence[Document]) -> list[tuple[str, Kind | str, str]]:
    """The names that can be written at an offset, each with its kind and its signature."""
    lists = document.lists_at(offset)
    around = lists[-1] if lists else document.tree
    before = sum(span[1] < offset for span in around.spans[1:])  # parts that end before the word that is written
    inner = lists[next((at for at, part in enumerate(lists) if part and part[0] in _SECTIONS), len(lists)) :]
    section = inner[0][0] if inner else ""
    files = (document, *related)
    if (before and around[before - 1] == "-") or around[:1] == ("either",):
        return _declared(files, "type", [(ANY_TYPE, "type", "")])
    if around is document.define:
        return []
    if before == 0 and len(lists) <= 2 and lists[:1] == [document.define]:
        return [(word, "keyword", "") for word in _SECTIONS]
    if (
        before == 0
        and len(inner) > 1
        and section not in (":predicates", ":functions", ":types", ":constants", ":objects", "")
    ):
        words, names = first_words(inner)
        declared = [symbol.key[1] for file in files for symbol in file.symbols if symbol.part == ":functions"]
        items = _declared(files, "predicate", []) if names != "none" else []
        items = [item for item in items if names == "all" or item[0] in declared]
        return [*((word, "keyword", "") for word in words), *items][:MAX_ITEMS]
    if before and section in (*ACTIONS, ":derived", ":init", ":goal", ":metric"):
        words = next_words(inner, before)
        is_section = len(inner) == 1
        found = () if is_section else _arguments(document, related, around, before - 1, offset)
        return list(dict.fromkeys((*((word, "keyword", "") for word in words), *found)))[:MAX_ITEMS]
    return []


def _declared(files: Sequence[Document], kind: Kind, more: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    found: dict[str, str] = {}
    for symbol in (symbol for file in files for symbol in file.symbols if symbol.key[0] == kind):
        found[symbol.key[1]] = symbol.signature or found.get(symbol.key[1], "")
    return [*((name, kind, signature) for name, signature in found.items()), *more][:MAX_ITEMS]


def _arguments(
    document: Document, related: Sequence[Document], atom: Expression, number: int, offset: int
) -> Iterator[tuple[str, str, str]]:
    """The variables, constants and objects of the type that argument `number` of an atom has."""
    domain = next((file.domain for file in (document, *related) if not file.is_problem), Domain(""))
    name = show(atom[0])
    head = domain.predicates_by_name.get(name) or domain.functions_by_name.get(name)
    if head is not None and number >= len(head.parameters):
        return
    wanted = head.parameters[number].type if head else ANY_TYPE
    scopes = {-1, *(part.spans[0][0] for part in document.lists_at(offset))}
    own = [file for file in (document, *related) if file is document or not file.is_problem]
    for symbol in (symbol for file in own for symbol in file.symbols if symbol.signature):
        kind, name, scope = symbol.key
        if kind not in ("object", "variable") or scope not in scopes:
            continue
        actual = symbol.signature.partition(" - ")[2] or ANY_TYPE
        if len(domain.supertypes) > MAX_TYPES or actual.startswith("(") or domain.is_a(actual, wanted):
            yield name, kind, symbol.signature


def document_outline(document: Document) -> Item | None:
    """The file as a tree: its sections, and in them what they declare."""
    define = document.define
    if not define:
        return None
    name = document.names.get("problem" if document.is_problem else "domain", "file")
    sections = [part for part in define if isinstance(part, Expression) and part and str(part[0]).startswith(":")]
    return Item(name, "file", *define.spans[0], tuple(_item(document, section) for section in sections))


def _item(document: Document, section: Expression) -> Item:
    head, (start, end) = str(section[0])[:100], section.spans[0]
    if head in ACTIONS and len(section) > 1:
        return Item(show(section[1])[:100] or head, "action", start, end)
    first = bisect_right(document.symbols, start, key=lambda symbol: symbol.start)
    last = bisect_left(document.symbols, end, key=lambda symbol: symbol.start)
    declared = (
        Item(symbol.key[1], symbol.key[0], symbol.start, symbol.end)
        for symbol in document.symbols[first:last]
        if symbol.part == head and symbol.signature and symbol.key[0] != "variable"
    )
    return Item(head, "section", start, end, tuple(declared)[:MAX_ITEMS])


def formatted(text: str, indent: int = 2) -> str:
    """The text with each line indented by the depth of its parentheses. Line breaks, comments and spaces inside of
    lines stay; a text with unbalanced parentheses stays as it is."""
    if read_sexprs(text).defects:
        return text
    depth, lines = 0, []
    for whole in _LINE.findall(text):
        line = whole.rstrip("\r\n").strip(" \t")
        tokens = [token[0] for token in TOKEN.finditer(line)]
        closing = line[: len(line) - len(line.lstrip(") \t"))].count(")")
        lines.append(" " * indent * max(0, depth - closing) + line if line else "")
        lines.append(whole[len(whole.rstrip("\r\n")) :])
        depth += tokens.count("(") - tokens.count(")")
    return "".join(lines)


def changed_lines(before: str, after: str) -> list[tuple[int, int, str]]:
    """The groups of lines that differ, each as (first line, end line, new text), counted from 0.

    They are one group if the numbers of lines differ.
    """
    if before.endswith("\n") and not after.endswith("\n"):
        after += "\n"
    old, new = _LINE.findall(before), _LINE.findall(after)
    if len(old) != len(new):
        first = _equal(old, new)
        same = _equal(old[first:][::-1], new[first:][::-1])
        return [(first, len(old) - same, "".join(new[first : len(new) - same]))]
    runs = [list(run) for differs, run in groupby(range(len(old)), lambda line: old[line] != new[line]) if differs]
    return [(run[0], run[-1] + 1, "".join(new[run[0] : run[-1] + 1])) for run in runs]


def _equal(left: Sequence[str], right: Sequence[str]) -> int:
    """The number of lines that are equal, from the first one on."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((number for number, pair in pairs if pair[0] != pair[1]), min(len(left), len(right)))
