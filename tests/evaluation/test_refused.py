"""An endpoint that refuses every request, or is not there, ends an evaluation early; what may pass does not."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.episode.events import Answered, Cause, Ended, Event, Outcome, Usage
from pddlego.errors import PddlegoError
from pddlego.evaluation.runner import Executor, Runner, WorkerDone
from pddlego.models.base import Completion
from pddlego.models.limiter import Load
from pddlego.runs.cells import Cell
from pddlego.runs.store import Store
from tests.coin_endpoint import next_command
from tests.model_server import ModelServer, Reply, answer, fault
from tests.runs.stores import executor, open_store

EPISODES, WORKERS = 6, 3
AT_ONCE = {"retry-after": "0.01"}
HTML = {"content-type": "text/html"}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")


def evaluation(run: Path, url: str, **more: Any) -> pddlego.Evaluation:
    arguments: dict[str, Any] = {"modes": "act", "models": "m", "seeds": range(EPISODES), "workers": WORKERS}
    arguments |= {"max_steps": 5, **more}
    return pddlego.evaluate(["coin"], run, base_url=url, **arguments)


def good(body: dict[str, Any]) -> Reply:
    return answer(next_command(body))


REFUSALS = {
    "wrong key": fault(401, "Incorrect API key provided", "invalid_api_key"),
    "unknown model": fault(404, "The model `m` does not exist", "model_not_found"),
    "wrong key with 400": fault(400, "API key not valid. Pass a valid one."),
    "no credit": fault(429, "You exceeded your quota", "insufficient_quota"),
    "no page": Reply(404, "<b>404 Not Found</b>", HTML),
}


@pytest.mark.parametrize("name", ["wrong key", "no credit", "no page"])
def test_a_refusal_ends_the_run_and_the_same_call_continues_it(
    tmp_path: Path, model_server: ModelServer, name: str
) -> None:
    model_server.replies = [REFUSALS[name]]
    with pytest.raises(PddlegoError, match="No further episode with m was begun") as caught:
        evaluation(tmp_path / "run", model_server.url).wait()
    assert f"{model_server.url} answered {REFUSALS[name].status} to m" in caught.value.reason
    assert "run the same command again" in caught.value.next_step
    tried = pddlego.load(tmp_path / "run").results
    assert 1 <= len(tried) <= WORKERS
    assert {result.outcome for result in tried} == {Outcome.MODEL_ERROR}
    assert 1 <= len(model_server.requests) <= len(tried)  # after a refusal, those that have begun send nothing

    model_server.replies = [good]
    results = evaluation(tmp_path / "run", model_server.url).results
    assert sorted(result.cell.seed for result in results) == list(range(EPISODES))
    assert all(result.counts for result in results)


def test_an_endpoint_that_is_not_there_ends_the_run(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pddlego.models.openai._wait_before_next", lambda state: 0.0)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    with pytest.raises(PddlegoError, match="No further episode with m was begun") as caught:
        evaluation(tmp_path / "run", url).wait()
    assert "after 6 tries: No connection" in caught.value.reason
    assert 1 <= len(pddlego.load(tmp_path / "run").results) <= WORKERS
    model_server.replies = [good]
    assert all(result.counts for result in evaluation(tmp_path / "run", model_server.url).results)
    with pytest.raises(PddlegoError, match="another configuration"):
        evaluation(tmp_path / "run", url)


@pytest.mark.parametrize(
    "reply",
    [
        fault(502, "bad gateway", headers=AT_ONCE),
        fault(429, "slow down", headers=AT_ONCE),
        fault(429, "slow down, you exceeded your quota", headers={"retry-after": "7200"}),
        fault(403, "Your input was flagged"),
        Reply(200, "<b>Maintenance</b>", HTML),
    ],
    ids=["502", "429", "429 for hours", "content", "a page"],
)
def test_what_may_pass_ends_no_run(
    tmp_path: Path, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    monkeypatch.setattr("pddlego.models.limiter.SharedLimiter.hold", lambda self, seconds: None)
    model_server.replies = [reply]
    results = evaluation(tmp_path / "run", model_server.url).results
    assert [result.outcome for result in results] == [Outcome.MODEL_ERROR] * EPISODES


def test_a_refused_model_does_not_stop_the_others(tmp_path: Path, model_server: ModelServer) -> None:
    unknown = REFUSALS["unknown model"]
    model_server.replies = [lambda body: unknown if body["model"] == "a" else good(body)]
    with pytest.raises(PddlegoError, match="No further episode with a was begun"):
        evaluation(tmp_path / "run", model_server.url, models="a,b").wait()
    results = pddlego.load(tmp_path / "run").results
    assert sum(result.cell.model == "a" for result in results) <= WORKERS
    assert sum(result.cell.model == "b" and result.counts for result in results) == EPISODES


@pytest.mark.parametrize("expired", ["wrong key", "wrong key with 400"])
def test_after_a_refused_key_nothing_more_is_sent(tmp_path: Path, model_server: ModelServer, expired: str) -> None:
    """Neither by the other running episodes nor by one that would begin. A request at a time, so that none is late."""
    sent: list[Reply] = []

    def reply(body: dict[str, Any]) -> Reply:
        sent.append(REFUSALS[expired] if len(sent) >= 10 else good(body))
        return sent[-1]

    model_server.replies = [reply]
    with pytest.raises(PddlegoError, match="No further episode with m was begun"):
        evaluation(tmp_path / "run", model_server.url, llm_jobs=1).wait()
    assert len(sent) == 11
    results = pddlego.load(tmp_path / "run").results
    assert len([result for result in results if not result.counts]) <= WORKERS
    model_server.replies = [good]
    assert evaluation(tmp_path / "run", model_server.url).wait()
    assert all(result.counts for result in pddlego.load(tmp_path / "run").results)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path, {}) as made:
        yield made


CELLS = tuple(Cell("coin", "act", "m", seed) for seed in range(6))
ANSWER, CACHED, REFUSED, NO_ENDPOINT = "answer", "cached", "refused", "no endpoint"


def episode(acts: tuple[str, ...]) -> Iterator[Event]:
    """Answers, and then an error or a won game."""
    causes: Mapping[str, Cause] = {REFUSED: "refused", NO_ENDPOINT: "no endpoint"}
    for act in acts:
        if act in causes:
            yield Ended(Outcome.MODEL_ERROR, f"m: {act}", 0.0, Usage(1), causes[act])
            return
        yield Answered(1, Completion("", from_cache=act == CACHED))
    yield Ended(Outcome.WON, "", 1.0, Usage(1))


@pytest.mark.parametrize(
    ("acts", "played"),
    [
        ([(REFUSED,)], 1),
        ([(NO_ENDPOINT,)], 1),
        ([(CACHED, REFUSED)], 1),
        ([(ANSWER,), (REFUSED,)], 3),  # the key expired in the night
        ([(ANSWER,), (NO_ENDPOINT,)], 6),  # the server is restarted
        ([(ANSWER, REFUSED)], 6),  # it refuses some requests
        ([(ANSWER, REFUSED), (NO_ENDPOINT,), (REFUSED,)], 3),
        ([(ANSWER,), (REFUSED,), (ANSWER,), (REFUSED,), (ANSWER,)], 6),
    ],
)
def test_when_a_model_is_given_up(store: Store, acts: list[tuple[str, ...]], played: int) -> None:
    """The last item is repeated."""
    runner = Runner(CELLS, store, executor(lambda cell: episode(acts[min(cell.seed, len(acts) - 1)])), workers=1)
    assert sum(isinstance(update, WorkerDone) for update in runner.run()) == played
    assert (runner.fault is None) == (played == len(CELLS))


def test_a_run_whose_last_episode_is_refused_was_not_cut_short(store: Store) -> None:
    runner = Runner(CELLS[:1], store, executor(lambda cell: episode((REFUSED,))), workers=1)
    list(runner.run())
    assert runner.fault is None


@pytest.mark.parametrize("budget", [{"max_calls": 6}, {"max_tokens": 12_000}])
def test_a_spent_budget_begins_no_episode(tmp_path: Path, model_server: ModelServer, budget: dict[str, int]) -> None:
    model_server.replies = [good]
    for _ in range(2):
        results = evaluation(tmp_path / "run", model_server.url, seeds=range(12), max_steps=50, **budget).results
        assert len(results) < 12
        assert all(result.usage.calls for result in results)
        attempts = (tmp_path / "run" / "results.jsonl").read_text().splitlines()
        assert len(list((tmp_path / "run" / "episodes").iterdir())) == len(attempts) >= len(results) > 0


def test_an_episode_that_the_budget_allowed_no_request_is_untried(store: Store) -> None:
    def player(cell: Cell) -> Iterator[Event]:
        yield Ended(Outcome.BUDGET, "spent", 0.0, Usage(), "evaluation")

    spent = Executor(player, lambda: None, lambda: Load())
    assert not [update for update in Runner(CELLS, store, spent, workers=3).run() if isinstance(update, WorkerDone)]
    assert store.results() == []
    assert list((store.path / "episodes").iterdir()) == []
