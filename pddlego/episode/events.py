"""The events of episodes of every method. Everything that is displayed or recorded is computed from events.

A method adds events of its own: frozen dataclasses that extend `Event` and name their method. The first event with a
higher integer `step` begins a step of the episode; its `command`, if it has one, is displayed as the step's command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from pddlego.models.base import Completion, Feedback, Message, RetryNotice
from pddlego.pddl.edit import Entry


class Outcome(str, Enum):
    """How an episode ended. `no plan` means that the model gave no usable answer within its retries."""

    WON = "won"
    LOST = "lost"
    STEP_LIMIT = "step limit"
    NO_PLAN = "no plan"
    MODEL_ERROR = "model error"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    CRASHED = "crashed"


@dataclass(frozen=True)
class Limits:
    """The limits of an episode: steps, model calls, tokens (in and out), seconds. None: no limit."""

    steps: int | None
    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


class Event:
    """Something that happened. `type` is its name in journals; `method` is the method that defines it, empty for none.

    `times` are the paths of the fields that differ from run to run, such as `usage.seconds` (without the indices of
    lists): a replay does not compare them. Events that are `passing` report progress; `derived` events are checks that
    can be computed from the other events later. A replay leaves out both.
    """

    type: ClassVar[str]
    method: ClassVar[str] = ""
    times: ClassVar[tuple[str, ...]] = ()
    passing: ClassVar[bool] = False
    derived: ClassVar[bool] = False

    @property
    def may_be_cut_short(self) -> bool:
        """True if a time limit can change this event, so a replay need not reproduce it."""
        return False

    @property
    def plan_actions(self) -> tuple[str, ...] | None:
        """The actions of the plan in this event; None if it contains no plan."""
        return None

    @property
    def gave_up(self) -> str:
        """Why the planner gave up, as `(STATUS): GOAL`; empty if it did not."""
        return ""


@runtime_checkable
class Response(Protocol):
    """An event with a game's response to a `command`, which is None for the first observation."""

    command: str | None
    text: str
    score: float
    refused: bool


@dataclass(frozen=True)
class Started(Event):
    """The first event: the setting, mode, model, seed and limits of the episode, and the method that plays it.

    `seed` is None for settings without seeds. `details` are further JSON values that the method's screens need.
    """

    type = "started"
    times = ("details.engine",)  # another version of an engine is no difference if it plays the same game
    setting: str
    title: str
    mode: str
    model: str
    seed: int | None
    task: str
    limits: Limits
    played_by: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked(Event):
    """A request is sent. `call` counts model calls from 1, `attempt` the attempts at the same question from 0.

    `temperature_increase` and `max_tokens` change the request after an answer that was repeated or cut off.
    """

    type = "asked"
    call: int
    purpose: str
    attempt: int
    messages: tuple[Message, ...]
    characters: int
    temperature_increase: float = 0.0
    max_tokens: int | None = None


@dataclass(frozen=True)
class Retrying(Event):
    """A try to send the request of `call` has failed; the next try follows."""

    type = "retrying"
    passing = True
    call: int
    trouble: RetryNotice


@dataclass(frozen=True)
class Streamed(Event):
    """A part of the answer to the request of `call` was received: the text and reasoning since the last `Streamed`.

    `Answered` contains the complete answer.
    """

    type = "streamed"
    passing = True
    call: int
    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True)
class Answered(Event):
    """The model answered the request of `call`."""

    type = "answered"
    times = ("completion.seconds",)
    call: int
    completion: Completion


Source = Literal["model", "plan"]
"""The source of a change: an answer of a model (or a person's replacement), or the expected effects of a plan."""


@dataclass(frozen=True)
class Accepted(Event):
    """An answer was accepted: the thing of this `kind`, such as `problem`, is now `text`.

    If the `source` is a plan, no model was asked, because the game did what the plan expected. `renamed` lists (old,
    new) names; a change that only renames is neither in `added` nor in `removed`. `lines` are the lines of an edit with
    their effects. `defects` are the messages of harmless errors, and `kinds` are the kinds of these errors.
    """

    type = "accepted"
    kind: str
    text: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    lines: tuple[Entry, ...] = ()
    defects: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    source: Source = "model"


@dataclass(frozen=True)
class Rejected(Event):
    """An answer was rejected, with the `feedback`. `attempt` counts from 0, up to `attempts` in all (0: unknown).

    `lines` are the lines of an edit with their effects, `kinds` the kinds of the defects that the check found.
    """

    type = "rejected"
    attempt: int
    feedback: Feedback
    lines: tuple[Entry, ...] = ()
    kinds: tuple[str, ...] = ()
    attempts: int = 0

    @property
    def counted(self) -> str:
        """`attempt 2 of 6`."""
        return f"attempt {self.attempt + 1}" + (f" of {self.attempts}" if self.attempts else "")


@dataclass(frozen=True)
class Judged(Event):
    """A person decided about a text before it took effect. `what` is its kind: edits, plans, commands.

    `text` is the hint for the model with a rejection, or the replacement. The `seconds` of the decision do not count as
    time of the episode.
    """

    type = "judged"
    times = ("seconds",)
    what: str
    decision: Literal["accepted", "rejected", "replaced"]
    text: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Isolated(Event):
    """Programs of the model run in a sandbox: the requested isolation, and the layers that hold on this machine."""

    type = "isolated"
    times = ("layers",)
    isolation: str
    layers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of an episode. The method defines a step; `refused` counts the steps that a game refused.

    `seconds` is wall time, including `model_seconds` of waiting for answers. `from_cache` counts the calls that were
    answered from the cache and cost nothing. `tokens_reasoning` is the part of `tokens_out` that was reasoning.
    """

    steps: int = 0
    refused: int = 0
    calls: int = 0
    characters: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    seconds: float = 0.0
    model_seconds: float = 0.0
    from_cache: int = 0
    tokens_reasoning: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def with_answer(self, answer: Completion) -> Usage:
        """The usage after one more answer."""
        return replace(
            self,
            tokens_in=self.tokens_in + answer.tokens_in,
            tokens_out=self.tokens_out + answer.tokens_out,
            tokens_cached=self.tokens_cached + answer.tokens_cached,
            model_seconds=self.model_seconds + answer.seconds,
            from_cache=self.from_cache + answer.from_cache,
            tokens_reasoning=self.tokens_reasoning + answer.tokens_reasoning,
        )


Cause = Literal["", "calls", "tokens", "seconds", "evaluation", "refused", "no endpoint", "replay"]
"""The exhausted budget of an outcome `budget`: a limit of the episode, or the budget of the whole evaluation. Of a
`model error`: that of the `ModelError`. `replay`: a `ReplayError` ended the episode."""


@dataclass(frozen=True)
class Ended(Event):
    """The last event of an episode. `score` is between 0 and 1. `cause` is a `Cause`."""

    type = "ended"
    times = ("usage.seconds", "usage.model_seconds")
    outcome: Outcome
    message: str
    score: float
    usage: Usage = field(default_factory=Usage)
    cause: Cause = ""


@dataclass(frozen=True)
class Unknown(Event):
    """An event of a method that is not installed, as its journal contains it: the method is `owner`."""

    type = "unknown"
    owner: str
    name: str
    values: Mapping[str, Any]


COMMON: tuple[type[Event], ...] = (
    *(Started, Asked, Retrying, Streamed, Answered, Accepted, Rejected, Judged, Isolated, Ended),
)
"""The classes of the events that every method has."""


def step_of(event: Event) -> int | None:
    """The step number of the event; None if it has none."""
    step = getattr(event, "step", None)
    return step if isinstance(step, int) else None
