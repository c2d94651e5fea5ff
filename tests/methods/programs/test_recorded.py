"""The recorded conversations of the paper's authors, played: the figures are those of their public code."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.cells import Part, play, written
from tests.cli.command import run
from tests.sandbox.ordinary import needs_locks
from tests.shared import RECORDED

FERRY = RECORDED / "ferry"
CONVERSATIONS = f"transcript:{FERRY / 'conversations.jsonl.gz'}"
GPT_4 = f"{CONVERSATIONS},model=gpt-4"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.shared("recorded/ferry"),
    needs_locks,
    pytest.mark.usefixtures("patient_sandboxes"),
]

SHORT = ("--set", "task_timeout=1")
"""Endless loops are as endless after a second; what ends takes some milliseconds."""


def scores(folder: Path) -> dict[tuple[str, int], tuple[float, int]]:
    with (folder / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {(row["mode"], int(row["seed"])): (float(row["score"]), int(row["answers"])) for row in rows}


MEANS = {"program": 0.8, "program-no-debug": 0.26, "program-no-cot": 0.2}
"""As in the paper's Table 1."""

QUESTIONS = 2
"""Requests before the first program: for a summary and for a strategy."""

SCORES, ANSWERS = [1, 1, 1, 0, 1, 0, 1, 1, 1, 1], [2, 2, 1, 5, 2, 5, 1, 2, 2, 2]


CELLS = Part(
    "recorded programs",
    ("ferry",),
    ("program", "program-no-debug", "program-no-cot"),
    "0-9",
    (GPT_4,),
    {"tasks": str(FERRY / "tasks.tar.gz"), "set": ("hurry=true", "task_timeout=5")},
)
DATA = Path(__file__).parents[2] / "data" / "recorded-programs.tsv"
"""What came of the cells before: as `tests/data/cells.tsv`."""


def test_gpt_4_is_as_good_as_recorded_and_the_cells_are_as_they_were() -> None:
    text = written(play([CELLS]))
    assert text == DATA.read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines(), delimiter="\t"))
    whole = [row for row in rows if row["mode"] == "program"]
    assert [float(row["score"]) for row in whole] == SCORES
    assert [int(row["calls"]) - QUESTIONS for row in whole] == ANSWERS
    means = {mode: sum(float(row["score"]) for row in rows if row["mode"] == mode) / 10 for mode in CELLS.modes}
    assert {mode: round(mean, 2) for mode, mean in means.items()} == MEANS


def test_under_parity_gpt_4_is_as_good_as_recorded(tmp_path: Path) -> None:
    tasks = f"tasks={FERRY / 'tasks.tar.gz'}"
    command = ("eval", "ferry", "--modes", "program", "--models", GPT_4, "--seeds", "2-3", "--set", "parity=paper")
    done = run(*command, "--set", tasks, "--workers", "2", "--run", "all", *SHORT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = scores(tmp_path / "runs" / "all")
    assert [result["program", seed] for seed in (2, 3)] == [(SCORES[seed], ANSWERS[seed]) for seed in (2, 3)]


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
