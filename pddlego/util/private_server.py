"""An HTTP server for one user of this machine: it answers GET requests with a secret token in their address."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote

from pddlego.errors import UsageError
from pddlego.util.unexpected import explained

HOST = "127.0.0.1"

MOST_OPEN, MOST_WAITING, SECONDS = 64, 256, 10.0
"""The most connections that are served at once, and the most that wait for that; further ones are closed. The longest
time for sending a request, or for reading its answer."""

_MOST_HEAD = 1 << 14
"""The most bytes of a request."""

_POLICY = (
    "default-src 'none'; connect-src 'self'; img-src data:; script-src 'nonce-{0}'; style-src 'nonce-{0}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True)
class WebPage:
    """The answer to a request. Only scripts and styles with the `nonce` are used."""

    text: str
    kind: str = "text/plain"
    status: HTTPStatus = HTTPStatus.OK
    nonce: str = ""

    def encoded(self) -> bytes:
        """The answer with its headers. Nothing may keep it, guess its type, show it in a frame or learn its address."""
        body = self.text.encode(errors="replace")
        headers = {
            "Content-Type": f"{self.kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Content-Security-Policy": _POLICY.format(self.nonce or secrets.token_urlsafe(16)),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-store",
            "Connection": "close",
        }
        lines = [f"HTTP/1.1 {self.status.value} {self.status.phrase}", *(": ".join(pair) for pair in headers.items())]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


Answering = Callable[[str, Mapping[str, str]], WebPage]
"""Answers a path below the token, without its first slash, and the values of its query."""


class PrivateServer:
    """Answers the requests of pages that it has served itself, on `HOST` only.

    `seconds` limit the time for sending a request, and that for reading its answer. Raises `UsageError` if the port
    cannot be used.
    """

    def __init__(self, port: int, answer: Answering, seconds: float = SECONDS) -> None:
        try:
            self._listening = socket.create_server((HOST, port))
        except OSError as error:
            reason = f"{error.strerror or error}."
            raise UsageError(
                f"Port {port} cannot be used", reason, "Choose another --port, or leave it out."
            ) from error
        self._answer, self._token, self._seconds = answer, secrets.token_urlsafe(24), seconds
        self.connections = 0
        self._served = asyncio.Semaphore(MOST_OPEN)
        number = self._listening.getsockname()[1]
        self._hosts = (f"{HOST}:{number}", f"localhost:{number}")
        self.address = f"http://{HOST}:{number}/{self._token}/"

    async def serve(self) -> None:
        """Answer requests until the task is cancelled."""
        most = MOST_OPEN + MOST_WAITING
        async with await asyncio.start_server(
            self._connected, sock=self._listening, limit=_MOST_HEAD, backlog=most
        ) as server:
            await server.serve_forever()

    async def _connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.connections += 1
        try:
            if self.connections <= MOST_OPEN + MOST_WAITING:
                async with self._served:
                    await self._serve(reader, writer)
        except (asyncio.TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass  # the client is gone, too slow, or does not speak HTTP
        finally:
            writer.transport.abort()
            self.connections -= 1

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Answer one request. Raises `TimeoutError` if the client is too slow."""
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), self._seconds)
        writer.transport.set_write_buffer_limits(0)  # so that `drain` waits until everything is sent
        writer.write(self._page(head.decode("latin-1")).encoded())
        await asyncio.wait_for(writer.drain(), self._seconds)
        writer.close()
        await asyncio.wait_for(writer.wait_closed(), self._seconds)

    def _page(self, head: str) -> WebPage:
        """The answer to a request."""
        first, *lines = head.split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        method, _, target = first.partition(" ")
        path, _, query = target.partition(" ")[0].partition("?")
        token, _, rest = path.removeprefix("/").partition("/")
        if method != "GET":
            return WebPage("Only GET is answered.\n", status=HTTPStatus.METHOD_NOT_ALLOWED)
        if not (self._is_own(headers) and hmac.compare_digest(token.encode(), self._token.encode())):
            return WebPage("Open the address that pddlego view prints.\n", status=HTTPStatus.FORBIDDEN)
        try:
            return self._answer(unquote(rest, errors="surrogateescape"), dict(parse_qsl(query, keep_blank_values=True)))
        except Exception as error:  # noqa: BLE001 -- a bug, or a broken file, must not end the server
            return WebPage(f"{explained(error)}\n", status=HTTPStatus.INTERNAL_SERVER_ERROR)

    def _is_own(self, headers: Mapping[str, str]) -> bool:
        """Whether a request is for this server, by a page of it or by a user: other sites can name it, too."""
        is_local = headers.get("host") in self._hosts
        is_same = headers.get("origin", f"http://{headers.get('host')}") == f"http://{headers.get('host')}"
        return is_local and is_same and headers.get("sec-fetch-site", "none") in ("none", "same-origin")
