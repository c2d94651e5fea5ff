"""Many workers (64 in CI) and an endpoint of which every fifth request fails: nothing is lost, or counted twice."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.episode.events import Answered, Asked, Ended, Outcome
from tests.coin_endpoint import next_command
from tests.model_server import ModelServer, Reply, answer, fault
from tests.runs.stores import read

pytestmark = pytest.mark.slow

SHARE = 0.2
WORKERS = EPISODES = 32
AT_ONCE = {"retry-after": "0.05"}

FAILURES = (
    fault(429, "slow down", headers=AT_ONCE),
    fault(500, "oops", headers=AT_ONCE),
    fault(503, "busy", headers=AT_ONCE),
    fault(529, "overloaded", headers=AT_ONCE),
    Reply(502, "<html>Bad Gateway</html>", {"content-type": "text/html", **AT_ONCE}),
    Reply(drop=True),
    Reply(reset=True),
    Reply(body=answer("move north").body, cut=30),
    Reply(body="<html>Welcome</html>", headers={"content-type": "text/html"}),
)


class Unreliable:
    """Plays well, and fails at random; keeps count of both."""

    def __init__(self, seed: int) -> None:
        self._random, self._lock = random.Random(seed), threading.Lock()
        self.failed = 0
        self.answered = 0

    def __call__(self, body: dict[str, Any]) -> Reply:
        with self._lock:
            if self._random.random() < SHARE:
                self.failed += 1
                return self._random.choice(FAILURES)
            self.answered += 1
        return answer(next_command(body))


def test_every_episode_and_every_call_is_accounted_for(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    endpoint = Unreliable(6)
    model_server.replies = [endpoint]
    run = tmp_path / "run"
    result = pddlego.evaluate(
        ["coin"],
        run,
        modes="act",
        models="m",
        base_url=model_server.url,
        seeds=f"0-{EPISODES - 1}",
        workers=WORKERS,
        llm_jobs=WORKERS,
    ).results
    assert [item.cell.seed for item in result] == list(range(EPISODES))
    outcomes = Counter(item.outcome for item in result)
    assert set(outcomes) <= {Outcome.WON, Outcome.MODEL_ERROR, Outcome.STEP_LIMIT}
    assert outcomes[Outcome.WON] > 0
    assert outcomes[Outcome.MODEL_ERROR] > 0, "a page instead of JSON is not tried again"

    text = [event for path in sorted((run / "episodes").iterdir()) for event in read(path).events]
    asked, answered = (sum(isinstance(item, kind) for item in text) for kind in (Asked, Answered))
    ended = [item for item in text if isinstance(item, Ended)]
    assert len(ended) == EPISODES
    assert asked - answered == outcomes[Outcome.MODEL_ERROR], "who gets no answer ends there"
    assert answered == endpoint.answered, "every answer that was given has arrived, once"
    assert sum(item.usage.calls for item in ended) == asked
    assert sum(item.usage.tokens_out for item in ended) == 20 * answered

    sent = endpoint.answered + endpoint.failed
    assert len(model_server.requests) == sent
    ledger = [json.loads(line) for line in (run / "ledger.jsonl").read_text().splitlines()]
    numbers = [item["sent"] for item in ledger if "sent" in item]
    assert numbers == list(range(1, sent + 1)), "every request is in the ledger, once, in its order"
    assert sorted(item["settled"] for item in ledger if "settled" in item) == numbers
    tried_again = sum(item.completion.attempts - 1 for item in text if isinstance(item, Answered))
    lost = endpoint.failed - tried_again
    assert outcomes[Outcome.MODEL_ERROR] <= lost <= 6 * outcomes[Outcome.MODEL_ERROR]


def test_a_question_whose_second_try_the_budget_stopped_was_asked(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    model_server.replies = [fault(500, "oops", headers={"retry-after": "0.05"})]
    arguments: dict[str, Any] = {
        "modes": "act",
        "models": "m",
        "base_url": model_server.url,
        "seeds": "0",
        "max_calls": 1,
    }
    (result,) = pddlego.evaluate(["coin"], tmp_path / "run", **arguments).results
    assert (result.outcome, result.usage.calls, len(model_server.requests)) == (Outcome.BUDGET, 1, 1)
    arguments |= {"max_calls": 0, "seeds": "1"}
    with pytest.warns(UserWarning, match="no episode has a result"):
        assert not pddlego.evaluate(["coin"], tmp_path / "other", **arguments).results
    assert len(model_server.requests) == 1
