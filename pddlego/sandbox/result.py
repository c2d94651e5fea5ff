"""The limits of a sandbox, the requests to it, and the results of calls."""

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
    """The limits of calls: `seconds` of CPU time for a call, and `memory` of the whole process in MiB.

    An answer, which is one line of JSON, may have `most` bytes. A call may take `patience` times `seconds` of wall
    time, because a sleeping program uses no CPU time. After the signal to stop, a call has `grace` seconds to report
    its traceback.
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
    """The result of a call: the `value` that it returned, or else a one-line `message` and perhaps a `traceback`.

    `error` is the name of the exception's class; `unreadable` is true if a program's text is not Python. `seconds` is
    CPU time if the system can measure it, else wall time. `echo` is the list of the arguments after the call, if it was
    requested. `size` estimates the memory of the result in bytes. Check each result: the program may have forged it.
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
    """A function of a program, and its arguments after the state."""

    module: str
    function: str
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class SandboxState:
    """A state that is sent as a value, and not as the number of a known state."""

    value: Any


@dataclass(frozen=True)
class Expansion:
    """A request to expand states of a search in order: `goal` tests a state, and `successors` returns its successors.

    A state that was a successor before is sent as its number. If `watched`, a change of an argument by `successors` is
    reported. If `fresh` is not None, the known states are forgotten, and new states are numbered from `fresh`.
    """

    states: Sequence[SandboxState | int]
    goal: Call
    successors: Call
    watched: bool = False
    fresh: int | None = None


@dataclass(frozen=True)
class Changed:
    """The function `successors` changed one of its arguments: its index (0: the state), and its value afterwards."""

    value: Any
    place: int = 0


ExpandedState = Literal[True] | Changed | list[int]
"""The result for one state: True for a goal, a change of an argument, or the numbers of the successors."""


@dataclass(frozen=True)
class ExpansionResult:
    """The result of an expansion: `done` has a result for each state, up to the first goal, change or failure.

    States are numbered in the order in which they first occur as successors; `new` are the states that first occur in
    this expansion. If `result` did not return, the function `at` (`goal` or `successors`) failed on the state after
    those in `done`; unless it raised an exception, `done` and `new` are empty.
    """

    result: CallResult
    done: tuple[ExpandedState, ...] = ()
    new: tuple[Any, ...] = ()
    at: str = "goal"


ResultForm = Literal["any", "truth", "list"]
"""The conversion of a call's value: none, its truth, or the list of its items."""

_TYPES: Mapping[ResultForm, type] = {"any": object, "truth": bool, "list": list}

_KEPT = {
    "message": program.MOST_MESSAGE,
    "error": values.REPR,
    "traceback": program.MOST_TRACEBACK + len(program.GAP),
}
"""Maximum characters of each text in an answer. The sandbox never writes more."""

PART, OBJECT = 64, 256
"""Rough estimates in bytes: the memory of a nested value besides its text, and the additional memory of an object."""

_COUNTED = (Status.RETURNED, Status.RAISED)
"""The statuses after which the states that an expansion reports are known."""


def read_call(line: bytes, wanted: ResultForm = "any", arguments: int | None = None) -> ExpansionResult:
    """Read the answer to a call. `arguments` is the number of arguments in its echo; None if no echo was requested.

    Raises `ValueError` for an answer that the sandbox never writes.
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
    """Read the answer to an expansion. `states` and the `arguments` of the successor function are numbers of these.

    Raises `ValueError` for an answer that the sandbox never writes.
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
    """Parse a line, and read the parts that every answer has: the status and the texts."""
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
    """Read the result for one state."""
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
