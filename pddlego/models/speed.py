"""Measures how fast a model reads and writes."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from pddlego.models.base import Delta, Model, Request, RetryNotice
from pddlego.util.limits import Clock

_TOKENS = 64
"""The maximum number of tokens of the answer that is measured."""


@dataclass(frozen=True)
class Speed:
    """Tokens that a model reads and writes in a second, and characters of a token.

    `reading` is infinite if the model does not stream: its time is then in that of writing.
    """

    reading: float
    writing: float
    per_token: float

    def seconds(self, read: float, written: float) -> float:
        """The time for these numbers of tokens, without the reuse of earlier requests."""
        return read / self.reading + written / self.writing

    def __str__(self) -> str:
        read = "" if math.isinf(self.reading) else f"reads {self.reading:.0f} tokens a second, "
        return f"{read}writes {self.writing:.0f} tokens a second"


def measure_speed(model: Model, request: Request, clock: Clock = time.perf_counter) -> Speed:
    """Send a request, and measure the time until the answer begins, and until it ends. Raises `ModelError`."""
    parts = list[float]()

    def report(update: RetryNotice | Delta) -> None:
        parts.extend([clock()] if isinstance(update, Delta) else [])

    began = clock()
    answer = model.complete(replace(request, schema=None, max_tokens=_TOKENS, report=report))
    ended, first = clock(), parts[0] if parts else began
    reading = max(answer.tokens_in - answer.tokens_cached, 1) / max(first - began, 1e-3) if parts else math.inf
    writing = max(answer.tokens_out, 1) / max(ended - first, 1e-3)
    return Speed(reading, writing, request.characters / max(answer.tokens_in, 1))
