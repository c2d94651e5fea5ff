"""Repairs of the letters: what stands around a file, glued words, signs that PDDL does not have."""

from __future__ import annotations

import re
from collections.abc import Callable

from pddlego.pddl.sexpr import Sexpr, read_sexprs

Note = Callable[[str], None]
"""Takes down what was mended."""

UNCLOSED = "closing parentheses were missing at the end"
"""The repair that an answer which was cut off looks like."""

_ESCAPES = {"\\n": "\n", "\\t": " ", '\\"': " "}
_FENCE = re.compile(r"```[A-Za-z]*")
_GLUED = re.compile(r"(?<=[^\s(])\?(?=[A-Za-z])")
_FOREIGN = re.compile(r"[\"'`,]")
_COMMENT = re.compile(r";[^\n]*")


def read_file(text: str, kind: str, note: Note) -> list[Sexpr]:
    """The parts of the `(define (KIND …) …)` in a text; empty if there is none, or if it is cut off. Total."""
    cleaned = _clean(text, note)
    start = _start(cleaned, kind)
    if start is None:
        return []
    if cleaned[:start].strip():
        note("text stood before the file")
    reading = read_sexprs(cleaned[start:])
    if any("missing" in each for each in reading.faults):
        if is_cut_off(text, kind):
            return []  # what is there is not the whole
        note(UNCLOSED)
        reading = read_sexprs(cleaned[start : cleaned.rfind(")") + 1])  # prose may follow
    if any("too many" in each for each in reading.faults):
        note("there were closing parentheses too many")
    first, *rest = reading.expressions or ((),)
    parts = list(first[1:]) if isinstance(first, tuple) else []
    for each in rest:
        # A file that was closed too early goes on with sections and fields; whatever else follows is prose.
        word = each[0] if isinstance(each, tuple) and each else each
        field = isinstance(each, tuple) and bool(parts) and isinstance(parts[-1], str) and parts[-1].startswith(":")
        if field or (isinstance(word, str) and word.startswith(":")):
            note("the file was closed before its end")
            parts.append(each)
        elif isinstance(each, tuple) and each and each[0] == "define":
            break
        else:
            note("text stood after the file")
    return parts


def is_cut_off(text: str, kind: str) -> bool:
    """Whether a text ends in the middle of a list of the `(define (KIND …) …)` in it.

    Words behind the last parenthesis are prose, and a file that ends with one may lack only those at its end.
    """
    cleaned = _clean(text, lambda what: None)
    start = _start(cleaned, kind)
    if start is None or "(" not in cleaned[max(start, cleaned.rfind(")")) :]:
        return False
    return any("missing" in each for each in read_sexprs(cleaned[start:]).faults)


def _clean(text: str, note: Note) -> str:
    if "\\n" in text and text.count("\\n") > text.count("\n"):
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
