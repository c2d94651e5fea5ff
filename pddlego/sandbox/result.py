"""The limits of a sandbox, and the results of calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal

from pddlego.sandbox.jail import program, values
from pddlego.util.text import writable

PATIENCE = 4.0
"""The usual limit of wall time, as a multiple of that of CPU time."""


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
    patience: float = PATIENCE
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


def read_call(line: bytes, wanted: ResultForm = "any", arguments: int | None = None) -> CallResult:
    """Read the answer to a call. `arguments` is the number of arguments in its echo; None if no echo was requested.

    Raises `ValueError` for an answer that the sandbox never writes.
    """
    answer, result = _parsed(line)
    if result.status is not Status.RETURNED:
        return result
    if "value" not in answer:
        raise ValueError("a call that returned has a value")
    value = values.plain(answer["value"])
    echo = values.plain(answer["echo"]) if "echo" in answer else None
    if not isinstance(value, _TYPES[wanted]):
        raise ValueError(f"a {type(value).__name__} is returned where a {wanted} was requested")
    if arguments is not None and not (isinstance(echo, list) and len(echo) == arguments):
        raise ValueError("the arguments are missing")
    return replace(result, value=value, echo=echo)


Check = Callable[[CallResult], CallResult]
"""Checks and converts the result of a driver. Raises `ValueError` for a result that the driver never sends."""


def read_parts(line: bytes, check: Check) -> CallResult:
    """Read the answer of a driver. Raises `ValueError` for an answer that the sandbox or the driver never sends."""
    answer, result = _parsed(line)
    if result.status not in (Status.RETURNED, Status.RAISED):
        return result
    parts = values.plain(answer.get("value"))
    if not isinstance(parts, list):
        raise ValueError("the values of a driver are a list")
    return check(replace(result, value=parts))


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
