"""The reader's facts are right; those that it writes wrong on purpose are found, whatever things are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from pddlego.methods.registry import make_codec
from pddlego.methods.textgames.events import FactsChecked
from pddlego.methods.textgames.first_error import check_recorded
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.runs.folders import find_journals
from pddlego.runs.journal import read_journal
from tests.methods.textgames.truth.injected import compare, played
from tests.scale import scaled


@pytest.mark.slow
def test_the_reader_writes_no_wrong_fact(tmp_path: Path) -> None:
    run = played(tmp_path / "run", "reader", f"0-{scaled(1, in_ci=4)}")
    facts = 0
    for journal in find_journals(run):
        recorded = read_journal(journal, make_codec())
        assert recorded.started is not None
        for event in check_recorded(recorded, load(recorded.started.setting), TextGameOptions()).all(FactsChecked):
            assert event.errors == (), journal
            facts += sum(event.right.values())
    assert facts > 1000


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("noisy") / "run"
    model = "reader+noise:0.3,kinds=missing-reverse+stale-at"  # the kinds that write wrong facts
    return played(path, model, f"10-{scaled(11, in_ci=21)}", "edit,edit-no-feedback-no-tolerance")


@pytest.mark.slow
@pytest.mark.parametrize("other_names", [False, True])
def test_wrong_facts_are_found(noisy: Path, other_names: bool) -> None:
    """At least 95 % of what the reader wrote wrong on purpose, and nothing else; measured: all of it."""
    found = compare(noisy, other_names)
    assert found.written >= scaled(1, in_ci=30)
    assert found.recall >= 0.95
    assert found.precision >= 0.95
