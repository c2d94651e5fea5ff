"""Coin Collector with the built-in reader: steps, calls, characters, pddlego's own time, memory."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.episodes import play
from benchmarks.table import show
from pddlego.methods.textgames.games.java import express_program, shared_machine
from pddlego.methods.textgames.loading import load
from pddlego.planning import ProcessPlanner


def main() -> None:
    with ProcessPlanner() as planner:
        for title, seeds in (
            ("seeds 0-59", range(60)),
            ("test seeds 10-59", range(10, 60)),
            ("seeds 100-399", range(100, 400)),
        ):
            _play(title, seeds, planner)
            print()
        _memory(planner)


def _play(title: str, seeds: range, planner: ProcessPlanner) -> None:
    setting = load("coin")
    rows = []
    for mode in ("edit", "gen", "act", "random"):
        done = play(setting, mode, seeds, planner)
        own = done.own_milliseconds
        rows.append([mode, done.won, done.steps, done.refused, done.calls, done.characters, own])
    head = ["mode", "won", "steps (won)", "refused", "calls", "characters sent", "own ms a step"]
    show(f"Coin Collector, built-in reader (rules, no language model), {title}", head, rows)


def _memory(planner: ProcessPlanner) -> None:
    processes = [
        ("pddlego", "self"),
        ("Java", str(shared_machine(express_program()).pid)),
        ("planner", str(planner._process.pid)),
    ]
    rows = [[name, *(_mebibytes(pid, field) for field in ("VmRSS", "VmHWM"))] for name, pid in processes]
    show("Memory after these games; MiB", ["process", "now", "peak"], rows)


def _mebibytes(pid: str, field: str) -> str:
    path = Path(f"/proc/{pid}/status")
    if not path.exists():
        return "n/a"
    match = re.search(rf"{field}:\s+(\d+) kB", path.read_text())
    return f"{int(match.group(1)) / 1024:.0f}" if match else "n/a"
