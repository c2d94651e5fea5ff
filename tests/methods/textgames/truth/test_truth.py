"""The reader's facts are right; those that it writes wrong on purpose are found, whatever things are called."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from pddlego.display.console import ASCII
from pddlego.display.description import describe
from pddlego.episode.events import Rejected
from pddlego.evaluation.truth import check_episode
from pddlego.methods.registry import make_codec
from pddlego.methods.textgames.events import FactsChecked
from pddlego.methods.textgames.first_error import check_recorded
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.models.base import cut_off
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
def test_nothing_is_said_of_facts_of_an_answer_that_could_not_be_read(tmp_path: Path) -> None:
    run = played(tmp_path, "reader+noise:0.5,seed=3", "0", "edit-no-feedback")
    traces = [check_episode(journal)[0].events for journal in find_journals(run)]
    events = [event for trace in traces for event in trace if isinstance(event, (Rejected, FactsChecked))]
    unread = [check for event, check in pairwise(events) if isinstance(event, Rejected) and event.feedback == cut_off()]
    assert unread
    for check in unread:
        assert isinstance(check, FactsChecked) and check.unread and check.errors
        assert describe(check, ASCII).title.text == "the rejected answer has no facts that could be read"
        assert not describe(check, ASCII).body


@pytest.mark.slow
@pytest.mark.parametrize("other_names", [False, True])
def test_wrong_facts_are_found(noisy: Path, other_names: bool) -> None:
    """At least 95 % of what the reader wrote wrong on purpose, and nothing else; measured: all of it."""
    found = compare(noisy, other_names)
    assert found.written >= scaled(1, in_ci=30)
    assert found.recall >= 0.95
    assert found.precision >= 0.95
