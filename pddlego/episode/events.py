"""What can happen in an episode of any method. All that people see or keep is made from events and nothing else.

A method adds events of its own: frozen dataclasses that extend `Event` and name their method. One with an integer
`step` moves the episode on; what is shown of it is its `command`, if it has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar, Literal

from pddlego.models.base import Completion, Feedback, Message, RetryNotice
from pddlego.pddl.edit import Entry


class Outcome(str, Enum):
    """How an episode ended. `no plan` means that no usable answer came from the model within its retries."""

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
    """What an episode may use at most: steps, model calls, tokens (in and out), seconds. None: no limit."""

    steps: int | None
    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


class Event:
    """Something that happened. `type` names it in journals; `method` is the one that it belongs to, empty for all.

    `times` are the fields that differ from run to run (`usage.seconds`; without the numbers of list items): a replay
    does not compare them. Events that are `passing` report progress, and are
    excluded from replay.
    """

    type: ClassVar[str]
    method: ClassVar[str] = ""
    times: ClassVar[tuple[str, ...]] = ()
    passing: ClassVar[bool] = False

    @property
    def may_be_cut_short(self) -> bool:
        """True if a time limit can change this event, so a replay need not reproduce it."""
        return False

    @property
    def plan_actions(self) -> tuple[str, ...] | None:
        """The actions of the plan that the event brings; None if it brings no plan."""
        return None


@dataclass(frozen=True)
class Started(Event):
    """The first event: what is played, by which method and model, under which limits. `seed` is None without seeds.

    `details` is what the method's picture needs besides: plain JSON values.
    """

    type = "started"
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
    """A request goes out. `call` counts model calls from 1, `attempt` the tries at the same question from 0.

    `temperature_increase` was added to the temperature, and `max_tokens` were allowed, because the last answer asked
    for it.
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
    """A try at the request of `call` has failed; the next follows."""

    type = "retrying"
    passing = True
    call: int
    trouble: RetryNotice


@dataclass(frozen=True)
class Streamed(Event):
    """Words of the answer to the request of `call` came: text and reasoning since the last ones.

    Who reads the journal later finds all of them in `Answered`; a replay has none.
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
"""Who says something: a model's answer (or a person in its place), or what a plan expected and came about."""


@dataclass(frozen=True)
class Accepted(Event):
    """An answer was accepted: the `kind` of thing that it is about (`problem`) is now `text`, and this changed.

    Where its `source` is a plan, no model was asked: all went as planned, and there was nothing else to know.
    `renamed` lists (old, new) names; what only got another name is neither in `added` nor in `removed`. `lines` is what
    became of the lines of an edit, `defects` are the messages of what was wrong and harmless, `kinds` their kinds.
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
    """An answer was rejected: `attempt` (from 0) of so many `attempts` (0: unknown), with the reason.

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
    """A person was shown something (`what`: edits, plans, commands) before it took effect.

    `decision` is accepted, rejected (`text` is the hint for the model) or replaced (`text` is the replacement). The
    person took `seconds`, which do not count as time of the episode.
    """

    type = "judged"
    times = ("seconds",)
    what: str
    decision: Literal["accepted", "rejected", "replaced"]
    text: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Isolated(Event):
    """What the model writes is run in a sandbox: what was asked for, and the layers that hold on this machine."""

    type = "isolated"
    times = ("layers",)
    isolation: str
    layers: tuple[str, ...]


@dataclass(frozen=True)
class Usage:
    """What an episode used. `steps` are counted as the method counts them, `refused` those that changed nothing.

    `seconds` is wall time, of which `model_seconds` were waited for answers. `from_cache` counts the calls that were
    answered from the cache, and cost nothing. `tokens_reasoning` are those of `tokens_out` that were reasoning.
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

    def with_answer(self, answer: Completion) -> Usage:
        """With what an answer took."""
        return replace(
            self,
            tokens_in=self.tokens_in + answer.tokens_in,
            tokens_out=self.tokens_out + answer.tokens_out,
            tokens_cached=self.tokens_cached + answer.tokens_cached,
            model_seconds=self.model_seconds + answer.seconds,
            from_cache=self.from_cache + answer.from_cache,
            tokens_reasoning=self.tokens_reasoning + answer.tokens_reasoning,
        )


Cause = Literal["", "calls", "tokens", "seconds", "evaluation"]
"""What a `budget` was spent of: a limit of the episode itself, or the budget of the whole evaluation."""


@dataclass(frozen=True)
class Ended(Event):
    """The last event of an episode. `score` is between 0 and 1. `cause` says which budget was spent, if one was."""

    type = "ended"
    times = ("usage.seconds", "usage.model_seconds")
    outcome: Outcome
    message: str
    score: float
    usage: Usage = field(default_factory=Usage)
    cause: Cause = ""


@dataclass(frozen=True)
class Unknown(Event):
    """An event of a method that is not installed here, as its journal holds it."""

    type = "unknown"
    owner: str
    name: str
    values: Mapping[str, Any]


COMMON: tuple[type[Event], ...] = (
    *(Started, Asked, Retrying, Streamed, Answered, Accepted, Rejected, Judged, Isolated, Ended),
)
"""What happens in episodes of every method."""


def step_of(event: Event) -> int | None:
    """The step that the episode is at after the event; None for one that moves nothing."""
    step = getattr(event, "step", None)
    return step if isinstance(step, int) else None
