"""Lexical repairs: text around a file, glued words, characters that PDDL does not have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from pddlego.pddl.domain import DECLARATIONS, FIELDS_OF, KEYWORDS, read_domain
from pddlego.pddl.foreign import foreign_comments
from pddlego.pddl.parentheses import MISSPELT, Edit, balancing, place_of_edit
from pddlego.pddl.problem import PROBLEM_SECTIONS, read_problem
from pddlego.pddl.sexpr import Expression, Sexpr, SexprReading, read_sexprs, show
from pddlego.pddl.tolerant.layout import EditedText, edits
from pddlego.util.answers import last_file, reasoning, unspoken
from pddlego.util.text import nearest

_REPEATED = frozenset({*FIELDS_OF, ":derived"})
_KEYWORDS = frozenset({*KEYWORDS, *PROBLEM_SECTIONS, *MISSPELT})

RepairSubject: TypeAlias = Literal["", "predicate", "type", "requirement", "end"]
"""What a repair concerns: a declaration, a requirement, or the end of a list, which an answer that is cut off lacks."""


class Note(Protocol):
    """A function that records a repair."""

    def __call__(self, what: str, of: RepairSubject = "") -> None: ...


_FENCES = "Markdown fences found around the file"

_ESCAPES = {"\\n": "\n", "\\t": " ", '\\"': " "}
_ESCAPE = re.compile(r'\\[nt"]')
_FENCE = re.compile(r"\r?\n```[A-Za-z]*(?=\s*(?:\n|\Z))|```[A-Za-z]*")
_FOREIGN = re.compile(r"(?<=\d),(?!\d)|(?<!\d),|[\"'`\u2018-\u201f\u00ab\u00bb]")
_GLUED_TYPE = re.compile(r"(?<=[\s(])-(?=[A-Za-z])")
_COMMENT = re.compile(r";[^\r\n]*")
_LINE = re.compile(r"[^\r\n]+")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


@dataclass(frozen=True)
class SourceFile:
    """A PDDL file in a text. `define` is its list `(define …)`; None if there is no file or if it is cut off.

    `parts` are the parts of the file, including parts behind a closing parenthesis that came too early.
    """

    draft: EditedText
    define: Expression | None = None
    parts: tuple[Sexpr, ...] = ()

    def rewritten(self, parts: tuple[Sexpr, ...]) -> EditedText:
        """The draft of the file with other parts, and with nothing but comments behind the file."""
        if self.define is None:
            return self.draft
        changes = [*edits(self.define, (self.define[0], *parts))]
        end = self.define.spans[0][1]
        if _plain(self.draft.text)[end:].strip():
            changes.append((end, len(self.draft.text), "\n"))
        return self.draft.edited(changes)


def read_define(text: str, kind: str, note: Note) -> SourceFile:
    """Read the `(define (KIND …) …)` in a text. Total."""
    draft = _cleaned(text, kind, note)
    reading = read_sexprs(draft.text)
    if last_file(_plain(draft.text), kind) is None or not reading.expressions:
        return SourceFile(draft)
    read = read_domain if kind == "domain" else read_problem
    if not (reading.unclosed and _is_whole(reading, kind)) and read(draft.text).unbalanced:
        if reading.unclosed and _opens_at_the_end(draft.text):
            return SourceFile(draft)  # the file is cut off
        draft = _balanced(draft, note)
        reading = read_sexprs(draft.text)
    define, *rest = reading.expressions
    assert isinstance(define, Expression)
    if _is_whole(reading, kind):
        if rest:
            note("text found after the file")  # nothing of the file is missing
        return SourceFile(draft, define, define[1:])
    more = _continued(define[1:], rest, note)
    return SourceFile(draft, define, (*define[1:], *more))


def _is_whole(reading: SexprReading, kind: str) -> bool:
    """Whether the first list is closed and has the sections that a file of the kind needs."""
    define = reading.expressions[0]
    if not isinstance(define, Expression) or (reading.unclosed and define.spans[0][1] == len(define.source.text)):
        return False
    heads = {part[0] for part in define[1:] if isinstance(part, tuple) and part}
    return heads >= ({":init", ":goal"} if kind == "problem" else {":action"})


def _continued(parts: tuple[Sexpr, ...], rest: list[Sexpr], note: Note) -> list[Sexpr]:
    """The parts behind a file that was closed too early which belong to it: sections and fields that the file lacks.

    Facts before such a section belong to the file, too. All other parts are prose.
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
            note("text found after the file")
    if waiting:
        note("text found after the file")
    return sections


def _balanced(draft: EditedText, note: Note) -> EditedText:
    """The file with missing parentheses, and without surplus ones."""
    edits = balancing(draft.text)
    end = _end(draft.text)
    for start, _, new in edits:
        where = "at the end" if new and start == end else place_of_edit(draft.text, start, new)
        if new:
            what = "an opening parenthesis was" if new == "(" else "'(and' was"
            is_end = new == ")"
            note(f"{'closing parentheses were' if is_end else what} missing {where}", "end" if is_end else "")
        else:
            kind = "closing" if draft.text[start] == ")" else "opening"
            note(f"there were {kind} parentheses too many")
    return draft.edited(edits)


def is_cut_off(text: str, kind: str) -> bool:
    """Whether a text ends in the middle of a list of the last `(define (KIND …) …)` in it.

    Words behind the last parenthesis are prose. A file whose last parenthesis is a closing one is not cut off.
    """
    cleaned = _cleaned(text, kind, lambda what, of="": None).text
    if last_file(_plain(cleaned), kind) is None or not _opens_at_the_end(cleaned):
        return False
    reading = read_sexprs(cleaned)
    return reading.unclosed > 0 and not _is_whole(reading, kind)


def _opens_at_the_end(text: str) -> bool:
    """Whether a list begins behind the last closing parenthesis."""
    plain = _plain(text)
    return plain.rfind("(") > plain.rfind(")")


def _cleaned(text: str, kind: str, note: Note) -> EditedText:
    """The last file of a kind without the text around it, in characters that PDDL has. Comments stay."""
    draft = EditedText.of(text)
    if parts := unspoken(text):
        note("the reasoning of the model found before the file" if reasoning(text) else "markers of a chat found")
        draft = draft.edited((start, end, "") for start, end in parts)
    draft = _unescaped(draft, note)
    plain = _plain(draft.text)
    place = last_file(plain, kind)
    if place is None:
        return draft
    start, end = place
    around: list[Edit] = []
    if plain[:start].strip():
        prose = _FENCE.sub("", plain[:start]).strip()
        note("text found before the file" if prose else _FENCES)
        around.append((0, start, ""))
    if end < len(plain):
        around.append((end, len(plain), ""))
    draft = draft.edited(around)
    for repairs in (_with_comments, _in_ascii, _without_fences, _without_foreign, _with_blanks):
        draft = draft.edited(repairs(draft.text, note))
    known = (*DECLARATIONS, *_REPEATED) if kind == "domain" else PROBLEM_SECTIONS[1:]
    expressions = read_sexprs(draft.text).expressions  # too deep lists are no expressions
    return draft.edited(_spelt(expressions[0], known, note)) if expressions else draft


def _unescaped(draft: EditedText, note: Note) -> EditedText:
    r"""The draft with line breaks in place of \n; in comments only if the text has few other line breaks."""
    text = draft.text
    if "\\n" not in text:
        return draft
    comments = text.count("\n") < text.count("\\n")
    searched = text if comments else _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    breaks = [(match.start(), match.end(), _ESCAPES[match[0]]) for match in _ESCAPE.finditer(searched)]
    if breaks:
        note(r"line breaks were written as \n")
    return draft.edited(breaks)


def _in_ascii(text: str, note: Note) -> Iterator[Edit]:
    """The edits that replace parentheses, dashes, blanks and letters that look like ASCII characters."""
    plain = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    end = _end(text)
    for match in _NOT_ASCII.finditer(plain):
        meant = _meant(match[0])
        if meant != match[0] and (match.start() < end or not meant.strip()):  # prose may follow the file
            alike = "characters that look like those of PDDL, such as full-width parentheses and dashes"
            note(f"there were {alike if meant.strip() else 'invisible characters or blanks that are not ASCII'}")
            yield match.start(), match.end(), meant


def _meant(character: str) -> str:
    """The ASCII character that a character looks like; empty for an invisible one; else the character itself."""
    category = unicodedata.category(character)
    if category == "Pd" or character == "\N{MINUS SIGN}":
        return "-"
    if category in ("Zs", "Zl", "Zp"):
        return " "
    if category == "Cf":
        return ""
    kind, _, same = unicodedata.decomposition(character).partition(" ")
    return chr(int(same, 16)) if kind in ("<wide>", "<small>") and " " not in same else character


def _without_fences(text: str, note: Note) -> Iterator[Edit]:
    for match in _FENCE.finditer(_plain(text)):
        note(_FENCES)
        yield match.start(), match.end(), ""


def _with_comments(text: str, note: Note) -> Iterator[Edit]:
    """The edits that put `;` before each line of a comment of another language."""
    for start, end in foreign_comments(text):
        note("comments found in the form of another language")
        yield from ((line.start(), line.start(), "; ") for line in _LINE.finditer(text, start, end))
        if text[end : end + 1].strip("\r\n"):
            yield end, end, "\n"


def _without_foreign(text: str, note: Note) -> Iterator[Edit]:
    for match in _FOREIGN.finditer(_plain(text), 0, _end(text)):
        note("there were quotes or commas, which PDDL does not have")
        yield match.start(), match.end(), " "


_MOST_MISSPELT = 20
"""The maximum number of keywords in a list that are compared with those of PDDL."""


def _spelt(part: Sexpr, known: Sequence[str], note: Note) -> Iterator[Edit]:
    """The edits that replace misspelt keywords, such as `:efect`, by `known` ones that are missing in the same list."""
    if not isinstance(part, Expression):
        return
    heads = [show(child[0] if isinstance(child, Expression) and child else child) for child in part]
    there = {MISSPELT.get(head, head) for head in heads} - _REPEATED
    unknown = [head for head in heads if head[0] == ":" and head not in _KEYWORDS][:_MOST_MISSPELT]
    for child, span, head in zip(part, part.spans[1:], heads, strict=True):
        meant = nearest(head, [word for word in known if word not in there], 0.8) if head in unknown else None
        if meant:
            note(f"{head} is called {meant}")
            there |= {meant} - _REPEATED
            yield (*(child.spans[1] if isinstance(child, Expression) else span), meant)
        if (meant or head) in FIELDS_OF:
            yield from _spelt(child, FIELDS_OF[meant or head], note)


def _with_blanks(text: str, note: Note) -> Iterator[Edit]:
    """The edits that turn `?b -ball` into `?b - ball`: no name begins with a hyphen."""
    for match in _GLUED_TYPE.finditer(_plain(text), 0, _end(text)):
        note("a blank was missing between '-' and a type")
        yield match.end(), match.end(), " "


def _end(text: str) -> int:
    """The end of the last list: prose behind the file has commas of its own."""
    return _plain(text).rfind(")") + 1 or len(text)


def _plain(text: str) -> str:
    """The text with blanks in place of comments, and ASCII characters in place of similar ones; its length stays."""
    if not text.isascii():
        text = _NOT_ASCII.sub(lambda match: (_meant(match[0]) or " ")[0], text)
    return _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
