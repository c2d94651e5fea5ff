"""The stepping environment: it plays what `play` plays, and its rewards cannot be gamed."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import pddlego
from pddlego import Environment, StepResult
from pddlego.api import environment as api
from pddlego.api.splits import Split
from pddlego.episode.events import Accepted, Event
from pddlego.errors import UsageError
from pddlego.methods.textgames.events import Observed
from pddlego.planning import ProcessPlanner, process


def won_by_the_expert(environment: Environment, seed: int) -> tuple[float, StepResult]:
    observed = environment.reset(seed)
    total = observed.reward or 0.0  # fixed rules may earn points before the first question
    while not observed.done:
        observed = environment.step(environment.expert())
        total += observed.reward or 0.0
    return total, observed


def children() -> int:
    """The number of child processes."""
    return len(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())


@pytest.mark.parametrize(("game", "mode"), [("cooking-easy", "edit"), ("twc", "gen"), ("paper-coin", "edit")])
def test_the_expert_gets_the_whole_reward(game: str, mode: str) -> None:
    with Environment(game, mode) as environment:
        total, observed = won_by_the_expert(environment, 61)  # `test_rewards` has seed 60 of all games
        assert observed.won and total == pytest.approx(1.0), observed.reasons


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["edit", "gen"])
@pytest.mark.parametrize(
    "game, seed",
    [
        ("textworld-cooking-easy", 62),
        ("textworld-cooking-hard", 60),
        ("science-paint", 1),
        ("paper-cooking-hard", 60),
        ("household", 10),
    ],
)
def test_the_expert_gets_it_where_the_game_says_less_than_a_player_must_suppose(
    game: str, seed: int, mode: str
) -> None:
    """A game's own facts have no placeholders; some things have a name and no facts; a script knows more."""
    with Environment(game, mode) as environment:
        total, observed = won_by_the_expert(environment, seed)
        assert observed.won and total == pytest.approx(1.0), observed.reasons


@pytest.mark.parametrize(
    "game, mode",
    [
        pytest.param("spanner", "program", marks=pytest.mark.method("programs")),
        pytest.param("ferry", "tos", marks=pytest.mark.method("thought_of_search")),
        ("coin", "full"),
    ],
)
def test_every_method_can_be_stepped(game: str, mode: str) -> None:
    with Environment(game, mode) as environment:
        total, observed = won_by_the_expert(environment, 60)
        assert observed.won and total == pytest.approx(observed.score)


def played(events: tuple[Event, ...]) -> list[object]:
    kept = [event for event in events if isinstance(event, (Observed, Accepted))]
    return [(event.command, event.text) if isinstance(event, Observed) else event.text for event in kept]


@pytest.mark.parametrize("mode", ["act", "edit", "gen", "full", "full+steps"])
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


def test_one_answer_of_act_may_be_several_commands() -> None:
    with Environment("coin", "act") as environment:
        environment.reset(60)
        both = environment.step("move east; move west")
        assert both.accepted and both.text.count("You are in") == 2 and "> move west" in both.text
        assert environment.episode.usage.steps == 2 and environment.episode.usage.calls == 2
        part = environment.step("move east; fly")
        assert part.accepted and "Not sent: fly" in part.text and environment.episode.usage.steps == 3


@pytest.mark.parametrize(("look", "most"), [([], 1.0), (["corridor"], 1.0), (["attic"], 0.999)])
def test_where_to_look_costs_nothing_unless_it_is_not_there(look: list[str], most: float) -> None:
    with Environment("coin", "edit") as environment:
        observed, total = environment.reset(60), 0.0
        while not observed.done:
            first = len(observed.messages) and "The game begins" in observed.messages[1].content
            answer = json.loads(environment.expert()) | ({"look": look} if first else {})
            observed = environment.step(json.dumps(answer))
            assert observed.accepted
            total += observed.reward or 0.0
        assert observed.won and most - 0.3 < total <= most


def test_text_around_an_answer_and_idle_lines_cost_the_reward() -> None:
    with Environment("coin", "edit") as environment:
        for change, least, most in (
            (lambda text: f"I am not sure:\n{text}", 0.0, 0.0),
            (lambda text: text.replace("{", '{"reasoning": "it moved", ', 1), 0.0, 0.0),
            (lambda text: '"delete": ["(at nowhere)"]'.join(text.rsplit('"delete": []', 1)), 0.0, 0.99),
            (lambda text: text.replace('"add": [', '"add": ["attic - location", ', 1), 0.3, 0.99),
            (lambda text: f"<think>it is</think>{text}", 1.0, 1.0),
        ):
            observed, total = environment.reset(60), 0.0
            while not observed.done:
                observed = environment.step(change(environment.expert()))
                total += observed.reward or 0.0
            assert observed.won and least <= total <= most
            assert bool(observed.reasons) == (most < 1)


def test_a_model_that_knows_nothing_gets_nothing() -> None:
    with Environment("coin", "edit", max_seconds=60) as environment:
        observed, total = environment.reset(60), 0.0
        while not observed.done:
            observed = environment.step('{"objects": {}, "init": {}}')
            total += observed.reward or 0.0
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


def test_a_named_split_plays_only_its_seeds() -> None:
    cases: tuple[tuple[Split, int, int], ...] = (("train", 60, 3), ("dev", 3, 60), ("test", 12, 60))
    for split, own, other in cases:
        with Environment("coin", "act", split=split) as environment:
            environment.reset(own)
            assert environment.episode.seed == own
            with pytest.raises(UsageError, match=f"Seed {other} of coin is not in the split {split}"):
                environment.reset(other)
    with Environment("coin", "act") as environment:
        environment.reset(3)
        assert environment.episode.seed == 3, "without a split, any seed but a test seed may be named"
    with pytest.raises(UsageError, match="coin has no split 'valid'"):
        Environment("coin", "act", split="valid")  # type: ignore[arg-type]


def java_processes() -> list[int]:
    """The game engines of this process."""
    mine = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    children = {int(pid) for path in mine for pid in path.read_text().split()}
    return [pid for pid in children if b"java" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def lost(environment: Environment, answer: Callable[[], str]) -> StepResult:
    """The last observation of an episode that is not won."""
    observed = environment.reset(60)
    while not observed.done:
        observed = environment.step(answer())
    assert not observed.won
    return observed


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="it reads /proc")
@pytest.mark.parametrize("mode", ["act", "edit"])
def test_an_episode_whose_engine_died_has_no_reward(mode: str) -> None:
    with Environment("coin", mode) as environment:
        first = environment.reset(60)
        for pid in java_processes():
            os.kill(pid, signal.SIGKILL)
        observed = environment.step(first.valid_commands[0] if mode == "act" else environment.expert())
        assert observed.done and observed.reward is None and "game engine failed" in observed.system_error
        assert environment.reset(61).system_error == "" and environment.episode.seed == 61


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"timeout": 1e-9}, "the planner gave up (timeout)"),
        ({"max_seconds": 1e-3}, "0.001 seconds used up"),
    ],
)
def test_an_episode_without_time_has_no_reward(options: dict[str, float], reason: str) -> None:
    with Environment("coin", "edit", retries=1, **options) as environment:  # type: ignore[arg-type]
        observed = lost(environment, environment.expert)
        assert observed.reward is None and observed.system_error.startswith(reason)


def test_an_episode_that_the_model_lost_has_a_reward() -> None:
    with Environment("coin", "act", set={"max_steps": 2}) as environment:
        observed = lost(environment, lambda: "look around")
        assert (observed.reward, observed.system_error) == (0.0, "")
    with Environment("coin", "edit", retries=1) as environment:
        observed = lost(environment, lambda: "I do not know")
        assert (observed.reward, observed.system_error) == (0.0, "")


def renamed(answer: str, names: dict[str, str], other: str) -> str:
    """The edit with another name for the first that the episode gives to an object, and is not a placeholder."""
    objects = json.loads(answer)["objects"]
    lines = [*(pair["new"] for pair in objects.get("replace", [])), *objects.get("add", [])]
    for name in (line.split(" - ")[0] for line in lines):
        if not (names or re.fullmatch(r"loc\d+", name)):
            names[name] = f"{other}70"
    for old, new in names.items():
        answer = re.sub(rf'(?<=[ ("]){re.escape(old)}(?=[ )"])', new, answer)
    return answer


@pytest.mark.parametrize("other", ["zorkmid", "loc"])
@pytest.mark.parametrize(
    ("game", "seed", "most"), [("coin", 65, 0.8), ("cooking-hard", 60, 0.97), ("mapreader", 60, 0.2)]
)
def test_a_name_that_was_never_read_costs_all_facts_that_use_it(game: str, seed: int, most: float, other: str) -> None:
    """Also if it is a placeholder, with which an object may be named whose name is not known."""
    with Environment(game, "edit") as environment:
        observed, names = environment.reset(seed), dict[str, str]()
        total, reasons = observed.reward or 0.0, list[str]()
        while not observed.done:
            observed = environment.step(renamed(environment.expert(), names, other))
            total += observed.reward or 0.0
            reasons += observed.reasons
        assert names and observed.won and total < most
        assert any(f"{other}70" in reason and reason.startswith("wrong ") for reason in reasons)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["edit", "gen"])
def test_a_character_that_pddl_does_not_have_pays_nothing(mode: str) -> None:
    with Environment("coin", mode, retries=0) as environment:
        for mark in (*"'\"`,.:!@#$%&*=<>[]{}|~^+/\\_1", "\x0b"):
            environment.reset(60)
            answer = environment.expert().replace("(at kitchen)", f"(at {mark}kitchen)")
            if mode == "edit":
                answer = environment.expert().replace("(at kitchen)", json.dumps(f"(at {mark}kitchen)")[1:-1])
            assert answer != environment.expert()
            environment.step(answer)
            assert environment._verdicts._honesty == [0.0], mark


def test_what_playing_forgives_pays_nothing() -> None:
    """An object that is only used, and not declared, is declared by the tolerant reader."""
    with Environment("coin", "gen") as environment:
        environment.reset(60)
        answer = environment.expert()
        observed = environment.step(re.sub(r"loc1(?=[^()]*- location)", "", answer, count=1))
        assert observed.accepted and "loc1 is not declared" in observed.reasons[0]
        while not observed.done:
            observed = environment.step(environment.expert())
        assert observed.won and environment._verdicts._honesty[0] == 0.0


@pytest.mark.method("graphplan")
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
def test_environments_share_a_planner_and_leave_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "ProcessPlanner", ProcessPlanner)  # not one that is kept for other tests
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
