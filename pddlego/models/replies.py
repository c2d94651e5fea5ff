"""Reads complete and streamed replies of endpoints. Endpoints use different fields for text, reasoning and tokens."""

from __future__ import annotations

import codecs
import itertools
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pddlego.models.base import CHARACTERS_PER_TOKEN, REPETITION, Request
from pddlego.util.limits import Clock

_REASONING = ("reasoning_content", "reasoning")
"""Fields with the reasoning: DeepSeek, llama.cpp and older vLLM use another name than OpenRouter and newer vLLM."""

_REPEATED, _LONGEST_PERIOD, _TIMES = 1_000, 1_500, 8
"""An answer repeats itself if a text of at most `_LONGEST_PERIOD` characters fills its end at least `_TIMES` times, and
at least `_REPEATED` characters."""

_LONG_TOKEN = 8
"""Characters; the tokens of long texts have four on average."""

_PROBES, _OFTEN = (80, 400, 1_500), 200
"""Characters at the end of an answer whose earlier place is searched, after so many new characters each time."""

_ERRORS = 4
"""Maximum number of errors of one reply that are reported."""

_NO_ROOM = 8
"""An empty answer with fewer tokens means a full context; an empty answer with more tokens was hidden reasoning."""


@dataclass(frozen=True)
class TokenCounts:
    """The endpoint's counts of tokens: `came` in, `went` out (with reasoning), in from its cache, out for reasoning.

    `came` or `went` is None if the endpoint did not count these tokens.
    """

    came: int | None = None
    went: int | None = None
    cached: int = 0
    reasoning: int = 0

    @property
    def counted(self) -> bool:
        return self.came is not None and self.went is not None


@dataclass(frozen=True)
class Reply:
    """An answer as received. `finish` is None if a stream ended without a reason."""

    text: str = ""
    reasoning: str = ""
    finish: str | None = None
    usage: TokenCounts = TokenCounts()

    @property
    def characters(self) -> int:
        """Characters received."""
        return len(self.text) + len(self.reasoning)

    def fills_context(self, max_tokens: int | None) -> bool:
        """Whether the prompt left no room for an answer: the answer is empty, and not because of `max_tokens`."""
        tokens = self.usage.went
        if self.finish != "length" or self.text.strip() or self.reasoning.strip() or tokens is None:
            return False
        return tokens < _NO_ROOM and (max_tokens is None or tokens < max_tokens)

    def tokens(self, request: Request) -> tuple[int, int, int]:
        """Tokens in, out and cached, as the endpoint counted them.

        A count that is missing, or below a tenth of the estimate (characters / 3), is replaced by the estimate.
        """
        usage = self.usage
        return _plausible(usage.came, request.characters), _plausible(usage.went, self.characters), usage.cached


_FINISHES = {
    "stop": "end_turn stop_sequence stop_token eos eos_token eos_token_id eosfound end end_of_text"
    " stopped stop_str complete completed done finished",
    "length": "max_tokens max_length max_output_tokens max_completion_tokens max_new_tokens max_len model_length",
    "tool_calls": "tool_call tool_use function_call",
    "content_filter": "content_filtered guardrail_intervened safety sensitive refusal recitation blocklist"
    " prohibited_content spii",
    "": "null none",
}
"""An endpoint's reasons to stop that mean a finished answer, by OpenAI's name. Any other means a failed request."""


def _finish(reason: Any) -> str:
    """OpenAI's name of a reason to stop, or an empty text. Raises `FailedAnswerError` for a failure."""
    reason = reason.get("type") if isinstance(reason, dict) else reason  # SGLang
    name = str(reason or "").strip().lower().partition(":")[0].replace("-", "_")
    for finish, others in _FINISHES.items():
        if name == finish or name in others.split():
            return finish
    raise FailedAnswerError(f"The endpoint ended the answer for the reason '{reason}'")


class NoReplyError(ValueError):
    """A reply that is not a chat completion; the message describes the reply."""


class ReportedError(NoReplyError):
    """An error that the body of a reply with status 200 reports, with its `status`, if it names one, and `body`."""

    def __init__(self, body: Any) -> None:
        message = error_of(body)
        super().__init__(f"The endpoint reports an error{': ' if message else ''}{message}")
        self.body = body
        self.status = _status_of(body)


def reported(body: Any) -> ReportedError | None:
    """The error that a reply or a chunk of one reports (OpenRouter: in the choice); None if it reports none."""
    holder = body[0] if isinstance(body, list) and body else body
    if not isinstance(holder, dict):
        return ReportedError(body) if error_of(body) else None
    error = holder.get("error") or _first(holder).get("error")
    if error:
        return ReportedError(error)
    return ReportedError(holder) if "choices" not in holder and _status_of(holder) else None


_BUSY = re.compile(r"rate.?limit|too.?many.?requests|resource.?exhausted|throttl", re.IGNORECASE)
_BROKEN = re.compile(r"overloaded|unavailable|server.?error|internal|time.?out|bad.?gateway", re.IGNORECASE)


def _status_of(error: Any) -> int | None:
    """The status that an error names, as a number or by the name of its kind; None if it names none."""
    values = [error.get(name) for name in ("code", "status", "type")] if isinstance(error, dict) else []
    numbers = [int(text) for text in map(str, values) if re.fullmatch(r"[45]\d\d", text)]
    if numbers:
        return numbers[0]
    kinds = [value for value in values if isinstance(value, str)]
    if any(map(_BUSY.search, kinds)):
        return 429
    return 503 if any(map(_BROKEN.search, kinds)) else None


def read_reply(body: Any) -> Reply:
    """The reply in the JSON of a chat completion. Raises `NoReplyError`."""
    error = reported(body)
    if error is not None:
        raise error
    choice = _choice(body)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise NoReplyError("The endpoint's reply holds no choices")
    finish = _finish(choice.get("finish_reason"))
    return Reply(_said(message), _thought(message), finish or "stop", usage_of(body))


_WINDOW = re.compile(r"(?:context (?:length|size|window)|n_ctx|max_model_len)\D{0,40}?(\d{3,7})", re.IGNORECASE)


def window_in(text: str) -> int | None:
    """The context window that an error message names, in tokens."""
    match = _WINDOW.search(text)
    return int(match.group(1)) if match else None


def listed_models(body: Any) -> list[dict[str, Any]]:
    """The models in a list of models; empty for anything else."""
    data = body.get("data") if isinstance(body, dict) else None
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def window_of_server(body: Any, model: str) -> int | None:
    """The window of a model in its server's description: llama.cpp's properties, or a list of models."""
    settings = body.get("default_generation_settings") if isinstance(body, dict) else None
    models = listed_models(body)
    own = [entry for entry in models if entry.get("id") == model] or (models if len(models) == 1 else [])
    names = ("n_ctx", "max_model_len", "context_length", "context_window", "max_context_length")
    return next(filter(None, (_count(about, name) for about in (settings, *own) for name in names)), None)


def samples_freely(body: Any) -> bool:
    """Whether a description is that of llama.cpp or vLLM, which sample with a new schema at no cost."""
    is_llama = isinstance(body, dict) and "default_generation_settings" in body
    return is_llama or any("max_model_len" in entry for entry in listed_models(body))


def error_of(body: Any) -> str:
    """The error message in a body of any form (an object, a list, nested), after the field that it is about (`loc`).

    Empty if the body has no message.
    """
    where = ""
    while isinstance(body, (dict, list)):
        if isinstance(body, list):
            several = [error_of(item) for item in body[:_ERRORS] if isinstance(item, dict)]
            body = "; ".join(filter(None, several)) if len(several) > 1 else body[0] if body else ""
        else:
            place = body.get("loc")  # FastAPI
            where = ".".join(map(str, place[place[:1] == ["body"] :])) if isinstance(place, list) else where
            body = body.get("message") or body.get("error") or body.get("detail") or body.get("msg") or ""
    return f"{where}: {body}".removeprefix(": ") if isinstance(body, str) and body else ""


def usage_of(body: Any) -> TokenCounts:
    """The tokens of a reply. Tokens that only the total includes (xAI, Gemini) are reasoning, which is paid for."""
    usage = body.get("usage") if isinstance(body, dict) else None
    if not isinstance(usage, dict):
        return TokenCounts()
    came, went, total = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _count(usage, "prompt_cache_hit_tokens")  # DeepSeek
    if cached is None and isinstance(body, dict):
        cached = _count(body.get("timings"), "cache_n")  # older llama.cpp
    reasoning = _count(usage.get("completion_tokens_details"), "reasoning_tokens") or 0
    if came is not None and went is not None and total is not None and total > came + went:
        reasoning = max(reasoning, total - came - went)
        went = total - came
    return TokenCounts(came, went, min(cached or 0, came or 0), min(reasoning, went or 0))


class BrokenOffError(NoReplyError):
    """A stream that ended in the middle of an answer. A retry may succeed."""


class FailedAnswerError(NoReplyError):
    """An answer that the endpoint ended because it failed. A retry may succeed."""


def _broken_off(error: ReportedError) -> NoReplyError:
    """The exception for an error in a stream: a retry makes sense unless the error names a status."""
    if error.status is not None:
        return error
    message = error_of(error.body)
    return BrokenOffError(f"The endpoint broke off{': ' if message else ''}{message}")


@dataclass
class ReplyStream:
    """The streamed part of a reply, from lines of server-sent events. Other lines are ignored.

    `heard` is the time of its last new part on the `clock`.
    """

    text: str = ""
    reasoning: str = ""
    finish: str | None = None
    usage: TokenCounts = field(default_factory=TokenCounts)
    ended: bool = False
    clock: Clock = time.monotonic
    heard: float = 0.0
    _arguments: str = ""
    _parts: int = 0
    _goes_on: bool = False
    _checked: int = 0
    _failure: FailedAnswerError | None = None
    _pending: list[str] = field(default_factory=list)

    def take(self, line: str) -> bool:
        """Add a line, and return whether it extended the answer. An empty line ends an event of several lines of data.

        Raises `ReportedError` for an error that names its status, and `BrokenOffError` for any other.
        """
        name, _, value = line.partition(":")
        value = value.strip()
        if self._pending and (not line or value == "[DONE]"):
            event, self._pending = "\n".join(self._pending), []
            extended = self._event(_json(event))
            return self.take(line) or extended
        if name == "error":  # the form of llama.cpp in 2025
            raise _broken_off(ReportedError(_json(value) or {"message": value}))
        if name != "data" or not value:
            return False
        if value == "[DONE]":
            self.ended = True
            return False
        chunk = _json(value)
        if self._pending or chunk is None:
            self._pending.append(value)
            return False
        return self._event(chunk)

    def _event(self, chunk: Any) -> bool:
        error = reported(chunk)
        if error is not None:
            raise _broken_off(error)
        if isinstance(chunk, list):
            return False
        if not isinstance(chunk, dict):
            raise BrokenOffError("The endpoint sent a piece of an answer that cannot be read")
        return self._chunk(chunk)

    def cut(self, longest: int) -> bool:
        """End the answer if it repeats itself, or has more than `longest` tokens. Returns whether it has ended.

        Most servers send each token alone; where they send several, a token has at most `_LONG_TOKEN` characters.
        """
        if self.finish is not None and not self._goes_on:
            return self.ended
        if max(self._parts, self._received // _LONG_TOKEN) > longest:
            self.finish, self.ended = "length", True
        elif self._received - self._checked >= _OFTEN:
            self._checked = self._received
            if any(map(repeats, (self.text, self._arguments, self.reasoning))):
                self.finish, self.ended = REPETITION, True
        return self.ended

    @property
    def _received(self) -> int:
        """Characters received."""
        return len(self.text) + len(self.reasoning) + len(self._arguments)

    def reply(self) -> Reply:
        """The reply so far. A stream that has ended has a reason, or the line `[DONE]` after some text."""
        finish = self.finish or ("stop" if self.ended and (self.text or self._arguments) else None)
        return Reply(self.text or self._arguments, self.reasoning, finish, self.usage)

    def whole(self) -> Reply:
        """The reply of a stream that has ended. Raises `BrokenOffError` or `FailedAnswerError` if it is incomplete."""
        self.take("")
        if self._failure is not None:
            raise self._failure
        if self.reply().finish is None:
            raise BrokenOffError("The stream ended in the middle of an answer")
        return self.reply()

    def _chunk(self, chunk: dict[str, Any]) -> bool:
        usage = usage_of(chunk)
        self.usage = usage if usage.counted else self.usage
        choice = _first(chunk)
        if choice.get("index") not in (0, None):
            return False
        before, had_finish = self._received, self.finish is not None
        try:
            self.finish = _finish(choice.get("finish_reason")) or self.finish
        except FailedAnswerError as error:
            self._failure = error
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return False
        self.text += _content(delta.get("content")) or _text(delta.get("refusal"))
        self.reasoning += _thought(delta)
        self._arguments += _called(delta)
        if self._received == before:
            return False
        self._parts, self._goes_on = self._parts + 1, had_finish  # some servers name a reason in every chunk
        self.heard = self.clock()
        return True


def repeats(text: str) -> bool:
    """Whether the end of a text is the same short text again and again. Takes at most the same time for any text."""
    end = text[-_LONGEST_PERIOD * _TIMES :]
    for probe in _PROBES:
        period = len(end) - probe - end.rfind(end[-probe:], 0, len(end) - 1)
        length = max(_REPEATED, period * _TIMES)
        if period <= _LONGEST_PERIOD and length <= len(end):
            last = end[-length:]
            if last[period:] == last[:-period]:
                return True
    return False


_KIND = re.compile(rb"(?:data|event|id|retry|error)?(:)|[{[]")


def body_of(parts: Iterator[bytes], declared: bool) -> Any | Iterator[bytes]:
    """The JSON of a body, or an iterator over its parts if it is a stream of events, whatever its Content-Type is.

    A body that begins like neither is a stream if it is `declared` as one. Raises `ValueError` for invalid JSON.
    """
    head, kind = b"", None
    for part in parts:
        head = (head + part).removeprefix(codecs.BOM_UTF8).lstrip()
        if kind := _KIND.match(head):
            break
    if kind[1] if kind else declared:
        return itertools.chain([head], parts)
    body = b"".join((head, *parts))
    end = body.rstrip()
    return json.loads(end.removesuffix(b"[DONE]").rstrip().removesuffix(b"data:") if end.endswith(b"[DONE]") else body)


def lines_of(parts: Iterable[bytes]) -> Iterator[str]:
    """The lines of a stream of events, which end with LF, CR or both, and with no other line separator."""
    decoder, rest = codecs.getincrementaldecoder("utf-8")(errors="replace"), ""
    for part in parts:
        rest += decoder.decode(part)
        if "\n" in rest or "\r" in rest:
            *lines, rest = re.split(r"\r\n|\n|\r(?!\Z)", rest)
            yield from lines
    yield from re.split(r"\r\n?|\n", rest)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first(body: Any) -> Mapping[str, Any]:
    """The choice with the index 0, or else the first, or an empty one."""
    choices = body.get("choices") if isinstance(body, dict) else None
    listed = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
    return next((choice for choice in listed if choice.get("index") in (0, None)), listed[0] if listed else {})


def _choice(body: Any) -> Mapping[str, Any]:
    if choice := _first(body):
        return choice
    error = error_of(body)
    raise NoReplyError("The endpoint's reply holds no choices" + (f": {error}" if error else ""))


def _said(message: Mapping[str, Any]) -> str:
    """The text of a message: its content, or else the arguments of a called tool, or the reason of a refusal."""
    for text in (_content(message.get("content")), _called(message), _text(message.get("refusal"))):
        if text.strip():
            return text
    return ""


def _content(content: Any) -> str:
    """The text of a message's content, which is a text or a list of parts that each have a text."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return _text(content)


def _called(message: Mapping[str, Any]) -> str:
    """The arguments of the first called tool."""
    calls = message.get("tool_calls")
    first = calls[0] if isinstance(calls, list) and calls and isinstance(calls[0], dict) else {}
    function = first.get("function")
    arguments = function.get("arguments") if isinstance(function, dict) else None
    return json.dumps(arguments) if isinstance(arguments, dict) else _text(arguments)


def _thought(message: Mapping[str, Any]) -> str:
    return next((text for name in _REASONING if (text := _text(message.get(name)))), "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(values: Any, name: str) -> int | None:
    """A number of tokens; None for anything else."""
    value = values.get(name) if isinstance(values, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None


def _plausible(tokens: int | None, characters: int) -> int:
    expected = characters // CHARACTERS_PER_TOKEN
    return expected if tokens is None or tokens * 10 < expected else tokens
