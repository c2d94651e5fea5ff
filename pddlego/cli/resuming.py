"""A recorded episode of a text game, as what can be gone back to."""

from __future__ import annotations

from pddlego.errors import UsageError
from pddlego.evaluation.recorded import Recorded
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.play import episode_of, first_domain
from pddlego.methods.textgames.resume import RecordedGame
from pddlego.methods.textgames.settings import GameSetting


def recorded_game(recorded: Recorded) -> RecordedGame:
    """The episode. Raises `UsageError` for one of another method: there is no game to go back to."""
    setting, options = recorded.played.setting, recorded.played.options
    if not isinstance(setting, GameSetting) or not isinstance(options, TextGameOptions):
        why = f"It was played by the method {recorded.played.method_name}."
        raise UsageError(f"{recorded.journal.path.name} is no text game", why, "Name an episode of a text game.")
    events = recorded.events
    limits, retries = recorded.started.limits, recorded.retries
    episode = episode_of(recorded.cell, setting, options, limits, retries=retries, domain=first_domain(events))
    return RecordedGame(recorded.journal.path, episode, events)
