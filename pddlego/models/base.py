"""Requests to models, and their answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

ATTEMPTS = 6
"""Requests that are sent for an answer, at most."""

CacheUse = Literal["off", "use", "refresh"]
"""Of answers that were kept: `use` them and keep what is new; `refresh`: ask again, and keep that instead."""


@dataclass(frozen=True)
class Message:
    """One message of a request: role `system`, `user` or `assistant`."""

    role: str
    content: str


@dataclass(frozen=True)
class RetryNotice:
    """A try at a request has failed, and why; after `seconds` the next follows. `tries` of `most` were made."""

    reason: str
    tries: int
    most: int
    seconds: float


@dataclass(frozen=True)
class Delta:
    """The part of a streamed answer since the last report: text, and reasoning if it is separate."""

    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True)
class Request:
    """One question. `purpose` names what is asked for; `schema` is a JSON schema that the answer should keep, an empty
    one asks for any JSON object.

    `context` is what the messages were rendered from, for models that are rules of the method: it is never sent and is
    no part of the request's identity. `seconds` is how long the answer may take with all retries; None: as long as the
    model allows. `temperature_increase` is added to the model's temperature, within bounds; `max_tokens` is how many
    tokens the answer may have, if the usual number was too small. `report` receives retries and streamed parts, and
    `wanted` says whether the answer is still needed; neither is sent.
    """

    purpose: str
    messages: tuple[Message, ...]
    context: object = field(default=None, repr=False)
    schema: Mapping[str, Any] | None = None
    seconds: float | None = None
    temperature_increase: float = 0.0
    max_tokens: int | None = None
    report: Callable[[RetryNotice | Delta], None] = field(default=lambda update: None, compare=False, repr=False)
    wanted: Callable[[], bool] = field(default=lambda: True, compare=False, repr=False)

    @property
    def characters(self) -> int:
        """How many characters of messages are sent."""
        return sum(len(message.content) for message in self.messages)


@dataclass(frozen=True)
class Mistake:
    """An error that a simulation made on purpose: its kind, and the answer without it."""

    kind: str
    correct: str


@dataclass(frozen=True)
class Completion:
    """One answer. Tokens are what the endpoint counted; `estimated` says that they are estimated (see `Reply.tokens`).

    `seconds` is wall time including retries; `attempts` counts requests sent; `finish` is the endpoint's reason.
    `from_cache` says that it was kept from an earlier run, and cost nothing now. `reasoning` is what the model thought
    before, where the endpoint gives it apart from the answer, and `tokens_reasoning` of the tokens out were that.
    `not_taken` names what the request changed (`temperature`, `max_tokens`) and the endpoint does not take. `note` is
    what else is to be said of it, such as that it was recorded for another question. `mistake` is there if a simulation
    erred.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    seconds: float = 0.0
    attempts: int = 1
    estimated: bool = False
    finish: str = "stop"
    from_cache: bool = False
    reasoning: str = ""
    tokens_reasoning: int = 0
    not_taken: tuple[str, ...] = ()
    note: str = ""
    mistake: Mistake | None = None


class Model(Protocol):
    """Answers requests. Raises `ModelError` when it cannot, after whatever retries make sense."""

    @property
    def name(self) -> str:
        """The name under which results are counted."""

    @property
    def description(self) -> Mapping[str, Any]:
        """What determines the answers (temperature, seed, endpoint), without secrets, for the manifest."""

    def complete(self, request: Request) -> Completion:
        """Answer one request."""


def is_remote(model: Model) -> bool:
    """Whether a model is called over a network: its retries are reported, and a request can be abandoned."""
    return getattr(model, "is_remote", False)


@dataclass(frozen=True)
class ScriptedModel:
    """Gives the listed answers in order, the last one for ever. For tests, demonstrations and recorded faults."""

    answers: tuple[str, ...]
    name: str = "scripted"
    description: Mapping[str, Any] = field(default_factory=dict)
    _given: list[int] = field(default_factory=list, compare=False)

    def complete(self, request: Request) -> Completion:
        text = self.answers[min(len(self._given), len(self.answers) - 1)]
        self._given.append(len(text))
        return Completion(text)


@dataclass(frozen=True)
class RuleModel:
    """A built-in model of a method: a function of the request and its `context` computes each answer."""

    name: str
    answer: Callable[[Request], str]
    description: Mapping[str, Any] = field(default_factory=dict)

    def complete(self, request: Request) -> Completion:
        return Completion(self.answer(request))


RULES = "'reader' is the built-in reader: rules, no language model."
SIMULATION = "'reader+noise' is a simulation: the built-in reader, erring on purpose at a given rate."


def _is_simulation(name: str) -> bool:
    """Whether the model of this name errs on purpose."""
    return name.startswith("reader+")


def notes(names: Collection[str]) -> list[str]:
    """What must be said of models of these names."""
    notes = [RULES] if "reader" in names else []
    return [*notes, *([SIMULATION] if any(map(_is_simulation, names)) else [])]


def label(name: str) -> str:
    """A model's name as it is shown to people."""
    return f"{name} (simulation)" if _is_simulation(name) else name


@dataclass(frozen=True)
class Feedback:
    """Why an answer could not be used: a category for statistics, a message for the model, and the evidence."""

    category: str
    message: str
    evidence: tuple[str, ...] = ()


CUT_OFF = "cut off"
"""The category of an answer that ends before it is whole."""


def cut_off() -> Feedback:
    """What is said of an answer that ends before it is whole."""
    message = "the answer was cut off before its end. Answer at once, without thinking aloud and without explanations."
    return Feedback(CUT_OFF, message)


MAX_REJECTED = 2_000
"""Characters of a rejected answer that are shown to the model again."""


def shortened(answer: str) -> str:
    """A rejected answer as it is shown again: whole, or its beginning and end."""
    if len(answer) <= MAX_REJECTED:
        return answer.strip() or "(an empty answer)"
    half = MAX_REJECTED // 2
    return f"{answer[:half]}\n[…]\n{answer[-half:]}"
