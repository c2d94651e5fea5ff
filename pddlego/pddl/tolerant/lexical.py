"""Lexical repairs: text around a file, glued words, characters that PDDL does not have."""

from __future__ import annotations

import re
from collections.abc import Callable

from pddlego.pddl.sexpr import Sexpr, read_sexprs

Note = Callable[[str], None]
"""Records a repair."""

MISSING = "closing parentheses were missing"
"""How the repairs begin that an answer which was cut off looks like."""

_UNCLOSED = f"{MISSING} at the end"

_ESCAPES = {"\\n": "\n", "\\t": " ", '\\"': " "}
_FENCE = re.compile(r"```[A-Za-z]*")
_GLUED = re.compile(r"(?<=[^\s(_-])\?(?=[A-Za-z])")
_FOREIGN = re.compile(r"[\"'`,]")
_COMMENT = re.compile(r";[^\n]*")


def read_file(text: str, kind: str, note: Note) -> list[Sexpr]:
    """The parts of the `(define (KIND …) …)` in a text; empty without one, or if it is cut off. Total."""
    cleaned = _clean(text, note)
    start = _start(cleaned, kind)
    if start is None:
        return []
    if cleaned[:start].strip():
        note("text stood before the file")
    reading = read_sexprs(cleaned[start:])
    if reading.unclosed:
        if _opens_at_the_end(cleaned, start):
            return []  # what is there is not the whole
        closed, keys = _closed_before_keys(cleaned[start : cleaned.rfind(")") + 1])  # prose may follow
        for key in keys:
            note(f"{MISSING} before {key}")
        reading = read_sexprs(closed)
        if reading.unclosed:
            note(_UNCLOSED)
    early = reading.extra > 0
    if early:
        note("there were closing parentheses too many")
    first, *rest = tuple(reading.expressions) or ((),)
    parts = list(first[1:]) if isinstance(first, tuple) else []
    heads = {part[0] for part in parts if isinstance(part, tuple) and part}
    if not early and heads >= ({":init", ":goal"} if kind == "problem" else {":action"}):
        if rest:
            note("text stood after the file")  # it is whole, and nothing of it is missing
        return parts
    return parts + _continued(parts, rest, note)


def _continued(parts: list[Sexpr], rest: list[Sexpr], note: Note) -> list[Sexpr]:
    """What belongs to a file that was closed too early: it goes on with sections and fields that it does not have yet.

    Facts before such a section count. Everything else that follows is prose.
    """
    there = {part[0] for part in parts if isinstance(part, tuple) and part} - {":action", ":derived"}
    sections: list[Sexpr] = []
    waiting: list[Sexpr] = []
    for part in rest:
        word = part[0] if isinstance(part, tuple) and part else part
        last = (sections or parts or [()])[-1]
        field = isinstance(part, tuple) and isinstance(last, str)
        section = isinstance(word, str) and word.startswith(":") and word not in there and part != (word,)
        if field or section:
            note("the file was closed before its end")
            sections += [*waiting, part]
            waiting = []
        elif isinstance(part, tuple) and part and part[0] == "define":
            break
        elif isinstance(part, tuple) and all(isinstance(part, str) for part in part):
            waiting.append(part)
        else:
            note("text stood after the file")
    if waiting:
        note("text stood after the file")
    return sections


_KEYS = re.compile(r"\(\s*(:[A-Za-z-]+)|(:[A-Za-z-]+)|([()])|[^\s():]+|:")
_SECTIONS = (":init", ":goal", ":objects", ":predicates", ":functions", ":metric")
_OPEN_KEYS = {":action": ":action"} | dict.fromkeys(_SECTIONS, ":")
_FIELD_KEYS = (":parameters", ":precondition", ":preconditions", ":effect", ":effects")


def _closed_before_keys(text: str) -> tuple[str, list[str]]:
    """The text with the closing parentheses that are missing before a key; and these keys.

    Keys of one kind are equally deep in a file: sections, actions, and the fields of one action. A key that is
    deeper than the first of its kind shows that something before it was not closed.
    """
    depth, first, pieces, keys, done = 0, dict[str, int](), list[str](), list[str](), 0
    for match in _KEYS.finditer(text):
        opening, bare, parenthesis = match.groups()
        key = (opening or bare or "").lower()
        kind = _OPEN_KEYS.get(key, "field" if key in _FIELD_KEYS else "") if opening or key in _FIELD_KEYS else ""
        if kind:
            over = depth - first.setdefault(kind, depth)
            if over > 0:
                pieces += [text[done : match.start()], ")" * over, " "]
                done, depth = match.start(), depth - over
                keys.append(key)
            if kind == ":action":
                first.pop("field", None)
        depth += 1 if opening or parenthesis == "(" else -1 if parenthesis == ")" else 0
    return "".join((*pieces, text[done:])), keys


def is_cut_off(text: str, kind: str) -> bool:
    """Whether a text ends in the middle of a list of the `(define (KIND …) …)` in it.

    Words behind the last parenthesis are prose, and a file that ends with one may lack only those at its end.
    """
    cleaned = _clean(text, lambda what: None)
    start = _start(cleaned, kind)
    if start is None or not _opens_at_the_end(cleaned, start):
        return False
    return read_sexprs(cleaned[start:]).unclosed > 0


def _opens_at_the_end(cleaned: str, start: int) -> bool:
    """Whether a list begins behind the last closing parenthesis."""
    return "(" in cleaned[max(start, cleaned.rfind(")")) :]


def _clean(text: str, note: Note) -> str:
    if "\\n" in text:
        note(r"line breaks were written as \n")
        for escape, meant in _ESCAPES.items():
            text = text.replace(escape, meant)
    text = _COMMENT.sub("", text)
    for pattern, by, what in (
        (_FENCE, "", "Markdown fences stood around the file"),
        (_GLUED, " ?", "a blank was missing before a variable"),
    ):
        text, count = pattern.subn(by, text)
        if count:
            note(what)
    start = text.lower().find("(define")
    end = text.rfind(")") + 1 or len(text)  # prose behind the file has commas of its own
    inside = text[start:end] if start >= 0 else ""
    if _FOREIGN.search(inside):
        note("there were quotes or commas, which PDDL does not have")
        text = text[:start] + _FOREIGN.sub(" ", inside) + text[end:]
    return text


def _start(text: str, kind: str) -> int | None:
    """Where the file of the kind begins."""
    match = re.search(rf"\(\s*define\s*\(\s*{kind}\b", text, re.IGNORECASE)
    return match.start() if match else None
