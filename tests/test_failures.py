"""Lost episodes as data, and the task that grades judges of them."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import pddlego
from tests.cli.command import run


@pytest.fixture(scope="module")
def losses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run `losses` and its counterfactual."""
    folder = tmp_path_factory.mktemp("failures")
    options = ("--modes", "edit", "--models", "reader+noise:0.4", "--seeds", "60-64", "--retries", "0")
    assert run("eval", "coin", *options, "--run", "losses", cwd=folder).returncode == 0
    return folder


def rows_of(folder: Path, *options: str) -> list[dict[str, Any]]:
    done = run("export", "losses", "--format", "failures", "-o", "failures.jsonl", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / "failures.jsonl").read_text(encoding="utf-8").splitlines()]


def test_each_loss_is_a_row(losses: Path) -> None:
    episodes = list(pddlego.load(losses / "runs" / "losses"))
    lost = {episode.cell.label for episode in episodes if not episode.won}
    rows = rows_of(losses)
    assert rows and {row["id"] for row in rows} <= lost
    for row in rows:
        steps = row["trajectory"]["steps"]
        assert row["counterfactual"] is None and "first_error" not in row["trajectory"]["extra"]
        assert row["first_error"]["step"] <= sum(len(step.get("tool_calls", ())) for step in steps)
        assert row["first_error"]["kind"] in {cause["kind"] for cause in row["causes"]}
        assert all(cause["lost"] <= cause["all_lost"] for cause in row["causes"])


def test_replays_are_added(losses: Path) -> None:
    assert run("counterfactual", "losses", cwd=losses).returncode == 0
    rows = rows_of(losses)
    replayed = [row["counterfactual"] for row in rows if row["counterfactual"]]
    assert replayed and all(set(replay) == {"corrected_is_won", "control_is_won"} for replay in replayed)
    assert any(replay["corrected_is_won"] for replay in replayed)
    assert rows_of(losses, "--counterfactual", "counterfactual-losses") == rows
    wrong = run("export", "losses", "--format", "failures", "--counterfactual", "losses", cwd=losses)
    assert wrong.returncode == 2 and "is not a counterfactual of" in wrong.stderr


def test_options_that_do_not_fit(losses: Path) -> None:
    for options in (("--expert", "coin", "--format", "failures"), ("losses", "--counterfactual", "losses")):
        assert run("export", *options, cwd=losses).returncode == 2


@pytest.mark.slow
@pytest.mark.skipif(find_spec("inspect_ai") is None, reason="the extra inspect is not installed")
def test_a_judge_is_graded(losses: Path, tmp_path: Path) -> None:
    import inspect_ai
    from inspect_ai._util.error import PrerequisiteError

    from tests.test_inspect import mocked, output

    rows = rows_of(losses)
    said = [f"step: {row['first_error']['step']}\nerror: {row['first_error']['text']}" for row in rows]
    said[-1] = said[-1].replace("step: ", "step: 9")
    with pytest.raises(PrerequisiteError, match="has no failures"):
        inspect_ai.eval("pddlego/failures", model=mocked([]), task_args={"file": str(tmp_path)}, display="none")
    (log,) = inspect_ai.eval(
        "pddlego/failures",
        model=mocked([output(text) for text in said]),
        task_args={"file": str(losses / "failures.jsonl")},
        display="none",
        log_dir=str(tmp_path),
        max_connections=1,
        max_samples=1,
    )
    assert log.status == "success" and log.results is not None
    shares = {score.name: score.metrics["mean"].value for score in log.results.scores}
    assert shares == {"step": pytest.approx(1 - 1 / len(rows)), "fact": 1.0, "both": pytest.approx(1 - 1 / len(rows))}
