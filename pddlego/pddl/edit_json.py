"""The JSON border of PDDL-edit: from the text of an answer to an `Edit`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from pddlego.pddl.edit import Edit, SectionEdit


class EditSyntaxError(ValueError):
    """An answer holds no readable edit; the message says what is wrong with it.

    `cut_off` says that it ends in the middle of one.
    """

    def __init__(self, message: str, cut_off: bool = False) -> None:
        super().__init__(message)
        self.cut_off = cut_off


class _SectionModel(BaseModel):
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
        return {} if value is None or value == [] else value

    def as_value(self) -> SectionEdit:
        return SectionEdit(tuple(self.add), tuple(self.replace.items()), tuple(self.delete))


class _EditModel(BaseModel):
    model_config = ConfigDict(extra="forbid")
    objects: _SectionModel = _SectionModel()
    init: _SectionModel = _SectionModel()

    @field_validator("objects", "init", mode="before")
    @classmethod
    def _section(cls, value: Any) -> Any:
        return {} if value is None or value == [] else value


_LINES = {"type": "array", "items": {"type": "string"}}
_PAIRS = {"type": "object", "additionalProperties": {"type": ["string", "null"]}}
_SECTION = {
    "type": "object",
    "properties": {"add": _LINES, "replace": _PAIRS, "delete": _LINES},
    "additionalProperties": False,
}
EDIT_SCHEMA: Mapping[str, Any] = {
    "$defs": {"section": _SECTION},
    "type": "object",
    "properties": {name: {"$ref": "#/$defs/section"} for name in ("objects", "init")},
    "required": ["objects", "init"],
    "additionalProperties": False,
}
"""JSON schema of an edit, for endpoints that can hold a model to one; by hand, because every request pays for it."""


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
    where = ".".join(str(each) for each in error["loc"])
    if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
        return f'{where} stands outside of "objects" and "init": {_brief(error["input"])}'
    return f"{where}: {error['msg']}: {_brief(error['input'])}"


MAX_STARTS = 50
"""Opening braces at which a JSON object is looked for; prose has few."""


def first_object(text: str) -> tuple[Any, str]:
    """The first JSON object that is whole, and what stands around it.

    Raises `EditSyntaxError` with what is wrong at the first brace.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_unique)
    first: EditSyntaxError | None = None
    start = text.find("{")
    for _ in range(MAX_STARTS):
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
            # A lone surrogate is legal in JSON and in no file: it becomes a question mark.
            sound = json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
            return sound, (text[:start] + text[end:]).strip()
        except json.JSONDecodeError as error:
            ends = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
            first = first or EditSyntaxError(f"the JSON cannot be read: {error.msg} at line {error.lineno}", ends)
        except RecursionError:
            raise EditSyntaxError("the JSON is nested too deeply") from None
        except ValueError as error:
            raise EditSyntaxError(f"the JSON cannot be read: {str(error)[:100]}") from None
        start = text.find("{", start + 1)
    raise first or EditSyntaxError('the answer holds no JSON object: answer with {"objects": {…}, "init": {…}}')


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different: of two equal keys the decoder would silently drop one.

    Two lists or objects under one key become one. Raises `ValueError` for two other values.
    """
    value: dict[str, Any] = {}
    for key, more in pairs:
        value[key] = _both(key, value[key], more) if key in value else more
    return value


def _both(key: str, first: Any, second: Any) -> Any:
    if first == second:
        return first
    if isinstance(first, list) and isinstance(second, list):
        return first + second
    if isinstance(first, dict) and isinstance(second, dict):
        return _unique([*first.items(), *second.items()])
    raise ValueError(f"the key '{key}' stands twice in one object, for {_brief(first)} and {_brief(second)}")


def _brief(value: Any) -> str:
    return json.dumps(value)[:60]
