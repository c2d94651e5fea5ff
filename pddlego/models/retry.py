"""Which failures of an endpoint are worth another try, when, and how they are explained."""

from __future__ import annotations

import random
import re
import time
from typing import TYPE_CHECKING

from pddlego.models.replies import NoReplyError, error_of

if TYPE_CHECKING:
    import openai
    import tenacity

ATTEMPTS = 6
"""Requests that are sent for an answer, at most."""

MAX_WAIT = 120.0
"""Longest wait, in seconds, that a Retry-After may ask for; a longer one ends the call."""


_TOO_MUCH = re.compile(r"context[_ ]?(length|window|size)|too many tokens|prompt is too long", re.IGNORECASE)


def is_passing(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    import openai

    if isinstance(error, openai.APIStatusError):
        if (retry_after(error) or 0.0) > MAX_WAIT or getattr(error, "code", None) == "insufficient_quota":
            return False
        return error.status_code in (408, 429) or error.status_code >= 500
    if is_too_long(error):
        return False
    return isinstance(error, openai.APIConnectionError)  # holds time-outs too


def is_too_much(error: BaseException) -> bool:
    """Whether the endpoint says that the request is longer than its model reads."""
    said = f"{getattr(error, 'code', '')} {getattr(error, 'message', error)} {error_of(getattr(error, 'body', None))}"
    return getattr(error, "status_code", None) == 413 or bool(_TOO_MUCH.search(said))


def is_too_long(error: BaseException) -> bool:
    """Whether the endpoint sent more than anybody reads."""
    from pddlego.models.bounded import TooLongError

    return isinstance(error.__cause__, TooLongError)


def wait_before_next(state: tenacity.RetryCallState) -> float:
    """Seconds until the next try: what the endpoint asks for, else 1, 2, 4 … 60, with a little chance in it."""
    error = state.outcome.exception() if state.outcome else None
    asked = retry_after(error) if error is not None else None
    if asked is not None:
        return min(asked, MAX_WAIT)
    return min(60.0, 2.0 ** (state.attempt_number - 1)) * random.uniform(0.75, 1.25)


def retry_after(error: BaseException) -> float | None:
    """Seconds that the endpoint asks to wait, from `Retry-After` as a number or a date; None if that says nothing."""
    from email.utils import parsedate_to_datetime

    response = getattr(error, "response", None)
    value = response.headers.get("retry-after") if response is not None else None
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return None
    return seconds if seconds > 0 else None


def explain(error: openai.OpenAIError) -> tuple[str, str]:
    """Why a call failed and what to do, in words."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return "It took longer than the time-out.", "Raise --model-timeout, or try a faster model."
    if is_too_long(error):
        return f"{error.__cause__}.", "Is --base-url an OpenAI-compatible endpoint?"
    if isinstance(error.__cause__, NoReplyError):
        return f"{error.__cause__}.", "Try again later, or ask with --no-stream."
    if isinstance(error, openai.APIConnectionError):
        return (
            f"No connection: {str(error.__cause__ or error).rstrip('.')}.",
            "Check --base-url and the network; is the server running?",
        )
    said = _reason(error)
    if is_too_much(error):
        return said, "The request is too long for the model: choose one with a larger context, or a smaller game."
    if isinstance(error, openai.AuthenticationError):
        return said, "Check OPENAI_API_KEY."
    if isinstance(error, openai.PermissionDeniedError):
        return said, "The key may not use this model: choose another, or ask for access."
    if isinstance(error, openai.NotFoundError):
        return said, "Check the name of the model and --base-url."
    if isinstance(error, openai.RateLimitError):
        return said, "Wait, or raise your limits at the provider."
    if getattr(error, "status_code", 500) < 400:
        return said, "The endpoint sends elsewhere: give that address with --base-url."
    if getattr(error, "status_code", 500) < 500:
        return said, "Check the name of the model, --base-url and the options: the same request will not pass later."
    return said, "Try again later."


def _reason(error: openai.OpenAIError) -> str:
    """What the endpoint said, as a sentence."""
    response = getattr(error, "response", None)
    said = error_of(getattr(error, "body", None)) or (response.text if response is not None else "") or str(error)
    where = response.headers.get("location") if response is not None else None
    said = " ".join(re.sub(r"<[^>]*>", " ", said).split()) + (f" Location: {where}" if where else "")
    return f"{said[:300].rstrip(' .')}." if said else "It gave no reason."
