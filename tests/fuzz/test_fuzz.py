"""Some cases of every target, the same everywhere; `python -m tests.fuzz` tries others for as long as one likes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pddlego.methods.textgames.loading import load
from pddlego.planning import ProcessPlanner
from tests.fuzz.targets import Bench, Target, fuzz, targets
from tests.fuzz.texts import changed
from tests.scale import scaled

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("target", targets(), ids=lambda target: target.name)
def test_nothing_but_typed_errors(
    target: Target, planner: ProcessPlanner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known = tuple(load(name) for name in ("coin", "cooking-hard", "twc"))
    cases = scaled(15, in_ci=25)
    assert fuzz(target, Bench(tmp_path, planner, known), 1, cases) >= cases


def test_a_surprise_is_found(planner: ProcessPlanner, tmp_path: Path) -> None:
    def call(bench: Bench, text: str) -> None:
        assert "(" not in text, "a parenthesis"

    with pytest.raises(AssertionError, match="a parenthesis"):
        fuzz(Target("fragile", changed(["(at kitchen)", "kitchen"]), call), Bench(tmp_path, planner, ()), 1, 40)
