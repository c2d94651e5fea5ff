"""Answers that do not end by themselves: they are ended, once, and rejected with the reason."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.episode.events import Asked, Outcome, Rejected
from pddlego.errors import ModelError
from pddlego.methods.textgames.settings import GameSetting
from pddlego.models import Message, Request
from pddlego.models.base import LONGEST, REPETITION, Delta, RetryNotice, incomplete
from pddlego.models.dialect import Sampling
from pddlego.models.openai import OpenAIModel
from pddlego.models.replies import repeats
from pddlego.planning import ProcessPlanner
from tests.clock import FakeClock, Passing
from tests.methods.textgames.grid_house import small_house
from tests.methods.textgames.playing import ended, of, play
from tests.model_server import ModelServer, Reply, answer, streamed_slowly
from tests.models.endpoints import chunk, refusal
from tests.scale import PATIENCE

QUESTION = Request("edit", (Message("user", "What?"),))

LOOP = '"(connected kitchen loc1 north)",\n'


WORDS = st.lists(st.sampled_from(["(at", "kitchen)", "room", "1", "north", "\n", "é"]), min_size=1, max_size=90).map(
    " ".join
)


@given(st.text(max_size=300), WORDS, st.integers(0, 899))
def test_a_text_that_is_repeated_is_found_wherever_the_answer_stands(before: str, part: str, rest: int) -> None:
    assert repeats(before + part * (12_000 // len(part)) + part[: rest % len(part)])


@given(st.lists(st.integers(0, 10**9), unique=True, max_size=2_000))
def test_lines_that_all_differ_are_no_repetition(numbers: list[int]) -> None:
    assert not repeats("".join(f"(at object-{number} room-{number % 7})\n" for number in numbers))


@pytest.mark.parametrize(
    "text",
    [
        LOOP * 15,
        "-" * 900,
        '{"objects": {"add": []},\n' + "".join(f'"(visited room{number})",\n' for number in range(400)),
        "(0 0 0 0 1)\n" * 80 + "(1 0 0 0 0)\n",
    ],
    ids=["fifteen equal lines", "a ruler", "a long list", "a grid that ends otherwise"],
)
def test_what_useful_answers_have_is_no_repetition(text: str) -> None:
    assert not repeats(text)


def test_a_looping_answer_is_ended_and_not_asked_again(model_server: ModelServer) -> None:
    model_server.replies = [streamed_slowly([("", LOOP)] * 5_000, 0.0)]
    completion = OpenAIModel("m", base_url=model_server.url).complete(QUESTION)
    assert completion.finish == REPETITION
    assert len(completion.text) < 4_000
    assert (completion.attempts, len(model_server.requests)) == (1, 1)
    feedback = incomplete(completion)
    assert feedback is not None
    assert feedback.category == REPETITION


def test_looping_reasoning_is_ended(model_server: ModelServer) -> None:
    model_server.replies = [streamed_slowly([("Wait, no. ", "")] * 5_000, 0.0)]
    completion = OpenAIModel("m", base_url=model_server.url).complete(QUESTION)
    assert completion.finish == REPETITION
    assert len(completion.reasoning) < 4_000


def test_one_token_after_the_other_for_ever_costs_the_cap(model_server: ModelServer) -> None:
    model_server.replies = [streamed_slowly([("", f"{number} ") for number in range(10**5)], 0.001)]
    completion = OpenAIModel("m", base_url=model_server.url, timeout=PATIENCE).complete(replace(QUESTION, longest=200))
    assert completion.finish == "length"
    assert 201 <= len(completion.text.split()) <= 203
    assert len(model_server.requests) == 1


def test_a_reason_to_stop_in_every_part_does_not_remove_the_cap(model_server: ModelServer) -> None:
    pieces = tuple(f"{chunk({'content': f'{number} '}, 'stop')}\n\n" for number in range(10**5))
    model_server.replies = [Reply(headers={"content-type": "text/event-stream"}, pieces=pieces, pause=0.001)]
    completion = OpenAIModel("m", base_url=model_server.url, timeout=PATIENCE).complete(replace(QUESTION, longest=200))
    assert completion.finish == "length"
    assert 201 <= len(completion.text.split()) <= 203


def test_an_answer_that_is_not_streamed_has_the_same_cap(model_server: ModelServer) -> None:
    """The endpoint must end it. The cap is left out for good if the endpoint has no room for it."""
    question, plain = replace(QUESTION, longest=200), Sampling(streams=False)
    model_server.replies = [answer("1")]
    OpenAIModel("m", base_url=model_server.url, sampling=plain).complete(question)
    OpenAIModel("m", base_url=model_server.url, sampling=replace(plain, max_tokens=300)).complete(question)
    OpenAIModel("m", base_url=model_server.url).complete(question)
    assert [body.get("max_tokens") for body in model_server.requests] == [200, 200, None]
    model_server.requests.clear()
    model_server.replies = [refusal("max_tokens is too large: 200. This model supports at most 100"), answer("1")]
    model = OpenAIModel("m", base_url=model_server.url, sampling=plain)
    assert [model.complete(question).attempts for _ in range(2)] == [2, 1]
    assert [body.get("max_tokens") for body in model_server.requests] == [200, None, None]


def test_a_limit_of_the_user_replaces_the_usual_one(model_server: ModelServer) -> None:
    text = "".join(f"{number} " for number in range(LONGEST))
    model_server.replies = [streamed_slowly([("", text)], 0.0)]
    sampling = Sampling(max_tokens=10 * LONGEST)
    completion = OpenAIModel("m", base_url=model_server.url, sampling=sampling).complete(QUESTION)
    assert (completion.finish, completion.text) == ("stop", text)


def test_a_slow_answer_may_take_longer_than_the_time_out(model_server: ModelServer) -> None:
    """The next part is sent when the one before it was read, and time has passed since."""
    clock, read = FakeClock(), [threading.Event() for _ in range(12)]
    parts = [part for number, event in enumerate(read) for part in (("", f"{number} "), event)]
    model_server.replies = [streamed_slowly(parts, 0.0)]

    def report(update: RetryNotice | Delta) -> None:
        if isinstance(update, Delta):
            clock.advance(PATIENCE / 2)
            next(event for event in read if not event.is_set()).set()

    model = OpenAIModel("m", base_url=model_server.url, timeout=PATIENCE, clock=clock)
    completion = model.complete(replace(QUESTION, report=report))
    assert (completion.attempts, completion.seconds) == (1, 6 * PATIENCE)


def test_an_answer_that_never_ends_is_a_time_out(model_server: ModelServer) -> None:
    """A part of it comes in each half of the time-out, and the endpoint begins anew when it is asked again."""
    clock, more = FakeClock(), threading.Event()

    class Next(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            more.wait(PATIENCE)
            more.clear()
            return True

    def endless(body: object) -> Reply:
        parts = [part for number in range(20) for part in (("", f"{number} "), Next())]
        return streamed_slowly([*parts, threading.Event()], 0.0)

    def report(update: RetryNotice | Delta) -> None:
        if isinstance(update, Delta):
            clock.advance(PATIENCE / 2)
            more.set()

    model_server.replies = [endless]
    model = OpenAIModel("m", base_url=model_server.url, timeout=PATIENCE, sleep=clock.advance, clock=clock)
    with pytest.raises(ModelError, match="still arriving after 3000 s") as caught:
        model.complete(replace(QUESTION, report=report))
    assert caught.value.next_step == "Raise --model-timeout, or try a faster model."
    assert len(model_server.requests) == 2


def test_signs_of_life_without_an_answer_are_silence(model_server: ModelServer) -> None:
    clock = FakeClock()
    pings = (": ping\n\n", Passing(clock, 1.0)) * 10
    model_server.replies = [
        Reply(headers={"content-type": "text/event-stream"}, pieces=(*pings, threading.Event()), pause=0.02)
    ]
    model = OpenAIModel("m", base_url=model_server.url, timeout=9.5, sleep=clock.advance, clock=clock)
    with pytest.raises(ModelError, match="longer than the time-out"):
        model.complete(QUESTION)
    assert len(model_server.requests) == 2


def test_an_episode_of_looping_answers_is_lost_for_that_reason(
    coin: GameSetting, planner: ProcessPlanner, model_server: ModelServer
) -> None:
    model_server.replies = [streamed_slowly([("", LOOP)] * 5_000, 0.0)]
    events = play(coin, planner, small_house(), OpenAIModel("m", base_url=model_server.url), retries=2)
    assert [event.feedback.category for event in of(events, Rejected)] == [REPETITION] * 3
    assert len(of(events, Asked)) == len(model_server.requests) == 3
    assert ended(events).outcome is Outcome.NO_PLAN
    assert "again and again" in ended(events).message


def test_each_attempt_has_a_seed_of_its_own(
    coin: GameSetting, planner: ProcessPlanner, model_server: ModelServer
) -> None:
    model_server.replies = [answer("no")]
    model = OpenAIModel("m", base_url=model_server.url, sampling=Sampling(seed=40))
    play(coin, planner, small_house(), model, retries=2)
    assert [request["seed"] for request in model_server.requests] == [40, 41, 42]
