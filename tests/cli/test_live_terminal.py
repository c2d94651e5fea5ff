"""An answer that is streamed, in a real terminal: words first, then facts, then the map; and the same in `watch`."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.cli.test_see_terminal import PDDLEGO
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
