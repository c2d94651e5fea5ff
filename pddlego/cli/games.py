"""The arguments of `pddlego games`."""

from __future__ import annotations


def games() -> None:
    """List what can be played."""
    from pddlego.cli.run_games import run_games

    run_games()
