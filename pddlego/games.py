"""What a package that offers a game engine imports: stable names for what lives in the room of text games."""

from pddlego.methods.textgames.games import Game, GameSpec, Observation

__all__ = ["Game", "GameSpec", "Observation"]
