"""The printed figures beside measured ones: only where the model, the tasks and the limits are those of the paper."""

from __future__ import annotations

import pytest

from pddlego.methods.programs.measure import MEASURING
from pddlego.methods.programs.records.published import DOMAINS, FAST_DOWNWARD, MODELS, PYPERPLAN


def test_figures_of_heuristics_are_for_the_papers_tasks_and_limits() -> None:
    assert MEASURING.published is not None
    for options in ({}, {"tasks": "track"}, {"parity": "paper"}):
        assert "heuristic" not in str(MEASURING.published("blocks", options, ()))
        assert MEASURING.published("spanner", options, ())["gpt-4"]["program"] == 0.10
    options = {"tasks": "track/blocksworld", "parity": "paper"}
    shown = [MEASURING.published(name, options, ()) for name in ("blocks", "miconic", "spanner")]
    assert [round(90 * figures["deepseek-r1"]["heuristic"]) for figures in shown] == [66, 90, 70]
    assert [round(90 * figures["none"]["plan"]) for figures in shown] == [24, 74, 30]


@pytest.mark.parametrize(
    ("numbers", "total"),
    [
        (PYPERPLAN["plan-no-heuristic"], 120),
        (PYPERPLAN["plan"], 243),
        (MODELS["gemini-2.0-flash"], 296),
        (MODELS["gemini-2.0-flash-thinking"], 305),
        (MODELS["deepseek-r1-distill-qwen-14b"], 214),
        (MODELS["deepseek-r1"], 373),
        (FAST_DOWNWARD["hgc"], 294),
        (FAST_DOWNWARD["hlmc"], 295),
        (FAST_DOWNWARD["hff"], 295),
        (FAST_DOWNWARD["hcea"], 306),
        (FAST_DOWNWARD["hcg"], 318),
        (FAST_DOWNWARD["hadd"], 324),
    ],
)
def test_coverage_by_domain_has_the_sums_of_the_paper(numbers: tuple[int, ...], total: int) -> None:
    assert len(numbers) == len(DOMAINS)
    assert sum(numbers) == total


def test_the_baseline_of_fast_downward_is_that_of_the_option() -> None:
    assert MEASURING.published is not None
    options = {"tasks": "track/rovers", "parity": "paper"}
    names = (None, "hadd", "hlmc")
    own = [MEASURING.published("rovers", {**options, "baseline": name}, ())["none"] for name in names]
    assert [round(90 * figures["plan"]) for figures in own] == [28, 33, 41]
    assert {round(90 * figures["plan-no-heuristic"]) for figures in own} == {12}
