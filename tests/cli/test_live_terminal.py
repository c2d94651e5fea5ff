"""The live screen of `play` in a real terminal: an answer that is streamed, maps, keys; and the same in `watch`."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from tests.cli.test_see_terminal import PDDLEGO, still_usable
from tests.cli.test_terminal import Terminal
from tests.coin_endpoint import thinking_aloud
from tests.model_server import ModelServer

pytestmark = [pytest.mark.slow, pytest.mark.terminal]


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (200, 50)])
def test_an_answer_is_seen_as_it_is_written(tmp_path: Path, model_server: ModelServer, width: int, height: int) -> None:
    words, end = threading.Event(), threading.Event()
    model_server.replies = [lambda body: thinking_aloud(body, before_words=words, before_end=end)]
    playing, watching = (Terminal(tmp_path, item, height) for item in (width, width + 1))
    try:
        arguments = f"coin --seed 12 --mode edit --model m --base-url {model_server.url} --pace 0 --max-steps 1"
        playing.type(f"{PDDLEGO} play {arguments}; echo code $?")
        playing.wait_for("behind", "nothing is known yet")
        watching.type(f"{PDDLEGO} watch runs/*")  # opens the only episode
        watching.wait_for("behind", "nothing is known yet")
        words.set()
        for terminal in (playing, watching):
            for shown in ("● kitchen", "(streaming)", "asking m (edit)"):  # a screen may be seen half drawn
                terminal.wait_for(shown)
        end.set()
        playing.wait_for("code 1")
    finally:
        words.set()
        end.set()
        playing.close()
        watching.close()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (200, 50)])
def test_a_map_is_drawn_of_an_episode_without_problems(tmp_path: Path, width: int, height: int) -> None:
    playing = Terminal(tmp_path, width, height)
    try:
        playing.type(f"{PDDLEGO} play coin --seed 12 --mode act --pace 0 --max-steps 9; echo code $?")
        playing.wait_for("code 1", "map as the built-in reader reads the game", "● ")
    finally:
        playing.close()


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
def test_t_is_a_switch_while_an_episode_is_played(tmp_path: Path, width: int, height: int) -> None:
    playing = Terminal(tmp_path, width, height)
    try:
        playing.type(f"{PDDLEGO} play coin --seed 12 --mode act --pace 3; echo code $?")
        playing.wait_for("map as the built-in reader reads the game", " t  hide map")
        playing.press("z")  # has no effect
        playing.press("t")
        shown = playing.wait_for(" t  draw map")
        assert "map as" not in shown
        assert not any(line.strip() in {"z", "t", "zt"} for line in shown.splitlines())
        playing.press("t")
        playing.wait_for("map as the built-in reader reads the game", " t  hide map")
        playing.press("C-c")
        assert " t  " not in playing.wait_for("code 130")
        still_usable(playing)
    finally:
        playing.close()


def test_an_episode_waits_in_a_pause(tmp_path: Path) -> None:
    playing = Terminal(tmp_path, 80, 24)
    try:
        playing.type(f"{PDDLEGO} play coin --seed 12 --pace 1; echo code $?")
        playing.wait_for(" space  pause")
        playing.press("Space")
        playing.wait_for(" space  go on")
        (journal,) = tmp_path.glob("runs/*/episodes/*.jsonl")
        at_pause = len(journal.read_bytes().splitlines())
        playing.press("t")
        playing.wait_for(" t  hide checks")
        assert len(journal.read_bytes().splitlines()) <= at_pause + 1, "the event at which it waits"
        playing.press("Space")
        playing.wait_for("code 0")
        playing.type(f"clear; {PDDLEGO} play coin --seed 12 --pace 3; echo code $?")
        playing.wait_for(" space  pause")
        playing.press("Space")
        playing.wait_for(" space  go on")
        playing.press("C-c")
        playing.wait_for("code 130")
        still_usable(playing)
    finally:
        playing.close()


def test_a_key_counts_before_the_game_has_started(tmp_path: Path) -> None:
    playing = Terminal(tmp_path, 80, 24)
    program = tmp_path / "waits.py"
    program.write_text(
        "import pathlib, time\n"
        "from pddlego.cli import main, watching\n"
        "play = watching.play\n"
        "def late(*arguments, **others):\n"
        "    print('starting')\n"
        "    while not pathlib.Path('go').exists():\n"
        "        time.sleep(0.01)\n"
        "    assert not pathlib.Path('fails').exists()\n"
        "    return play(*arguments, **others)\n"
        "watching.play = late\n"
        "main()\n"
    )
    try:
        command = f"clear; {PDDLEGO.removesuffix('-m pddlego')[7:]} waits.py play coin --seed 12 --pace 3; echo code $?"
        playing.type(command)
        playing.wait_for("starting\n")
        playing.press("t")
        playing.press("z")
        playing.press("C-c")
        assert not any(line.strip() in {"z", "t", "tz"} for line in playing.wait_for("code 130").splitlines())
        still_usable(playing)
        (tmp_path / "fails").touch()
        playing.type(f"touch go; {command}")
        playing.wait_for("code 3")
        still_usable(playing)
        playing.type(f"rm go fails; {command}")
        playing.wait_for("starting\n")
        playing.press("t")
        (tmp_path / "go").touch()
        playing.wait_for(" t  hide checks")
        playing.press("C-c")
        playing.wait_for("code 130")
        still_usable(playing)
    finally:
        playing.close()


def test_keys_are_read_again_after_a_stop(tmp_path: Path) -> None:
    """A shell sets its own modes of the terminal when a process is stopped, and keeps them when it goes on."""
    playing = Terminal(tmp_path, 80, 24)
    try:
        playing.type("exec bash --norc")
        playing.type(f"{PDDLEGO} play coin --seed 12 --pace 3; echo code $?")
        playing.wait_for("step 0/50", " t  check facts")
        playing.press("C-z")
        playing.wait_for("Stopped")
        playing.type("fg")
        playing.wait_for(" t  check facts", "╰")
        playing.press("t")
        playing.wait_for(" t  hide checks")
        playing.press("C-c")
        playing.wait_for("Saved in")  # until then, keys are those of the screen
        still_usable(playing)
    finally:
        playing.close()


@pytest.mark.parametrize("ending", ["TERM", "HUP", "won"])
def test_keys_are_echoed_however_the_episode_ends(tmp_path: Path, ending: str) -> None:
    playing = Terminal(tmp_path, 80, 24)
    try:
        pace = 0 if ending == "won" else 2
        playing.type(f"sh -c 'echo $$ > pid; exec {PDDLEGO[7:]} play coin --seed 12 --pace {pace}'; echo code $?")
        if ending == "won":
            playing.wait_for("code 0")
        else:
            playing.wait_for("step 0/50", " t  check facts")
            os.kill(int((tmp_path / "pid").read_text()), getattr(signal, f"SIG{ending}"))
            playing.wait_for("code 130")
        still_usable(playing)
    finally:
        playing.close()


def test_a_question_takes_all_keys(tmp_path: Path) -> None:
    playing = Terminal(tmp_path, 80, 24)
    try:
        playing.type(f"{PDDLEGO} play coin --seed 12 --pace 0 --confirm plans; echo code $?")
        playing.wait_for("a plan for", " r  reject with a hint")
        playing.press("tr")  # both are read together, as on a busy machine
        playing.wait_for("A hint for the model")
        playing.type("t south first")
        playing.wait_for("2 calls", " r  reject with a hint")
        assert " t  " not in playing.screen()
        playing.press("C-c")
        playing.wait_for("code 130")
        still_usable(playing)
    finally:
        playing.close()


@pytest.mark.parametrize("around", ["< /dev/null", "| cat", "--plain", "&"])
def test_keys_are_left_to_the_shell(tmp_path: Path, around: str) -> None:
    """Without a terminal as input or output, with lines, and in the background."""
    playing = Terminal(tmp_path, 80, 24)
    try:
        playing.type("exec bash --norc")
        playing.type(f"{PDDLEGO} play coin --seed 12 --pace 0.1 {around}")
        playing.wait_for("Saved in")
        still_usable(playing)
        assert " t  check" not in playing.screen()
    finally:
        playing.close()
