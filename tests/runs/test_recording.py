"""Following an episode: every event to every listener, and nothing left open."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pddlego.episode.events import Event, Retrying
from pddlego.models.base import RetryNotice
from pddlego.runs.journal import follow


class Game:
    """An episode of one event, which has something open as long as it is played."""

    def __init__(self) -> None:
        self.is_open = False

    def events(self) -> Iterator[Event]:
        self.is_open = True
        try:
            yield Retrying(1, RetryNotice("429", 1, 6, 0.5))
            raise AssertionError("nobody goes on")
        finally:
            self.is_open = False


def failing(event: Event, seconds: float) -> None:
    raise OSError(28, "No space left on device")


def test_a_game_is_not_left_open_when_a_listener_fails() -> None:
    game = Game()
    episode = game.events()
    with pytest.raises(OSError, match="No space left"):
        follow(episode, [failing])
    assert not game.is_open
