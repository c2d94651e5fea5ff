"""Experiment trackers: a row per episode and the tables of the report, also when they fail, hang or are resumed."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.errors import UsageError
from pddlego.report import trackers
from pddlego.report.tables import Table
from pddlego.report.trackers import TRACKERS, Tracking, Values, check_tracker
from pddlego.runs.cells import public_model
from pddlego.runs.folders import TRACKED
from pddlego.runs.store import RESULTS, read_results
from pddlego.runs.summary import Summary
from tests.cli.command import run
from tests.scale import PATIENCE

pytestmark = pytest.mark.method("textgames")

CELLS = ("coin", "--modes", "edit", "--models", "reader,reader+noise:0.3", "--run", "night")


class Memory:
    """A tracker in memory. `fails_at` is the number of the row that it refuses."""

    runs: Mapping[str, list[Any]]
    fails_at: int

    def __init__(self, path: Path, known: str) -> None:
        self.id = known or f"{path.name}-{len(self.runs)}"
        self.rows = self.runs.setdefault(self.id, [])  # type: ignore[attr-defined]

    def log(self, row: Values, number: int) -> None:
        if number == self.fails_at:
            raise ConnectionError("cannot reach http://ann:secret@127.0.0.1/v1\nmore")
        assert number == sum(not isinstance(row, dict) or "outcome" in row for row in self.rows)
        self.rows.append(dict(row))

    def finish(self, tables: Mapping[str, Table], number: int) -> None:
        self.tables = self.rows.append(dict(tables))


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> type[Memory]:
    kind = type("Fresh", (Memory,), {"runs": {}, "fails_at": -1})
    monkeypatch.setattr(trackers, "TRACKERS", {**TRACKERS, "wandb": kind})
    monkeypatch.setattr(trackers, "installed_version", lambda name: "1")
    return kind


def evaluate(seeds: str, folder: Path, tracker: str = "wandb") -> str:
    done = run("eval", *CELLS, "--seeds", seeds, *(("--tracker", tracker) if tracker else ()), cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sent(memory: type[Memory]) -> tuple[list[dict[str, Any]], list[dict[str, Table]]]:
    """The rows and the tables of the only run."""
    ((items),) = memory.runs.values()
    rows = [item for item in items if "outcome" in item]
    return rows, [item for item in items if "outcome" not in item]


def test_each_episode_is_a_row_and_the_report_its_tables(memory: type[Memory], tmp_path: Path) -> None:
    assert "Tracker" not in evaluate("3-4", tmp_path)
    rows, (tables,) = sent(memory)
    results = read_results(tmp_path / "runs" / "night")[0]
    assert len(rows) == len(results) == 4
    for result in results:
        (row,) = (row for row in rows if (row["model"], row["seed"]) == (result.cell.model, result.cell.seed))
        assert (row["outcome"], row["won"], row["score"]) == (result.outcome.value, result.won, result.score)
        assert (row["steps"], row["calls"]) == (result.usage.steps, result.usage.calls)
        assert (row["tokens_in"], row["seconds"]) == (result.usage.tokens_in, result.usage.seconds)
        assert row["cost"] == 0, "the built-in model is free"
    report = pddlego.load(tmp_path / "runs" / "night").report
    assert [table.body for table in tables.values()] == [table.body for table in report.tables if table.body]


def test_a_resumed_evaluation_sends_only_what_is_new(memory: type[Memory], tmp_path: Path) -> None:
    evaluate("3-4", tmp_path, tracker="")
    for seeds, number in (("3-5", 6), ("3-5", 6), ("3-6", 8)):
        evaluate(seeds, tmp_path)
        rows, _ = sent(memory)
        assert len(rows) == len({(row["model"], row["seed"]) for row in rows}) == number


def test_a_tracker_that_fails_loses_no_episode(memory: type[Memory], tmp_path: Path) -> None:
    memory.fails_at = 1
    output = evaluate("3-4", tmp_path)
    warning = "Tracker wandb: ConnectionError: cannot reach http://127.0.0.1/v1. All results are saved; "
    assert output.count("Tracker wandb") == 1 and warning in output and "secret" not in output
    assert len(read_results(tmp_path / "runs" / "night")[0]) == 4
    memory.fails_at = -1
    evaluate("3-4", tmp_path)
    assert len(sent(memory)[0]) == 4, "the same command sends what is missing"


def test_a_tracker_that_hangs_is_left_alone(memory: type[Memory], tmp_path: Path) -> None:
    ended, warnings = threading.Event(), list[str]()
    memory.finish = lambda *_: ended.wait(PATIENCE)  # type: ignore[assignment, method-assign]
    pddlego.evaluate("coin", tmp_path / "run", seeds="12").wait(PATIENCE)
    Tracking("wandb", tmp_path / "run", {}, warnings.append).close(wait=0.05)
    ended.set()
    assert warnings == [
        "Tracker wandb: it has not ended after 0 s. All results are saved; the same command sends what is missing."
    ]


def test_a_tracker_may_change_the_working_folder(
    memory: type[Memory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it begins, too: the run folder `runs/night` is where it was."""
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    begin, log, results = memory.__init__, memory.log, here / "runs" / "night" / RESULTS

    def begins(self: Memory, path: Path, known: str) -> None:
        os.chdir(elsewhere)
        end = time.monotonic() + PATIENCE
        while not results.exists() and time.monotonic() < end:
            time.sleep(0.01)
        begin(self, path, known)

    def logs(self: Memory, *arguments: Any) -> None:
        os.chdir(elsewhere)
        log(self, *arguments)

    monkeypatch.setattr(memory, "__init__", begins)
    monkeypatch.setattr(memory, "log", logs)
    assert "Tracker" not in evaluate("3-4", here)
    assert len(sent(memory)[0]) == len(read_results(here / "runs" / "night")[0]) == 4
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("installed", ["mlflow", "mlflow-skinny"])
def test_either_package_of_mlflow_is_enough(installed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trackers, "installed_version", lambda name: "3.17" if name == installed else None)
    check_tracker("mlflow")
    with pytest.raises(UsageError, match="wandb is not installed"):
        check_tracker("wandb")


def test_a_line_of_a_killed_process_is_removed(memory: type[Memory], tmp_path: Path) -> None:
    evaluate("3", tmp_path)
    place = tmp_path / "runs" / "night" / TRACKED
    with place.open("a") as file:
        file.write('{"tracker": "wan')
    assert "Tracker" not in evaluate("3-4", tmp_path)
    assert len([json.loads(line) for line in place.read_text().splitlines()]) == 5, "the run, and four rows"


def test_the_folders_of_model_files_are_not_sent(memory: type[Memory], tmp_path: Path) -> None:
    assert run("export", "--expert", "coin", "--seeds", "60-61", "-o", "chat.jsonl", cwd=tmp_path).returncode == 0
    model = f"transcript:{tmp_path}/chat.jsonl"
    done = run("eval", "coin", "--models", model, "--seeds", "60-61", "--tracker", "wandb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = repr(sent(memory))
    assert "transcript:chat.jsonl" in text and tmp_path.name not in text, text[text.find(tmp_path.name) - 300 :][:600]


@pytest.mark.parametrize("name", sorted(TRACKERS))
def test_a_missing_package_is_named_before_anything_is_played(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trackers, "installed_version", lambda name: None)
    done = run("eval", *CELLS, "--seeds", "3", "--tracker", name, cwd=tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 3, done.stderr
    assert f"The package {name} is not installed" in done.stderr and f"[{name}]" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_function_is_called_with_each_new_result(tmp_path: Path) -> None:
    seen = list[Summary]()
    pddlego.evaluate("coin", tmp_path / "run", seeds="3-4", on_episode=seen.append).wait(PATIENCE)
    assert sorted(summary.cell.seed for summary in seen) == [3, 4]
    pddlego.evaluate("coin", tmp_path / "run", seeds="3-5", on_episode=seen.append).wait(PATIENCE)
    assert [summary.cell.seed for summary in seen[2:]] == [5]


@pytest.mark.filterwarnings("default")
def test_a_function_that_fails_loses_no_episode(tmp_path: Path) -> None:
    def fail(summary: Summary) -> None:
        raise ValueError("no")

    with pytest.warns(UserWarning, match=r"on_episode\(coin-edit-reader-seed3\): ValueError: no"):
        evaluation = pddlego.evaluate("coin", tmp_path / "run", seeds="3-4", on_episode=fail).wait(PATIENCE)
    assert len(evaluation.results) == 2


def tracked(tracker: str, folder: Path) -> None:
    """Evaluate two seeds with the real library, then one more."""
    for seeds in ("3-4", "3-5"):
        assert "Tracker" not in evaluate(seeds, folder, tracker)


EXPECTED = {(model, seed) for model in ("reader", "reader+noise:0.3") for seed in (3, 4, 5)}


def records(data: bytes) -> Iterator[bytes]:
    """The records of a file of W&B, for which it has no public reader: LevelDB's log format after seven bytes."""
    place, record = 7, b""
    while place + 7 <= len(data):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        length, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        record += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last part
            yield record
            record = b""


@pytest.mark.slow
@pytest.mark.beside("wandb")
def test_wandb_reads_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    from wandb.proto import wandb_internal_pb2

    tracked("wandb", tmp_path)
    rows: dict[int, dict[str, Any]] = {}
    ids = set()
    for file in sorted(tmp_path.glob("wandb/offline-run-*/*.wandb")):
        ids.add(file.stem)
        for data in records(file.read_bytes()):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            items = {item.key or "/".join(item.nested_key): item for item in record.history.item}
            if "outcome" in items:
                step = json.loads(items["_step"].value_json)
                assert step not in rows, "no step is sent twice"
                rows[step] = {key: json.loads(item.value_json) for key, item in items.items()}
    assert len(ids) == 1, "both parts belong to one run"
    assert {(row["model"], row["seed"]) for row in rows.values()} == EXPECTED and len(rows) == len(EXPECTED)
    assert all(row["calls"] > 0 and row["score"] == row["won"] for row in rows.values())
    assert len(list(tmp_path.glob("wandb/offline-run-*/files/media/table/report/success-in_*.table.json"))) == 2


@pytest.mark.slow
@pytest.mark.beside("mlflow")
@pytest.mark.parametrize("store", ["file:{}/mlruns", "sqlite:///{}/mlflow.db"])
def test_mlflow_reads_it_back(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store.format(tmp_path))
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    import mlflow

    tracked("mlflow", tmp_path)
    client = mlflow.MlflowClient(store.format(tmp_path))
    runs = client.search_runs([client.get_experiment_by_name("pddlego").experiment_id])
    (parent,) = (run for run in runs if "mlflow.parentRunId" not in run.data.tags)
    children = [run for run in runs if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
    assert {(run.data.params["model"], int(run.data.params["seed"])) for run in children} == EXPECTED
    assert len(children) == len(EXPECTED) == len(runs) - 1
    assert all(run.data.metrics["calls"] > 0 and run.info.status == "FINISHED" for run in runs if run in children)
    names = [item.path for item in client.list_artifacts(parent.info.run_id, "report")]
    assert any(name.startswith("report/success") for name in names) and parent.info.status == "FINISHED"


@pytest.mark.slow
@pytest.mark.beside("trackio")
def test_trackio_reads_it_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    import trackio
    from trackio.sqlite_storage import SQLiteStorage

    tracked("trackio", tmp_path)
    (found,) = trackio.Api().runs("pddlego")
    logs = SQLiteStorage.get_logs("pddlego", run_id=found.id)
    history = [row for row in logs if row.get("outcome")]
    assert any("report/success-in" in row for row in logs)
    assert {(row["model"], row["seed"]) for row in history} == EXPECTED and len(history) == len(EXPECTED)


def test_models_are_named_without_their_folders() -> None:
    assert public_model("local:/home/ann/qwen.gguf") == "local:qwen.gguf"
    assert public_model(r"local:C:\models\qwen.gguf") == "local:qwen.gguf"
    assert public_model("transcript:runs/a.jsonl,model=x/y") == "transcript:a.jsonl,model=x/y"
    assert public_model("hf:owner/repo/file.gguf") == "hf:owner/repo/file.gguf"
