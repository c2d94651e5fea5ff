"""Any endpoint that speaks OpenAI's chat completions: OpenAI itself, vLLM, Ollama, llama.cpp and the like."""

from __future__ import annotations

import base64
import math
import queue
import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from pddlego.errors import ModelError, UsageError
from pddlego.models.base import Completion, Request

if TYPE_CHECKING:
    import openai
    import tenacity

MAX_WAIT = 120.0
"""Longest wait, in seconds, that a Retry-After may ask for; a longer one ends the call."""

_FORMATS = ("json_schema", "json_object", "text")


class OpenAIModel:
    """A language model behind an OpenAI-compatible endpoint.

    What is worth another try (timeouts, lost connections, 429, 5xx) is tried `attempts` times with growing waits; a
    Retry-After is honoured. What the endpoint does not support (a response format, a temperature, a seed) is left out
    from then on. `temperature` 1 is the paper's. The key is kept in this object and in no text.
    """

    def __init__(
        self,
        name: str,
        api_key: str | None = None,
        base_url: str | None = None,
        temperature: float = 1.0,
        seed: int | None = None,
        timeout: float = 120.0,
        attempts: int = 6,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        import openai

        api_key = (api_key or "").strip()
        _check_key(name, api_key, base_url)
        _check_url(base_url)
        self._name = name
        self._base_url = base_url
        self._secrets = _secrets(api_key, base_url)
        if any(secret in name for secret in self._secrets):
            raise UsageError("The name of the model is a key", "It holds the key itself.", "Give the model's name.")
        self._settings: dict[str, Any] = {"temperature": temperature}
        if seed is not None:
            self._settings["seed"] = seed
        self._asked = dict(self._settings)
        self._formats = list(_FORMATS)
        self._attempts = attempts
        self._timeout = timeout
        self._sleep = sleep
        self._client = openai.OpenAI(api_key=api_key or "none", base_url=base_url, timeout=timeout, max_retries=0)

    @property
    def name(self) -> str:
        return self._name

    @property
    def description(self) -> Mapping[str, Any]:
        return {"model": self._name, "base_url": without_credentials(self._base_url), **self._asked}

    def complete(self, request: Request) -> Completion:
        """Ask the endpoint. Raises `ModelError`, one readable line without secrets, when it does not answer."""
        import openai

        started = time.perf_counter()
        sent = [0]
        try:
            deadline = started + (math.inf if request.seconds is None else request.seconds)
            response = self._retrying(request.seconds)(self._send, request, deadline, sent)
        except openai.OpenAIError as error:
            raise self._failure(error, sent[0]) from None
        except (ValueError, RecursionError) as error:  # a reply that claims to be JSON and is not
            raise self._no_answer(f"The endpoint's reply is not JSON ({type(error).__name__})") from None
        return self._completion(request, response, time.perf_counter() - started, sent[0])

    def _send(self, request: Request, deadline: float, sent: list[int]) -> Any:
        """One try, counted in `sent` and ended at the `deadline`.

        What the endpoint refuses as unsupported is dropped, and the request sent again.
        """
        import openai

        while True:
            messages: Any = [{"role": each.role, "content": each.content} for each in request.messages]
            extra = dict(self._settings)
            if request.schema is not None:
                extra |= self._response_format(request)
            sent[0] += 1
            try:
                create = partial(self._client.chat.completions.create, model=self._name, messages=messages, **extra)
                return self._within(min(self._timeout, deadline - time.perf_counter()), create)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not self._drop_unsupported(error, extra):
                    raise

    def _within(self, seconds: float, call: Callable[[], Any]) -> Any:
        """The result of `call`, or a time-out: the client's own time-out starts anew with every byte that drips in."""
        import openai

        done: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

        def work() -> None:
            try:
                done.put((call(), None))
            except BaseException as error:  # noqa: BLE001 -- raised again below, in the thread that asked
                done.put((None, error))

        threading.Thread(target=work, daemon=True).start()
        try:
            result, error = done.get(timeout=max(0.01, seconds))
        except queue.Empty:
            request: Any = None
            raise openai.APITimeoutError(request=request) from None
        if error is not None:
            raise error
        return result

    def _response_format(self, request: Request) -> dict[str, Any]:
        form = self._formats[0]
        if form == "json_schema":
            schema = {"name": request.purpose, "schema": dict(request.schema or {}), "strict": False}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        return {"response_format": {"type": "json_object"}} if form == "json_object" else {}

    def _drop_unsupported(self, error: openai.APIStatusError, sent: Mapping[str, Any]) -> bool:
        """Remember what the endpoint does not take. False if the error is about something else."""
        said = str(error).lower()
        if "response_format" in sent and re.search(r"response[_ ]format|json[_ ]?(schema|object|mode)|guided", said):
            self._formats.pop(0)
            return True
        for name in ("temperature", "seed"):
            if name in sent and name in said:
                del self._settings[name]
                return True
        return False

    def _retrying(self, seconds: float | None) -> tenacity.Retrying:
        import tenacity

        stop: Any = tenacity.stop_after_attempt(self._attempts)
        if seconds is not None:
            stop |= tenacity.stop_before_delay(seconds)
        return tenacity.Retrying(
            retry=tenacity.retry_if_exception(_is_passing),
            wait=_wait,
            stop=stop,
            sleep=self._sleep,
            reraise=True,
        )

    def _completion(self, request: Request, response: Any, seconds: float, tries: int) -> Completion:
        choices = getattr(response, "choices", None)
        first: Any = choices[0] if isinstance(choices, list) and choices else None
        if not hasattr(getattr(first, "message", None), "content"):
            raise self._no_answer("The endpoint's reply holds no choices")
        content = first.message.content
        text = self._masked(content) if isinstance(content, str) else ""
        usage = getattr(response, "usage", None)
        came, went = (_count(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        return Completion(
            text,
            request.characters // 4 if came is None else came,
            len(text) // 4 if went is None else went,
            _count(getattr(usage, "prompt_tokens_details", None), "cached_tokens") or 0,
            seconds,
            tries,
            came is None or went is None,
            str(getattr(first, "finish_reason", None) or "stop"),
        )

    def _no_answer(self, why: str) -> ModelError:
        return ModelError(f"{self._name} gave no answer", f"{why}.", "Is --base-url an OpenAI-compatible endpoint?")

    def _failure(self, error: openai.OpenAIError, tries: int) -> ModelError:
        import openai

        where = without_credentials(self._base_url) or "the OpenAI endpoint"
        after = f" after {tries} tries" if tries > 1 else ""
        why, advice = _explain(error)
        if isinstance(error, openai.APIStatusError):
            what = f"{where} answered {error.status_code} to {self._name}{after}"
        else:
            what = f"{where} did not answer to {self._name}{after}"
        return ModelError(self._clean(what), self._clean(why), advice)

    def _masked(self, text: str) -> str:
        """The text without our own secrets, should the endpoint echo them."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _clean(self, text: str) -> str:
        """The text on one line, without the key."""
        text = self._masked(text)
        text = re.sub(r"\bsk-[\w*-]{6,}", "sk-***", text)
        return " ".join(re.sub(r"(?i)\b(bearer|basic) [^\s'\"]+", r"\1 ***", text).split())[:300]


def _check_key(name: str, key: str, base_url: str | None) -> None:
    """Raises `UsageError`, without the key in it, for a key that is missing or cannot be sent in a header."""
    if not key and not base_url:
        raise UsageError(
            f"There is no key for the model {name}",
            "OPENAI_API_KEY is not set, and no --base-url names another endpoint.",
            "Set OPENAI_API_KEY, give --base-url, or play with --model reader.",
        )
    if not (key.isascii() and (key.isprintable() or not key)):
        raise UsageError(
            "OPENAI_API_KEY cannot be sent",
            "It holds characters that no key has.",
            "Copy the key again, without quotes.",
        )


def _check_url(base_url: str | None) -> None:
    """Raises `UsageError` if `base_url` is no http or https URL."""
    if base_url is None:
        return
    try:
        parts = urlsplit(base_url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        shown = re.sub(r"//[^/@]*@", "//", base_url)[:100]
        raise UsageError(
            "The endpoint's address is no URL", f"It is '{shown}'.", "Write it like http://127.0.0.1:8000/v1."
        )


def _count(usage: object, name: str) -> int | None:
    """A number of tokens, if the endpoint gave one."""
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and 0 <= value < 10**9 else None


def without_credentials(url: str | None) -> str | None:
    """The URL as it may be shown and kept: without user, password and query."""
    if not url:
        return None
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rsplit("@", 1)[-1], parts.path, "", ""))


def _secrets(key: str, url: str | None) -> tuple[str, ...]:
    """What must not be shown: the key, the password in the URL, and both together as a header holds them."""
    parts = urlsplit(url or "")
    found = [key, parts.password or ""]
    if parts.password:
        both = f"{unquote(parts.username or '')}:{unquote(parts.password)}"
        found += [unquote(parts.password), base64.b64encode(both.encode()).decode()]
    return tuple(each for each in found if len(each) >= 4)


def _is_passing(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    import openai

    if isinstance(error, openai.APIStatusError):
        if (_retry_after(error) or 0.0) > MAX_WAIT or getattr(error, "code", None) == "insufficient_quota":
            return False
        return error.status_code in (408, 429) or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError)  # holds time-outs too


def _wait(state: tenacity.RetryCallState) -> float:
    """Seconds until the next try: what the endpoint asks for, else 1, 2, 4 … 60, with a little chance in it."""
    error = state.outcome.exception() if state.outcome else None
    asked = _retry_after(error) if error is not None else None
    if asked is not None:
        return min(asked, MAX_WAIT)
    return min(60.0, 2.0 ** (state.attempt_number - 1)) * random.uniform(0.75, 1.25)


def _retry_after(error: BaseException) -> float | None:
    """Seconds that the endpoint asks to wait, from `Retry-After` as a number or a date."""
    from email.utils import parsedate_to_datetime

    response = getattr(error, "response", None)
    value = response.headers.get("retry-after") if response is not None else None
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _explain(error: openai.OpenAIError) -> tuple[str, str]:
    """Why a call failed and what to do, in words."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return "It took longer than the time-out.", "Raise --model-timeout, or try a faster model."
    if isinstance(error, openai.APIConnectionError):
        return f"No connection: {error.__cause__ or error}.", "Check --base-url and the network; is the server running?"
    said = str(getattr(error, "message", error))
    if isinstance(error, openai.AuthenticationError):
        return said, "Check OPENAI_API_KEY."
    if isinstance(error, openai.PermissionDeniedError):
        return said, "The key may not use this model: choose another, or ask for access."
    if isinstance(error, openai.NotFoundError):
        return said, "Check the name of the model and --base-url."
    if isinstance(error, openai.RateLimitError):
        return said, "Wait, or raise your limits at the provider."
    return said, "Try again later; if it stays, check the request's size and the model's name."
