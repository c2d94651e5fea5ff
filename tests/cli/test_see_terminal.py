"""`play --confirm`, `--mode human`, `watch`, `show` and `resume` in a real terminal: keys go in, the screen is read."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.test_terminal import Terminal
from tests.evaluation.test_replay import RECORDED, RUNS
from tests.scale import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.terminal]

PDDLEGO = f"clear; env -u COLUMNS -u LINES LC_ALL=C.UTF-8 {sys.executable} -m pddlego"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    for number, name in enumerate(RUNS):  # the last one is the newest, whatever order a checkout wrote the files in
        folder = tmp_path / "runs" / name
        shutil.copytree(RECORDED / name, folder)
        for path in (folder, *folder.rglob("*")):
            os.utime(path, (time.time(), 1_700_000_000 + number * 60))
    made = Terminal(tmp_path, 80, 24)
    yield made
    made.close()


def still_usable(terminal: Terminal) -> None:
    """The shell echoes what is typed, and what was drawn is gone."""
    terminal.type("echo still $((40 + 2))")
    terminal.wait_for("still 42", "echo still $((40 + 2))")


def wait_until_asked(terminal: Terminal, text: str) -> None:
    """Wait for a question below `text`. A key that comes before the question is seen is not an answer to it."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        shown = terminal.screen()
        if text in shown and " a  accept" in "".join(shown.rstrip().splitlines()[-2:]):
            return
        time.sleep(0.05)
    raise AssertionError(f"no question came below '{text}':\n{terminal.screen()}")


def test_show_steps_back_and_forth(terminal: Terminal) -> None:
    terminal.type(f"{PDDLEGO} show runs/{RUNS[0]}; echo code $?")
    terminal.wait_for("step 0 of 21", "q Quit")
    terminal.press("Right")
    terminal.press("Right")
    terminal.wait_for("step 2 of 21", "● laundry room")
    terminal.press("Tab")
    terminal.press("Tab")
    terminal.wait_for("+ (at laundry_room)")
    terminal.press("Tab")
    terminal.wait_for("loc1 → laundry_room")
    terminal.press("Tab")
    terminal.wait_for("· have the coin  not yet")
    terminal.press("Tab")
    terminal.wait_for("request 2: edit")
    terminal.press("1")
    terminal.press("Left")
    terminal.wait_for("step 1 of 21")
    terminal.press("End")
    terminal.wait_for("won after 21 steps")
    terminal.press("q")
    shown = terminal.wait_for("code 0")
    assert "╭" not in shown
    still_usable(terminal)


def test_watch_lists_opens_and_follows(terminal: Terminal, tmp_path: Path) -> None:
    episodes = tmp_path / "live" / "episodes"
    episodes.mkdir(parents=True)
    lines = next((RECORDED / RUNS[0] / "episodes").iterdir()).read_bytes().splitlines(keepends=True)
    (episodes / "a-seed12.jsonl").write_bytes(b"".join(lines[:7]))
    terminal.type(f"{PDDLEGO} watch live; echo code $?")
    terminal.wait_for("1 episode, 0 ended", "q Quit")
    terminal.press("Enter")
    terminal.wait_for("step 1 of 1")
    with (episodes / "a-seed12.jsonl").open("ab") as file:
        for line in lines[7:]:
            file.write(line)
    terminal.wait_for("step 21 of 21")
    terminal.press("Escape")
    shutil.copy(next((RECORDED / RUNS[1] / "episodes").iterdir()), episodes / "b-seed3.jsonl")
    terminal.wait_for("2 episodes, 2 ended, 2 won")
    terminal.press("q")
    assert "╭" not in terminal.wait_for("code 0")
    still_usable(terminal)


def test_watch_opens_the_only_episode_of_a_run(terminal: Terminal) -> None:
    terminal.type(f"{PDDLEGO} watch {RUNS[0]}; echo code $?")
    terminal.wait_for("step 21 of 21", "q Quit")
    terminal.press("Escape")
    terminal.wait_for("1 episode, 1 ended, 1 won")
    terminal.press("q")
    terminal.wait_for("code 0")


@pytest.mark.parametrize("how", ["--plain", "TERM=dumb"])
def test_plain_lines_in_place_of_screens(terminal: Terminal, how: str) -> None:
    """At any place of a command, or by the environment; no name is cut."""
    option, variable = ("", how) if "=" in how else (how, "A=1")
    command = PDDLEGO.replace("LC_ALL", f"{variable} LC_ALL")
    terminal.type(f"{command} runs {option}; echo code $?")
    shown = terminal.wait_for("2 runs", "code 0")
    assert RUNS[0] in shown.replace("\n", "")
    assert "q Quit" not in shown
    terminal.type(f"{command} {option} show {RUNS[0]} --step 21; echo code $?")
    shown = terminal.wait_for("21  take coin", "won after 21 steps", "code 0")
    assert "q Quit" not in shown


def test_runs_is_a_way_to_every_episode(terminal: Terminal) -> None:
    terminal.type(f"{PDDLEGO} runs; echo code $?")
    terminal.wait_for("2 runs", "won  state", "game", "mode", "model", "cells", RUNS[1])
    terminal.press("Enter")
    terminal.wait_for("1 episode, 1 ended, 1 won")
    terminal.press("Enter")
    terminal.wait_for("step 0 of")
    terminal.press("q")
    terminal.wait_for("code 0")
    still_usable(terminal)


@pytest.mark.parametrize("ending", ["C-c", "TERM", "HUP"])
@pytest.mark.parametrize("command", ["watch", f"show runs/{RUNS[0]}"])
def test_however_it_ends_the_terminal_is_as_it_was(
    terminal: Terminal, tmp_path: Path, command: str, ending: str
) -> None:
    terminal.type(f"sh -c 'echo $$ > pid; exec {PDDLEGO[7:]} {command}'; echo code $?")
    terminal.wait_for("q Quit")
    if ending == "C-c":
        terminal.press("C-c")
        terminal.wait_for("code 0")
    else:
        os.kill(int((tmp_path / "pid").read_text()), getattr(signal, f"SIG{ending}"))
        terminal.wait_for("code 130")
    shown = terminal.screen()
    assert "╭" not in shown
    assert "Traceback" not in shown
    still_usable(terminal)


def test_confirming_plans(terminal: Terminal) -> None:
    terminal.type(f"{PDDLEGO} play coin --seed 12 --pace 0 --confirm plans,commands; echo code $?")
    terminal.wait_for("a plan for 'be in a room not yet visited'", " r  reject with a hint")
    terminal.press("r")
    terminal.wait_for("A hint for the model")
    terminal.type("south first")
    wait_until_asked(terminal, "2 calls")
    terminal.press("a")
    terminal.wait_for("a command", "open door to north")
    wait_until_asked(terminal, "a command")
    terminal.press("a")
    terminal.wait_for("step 1/50")
    terminal.press("C-c")
    terminal.wait_for("code 130")
    assert "interrupted after 1 step" in terminal.screen()
    still_usable(terminal)


def test_a_person_plays_with_completion(terminal: Terminal) -> None:
    terminal.type(f"{PDDLEGO} play coin --seed 12 --mode human; echo code $?")
    terminal.wait_for("possible commands")
    terminal.press("open door to n")
    terminal.press("Tab")
    terminal.wait_for("> open door to north")
    terminal.press("Enter")
    terminal.wait_for_after("revealing the laundry room", "possible commands")
    terminal.press("C-d")
    terminal.wait_for("code 130")
    still_usable(terminal)


def test_resume_on_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text("sed -i 's/(visited kitchen)/(visited kitchen) (visited loc4)/' $1\n")
    terminal.type(f"export EDITOR='sh {editor}'")
    terminal.type(f"{PDDLEGO} resume runs/{RUNS[0]} --from-step 2 --edit --pace 0.02; echo code $?")
    shown = terminal.wait_for("Saved in runs/")
    assert "╭" in shown
    assert " after " in shown
    time.sleep(0.1)
    still_usable(terminal)


def test_the_language_server_is_not_typed_at(terminal: Terminal) -> None:
    terminal.type(f"{PDDLEGO} lsp; echo code $?")
    assert "An editor starts it." in terminal.wait_for("code 2")


def test_a_long_question_leaves_its_keys_on_screen(terminal: Terminal) -> None:
    terminal.type("export EDITOR=false")
    terminal.type(f"{PDDLEGO} play coin --seed 12 --pace 0 --confirm edits; echo code $?")
    terminal.press("Enter")  # typed before the question is there: no answer to it
    terminal.wait_for(" r  reject with a hint", "a change of the problem", "step 0/50")
    terminal.press("e")
    terminal.wait_for("The editor failed", "a change of the problem")
    wait_until_asked(terminal, "The editor failed")
    terminal.press("a")
    terminal.wait_for("step 2/50")
    terminal.press("C-c")
    terminal.wait_for("code 130")
    still_usable(terminal)


@pytest.mark.parametrize("ending", ["TERM", "HUP"])
def test_a_kill_while_the_editor_is_open_leaves_the_terminal_as_it_was(
    terminal: Terminal, tmp_path: Path, ending: str
) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text("stty raw -echo; echo edi''ting; sleep 60\n")
    terminal.type(f"export EDITOR='sh {editor}'")
    command = f"exec {PDDLEGO[7:]} resume runs/{RUNS[0]} --from-step 2 --edit"
    terminal.type(f"sh -c 'echo $$ > pid; {command}'; echo code $?")
    terminal.wait_for("editing")
    os.kill(int((tmp_path / "pid").read_text()), getattr(signal, f"SIG{ending}"))
    terminal.wait_for("code 130")
    still_usable(terminal)


def test_a_kill_at_a_prompt_leaves_the_terminal_as_it_was(terminal: Terminal, tmp_path: Path) -> None:
    terminal.type(f"sh -c 'echo $$ > pid; exec {PDDLEGO[7:]} play coin --seed 12 --mode human'; echo code $?")
    terminal.wait_for("possible commands")
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGTERM)
    terminal.wait_for("code 130")
    still_usable(terminal)


def test_an_episode_is_picked_from_a_list(terminal: Terminal, tmp_path: Path) -> None:
    episodes = tmp_path / "runs" / RUNS[0] / "episodes"
    (journal,) = episodes.glob("*.jsonl")
    shutil.copy(journal, journal.with_stem(f"{journal.stem}-again"))
    terminal.type(f"{PDDLEGO} show runs/{RUNS[0]} --seed 12; echo code $?")
    terminal.wait_for("2 episodes", "Open")
    terminal.press("Enter")
    terminal.press("Enter")
    terminal.wait_for("step 0 of 21")
    terminal.press("q")
    terminal.wait_for("code 0")
