"""Evaluations: the paper's table, many workers on a slow endpoint, the reader's speed, memory, reports, kills."""

from __future__ import annotations

import csv
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pddlego
from benchmarks.table import show
from pddlego.runs.store import RESULTS
from pddlego.runs.summary import dump_summary
from tests.coin_endpoint import next_command
from tests.model_server import ModelServer, Reply, answer

KILLS = 20
DELAY = 1.0
EPISODES = 10_000


def main() -> None:
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, part in (
            ("Table 1 with rules and random, test seeds, 450 episodes; s", _table_1),
            ("coin episodes a second, reader, edit", _speed),
            ("32 coin episodes on an endpoint that takes 1 s, 32 workers; against the slowest alone", _slow_endpoint),
            ("memory with 64 episodes in flight, Java and planners included; MiB", _memory),
            ("HTML report over 10,000 episodes; s", _report),
            (f"killed {KILLS} times with kill -9 and continued: the same result table", _kills),
        ):
            place = Path(folder, str(len(rows)))
            place.mkdir()
            rows.append([name, part(place)])
            print(f"  … {name}: {rows[-1][1]}", flush=True)
            shutil.rmtree(place)
    print()
    show("Evaluations", ["what", "measured"], rows)


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pddlego", *arguments]


def _timed(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def _table_1(place: Path) -> str:
    command = _command("eval", "coin", "cooking-easy", "cooking-hard", "--modes", "random,gen,edit", "--seeds", "test")
    return f"{_timed(lambda: subprocess.run(command, cwd=place, capture_output=True, check=True)):.1f}"


def _speed(place: Path) -> str:
    seconds = _timed(lambda: pddlego.evaluate(["coin"], place / "run", seeds="100-399", workers=4).wait())
    return f"{300 / seconds:.1f}"


def _plays(body: dict[str, Any]) -> Reply:
    """Plays well, and takes a second for each answer."""
    return answer(next_command(body), delay=DELAY)


def _slow_endpoint(place: Path) -> str:
    with ModelServer() as server:
        server.replies = [_plays]
        options: dict[str, Any] = {"modes": "act", "models": "m", "base_url": server.url, "llm_jobs": 64}
        together = _timed(
            lambda: pddlego.evaluate(["coin"], place / "all", seeds="10-41", workers=32, **options).wait()
        )
        results = _rows(place / "all")
        slowest = max(results, key=lambda row: int(row["steps"]))
        alone = _timed(
            lambda: pddlego.evaluate(["coin"], place / "one", seeds=slowest["seed"], workers=1, **options).wait()
        )
    return f"{together:.1f} s / {alone:.1f} s = {together / alone:.2f}"


def _memory(place: Path) -> str:
    most = 0.0
    with ModelServer() as server:
        server.replies = [_plays]
        options = ("--modes", "act", "--models", "m", "--base-url", server.url, "--workers", "64", "--llm-jobs", "64")
        command = _command("eval", "coin", "--seeds", "0-63", *options)
        environment = {**os.environ, "OPENAI_API_KEY": "none"}
        with subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.DEVNULL) as playing:
            while playing.poll() is None:
                most = max(most, _resident(playing.pid))
                time.sleep(0.1)
    return f"{most:.0f}"


def _resident(pid: int) -> float:
    """MiB of a process and all its children."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    match = re.search(r"VmRSS:\s+(\d+) kB", status)
    return (int(match.group(1)) / 1024 if match else 0.0) + sum(_resident(int(child)) for child in children)


def _rows(run: Path) -> list[dict[str, str]]:
    with (run / "results.csv").open() as file:
        return list(csv.DictReader(file))


def _report(place: Path) -> str:
    played = pddlego.evaluate(["coin"], place / "run", modes="edit,random", seeds="0-9").results
    many = [
        replace(run, cell=replace(run.cell, repeat=number))
        for number in range(1, EPISODES // len(played) + 1)
        for run in played
    ]
    (place / "run" / RESULTS).write_text("".join(map(dump_summary, many)))
    command = _command("report", "run", "--format", "html", "-o", "report.html")
    return f"{_timed(lambda: subprocess.run(command, cwd=place, capture_output=True, check=True)):.1f}"


def _kills(place: Path) -> str:
    arguments = ("eval", "coin", "cooking-easy", "--modes", "edit,random", "--seeds", "0-39", "--run", "run")
    whole, broken = place / "whole", place / "broken"
    for folder in (whole, broken):
        folder.mkdir()
    subprocess.run(_command(*arguments), cwd=whole, capture_output=True, check=True)
    rng = random.Random(4)
    for _ in range(KILLS):
        with subprocess.Popen(
            _command(*arguments), cwd=broken, stdout=subprocess.DEVNULL, start_new_session=True
        ) as playing:
            threading.Event().wait(rng.uniform(0.2, 1.6))
            os.killpg(playing.pid, signal.SIGKILL)
    subprocess.run(_command(*arguments), cwd=broken, capture_output=True, check=True)
    tables = [(folder / "runs" / "run" / "results.csv").read_bytes() for folder in (whole, broken)]
    lines = (broken / "runs" / "run" / RESULTS).read_bytes().count(b"\n")
    same = "the same" if tables[0] == tables[1] else "DIFFERENT"
    return f"{same}, {len(_rows(whole / 'runs' / 'run'))} episodes, {lines} attempts"
