"""The adapter to the game engine: commands in, observations out."""

from pddlego.methods.textgames.games.base import Game, Observation

__all__ = ["Game", "Observation"]
