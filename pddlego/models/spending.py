"""What requests take: tokens and money, as values, and who keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

CHARACTERS_PER_TOKEN = 3
"""An estimate on the safe side: most models need fewer tokens for a text."""

OUTPUT_ESTIMATE = 2_000
"""Tokens of an answer that are reserved before it is known how long the model's answers are."""


UNITS = {"calls": "requests", "tokens": "tokens", "cost": "in money"}
"""What the limits of `Spending` count."""


@dataclass(frozen=True)
class Spending:
    """What was used, or may be: requests sent, tokens in and out, money. As limits, None is no limit."""

    calls: float | None = None
    tokens: float | None = None
    cost: float | None = None


NO_LIMITS = Spending()


@dataclass(frozen=True)
class Price:
    """Money for a million tokens, in the currency of the price list."""

    tokens_in: float
    tokens_out: float
    tokens_cached: float | None = None

    def cost(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """What these tokens cost; `tokens_cached` are those of `tokens_in` that the endpoint had read before.

        Where there are more of them, the endpoint counts them apart, and all of `tokens_in` are fresh.
        """
        cached = self.tokens_in if self.tokens_cached is None else self.tokens_cached
        fresh = tokens_in - tokens_cached if tokens_cached <= tokens_in else tokens_in
        return (fresh * self.tokens_in + tokens_cached * cached + tokens_out * self.tokens_out) / 1e6


class SpendingLog(Protocol):
    """Keeps what was spent where it outlives the process."""

    @property
    def spent(self) -> Spending:
        """Everything so far."""

    def sent(self, model: str, tokens: float, cost: float, origin: str) -> int:
        """A request is about to be sent for `origin`, and this much is reserved for it. Returns its number."""

    def settled(self, number: int, tokens: float, cost: float, answered: bool) -> None:
        """The request took this much, or may have where it was not `answered`."""
