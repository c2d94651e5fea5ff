"""The limiter of an evaluation for workers in other processes and on other machines.

The process that evaluates keeps the limiter and its ledger; workers ask it for a permit before they send a request and
give the permit back with what was used. `multiprocessing.managers` serves the limiter, with a key that nobody else has.
"""

from __future__ import annotations

import itertools
import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing.managers import BaseManager
from typing import Any, Protocol

from pddlego.models import Request
from pddlego.models.limiter import Permit, SharedLimiter

Usage = tuple[int, int, int, bool]
"""Tokens in, out, cached; and whether the answer is whole."""


class LimiterServer:
    """Gives out permits by number. `owner` is who asks: when a worker dies, its permits are taken back.

    An owner is one worker's attempt at a cell. One that waits for a place when it is forgotten gets none.
    """

    def __init__(self, limiter: SharedLimiter) -> None:
        self._limiter = limiter
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._gone: set[str] = set()
        self._asking: set[str] = set()
        self._open: dict[int, tuple[str, AbstractContextManager[Permit], Permit]] = {}

    def enter(self, owner: str, model: str, characters: int, most_tokens: int = 0, seconds: float | None = None) -> int:
        """Wait until a request may be sent, at most so many `seconds`.

        Raises `BudgetSpentError`, and `ConnectionError` for who is gone or has waited too long.
        """
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        with self._lock:
            self._asking.add(owner)
        try:

            def wanted() -> bool:
                return owner not in self._gone and time.monotonic() < deadline

            admission = self._limiter.admit(model, characters, wanted, _cell(owner), most_tokens)
            permit = admission.__enter__()
        finally:
            with self._lock:
                self._asking.discard(owner)
        with self._lock:
            number = next(self._numbers)
            self._open[number] = (owner, admission, permit)
            late = owner in self._gone
        if late:
            self.leave(number, None, None)
        return number

    def leave(self, number: int, used: Usage | None, pause: float | None) -> None:
        """The request is over: `used` is what it took, `pause` that it was turned away and how long to wait."""
        with self._lock:
            found = self._open.pop(number, None)
        if found is None:
            return
        _, admission, permit = found
        if used is not None:
            permit.used(*used)
        elif pause is not None:
            permit.refused(pause)
        admission.__exit__(None, None, None)

    def begin(self, owner: str) -> None:
        """A new attempt at `CELL/NUMBER` begins: earlier ones at the cell are gone, if their worker died."""
        self._retire(_cell(owner), but=owner)

    def clear(self, cell: str) -> None:
        """The cell is over: whoever still has or awaits a permit for it is gone."""
        self._retire(cell)

    def _retire(self, cell: str, but: str | None = None) -> None:
        with self._lock:
            everybody = {who for who, _, _ in self._open.values()} | self._asking
        for who in everybody - {but}:
            if _cell(who) == cell:
                self.forget(who)

    def forget(self, owner: str) -> None:
        """Take back the permits of a worker that is gone; what was reserved for them stays spent."""
        with self._lock:
            self._gone.add(owner)
            lost = [number for number, (who, _, _) in self._open.items() if who == owner]
        for number in lost:
            self.leave(number, None, None)


def _cell(owner: str) -> str:
    return owner.rpartition("/")[0]


class _Asked(Protocol):
    def enter(
        self, owner: str, model: str, characters: int, most_tokens: int = 0, seconds: float | None = None
    ) -> int: ...

    def leave(self, number: int, used: Usage | None, pause: float | None) -> None: ...


@dataclass
class _Remembered:
    """A permit that remembers what it is told until it is given back."""

    usage: Usage | None = None
    pause: float | None = None
    wanted: bool = True
    """A worker is ended from outside, whatever it waits for."""

    def used(self, tokens_in: int, tokens_out: int, tokens_cached: int, whole: bool = True) -> None:
        self.usage = (tokens_in, tokens_out, tokens_cached, whole)

    def refused(self, pause: float) -> None:
        self.pause = pause


class RemoteLimiter:
    """A `RequestLimiter` that asks a limiter."""

    def __init__(self, limiter: _Asked, owner: str) -> None:
        self._server, self._owner = limiter, owner

    @contextmanager
    def admit_request(self, model: str, request: Request) -> Iterator[Permit]:
        number = self._server.enter(self._owner, model, request.characters, request.max_tokens or 0, request.seconds)
        permit = _Remembered()
        try:
            yield permit
        finally:
            self._server.leave(number, permit.usage, permit.pause)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True)
class LimiterAddress:
    """Where a limiter is, and the key to it, which is shown nowhere."""

    host: str
    port: int
    key: bytes

    def __repr__(self) -> str:
        return f"LimiterAddress({self.host}:{self.port})"


def serve(limiter: LimiterServer, host: str = "127.0.0.1") -> LimiterAddress:
    """Serve the limiter in threads of this process, as long as that lives."""

    class Server(BaseManager):
        """A class of its own: what can be asked for is registered with the class."""

    Server.register("limiter", callable=lambda: limiter)
    key = os.urandom(32)
    server = Server(address=(host, 0), authkey=key).get_server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    bound: Any = server.address
    return LimiterAddress(host, int(bound[1]), key)


def connect(address: LimiterAddress) -> Any:
    """The limiter at an address, for a worker."""

    class Client(BaseManager):
        """A class of its own, as above."""

    Client.register("limiter")
    manager = Client(address=(address.host, address.port), authkey=address.key)
    manager.connect()
    return manager.limiter()  # type: ignore[attr-defined]
