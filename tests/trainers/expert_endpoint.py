"""An OpenAI-compatible endpoint on this machine that plays Coin Collector for a trainer's conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pddlego import Environment
from tests.model_server import ModelServer, Reply, answer, streamed_slowly
from tests.trainers.serving import expert_answers


def first_texts(game: str, mode: str, seeds: range) -> dict[str, tuple[str, ...]]:
    """The expert's answers of each episode, by the text of its first question."""
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

    def reply(body: dict[str, Any]) -> Reply:
        text = next_answer(body["messages"], answers)
        return streamed_slowly([("", text)], pause=0.0) if body.get("stream") else answer(text)

    with ModelServer() as server:
        server.replies = [reply]
        yield server.url
