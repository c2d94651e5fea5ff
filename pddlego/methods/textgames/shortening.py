"""Shortens a request that exceeds the context window of the model, before it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pddlego.methods.textgames.formalize import Formalizer, PromptContext
from pddlego.models import Model, Request
from pddlego.models.base import CHARACTERS_PER_TOKEN, window_of
from pddlego.util.text import count

_ANSWER = 1_024
"""Tokens that a request leaves for the answer."""

_SMALL = 2_048
"""Tokens of a request below which the endpoint is not asked for its window."""


def fitting_request(formalizer: Formalizer, situation: PromptContext, model: Model) -> Request | None:
    """The request of a situation, without the parts that are least important if it exceeds the model's window.

    The rejected answer is left out first, then the older half of the observations, and so on. The request's note
    names what is missing. If the shortest request is too long by the estimate, it is returned all the same.
    """
    request = formalizer.request(situation)
    if request is None or _tokens(request) < _SMALL:
        return request
    window = window_of(model)
    if window is None or _tokens(request) + _ANSWER <= window:
        return request
    for shorter, left_out in _shortened(situation):
        short = formalizer.request(shorter)
        if short is not None and short.characters < request.characters:
            note = f"the request was too long for {count(window, 'token')}; left out: {left_out}"
            request = replace(short, note=note, window=window)
            if _tokens(request) + _ANSWER <= window:
                break
    return request


def _shortened(situation: PromptContext) -> Iterator[tuple[PromptContext, str]]:
    """Ever shorter versions of the situation, each with what it lacks."""
    missing = ""
    if situation.retry.rejected:
        situation = replace(situation, retry=replace(situation.retry, rejected="(it was too long to be repeated)"))
        missing = "the rejected answer"
        yield situation, missing
    seen, kept = situation.seen, max(len(situation.seen.news), len(situation.seen.history))
    while kept > 1:
        kept //= 2
        shorter = replace(seen, news=seen.news[-kept:], history=seen.history[-kept:])
        older = f"all but the last {count(kept, 'observation')}"
        yield replace(situation, seen=shorter), f"{missing} and {older}" if missing else older


def _tokens(request: Request) -> int:
    return request.characters // CHARACTERS_PER_TOKEN
