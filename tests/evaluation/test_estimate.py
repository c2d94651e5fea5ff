"""Estimates of the time that models on this machine need for an evaluation."""

from __future__ import annotations

from pathlib import Path

import pytest

from pddlego.episode.events import Outcome, Usage
from pddlego.evaluation.config import resolve
from pddlego.evaluation.estimate import Amount, Estimate, estimates, time_note, upper_bound_table
from pddlego.evaluation.prepare import make_setup
from pddlego.evaluation.setup import Setup
from pddlego.models.base import LOCAL
from pddlego.models.speed import Speed
from pddlego.runs.cells import Cell
from pddlego.runs.folders import MANIFEST
from pddlego.runs.store import RESULTS, append_summary
from pddlego.runs.summary import Summary
from tests.display.rendering import drawn


def setup_of(tmp_path: Path, *models: str) -> Setup:
    flags = {
        "games": ("coin",),
        "models": models,
        "modes": ("edit",),
        "seeds": "0-3",
        "runs": str(tmp_path),
        "run": "r",
    }
    return make_setup(resolve(flags, {}), sends=False)


def test_the_time_of_a_local_model_follows_from_its_speed(tmp_path: Path) -> None:
    measured: list[str] = []

    def speed_of(name: str) -> Speed:
        measured.append(name)
        return Speed(reading=2.0, writing=1.0, per_token=4.0)

    setup = setup_of(tmp_path, LOCAL, "endpoint")
    local, remote = estimates(setup, speed_of)
    assert measured == [LOCAL] and remote.seconds is None
    assert local.expected is not None and local.seconds is not None
    one_request = local.expected.tokens / local.expected.calls
    assert one_request / 2 < local.seconds / local.episodes < local.expected.tokens
    assert time_note([local, remote], 1).startswith("Likely time of local models: ")
    assert time_note([remote], 1) == ""


def test_finished_episodes_are_the_best_estimate_of_the_time(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / MANIFEST).write_text("{}")
    for seed, seconds in enumerate((3000.0, 4200.0)):
        played = Summary(Cell("coin", "edit", LOCAL, seed), 1, Outcome.LOST, usage=Usage(calls=1, seconds=seconds))
        append_summary(tmp_path / "r" / RESULTS, played, flush=False)
    again = Summary(Cell("coin", "edit", LOCAL, 1), 2, Outcome.CRASHED)
    append_summary(tmp_path / "r" / RESULTS, again, flush=False)
    (case,) = estimates(setup_of(tmp_path, LOCAL), lambda name: pytest.fail("no speed is needed"))
    assert case.episodes == 3, "the last attempt at seed 1 does not count"
    assert case.seconds == 3 * 3600
    assert time_note([case], 1) == "Likely time of local models: 3.0 hours."
    assert time_note([case], 2) == "Likely time of local models: 1.5 hours."


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("cost", [None, 1.5])
def test_a_dry_run_keeps_the_bound_of_requests(width: int, cost: float | None) -> None:
    cases = [
        Estimate(
            (game, mode, "openai/gpt-5-mini-2025-08-07"), 4, Amount(7200, 9_000_000, cost), Amount(25, 90_000, cost)
        )
        for game in ("coin", "cooking-easy")
        for mode in ("edit", "gen-no-feedback")
    ]
    text = drawn(upper_bound_table(cases, width), width, 12)
    assert "max calls" in text and text.count("7,200") == 4 and "28,800" in text
    assert ("$6.00" in text) if cost else ("n/a" in text)
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
