"""Runs that an earlier version wrote (`plans`, `text`; both killed) are reported, shown, replayed and resumed."""

from __future__ import annotations

import csv
import tarfile
from pathlib import Path

import pytest

from tests.cli.command import run

DATA = Path(__file__).parents[1] / "data" / "earlier-runs.tar.gz"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tarfile.open(DATA) as archive:
        archive.extractall(tmp_path / "runs")
    return tmp_path


def rows(folder: Path, name: str) -> dict[tuple[str, ...], dict[str, str]]:
    with (folder / "runs" / name / "results.csv").open() as file:
        return {(row["mode"], row["model"], row["seed"]): row for row in csv.DictReader(file)}


@pytest.mark.parametrize("name", ["plans", "text"])
def test_an_earlier_run_is_reported_and_shown(folder: Path, name: str) -> None:
    report = run("report", name, cwd=folder)
    assert report.returncode == 0 and "All numbers" in report.stdout, report.stderr
    for journal in sorted((folder / "runs" / name / "episodes").glob("*.jsonl")):
        shown = run("show", str(journal), "--step", "0", cwd=folder)
        assert shown.returncode == 0 and shown.stdout.strip(), shown.stderr


def test_an_earlier_run_is_replayed(folder: Path) -> None:
    replayed = run("replay", "text", cwd=folder)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr


RESUMED = {
    "text": ("coin", "--modes", "edit,act", "--models", "reader,reader+noise:0.3", "--seeds", "61-63"),
    "plans": ("ferry", "--modes", "program,graphplan,tos", "--models", "reader,reader+noise:0.5", "--seeds", "0-1"),
}


@pytest.mark.parametrize("name", RESUMED)
def test_an_earlier_run_is_resumed(folder: Path, name: str) -> None:
    before = (folder / "runs" / name / "results.jsonl").read_text()
    resumed = run("eval", *RESUMED[name], "--run", name, "--workers", "1", cwd=folder)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert (folder / "runs" / name / "results.jsonl").read_text().startswith(before), "no row is played again"
    assert len(rows(folder, name)) == 12
