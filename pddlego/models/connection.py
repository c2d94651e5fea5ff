"""A connection to an endpoint that can be closed from outside, whatever it is waiting for."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pddlego.models.limiter import SLICE

if TYPE_CHECKING:
    import httpx2
    import openai

CLOSING = 5.0
"""Seconds for which is waited until a request that was given up is closed. It takes none, unless the system hangs."""


class _Line:
    """A client with the stream that its requests go over. One that was given up sends nothing any more."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        import openai

        from pddlego.models.bounded import bound

        http = openai.DefaultHttpxClient(
            event_hooks={"request": [self._watch], "response": [bound]},
            headers={"accept-encoding": "identity"},
            follow_redirects=False,  # the messages are for the endpoint that the user named
        )
        self.client = openai.OpenAI(http_client=http, **options)
        self.stream: Any = None
        self._given_up = threading.Event()

    def give_up(self) -> None:
        """Close the connection, also one that somebody is reading from; one that is just being made is never used."""
        self._given_up.set()
        if self.stream is not None:
            with contextlib.suppress(OSError, AttributeError):
                self.stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError, RuntimeError):
            self.client.close()

    def _watch(self, request: httpx2.Request) -> None:
        """Learn which stream requests go over when it is opened; one that is kept open stays the same."""
        import httpx2

        def trace(event: str, info: Mapping[str, Any]) -> None:
            if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                self.stream = info.get("return_value")
            if self._given_up.is_set():
                raise httpx2.ConnectError("the request was given up")

        request.extensions["trace"] = trace


class Connection:
    """A connection to an endpoint, for one request at a time. After a request that was given up there is a new one."""

    def __init__(self, api_key: str, address: str | None, query: Mapping[str, str], timeout: float) -> None:
        self._options: dict[str, Any] = {
            "api_key": api_key or "none",
            "base_url": address,
            "default_query": query,
            "timeout": timeout,
            "max_retries": 0,
        }
        self._line: _Line | None = None

    @property
    def client(self) -> openai.OpenAI:
        """The client, whose connection is kept for the next request."""
        if self._line is None:
            self._line = _Line(self._options)
        return self._line.client

    def within(self, seconds: float, call: Callable[[], Any], wanted: Callable[[], bool]) -> Any:
        """The result of `call`, which uses the client, or a time-out: its own one begins anew with every byte.

        A call that takes longer, or is not `wanted` any more, is closed before this returns. Raises
        `KeyboardInterrupt` when it is not wanted.
        """
        import openai

        done: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

        def work() -> None:
            try:
                done.put((call(), None))
            except BaseException as error:  # noqa: BLE001 -- raised again below, in the thread that asked
                done.put((None, error))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        end = time.monotonic() + max(0.01, seconds)
        try:
            while True:
                try:
                    result, error = done.get(timeout=max(0.0, min(SLICE, end - time.monotonic())))
                    break
                except queue.Empty:
                    if not wanted():
                        raise KeyboardInterrupt from None
                    if time.monotonic() >= end:
                        request: Any = None
                        raise openai.APITimeoutError(request=request) from None
        except BaseException:
            self._give_up(thread)
            raise
        if error is not None:
            raise error
        return result

    def _give_up(self, thread: threading.Thread) -> None:
        """Close what the thread waits for. One that still connects sends nothing when it has: nobody waits for it."""
        line, self._line = self._line, None
        if line is not None:
            line.give_up()
            if line.stream is not None:
                thread.join(CLOSING)
