"""The printed figures beside measured ones: only where the model, the tasks and the limits are those of the paper."""

from __future__ import annotations

from pddlego.methods.programs.measure import MEASURING


def test_figures_of_heuristics_are_for_the_papers_tasks_and_limits() -> None:
    assert MEASURING.published is not None
    for options in ({}, {"tasks": "track"}, {"parity": "paper"}):
        assert "heuristic" not in str(MEASURING.published("blocks", options))
        assert MEASURING.published("spanner", options)["gpt-4"]["program"] == 0.10
    options = {"tasks": "track/blocksworld", "parity": "paper"}
    shown = [MEASURING.published(name, options) for name in ("blocks", "miconic", "spanner")]
    assert [round(90 * figures["deepseek-r1"]["heuristic"]) for figures in shown] == [66, 90, 70]
    assert [round(90 * figures["none"]["plan"]) for figures in shown] == [24, 74, 30]
