"""What is true of the facts of a recorded episode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pddlego.episode.events import Event, Started
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.events import FactsChecked, GameRead
from pddlego.methods.textgames.loading import setting_for
from pddlego.methods.textgames.options import MODES, PLANNING, TextGameOptions
from pddlego.methods.textgames.play import make_method
from pddlego.methods.textgames.reference_model import check_reader
from pddlego.methods.textgames.settings import GameSetting
from pddlego.methods.textgames.truth.reference import Checker, GameReader, Reference, checked
from pddlego.models import Model
from pddlego.runs.store import DOMAIN


def check_recorded(
    events: Sequence[Event], setting: GameSetting, options: TextGameOptions, model: Model | None = None
) -> Iterator[Event]:
    """A recorded episode in `setting` with what is true of each problem, as `model` or else the built-in reader reads.

    Where the model writes no problem, those that the reader makes are added. Raises `UsageError` if the reader cannot
    read the game, and `ModelError` if the model cannot answer.
    """
    started = next(event for event in events if isinstance(event, Started))
    variant = parse_variant(started.mode, MODES)
    if model is None:
        check_reader(setting, "edit")
    played = setting_for(setting, variant, str(started.details.get(DOMAIN, "")))
    reference = Reference(played, model)
    recorded = (event for event in events if not isinstance(event, (FactsChecked, GameRead)))
    if variant.mode.name in PLANNING:
        method = make_method(started.mode, played, started.seed or 0)
        yield from checked(recorded, Checker(played, method, reference))
    else:
        yield from checked(recorded, GameReader(reference))
