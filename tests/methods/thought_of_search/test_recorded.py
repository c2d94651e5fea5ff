"""The recorded dialogues of the paper's authors, played: answers, endings and successes are those of their logs."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pddlego.methods.setting_files import read_setting, validated
from pddlego.methods.thought_of_search.file_space import SearchFile
from pddlego.methods.thought_of_search.options import SEARCH
from tests.cli.command import run
from tests.sandbox.ordinary import needs_locks
from tests.shared import RECORDED

GAME24 = RECORDED / "game24"
CONVERSATIONS = f"transcript:{GAME24 / 'conversations.jsonl.gz'}"
MODES = {"val": "tos", "noval": "tos-no-check"}
MEANS = {"gpt4-mini": 8.8, "gpt4": 3.4, "llama3.1-405b": 3.4, "llama3.1-70b": 7.4, "deepseek-coderv2": 4.4}

SETTING = f"""
extends = "24game"
space = "24game"

[files]
goals = "{GAME24 / "24game_goals.jsonl"}"
non_goals = "{GAME24 / "24game_non_goals.jsonl"}"
successors = "{GAME24 / "24game_successors.jsonl"}"
soundness = "{GAME24 / "unittests.csv"}"
instances = "{GAME24 / "model_test.csv"}"
"""

TABLE_1 = {
    "gpt-4o-mini": (8.8, 4.8, 6.4, 9.6, 10.0),
    "gpt-4o": (3.4, 2.6, 2.2, 5.8, 2.0),
    "llama3.1-405b": (3.4, 2.0, 2.6, 4.0, 3.2),
    "llama3.1-70b": (7.4, 2.0, 8.2, 6.2, 5.8),
    "deepseek-coderv2": (4.4, 2.0, 2.8, 6.6, 4.2),
}
BY_PERSON = {0: 2.2, 1: 2.6, 3: 3.8, 4: 3.8}
"""The last row of Table 1: Thought of Search, with a person's feedback. It has no figure for Sokoban."""

RECORDED_AS = {"gpt-4o-mini": "gpt4-mini", "gpt-4o": "gpt4"}

pytestmark = [pytest.mark.slow, needs_locks, pytest.mark.usefixtures("patient_sandboxes")]
from_recordings = pytest.mark.shared("recorded/game24")


def recorded() -> dict[tuple[str, str, int], tuple[int, bool]]:
    """By model, variant and number: how many answers there were, and whether the end was reached."""
    result: dict[tuple[str, str, int], tuple[int, bool]] = {}
    with gzip.open(GAME24 / "conversations.jsonl.gz", "rt") as file:
        for line in file:
            text = json.loads(line)
            number = sum(key[:2] == (text["model"], text["variant"]) for key in result)
            result[text["model"], text["variant"], number] = (len(text["turns"]), text["verdict"] is not None)
    return result


@from_recordings
@pytest.mark.parametrize("parity", ["paper", "off"])
def test_the_dialogues_go_as_they_went(tmp_path: Path, parity: str) -> None:
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "cards.toml").write_text(SETTING)
    chosen = ("gpt4", "deepseek-coderv2")
    models = ",".join(f"{CONVERSATIONS},model={name}" for name in chosen)
    command = ("eval", "cards", "--modes", "tos", "--models", models, "--seeds", "0-4", "--workers", "2", "--run", "r")
    done = run(*command, "--set", f"parity={parity}", "--set", "instances=3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    expected = recorded()
    answers: dict[tuple[str, str], list[int]] = {}
    for line in (tmp_path / "runs" / "r" / "results.jsonl").read_text().splitlines():
        result = json.loads(line)
        model = result["cell"]["model"].partition("model=")[2]
        variant = next(name for name, mode in MODES.items() if mode == result["cell"]["mode"])
        numbers = result["measures"]["numbers"]
        key = (model, variant, result["cell"]["seed"])
        assert (numbers["answers"], bool(numbers["finished"])) == expected[key], key
        assert numbers.get("accuracy", 1.0) == 1.0
        answers.setdefault((model, variant), []).append(numbers["answers"])
    for model in chosen:
        assert round(sum(answers[model, "val"]) / 5, 2) == MEANS[model]


@from_recordings
def test_there_are_five_dialogues_of_each_kind(tmp_path: Path) -> None:
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "cards.toml").write_text(SETTING)
    model = f"{CONVERSATIONS},model=gpt4"
    done = run("play", "cards", "--mode", "tos", "--model", model, "--seed", "5", cwd=tmp_path)
    assert done.returncode == 2
    assert "holds no such conversation" in done.stderr


def test_the_settings_have_table_1_of_the_paper() -> None:
    for place, name in enumerate(("24game", "deduction", "sokoban", "crosswords", "blocksworld")):
        published = validated(name, SearchFile, read_setting(name, SEARCH)).paper
        means = {model: {"tos": row[place]} for model, row in TABLE_1.items()}
        by_person = {"gpt-4": {"tos+human": BY_PERSON[place]}} if place in BY_PERSON else {}
        assert published == by_person | means | {other: means[model] for model, other in RECORDED_AS.items()}
