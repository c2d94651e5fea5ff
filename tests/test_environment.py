"""The stepping environment: it plays what `play` plays, and its rewards cannot be gamed."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from pathlib import Path

import pytest

import pddlego
from pddlego import Environment, Observation
from pddlego.api import environment as api
from pddlego.episode.events import Accepted, Event
from pddlego.errors import UsageError
from pddlego.methods.textgames.events import Observed
from tests.scale import scaled

GAMES = ("coin", "mapreader", "twc", "cooking-easy", "cooking-hard", "cooking-full", "paper-coin")


def won_by_the_expert(environment: Environment, seed: int) -> tuple[float, Observation]:
    observed, total = environment.reset(seed), 0.0
    while not observed.done:
        observed = environment.step(environment.expert())
        total += observed.reward
    return total, observed


def children() -> int:
    """The number of child processes."""
    return len(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())


@pytest.mark.parametrize("mode", ["edit", "gen"])
@pytest.mark.parametrize("game", GAMES)
def test_the_expert_gets_the_whole_reward(game: str, mode: str) -> None:
    with Environment(game, mode) as environment:
        for seed in range(60, scaled(61, in_ci=66)):
            total, observed = won_by_the_expert(environment, seed)
            assert observed.won and total == pytest.approx(1.0), (seed, observed.reasons)


@pytest.mark.parametrize(
    "game, mode", [("spanner", "program"), ("24game", "tos"), ("coin", "full"), ("ferry", "program")]
)
def test_every_method_can_be_stepped(game: str, mode: str) -> None:
    with Environment(game, mode) as environment:
        total, observed = won_by_the_expert(environment, 60)
        assert observed.won and total == pytest.approx(observed.score)


def played(events: tuple[Event, ...]) -> list[object]:
    kept = [event for event in events if isinstance(event, (Observed, Accepted))]
    return [(event.command, event.text) if isinstance(event, Observed) else event.text for event in kept]


@pytest.mark.parametrize("mode", ["act", "edit", "gen", "full", "full-steps"])
def test_it_plays_what_play_plays(mode: str) -> None:
    with Environment("coin", mode) as environment:
        won_by_the_expert(environment, 60)
        assert played(environment.episode.events) == played(pddlego.play("coin", mode, 60).events)
        assert environment.episode.won and environment.episode.seed == 60


def test_the_observations_of_act() -> None:
    with Environment("coin", "act") as environment:
        first = environment.reset(60)
        assert first.text.count("You are in") == 1 and not first.done and first.accepted is None
        assert "move east" in first.valid_commands and first.messages[0].role == "system"
        wrong = environment.step("fly")
        assert wrong.accepted is False and "not in the list" in wrong.reasons[0] and "not in the list" in wrong.text
        right = environment.step("move east")
        assert right.accepted and not right.reasons
        assert first.text not in right.text and "Valid actions" in right.text and "fly" not in right.text


def test_text_around_an_answer_and_idle_lines_cost_the_reward() -> None:
    with Environment("coin", "edit") as environment:
        for change, least, most in (
            (lambda text: f"I am not sure:\n{text}", 0.0, 0.0),
            (lambda text: '"delete": ["(at nowhere)"]'.join(text.rsplit('"delete": []', 1)), 0.0, 0.99),
            (lambda text: text.replace('"add": [', '"add": ["attic - location", ', 1), 0.3, 0.99),
            (lambda text: f"<think>it is</think>{text}", 1.0, 1.0),
        ):
            observed, total = environment.reset(60), 0.0
            while not observed.done:
                observed = environment.step(change(environment.expert()))
                total += observed.reward
            assert observed.won and least <= total <= most
            assert bool(observed.reasons) == (most < 1)


def test_a_model_that_knows_nothing_gets_nothing() -> None:
    with Environment("coin", "edit", max_seconds=60) as environment:
        observed, total = environment.reset(60), 0.0
        while not observed.done:
            observed = environment.step('{"objects": {}, "init": {}}')
            total += observed.reward
        assert total == 0.0 and not observed.won and "over: no plan" in observed.text


def test_splits() -> None:
    with Environment("coin", "act") as environment:
        assert environment.reset().done is False and environment.episode.seed == 60
        assert environment.reset().done is False and environment.episode.seed == 61
        with pytest.raises(UsageError, match="test seeds are not for training"):
            environment.reset(12)
        with pytest.raises(UsageError, match="seed = True is invalid"):
            environment.reset(True)
        with pytest.raises(UsageError, match="no seed 1000000"):
            environment.reset(1_000_000)
    with Environment("coin", "act", split="test") as environment:
        environment.reset()
        assert environment.episode.seed == 10
    with Environment("coin", "act", set={"fold": "test"}) as environment, pytest.raises(UsageError, match="test seeds"):
        environment.reset(20_000)
    with Environment("coin", "act", split="test", set={"fold": "test"}) as environment:
        environment.reset()
        assert environment.episode.seed == 20_000


def test_what_has_no_environment() -> None:
    for mode in ("random", "human", "gold"):
        with pytest.raises(UsageError):
            Environment("coin", mode)
    with pytest.raises(UsageError, match="Mode graphplan has no environment"):
        Environment("blocks", "graphplan")
    with pytest.raises(UsageError, match="Did you mean"):
        Environment("coim")
    with pytest.raises(UsageError, match="Unknown option 'retrys'"):
        Environment("coin", retrys=3)  # type: ignore[call-arg]


def test_closing_at_any_moment() -> None:
    environment = Environment("coin", "edit")
    with pytest.raises(UsageError, match="No question is open"):
        environment.step("{}")
    environment.close()
    environment.reset(60)
    environment.close()
    environment.close()
    with pytest.raises(UsageError, match="No question is open"):
        environment.step("{}")
    with pytest.raises(UsageError, match="There is no episode"):
        assert environment.episode
    environment.reset(61)
    with pytest.raises(UsageError, match="An answer is bytes"):
        environment.step(b"{}")  # type: ignore[arg-type]
    stepping = threading.Thread(target=lambda: environment.step(environment.expert()))
    stepping.start()
    environment.close()
    stepping.join()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="it reads /proc")
def test_environments_share_a_planner_and_leave_no_process() -> None:
    gc.collect()
    before, shared = children(), len(api._ALL_SHARED)
    many = [Environment("coin", "edit", retries=2) for _ in range(8)]
    for number, environment in enumerate(many):
        environment.reset(60 + number)
    assert len(api._ALL_SHARED) == shared + 1
    assert children() <= before + 1 + (os.cpu_count() or 1)  # perhaps the game engine, and the planners
    for environment in many:
        environment.close()
    del environment, many
    gc.collect()
    assert len(api._ALL_SHARED) == shared and children() <= before + 1


def test_asynchronous_episodes_run_at_once() -> None:
    async def play(environment: Environment, seed: int) -> bool:
        observed = await environment.reset_async(seed)
        while not observed.done:
            observed = await environment.step_async(environment.expert())
        return observed.won

    async def all_of_them() -> list[bool]:
        with Environment("coin", "edit") as one, Environment("coin", "edit") as two:
            return list(await asyncio.gather(play(one, 60), play(two, 61)))

    assert asyncio.run(all_of_them()) == [True, True]
