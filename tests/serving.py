"""A private server for tests, in a thread, and requests to it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

from pddlego.util.private_server import SECONDS, Answering, PrivateServer
from tests.scale import PATIENCE


@contextmanager
def serving(answer: Answering, seconds: float = SECONDS) -> Iterator[PrivateServer]:
    """A server that runs until the end of the block."""
    server = PrivateServer(0, answer, seconds)
    stop: list[Callable[[], object]] = []

    async def serve() -> None:
        task = asyncio.ensure_future(server.serve())
        loop = asyncio.get_running_loop()
        stop.append(lambda: loop.call_soon_threadsafe(task.cancel))
        begun.set()
        await asyncio.wait([task])

    begun = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    begun.wait(PATIENCE)
    try:
        yield server
    finally:
        stop[0]()
        thread.join(PATIENCE)


def get(address: str, **headers: str) -> tuple[int, str]:
    """The status and the text of an answer. Underscores in names of headers become hyphens."""
    place = urlsplit(address)
    connection = HTTPConnection(str(place.netloc), timeout=PATIENCE)
    try:
        target = place.path + (f"?{place.query}" if place.query else "")
        connection.request("GET", target, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def connected(server: PrivateServer) -> socket.socket:
    """A connection on which nothing was sent yet."""
    place = urlsplit(server.address)
    return socket.create_connection((str(place.hostname), int(place.port or 0)), timeout=PATIENCE)


def send(server: PrivateServer, data: bytes) -> bytes:
    """Everything that the server answers to these bytes."""
    with connected(server) as client:
        parts = []
        try:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while part := client.recv(1 << 16):
                parts.append(part)
        except OSError:  # it was closed before everything was sent or read
            pass
        return b"".join(parts)
