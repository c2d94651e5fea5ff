"""The JSON border of PDDL-edit: from the text of an answer to an `Edit`."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from pddlego.pddl.edit_values import Edit, SectionEdit


class EditSyntaxError(ValueError):
    """An answer holds no readable edit; the message says what is wrong with it.

    `cut_off` says that it ends in the middle of one.
    """

    def __init__(self, message: str, cut_off: bool = False) -> None:
        super().__init__(message)
        self.cut_off = cut_off


class SectionModel(BaseModel):
    """The JSON border: empty and missing parts are allowed, a single line stands for a list of one."""

    model_config = ConfigDict(extra="forbid")
    add: list[str] = []
    replace: dict[str, str | None] = {}
    delete: list[str] = []

    @field_validator("add", "delete", mode="before")
    @classmethod
    def _lines(cls, value: Any) -> Any:
        if value is None or value == {}:
            return []
        return [value] if isinstance(value, str) else value

    @field_validator("replace", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:
        if isinstance(value, list) and all(map(_is_pair, value)):
            return _unique([(pair["old"], pair["new"]) for pair in value])
        return {} if value is None else value

    def as_value(self) -> SectionEdit:
        return SectionEdit(tuple(self.add), tuple(self.replace.items()), tuple(self.delete))


def _is_pair(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"old", "new"} and isinstance(value["old"], str)


class _EditModel(BaseModel):
    model_config = ConfigDict(extra="forbid")
    objects: SectionModel = SectionModel()
    init: SectionModel = SectionModel()

    @field_validator("objects", "init", mode="before")
    @classmethod
    def _section(cls, value: Any) -> Any:
        return {} if value is None or value == [] else value


_LINES = {"type": "array", "items": {"type": "string"}}
_PAIR = {
    "type": "object",
    "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
    "required": ["old", "new"],
    "additionalProperties": False,
}
_SECTION = {
    "type": "object",
    "properties": {"add": _LINES, "replace": {"type": "array", "items": _PAIR}, "delete": _LINES},
    "required": ["add", "replace", "delete"],
    "additionalProperties": False,
}
EDIT_SCHEMA: Mapping[str, Any] = {
    "$defs": {"part": _SECTION},
    "type": "object",
    "properties": {name: {"$ref": "#/$defs/part"} for name in ("objects", "init")},
    "required": ["objects", "init"],
    "additionalProperties": False,
}
"""JSON schema of an edit, for endpoints that can hold a model to one; by hand, because every request pays for it.

It keeps the rules of strict structured output: no free map, every property required. The paper's form, a map from old
to new lines, is read as well.
"""


def parse_edit(text: str, alone: bool = False) -> Edit:
    """Read the first JSON object in `text` as an edit; what stands around it is ignored, or a fault if it must be
    `alone`.

    Raises `EditSyntaxError` if there is none, or if its keys or values are not those of an edit.
    """
    value, rest = first_object(text)
    if alone and rest:
        raise EditSyntaxError("there is text around the JSON object: answer with the object and nothing else")
    try:
        model = _EditModel.model_validate(value)
    except ValidationError as error:
        faults = (_fault(one) for one in error.errors()[:10])
        text = re.sub(r" or instance of \w+", "", "; ".join(faults))
        raise EditSyntaxError(f"the JSON is no edit: {text}") from error
    return Edit(model.objects.as_value(), model.init.as_value())


def _fault(error: Any) -> str:
    """What is wrong at one place of the JSON, with what stands there."""
    where = ".".join(str(each)[:MAX_SHOWN] for each in error["loc"])
    if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
        return f'{where} stands outside of "objects" and "init": {_brief(error["input"])}'
    return f"{where}: {error['msg']}: {_brief(error['input'])}"


MAX_SHOWN = 100
"""Characters of a key or a value in a message."""

MAX_STARTS = 50
"""Opening braces at which a JSON object is looked for; prose has few."""


def first_object(text: str, keys: Collection[str] = ("objects", "init")) -> tuple[Any, str]:
    """The first JSON object that is whole, and what stands around it.

    Behind a brace at which no object could be read, only an object with one of the `keys` counts: another may be a part
    of the broken one. Raises `EditSyntaxError` with what is wrong at the first brace, or that the text was cut off.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_unique)
    first: EditSyntaxError | None = None
    start = text.find("{")
    for _ in range(MAX_STARTS):
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
            if first is None or any(key in value for key in keys):
                # A lone surrogate is legal in JSON and in no file: it becomes a question mark.
                sound = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
                return sound, (text[:start] + text[end:]).strip()
            start = text.find("{", end)
        except json.JSONDecodeError as error:
            near = " ".join(text[max(start, error.pos - 60) : error.pos + 20].split())
            why = f"the JSON cannot be read: {error.msg} at line {error.lineno}, near {near}"
            if _is_end(error, text):
                raise EditSyntaxError(why, cut_off=True) from None
            first = first or EditSyntaxError(why)
            start = text.find("{", max(start + 1, error.pos))
        except RecursionError:
            raise EditSyntaxError("the JSON is nested too deeply") from None
        except ValueError as error:
            raise EditSyntaxError(f"the JSON cannot be read: {str(error)[:MAX_SHOWN]}") from None
    raise first or EditSyntaxError('the answer holds no JSON object: answer with {"objects": {…}, "init": {…}}')


def _is_end(error: json.JSONDecodeError, text: str) -> bool:
    """Whether nothing is wrong but that the text ends there, be it in a string or in a word such as `null`."""
    rest = text[error.pos :].rstrip()
    return error.msg.startswith("Unterminated string") or (len(rest) <= 6 and not set(rest) & set("]}"))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different: of two equal keys the decoder would silently drop one.

    Lists or objects under one key become one. Raises `ValueError` for other values.
    """
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    grouped: dict[str, list[Any]] = {}
    for key, each in pairs:
        grouped.setdefault(key, []).append(each)
    return {key: _together(key, several) for key, several in grouped.items()}


def _together(key: str, several: list[Any]) -> Any:
    first = several[0]
    if all(each == first for each in several):
        return first
    if all(isinstance(each, list) for each in several):
        return list(itertools.chain.from_iterable(several))
    if all(isinstance(each, dict) for each in several):
        return _unique([pair for each in several for pair in each.items()])
    shown = ", ".join(map(_brief, several[:2]))
    raise ValueError(f"the key '{key[:MAX_SHOWN]}' stands twice in one object: {shown}")


def _brief(value: Any) -> str:
    return json.dumps(value)[:MAX_SHOWN]
