"""Reads JSON objects, and text that is almost JSON, from answers of models.

The decoder of the standard library reads each object. If the decoder fails, every token with one possible meaning is
rewritten as JSON, and the decoder tries again: a missing comma, colon or bracket, or a value without quotes, is still
an error. Every repair is listed. Libraries that repair JSON guess missing parts; libraries that read JSON5 accept
neither typographic quotes nor line breaks in strings, and do not list their repairs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, model_validator

from pddlego.util.text import nearest


class EditSyntaxError(ValueError):
    """An answer contains no readable edit; the message describes the error.

    `cut_off`: the answer ends in the middle of an edit.
    """

    def __init__(self, message: str, cut_off: bool = False) -> None:
        super().__init__(message)
        self.cut_off = cut_off


@dataclass(frozen=True)
class JsonObject:
    """A JSON object in an answer. `rest` is the text around the object."""

    value: dict[str, Any]
    rest: str = ""
    repairs: tuple[str, ...] = ()


class Form(BaseModel):
    """The form of a JSON object in an answer. Unknown keys are errors.

    If the context of the validation is a list, remarks such as `"reasoning": "it moved north"` are left out, and their
    keys added to the list.
    """

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _without_remarks(cls, value: Any, info: ValidationInfo) -> Any:
        return without_remarks(value, cls.model_fields, info.context)


def without_remarks(value: Any, known: Collection[str], ignored: list[str] | None) -> Any:
    """An object without its remarks, unless there is nothing else in it. `ignored` gets the key of each.

    A remark is an unknown key whose value is text (or a list of texts), but not PDDL. It must not be a misspelt key:
    similar to a known one, or with a single word as its value while a known key is missing.
    """
    if not isinstance(value, dict) or ignored is None or not any(key in known for key in value):
        return value
    complete = all(key in value for key in known)

    def is_remark(key: str, item: Any) -> bool:
        if key in known or nearest(key.lower(), known, 0.8) is not None:
            return False
        texts = item if isinstance(item, list) else [item]
        return all(isinstance(t, str) and not _LINE.match(t) and (complete or len(t.split()) > 1) for t in texts)

    kept = {key: item for key, item in value.items() if not is_remark(key, item)}
    ignored += [key[:_MAX_SHOWN] for key in value if key not in kept]
    return kept


def note_on_key(key: str) -> str:
    """The note about a remark with this key."""
    return f"the key '{key}' is not part of the form: it is ignored"


_LINE = re.compile(r"\s*[(?]|\s*[^\s.:,]+ - [^\s.:,]+\s*\Z")
"""A text that may be a line of PDDL: a condition, parameters, or `name - type`."""

_PASSES = 4
"""The maximum length of all unreadable objects, in lengths of the text: an object without an end reaches to the end."""

_MOST_OBJECTS = 2_000
"""The maximum number of objects in a text; an answer has a few."""

_MAX_SHOWN = 100
"""The maximum length of a key or a value in a message."""

_BLANK = r"\s* (?: (?: //[^\n]{0,200}\n | \#[^\n]{0,200}\n | /\*[^*]{0,200}\*/ ) \s* ){0,5}"

_START = re.compile(
    rf"""\{{ {_BLANK} (?:
        " | \}} | \Z
      | ['“”„‘’‚] [^'“”„‘’‚]{{0,100}} (?: ['“”‘’] \s* (?: : | \Z ) | \Z )
      | [^\W\d] [\w-]{{0,100}} \s* (?: : | \Z )
    )""",
    re.VERBOSE,
)
"""The beginning of an object: a brace before a key, a closing brace or the end of the text. Other braces are prose."""


def last_object(text: str, keys: Collection[str], parts: Collection[str] = (), tolerant: bool = True) -> JsonObject:
    """Return the last JSON object in a text that has one of the `keys`; earlier objects are drafts.

    If no object has one of the keys, the last object is returned. An empty object counts like one with a key if nothing
    else is on its lines. If `tolerant`, text that is almost JSON is repaired; `parts` are the keys of inner objects. An
    unreadable object is an error unless a readable object with one of the keys follows. Raises `EditSyntaxError`.
    """
    chosen: tuple[JsonObject, int, int] | None = None
    error: _BrokenError | None = None
    with_keys: list[dict[str, Any]] = []
    end = unreadable = objects = 0
    while (match := _START.search(text, end)) is not None:
        start, objects = match.start(), objects + 1
        if objects > _MOST_OBJECTS:
            raise EditSyntaxError(f"the answer holds more than {_MOST_OBJECTS:,} JSON objects: answer with one")
        try:
            json_object, end = _object_at(text, start, keys, (*keys, *parts) if tolerant else ())
        except _BrokenError as reason:
            end, unreadable = reason.end, unreadable + reason.length
            if reason.cut_off or unreadable > _PASSES * len(text):
                raise _syntax_error(text, reason) from None
            names_key = any(key in text[start:end].lower() for key in keys)
            if chosen is None or names_key:
                error, chosen = error or reason, None
            continue
        except RecursionError:
            raise EditSyntaxError("the JSON is nested too deeply") from None
        if any(key in json_object.value for key in keys) or (not json_object.value and _stands_alone(text, start, end)):
            with_keys.append(json_object.value)
        elif error is not None or with_keys:
            continue
        chosen, error = (json_object, start, end), None
    if chosen is None:
        if error is not None:
            raise _syntax_error(text, error)
        raise EditSyntaxError('the answer holds no JSON object: answer with {"objects": {…}, "init": {…}}')
    last, start, end = chosen
    drafts = ("earlier JSON objects are drafts",) if any(value != last.value for value in with_keys) else ()
    return replace(last, rest=(text[:start] + text[end:]).strip(), repairs=(*last.repairs, *drafts))


_LINE_ENDS = re.compile(r"[ \t`]*(?:\n|\Z)")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the lines of an object contain nothing else."""
    before = text[max(0, start - 20) : start].rpartition("\n")[2]
    return not before.strip(" \t`") and _LINE_ENDS.match(text, end) is not None


class _BrokenError(Exception):
    """An object cannot be read because of an `error` at an offset, `place`.

    The search for the next object goes on at `end`; `length` is the length of the unreadable text.
    """

    def __init__(self, error: ValueError, place: int, end: int, length: int, cut_off: bool) -> None:
        super().__init__(str(error))
        self.error, self.place, self.end, self.length, self.cut_off = error, place, end, length, cut_off


def _syntax_error(text: str, broken: _BrokenError) -> EditSyntaxError:
    """The error message for the model."""
    error, place = broken.error, broken.place
    if not isinstance(error, json.JSONDecodeError):
        reason = "a number is too long" if "digits" in str(error) else str(error)[: 4 * _MAX_SHOWN]
        return EditSyntaxError(f"the JSON cannot be read: {reason}")
    line, near = text.count("\n", 0, place) + 1, " ".join(text[max(0, place - 60) : place + 20].split())
    reason = f"{error.msg.removesuffix(' at')} at line {line}, near {near}"
    return EditSyntaxError(f"the JSON cannot be read: {reason}", broken.cut_off)


def _object_at(text: str, start: int, keys: Collection[str], names: Collection[str]) -> tuple[JsonObject, int]:
    """The object at offset `start`, and its end. Without `names`, only valid JSON is read. Raises `_BrokenError`."""
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
    # A lone surrogate is legal in JSON but cannot be written to a file: it becomes a question mark.
    sound = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    return JsonObject(sound, repairs=tuple(repairs)), end


def _decoded(text: str, start: int, names: Collection[str], repairs: dict[str, None]) -> tuple[Any, int]:
    """The value at offset `start`, and its end; keys among `names` become lower-case. Raises `ValueError`."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        capital = {key for key, _ in pairs if key not in names and key.lower() in names}
        repairs.update({f"the key '{key}' is in capitals": None for key in sorted(capital)})
        return unique_keys([(key.lower() if key in capital else key, value) for key, value in pairs])

    return json.JSONDecoder(object_pairs_hook=unique).raw_decode(text, start)


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object with these keys and values. The decoder alone would silently drop a value of a repeated key.

    Of two values of one key, an empty list or object gives way to the other. Raises `ValueError` for any other two
    values.
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
    """The inner object with one of the keys, if each object around it has only one nested value; else `value`."""
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
"""An escape in a string, or a character that JSON requires to be escaped."""

_LITERALS = {"None": "null", "True": "true", "False": "false"}


_UNFINISHED = re.compile(r"[^\]}]{0,6}|[\w-]+")
"""The rest of a text after the position of an error, if the text was cut off: part of a token."""


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
        """The offset in the original text of an offset in the rewritten text."""
        offset = 0
        for piece, place in zip(self.pieces, self._places, strict=True):
            if position < offset + len(piece):
                return place + position - offset
            offset += len(piece)
        return self.end

    def broken(self, error: ValueError, place: int) -> _BrokenError:
        """The exception for an object that cannot be read because of `error` at offset `place`.

        The text after `place` may not belong to an object without an end. The object is cut off if only its end is
        missing.
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
