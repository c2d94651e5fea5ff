"""The form of an answer that is one edit or one problem file and nothing else, which rewards require."""

from __future__ import annotations

import re

from pddlego.pddl.edit import SECTION_KEYS
from pddlego.pddl.nearly_json import EditSyntaxError, last_object
from pddlego.util.answers import reasoning

_FENCED = re.compile(r"```[a-z]{0,10}[ \t]*\n((?:(?!```).)*)```\Z", re.DOTALL | re.IGNORECASE)
"""A text that is one fenced block."""

_FILE = re.compile(r"\(\s*define\b", re.IGNORECASE)

_PARENTHESIS = re.compile(r"[()]")


def surplus_of(answer: str) -> str:
    """What an answer has besides one edit or one problem file, as a clause; empty if it has nothing else.

    Reasoning before the edit or file, and one fence around it, do not count. Comments do: they may say anything.
    """
    end = 0
    for start, stop in reasoning(answer):
        if answer[end:start].strip():
            return "there is text before the reasoning"
        end = stop
    text = answer[end:].strip()
    fenced = _FENCED.match(text)
    text = fenced[1].strip() if fenced else text
    if not text:
        return "there is no answer after the reasoning" if end else "the answer is empty"
    if len(text) > 2 * len(re.sub(r"\s+", " ", text)) + 1000:
        return "it is mostly white space"
    return _around_file(text) if text.startswith("(") else _around_edit(text)


_EDIT = re.compile(r"\{\s*(?:\}|[\W_]?(?:objects|init)\b)")
"""The beginning of an edit that is in no other object."""

_KEY = re.compile(r"[\"'](objects|init)[\"']\s*:")

_TWO_TYPES = re.compile(r"\s-\s+[^\s\"]+\s+-\s")


def _around_edit(text: str) -> str:
    try:
        edit = last_object(text, ("objects", "init"), SECTION_KEYS)
    except EditSyntaxError as error:
        return str(error)
    keys = _KEY.findall(text)
    if edit.rest or not _EDIT.match(text):
        return "there is text outside of the edit"
    if "a comment" in edit.repairs:
        return "there is a comment in the JSON object"
    if len(keys) > len(set(keys)):
        return "a part of the edit is there twice"
    if _TWO_TYPES.search(text):
        return "a line of the edit has two types"
    return "there is a comment in a line of the edit" if ";" in text else ""


def _around_file(text: str) -> str:
    if not _FILE.match(text):
        return "it is not a file, which begins with (define"
    if ";" in text:
        return "there is a comment in the file"
    depth = 0
    for match in _PARENTHESIS.finditer(text):
        depth += 1 if match[0] == "(" else -1
        if depth <= 0:
            return "there is text after the file" if text[match.end() :].strip() else ""
    return "the file has no end"
