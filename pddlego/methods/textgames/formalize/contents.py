"""The second model instance of the paper's Cooking World, which lists what rooms and opened containers hold (App. B).

It replaces the rules of the script (`reader.paper_cooking.seen_in`) in variants without the part `content-rules`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pddlego.methods.textgames.formalize import PromptContext
from pddlego.models import Message, Request
from pddlego.models.prompts import Prompts
from pddlego.pddl import EditSyntaxError
from pddlego.pddl.nearly_json import last_object

CONTENTS = "contents"
"""The purpose of the requests."""

_KEYS = {"take": "things", "open": "closed"}
"""The lists of an answer, by the verb of the command that the script sends for each of their names."""

_MOST, _LONGEST = 50, 60
"""Maximum number of names in a list, and of characters in a name."""


def contents_request(prompts: Prompts, situation: PromptContext) -> Request:
    """The request about the last new observation, which describes a room or an opened container."""
    message = Message("user", prompts.render("script/contents", text=situation.seen.news[-1].text))
    return Request(CONTENTS, (message,), situation, {})


def contents_answer(commands: Sequence[str]) -> str:
    """The answer for which the script sends these commands."""
    pairs = [command.split(" ", 1) for command in commands]
    return json.dumps({key: [name for verb, name in pairs if verb == own] for own, key in _KEYS.items()})


def read_contents(answer: str) -> tuple[str, ...]:
    """The commands of an answer: things are taken, and closed containers opened. Raises `EditSyntaxError`."""
    value = last_object(answer, _KEYS.values(), tolerant=False).value
    commands: list[str] = []
    for verb, key in _KEYS.items():
        names = value.get(key, [])
        if not isinstance(names, list) or not all(isinstance(name, str) and name.isprintable() for name in names):
            raise EditSyntaxError(f'"{key}" is not a list of names')
        commands += (f"{verb} {' '.join(name.split())[:_LONGEST]}" for name in names[:_MOST])
    return tuple(commands)
