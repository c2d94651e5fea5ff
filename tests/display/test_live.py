"""The pages of `pddlego view`: what they show of run folders, however broken, and that they show nothing else."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from pddlego.cli.browsing import causes_of, checks_of, explain_episode, saved_cause
from pddlego.display.console import UNICODE
from pddlego.display.live import MOST_IN_PAGE, LivePages
from pddlego.display.opened import Explanation, Sources
from pddlego.methods.registry import make_codec, screen_of
from pddlego.runs.folders import EPISODES
from pddlego.runs.journal import JournalTail
from pddlego.runs.store import RESULTS
from pddlego.runs.summary import LastingError
from tests.evaluation.test_replay import RECORDED, RUNS
from tests.scale import PATIENCE

SOURCES = Sources(make_codec(), screen_of, UNICODE, explain_episode, saved_cause, causes_of, checker=checks_of)
JOURNAL = next((RECORDED / RUNS[0] / EPISODES).iterdir())
LINES = JOURNAL.read_bytes().splitlines(keepends=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in RUNS:
        shutil.copytree(RECORDED / name, tmp_path / "runs" / name)
    return tmp_path / "runs"


def data(pages: LivePages, path: str, **query: str) -> Any:
    page = pages.answer(unquote(path, errors="surrogateescape"), query or {"index": ""})
    assert page.status == 200, page.text
    return json.loads(page.text)


def test_runs_episodes_and_steps(root: Path) -> None:
    pages = LivePages(root, SOURCES)
    rows = data(pages, "")["rows"]
    assert {row["cells"][-1] for row in rows} == set(RUNS)
    run = next(row["href"] for row in rows if row["cells"][-1] == RUNS[0])
    (row,) = data(pages, run)["rows"]
    steps = data(pages, run, episode=row["key"])["steps"]
    assert [step["step"] for step in steps] == list(range(len(steps)))
    assert len(steps) > 3
    text = pages.answer(run, {}).text
    assert text.count("<script nonce=") == text.count("<style nonce=") == 1


def test_a_run_folder_may_be_named_itself(root: Path) -> None:
    pages = LivePages(root / RUNS[0], SOURCES)
    assert [row["href"] for row in data(pages, "")["rows"]] == [f"{RUNS[0]}/"]
    assert len(data(pages, f"{RUNS[0]}/")["rows"]) == 1
    assert pages.answer(f"{RUNS[1]}/", {}).status == 404


def test_an_episode_grows(tmp_path: Path) -> None:
    journal = tmp_path / "run" / EPISODES / JOURNAL.name
    journal.parent.mkdir(parents=True)
    pages, versions, counts = LivePages(tmp_path, SOURCES), [], []
    journal.write_bytes(b"")
    assert pages.answer("run/", {"episode": journal.name}).status == 404
    data(pages, "run/")
    assert pages.answer("run/", {"episode": journal.name}).text == "The episode has not begun.\n"
    for line in LINES:
        with journal.open("ab") as file:
            file.write(line)
        index = data(pages, "run/")
        versions.append(index["episodes"][journal.name]["version"])
        value = data(pages, "run/", episode=journal.name)
        counts.append(len(value["steps"]))
        assert value["opens"] == counts[-1] - 1 or line is LINES[-1]
    assert len(set(versions)) == len(LINES), "each event makes a new version"
    assert counts == sorted(counts)
    assert counts[-1] > 3
    assert data(pages, "run/")["rows"][0]["group"] == "won"


def lost(root: Path) -> str:
    """Make the recorded episode a lost one; the name of its journal."""
    journal = root / RUNS[0] / EPISODES / JOURNAL.name
    last = LINES[-1].replace(b'"outcome":"won"', b'"outcome":"lost"')
    assert last != LINES[-1]
    journal.write_bytes(b"".join([*LINES[:-1], last]))
    (root / RUNS[0] / RESULTS).unlink(missing_ok=True)
    return journal.name


def test_the_facts_of_a_lost_episode_are_checked_meanwhile(root: Path) -> None:
    error = LastingError("missing at", "missing (at kitchen)", 2)

    may_end = threading.Event()

    def explain(journal: Path) -> Explanation:
        assert may_end.wait(PATIENCE)
        return Explanation(list(JournalTail(journal, make_codec()).poll()), error, (error,))

    name = lost(root)
    pages = LivePages(
        root, Sources(make_codec(), screen_of, UNICODE, explain, saved_cause, causes_of, checker=checks_of)
    )
    run = f"{RUNS[0]}/"
    version = data(pages, run)["episodes"][name]["version"]
    first = data(pages, run, episode=name)
    assert first["tab"] == "why"
    assert "cause: the facts of the model are still being checked" in "\n".join(first["lines"])
    assert "no lasting error" not in "\n".join(first["lines"])
    may_end.set()
    end = time.monotonic() + PATIENCE
    while data(pages, run)["episodes"][name]["version"] == version:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert data(pages, run)["rows"][0]["group"] == "lost: missing at"
    value = data(pages, run, episode=name)
    assert value["steps"][value["opens"]]["step"] == 2
    text = "\n".join(
        value["lines"][line] for step in value["steps"] for pane in step["panes"][-1] for line in pane["lines"]
    )
    assert "cause: missing (at kitchen) after step 2" in text
    assert "still being checked" not in text


def test_a_check_that_fails_ends_nevertheless(root: Path) -> None:
    def explain(journal: Path) -> Explanation:
        raise ValueError("a bug")

    name = lost(root)
    pages = LivePages(
        root, Sources(make_codec(), screen_of, UNICODE, explain, saved_cause, causes_of, checker=checks_of)
    )
    run = f"{RUNS[0]}/"
    version = data(pages, run)["episodes"][name]["version"]
    data(pages, run, episode=name)
    end = time.monotonic() + PATIENCE
    while data(pages, run)["episodes"][name]["version"] == version:
        assert time.monotonic() < end
        time.sleep(0.01)
    value = data(pages, run, episode=name)
    head = [value["lines"][line] for line in value["steps"][-1]["panes"][-1][0]["lines"]]
    assert any("cause: no lasting error of the model is known" in line for line in head)


def test_nothing_is_written(root: Path) -> None:
    lost(root)
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    pages = LivePages(root, SOURCES)
    for row in data(pages, "")["rows"]:
        for episode in data(pages, row["href"])["rows"]:
            data(pages, row["href"], episode=episode["key"])
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../",
        "../secret",
        "../secret/",
        "/",
        "//etc/",
        "/etc/passwd",
        ".",
        "./",
        f"{RUNS[0]}/..",
        f"{RUNS[0]}/../../secret",
    ],
)
def test_no_path_leads_out_of_the_folder(root: Path, path: str) -> None:
    shutil.copytree(root / RUNS[0], root.parent / "secret")
    pages = LivePages(root, SOURCES)
    assert pages.answer(path, {}).status == 404
    for episode in (
        path,
        f"../../../secret/{EPISODES}/{JOURNAL.name}",
        str(root.parent / "secret" / EPISODES / JOURNAL.name),
    ):
        assert pages.answer(f"{RUNS[0]}/", {"episode": episode}).status == 404


def link_run(root: Path, secret: Path) -> None:
    (root / "link").symlink_to(secret)


def link_episodes(root: Path, secret: Path) -> None:
    (root / "link").mkdir()
    shutil.copy(root / RUNS[0] / "manifest.json", root / "link")
    (root / "link" / EPISODES).symlink_to(secret / EPISODES)


def link_journal(root: Path, secret: Path) -> None:
    (root / "link" / EPISODES).mkdir(parents=True)
    (root / "link" / EPISODES / JOURNAL.name).symlink_to(secret / EPISODES / JOURNAL.name)


def link_results(root: Path, secret: Path) -> None:
    (root / "link" / EPISODES).mkdir(parents=True)
    for name in (RESULTS, "manifest.json", "ledger.jsonl", "note.txt"):
        (root / "link" / name).symlink_to(secret / name)


def link_itself(root: Path, secret: Path) -> None:
    (root / "link").symlink_to(root / "link")


@pytest.mark.parametrize("make", [link_run, link_episodes, link_journal, link_results, link_itself])
def test_no_link_leads_out_of_the_folder(root: Path, make: Callable[[Path, Path], None]) -> None:
    secret = root.parent / "secret"
    shutil.copytree(root / RUNS[0], secret)
    (secret / "note.txt").write_text("secret")
    journal = secret / EPISODES / JOURNAL.name
    journal.write_bytes(journal.read_bytes().replace(b'"seed":12', b'"seed":987654', 1))
    make(root, secret)
    pages = LivePages(root, SOURCES)
    shown = pages.answer("", {}).text + pages.answer("", {"index": ""}).text + pages.answer("link/", {}).text
    for query in ({"index": ""}, {"episode": JOURNAL.name}):
        shown += pages.answer("link/", query).text
    assert "987654" not in shown
    assert '"secret"' not in shown
    assert pages.answer("link/", {"episode": JOURNAL.name}).status == 404


EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"

BROKEN: dict[str, Callable[[Path], object]] = {
    "no manifest": lambda run: (run / "manifest.json").unlink(),
    "a manifest that is none": lambda run: (run / "manifest.json").write_text("[" * 100_000),
    "results that are none": lambda run: (run / RESULTS).write_bytes(b"\x00\xff\n" * 1_000),
    "a journal without sense": lambda run: (run / EPISODES / JOURNAL.name).write_bytes(b"{}\n" * 10_000),
    "a journal cut off": lambda run: (run / EPISODES / JOURNAL.name).write_bytes(b"".join(LINES)[:2_000]),
    "a damaged line": lambda run: (run / EPISODES / JOURNAL.name).write_bytes(
        b"".join([*LINES[:9], b"no\n", *LINES[9:]])
    ),
    "a journal that is a folder": lambda run: (run / EPISODES / "a.jsonl").mkdir(),
    "a pipe": lambda run: os.mkfifo(run / EPISODES / "a.jsonl"),
    "a file as folder": lambda run: (run / EPISODES).rename(run / "gone").joinpath("../episodes").write_text(""),
    "a name that is not UTF-8": lambda run: run.rename(os.fsdecode(os.fsencode(run) + b"\xff")),
    "a name with a script": lambda run: run.rename(run.with_name(EVIL.replace("/", "∕"))),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_run_hides_no_other(root: Path, name: str) -> None:
    run = root / RUNS[0]
    (run / RESULTS).unlink(missing_ok=True)
    BROKEN[name](run)
    pages = LivePages(root, SOURCES)
    rows = data(pages, "")["rows"]
    assert RUNS[1] in {row["cells"][-1] for row in rows}
    for row in rows:
        text = pages.answer(unquote(row["href"], errors="surrogateescape"), {}).text
        assert "<script>alert" not in text
        assert "<img" not in text
        for episode in data(pages, row["href"])["rows"]:
            assert pages.answer(unquote(row["href"]), {"episode": episode["key"]}).text


def test_a_huge_journal_is_not_read(root: Path) -> None:
    journal = root / RUNS[0] / EPISODES / JOURNAL.name
    (root / RUNS[0] / RESULTS).unlink(missing_ok=True)
    pages = LivePages(root, SOURCES)
    data(pages, f"{RUNS[0]}/")
    os.truncate(journal, MOST_IN_PAGE + 1)
    page = pages.answer(f"{RUNS[0]}/", {"episode": journal.name})
    assert (page.status, "Use: pddlego show" in page.text) == (404, True)
