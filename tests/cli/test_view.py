"""`pddlego view` as a process: its address, its end, what a user can get wrong, and its pages in a real browser."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pddlego.runs.folders import EPISODES
from tests.children import started
from tests.cli.command import run
from tests.cli.test_play import three_lines
from tests.evaluation.test_replay import RECORDED, RUNS
from tests.report.test_html import browser
from tests.scale import PATIENCE
from tests.serving import get

__all__ = ["browser"]  # a fixture

JOURNAL = next((RECORDED / RUNS[0] / EPISODES).iterdir())
LINES = JOURNAL.read_bytes().splitlines(keepends=True)
EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@contextmanager
def viewing(
    folder: Path, name: str = "runs", root: str = "runs", **environment: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process of `pddlego view` with the folder or the run of this name, and the address that it prints."""
    command = [sys.executable, "-m", "pddlego", "view", name]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with started(command, cwd=folder, env={**os.environ, **environment}, **pipes) as child:
        assert child.stdout is not None
        match = re.fullmatch(
            rf"Runs in {root}: (http://127\.0\.0\.1:\d+/\S{{32}}/) \(stop with Ctrl-C\)\n", child.stdout.readline()
        )
        assert match
        yield child, match[1]


def test_ctrl_c_ends_it_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with viewing(tmp_path) as (child, address):
        assert get(f"{address}?index")[0] == 200
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=PATIENCE)
    assert (child.returncode, output, errors) == (130, "", "Interrupted.\n")


def test_what_ignores_ctrl_c_says_what_ends_it(tmp_path: Path) -> None:
    """So a script starts it in the background."""
    (tmp_path / "runs").mkdir()
    ignoring = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from pddlego.cli import main; main()"
    command = [sys.executable, "-c", ignoring, "view", "runs"]
    with started(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        line = child.stdout.readline()
        assert line.endswith(f"(stop with 'kill {child.pid}': Ctrl-C (SIGINT) is ignored here)\n")
        child.terminate()
        child.wait(PATIENCE)


def test_a_port_in_use_and_a_folder_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        errors = run("view", "--port", str(port), cwd=tmp_path).stderr
    assert three_lines(errors)
    assert errors.startswith(f"Error: Port {port} cannot be used\n")
    assert len(errors.splitlines()) == 3
    errors = run("view", "nowhere", cwd=tmp_path).stderr
    assert three_lines(errors)
    assert errors.startswith("Error: Unknown run nowhere\n")
    (tmp_path / "runs").rmdir()
    errors = run("view", cwd=tmp_path).stderr
    assert three_lines(errors)
    assert errors.startswith("Error: runs is not a folder with runs\n")


@pytest.mark.parametrize("name", ["night", "ni", "runs/night", "latest"])
def test_a_run_is_named_as_elsewhere(tmp_path: Path, name: str) -> None:
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "runs" / "night")
    with viewing(tmp_path, name, "runs/night") as (_, address):
        assert get(f"{address}night/?index")[0] == 200


def test_no_page_has_a_key(tmp_path: Path) -> None:
    """Neither the keys of the environment, which the process of the server has, nor its token."""
    shutil.copytree(RECORDED / RUNS[0], tmp_path / "runs" / RUNS[0])
    key = "sk-canary1-0123456789abcdef"
    with viewing(tmp_path, OPENAI_API_KEY=key, OPENAI_BASE_URL=f"http://u:{key}@127.0.0.1:1") as (_, address):
        paths = ("", "?index", f"{RUNS[0]}/", f"{RUNS[0]}/?index", f"{RUNS[0]}/?episode={JOURNAL.name}", "none/")
        text = "".join(get(address + path)[1] for path in paths)
    assert len(text) > 10_000
    assert key not in text
    assert address.split("/")[3] not in text


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_a_running_episode_grows_before_the_eyes(tmp_path: Path, browser: Any, width: int) -> None:
    from playwright.sync_api import expect

    journal = tmp_path / "runs" / "now" / EPISODES / JOURNAL.name
    journal.parent.mkdir(parents=True)
    shutil.copytree(RECORDED / RUNS[1], tmp_path / "runs" / RUNS[1])
    evil = [line.replace(b"You are in", EVIL.encode() + b" You are in") for line in LINES]
    evil = [line.replace(b"kitchen", b"<img/src=x/onerror=alert`3`>") for line in evil]  # a room of the map
    half = next(number for number, line in enumerate(evil) if b'"step":3' in line)
    journal.write_bytes(b"".join(evil[:half]))
    complaints: list[str] = []
    expect.set_options(timeout=PATIENCE * 1_000)
    with viewing(tmp_path) as (child, address):
        page = browser.new_page(viewport={"width": width, "height": 800})
        page.set_default_timeout(PATIENCE * 1_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on("request", lambda request: complaints.append(request.url) if address not in request.url else None)
        page.goto(address)
        assert page.locator("#count").inner_text() == "2 of 2 runs"
        bars = page.locator("#rows .counts").evaluate_all("all => all.map(one => one.ariaLabel)")
        assert "1 won, 0 lost, 0 open" in bars
        page.locator("#rows tr", has_text="now").click()
        page.wait_for_selector("#rows .group")
        assert page.locator("#rows .group").inner_text().startswith("not ended")
        page.locator("#rows tr[tabindex]").click()
        expect(page.locator("#step")).to_contain_text("step 2 of 2")
        assert EVIL.partition(">")[0] in " ".join(page.locator("#sides").inner_text().split())  # phones wrap lines
        with journal.open("ab") as file:
            file.write(b"".join(evil[half:]))
        expect(page.locator(".side h1")).to_contain_text("won")
        step = page.locator("#step").inner_text()
        assert re.match(r"step (\d+) of \1:", step), "it follows to the end"
        page.locator("#back").click()
        expect(page.locator("#rows .group")).to_contain_text("won")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_text("← all runs").click()
        expect(page.locator("#count")).to_have_text("2 of 2 runs")
        assert complaints == []
        child.send_signal(signal.SIGINT)
        page.wait_for_selector("#offline:visible")
        page.close()
