"""The recorded conversations of the paper's authors, played: the figures are those of their public code."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.sandbox.ordinary import needs_locks

FERRY = Path(__file__).parent.parent.parent / "recorded" / "ferry"
CONVERSATIONS = f"transcript:{FERRY / 'conversations.jsonl.gz'}"
GPT_4 = f"{CONVERSATIONS},model=gpt-4"

pytestmark = [pytest.mark.slow, needs_locks]

SHORT = ("--set", "task_timeout=1")
"""Endless loops are as endless after a second; what ends takes some milliseconds."""


def scores(folder: Path) -> dict[tuple[str, int], tuple[float, int]]:
    with (folder / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["mode"], int(row["seed"])): (float(row["score"]), int(row["answers"])) for row in rows}


SCORES, ANSWERS = [1, 1, 1, 0, 1, 0, 1, 1, 1, 1], [2, 2, 1, 5, 2, 5, 1, 2, 2, 2]


@pytest.mark.parametrize(("parity", "seeds"), [("off", range(10)), ("paper", range(2, 4))])
def test_gpt_4_is_as_good_as_recorded(tmp_path: Path, parity: str, seeds: range) -> None:
    tasks = f"tasks={FERRY / 'tasks.tar.gz'}"
    items = f"{seeds[0]}-{seeds[-1]}"
    command = ("eval", "ferry", "--modes", "program,program-no-debug", "--models", GPT_4, "--seeds", items)
    done = run(*command, "--set", tasks, "--parity", parity, "--workers", "2", "--run", "all", *SHORT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = scores(tmp_path / "runs" / "all")
    whole = [result["program", seed] for seed in seeds]
    assert [score for score, _ in whole] == [SCORES[seed] for seed in seeds]
    assert [answers for _, answers in whole] == [ANSWERS[seed] for seed in seeds]
    if len(seeds) == 10:
        assert round(sum(result["program-no-debug", seed][0] for seed in seeds) / 10, 2) == 0.26


def test_without_a_chain_of_thought_and_without_names(tmp_path: Path) -> None:
    places = ("--set", f"tasks={FERRY / 'tasks.tar.gz'}", "--set", f"tasks_no_names={FERRY / 'tasks-no-names.tar.gz'}")
    command = ("eval", "ferry", "--modes", "program-no-cot,program-no-names", "--models", GPT_4)
    done = run(*command, *places, "--seeds", "1,8-9", "--workers", "2", "--run", "some", *SHORT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = scores(tmp_path / "runs" / "some")
    assert [result["program-no-cot", seed][0] for seed in (1, 8, 9)] == [0, 1, 1]
    assert [result["program-no-names", seed][0] for seed in (1, 8, 9)] == [0, 0, 0]


def test_tasks_without_names_must_be_named(tmp_path: Path) -> None:
    tasks = f"tasks={FERRY / 'tasks.tar.gz'}"
    command = ("eval", "ferry", "--modes", "program,program-no-names", "--models", GPT_4, "--seeds", "0")
    refused = run(*command, "--set", tasks, "--dry-run", cwd=tmp_path)
    assert refused.returncode == 2
    assert "tasks_no_names=FOLDER" in refused.stderr


def test_another_model_of_the_file_is_named(tmp_path: Path) -> None:
    tasks = f"tasks={FERRY / 'tasks.tar.gz'}"
    model = f"{CONVERSATIONS},model=gpt-3.5"
    done = run(
        "play", "ferry", "--mode", "program", "--model", model, "--seed", "0", "--set", tasks, *SHORT, cwd=tmp_path
    )
    assert done.returncode == 1
    assert "0 of 30 evaluation tasks solved" in done.stdout


def test_two_lines_are_a_setting_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "envs").mkdir()
    text = f'kind = "planning"\ntasks = "{FERRY / "tasks.tar.gz"}"\n'
    (tmp_path / "envs" / "boats.toml").write_text(text)
    done = run("play", "boats", "--mode", "program", "--model", GPT_4, "--seed", "2", *SHORT, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "30 of 30 evaluation tasks solved" in done.stdout
    shown = run("show", "latest", "--seed", "2", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("transcript:nowhere.jsonl", "nowhere.jsonl"),
        (f"{CONVERSATIONS},model=gpt-9", "holds no such conversation"),
        (f"{GPT_4},variant=none", "holds no such conversation"),
        (CONVERSATIONS, "The models are: gpt-4, gpt-3.5."),
    ],
)
def test_what_is_not_there_is_said(tmp_path: Path, model: str, says: str) -> None:
    done = run("play", "ferry", "--mode", "program", "--model", model, cwd=tmp_path)
    assert done.returncode in (2, 3)
    assert says in done.stderr
    assert "Traceback" not in done.stderr
