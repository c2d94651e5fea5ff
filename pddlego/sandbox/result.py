"""What a sandbox may use, and what comes of a call in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal


@dataclass(frozen=True)
class SandboxLimits:
    """`seconds` of CPU time that a call may take, `memory` of the whole process in MiB, and how many bytes at most an
    answer may have: a line of JSON with everything in it.

    `patience` is how many times as long a call may take by the clock on the wall: a program that sleeps uses no CPU.
    After a call was told to stop it has the `grace`, in seconds, to say where it was.
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

    `error` is the name of the exception's class; `unreadable` says that the text of a program is no Python. `seconds`
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
class State:
    """A state that is sent whole."""

    value: Any


@dataclass(frozen=True)
class Expansion:
    """States of a search to be expanded, in their order: `goal` tests a state, `successors` lists what comes after it.

    A state that came up as a successor is named by its number. Where it is `watched`, a state that `successors` changes
    is noticed. Where it is given, numbers begin anew with `fresh`, and those before it mean nothing any more.
    """

    states: Sequence[State | int]
    goal: Call
    successors: Call
    watched: bool = False
    fresh: int | None = None


@dataclass(frozen=True)
class Changed:
    """`successors` changed what it was given: the argument at a place, 0 for the state, as it was afterwards."""

    value: Any
    place: int = 0


Done = Literal[True] | Changed | list[int]
"""What came of a state: it is a goal, it was changed, or the numbers of its successors."""


@dataclass(frozen=True)
class Expanded:
    """What came of an expansion: of each state in turn, up to the first goal, change or fault.

    Successors are numbers of states, which are counted in the order in which they came up; `new` are the states that
    did so now.
    If `result` did not return, the state after those in `done` made the function fail that `at` names, `goal` or
    `successors`; after anything but an exception nothing is known of any state.
    """

    result: CallResult
    done: tuple[Done, ...] = ()
    new: tuple[Any, ...] = ()
    at: str = "goal"
