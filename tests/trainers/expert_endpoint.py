"""An OpenAI-compatible endpoint on this machine that plays Coin Collector for a trainer's conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.trainers.serving import expert_answers


def first_texts(game: str, mode: str, seeds: range) -> dict[str, tuple[str, ...]]:
    """The expert's answers of each episode, by the text of its first question."""
    from pddlego import Environment

    with Environment(game, mode) as environment:
        return {environment.reset(seed).text: expert_answers(game, mode, seed) for seed in seeds}


def next_answer(messages: list[dict[str, Any]], answers: dict[str, tuple[str, ...]]) -> str:
    """The answer to the last message: the episode is known by its first observation."""
    questions = [message for message in messages if message["role"] == "user"]
    first = questions[0]["content"]
    first = first if isinstance(first, str) else "".join(part.get("text", "") for part in first)
    text = json.loads(first[first.index("{") :])["observation"]["text"]
    return answers[text][len(questions) - 1]


@contextmanager
def expert_endpoint(game: str, mode: str, seeds: range) -> Iterator[str]:
    """Serve chat completions at the address that is yielded."""
    answers = first_texts(game, mode, seeds)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            message = {"role": "assistant", "content": next_answer(body["messages"], answers)}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            value: dict[str, Any] = {"id": "1", "created": 0, "model": "expert", "usage": usage}
            if body.get("stream"):
                chunk = value | {"object": "chat.completion.chunk"}
                first = chunk | {"choices": [{"index": 0, "delta": message, "finish_reason": None}]}
                last = chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
                data = "".join(f"data: {text}\n\n" for text in (json.dumps(first), json.dumps(last), "[DONE]")).encode()
            else:
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                data = json.dumps(value | {"object": "chat.completion", "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if body.get("stream") else "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class names it
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
