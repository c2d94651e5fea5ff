"""The errors that a user, a model, a network or a disk can cause. Any other exception is a bug.

The command line prints an error in three lines, and ends with its exit code. During an episode, an error ends the
episode with an outcome (`episode/lifecycle.py`).
"""

from __future__ import annotations

import errno
from typing import Literal


class PddlegoError(Exception):
    """An expected error: `what` happened, the `reason`, and the `next_step` of the user. The last two may be empty.

    The exit code is 3, and an episode ends as `crashed`, unless a subclass says otherwise.
    """

    def __init__(self, what: str, reason: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.reason = reason
        self.next_step = next_step

    @property
    def sentence(self) -> str:
        """The three parts on one line."""
        tail = " ".join(part for part in (self.reason, self.next_step) if part)
        return " ".join((f"{self.what}: {tail}" if tail else self.what).split())

    def __str__(self) -> str:
        return "\n".join(part for part in (self.what, self.reason, self.next_step) if part)


class UsageError(PddlegoError):
    """The user's input is wrong: an unknown name, an invalid value or file, or options that exclude each other.

    The exit code is 2.
    """


class SettingError(UsageError):
    """A file in `envs/`, `domains/` or `prompts/`, or a folder of tasks, is missing or invalid. The exit code is 2."""


class ReservedNameError(UsageError):
    """A method measures a number under the name of a column that every table has."""


class ModelError(PddlegoError):
    """A model did not answer: the endpoint, the network or the key failed, or a recorded answer is to another question.

    An episode ends as `model error`, with this `cause`.
    """

    cause: Literal["", "refused", "no endpoint"] = ""


class RefusedError(ModelError):
    """The endpoint refuses every request: because of the key, the account or the name of the model."""

    cause = "refused"


class NoEndpointError(ModelError):
    """Nothing at the address answers as an endpoint: no connection, or a page that is not one of an endpoint.

    A server that has answered before may come back.
    """

    cause = "no endpoint"


class BudgetSpentError(ModelError):
    """The budget of the whole evaluation allows no further request. An episode ends as `budget`.

    `sent` is the number of requests with the same question that were sent before.
    """

    sent: int = 0


class RecordEndedError(ModelError):
    """A model was asked after the last answer of its recording."""


class NoTimeLeftError(ModelError):
    """The time of the episode was up before the request was sent, or before its answer was complete.

    If an earlier attempt at the request has failed, the error of that attempt is raised instead.
    """


class EngineError(PddlegoError):
    """A game engine, the planner or the sandbox did not start, ended, or failed."""


class TooManyCasesError(PddlegoError):
    """The evaluation of a condition, an action or a goal exceeded its limit of cases. `part` names the formula."""

    excess = "has too many cases to look at"

    def __init__(self, part: str = "") -> None:
        reason = "It has more cases for these objects than can be looked at."
        super().__init__(f"{part or 'a condition'} is too large", reason, "Use fewer variables or fewer objects.")
        self.part = part


class JournalError(PddlegoError):
    """A file of a run folder cannot be read or written, or is damaged."""


class ReplayError(PddlegoError):
    """A game that is played again answered a recorded command otherwise than recorded."""


def is_too_many_files(error: BaseException) -> bool:
    """Whether the limit of open files, of the process or of the system, was reached."""
    return isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)


TOO_MANY_FILES = "Raise the limit with 'ulimit -n', or play with fewer --workers."
"""The advice for an error of `is_too_many_files`."""


def message_of(error: BaseException) -> str:
    """The message of an exception, or a remark if its `__str__` fails: its class may belong to another program."""
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # noqa: BLE001 -- a class of another program may raise anything
        return f"(no message: its __str__ raises {type(failure).__name__})"
