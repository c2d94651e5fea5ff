"""Journals that grow while they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pddlego.episode.events import Event, Outcome
from pddlego.errors import JournalError, UsageError
from pddlego.methods.registry import make_codec
from pddlego.runs.journal import JournalTail, dump_line
from pddlego.runs.listing import CHUNK, EpisodeList
from tests.evaluation.test_replay import RECORDED, RUNS

LINES = next((RECORDED / RUNS[0] / "episodes").iterdir()).read_bytes().splitlines(keepends=True)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "episodes").mkdir()
    return tmp_path


def write(run: Path, name: str, data: bytes) -> None:
    with (run / "episodes" / name).open("ab") as file:
        file.write(data)


def test_a_journal_is_followed_by_whole_lines(run: Path) -> None:
    tail = JournalTail(run / "episodes" / "a.jsonl", make_codec())
    assert list(tail.poll()) == []
    write(run, "a.jsonl", b"".join(LINES[:3]) + LINES[3][:40])
    first = list(tail.poll())
    assert [event.type for event, _ in first] == ["started", "observed", "asked"]
    assert list(tail.poll()) == []
    write(run, "a.jsonl", LINES[3][40:] + LINES[4])
    assert [event.type for event, _ in tail.poll()] == ["answered", "accepted"]
    write(run, "a.jsonl", b"noise\n")
    with pytest.raises(JournalError, match="Line 6 is not an event"):
        list(tail.poll())


def test_a_folder_is_seen_at_a_glance_and_new_episodes_appear(run: Path) -> None:
    folder = EpisodeList(run)
    assert not folder.poll()
    write(run, "a.jsonl", b"".join(LINES))
    assert folder.poll()
    (status,) = folder.episodes.values()
    assert (status.setting, status.mode, status.model, status.seed, status.most) == ("coin", "edit", "reader", 12, 50)
    assert (status.step, status.outcome, status.command) == (21, Outcome.WON, "take coin")
    write(run, "b.jsonl", b"".join(LINES[:7]))
    assert folder.poll()
    assert not folder.poll()
    (_, running) = sorted(folder.episodes.values(), key=lambda item: item.path)
    assert (running.step, running.outcome) == (1, None)
    write(run, "b.jsonl", LINES[7][:10])
    folder.poll()
    write(run, "b.jsonl", LINES[7][10:])
    assert folder.poll()
    assert max(status.step for status in folder.episodes.values() if status.outcome is None) == 2


def test_the_beginning_and_the_end_are_enough(run: Path) -> None:
    """A line in the middle that is longer than what is read of the end."""
    long = LINES[2].replace(b'"content":"', b'"content":"' + b"x" * (3 * CHUNK), 1)
    write(run, "a.jsonl", b"".join([*LINES[:2], long]))
    write(run, "b.jsonl", b"".join([*LINES[:2], long, *LINES[3:]]))
    folder = EpisodeList(run)
    folder.poll()
    begun, ended = sorted(folder.episodes.values(), key=lambda item: item.path)
    assert (begun.step, begun.outcome, begun.seed) == (0, None, 12)
    assert (ended.step, ended.outcome) == (21, Outcome.WON)


ENDLESS = LINES[0].replace(b'"seed":12', b'"seed":1e999')
BAD = [b"", b"noise", b"noise\n", b'{"event":3}\n', b'{"event":{"type":"ended"}}\n', b"[]\n", ENDLESS]


@pytest.mark.parametrize("data", BAD)
def test_damage_stops_nobody(run: Path, data: bytes) -> None:
    write(run, "bad.jsonl", data)
    write(run, "good.jsonl", b"".join(LINES))
    (run / "episodes" / "notes.txt").write_text("mine")
    (run / "episodes" / "folder.jsonl").mkdir()
    os.mkfifo(run / "episodes" / "pipe.jsonl")
    folder = EpisodeList(run)
    folder.poll()
    assert sorted(folder.episodes) == ["bad.jsonl", "good.jsonl"]
    assert folder.episodes["good.jsonl"].command == "take coin"


def test_watching_survives_the_end_of_the_folder_of_runs(run: Path) -> None:
    def gone() -> Path:
        raise UsageError("runs has no runs", "Nothing was played there.", "")

    write(run, "a.jsonl", b"".join(LINES))
    folder = EpisodeList(run, gone)
    folder.poll()
    assert not folder.poll()
    assert folder.run == run


def test_a_journal_of_ours(run: Path, story: list[Event]) -> None:
    write(run, "a.jsonl", "".join(dump_line(item, 0.0) for item in story).encode())
    assert [event for event, _ in JournalTail(run / "episodes" / "a.jsonl", make_codec()).poll()][1:] == story[1:]


@pytest.mark.parametrize("data", [b"", LINES[0][:30]])
def test_a_journal_that_is_just_begun_is_no_damage(run: Path, data: bytes) -> None:
    write(run, "a.jsonl", data)
    folder = EpisodeList(run)
    folder.poll()
    assert [status.damaged for status in folder.episodes.values()] == [False]
    write(run, "a.jsonl", LINES[0][len(data) :])
    folder.poll()
    assert [(status.seed, status.damaged) for status in folder.episodes.values()] == [(12, False)]
