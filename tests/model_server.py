"""A real HTTP server on this machine that speaks enough of OpenAI's chat completions, and fails as it is told."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from tests.scale import PATIENCE


@dataclass(frozen=True)
class Reply:
    """One reply. `delay` waits first, in seconds; `hold` until that is set, whatever the machine is busy with.

    `drop` closes the connection without a word, `reset` does so rudely. With `cut` only so many bytes of the body are
    sent before the connection is closed, which waits for `stall`. `pieces` are sent one by one in place of the body,
    with a `pause` before each; one that is an event is waited for.
    """

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hold: threading.Event | None = None
    drop: bool = False
    reset: bool = False
    cut: int | None = None
    stall: threading.Event | None = None
    coding: str = "utf-8"
    pieces: tuple[str | threading.Event, ...] = ()
    pause: float = 0.0


def streamed_slowly(parts: Iterable[tuple[str, str] | threading.Event], pause: float, usage: bool = True) -> Reply:
    """A chat completion in chunks, a `pause` before each: (reasoning, text) of every part, then the usage."""
    pieces: list[str | threading.Event] = []
    for part in parts:
        if isinstance(part, threading.Event):
            pieces.append(part)
            continue
        reasoning, text = part
        delta = {"reasoning_content": reasoning} if reasoning else {"content": text}
        pieces.append(_event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}))
    pieces.append(_event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    if usage:
        counted = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        pieces.append(_event({"choices": [], "usage": counted}))
    headers = {"content-type": "text/event-stream"}
    return Reply(headers=headers, pieces=(*pieces, "data: [DONE]\n\n"), pause=pause)


def _event(chunk: Mapping[str, Any]) -> str:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "test"}
    return f"data: {json.dumps({**head, **chunk})}\n\n"


def answer(text: str, finish: str = "stop", usage: bool = True, **reply: Any) -> Reply:
    """A whole chat completion with `text`."""
    body: dict[str, Any] = {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "test",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
    }
    if usage:
        body["usage"] = {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64},
        }
    return Reply(body=json.dumps(body), **reply)


def fault(status: int, message: str, code: str | None = None, **reply: Any) -> Reply:
    """An error in OpenAI's form."""
    return Reply(status, json.dumps({"error": {"message": message, "type": "error", "code": code}}), **reply)


class ModelServer:
    """Gives the replies in order, the last one for ever. `requests` holds the bodies, `paths` the URLs that came.

    A list of models is given if there are `models`, with their `window` if there is one.
    """

    def __init__(self) -> None:
        self.replies: list[Reply | Callable[[dict[str, Any]], Reply]] = [answer("ok")]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: list[str] = []
        self.models: list[str] = []
        self.window: int | None = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.paths.append(self.path)
                outer.requests.append(body)
                outer.headers.append({key.title(): value for key, value in self.headers.items()})
                number = min(len(outer.requests), len(outer.replies)) - 1
                chosen = outer.replies[number]
                reply = chosen(body) if callable(chosen) else chosen
                time.sleep(reply.delay)
                if reply.hold is not None:
                    reply.hold.wait(PATIENCE)
                if reply.drop or reply.reset:
                    if reply.reset:
                        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    self.close_connection = True
                    self.connection.close()
                    return
                if reply.pieces:
                    self.send_pieces(reply)
                    return
                data = reply.body.encode(reply.coding, "surrogateescape")
                self.send_response(reply.status)
                for key, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(key, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: reply.cut])
                if reply.cut is not None:
                    self.wfile.flush()
                    if reply.stall is not None:
                        reply.stall.wait(PATIENCE)
                    self.close_connection = True

            def do_GET(self) -> None:
                about = {"object": "model"} | ({"max_model_len": outer.window} if outer.window else {})
                data = json.dumps({"data": [{"id": name, **about} for name in outer.models]}).encode()
                self.send_response(200 if outer.models and self.path.endswith("/models") else 404)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def send_pieces(self, reply: Reply) -> None:
                self.send_response(reply.status)
                for key, value in reply.headers.items():
                    self.send_header(key, value)
                self.end_headers()
                self.close_connection = True
                for piece in reply.pieces:
                    if isinstance(piece, threading.Event):
                        piece.wait(PATIENCE)
                        continue
                    time.sleep(reply.pause)
                    self.wfile.write(piece.encode())
                    self.wfile.flush()

            def log_message(self, *args: Any) -> None:
                return

        class Server(ThreadingHTTPServer):
            request_queue_size = 256  # the five of the library are too few for many workers at once

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def wait_for_requests(self, number: int = 1) -> None:
        """Wait until so many have come."""
        end = time.monotonic() + PATIENCE
        while len(self.requests) < number:
            assert time.monotonic() < end, f"{len(self.requests)} of {number} requests came"
            time.sleep(0.01)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
