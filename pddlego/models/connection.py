"""A connection to an endpoint that can be closed from outside, whatever it is waiting for."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pddlego.models.gate import SLICE

if TYPE_CHECKING:
    import httpx2
    import openai

CLOSING = 5.0
"""Seconds for which is waited until a request that was given up is closed. It takes none, unless the system hangs."""


class Connection:
    """One client of an endpoint, for one request at a time. After `abort` it makes a new one."""

    def __init__(self, api_key: str, address: str | None, query: Mapping[str, str], timeout: float) -> None:
        self._options: dict[str, Any] = {
            "api_key": api_key or "none",
            "base_url": address,
            "default_query": query,
            "timeout": timeout,
            "max_retries": 0,
        }
        self._client: openai.OpenAI | None = None
        self._stream: Any = None

    @property
    def client(self) -> openai.OpenAI:
        """The client, whose connection is kept for the next request."""
        import openai

        from pddlego.models.bounded import bound

        if self._client is None:
            http = openai.DefaultHttpxClient(
                event_hooks={"request": [self._watch], "response": [bound]},
                headers={"accept-encoding": "identity"},
                follow_redirects=False,  # the messages are for the endpoint that the user named
            )
            self._client = openai.OpenAI(http_client=http, **self._options)
        return self._client

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
            self.abort()
            thread.join(CLOSING)
            raise
        if error is not None:
            raise error
        return result

    def abort(self) -> None:
        """Close the connection, also one that somebody is reading from."""
        stream, client, self._stream, self._client = self._stream, self._client, None, None
        if stream is not None:
            with contextlib.suppress(OSError, AttributeError):
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        if client is not None:
            with contextlib.suppress(OSError, RuntimeError):
                client.close()

    def _watch(self, request: httpx2.Request) -> None:
        """Learn which stream a request goes over when it is opened; one that is kept open stays the same."""

        def trace(event: str, info: Mapping[str, Any]) -> None:
            if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
                self._stream = info.get("return_value")

        request.extensions["trace"] = trace
