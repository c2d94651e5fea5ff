"""JSON objects in answers of models, including those that are nearly JSON.

The decoder of the standard library reads every object. Where it fails, the tokens of the object are rewritten as
JSON if each has one meaning, and the decoder decides again: a missing comma, colon or bracket, or a word without quotes
among the values, is still an error. Every rewriting is listed. Libraries that repair JSON guess what is missing, and
libraries that read JSON5 know neither typographic quotes nor line breaks in strings, and do not list what they
tolerated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any


class EditSyntaxError(ValueError):
    """An answer holds no readable edit; the message says what is wrong with it.

    `cut_off` says that it ends in the middle of one.
    """

    def __init__(self, message: str, cut_off: bool = False) -> None:
        super().__init__(message)
        self.cut_off = cut_off


@dataclass(frozen=True)
class JsonObject:
    """An object of an answer, the text around it, and what was repaired in it."""

    value: dict[str, Any]
    rest: str = ""
    repairs: tuple[str, ...] = ()


_PASSES = 4
"""How often unreadable objects may make the reader go over the text: one without an end reaches to the end of it."""

_MOST_OBJECTS = 2_000
"""Objects of a text that are looked at; an answer has a few."""

_MAX_SHOWN = 100
"""Characters of a key or a value in a message."""

_BLANK = r"\s* (?: (?: //[^\n]{0,200}\n | \#[^\n]{0,200}\n | /\*[^*]{0,200}\*/ ) \s* ){0,5}"

_START = re.compile(
    rf"""\{{ {_BLANK} (?:
        " | \}} | \Z
      | ['“”„‘’‚] [^'“”„‘’‚]{{0,100}} (?: ['“”‘’] \s* (?: : | \Z ) | \Z )
      | [^\W\d] [\w-]{{0,100}} \s* (?: : | \Z )
    )""",
    re.VERBOSE,
)
"""The beginning of an object: a key, the closing brace or the end of the text follows. Other braces are prose."""


def last_object(text: str, keys: Collection[str], parts: Collection[str] = (), tolerant: bool = True) -> JsonObject:
    """Return the last JSON object of a text that has one of the `keys`: earlier ones are drafts.

    Without such an object it is the last of all. An empty object counts if nothing else is on its lines. If `tolerant`,
    what is nearly JSON is repaired; `parts` are the keys of inner objects. An object that cannot be read is an error
    unless a readable one with one of the keys follows: another may be a part of it. Raises `EditSyntaxError`.
    """
    chosen: tuple[JsonObject, int, int] | None = None
    error: _BrokenError | None = None
    counted: list[dict[str, Any]] = []
    end = passed = objects = 0
    while (match := _START.search(text, end)) is not None:
        start, objects = match.start(), objects + 1
        if objects > _MOST_OBJECTS:
            raise EditSyntaxError(f"the answer holds more than {_MOST_OBJECTS:,} JSON objects: answer with one")
        try:
            found, end = _object_at(text, start, keys, (*keys, *parts) if tolerant else ())
        except _BrokenError as reason:
            end, passed = reason.end, passed + reason.length
            if reason.cut_off or passed > _PASSES * len(text):
                raise _said(text, reason) from None
            named = any(key in text[start:end].lower() for key in keys)
            if chosen is None or named:
                error, chosen = error or reason, None
            continue
        except RecursionError:
            raise EditSyntaxError("the JSON is nested too deeply") from None
        if any(key in found.value for key in keys) or (not found.value and _stands_alone(text, start, end)):
            counted.append(found.value)
        elif error is not None or counted:
            continue
        chosen, error = (found, start, end), None
    if chosen is None:
        if error is not None:
            raise _said(text, error)
        raise EditSyntaxError('the answer holds no JSON object: answer with {"objects": {…}, "init": {…}}')
    last, start, end = chosen
    drafts = ("earlier JSON objects are drafts",) if any(value != last.value for value in counted) else ()
    return replace(last, rest=(text[:start] + text[end:]).strip(), repairs=(*last.repairs, *drafts))


_LINE_ENDS = re.compile(r"[ \t`]*(?:\n|\Z)")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether nothing else is on the lines of an object."""
    before = text[max(0, start - 20) : start].rpartition("\n")[2]
    return not before.strip(" \t`") and _LINE_ENDS.match(text, end) is not None


class _BrokenError(Exception):
    """An object that cannot be read: why, and at which `place` of the text.

    `end` is where to look for the next one, and `length` how much was read in vain.
    """

    def __init__(self, error: ValueError, place: int, end: int, length: int, cut_off: bool) -> None:
        super().__init__(str(error))
        self.error, self.place, self.end, self.length, self.cut_off = error, place, end, length, cut_off


def _said(text: str, broken: _BrokenError) -> EditSyntaxError:
    """The error as the model reads it."""
    error, place = broken.error, broken.place
    if not isinstance(error, json.JSONDecodeError):
        reason = "a number is too long" if "digits" in str(error) else str(error)[: 4 * _MAX_SHOWN]
        return EditSyntaxError(f"the JSON cannot be read: {reason}")
    line, near = text.count("\n", 0, place) + 1, " ".join(text[max(0, place - 60) : place + 20].split())
    reason = f"{error.msg.removesuffix(' at')} at line {line}, near {near}"
    return EditSyntaxError(f"the JSON cannot be read: {reason}", broken.cut_off)


def _object_at(text: str, start: int, keys: Collection[str], names: Collection[str]) -> tuple[JsonObject, int]:
    """The object that starts there, and where it ends; without `names` strictly. Raises `_BrokenError`."""
    repairs: dict[str, None] = {}
    try:
        value, end = _decoded(text, start, names, repairs)
    except ValueError as error:
        tokens = _Tokens(text, start)
        if not names:
            raise tokens.broken(error, getattr(error, "pos", start)) from None
        try:
            value, _ = _decoded("".join(tokens.pieces), 0, names, tokens.repairs)
        except ValueError as still:
            raise tokens.broken(still, tokens.place(getattr(still, "pos", 0))) from None
        repairs, end = tokens.repairs, tokens.end
    if names:
        value = _unwrapped(value, keys, repairs)
    # A lone surrogate is legal in JSON and in no file: it becomes a question mark.
    sound = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    return JsonObject(sound, repairs=tuple(repairs)), end


def _decoded(text: str, start: int, names: Collection[str], repairs: dict[str, None]) -> tuple[Any, int]:
    """The value that starts there, with the keys that are known by these names in lower case. Raises `ValueError`."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        capital = {key for key, _ in pairs if key not in names and key.lower() in names}
        repairs.update({f"the key '{key}' is in capitals": None for key in sorted(capital)})
        return unique_keys([(key.lower() if key in capital else key, value) for key, value in pairs])

    return json.JSONDecoder(object_pairs_hook=unique).raw_decode(text, start)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different: of two equal keys the decoder would silently drop one.

    Empty lists and objects add nothing to another value. Raises `ValueError` if one key has two values.
    """
    value: dict[str, Any] = {}
    for key, item in pairs:
        known = value.get(key)
        if key not in value or known in ([], {}):
            value[key] = item
        elif item != known and item not in ([], {}):
            shown = f"{json.dumps(known)[:_MAX_SHOWN]}, {json.dumps(item)[:_MAX_SHOWN]}"
            raise ValueError(f"the key '{key[:_MAX_SHOWN]}' occurs twice in one object: {shown}")
    return value


def _unwrapped(value: dict[str, Any], keys: Collection[str], repairs: dict[str, None]) -> dict[str, Any]:
    """The object with one of the keys inside of one without: it must be the only one that is not a text or a number."""
    inner: Any = value
    name = ""
    while isinstance(inner, dict) and not any(key in inner for key in keys):
        nested = [(key, item) for key, item in inner.items() if isinstance(item, (dict, list))]
        if len(nested) != 1:
            return value
        name, inner = nested[0]
    if not isinstance(inner, dict):
        return value
    if inner is not value:
        repairs[f"the object is inside of '{name[:_MAX_SHOWN]}'"] = None
    return inner


_TOKEN = re.compile(
    r"""
    (?P<comment> //[^\n]* | \#[^\n]* | /\*.*?(?:\*/|\Z) )
  | (?P<string> "[^"\\]*(?:\\.[^"\\]*)*(?P<straight>"?)
      | '[^'\\]*(?:\\.[^'\\]*)*(?P<single>'?)
      | [“”„][^“”\\]*(?:\\.[^“”\\]*)*(?P<double>[“”]?)
      | [‘’‚][^‘’\\]*(?:\\.[^‘’\\]*)*(?P<curly>[‘’]?) )
  | (?P<key> [^\W\d][\w-]* )(?=\s*:)
  | (?P<word> [^\W\d][\w-]* )
  | (?P<mark> [{}\[\],:] )
  | (?P<blank> \s+ )
  | (?P<other> . )
    """,
    re.DOTALL | re.VERBOSE,
)

_ODD = re.compile(r'\\(.)|["\n\r\t]', re.DOTALL)
"""What a string may have to be escaped for, and escapes."""

_LITERALS = {"None": "null", "True": "true", "False": "false"}


_UNFINISHED = re.compile(r"[^\]}]{0,6}|[\w-]+")
"""What is left of a text that ends in the middle of an object, behind the place of the error: part of a token."""


class _Tokens:
    """The tokens of an object from its brace to the matching one, or to the end of the text, rewritten as JSON."""

    def __init__(self, text: str, start: int) -> None:
        self.pieces: list[str] = []
        self.repairs: dict[str, None] = {}
        self.end, self._closed = len(text), False
        self._text, self._start = text, start
        self._places: list[int] = []
        before, comma, depth = "", -1, 0
        for match in _TOKEN.finditer(text, start):
            piece = self._rewritten(match, before)
            if piece in ("}", "]") and comma >= 0:
                self.pieces[comma] = " "
                self._note("a comma before a closing bracket")
            self._places.append(match.start())
            self.pieces.append(piece)
            if not piece.isspace():
                comma = len(self.pieces) - 1 if piece == "," and before not in ("{", "[", ",", ":") else -1
                depth += (piece in ("{", "[")) - (piece in ("}", "]"))
                before = piece
            if depth == 0:
                self.end, self._closed = match.end(), True
                break

    def place(self, position: int) -> int:
        """Where in the text a position of the rewritten one is."""
        offset = 0
        for piece, place in zip(self.pieces, self._places, strict=True):
            if position < offset + len(piece):
                return place + position - offset
            offset += len(piece)
        return self.end

    def broken(self, error: ValueError, place: int) -> _BrokenError:
        """The error at a place of the text. What follows the place of an object without an end may not belong to it.

        If nothing is wrong but that the text ends there, it was cut off.
        """
        length = self.end - self._start
        if self._closed:
            return _BrokenError(error, place, self.end, length, cut_off=False)
        rest = self._text[place:].rstrip()
        cut_off = str(error).startswith("Unterminated string") or _UNFINISHED.fullmatch(rest) is not None
        return _BrokenError(error, place, max(self._start + 1, place), length, cut_off)

    def _note(self, what: str) -> None:
        self.repairs[what] = None

    def _rewritten(self, match: re.Match[str], before: str) -> str:
        token = match.group()
        if match.lastgroup == "comment":
            self._note("a comment")
            return " "
        if match.lastgroup == "key" and before in ("{", ","):
            self._note("a key without quotes")
            return f'"{token}"'
        if match.lastgroup == "word" and token in _LITERALS:
            self._note(f"{token} for {_LITERALS[token]}")
            return _LITERALS[token]
        return self._string(match) if match.lastgroup == "string" else token

    def _string(self, match: re.Match[str]) -> str:
        token = match.group()
        end = next((match[name] for name in ("straight", "single", "double", "curly") if match[name]), "")
        if token[0] != '"':
            self._note(f"{token[0]} as a quotation mark")
        return f'"{_ODD.sub(self._escaped, token[1 : len(token) - len(end)])}{end and chr(34)}'

    def _escaped(self, match: re.Match[str]) -> str:
        odd = match.group()
        if odd == '"':
            return '\\"'
        if len(odd) == 1:
            self._note("a line break or a tab in a string")
            return json.dumps(odd)[1:-1]
        if odd[1].isalnum() or odd[1] in '"\\/\n':
            return odd
        self._note(f"the escape {odd}, which JSON does not have")
        return odd[1]
