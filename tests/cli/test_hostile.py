"""Names, files and folders that mean harm, through the real entry point: a message or a small picture, and soon."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pddlego.episode.events import Outcome
from pddlego.runs.cells import Cell
from pddlego.runs.summary import Summary, dump_summary
from pddlego.util.text import csv_cell, markdown_cell
from tests.children import started
from tests.cli.command import run, run_process
from tests.cli.test_play import three_lines
from tests.scale import PATIENCE

pytestmark = pytest.mark.slow

EVIL = "[/red]\x1b[2J\x1b]0;owned\x07<script>alert(1)</script>|`x`*\n=1"
RECORDED = Path(__file__).parent.parent / "recorded" / "coin-edit-reader-seed12"


@pytest.fixture
def evil_run(tmp_path: Path) -> Path:
    """An evaluation whose model, game and messages are text that steers terminals."""
    place = tmp_path / "runs" / "evil"
    place.mkdir(parents=True)
    results = [
        Summary(Cell("coin", mode, EVIL, seed), 1, outcome, EVIL, 1.0)
        for mode, outcome in (("edit", Outcome.WON), ("act", Outcome.CRASHED))
        for seed in range(8)
    ]
    (place / "results.jsonl").write_text("".join(map(dump_summary, results)))
    (place / "manifest.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize("to", ["text", "markdown", "csv", "json", "html"])
def test_a_report_of_evil_names(evil_run: Path, to: str) -> None:
    done = run("report", "runs/evil", "--format", to, cwd=evil_run)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout
    assert "<script>alert" not in done.stdout or to in ("text", "csv", "json")
    if to == "csv":
        rows = list(csv.reader(io.StringIO(done.stdout)))
        assert {len(row) for row in rows} == {len(rows[0])}
    if to == "json":
        assert len(json.loads(done.stdout)["episodes"]) == 16


def test_cells_of_tables_are_data() -> None:
    assert csv_cell("=HYPERLINK(1)") == "'=HYPERLINK(1)"
    assert csv_cell("gpt-4.1") == "gpt-4.1"
    assert csv_cell(3) == 3
    assert markdown_cell("a|b<c>\nd") == r"a\|b\<c\> d"


@pytest.mark.parametrize("name", ["x[/y]", "[bold]", "[/]", "[link=x]y"])
def test_a_run_whose_name_looks_like_markup(tmp_path: Path, name: str) -> None:
    done = run("eval", "coin", "--seeds", "3", "--run", name.replace("/", "%"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert name.replace("/", "%") in done.stdout
    if "/" in name:
        done = run("eval", "coin", "--seeds", "3", "--run", name, cwd=tmp_path)
        assert "Traceback" not in done.stderr
        assert done.returncode == 0
        assert name in done.stdout


def test_a_goal_that_looks_like_markup(tmp_path: Path) -> None:
    (tmp_path / "envs").mkdir()
    text = 'extends = "coin"\n[[ladder]]\nname = "[/x] have it"\ngoal = "(have coin)"\n[[ladder]]\nname = "[bold]go"\n'
    text += 'goal = "(exists (?x - location) (and (at ?x) (not (visited ?x))))"\n'
    (tmp_path / "envs" / "marked.toml").write_text(text)
    done = run("play", "marked", "--seed", "3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "plan for '[/x] have it'" in done.stdout


def hostile(tmp_path: Path, change: object) -> Path:
    """A recorded run with its lines changed."""
    assert callable(change)
    place = tmp_path / "runs" / "one"
    (place / "episodes").mkdir(parents=True)
    (place / "manifest.json").write_text((RECORDED / "manifest.json").read_text())
    lines = [
        json.loads(line) for line in (RECORDED / "episodes" / "coin-edit-reader-seed12.jsonl").read_text().splitlines()
    ]
    for line in lines:
        change(line["event"])
    (place / "episodes" / "seed-12.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def _empty_facts(event: dict[str, object]) -> None:
    for step in event.get("plan", ()):  # type: ignore[attr-defined]
        step |= {"added": ["", "()", "( )"], "removed": [""]}


def _far_directions(event: dict[str, object]) -> None:
    if event["type"] == "started":
        event["details"]["map"]["directions"]["north"] = [0, -(10**9)]  # type: ignore[index]


def _many_rooms(event: dict[str, object]) -> None:
    if event["type"] == "accepted":
        rooms = " ".join(f"r{number}" for number in range(300))
        ways = " ".join(f"(connected r{number} r{number + 1} east)" for number in range(299))
        event["text"] = (
            f"(define (problem p) (:domain coin-collector) (:objects {rooms} - location)"
            f" (:init (at r7) (visited r7) {ways}) (:goal (have coin)))"
        )


@pytest.mark.parametrize("change", [_empty_facts, _far_directions, _many_rooms])
def test_a_hostile_journal_is_a_small_picture(tmp_path: Path, change: object) -> None:
    place = hostile(tmp_path, change)
    done = run("show", "runs/one", "-o", "picture.svg", "--step", "5", cwd=place)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or three_lines(done.stderr)
    if done.returncode == 0:
        assert (place / "picture.svg").stat().st_size < 1_000_000
    assert "Traceback" not in run("watch", "runs/one", cwd=place).stderr
    assert "Traceback" not in run("show", "runs/one", cwd=place).stderr


def test_the_latest_run_has_a_name(tmp_path: Path) -> None:
    assert run("show", "latest", cwd=tmp_path).returncode == 2
    assert run("play", "coin", "--seed", "3", cwd=tmp_path).returncode == 0
    (tmp_path / "kept").mkdir()
    run("play", "coin", cwd=tmp_path, PDDLEGO_RUNS="kept")
    assert run("replay", "latest", cwd=tmp_path, PDDLEGO_RUNS="kept").returncode == 0
    done = run("show", "latest", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "won after 1 step" in done.stdout
    assert run("replay", "latest", cwd=tmp_path).returncode == 0


def test_a_dry_run_needs_no_key(tmp_path: Path) -> None:
    done = run("eval", "coin", "--models", "gpt-4o-mini,reader", "--seeds", "0-9", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "gpt-4o-mini" in done.stdout
    assert run("eval", "coin", "--models", "gpt-4o-mini", "--seeds", "0", cwd=tmp_path).returncode == 2


def test_a_report_knows_the_prices_that_the_evaluation_was_given(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("[m]\ntokens_in = 1.0\ntokens_out = 2.0\n")
    place = tmp_path / "runs" / "paid"
    place.mkdir(parents=True)
    results = [Summary(Cell("coin", "act", "m", 0), 1, Outcome.WON, "", 1.0)]
    text = (
        "".join(map(dump_summary, results))
        .replace('"tokens_in":0', '"tokens_in":2000000')
        .replace('"calls":0', '"calls":2')
    )
    (place / "results.jsonl").write_text(text)
    prices = {"m": {"tokens_in": 1.0, "tokens_out": 2.0, "tokens_cached": None}}
    (place / "manifest.json").write_text(json.dumps({"prices": prices}))
    sent = {"model": "m", "tokens": 9.0, "cost": 0.5, "for": "coin-act-m-seed0"}
    lines = [{"sent": 1, **sent}, {"settled": 1, "tokens": 2e6, "cost": 2.0, "answered": True}, {"sent": 2, **sent}]
    (place / "ledger.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    row = json.loads(run("report", "runs/paid", "--format", "json", cwd=tmp_path).stdout)["rows"][0]
    assert (row["cost"], row["unanswered"]) == (2.5, 0.5)
    assert "| $2.50 | $0.5000 |" in run("report", "runs/paid", "--format", "markdown", cwd=tmp_path).stdout


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_children_do_not_get_the_key(tmp_path: Path) -> None:
    key = "sk-canary-0123456789abcdef"
    command = [sys.executable, "-m", "pddlego", "eval", "coin", "--seeds", "0-99", "--workers", "2"]
    environment = {**os.environ, "OPENAI_API_KEY": key, "TMPDIR": str(tmp_path)}
    seen: set[str] = set()
    with started(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, start_new_session=True) as playing:
        end = time.monotonic() + PATIENCE
        while len(seen) < 3 and playing.poll() is None and time.monotonic() < end:
            for child in _descendants(playing.pid):
                try:
                    if _command(child) == _command(playing.pid):
                        continue  # forked, and not yet what it is to be: it has the memory of its parent
                    shown = Path(f"/proc/{child}/environ").read_bytes()
                except OSError:
                    continue
                assert key.encode() not in shown, Path(f"/proc/{child}/cmdline").read_bytes()
                seen.add(str(child))
            time.sleep(0.05)
        playing.terminate()
        playing.terminate()
        playing.wait(PATIENCE)
    assert len(seen) >= 2, "the planner and the Java machine at least"


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def _descendants(pid: int) -> list[int]:
    result: list[int] = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        if parent == pid:
            child = int(status.parent.name)
            result += [child, *_descendants(child)]
    return result


def test_an_evaluation_leaves_no_folders_behind(tmp_path: Path) -> None:
    there = tmp_path / "tmp"
    there.mkdir()
    done = run_process("eval", "coin", "--seeds", "0-3", cwd=tmp_path, TMPDIR=str(there))
    assert done.returncode == 0, done.stderr
    left = [item.name for item in there.iterdir() if re.match("pddlego", item.name)]
    assert left == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs ulimit")
def test_a_limit_on_open_files_is_called_that(tmp_path: Path) -> None:
    command = f"ulimit -n 40; exec {sys.executable} -m pddlego eval coin --seeds 0-30 --workers 30"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    text = done.stdout + done.stderr
    assert "Traceback" not in text
    assert "bug in pddlego" not in text
    assert re.search(r"[Tt]oo many (open )?files", text), text[-2000:]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        (".lock", "kept"),
        (".lock", "pipe"),
        ("manifest.json", "pipe"),
        ("manifest.json", "/dev/zero"),
        ("results.jsonl", "pipe"),
        ("ledger.jsonl", "/dev/zero"),
        ("results.csv", "kept"),
        ("episodes/coin-random-none-seed3.jsonl", "/dev/zero"),
    ],
)
def test_a_file_of_a_run_that_is_a_link_or_a_pipe(tmp_path: Path, name: str, target: str) -> None:
    arguments = ("coin", "--modes", "random", "--seeds", "3", "--max-steps", "1", "--run", "r")
    assert run("eval", *arguments, cwd=tmp_path).returncode == 0
    place, kept = tmp_path / "runs" / "r" / name, tmp_path / "kept"
    kept.write_text("kept")
    place.unlink()
    if target == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(tmp_path / target)
    is_journal = name.startswith("episodes")
    reading = ("show", "watch") if is_journal else ("report",)
    for command in (("eval", *arguments), *((verb, "runs/r") for verb in reading)):
        done = run_process(*command, cwd=tmp_path)
        assert "Traceback" not in done.stderr
        assert "bug in pddlego" not in done.stderr
        assert kept.read_text() == "kept"
        if command[0] == "eval" and not is_journal:
            assert "not a regular file" in done.stderr
