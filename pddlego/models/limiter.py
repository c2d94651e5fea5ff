"""What every request to an endpoint passes just before it is sent, retries too: so many at once, within a budget."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import ConfigDict, Field

from pddlego.errors import BudgetSpentError, JournalError
from pddlego.models.base import Request
from pddlego.models.replies import CHARACTERS_PER_TOKEN
from pddlego.util.files import append, cannot_read, cannot_write, cut_unfinished_line, open_run_file, read_run_file

OUTPUT_ESTIMATE = 2_000
"""Tokens of an answer that are reserved before it is known how long the model's answers are."""


_UNITS = {"calls": "requests", "tokens": "tokens", "cost": "in money"}
"""What the limits of `Spending` count."""


@dataclass(frozen=True)
class Spending:
    """Requests sent, tokens in and out, and cost: what was used, or a limit on it (None means no limit)."""

    calls: float | None = None
    tokens: float | None = None
    cost: float | None = None


_NO_LIMITS = Spending()


Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True)
class Price:
    """Money for a million tokens, in the currency of the price list."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    tokens_in: Amount
    tokens_out: Amount
    tokens_cached: Amount | None = None

    def cost(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """What these tokens cost; `tokens_cached` are those of `tokens_in` that the endpoint had read before.

        Where there are more of them, the endpoint counts them apart, and all of `tokens_in` are fresh.
        """
        cached = self.tokens_in if self.tokens_cached is None else self.tokens_cached
        fresh = tokens_in - tokens_cached if tokens_cached <= tokens_in else tokens_in
        return (fresh * self.tokens_in + tokens_cached * cached + tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True)
class LedgerEntry:
    """A request for a cell (its label, `origin`): what it took, or what was reserved for it if that is unknown (it was
    not `answered`)."""

    model: str
    tokens: float
    cost: float
    origin: str = ""
    answered: bool = False


class Ledger:
    """An append-only file. Safe for many threads. Raises `JournalError` when the disk does not take a line.

    `warnings` name the lines that could not be read; these do not stop the run.
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
        """All of it: requests sent, tokens and money used, or reserved where it is not known what was used."""
        with self._lock:
            entries = list(self._entries.values())
        return Spending(len(entries), sum(entry.tokens for entry in entries), sum(entry.cost for entry in entries))

    def sent(self, model: str, tokens: float, cost: float, origin: str = "") -> int:
        """A request is about to be sent for a cell (its label, `origin`), and this much is reserved for it.

        Returns its number.
        """
        with self._lock:
            number = len(self._entries) + 1
            self._write({"sent": number, "model": model, "tokens": tokens, "cost": cost, "for": origin})
            self._entries[number] = LedgerEntry(model, tokens, cost, origin)
        return number

    def settled(self, number: int, tokens: float, cost: float, answered: bool = True) -> None:
        """The request took this much, or may have where it was not `answered`."""
        with self._lock:
            self._write({"settled": number, "tokens": tokens, "cost": cost, "answered": answered})
            self._entries[number] = replace(self._entries[number], tokens=tokens, cost=cost, answered=answered)

    def close(self) -> None:
        self._file.close()

    def _write(self, entry: dict[str, object]) -> None:
        append(self._file, self.path, (json.dumps(entry) + "\n").encode())


def read_ledger(path: Path) -> tuple[dict[int, LedgerEntry], tuple[str, ...]]:
    """The requests of a ledger by number up to its last whole line, and warnings on unreadable lines.

    A line that says wrongly what was used is left out: the request counts as what was reserved for it. A line that
    cannot be read may have been a request: one whose number is missing counts as the most that any other took. Requests
    are numbered without a gap; where more are missing than lines are damaged, lines were lost: `JournalError`.
    """
    entries: dict[int, LedgerEntry] = {}
    warnings: list[str] = []
    missing: list[int] = []
    try:
        data = read_run_file(path) if path.exists() else b""
    except OSError as error:
        raise cannot_read(path, error) from error
    for number, line in enumerate(data[: data.rfind(b"\n") + 1].split(b"\n")[:-1], start=1):
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
            entries[key] = LedgerEntry(str(entry.get("model", "")), *amounts, str(entry.get("for", "")))
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


def _amount(value: object) -> float:
    """A number that something may cost. Raises `ValueError`, `TypeError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise ValueError("not an amount")
    return float(value)


SLICE = 0.2
"""Seconds after which who waits looks whether it still should: no signal wakes a thread that waits."""


class TurnedAwayError(ConnectionError):
    """A request waited until it was no longer needed: the endpoint turned others away (429) and answered none since."""


class Permit(Protocol):
    """One request on its way."""

    @property
    def wanted(self) -> bool:
        """Whether the answer is still needed."""

    def used(self, tokens_in: int, tokens_out: int, tokens_cached: int, whole: bool = True) -> None:
        """Book the tokens of an answer; of one that is not `whole`, at least what was reserved."""

    def refused(self, pause: float) -> None:
        """The endpoint rejected the request, which costs nothing. No request is sent for `pause` seconds."""


class RequestLimiter(Protocol):
    """Admits requests. `admit_request` raises `BudgetSpentError` instead of letting one too many through.

    If the evaluation is stopped, both raise `KeyboardInterrupt` instead of waiting.
    """

    def admit_request(self, model: str, request: Request) -> AbstractContextManager[Permit]: ...

    def sleep(self, seconds: float) -> None:
        """Wait before the next try."""


class Gauge(Protocol):
    """Spending so far, for the progress display."""

    @property
    def spent(self) -> Spending: ...

    @property
    def in_flight(self) -> int: ...

    @property
    def has_prices(self) -> bool: ...

    def is_exhausted(self) -> bool: ...


@dataclass
class _Reservation:
    """What a request may use at most, as far as one can tell, until it is known what it used."""

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
        self.limiter.hold(pause)
        self.tokens = self.cost = 0.0


class SharedLimiter:
    """One limiter for all workers: at most `jobs` requests in flight, and never more than `limits` allow.

    Requests count when they are sent, exactly. Tokens and money are reserved before by an estimate (three characters a
    token; for the answer as many as the longest of the model's answers had, at least `OUTPUT_ESTIMATE`, or what it may
    have, `max_answer`) and put right when the answer is there, so that they can be exceeded by at most what the answers
    in flight are longer than that. The `ledger` is written before a request goes out, and what it holds from earlier
    runs is spent.
    """

    def __init__(
        self,
        jobs: int,
        limits: Spending = _NO_LIMITS,
        ledger: Ledger | None = None,
        prices: Mapping[str, Price] | None = None,
        clock: Callable[[], float] = time.monotonic,
        max_answer: int | None = None,
    ) -> None:
        self.limits = limits
        self._max_answer = max_answer
        self._longest: dict[str, int] = {}
        self.exhausted = threading.Event()
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
    def has_prices(self) -> bool:
        """Whether costs are known of any model."""
        return bool(self.prices)

    @property
    def in_flight(self) -> int:
        """Requests on their way."""
        return self._flying

    def is_exhausted(self) -> bool:
        """Whether the budget has refused a request."""
        return self.exhausted.is_set()

    @property
    def broken_off(self) -> bool:
        return self._broken.is_set()

    def break_off(self) -> None:
        """Stop all waiting. Takes no lock that is held for long, because signal handlers call it."""
        self._broken.set()

    def sleep(self, seconds: float) -> None:
        if self._broken.wait(seconds):
            raise KeyboardInterrupt

    @property
    def spent(self) -> Spending:
        """What was used, with what is reserved for the requests in flight."""
        with self._changed:
            return Spending(self._calls, self._tokens, self._cost)

    def cost(self, model: str, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """The cost of these tokens; 0 for a model without a price."""
        price = self.prices.get(model)
        return price.cost(tokens_in, tokens_out, tokens_cached) if price else 0.0

    def learn(self, model: str, tokens_out: int) -> None:
        """An answer of the model had so many tokens: the next may have as many."""
        with self._changed:
            self._longest[model] = max(self._longest.get(model, 0), tokens_out)
            self._turned_away = False

    def _answer_of(self, model: str, most_tokens: int) -> int:
        """The expected maximum of tokens in an answer: a model may ignore its limit."""
        return max(self._max_answer or OUTPUT_ESTIMATE, self._longest.get(model, 0), most_tokens)

    def hold(self, seconds: float) -> None:
        """Send no request for `seconds` from now: the endpoint has turned one away."""
        with self._changed:
            self._not_before = max(self._not_before, self._clock() + seconds)
            self._turned_away = self._turned_away or seconds > 0
            self._changed.notify_all()

    def admit_request(self, model: str, request: Request) -> AbstractContextManager[Permit]:
        """Wait for a free place and for the end of a pause, reserve, and let the request go."""
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
        """`admit_request`, for a request of which is known how long it is, what it is for, and how long its answer may
        be.

        Raises `ConnectionError` if the request is no longer needed.
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
        """Wait until the pause ends; it may grow meanwhile."""
        with self._changed:
            while (left := self._not_before - self._clock()) > 0:
                self._changed.wait(min(left, SLICE))
                self._go_on(wanted)

    def _reserve(
        self, model: str, characters: int, origin: str, most_tokens: int, wanted: Callable[[], bool]
    ) -> _Reservation:
        """Reserve at once what fits; wait for requests in flight if it may fit when they have ended."""
        tokens_in = characters // CHARACTERS_PER_TOKEN

        def estimate() -> tuple[float, float]:
            """What is known of the model's answers may grow while a request waits."""
            tokens_out = self._answer_of(model, most_tokens)
            return float(tokens_in + tokens_out), self.cost(model, tokens_in, tokens_out)

        with self._changed:
            while (limit := self._in_the_way(*estimate())) is not None:
                if not self._flying or limit == "calls":
                    self.exhausted.set()
                    budget = getattr(self.limits, limit)
                    reason = f"{getattr(self.spent, limit):g} are spent or reserved."
                    what = f"The budget of {budget:g} {_UNITS[limit]} allows no further request"
                    raise BudgetSpentError(what, reason, "Continue with a higher one.")
                self._changed.wait(SLICE)
                self._go_on(wanted)
            self._go_on(wanted)
            tokens, cost = estimate()
            number = self._ledger.sent(model, tokens, cost, origin) if self._ledger else 0
            self._calls, self._tokens, self._cost = self._calls + 1, self._tokens + tokens, self._cost + cost
            self._flying += 1
        return _Reservation(self, model, number, tokens, cost)

    def _in_the_way(self, tokens: float, cost: float) -> str | None:
        """Which limit one more request would exceed."""
        amounts = {"calls": self._calls + 1, "tokens": self._tokens + tokens, "cost": self._cost + cost}
        limits = {name: limit for name in amounts if (limit := getattr(self.limits, name)) is not None}
        return next((name for name, limit in limits.items() if amounts[name] > limit), None)

    def _settle(self, reservation: _Reservation) -> None:
        """Put right what was reserved."""
        with self._changed:
            self._flying -= 1
            self._tokens += reservation.tokens - reservation.reserved_tokens
            self._cost += reservation.cost - reservation.reserved_cost
            self._changed.notify_all()
            if self._ledger:
                amounts = reservation.tokens, reservation.cost
                self._ledger.settled(reservation.number, *amounts, reservation.has_answer)


class CellLimiter:
    """A shared limiter for one cell: the ledger says for what a request was sent."""

    def __init__(self, limiter: SharedLimiter, origin: str) -> None:
        self._limiter, self._origin = limiter, origin

    def admit_request(self, model: str, request: Request) -> AbstractContextManager[Permit]:
        return self._limiter.admit(model, request.characters, request.wanted, self._origin, request.max_tokens or 0)

    def sleep(self, seconds: float) -> None:
        self._limiter.sleep(seconds)
