from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pddlego.episode.events import Accepted, Answered, Asked, Ended, Event, Limits, Outcome, Rejected, Started, Usage
from pddlego.errors import JournalError, UsageError
from pddlego.evaluation.runner import Runner
from pddlego.evaluation.table import result_table
from pddlego.methods.textgames.events import Observed, Planned
from pddlego.methods.textgames.measure import measure
from pddlego.models.base import Completion, Feedback, Message
from pddlego.models.limiter import Ledger, Price, read_ledger
from pddlego.runs.cells import Cell, Matrix
from pddlego.runs.folders import LEDGER
from pddlego.runs.store import (
    RESULTS,
    TRUTH,
    Store,
    read_cells,
    read_configuration,
    read_manifest,
    read_recorded_prices,
    read_results,
    read_truth,
)
from pddlego.runs.summary import Summary, dump_summary, load_summary, summarize
from pddlego.util.files import write_whole
from tests.growth import extra_memory
from tests.runs.stores import executor, open_store
from tests.traces import trace_of

CELL = Cell("coin", "edit", "gpt-4.1", 12)
OTHER = Cell("coin", "edit", "gpt-4.1", 13, 2)
STORY: list[Event] = [
    Observed(0, None, "a", "a"),
    Asked(1, "edit", 0, (Message("user", "xyz"),), 3),
    Answered(1, Completion("{}", 10, 5, 2, 0.5, 1)),
    Rejected(0, Feedback("defects", "no"), kinds=("undeclared object", "undeclared object")),
    Accepted("problem", "p"),
    Planned((), "explore", ()),
    Observed(1, "move", "b", "b", refused=True, mismatch="odd"),
]
WON = Ended(Outcome.WON, "", 1.0, Usage(1, 1, 1, 3, 10, 5, 2, 1.0, 0.5))


def played(store: Store, cell: Cell, *events: Event) -> Summary:
    attempt, journal = store.begin(cell)
    for event in events:
        journal.write(event, 0.0)
    journal.close()
    return summarize(cell, attempt, trace_of(events), measure)


def test_a_summary_counts_what_happened() -> None:
    result = summarize(CELL, 1, trace_of([*STORY, WON]), measure)
    assert result.won
    assert result.measures.numbers == {"steps": 1, "refused": 1, "surprises": 1, "without_news": 0}
    assert (result.counts_of("rungs"), result.counts_of("rejected")) == ({"explore": 1}, {"defects": 1})
    assert result.counts_of("defects") == {"undeclared object": 2}
    assert load_summary(dump_summary(result)) == result


def test_an_attempt_that_never_ended_still_costs() -> None:
    result = summarize(CELL, 1, trace_of(STORY), measure)
    assert result.outcome is Outcome.INTERRUPTED
    assert not result.counts
    used = result.usage
    assert (used.steps, used.refused, used.calls, used.tokens_in, used.tokens_out) == (1, 1, 1, 10, 5)


def test_what_is_finished_is_known_when_it_is_opened_again(tmp_path: Path) -> None:
    with open_store(tmp_path, {"x": 1}) as store:
        store.record(played(store, CELL, *STORY, WON))
        assert store.finished(CELL) is not None
    with open_store(tmp_path, {"x": 1}) as store:
        store.recover([CELL, OTHER])
        assert store.finished(CELL) == store.results()[0]
        assert store.finished(OTHER) is None


def test_a_finished_journal_without_its_line_is_a_result(tmp_path: Path) -> None:
    """The process was killed between the last event and the line."""
    with open_store(tmp_path, {}) as store:
        played(store, CELL, *STORY, WON)
        played(store, OTHER, *STORY)
    with open_store(tmp_path, {}) as store:
        store.recover([CELL, OTHER])
        assert store.finished(CELL) is not None
        assert store.finished(OTHER) is None, "it was cut short, and is played again"
        assert [attempt.outcome for attempt in store.attempts] == [Outcome.WON, Outcome.INTERRUPTED]
        attempt, journal = store.begin(OTHER)
        journal.close()
        assert attempt == 2
        assert {item.name for item in (tmp_path / "episodes").iterdir()} == {
            f"{CELL.label}.jsonl",
            f"{OTHER.label}.jsonl",
            f"{OTHER.label}.2.jsonl",
        }


def test_what_will_be_paid_again_is_said(tmp_path: Path) -> None:
    """Of the cells that are played, with the last attempt, and not of a model without tokens."""
    with open_store(tmp_path, {}) as store:
        store.record(played(store, CELL, *STORY, WON))
        for _ in range(2):
            store.record(played(store, OTHER, *STORY))
    with open_store(tmp_path, {}) as store:
        store.recover([CELL])
        assert store.warnings == ()
    with open_store(tmp_path, {}) as store:
        store.recover([CELL, OTHER])
        (warning,) = store.warnings
        assert warning == (
            "1 unfinished episode will be played again from the beginning, and paid again: 1 request and 15 tokens"
            " were sent for the last attempt."
        )
    free = [event for event in STORY if not isinstance(event, Answered)]
    with open_store(tmp_path / "free", {}) as store:
        store.record(played(store, OTHER, *free))
    with open_store(tmp_path / "free", {}) as store:
        store.recover([OTHER])
        assert store.warnings == ()


@given(cut=st.integers(0, 2_000))
@settings(max_examples=30)
def test_wherever_the_last_line_was_cut_nothing_else_is_lost(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("store")
    with open_store(path, {}) as store:
        store.record(played(store, CELL, *STORY, WON))
        store.record(played(store, OTHER, *STORY, WON))
        wanted = result_table(store.results())
    results = path / "results.jsonl"
    data = results.read_bytes()
    first = data.index(b"\n") + 1
    left = data[: max(first, len(data) - cut)]
    results.write_bytes(left)
    assert [f"{results} was cut" in one for one in read_results(path)[1]] == [True] * (not left.endswith(b"\n"))
    with open_store(path, {}) as store:
        store.recover([CELL, OTHER])
        assert result_table(store.results()) == wanted
    assert len(read_results(path)[0]) == 2


def test_another_configuration_is_refused_with_the_difference(tmp_path: Path) -> None:
    open_store(tmp_path, {"a": {"b": 1, "c": [1]}}).close()
    with pytest.raises(UsageError) as caught:
        open_store(tmp_path, {"a": {"b": 2, "c": [1]}, "d": None, "e": "new"})
    assert 'a.b was 1 and is now 2; e was null and is now "new"' in str(caught.value)
    open_store(tmp_path, {"a": {"b": 1, "c": (1,)}}).close()


@pytest.mark.parametrize(("answered", "from_cache"), [(False, 0), (True, 0), (False, 1)])
def test_the_address_may_change_until_a_request_is_answered(tmp_path: Path, answered: bool, from_cache: int) -> None:
    def at(port: int, temperature: float = 1) -> dict[str, object]:
        return {"endpoint": {"base_url": f"http://localhost:{port}/v1", "temperature": temperature}, "settings": {}}

    with open_store(tmp_path, at(1), {"more": 1}) as store, closing(Ledger(tmp_path / LEDGER)) as ledger:
        ledger.settled(ledger.sent("m", 9.0, 0.0), 0.0, 0.0, answered=answered)
        usage = Usage(calls=1, from_cache=from_cache)
        store.record(Summary(CELL, 1, Outcome.MODEL_ERROR, usage=usage))
    with pytest.raises(UsageError, match="another configuration"):
        open_store(tmp_path, at(2, temperature=0))
    if answered or from_cache:
        with pytest.raises(UsageError, match=r"endpoint\.base_url was"):
            open_store(tmp_path, at(2))
    else:
        open_store(tmp_path, at(2)).close()
        assert (read_configuration(tmp_path), read_manifest(tmp_path)["more"]) == (at(2), 1)


def test_two_processes_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with open_store(tmp_path, {}), pytest.raises(UsageError, match="is in use"):
        open_store(tmp_path, {})
    open_store(tmp_path, {}).close()


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
def test_a_device_is_never_replaced_by_a_file() -> None:
    with pytest.raises(JournalError, match="Cannot write /dev/full"):
        write_whole(Path("/dev/full"), "text")
    assert Path("/dev/full").is_char_device()


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_episodes_without_a_manifest_are_not_taken_for_ours(tmp_path: Path) -> None:
    with open_store(tmp_path, {}) as store:
        store.record(played(store, CELL, *STORY, WON))
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(UsageError, match="is damaged"):
        open_store(tmp_path, {"max_steps": 3})


def test_the_journal_of_another_cell_is_not_taken_for_this_one(tmp_path: Path) -> None:
    begun = Started("coin", "Coin", "edit", CELL.model, 99, "", Limits(50), "textgames")
    with open_store(tmp_path, {}) as store:
        played(store, CELL, begun, *STORY, WON)
    with open_store(tmp_path, {}) as store, pytest.raises(JournalError, match="is another episode"):
        store.recover([CELL])


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_result_that_is_no_number_is_damage(tmp_path: Path, number: str) -> None:
    with open_store(tmp_path, {}) as store:
        store.record(played(store, CELL, *STORY, WON))
    place = tmp_path / "results.jsonl"
    place.write_text(re.sub(r'"score":[^,]*', f'"score":{number}', place.read_text()))
    results, warnings = read_results(tmp_path)
    assert not results
    assert "line 1 is damaged" in warnings[0]


def test_a_manifest_that_is_none_is_damage(tmp_path: Path) -> None:
    open_store(tmp_path, {}).close()
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(UsageError, match="is damaged"):
        open_store(tmp_path, {})


def two_episodes(path: Path) -> None:
    with open_store(path, {}) as store:
        store.record(played(store, CELL, *STORY, WON))
        store.record(played(store, OTHER, *STORY, WON))


@pytest.mark.parametrize("torn", [b"\0" * 300, b'{"cell": {"setting": "coi', b"", b"\xff\xfe"])
def test_a_torn_line_costs_one_line_and_is_told(tmp_path: Path, torn: bytes) -> None:
    two_episodes(tmp_path)
    place = tmp_path / "results.jsonl"
    second = place.read_bytes().splitlines()[1]
    place.write_bytes(torn + b"\n" + second + b"\n")
    with open_store(tmp_path, {}) as store:
        store.recover([CELL, OTHER])
        assert {result.cell for result in store.results()} == {CELL, OTHER}, "made anew from its journal"
        assert all(result.won for result in store.results())
        assert any("line 1 is damaged" in warning for warning in store.warnings)
    result, warnings = read_results(tmp_path)
    assert {item.cell for item in result} == {CELL, OTHER}
    assert len(warnings) == 1


@pytest.mark.parametrize("torn", [b"\0" * 300, b'{"v":1,"t":0.1,"event":{"ty'])
def test_a_torn_journal_costs_its_cell_and_is_told(tmp_path: Path, torn: bytes) -> None:
    two_episodes(tmp_path)
    (tmp_path / "results.jsonl").unlink()
    journal = tmp_path / "episodes" / f"{CELL.label}.jsonl"
    lines = journal.read_bytes().splitlines()
    journal.write_bytes(b"\n".join([lines[0], torn, *lines[2:]]) + b"\n")
    with open_store(tmp_path, {}) as store:
        store.recover([CELL, OTHER])
        assert [result.cell for result in store.results()] == [OTHER]
        assert any("played again" in warning for warning in store.warnings)
        number, writer = store.begin(CELL)
        writer.close()
        assert number == 2, "what was torn stays to be looked at"


def test_a_finished_journal_whose_bytes_changed_is_noticed(tmp_path: Path) -> None:
    with open_store(tmp_path, {}) as store:
        evaluation = Runner([CELL], store, executor(lambda cell: iter([*STORY, WON])), workers=1)
        assert all(evaluation.run())
    (summary,) = read_results(tmp_path)[0]
    assert len(summary.digest) == 64
    journal = tmp_path / "episodes" / f"{CELL.label}.jsonl"
    with open_store(tmp_path, {}) as store:
        store.recover([CELL])
        assert store.warnings == ()
    journal.write_bytes(journal.read_bytes().replace(b'"score":1.0', b'"score":0.0'))
    with open_store(tmp_path, {}) as store:
        store.recover([CELL])
        assert "has changed since" in store.warnings[0]
        assert store.results()[0].score == 1.0


def test_what_was_asked_for_and_its_prices_are_kept(tmp_path: Path) -> None:
    with open_store(tmp_path, {}) as store:
        store.plan(Matrix({"coin": (1, 2)}, ("edit",), ("m",)), {"m": Price(1.0, 2.0)})
        store.plan(Matrix({"coin": (2, 3)}, ("edit",), ("m",)))
        store.plan(Matrix({"coin": (2, 3)}, ("edit",), ("m",)))
    assert [cell.seed for cell in read_cells(tmp_path)] == [1, 2, 3]
    assert read_recorded_prices(tmp_path) == {"m": Price(1.0, 2.0)}
    assert len(json.loads((tmp_path / "manifest.json").read_text())["asked"]) == 2


def test_a_folder_of_another_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({"schema": 1, "configuration": {}}))
    with pytest.raises(UsageError, match="another version of pddlego") as caught:
        open_store(tmp_path, {})
    assert str(caught.value.reason) == "Its schema is 1; this version reads schema 2."


def test_large_files_of_a_run_are_read_line_by_line(tmp_path: Path) -> None:
    """A report of 100,000 episodes reads files of about 100 MB each."""
    result = summarize(CELL, 1, trace_of([*STORY, WON]), measure)
    lines = [dump_summary(replace(result, digest=f"{number:064}")) for number in range(2_000)]
    requests = [json.dumps({"sent": number, "tokens": 9, "cost": 0, "for": "a"}) + "\n" for number in range(1, 10_001)]
    unfinished = lines[0].rstrip()
    for name, text in ((RESULTS, lines), (TRUTH, lines), (LEDGER, requests)):
        (tmp_path / name).write_text("".join([*text, unfinished]))
        size = (tmp_path / name).stat().st_size
        read: Callable[[], object] = {
            RESULTS: lambda: read_results(tmp_path),
            TRUTH: lambda: read_truth(tmp_path),
            LEDGER: lambda: read_ledger(tmp_path / LEDGER),
        }[name]
        assert extra_memory(read) < 0.8 * size, name
    assert (len(read_results(tmp_path)[0]), len(read_truth(tmp_path))) == (2_000, 2_000)
    assert len(read_ledger(tmp_path / LEDGER)[0]) == 10_000
