"""Errors that a user, a model, a network or a disk can cause, as typed values.

Every one says three things: what happened, why, and what to do next. Whatever is not a `PddlegoError` is a bug of
ours. The command line turns one into three lines and an exit code; an episode turns one into a typed outcome.
"""

from __future__ import annotations

import errno


class PddlegoError(Exception):
    """Base class of all expected errors: `what` happened, the `reason`, and the `next_step` (both may be empty)."""

    def __init__(self, what: str, reason: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.reason = reason
        self.next_step = next_step

    @property
    def sentence(self) -> str:
        """The whole message on one line."""
        tail = " ".join(part for part in (self.reason, self.next_step) if part)
        return " ".join((f"{self.what}: {tail}" if tail else self.what).split())

    def __str__(self) -> str:
        return "\n".join(part for part in (self.what, self.reason, self.next_step) if part)


class UsageError(PddlegoError):
    """The user named something that does not exist, or a combination that is not possible (exit code 2)."""


class SettingError(UsageError):
    """A settings file, a prompt or a domain on disk is not what it must be (exit code 2)."""


class ModelError(PddlegoError):
    """The model could not answer: endpoint, key, network, or a transcript that does not match (exit code 3)."""


class BudgetSpentError(ModelError):
    """The budget of an evaluation allows no further request: the episode ends as `budget`.

    `sent` counts the tries at the same question that went out before.
    """

    sent: int = 0


class RecordEndedError(ModelError):
    """A record of answers holds no further answer."""


class NoTimeLeftError(ModelError):
    """The episode's time was up before a request was sent, or before the answer to the first try was whole.

    Where a try has failed before, that failure is the `ModelError`.
    """


class EngineError(PddlegoError):
    """The game engine could not start, died, or answered with an error (exit code 3)."""


class TooManyCasesError(PddlegoError):
    """A condition, an action or a goal has more cases than are looked at (exit code 3). `part` names it."""

    def __init__(self, part: str = "") -> None:
        reason = "It has more cases for these objects than can be looked at."
        super().__init__(f"{part or 'a condition'} is too large", reason, "Use fewer variables or fewer objects.")
        self.part = part


class JournalError(PddlegoError):
    """A run folder cannot be written or read (exit code 3)."""


DIFFERS = "The game answers otherwise than recorded"
"""How a `ReplayError` begins; in a journal it is all that is left of one."""


class ReplayError(PddlegoError):
    """What is played again does not do again what was recorded."""


def is_too_many_files(error: BaseException) -> bool:
    """Whether the system allows no further open file."""
    return isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)


TOO_MANY_FILES = "Raise the limit with 'ulimit -n', or play with fewer --workers."


def message_of(error: BaseException) -> str:
    """What an exception says. The class may be of another program, and its `__str__` may fail."""
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # noqa: BLE001 -- a class of another program may raise anything
        return f"(no message: its __str__ raises {type(failure).__name__})"


def explained(error: BaseException, owner: str = "pddlego") -> str:
    """What `Ended` says about an unexpected exception: the system limit that was hit, or 'a bug in `owner`'."""
    if any(map(is_too_many_files, _chain(error))):
        return f"too many files are open at once. {TOO_MANY_FILES}"
    first, *_ = message_of(error).splitlines() or [""]
    return f"a bug in {owner}: {type(error).__name__}{': ' * bool(first)}{first}"


def _chain(error: BaseException) -> list[BaseException]:
    """The error and those that led to it, each once: what fails in handling a limit follows from the limit."""
    errors: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in errors:
        errors.append(following)
        following = following.__cause__ or following.__context__
    return errors
