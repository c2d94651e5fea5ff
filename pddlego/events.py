"""What can happen in an episode. Everything that people see or keep is made from these events and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter

SCHEMA = 1
"""Version of a journal's lines. It grows when an old reader would misread a new file."""


class Outcome(str, Enum):
    """How an episode ended. `no plan` means that no usable problem came from the model within its retries."""

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
    """What an episode may use at most: game steps, model calls, tokens (in and out), seconds. None: no limit."""

    steps: int
    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class EpisodeStarted:
    """The first event: what is played, by which method and model, under which limits."""

    setting: str
    title: str
    mode: str
    model: str
    seed: int
    task: str
    goals: tuple[str, ...]
    limits: Limits
    map: Mapping[str, Any] | None = None
    type: Literal["started"] = "started"


@dataclass(frozen=True)
class Observed:
    """The game answered. `command` is None for the first look; `text` is the whole answer, `read` what is read of it.

    `refused` means that nothing happened; `surprise` says how the answer differs from what the plan expected,
    `unforeseen` what the model is told of that. `free` is a look around that took no step: the game tells it anyway.
    """

    step: int
    command: str | None
    text: str
    read: str
    score: float = 0.0
    won: bool = False
    lost: bool = False
    refused: bool = False
    surprise: str = ""
    unforeseen: str = ""
    free: bool = False
    type: Literal["observed"] = "observed"


@dataclass(frozen=True)
class RecordedMessage:
    """A message as it was sent."""

    role: str
    content: str


@dataclass(frozen=True)
class Asked:
    """A request goes out. `call` counts model calls from 1, `attempt` the tries at the same question from 0.

    `warmth` was added to the temperature, and `room` tokens were allowed, because the last answer asked for it.
    """

    call: int
    purpose: str
    attempt: int
    messages: tuple[RecordedMessage, ...]
    characters: int
    warmth: float = 0.0
    room: int | None = None
    type: Literal["asked"] = "asked"


@dataclass(frozen=True)
class Retrying:
    """A try at the request of `call` has failed, and why; the next follows after `wait` seconds. `tries` of `most`
    were made."""

    call: int
    why: str
    tries: int
    most: int
    wait: float
    type: Literal["retrying"] = "retrying"


@dataclass(frozen=True)
class Answered:
    """The model answered. `attempts` counts the requests sent: none for an answer that was kept (`from_cache`).

    `reasoning` is what the model thought before, where the endpoint gives it apart.
    """

    call: int
    text: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    seconds: float
    attempts: int
    estimated: bool = False
    finish: str = "stop"
    from_cache: bool = False
    reasoning: str = ""
    type: Literal["answered"] = "answered"


@dataclass(frozen=True)
class EditLine:
    """One line of an edit and what became of it."""

    kind: str
    where: str
    line: str
    note: str = ""


@dataclass(frozen=True)
class Formalized:
    """An answer was accepted: the problem is now `problem`, and this changed.

    `renamed` lists (old, new) names; what only got another name is neither in `added` nor in `removed`. `defects` are
    the messages of what was wrong and harmless, `kinds` their kinds.
    """

    problem: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...] = ()
    lines: tuple[EditLine, ...] = ()
    defects: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    type: Literal["formalized"] = "formalized"


@dataclass(frozen=True)
class Rejected:
    """An answer could not be used, and why. `lines` is what became of the lines of an edit, `kinds` are the kinds of
    the defects that the check found."""

    attempt: int
    category: str
    message: str
    evidence: tuple[str, ...] = ()
    lines: tuple[EditLine, ...] = ()
    kinds: tuple[str, ...] = ()
    type: Literal["rejected"] = "rejected"


@dataclass(frozen=True)
class TriedRung:
    """One rung of the ladder and what planning for it gave. `length` counts the steps of its plan."""

    name: str
    status: str
    message: str
    seconds: float
    length: int = 0


@dataclass(frozen=True)
class PlannedStep:
    """One step of a plan: the ground action, its command, and the facts that it is expected to add and remove."""

    action: str
    command: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Planned:
    """The ladder was climbed. `rung` names the goal of the plan, or is None if no goal can be reached."""

    tried: tuple[TriedRung, ...]
    rung: str | None
    plan: tuple[PlannedStep, ...]
    type: Literal["planned"] = "planned"


@dataclass(frozen=True)
class Resumed:
    """The episode goes on where another one was left, after `step`: the game was brought there by its commands.

    `source` is the journal of the other. `corrected` says that a person corrected the problem: `added` and `removed`
    are what they changed. `known` is of how many observations the problem `before` the correction was made.
    """

    source: str
    step: int
    before: str
    known: int
    corrected: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    type: Literal["resumed"] = "resumed"


@dataclass(frozen=True)
class Judged:
    """A person was shown an edit, a plan or a command (`what`) before it took effect.

    `verdict` is accepted, rejected (`text` is the hint that the model gets) or replaced (`text` is by what). The person
    took so many `seconds`, which are none of the episode's.
    """

    what: Literal["edits", "plans", "commands"]
    verdict: Literal["accepted", "rejected", "replaced"]
    text: str = ""
    seconds: float = 0.0
    type: Literal["judged"] = "judged"


@dataclass(frozen=True)
class Tally:
    """What an episode used. `seconds` is wall time, of which `model_seconds` were waited for answers.

    `from_cache` counts the calls that were answered from the cache, and cost nothing.
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


Cause = Literal["", "calls", "tokens", "seconds", "evaluation"]
"""What a `budget` was spent of: a limit of the episode itself, or the budget of the whole evaluation."""


@dataclass(frozen=True)
class EpisodeEnded:
    """The last event. `cause` says which budget was spent, where one was (it is empty in old journals)."""

    outcome: Outcome
    message: str
    score: float
    tally: Tally = field(default_factory=Tally)
    cause: Cause = ""
    type: Literal["ended"] = "ended"


Event: TypeAlias = (
    EpisodeStarted
    | Observed
    | Asked
    | Retrying
    | Answered
    | Formalized
    | Rejected
    | Planned
    | Resumed
    | Judged
    | EpisodeEnded
)


def dump_event(event: Event) -> str:
    """The event as one line of JSON."""
    return _adapter().dump_json(event).decode()


def dump_line(event: Event, seconds: float) -> str:
    """A line of a journal: the event, the schema's version, and when it happened, in seconds after the start."""
    return f'{{"v":{SCHEMA},"t":{seconds:.3f},"event":{dump_event(event)}}}\n'


def event_value(event: Event) -> dict[str, Any]:
    """The event as a JSON value."""
    found: dict[str, Any] = _adapter().dump_python(event, mode="json")
    return found


def load_event(value: object) -> Event:
    """The event that a JSON value holds. Raises `ValueError` if it holds none."""
    return _adapter().validate_python(value)


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Event]:
    return TypeAdapter(Event)
