"""Decode and check the answers of a program. Everything that is read after the sandbox is locked comes through here.

Every line is a claim of the program, which shares its process with the code that answers and can write to the pipe
itself. So each line is bounded in size before it is parsed, each field is checked, and each text is cut.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from pddlego.sandbox.jail import batches, program, values
from pddlego.sandbox.result import CallResult, Changed, Done, Expanded, Status
from pddlego.util.text import writable

Wanted = Literal["any", "truth", "list"]
"""What a call returns: any value, whether it is true, or the list of what it holds."""

_TYPES: Mapping[Wanted, type] = {"any": object, "truth": bool, "list": list}

_KEPT = {
    "message": program.MOST_MESSAGE,
    "error": values.REPR,
    "traceback": program.MOST_TRACEBACK + len(program.GAP),
}
"""Characters of each text that are kept. The sandbox never writes more."""

PART, OBJECT = 64, 256
"""A rough estimate of the memory, in bytes, of a nested value besides its text, and of an object in addition."""

_COUNTED = (Status.RETURNED, Status.RAISED)
"""The statuses after which the states that an expansion reports are known."""


def read_call(line: bytes, wanted: Wanted = "any", arguments: int | None = None) -> Expanded:
    """Read the answer to a call. `arguments` is how many are sent back, if they are.

    Raises `ValueError` for everything that the sandbox never writes.
    """
    answer, result = _parsed(line)
    if result.status is not Status.RETURNED:
        return Expanded(result)
    if "value" not in answer:
        raise ValueError("a call that returned has a value")
    value = values.plain(answer["value"])
    echo = values.plain(answer["echo"]) if "echo" in answer else None
    if not isinstance(value, _TYPES[wanted]):
        raise ValueError(f"a {type(value).__name__} is returned where a {wanted} was requested")
    if arguments is not None and not (isinstance(echo, list) and len(echo) == arguments):
        raise ValueError("the arguments are missing")
    return Expanded(replace(result, value=value, echo=echo))


def read_expansion(line: bytes, states: int, arguments: int) -> Expanded:
    """Read the answer to an expansion of so many `states`, whose successor function takes so many `arguments`.

    Raises `ValueError` for everything that the sandbox never writes.
    """
    answer, result = _parsed(line)
    if result.status not in _COUNTED:
        return Expanded(result)
    listed, new, at = answer.get("done"), values.plain(answer.get("new")), answer.get("at")
    if not isinstance(listed, list) or not isinstance(new, list) or at not in batches.FUNCTIONS:
        raise ValueError("an expansion has the states that are done, those that are new, and a function")
    done = tuple(_done(item, arguments) for item in listed)
    ended = bool(done) and not isinstance(done[-1], list)
    complete = len(done) == states or (ended and len(done) < states)
    if complete is not result.returned or len(done) > states:
        raise ValueError(f"{len(done)} of {states} states cannot be done")
    return Expanded(result, done, tuple(new), str(at))


def _parsed(line: bytes) -> tuple[Mapping[str, Any], CallResult]:
    """Parse a line, and read what every answer has: how the call ended, and texts."""
    parts = values.parts(line)
    if parts > values.MOST_PARTS:
        raise ValueError("it has too many parts")
    try:
        answer = json.loads(line)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(answer, dict):
        raise ValueError("an answer is an object")
    status = answer.get("status")
    texts = {name: answer.get(name, "") for name in _KEPT}
    if not isinstance(status, str) or not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("an answer has a status, and texts")
    size = len(line) + PART * parts + OBJECT * line.count(b"{")
    cut: dict[str, Any] = {name: writable(texts[name][:most]) for name, most in _KEPT.items()}
    return answer, CallResult(Status(status), size=size, **cut)


def _done(item: Any, arguments: int) -> Done:
    """Read what became of one state."""
    if item is True:
        return True
    if isinstance(item, dict):
        place = item.get("place")
        if type(place) is not int or not 0 <= place < arguments or "changed" not in item:
            raise ValueError("a change has the place of an argument and its value")
        return Changed(values.plain(item["changed"]), place)
    if not isinstance(item, list) or not set(map(type, item)) <= {int} or (item and min(item) < 0):
        raise ValueError("successors are numbers of states")
    return item
