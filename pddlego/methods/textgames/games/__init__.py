"""The adapter to the game engine: commands in, observations out."""

from pddlego.methods.textgames.games.engines import Game, Observation

__all__ = ["Game", "Observation"]
