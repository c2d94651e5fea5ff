"""Shortens a request that exceeds the context window of the model, before it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pddlego.methods.textgames.formalize import Formalizer, Situation
from pddlego.models import Model, Request
from pddlego.models.base import CHARACTERS_PER_TOKEN, window_of
from pddlego.util.text import count

_ANSWER = 1_024
"""Tokens that a request leaves for the answer."""

_SMALLEST = 2_048
"""Tokens of a request that fits into every window, so that the endpoint is not asked for its window."""


def fitting_request(formalizer: Formalizer, situation: Situation, model: Model) -> Request | None:
    """The request of a situation, without the parts that are least important if it exceeds the model's window.

    The rejected answer is left out first, then the oldest observations. The request's note names what is missing. A
    request that is still too long is returned as it is, so that the endpoint rejects it.
    """
    request = formalizer.request(situation)
    if request is None or _tokens(request) < _SMALLEST:
        return request
    window = window_of(model)
    if window is None or _fits(request, window):
        return request
    for shorter, left_out in _shortened(situation):
        short = formalizer.request(shorter)
        if short is not None and _fits(short, window):
            return replace(short, note=f"the request was too long for {count(window, 'token')}; left out: {left_out}")
    return request


def _shortened(situation: Situation) -> Iterator[tuple[Situation, str]]:
    """Ever shorter versions of the situation, each with what it lacks."""
    names = []
    if situation.retry.rejected:
        situation = replace(situation, retry=replace(situation.retry, rejected="(it was too long to be repeated)"))
        names.append("the rejected answer")
        yield situation, names[0]
    seen = situation.seen
    for number in range(1, max(len(seen.news), len(seen.history))):
        shorter = replace(seen, news=seen.news[number:] or seen.news[-1:], history=seen.history[number:])
        yield replace(situation, seen=shorter), " and ".join([*names, f"{count(number, 'earlier observation')}"])


def _tokens(request: Request) -> int:
    return request.characters // CHARACTERS_PER_TOKEN


def _fits(request: Request, window: int) -> bool:
    return _tokens(request) + _ANSWER <= window
