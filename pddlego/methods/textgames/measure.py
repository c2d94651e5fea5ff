"""What tables say of text games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pddlego.events import Event, Tally
from pddlego.methods.base import Column, CountTable, Measuring
from pddlego.methods.textgames.events import Observed, Planned
from pddlego.methods.textgames.settings import GameSetting
from pddlego.planning import Planner
from pddlego.runs.measures import Measures


def measure(events: Sequence[Event], used: Tally) -> Measures:
    """Steps, refused commands, and answers that no plan expected; the plans made for each goal of the ladder."""
    surprises = sum(bool(event.surprise) for event in events if isinstance(event, Observed))
    rungs = Counter(event.rung for event in events if isinstance(event, Planned) and event.rung is not None)
    repeated = sum(event.repeated for event in events if isinstance(event, Observed))
    numbers = {
        "steps": used.steps,
        "refused": used.refused,
        "surprises": surprises,
        **({"repeated": repeated} if repeated else {}),
    }
    return Measures(numbers, {"rungs": dict(rungs)})


def _best(setting: GameSetting, seed: int, planner: Planner) -> int | None:
    from pddlego.methods.textgames.optimum import optimum

    return optimum(setting, seed, planner)


MEASURING = Measuring(
    of=measure,
    columns=(
        Column("steps", over="won", median=True, compared=True),
        Column("refused", blank_zero=True),
        Column("surprises", shown=False),
        Column("repeated", blank_zero=True),
    ),
    counts=(CountTable("rungs", "Goals that plans were made for", "goal"),),
    best=_best,
)
