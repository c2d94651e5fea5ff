from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pddlego.episode import events as ev
from pddlego.episode.events import Event, Limits, Outcome, Usage
from pddlego.errors import JournalError, UsageError
from pddlego.methods.textgames.events import Observed, Planned, PlannedStep, Resumed
from pddlego.models.base import Completion, Feedback, Message, RetryNotice
from pddlego.pddl import Entry, EntryKind
from pddlego.planning import PlanStatus, TriedRung
from pddlego.runs.cells import Cell
from pddlego.runs.folders import find_journal, fresh_folder
from pddlego.runs.journal import SCHEMA, Codec, JournalWriter, dump_line, read_journal
from tests.runs.stores import open_store, read

text = st.text(max_size=20)
texts = st.lists(text, max_size=3).map(tuple)
lines = st.lists(st.builds(Entry, st.sampled_from(EntryKind), text, text, text), max_size=2).map(tuple)
numbers = st.integers(0, 10**9)
seconds = st.floats(0, 1e6, allow_nan=False)
messages = st.lists(st.builds(Message, text, text), max_size=2).map(tuple)
feedback = st.builds(Feedback, text, text, texts)
tried = st.builds(TriedRung, text, st.sampled_from(PlanStatus), text, seconds, numbers)
limits = st.builds(Limits, st.none() | numbers)
details = st.dictionaries(text, text | numbers, max_size=2)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(ev.Started, text, text, text, text, numbers, text, limits, text, details),
    st.builds(Observed, numbers, st.none() | text, text, text, seconds, st.booleans(), st.booleans(), st.booleans()),
    st.builds(ev.Asked, numbers, text, numbers, messages, numbers),
    st.builds(ev.Retrying, numbers, st.builds(RetryNotice, text, numbers, numbers, seconds)),
    st.builds(ev.Answered, numbers, st.builds(Completion, text, numbers, numbers, numbers, seconds, numbers)),
    st.builds(ev.Accepted, text, text, texts, texts, st.lists(st.tuples(text, text), max_size=2).map(tuple), lines),
    st.builds(ev.Rejected, numbers, feedback, lines),
    st.builds(ev.Judged, text, st.sampled_from(("accepted", "rejected", "replaced")), text, seconds),
    st.builds(
        Planned,
        st.lists(tried, max_size=2).map(tuple),
        st.none() | text,
        st.lists(st.builds(PlannedStep, text, text, texts, texts), max_size=2).map(tuple),
    ),
    st.builds(Resumed, text, numbers, text, numbers, st.none() | text, texts, texts),
    st.builds(ev.Ended, st.sampled_from(Outcome), text, seconds, st.builds(Usage, numbers)),
)


def write(path: Path, events: list[Event]) -> None:
    path.unlink(missing_ok=True)
    writer = JournalWriter(path)
    for number, event in enumerate(events):
        writer.write(event, number / 10)
    writer.close()


@given(st.lists(EVENTS, max_size=5))
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(tmp_path: Path, events: list[Event]) -> None:
    write(tmp_path / "one.jsonl", events)
    assert list(read(tmp_path / "one.jsonl").events) == events


SOME: list[Event] = [
    ev.Started("coin", "Coin", "edit", "m", 1, "", Limits(5), "textgames"),
    Observed(0, None, "a room – with a dash\u2028", "a room"),
    ev.Ended(Outcome.WON, "", 1.0),
]


def test_a_journal_that_was_cut_at_any_byte_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    write(path, SOME)
    data = path.read_bytes()
    for end in range(len(data) + 1):
        path.write_bytes(data[:end])
        assert list(read(path).events) == SOME[: data[:end].count(b"\n")]
    assert read(path).ended is not None


def test_every_event_is_on_disk_at_once(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "one.jsonl")
    writer.write(SOME[0], 0.0)
    assert list(read(tmp_path / "one.jsonl").events) == SOME[:1]
    assert read(tmp_path / "one.jsonl").ended is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"not json\n", "is damaged"),
        (b'{"v":2}\n', "is damaged"),
        (b'{"v":2,"t":0,"event":{"type":"nonsense"}}\n', "is damaged"),
        (b'{"v":1,"t":0,"event":{}}\n', "another version of pddlego"),
        (b'{"v":99,"t":0,"event":{}}\n', "another version of pddlego"),
        (b"\xff\xfe\n", "is damaged"),
        (b"[]\n", "is damaged"),
    ],
)
def test_damage_is_named(tmp_path: Path, line: bytes, says: str) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(line)
    with pytest.raises(JournalError, match=says):
        read(path)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="is not a run folder"):
        find_journal(tmp_path)


def test_a_run_folder(tmp_path: Path) -> None:
    first = fresh_folder(tmp_path / "runs", "coin")
    second = fresh_folder(tmp_path / "runs", "coin")
    assert first != second
    with open_store(first, {"mode": "edit"}) as store:
        store.begin(Cell("coin", "edit", "m", 7))[1].close()
    manifest = json.loads((first / "manifest.json").read_text())
    assert (manifest["schema"], manifest["configuration"]["mode"]) == (SCHEMA, "edit")
    assert find_journal(first).name == "coin-edit-m-seed7.jsonl"


class Clapped(Event):
    """An event of a method that is not installed."""

    type = "clapped"
    method = "applause"


def test_an_event_of_a_method_that_is_not_installed_is_kept_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"v":2,"t":0.5,"method":"applause","event":{"type":"clapped","times":3}}\n')
    assert read(path).events == (ev.Unknown("applause", "clapped", {"times": 3}),)
    (event,) = read(path).events
    assert Codec().load_line(dump_line(event, 0.5)) == (event, 0.5)
    known = Codec(lambda name: (dataclass(frozen=True)(Clapped),))
    with pytest.raises(JournalError, match="is damaged"):
        read_journal(path, Codec(lambda name: (Observed,)))
    assert known.load({"type": "clapped"}, "applause").type == "clapped"


def test_a_link_without_a_target_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs").symlink_to("nowhere")
    with pytest.raises(UsageError, match="Cannot write") as refused:
        fresh_folder(tmp_path / "runs", "coin")
    assert refused.value.reason == f"{tmp_path / 'runs'} is a link to nowhere, which does not exist."


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="Cannot write") as caught:
        fresh_folder(tmp_path / "file" / "runs", "coin")
    assert "PDDLEGO_RUNS" in caught.value.next_step
    with pytest.raises(JournalError, match="Cannot write"):
        JournalWriter(tmp_path / "no" / "folder.jsonl")


def test_a_full_disk_is_an_error() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    writer = JournalWriter.__new__(JournalWriter)
    writer.path, writer._file = full, full.open("wb", buffering=0)
    with pytest.raises(JournalError, match="No space left"):
        writer.write(SOME[0], 0.0)
    writer.close()
