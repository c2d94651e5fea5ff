"""What an evaluation is likely to cost: some of its episodes, played by the model that needs no endpoint.

It is a sample of another model's calls: a language model that errs asks more, one that writes more answers longer.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pddlego.errors import PddlegoError
from pddlego.evaluation.assemble import make_planners, play
from pddlego.evaluation.config import EvalConfig
from pddlego.evaluation.models import is_free
from pddlego.evaluation.options import EvaluationOptions
from pddlego.events import Answered, Asked
from pddlego.models.limiter import NoLimiter
from pddlego.planning import Planner
from pddlego.runs.cells import Cell

SAMPLE = 3
"""Episodes of a configuration that are played for it."""

CHARACTERS = 4
"""Of text that make a token, as a rule."""

STAND_IN = EvalConfig.model_fields["models"].default[0]
"""The model that plays where none is named."""


@dataclass(frozen=True)
class Rehearsed:
    """Means of an episode: calls, and tokens in and out (estimated from characters)."""

    calls: float
    tokens_in: float
    tokens_out: float


def rehearse(options: EvaluationOptions) -> dict[tuple[str, str, str], Rehearsed]:
    """By configuration; without those that no such model plays, and those that cost nothing."""
    found: dict[tuple[str, str, str], Rehearsed] = {}
    samples: dict[tuple[str, str], list[Rehearsed]] = {}
    paid = [cell for cell in options.cells() if not is_free(cell)]
    if not paid:
        return found
    with make_planners(options) as planner:
        for configuration in dict.fromkeys(cell.configuration for cell in paid):
            setting, mode, _ = configuration
            cells = [replace(cell, model=STAND_IN) for cell in paid if cell.configuration == configuration]
            if (setting, mode) not in samples:
                samples[setting, mode] = list(_played(cells[:SAMPLE], options, planner))
            if known := samples[setting, mode]:
                means = (statistics.mean(values) for values in zip(*map(_numbers, known), strict=True))
                found[configuration] = Rehearsed(*means)
    return found


def _numbers(rehearsed: Rehearsed) -> tuple[float, float, float]:
    return rehearsed.calls, rehearsed.tokens_in, rehearsed.tokens_out


def _played(cells: list[Cell], options: EvaluationOptions, planner: Planner) -> Iterator[Rehearsed]:
    for cell in cells:
        if not is_free(cell):
            return
        try:
            events = list(play(cell, options, planner, NoLimiter()))
        except PddlegoError:  # no such model plays this, or no engine is there: then nothing can be said
            return
        asked = [event.characters for event in events if isinstance(event, Asked)]
        answered = [len(event.completion.text) for event in events if isinstance(event, Answered)]
        yield Rehearsed(len(asked), sum(asked) / CHARACTERS, sum(answered) / CHARACTERS)
