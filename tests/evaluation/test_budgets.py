"""Budgets against the server's own count, with many workers: calls exactly, the rest within answers in flight."""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.episode.events import Outcome
from pddlego.errors import UsageError
from pddlego.evaluation.resources import read_prices
from pddlego.models.limiter import Price
from pddlego.report.build import build_report
from tests.coin_endpoint import next_command
from tests.model_server import ModelServer, Reply
from tests.scale import PATIENCE, scaled

LONGEST = 5_000
"""Tokens of the longest answer: more than twice what is reserved before one knows the model."""


class Talker:
    """Plays, and says that its answers had so many tokens; counts what it gave."""

    def __init__(self) -> None:
        self.tokens = 0
        self.cost = 0.0
        self._lock = threading.Lock()
        self._random = random.Random(3)

    def __call__(self, body: dict[str, Any]) -> Reply:
        with self._lock:
            came, went = 400, self._random.randrange(1, LONGEST + 1)
            self.tokens += came + went
            self.cost += (came * 1.0 + went * 2.0) / 1e6
        message = {"role": "assistant", "content": next_command(body)}
        usage = {"prompt_tokens": came, "completion_tokens": went, "total_tokens": came + went}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        shell = {"id": "x", "object": "chat.completion", "created": 0, "model": "m"}
        return Reply(body=json.dumps({**shell, "choices": [choice], "usage": usage}))


@pytest.mark.parametrize("workers", scaled([6], in_ci=[64]))
@pytest.mark.parametrize("budget", ["max_calls", "max_tokens", "max_cost"])
def test_a_budget_holds(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, workers: int, budget: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    (tmp_path / "prices.toml").write_text("[m]\ntokens_in = 1.0\ntokens_out = 2.0\n")
    talker = Talker()
    model_server.replies = [talker]
    limits: dict[str, Any] = {"max_calls": 20, "max_tokens": 100_000, "max_cost": 0.2}
    limit = limits[budget]
    result = pddlego.evaluate(
        ["coin"],
        tmp_path / "run",
        modes="act",
        models="m",
        base_url=model_server.url,
        seeds=range(workers),
        workers=workers,
        llm_jobs=workers,
        prices=str(tmp_path / "prices.toml"),
        **{budget: limit},
    ).results
    assert any(item.outcome is Outcome.BUDGET for item in result)
    if budget == "max_calls":
        assert len(model_server.requests) == limit
    elif budget == "max_tokens":
        assert talker.tokens <= limit + workers * LONGEST, "one answer in flight for each worker"
    else:
        assert talker.cost <= limit + workers * LONGEST * 2.0 / 1e6
    ledger = [json.loads(line) for line in (tmp_path / "run" / "ledger.jsonl").read_text().splitlines()]
    settled = [item for item in ledger if item.get("answered")]  # a lost connection leaves what was reserved
    assert sum(item["tokens"] for item in settled) == talker.tokens
    assert sum(item["cost"] for item in settled) == pytest.approx(talker.cost)


def test_what_was_spent_before_there_was_a_price_counts(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    (tmp_path / "prices.toml").write_text("[m]\ntokens_in = 1.0\ntokens_out = 2.0\n")
    (tmp_path / "others.toml").write_text("[n]\ntokens_in = 1.0\ntokens_out = 2.0\n")
    talker = Talker()
    model_server.replies = [talker]

    def play(last: int, prices: str | None = None, **limits: Any) -> int:
        """Plays the seeds up to the last one; returns the number of requests so far."""
        given = {"modes": "act", "models": "m", "base_url": model_server.url, "max_steps": 3, **limits}
        listed = str(tmp_path / prices) if prices else None
        assert pddlego.evaluate(["coin"], tmp_path / "run", seeds=range(last + 1), prices=listed, **given).results
        return len(model_server.requests)

    def cost() -> float | None:
        return build_report([tmp_path / "run"]).rows[0].cost

    play(1)
    assert cost() is None
    play(0, "prices.toml")
    assert cost() == pytest.approx(talker.cost), "of the cells that were not named, too"
    before = len(model_server.requests)
    assert play(2, "prices.toml", max_cost=talker.cost) == before
    assert play(2, "others.toml") > before
    assert cost() == pytest.approx(talker.cost), "the recorded price is used"
    ledger = (tmp_path / "run" / "ledger.jsonl").read_text()
    play(2, "prices.toml")
    assert (tmp_path / "run" / "ledger.jsonl").read_text() == ledger


WRONG_COUNTS: list[dict[str, Any]] = [
    {},
    {"prompt_tokens": 400},
    {"prompt_tokens": 400.5, "completion_tokens": 2.5},
    {"prompt_tokens": True, "completion_tokens": True, "total_tokens": True},
    {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
]


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {"prompt_tokens": -400, "completion_tokens": -20_000, "total_tokens": -20_400},
        *(pytest.param(usage, marks=pytest.mark.slow) for usage in WRONG_COUNTS),
    ],
)
def test_a_budget_holds_where_the_endpoint_counts_wrongly(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, usage: dict[str, Any] | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    received: list[int] = []
    limit, workers, longest = 100_000, 2, 20_000

    def reply(body: dict[str, Any]) -> Reply:
        message = {"role": "assistant", "content": next_command(body), "reasoning_content": "x" * 3 * longest}
        received.append(len(str(message["content"])) + 3 * longest)
        counted = {} if usage is None else {"usage": usage}
        return Reply(body=json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], **counted}))

    model_server.replies = [reply]
    results = pddlego.evaluate(
        ["coin"],
        tmp_path / "run",
        modes="act",
        models="m",
        base_url=model_server.url,
        seeds=range(workers),
        workers=workers,
        max_tokens=limit,
    ).results
    assert all(result.outcome is Outcome.BUDGET for result in results)
    ledger = [json.loads(line) for line in (tmp_path / "run" / "ledger.jsonl").read_text().splitlines()]
    tokens_out = sum(characters // 3 for characters in received)
    messages = [request["messages"] for request in model_server.requests]
    tokens_in = [sum(len(message["content"]) for message in sent) // 3 for sent in messages]
    booked = sum(line["tokens"] for line in ledger if line.get("answered"))  # a lost connection leaves the reservation
    if usage == {"prompt_tokens": 400}:
        assert booked >= tokens_out
    else:
        assert booked == sum(tokens_in) + tokens_out
    assert booked <= limit + workers * (longest + max(tokens_in))
    assert sum(result.usage.tokens_in + result.usage.tokens_out for result in results) == booked


def test_a_limit_on_answers_is_sent_and_reserved(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    model_server.replies = [Talker()]
    pddlego.evaluate(
        ["coin"],
        tmp_path / "run",
        modes="act",
        models="m",
        base_url=model_server.url,
        seeds="3",
        max_answer_tokens=700,
    ).wait(PATIENCE)
    assert {request["max_tokens"] for request in model_server.requests} == {700}
    first = json.loads((tmp_path / "run" / "ledger.jsonl").read_text().splitlines()[0])
    characters = sum(len(request["content"]) for request in model_server.requests[0]["messages"])
    assert first["tokens"] == characters // 3 + 700
    assert first["for"] == "coin-act-m-seed3"


@pytest.mark.parametrize("price", ['"1"', "true", "nan", "-1", "[1]"])
def test_a_price_is_a_number(price: str, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(f"[m]\ntokens_in = {price}\ntokens_out = 2\n")
    with pytest.raises(UsageError, match="is not a price list"):
        read_prices(tmp_path / "prices.toml")


def test_a_price_may_be_a_whole_number(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("[m]\ntokens_in = 1\ntokens_out = 2.5\n")
    assert read_prices(tmp_path / "prices.toml") == {"m": Price(1, 2.5)}
