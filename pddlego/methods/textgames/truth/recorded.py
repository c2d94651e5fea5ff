"""What is true of the facts of a recorded episode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from pddlego.episode.events import Event, Started
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.events import FactsChecked, GameRead
from pddlego.methods.textgames.loading import setting_for
from pddlego.methods.textgames.options import MODES, PLANNING, TextGameOptions
from pddlego.methods.textgames.play import make_method, make_reference
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.truth.reference import Checker, GameReader, Reference, checked
from pddlego.models import Model
from pddlego.runs.store import DOMAIN


def check_recorded(
    events: Sequence[Event], setting: GameSetting, options: TextGameOptions, model: Model | None = None
) -> Iterator[Event]:
    """A recorded episode in `setting` with what is true of each problem.

    It is compared with what `model` reads, else with the game's own facts where its engine reports them, else with what
    the built-in reader reads. Where the model writes no problem, those of the reference are added. Raises `UsageError`
    if the reader cannot read the game, `ModelError` if the model cannot answer, and `EngineError` if the game cannot.
    """
    started = next(event for event in events if isinstance(event, Started))
    variant = parse_variant(started.mode, MODES)
    played = setting_for(setting, variant, str(started.details.get(DOMAIN, "")))
    seed = started.seed or 0
    reference = make_reference(played, seed) if model is None else Reference(played, model)
    recorded = (event for event in events if not isinstance(event, (FactsChecked, GameRead)))
    plans = variant.mode.name in PLANNING
    checker = Checker(played, make_method(started.mode, played, seed), reference) if plans else GameReader(reference)
    with closing(checker):
        yield from checked(recorded, checker)
