"""Limits on requests to endpoints: parallel requests, a budget, and the ledger of what was spent."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from io import FileIO
from pathlib import Path
from sys import intern
from typing import Annotated, Protocol

from pydantic import ConfigDict, Field

from pddlego.errors import BudgetSpentError, JournalError, RefusedError
from pddlego.models.base import CHARACTERS_PER_TOKEN, Request
from pddlego.util.files import append, cannot_read, cannot_write, cut_unfinished_line, open_run_file, run_lines
from pddlego.util.limits import SLICE, Clock
from pddlego.util.text import count, money

OUTPUT_ESTIMATE = 2_000
"""Tokens that are reserved for an answer until the model has given a longer one."""


_AMOUNTS: Mapping[str, Callable[[float], str]] = {
    "calls": partial(count, noun="request"),
    "tokens": partial(count, noun="token"),
    "cost": money,
}
"""How error messages write an amount of each kind in `Spending`."""


@dataclass(frozen=True)
class Spending:
    """Requests, tokens in and out, and cost: the amounts spent, or their limits (None means no limit)."""

    calls: float | None = None
    tokens: float | None = None
    cost: float | None = None


_NO_LIMITS = Spending()


@dataclass(frozen=True)
class Load:
    """The requests of an evaluation: their spending, how many are in flight, and whether one exceeded the budget.

    `refused` are the models for which the endpoint has refused the key.
    """

    spent: Spending = _NO_LIMITS
    in_flight: int = 0
    exhausted: bool = False
    refused: frozenset[str] = frozenset()


_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]


@dataclass(frozen=True)
class Price:
    """Prices of a million tokens, in the currency of the price list."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    tokens_in: _Amount
    tokens_out: _Amount
    tokens_cached: _Amount | None = None

    def cost(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """The cost of these tokens; `tokens_cached` of `tokens_in` are from the endpoint's own cache.

        If there are more of them than `tokens_in`, the endpoint counts them separately.
        """
        cached = self.tokens_in if self.tokens_cached is None else self.tokens_cached
        fresh = tokens_in - tokens_cached if tokens_cached <= tokens_in else tokens_in
        return (fresh * self.tokens_in + tokens_cached * cached + tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A request for the cell with the label `origin`: what it used, or, if not `answered`, what was reserved for it."""

    model: str
    tokens: float
    cost: float
    origin: str = ""
    answered: bool = False


class Ledger:
    """The file that records every request before it is sent. Safe for many threads.

    `warnings` name lines that cannot be read. Methods raise `JournalError` if a line cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        cut_unfinished_line(path)
        self._entries, self.warnings = read_ledger(path)
        try:
            self._file: FileIO = open_run_file(path, "ab")
        except OSError as error:
            raise cannot_write(path, error) from error

    @property
    def spent(self) -> Spending:
        """Requests, and their tokens and costs: those used, or those reserved for requests without an answer."""
        with self._lock:
            entries = list(self._entries.values())
        return Spending(len(entries), sum(entry.tokens for entry in entries), sum(entry.cost for entry in entries))

    def sent(self, model: str, tokens: float, cost: float, origin: str = "") -> int:
        """Record what is reserved for a request that is about to be sent, and return its number."""
        with self._lock:
            number = len(self._entries) + 1
            self._write({"sent": number, "model": model, "tokens": tokens, "cost": cost, "for": origin})
            self._entries[number] = LedgerEntry(model, tokens, cost, origin)
        return number

    def settled(self, number: int, tokens: float, cost: float, answered: bool = True) -> None:
        """Record what a request used, or may have used if it was not `answered`."""
        with self._lock:
            self._write({"settled": number, "tokens": tokens, "cost": cost, "answered": answered})
            self._entries[number] = replace(self._entries[number], tokens=tokens, cost=cost, answered=answered)

    def price(self, prices: Mapping[str, Price], rates: Mapping[str, float]) -> None:
        """Record the cost of requests that were sent without a price: `rates` are costs of a token, by origin."""
        for number, entry in list(self._entries.items()):
            price = prices.get(entry.model)
            most = max(price.tokens_in, price.tokens_out) / 1e6 if price else 0.0
            rate = rates.get(entry.origin, most) if entry.answered else most
            if not entry.cost and (cost := entry.tokens * rate):
                self.settled(number, entry.tokens, cost, entry.answered)

    def close(self) -> None:
        self._file.close()

    def _write(self, entry: dict[str, object]) -> None:
        append(self._file, self.path, (json.dumps(entry) + "\n").encode())


def read_ledger(path: Path) -> tuple[dict[int, LedgerEntry], tuple[str, ...]]:
    """The requests of a ledger by number, without an incomplete last line, and warnings about damaged lines.

    A request whose amount is invalid counts with the amount that was reserved for it. A damaged line may have been a
    request: for each missing number, the highest amount of any request is counted. Raises `JournalError` if more
    numbers are missing than lines are damaged, because then lines were lost.
    """
    entries: dict[int, LedgerEntry] = {}
    warnings: list[str] = []
    missing: list[int] = []
    for number, line in enumerate(_lines(path), start=1):
        where = f"{path}, line {number}"
        try:
            entry = json.loads(line)
            is_request = "sent" in entry
            key = int(entry["sent"] if is_request else entry["settled"])
        except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
            warnings.append(f"{where}: it is damaged; what it said counts as the most that a request took.")
            continue
        expected = len(entries) + len(missing) + 1
        if (key < expected or key - expected > len(warnings)) if is_request else key not in entries and not missing:
            reason = f"Line {number} is not an entry that can follow those before it."
            raise JournalError(f"{path} is damaged", reason, "Restore it: it says what was spent.")
        try:
            amounts = _amount(entry["tokens"]), _amount(entry["cost"])
        except (ValueError, KeyError, TypeError, ArithmeticError):
            if is_request:
                missing.append(key)
            warnings.append(f"{where}: no amount of tokens or money; what was reserved counts as spent.")
            continue
        if is_request:
            missing += range(expected, key)
            entries[key] = LedgerEntry(intern(str(entry.get("model", ""))), *amounts, intern(str(entry.get("for", ""))))
        elif key in entries:
            answered = bool(entry.get("answered", True))
            entries[key] = replace(entries[key], tokens=amounts[0], cost=amounts[1], answered=answered)
    if warnings and not entries and not missing:
        raise JournalError(f"{path} is damaged", "No line of it can be read.", "Restore it: it says what was spent.")
    known = entries.values()
    most = LedgerEntry(
        "", max((entry.tokens for entry in known), default=0.0), max((entry.cost for entry in known), default=0.0)
    )
    return entries | dict.fromkeys(missing, most), tuple(warnings)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        yield from run_lines(path) if path.exists() else ()
    except OSError as error:
        raise cannot_read(path, error) from error


def _amount(value: object) -> float:
    """A finite amount of at least 0. Raises `ValueError` or `TypeError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ValueError("not an amount")
    return float(value)


class TurnedAwayError(ConnectionError):
    """The answer is no longer needed: the request waited too long, because the endpoint rejected others (429)."""


class Permit(Protocol):
    """The permission to send one request, with what is reserved for it."""

    @property
    def wanted(self) -> bool:
        """Whether the answer is still needed."""

    def used(self, tokens_in: int, tokens_out: int, tokens_cached: int, whole: bool = True) -> None:
        """Count the tokens of an answer; for an incomplete answer (not `whole`), at least the reserved tokens."""

    def refused(self, pause: float) -> None:
        """The endpoint rejected or never got the request, which costs nothing. Send none for `pause` seconds.

        An infinite pause means that the endpoint has refused the key: no request for the model is sent any more.
        """


class RequestLimiter(Protocol):
    """Admits requests. Both methods raise `KeyboardInterrupt` if the evaluation is stopped."""

    def admit_request(self, model: str, request: Request) -> AbstractContextManager[Permit]:
        """Wait until the request may be sent. Raises `BudgetSpentError` if the budget does not allow it, and
        `RefusedError` if the endpoint has refused the key."""

    def sleep(self, seconds: float) -> None:
        """Wait before the next try."""


@dataclass
class _Reservation:
    """The estimated maximum of tokens and cost of a request, and the amounts that the request has used."""

    limiter: SharedLimiter
    model: str
    number: int
    reserved_tokens: float
    reserved_cost: float
    tokens: float = 0.0
    cost: float = 0.0
    has_answer: bool = False

    def __post_init__(self) -> None:
        self.tokens, self.cost = self.reserved_tokens, self.reserved_cost

    @property
    def wanted(self) -> bool:
        return not self.limiter.broken_off

    def used(self, tokens_in: int, tokens_out: int, tokens_cached: int, whole: bool = True) -> None:
        cost = self.limiter.cost(self.model, tokens_in, tokens_out, tokens_cached)
        self.tokens = tokens_in + tokens_out if whole else max(self.tokens, tokens_in + tokens_out)
        self.cost = cost if whole else max(self.cost, cost)
        self.has_answer = whole
        self.limiter.learn(self.model, tokens_out)

    def refused(self, pause: float) -> None:
        if pause == math.inf:
            self.limiter.give_up(self.model)
        else:
            self.limiter.hold(pause)
        self.tokens = self.cost = 0.0


class SharedLimiter:
    """One limiter for all workers: at most `jobs` requests in flight, and within `limits`.

    Before a request is sent, estimated tokens and cost are reserved: three characters a token, and an answer as long as
    the model's longest answer so far, and at least `max_answer` or else `OUTPUT_ESTIMATE`. The answer replaces the
    estimate. So limits are exceeded only if answers are longer than estimated. The `ledger` is written before a request
    is sent; amounts in it from earlier runs are spent.
    """

    def __init__(
        self,
        jobs: int,
        limits: Spending = _NO_LIMITS,
        ledger: Ledger | None = None,
        prices: Mapping[str, Price] | None = None,
        clock: Clock = time.monotonic,
        max_answer: int | None = None,
    ) -> None:
        self.limits = limits
        self._max_answer = max_answer
        self._longest: dict[str, int] = {}
        self._exhausted, self._refused = False, frozenset[str]()
        self.prices = dict(prices or {})
        self._jobs = threading.BoundedSemaphore(jobs)
        self._clock = clock
        self._changed = threading.Condition()
        self._ledger = ledger
        spent = ledger.spent if ledger else Spending()
        self._calls, self._tokens, self._cost = spent.calls or 0, spent.tokens or 0.0, spent.cost or 0.0
        self._not_before, self._turned_away = 0.0, False
        self._flying = 0
        self._broken = threading.Event()

    @property
    def broken_off(self) -> bool:
        return self._broken.is_set()

    def break_off(self) -> None:
        """Interrupt all waiting threads. Signal handlers call it, so it must not wait for a lock."""
        self._broken.set()

    def sleep(self, seconds: float) -> None:
        if self._broken.wait(seconds):
            raise KeyboardInterrupt

    @property
    def spent(self) -> Spending:
        """The amounts used, and those reserved for requests in flight."""
        return self.load().spent

    def load(self) -> Load:
        """The current load."""
        with self._changed:
            return Load(Spending(self._calls, self._tokens, self._cost), self._flying, self._exhausted, self._refused)

    def cost(self, model: str, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """The cost of these tokens; 0 for a model without a price."""
        price = self.prices.get(model)
        return price.cost(tokens_in, tokens_out, tokens_cached) if price else 0.0

    def learn(self, model: str, tokens_out: int) -> None:
        """Note the length of an answer: the next one of the model may be as long."""
        with self._changed:
            self._longest[model] = max(self._longest.get(model, 0), tokens_out)
            self._turned_away = False

    def give_up(self, model: str) -> None:
        """Send no more requests for the model."""
        with self._changed:
            self._refused |= {model}

    def hold(self, seconds: float) -> None:
        """Send no request for `seconds`, because the endpoint has rejected one (429)."""
        with self._changed:
            self._not_before = max(self._not_before, self._clock() + seconds)
            self._turned_away = self._turned_away or seconds > 0
            self._changed.notify_all()

    def admit_request(self, model: str, request: Request) -> AbstractContextManager[Permit]:
        """Wait for a free place and the end of a pause, and reserve what the request may use."""
        return self.admit(model, request.characters, request.wanted, most_tokens=request.max_tokens or 0)

    @contextmanager
    def admit(
        self,
        model: str,
        characters: int,
        wanted: Callable[[], bool] = lambda: True,
        origin: str = "",
        most_tokens: int = 0,
    ) -> Iterator[Permit]:
        """`admit_request` for a request of so many `characters`, for the cell `origin`.

        Raises `ConnectionError` if it is not `wanted` any more.
        """
        while not self._jobs.acquire(timeout=SLICE):
            self._go_on(wanted)
        try:
            self._pause(wanted)
            reservation = self._reserve(model, characters, origin, most_tokens, wanted)
            try:
                yield reservation
            finally:
                self._settle(reservation)
        finally:
            self._jobs.release()

    def _go_on(self, wanted: Callable[[], bool]) -> None:
        if self._broken.is_set():
            raise KeyboardInterrupt
        if not wanted():
            reason = "the request is no longer needed"
            raise TurnedAwayError(reason) if self._turned_away else ConnectionError(reason)

    def _pause(self, wanted: Callable[[], bool]) -> None:
        """Wait until the pause ends, which other threads may extend."""
        with self._changed:
            while (left := self._not_before - self._clock()) > 0:
                self._changed.wait(min(left, SLICE))
                self._go_on(wanted)

    def _reserve(
        self, model: str, characters: int, origin: str, most_tokens: int, wanted: Callable[[], bool]
    ) -> _Reservation:
        """Reserve the estimate if it fits the budget, or wait for the requests in flight if it may fit then."""
        tokens_in = characters // CHARACTERS_PER_TOKEN

        def estimate() -> tuple[float, float]:
            """Tokens and cost. They may grow while the request waits, after a longer answer of the model."""
            # A model may ignore its limit.
            tokens_out = max(self._max_answer or OUTPUT_ESTIMATE, self._longest.get(model, 0), most_tokens)
            return float(tokens_in + tokens_out), self.cost(model, tokens_in, tokens_out)

        with self._changed:
            while (limit := self._in_the_way(*estimate())) is not None:
                if not self._flying or limit == "calls":
                    self._exhausted = True
                    amount = _AMOUNTS[limit]
                    needed = dict(zip(("tokens", "cost"), map(amount, estimate()), strict=True))
                    reason = f"Spent or reserved: {amount(getattr(self.spent, limit))}"
                    reason += f"; the next request needs up to {needed[limit]}." if limit in needed else "."
                    what = f"The budget of {amount(getattr(self.limits, limit))} allows no further request"
                    raise BudgetSpentError(what, reason, "Continue with a higher one.")
                self._changed.wait(SLICE)
                self._go_on(wanted)
            self._go_on(wanted)
            if model in self._refused:
                reason = "The endpoint has refused the key of an earlier request."
                raise RefusedError(f"{model} was not asked", reason, "Check OPENAI_API_KEY.")
            tokens, cost = estimate()
            number = self._ledger.sent(model, tokens, cost, origin) if self._ledger else 0
            self._calls, self._tokens, self._cost = self._calls + 1, self._tokens + tokens, self._cost + cost
            self._flying += 1
        return _Reservation(self, model, number, tokens, cost)

    def _in_the_way(self, tokens: float, cost: float) -> str | None:
        """The limit that one more request would exceed; None if it fits."""
        amounts = {"calls": self._calls + 1, "tokens": self._tokens + tokens, "cost": self._cost + cost}
        limits = {name: limit for name in amounts if (limit := getattr(self.limits, name)) is not None}
        return next((name for name, limit in limits.items() if amounts[name] > limit), None)

    def _settle(self, reservation: _Reservation) -> None:
        """Replace what was reserved by what was used."""
        with self._changed:
            self._flying -= 1
            self._tokens += reservation.tokens - reservation.reserved_tokens
            self._cost += reservation.cost - reservation.reserved_cost
            self._changed.notify_all()
            if self._ledger:
                amounts = reservation.tokens, reservation.cost
                self._ledger.settled(reservation.number, *amounts, reservation.has_answer)


class CellLimiter:
    """A shared limiter for one cell, whose label the ledger records."""

    def __init__(self, limiter: SharedLimiter, origin: str) -> None:
        self._limiter, self._origin = limiter, origin

    def admit_request(self, model: str, request: Request) -> AbstractContextManager[Permit]:
        return self._limiter.admit(model, request.characters, request.wanted, self._origin, request.max_tokens or 0)

    def sleep(self, seconds: float) -> None:
        self._limiter.sleep(seconds)
