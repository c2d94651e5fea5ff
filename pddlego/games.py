"""Stable imports for packages that add a game engine."""

from pddlego.methods.textgames.games import Closes, Game, GameSpec, Lists, Observation, Solves

__all__ = ["Closes", "Game", "GameSpec", "Lists", "Observation", "Solves"]
