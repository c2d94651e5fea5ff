from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from pddlego import events as ev
from pddlego.errors import JournalError, UsageError
from pddlego.events import SCHEMA, Event, Limits, Outcome, Tally
from pddlego.journal import JournalWriter, RunFolder, environment_manifest, read_episode
from pddlego.run_folders import find_journal

text = st.text(max_size=20)
texts = st.lists(text, max_size=3).map(tuple)
lines = st.lists(st.builds(ev.EditLine, text, text, text, text), max_size=2).map(tuple)
numbers = st.integers(0, 10**9)
seconds = st.floats(0, 1e6, allow_nan=False)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(ev.EpisodeStarted, text, text, text, text, numbers, text, texts, st.builds(Limits, numbers)),
    st.builds(ev.Observed, numbers, st.none() | text, text, text, seconds, st.booleans(), st.booleans(), st.booleans()),
    st.builds(
        ev.Asked,
        numbers,
        text,
        numbers,
        st.lists(st.builds(ev.RecordedMessage, text, text), max_size=2).map(tuple),
        numbers,
    ),
    st.builds(ev.Answered, numbers, text, numbers, numbers, numbers, seconds, numbers),
    st.builds(ev.Formalized, text, texts, texts, st.lists(st.tuples(text, text), max_size=2).map(tuple), lines, texts),
    st.builds(ev.Rejected, numbers, text, text, texts, lines),
    st.builds(
        ev.Planned,
        st.lists(st.builds(ev.TriedRung, text, text, text, seconds, numbers), max_size=2).map(tuple),
        st.none() | text,
        st.lists(st.builds(ev.PlannedStep, text, text, texts, texts), max_size=2).map(tuple),
    ),
    st.builds(ev.EpisodeEnded, st.sampled_from(Outcome), text, seconds, st.builds(Tally, numbers)),
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
    assert list(read_episode(tmp_path / "one.jsonl").events) == events


SOME: list[Event] = [
    ev.EpisodeStarted("coin", "Coin", "edit", "m", 1, "", (), Limits(5)),
    ev.Observed(0, None, "a room – with a dash\u2028", "a room"),
    ev.EpisodeEnded(Outcome.WON, "", 1.0),
]


def test_a_journal_that_was_cut_at_any_byte_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    write(path, SOME)
    data = path.read_bytes()
    for end in range(len(data) + 1):
        path.write_bytes(data[:end])
        assert list(read_episode(path).events) == SOME[: data[:end].count(b"\n")]
    assert read_episode(path).complete


def test_every_event_is_on_disk_at_once(tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path / "one.jsonl")
    writer.write(SOME[0], 0.0)
    assert list(read_episode(tmp_path / "one.jsonl").events) == SOME[:1]
    assert not read_episode(tmp_path / "one.jsonl").complete


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"not json\n", "is damaged"),
        (b'{"v":1}\n', "is damaged"),
        (b'{"v":1,"t":0,"event":{"type":"nonsense"}}\n', "is damaged"),
        (b'{"v":99,"t":0,"event":{}}\n', "newer pddlego"),
        (b"\xff\xfe\n", "is damaged"),
        (b"[]\n", "is damaged"),
    ],
)
def test_damage_is_named(tmp_path: Path, line: bytes, says: str) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(line)
    with pytest.raises(JournalError, match=says):
        read_episode(path)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_episode(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="is no run folder"):
        find_journal(tmp_path)


def test_a_run_folder(tmp_path: Path) -> None:
    first = RunFolder(tmp_path / "runs", "coin", {"mode": "edit"})
    second = RunFolder(tmp_path / "runs", "coin", {})
    assert first.path != second.path
    manifest = json.loads((first.path / "manifest.json").read_text())
    assert (manifest["schema"], manifest["mode"]) == (SCHEMA, "edit")
    first.episode(7).close()
    assert find_journal(first.path).name == "seed-7.jsonl"


def test_the_environment() -> None:
    manifest = environment_manifest({"a": "text"})
    assert manifest["digests"]["a"].startswith("982d9e3eb996f559")
    assert manifest["versions"]["pyperplan"]
    assert manifest["versions"]["python"]


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="Cannot write") as caught:
        RunFolder(tmp_path / "file" / "runs", "coin", {})
    assert "--runs" in caught.value.next_step
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
