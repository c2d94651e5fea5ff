from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pddlego.errors import JournalError, UsageError
from pddlego.evaluation.cells import Cell
from pddlego.evaluation.store import Store, read_results
from pddlego.evaluation.summary import Summary, dump_summary, load_summary, summarize
from pddlego.evaluation.table import result_table
from pddlego.events import (
    Answered,
    Asked,
    EpisodeEnded,
    EpisodeStarted,
    Event,
    Formalized,
    Limits,
    Observed,
    Outcome,
    Planned,
    RecordedMessage,
    Rejected,
    Tally,
)
from pddlego.journal import write_whole

CELL = Cell("coin", "edit", "gpt-4.1", 12)
OTHER = Cell("coin", "edit", "gpt-4.1", 13, 2)
STORY: list[Event] = [
    Observed(0, None, "a", "a"),
    Asked(1, "edit", 0, (RecordedMessage("user", "xyz"),), 3),
    Answered(1, "{}", 10, 5, 2, 0.5, 1),
    Rejected(0, "defects", "no", kinds=("undeclared object", "undeclared object")),
    Formalized("p", (), ()),
    Planned((), "explore", ()),
    Observed(1, "move", "b", "b", refused=True, surprise="odd"),
]
WON = EpisodeEnded(Outcome.WON, "", 1.0, Tally(1, 1, 1, 3, 10, 5, 2, 1.0, 0.5))


def played(store: Store, cell: Cell, *events: Event) -> Summary:
    attempt, journal = store.begin(cell)
    for event in events:
        journal.write(event, 0.0)
    journal.close()
    return summarize(cell, attempt, events)


def test_a_summary_counts_what_happened() -> None:
    found = summarize(CELL, 1, [*STORY, WON])
    assert (found.won, found.rungs, found.rejected, found.surprises) == (True, {"explore": 1}, {"defects": 1}, 1)
    assert found.defects == {"undeclared object": 2}
    assert load_summary(dump_summary(found)) == found


def test_an_attempt_that_never_ended_still_costs() -> None:
    found = summarize(CELL, 1, STORY)
    assert found.outcome is Outcome.INTERRUPTED
    assert not found.counts
    used = found.tally
    assert (used.steps, used.refused, used.calls, used.tokens_in, used.tokens_out) == (1, 1, 1, 10, 5)


def test_what_is_finished_is_known_when_it_is_opened_again(tmp_path: Path) -> None:
    with Store(tmp_path, {"x": 1}) as store:
        store.record(played(store, CELL, *STORY, WON))
        assert store.finished(CELL) is not None
    with Store(tmp_path, {"x": 1}) as store:
        store.recover([CELL, OTHER])
        assert store.finished(CELL) == store.results()[0]
        assert store.finished(OTHER) is None


def test_a_finished_journal_without_its_line_is_a_result(tmp_path: Path) -> None:
    """The process was killed between the last event and the line."""
    with Store(tmp_path, {}) as store:
        played(store, CELL, *STORY, WON)
        played(store, OTHER, *STORY)
    with Store(tmp_path, {}) as store:
        store.recover([CELL, OTHER])
        assert store.finished(CELL) is not None
        assert store.finished(OTHER) is None, "it was cut short, and is played again"
        assert [each.outcome for each in store.attempts] == [Outcome.WON, Outcome.INTERRUPTED]
        attempt, journal = store.begin(OTHER)
        journal.close()
        assert attempt == 2
        assert {each.name for each in (tmp_path / "episodes").iterdir()} == {
            f"{CELL.label}.jsonl",
            f"{OTHER.label}.jsonl",
            f"{OTHER.label}.2.jsonl",
        }


@given(cut=st.integers(0, 2_000))
@settings(max_examples=30)
def test_wherever_the_last_line_was_cut_nothing_else_is_lost(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("store")
    with Store(path, {}) as store:
        store.record(played(store, CELL, *STORY, WON))
        store.record(played(store, OTHER, *STORY, WON))
        wanted = result_table(store.results())
    results = path / "results.jsonl"
    data = results.read_bytes()
    first = data.index(b"\n") + 1
    results.write_bytes(data[: max(first, len(data) - cut)])
    with Store(path, {}) as store:
        store.recover([CELL, OTHER])
        assert result_table(store.results()) == wanted
    assert len(read_results(path)) == 2


def test_another_configuration_is_refused_with_the_difference(tmp_path: Path) -> None:
    Store(tmp_path, {"a": {"b": 1, "c": [1]}}).close()
    with pytest.raises(UsageError) as caught:
        Store(tmp_path, {"a": {"b": 2, "c": [1]}, "d": None, "e": "new"})
    assert 'a.b was 1 and is now 2; e was null and is now "new"' in str(caught.value)
    Store(tmp_path, {"a": {"b": 1, "c": (1,)}}).close()


def test_two_processes_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with Store(tmp_path, {}), pytest.raises(UsageError, match="is in use"):
        Store(tmp_path, {})
    Store(tmp_path, {}).close()


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    with Store(tmp_path, {}) as store:
        store.record(played(store, CELL, *STORY, WON))
    with (tmp_path / "results.jsonl").open("a") as file:
        file.write(json.dumps({"cell": 3}) + "\n")
    with pytest.raises(JournalError) as caught:
        read_results(tmp_path)
    assert "Line 2 is no result" in str(caught.value)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_a_device_is_never_replaced_by_a_file() -> None:
    with pytest.raises(JournalError, match="Cannot write /dev/full"):
        write_whole(Path("/dev/full"), "text")
    assert Path("/dev/full").is_char_device()


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    write_whole(tmp_path / "a", "new")
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_text() == "new"


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_episodes_without_a_manifest_are_not_taken_for_ours(tmp_path: Path) -> None:
    with Store(tmp_path, {}) as store:
        store.record(played(store, CELL, *STORY, WON))
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(UsageError, match="is damaged"):
        Store(tmp_path, {"max_steps": 3})


def test_the_journal_of_another_cell_is_not_taken_for_this_one(tmp_path: Path) -> None:
    begun = EpisodeStarted("coin", "Coin", "edit", CELL.model, 99, "", (), Limits(50))
    with Store(tmp_path, {}) as store:
        played(store, CELL, begun, *STORY, WON)
    with Store(tmp_path, {}) as store, pytest.raises(JournalError, match="is another episode"):
        store.recover([CELL])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_result_that_is_no_number_is_damage(tmp_path: Path, number: str) -> None:
    with Store(tmp_path, {}) as store:
        store.record(played(store, CELL, *STORY, WON))
    place = tmp_path / "results.jsonl"
    place.write_text(re.sub(r'"score":[^,]*', f'"score":{number}', place.read_text()))
    with pytest.raises(JournalError, match="is damaged"):
        read_results(tmp_path)


def test_a_manifest_that_is_none_is_damage(tmp_path: Path) -> None:
    Store(tmp_path, {}).close()
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(UsageError, match="is damaged"):
        Store(tmp_path, {})
