"""Requests that nobody waits for any more are closed, and count until they are; troubles are told as they happen."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

import pddlego
from pddlego.episode import events as ev
from pddlego.episode.ask import completed
from pddlego.episode.events import Outcome, Retrying
from pddlego.errors import ModelError
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Completion, Message, Request
from pddlego.models.base import ScriptedModel
from pddlego.models.limiter import SharedLimiter
from pddlego.models.openai import OpenAIModel
from pddlego.pddl import Domain, Problem
from pddlego.planning import ProcessPlanner
from tests.clock import FakeClock
from tests.dripping_server import DrippingServer, wait_until
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import agent, ended, of
from tests.methods.textgames.situations import situation_with
from tests.model_server import ModelServer, answer, fault
from tests.scale import PATIENCE

REQUEST = Request(
    "edit",
    (Message("user", "hello"),),
    situation_with("", "", Domain("d"), Problem("p", "d")),
)


@pytest.mark.parametrize("headers", [True, False], ids=["headers", "body"])
def test_a_request_that_took_too_long_is_closed(headers: bool) -> None:
    with DrippingServer(headers) as server:
        clock = FakeClock()
        server.heard = lambda: clock.advance(PATIENCE)
        model = OpenAIModel("m", base_url=server.url, timeout=PATIENCE, attempts=1, clock=clock)
        with pytest.raises(ModelError, match="did not answer"):
            model.complete(REQUEST)
        assert server.came == 1
        assert wait_until(lambda: server.open == 0), "the connection is closed"


@pytest.mark.slow
@pytest.mark.parametrize("headers", [True, False], ids=["headers", "body"])
def test_no_more_requests_are_open_than_jobs(headers: bool) -> None:
    """Time passes when the server has heard of all requests in flight, and of the end of the others."""
    with DrippingServer(headers) as server:
        limiter, clock = SharedLimiter(2), FakeClock()

        def work() -> None:
            model = OpenAIModel(
                "m", base_url=server.url, timeout=9.0, limiter=limiter, sleep=lambda _: None, clock=clock
            )
            with pytest.raises(ModelError):
                model.complete(REQUEST)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()

        def all_are_heard() -> bool:
            working = sum(thread.is_alive() for thread in threads)
            load = limiter.load()
            heard = server.came == load.spent.calls and server.open == load.in_flight
            return not working or (heard and load.in_flight == min(2, working))

        while any(thread.is_alive() for thread in threads):
            assert wait_until(all_are_heard)
            clock.advance(9.0)
            time.sleep(0.01)
        assert server.came == 16, "each is sent twice"
        assert server.most <= 4, "two in flight, and two whose end the server has not noticed yet"


def test_troubles_are_events_as_they_happen(model_server: ModelServer) -> None:
    model_server.replies = [fault(500, "oops"), fault(429, "slow down", headers={"retry-after": "0.01"}), answer("ok")]
    asking = completed(OpenAIModel("m", base_url=model_server.url), REQUEST, 7)
    first = next(asking)
    assert isinstance(first, Retrying)
    assert (first.call, first.trouble.tries, first.trouble.most) == (7, 1, 6)
    assert "500" in first.trouble.reason
    assert len(model_server.requests) == 1, "told before the next try"
    second = next(asking)
    assert isinstance(second, Retrying)
    assert "429" in second.trouble.reason
    assert second.trouble.seconds == pytest.approx(0.01)
    with pytest.raises(StopIteration) as stopped:
        next(asking)
    assert isinstance(stopped.value.value, Completion)
    assert stopped.value.value.attempts == 3


def test_a_model_at_hand_is_asked_at_once() -> None:
    with pytest.raises(StopIteration) as stopped:
        next(completed(ScriptedModel(("here",)), REQUEST, 1))
    assert stopped.value.value.text == "here"


def test_retries_stand_in_the_journal_between_question_and_answer(
    coin: GameSetting, planner: ProcessPlanner, model_server: ModelServer
) -> None:
    model_server.replies = [fault(503, "busy", headers={"retry-after": "0.01"}), fault(400, "no")]
    events = list(agent(coin, planner, small_house(), OpenAIModel("m", base_url=model_server.url)).run())
    kinds = [event.type for event in events]
    assert kinds[2:4] == ["asked", "retrying"]
    assert "503" in of(events, ev.Retrying)[0].trouble.reason
    assert ended(events).outcome is Outcome.MODEL_ERROR


def test_what_a_model_thought_is_kept(coin: GameSetting, planner: ProcessPlanner, model_server: ModelServer) -> None:
    thoughts = ["First I look.", "Then I go."]
    bodies = [
        answer("{}").body.replace('"content"', f'"{name}": "{thought}", "content"')
        for name, thought in zip(("reasoning_content", "reasoning"), thoughts, strict=True)
    ]
    model_server.replies = [replace(answer("{}"), body=body) for body in bodies]
    model = OpenAIModel("m", base_url=model_server.url)
    assert [model.complete(REQUEST).reasoning for _ in thoughts] == thoughts
    events = list(agent(coin, planner, small_house(), model, retries=0).run())
    assert of(events, ev.Answered)[0].completion.reasoning == thoughts[1]


def test_an_interrupt_ends_an_episode_whose_model_is_silent_and_closes_the_request(
    coin: GameSetting, planner: ProcessPlanner
) -> None:
    with DrippingServer(headers=True) as server:
        left = threading.Event()
        request = replace(REQUEST, wanted=lambda: not left.is_set())
        asking = completed(OpenAIModel("m", base_url=server.url), request, 1)

        def wait() -> None:
            with pytest.raises(KeyboardInterrupt):
                next(asking)

        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        assert wait_until(lambda: server.open == 1)
        left.set()
        waiting.join(PATIENCE)
        assert not waiting.is_alive()
        assert wait_until(lambda: server.open == 0)


def test_planning_is_bounded_by_the_episode_too(tmp_path: Path) -> None:
    (result,) = pddlego.evaluate(
        ["cooking-hard"], tmp_path / "run", modes="edit", seeds="0", max_seconds=0.0, timeout=60.0
    ).results
    assert (result.outcome, result.cause) == (Outcome.BUDGET, "seconds")
    assert result.counts, "the episode's own limit is a result"
