"""TRL: the environment factory as `GRPOTrainer` uses it, and the trainer itself in an environment of its own."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pddlego.errors import UsageError
from pddlego.trainers.trl import dataset_rows, environment_factory
from tests.scale import PATIENCE
from tests.trainers.serving import expert_answers

EXAMPLE = Path(__file__).parents[2] / "examples" / "grpo.py"


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["act", "edit", "gen"])
def test_the_expert_is_rewarded(mode: str) -> None:
    factory = environment_factory("coin", mode)
    instance = factory()
    for row in dataset_rows("coin", mode, [60, 61]):
        assert "You are in" in instance.reset(**row)
        for answer in expert_answers("coin", mode, row["seed"]):
            assert instance.get_reward() == 0.0
            told = instance.answer(answer)
        assert instance.get_reward() == pytest.approx(1.0) and told.endswith("The episode is over: won.")
        assert instance.answer("again") == "The episode is over."


def test_what_trl_reads_of_the_class() -> None:
    factory = environment_factory("coin")
    tools = [name for name, _ in inspect.getmembers(factory, inspect.isfunction) if not name.startswith("_")]
    assert sorted(tools) == ["answer", "get_reward", "reset"]
    assert "Args:\n" in (inspect.getdoc(factory.answer) or "")
    assert all(row["seed"] >= 60 and row["prompt"][0]["role"] == "user" for row in dataset_rows("coin"))
    with pytest.raises(UsageError, match="test seeds"):
        dataset_rows("coin", seeds=[12])
    with pytest.raises(UsageError):
        environment_factory("coim")


@pytest.mark.slow
@pytest.mark.beside("trl")
@pytest.mark.parametrize("mode", ["act", "edit"])
def test_the_trainer_finishes_eight_episodes(mode: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLE), "--mode", mode, "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=4 * PATIENCE, cwd=tmp_path)
    assert re.findall(r"^step (\d): 4 episodes", done.stdout, re.MULTILINE) == ["1", "2"], done.stdout + done.stderr
