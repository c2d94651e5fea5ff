"""A lost episode without its first error: where it goes on, and with which problem."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.resume import RecordedGame, moment_at
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.truth.first_error import FirstError, corrected, first_error
from pddlego.methods.textgames.truth.recorded import check_recorded
from pddlego.methods.textgames.world import Restart


@dataclass(frozen=True)
class Correction:
    """The first error of an episode, and where the episode goes on without it."""

    error: FirstError
    restart: Restart


def correction(played: RecordedGame, setting: GameSetting) -> Correction | None:
    """The correction of a recorded episode in `setting`, as it was loaded; None if no error was found.

    Raises `UsageError` if the built-in reader cannot read the game.
    """
    error = first_error(tuple(check_recorded(played.events, setting, TextGameOptions())))
    if error is None:
        return None
    moment = moment_at(played, error.step)
    symmetric = {name for name, rule in setting.claims.items() if rule.symmetric}
    if not error.checked.rejected:
        return Correction(error, replace(moment, corrected=corrected(moment.before, error, symmetric)))
    problem = corrected(moment.latest, error, symmetric)
    return Correction(error, replace(moment, before=problem, known=len(moment.commands) + 1, corrected=problem))
