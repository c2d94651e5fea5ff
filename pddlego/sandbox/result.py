"""What a sandbox may use, and what comes of a call in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal

from pddlego.sandbox.jail import program, values
from pddlego.util.text import writable


@dataclass(frozen=True)
class SandboxLimits:
    """`seconds` of CPU time that a call may take, `memory` of the whole process in MiB, and how many bytes at most an
    answer may have: a line of JSON with everything in it.

    `patience` is how many times as long a call may take by the clock on the wall: a program that sleeps uses no CPU.
    After the signal to stop, a call has `grace` seconds to report where it was.
    """

    seconds: float = 30.0
    memory: int = 1024
    most: int = 10_000_000
    patience: float = 4.0
    grace: float = 3.0


class Status(str, Enum):
    """How a call ended."""

    RETURNED = "returned"
    RAISED = "raised"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    TOO_LARGE = "too large"
    DIED = "died"


@dataclass(frozen=True)
class CallResult:
    """What came of a call: `value` if it returned, else `message` in a line, and `traceback` where there is one.

    `error` is the name of the exception's class; `unreadable` says that the text of a program is not Python. `seconds`
    are of CPU time where that can be measured, else of wall time. `echo` are the arguments as they are after the call,
    if these were asked for. `size` estimates the bytes that all of it takes in memory. All of it is what the program
    says: check it.
    """

    status: Status
    value: Any = None
    message: str = ""
    traceback: str = ""
    error: str = ""
    seconds: float = 0.0
    echo: Any = None
    unreadable: bool = False
    size: int = 0

    @property
    def returned(self) -> bool:
        return self.status is Status.RETURNED


@dataclass(frozen=True)
class Call:
    """A function of a program, with the arguments that it gets besides a state."""

    module: str
    function: str
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class SandboxState:
    """A state that is sent whole."""

    value: Any


@dataclass(frozen=True)
class Expansion:
    """States of a search to be expanded, in their order: `goal` tests a state, `successors` lists what comes after it.

    A state that came up as a successor is named by its number. Where it is `watched`, a state that `successors` changes
    is noticed. Where it is given, numbers begin anew with `fresh`, and those before it mean nothing any more.
    """

    states: Sequence[SandboxState | int]
    goal: Call
    successors: Call
    watched: bool = False
    fresh: int | None = None


@dataclass(frozen=True)
class Changed:
    """`successors` changed what it was given: the argument at a place, 0 for the state, as it was afterwards."""

    value: Any
    place: int = 0


ExpandedState = Literal[True] | Changed | list[int]
"""What came of a state: it is a goal, it was changed, or the numbers of its successors."""


@dataclass(frozen=True)
class ExpansionResult:
    """What came of an expansion: of each state in turn, up to the first goal, change or fault.

    Successors are numbers of states, which are counted in the order in which they came up; `new` are the states that
    did so now.
    If `result` did not return, the state after those in `done` made the function fail that `at` names, `goal` or
    `successors`; after anything but an exception nothing is known of any state.
    """

    result: CallResult
    done: tuple[ExpandedState, ...] = ()
    new: tuple[Any, ...] = ()
    at: str = "goal"


ResultForm = Literal["any", "truth", "list"]
"""What a call returns: any value, whether it is true, or the list of what it holds."""

_TYPES: Mapping[ResultForm, type] = {"any": object, "truth": bool, "list": list}

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


def read_call(line: bytes, wanted: ResultForm = "any", arguments: int | None = None) -> ExpansionResult:
    """Read the answer to a call. `arguments` is how many are sent back, if they are.

    Raises `ValueError` for everything that the sandbox never writes.
    """
    answer, result = _parsed(line)
    if result.status is not Status.RETURNED:
        return ExpansionResult(result)
    if "value" not in answer:
        raise ValueError("a call that returned has a value")
    value = values.plain(answer["value"])
    echo = values.plain(answer["echo"]) if "echo" in answer else None
    if not isinstance(value, _TYPES[wanted]):
        raise ValueError(f"a {type(value).__name__} is returned where a {wanted} was requested")
    if arguments is not None and not (isinstance(echo, list) and len(echo) == arguments):
        raise ValueError("the arguments are missing")
    return ExpansionResult(replace(result, value=value, echo=echo))


def read_expansion(line: bytes, states: int, arguments: int) -> ExpansionResult:
    """Read the answer to an expansion of so many `states`, whose successor function takes so many `arguments`.

    Raises `ValueError` for everything that the sandbox never writes.
    """
    answer, result = _parsed(line)
    if result.status not in _COUNTED:
        return ExpansionResult(result)
    entries, new, at = answer.get("done"), values.plain(answer.get("new")), answer.get("at")
    if not isinstance(entries, list) or not isinstance(new, list) or at not in program.FUNCTIONS:
        raise ValueError("an expansion has the states that are done, those that are new, and a function")
    done = tuple(_done(item, arguments) for item in entries)
    ended = bool(done) and not isinstance(done[-1], list)
    complete = len(done) == states or (ended and len(done) < states)
    if complete is not result.returned or len(done) > states:
        raise ValueError(f"{len(done)} of {states} states cannot be done")
    return ExpansionResult(result, done, tuple(new), str(at))


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


def _done(item: Any, arguments: int) -> ExpandedState:
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
