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
from pddlego.evaluation.models import is_free, is_free_adviser
from pddlego.evaluation.options import EvaluationOptions
from pddlego.events import Answered, Ended
from pddlego.models.limiter import NoLimiter
from pddlego.planning import Planner
from pddlego.planning.make import PlannerOptions
from pddlego.runs.cells import Cell
from pddlego.runs.summary import LOST_TO_ERRORS

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
    paid = [cell for cell in options.cells() if not is_free(cell)]
    if not paid:
        return {}
    options = replace(options, planner=_free(options.planner))
    found: dict[tuple[str, str, str], Rehearsed] = {}
    samples: dict[tuple[str, str], Rehearsed | None] = {}
    with make_planners(options) as planner:
        for setting, mode, model in dict.fromkeys(cell.configuration for cell in paid):
            if (setting, mode) not in samples:  # the same for every language model
                cells = [replace(cell, model=STAND_IN) for cell in paid if cell.configuration == (setting, mode, model)]
                samples[setting, mode] = _mean(list(_played(cells[:SAMPLE], options, planner)))
            if (known := samples[setting, mode]) is not None:
                found[setting, mode, model] = known
    return found


def _free(planner: PlannerOptions) -> PlannerOptions:
    """The planner with advisers that send nothing: a rehearsal costs nothing."""
    prune, sort = (
        name if name is None or is_free_adviser(name) else STAND_IN for name in (planner.prune, planner.sort)
    )
    return replace(planner, prune=prune, sort=sort)


def _mean(episodes: list[tuple[int, int, int]]) -> Rehearsed | None:
    """Of calls, and of characters in and out."""
    if not episodes:
        return None
    calls, sent, answered = map(statistics.mean, zip(*episodes, strict=True))
    return Rehearsed(calls, sent / CHARACTERS, answered / CHARACTERS)


def _played(cells: list[Cell], options: EvaluationOptions, planner: Planner) -> Iterator[tuple[int, int, int]]:
    """Calls, and characters in and out, of each episode. Nothing where no such model plays, or no engine is there."""
    for cell in filter(is_free, cells):
        try:
            events = list(play(cell, options, planner, NoLimiter()))
        except PddlegoError:
            return
        ended = events[-1]
        if isinstance(ended, Ended) and ended.outcome not in LOST_TO_ERRORS:
            answers = (event.completion.text for event in events if isinstance(event, Answered))
            yield ended.tally.calls, ended.tally.characters, sum(map(len, answers))
