"""An endpoint that never ends: it sends a byte now and then, of headers or body, and counts who is connected."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType

from tests.scale import PATIENCE

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n"


class DrippingServer:
    """`most` is how many requests were open at once; `open` how many are now. `heard` is called for each request."""

    def __init__(self, headers: bool, pause: float = 0.05) -> None:
        self.headers, self.pause = headers, pause
        self.open = self.most = self.came = 0
        self.heard: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._ended = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def __enter__(self) -> DrippingServer:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._socket.close()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._drip, args=(connection,), daemon=True).start()

    def _drip(self, connection: socket.socket) -> None:
        with connection:
            if not connection.recv(1 << 16):
                return
            with self._lock:
                self.came += 1
                self.open += 1
                self.most = max(self.most, self.open)
            self.heard()
            try:
                if not self.headers:
                    connection.sendall(HEAD)
                while not self._ended.wait(self.pause):
                    connection.sendall(b"h" if self.headers else b" ")
                    connection.setblocking(False)
                    try:
                        while connection.recv(1 << 16):
                            pass
                        return  # the other side has closed
                    except BlockingIOError:
                        connection.setblocking(True)
            except OSError:
                return
            finally:
                with self._lock:
                    self.open -= 1


def wait_until(true: Callable[[], bool]) -> bool:
    """Whether a condition has come true; waits for it."""
    end = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()
