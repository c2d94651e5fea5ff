"""The Python interface, as a user calls it."""

from __future__ import annotations

import pytest

import pddlego


@pytest.mark.parametrize("game", ["ferry", "text-ferry"])
def test_play_without_a_mode_takes_the_first_mode_of_the_game(game: str) -> None:
    assert pddlego.play(game).outcome.value == "won"
