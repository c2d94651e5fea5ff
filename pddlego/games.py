"""Stable imports for packages that add a game engine."""

from pddlego.methods.textgames.games import Game, GameSpec, Observation

__all__ = ["Game", "GameSpec", "Observation"]
