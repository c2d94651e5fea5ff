"""Gymnasium: its own checker on three environments, and what terminated, truncated and info mean."""

from __future__ import annotations

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

from pddlego.errors import UsageError
from pddlego.trainers.gymnasium import make
from tests.trainers.serving import expert_answers


@pytest.mark.filterwarnings("ignore:.*not having a spec:UserWarning")
@pytest.mark.parametrize(
    ("game", "mode"),
    [
        ("coin", "act"),
        ("text-blocks", None),
        pytest.param("household", "act", marks=[pytest.mark.alfworld, pytest.mark.slow]),  # 15 s of the game's engine
    ],
)
def test_the_checker_of_gymnasium_passes(game: str, mode: str | None) -> None:
    environment = make(game, mode)
    check_env(environment, skip_render_check=True)
    environment.close()


def test_a_won_episode_is_terminated() -> None:
    environment = make("coin", "act")
    text, info = environment.reset(options={"game_seed": 60})
    assert "You are in" in text and info["game_seed"] == 60 and "move east" in info["valid_commands"]
    total = 0.0
    for answer in expert_answers("coin", "act", 60):
        _, reward, terminated, truncated, info = environment.step(answer)
        total += float(reward)
    assert terminated and not truncated and info["outcome"] == "won" and total == pytest.approx(1.0)
    with pytest.raises(UsageError, match="No question is open"):
        environment.step("look around")
    environment.close()


def test_a_limit_truncates() -> None:
    environment = make("coin", "act", max_steps=2)
    environment.reset(seed=1)
    results = [environment.step("look around")[2:] for _ in range(2)]
    assert [result[:2] for result in results] == [(False, False), (False, True)]
    assert results[-1][2]["outcome"] == "step limit" and not results[-1][2]["system_error"]
    environment.close()


def test_an_error_of_the_system_truncates() -> None:
    """The episode's time is up before the first answer."""
    environment = make("coin", "act", max_seconds=1e-9)
    environment.reset(seed=1)
    _, reward, terminated, truncated, info = environment.step("look around")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["system_error"] and info["outcome"] == "budget"
    environment.close()


def test_a_seed_gives_the_same_games_in_the_same_order() -> None:
    environment = make("coin", "act")

    def games(seed: int) -> list[int]:
        return [environment.reset(seed=number)[1]["game_seed"] for number in (seed, None, None)]

    assert games(3) == games(3) != games(4)
    assert min(games(3)) >= 60, "test seeds are never played"
    with pytest.raises(UsageError, match="test"):
        environment.reset(options={"game_seed": 12})
    for options in ({"seed": 60}, {"game_seed": 60, "game": "coin"}):
        with pytest.raises(UsageError, match=r"game_seed"):
            environment.reset(options=options)
    assert environment.reset(options={})[1]["game_seed"] >= 60
    environment.close()


def test_texts_of_any_alphabet_are_observations() -> None:
    environment = make("coin", "act")
    assert "Zürich → 東京" in environment.observation_space and 3 not in environment.observation_space
    assert isinstance(environment, gymnasium.Env) and isinstance(environment.action_space.sample(), str)
    environment.close()
