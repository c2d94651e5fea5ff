"""The JSON border of PDDL-edit: from the text of an answer to an `Edit`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from pddlego.pddl.edit import Edit, SectionEdit


class EditSyntaxError(ValueError):
    """An answer holds no readable edit; the message says what is wrong with it."""


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


EDIT_SCHEMA: Mapping[str, Any] = _EditModel.model_json_schema()
"""JSON schema of an edit, for endpoints that can hold a model to one."""


def parse_edit(text: str) -> Edit:
    """Read the first JSON object in `text` as an edit; what stands around it is ignored.

    Raises `EditSyntaxError` if there is none, or if its keys or values are not those of an edit.
    """
    start = text.find("{")
    if start < 0:
        raise EditSyntaxError('the answer holds no JSON object: answer with {"objects": {…}, "init": {…}}')
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise EditSyntaxError(f"the JSON cannot be read: {error.msg} at line {error.lineno}") from error
    except RecursionError as error:
        raise EditSyntaxError("the JSON is nested too deeply") from error
    try:
        model = _EditModel.model_validate(value)
    except ValidationError as error:
        faults = (f"{'.'.join(str(each) for each in one['loc'])}: {one['msg']}" for one in error.errors())
        raise EditSyntaxError("the JSON is no edit: " + "; ".join(faults)) from error
    return Edit(model.objects.as_value(), model.init.as_value())
