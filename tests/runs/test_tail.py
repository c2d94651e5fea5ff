"""Journals that grow while they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pddlego.display.console import UNICODE
from pddlego.display.watch import Watch
from pddlego.episode.events import Event, Outcome
from pddlego.errors import JournalError, UsageError
from pddlego.methods.registry import make_codec, renderer_of
from pddlego.runs.journal import dump_line
from pddlego.runs.tail import CHUNK, FolderTail, JournalTail
from tests.display.rendering import drawn
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
    folder = FolderTail(run)
    assert not folder.poll()
    write(run, "a.jsonl", b"".join(LINES))
    assert folder.poll()
    (peek,) = folder.peeks.values()
    assert (peek.setting, peek.mode, peek.model, peek.seed, peek.most) == ("coin", "edit", "reader", 12, 50)
    assert (peek.step, peek.outcome, peek.command) == (21, Outcome.WON, "take coin")
    write(run, "b.jsonl", b"".join(LINES[:7]))
    assert folder.poll()
    assert not folder.poll()
    (_, running) = sorted(folder.peeks.values(), key=lambda item: item.path)
    assert (running.step, running.outcome) == (1, None)
    write(run, "b.jsonl", LINES[7][:10])
    folder.poll()
    write(run, "b.jsonl", LINES[7][10:])
    assert folder.poll()
    assert max(peek.step for peek in folder.peeks.values() if peek.outcome is None) == 2


def test_the_beginning_and_the_end_are_enough(run: Path) -> None:
    """A line in the middle that is longer than what is read of the end."""
    long = LINES[2].replace(b'"content":"', b'"content":"' + b"x" * (3 * CHUNK), 1)
    write(run, "a.jsonl", b"".join([*LINES[:2], long]))
    write(run, "b.jsonl", b"".join([*LINES[:2], long, *LINES[3:]]))
    folder = FolderTail(run)
    folder.poll()
    begun, ended = sorted(folder.peeks.values(), key=lambda item: item.path)
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
    watch = Watch(FolderTail(run), make_codec(), renderer_of, UNICODE)
    assert len(watch.peeks) == 2
    assert "take coin" in drawn(watch.picture(100, 24), 100, 24)


def test_watching(run: Path) -> None:
    now = [1000.0]
    write(run, "a.jsonl", b"".join(LINES[:7]))
    watch = Watch(FolderTail(run), make_codec(), renderer_of, UNICODE, clock=lambda: now[0])
    assert "1 episode, 0 ended" in drawn(watch.picture(100, 24), 100, 24)
    assert watch.press("enter")
    assert "step 1 of 1" in drawn(watch.picture(100, 24), 100, 24)
    write(run, "a.jsonl", b"".join(LINES[7:]))
    assert watch.tick()
    assert "step 21 of 21" in drawn(watch.picture(100, 24), 100, 24)
    assert watch.press("escape")
    assert "1 episode, 1 ended, 1 won" in drawn(watch.picture(100, 24), 100, 24)
    write(run, "b.jsonl", b"".join(LINES[:7]))
    assert watch.tick()
    assert watch.press("down")
    assert watch.chosen is not None
    assert watch.chosen.name == "a.jsonl"
    assert watch.press("g")
    shown = drawn(watch.picture(100, 30), 100, 30)
    assert "1/50 running" in shown
    assert "21/50 won" in shown
    assert watch.press("g")
    assert not watch.press("q")


def test_watching_goes_on_to_the_next_run_from_the_list(tmp_path: Path) -> None:
    runs = [tmp_path / name for name in ("one", "two")]
    for run in runs:
        (run / "episodes").mkdir(parents=True)
    write(runs[0], "a.jsonl", b"".join(LINES))
    newest = list(runs[:1])
    watch = Watch(FolderTail(runs[0], lambda: newest[-1]), make_codec(), renderer_of, UNICODE)
    watch.press("enter")
    newest.append(runs[1])
    watch.tick()
    assert watch.folder.run == runs[0], "an episode is open"
    watch.press("escape")
    watch.tick()
    assert watch.folder.run == runs[1]
    assert "no episode has begun" in drawn(watch.picture(80, 24), 80, 24)


def test_watching_survives_the_end_of_the_folder_of_runs(run: Path) -> None:
    def gone() -> Path:
        raise UsageError("runs has no runs", "Nothing was played there.", "")

    write(run, "a.jsonl", b"".join(LINES))
    watch = Watch(FolderTail(run, gone), make_codec(), renderer_of, UNICODE)
    watch.tick()
    assert watch.folder.run == run


def test_an_empty_folder_says_so(run: Path) -> None:
    watch = Watch(FolderTail(run), make_codec(), renderer_of, UNICODE)
    assert watch.press("enter")
    assert watch.press("down")
    assert "no episode has begun" in drawn(watch.picture(80, 24), 80, 24)


def test_a_journal_of_ours(run: Path, story: list[Event]) -> None:
    write(run, "a.jsonl", "".join(dump_line(item, 0.0) for item in story).encode())
    assert [event for event, _ in JournalTail(run / "episodes" / "a.jsonl", make_codec()).poll()][1:] == story[1:]


def test_a_damaged_journal_is_said_to_be_and_opening_it_ends_nothing(run: Path) -> None:
    write(run, "bad.jsonl", LINES[0] + b"noise\n")
    watch = Watch(FolderTail(run), make_codec(), renderer_of, UNICODE)
    assert "damaged" in drawn(watch.picture(100, 24), 100, 24)
    assert watch.press("enter")
    assert "bad.jsonl is damaged" in drawn(watch.picture(300, 24), 300, 24)
    assert watch.press("escape")
    assert watch.press("g")
    watch.picture(100, 24)
    assert watch.press("escape")
    assert not watch.showing_grid


def test_an_episode_that_is_not_on_screen_is_forgotten(run: Path) -> None:
    for name in ("a", "b", "c"):
        write(run, f"{name}-seed1.jsonl", b"".join(LINES))
    watch = Watch(FolderTail(run), make_codec(), renderer_of, UNICODE)
    for _ in range(3):
        watch.press("enter")
        watch.picture(100, 24)
        watch.press("escape")
        watch.press("down")
    watch.tick()
    assert not watch._opened


@pytest.mark.parametrize("data", [b"", LINES[0][:30]])
def test_a_journal_that_is_just_begun_is_no_damage(run: Path, data: bytes) -> None:
    write(run, "a.jsonl", data)
    folder = FolderTail(run)
    folder.poll()
    assert [peek.damaged for peek in folder.peeks.values()] == [False]
    write(run, "a.jsonl", LINES[0][len(data) :])
    folder.poll()
    assert [(peek.seed, peek.damaged) for peek in folder.peeks.values()] == [(12, False)]


def test_an_ended_episode_opens_at_its_end_and_steps_back(run: Path) -> None:
    write(run, "a.jsonl", b"".join(LINES))
    watch = Watch(FolderTail(run), make_codec(), renderer_of, UNICODE)
    watch.press("enter")
    assert "step 21 of 21" in drawn(watch.picture(100, 24), 100, 24)
    watch.press("left")
    assert "step 20 of 21" in drawn(watch.picture(100, 24), 100, 24)
