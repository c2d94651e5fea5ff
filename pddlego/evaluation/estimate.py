"""Estimates of the maximum and the expected cost of an evaluation before it begins."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pddlego.episode.events import Answered, Ended
from pddlego.errors import PddlegoError
from pddlego.evaluation.models import is_free
from pddlego.evaluation.setup import Setup, make_planners, play
from pddlego.methods.base import BUILT_IN_MODEL
from pddlego.models.base import ATTEMPTS
from pddlego.models.limiter import OUTPUT_ESTIMATE, SharedLimiter
from pddlego.planning import Planner
from pddlego.runs.cells import Cell
from pddlego.runs.summary import LOST_TO_ERRORS

_SAMPLE = 3
"""Episodes of a configuration that the built-in model plays to estimate another model's."""

CHARACTERS = 4
"""Characters of a token, as a rule."""


@dataclass(frozen=True)
class Amount:
    """Calls, tokens and US dollars. `cost` is None without a price."""

    calls: int
    tokens: int
    cost: float | None


@dataclass(frozen=True)
class Estimate:
    """The number of episodes of a configuration, and the maximum amount that they may take.

    The calls are a bound on the requests sent, if each question takes all tries at a failing endpoint. The tokens are
    estimated from the prompts (three characters a token). `expected` is the amount if the episodes are like those of
    the built-in model; None if that is unknown.
    """

    configuration: tuple[str, str, str]
    episodes: int
    most: Amount
    expected: Amount | None = None


_Means = tuple[float, float, float]
"""Means of an episode: calls, and characters in and out."""


def estimates(setup: Setup) -> list[Estimate]:
    """The maximum of each configuration, and the expected amount from sample episodes of the built-in model.

    A language model that errs more often sends more requests than the built-in model, and may write longer answers.
    """
    cells = setup.cells()
    episodes = Counter(cell.configuration for cell in cells)
    means = _sample_means(setup)
    estimates = []
    for cell in {one.configuration: one for one in cells}.values():
        number, expected = episodes[cell.configuration], None
        mean = None if is_free(cell) else means.get((cell.setting, cell.mode))
        if mean is not None:
            calls, sent, answered = mean
            amounts = (calls, sent / CHARACTERS, answered / CHARACTERS)
            expected = _amount(setup, cell, *(round(number * amount) for amount in amounts))
        estimates.append(Estimate(cell.configuration, number, _worst(setup, cell, number), expected))
    return estimates


def _amount(setup: Setup, cell: Cell, calls: int, tokens_in: int, tokens_out: int) -> Amount:
    price = setup.prices.get(cell.model)
    cost = 0.0 if is_free(cell) else price.cost(tokens_in, tokens_out) if price else None
    return Amount(calls, tokens_in + tokens_out, cost)


def _worst(setup: Setup, cell: Cell, episodes: int) -> Amount:
    """The most that the episodes of the configuration of a cell may take."""
    played = setup.played_in(cell)
    worst = played.method.upper_bound(played.setting, cell.mode, played.options, setup.config.limits.retries)
    calls = 0 if is_free(cell) else episodes * worst.calls * ATTEMPTS
    return _amount(setup, cell, calls, calls * (worst.characters // 3), calls * OUTPUT_ESTIMATE)


def _sample_means(setup: Setup) -> dict[tuple[str, str], _Means]:
    """Means over sample episodes of the built-in model, by setting and mode, for those that a paid model plays."""
    paid: dict[tuple[str, str], dict[int, Cell]] = {}
    for cell in setup.cells():
        if not is_free(cell):
            paid.setdefault((cell.setting, cell.mode), {}).setdefault(cell.seed, replace(cell, model=BUILT_IN_MODEL))
    if not paid:
        return {}
    with make_planners(setup) as planner:
        samples = {
            pair: list(_sample_episodes(list(cells.values())[:_SAMPLE], setup, planner)) for pair, cells in paid.items()
        }
    means = {}
    for pair, episodes in samples.items():
        if episodes:
            calls, sent, answered = map(statistics.mean, zip(*episodes, strict=True))
            means[pair] = (calls, sent, answered)
    return means


def _sample_episodes(cells: list[Cell], setup: Setup, planner: Planner) -> Iterator[_Means]:
    """Calls, and characters in and out, of each episode that the built-in model and the installed engines can play."""
    for cell in filter(is_free, cells):
        try:
            events = list(play(cell, setup, planner, SharedLimiter(1)))
        except PddlegoError:
            return
        ended = events[-1]
        if isinstance(ended, Ended) and ended.outcome not in LOST_TO_ERRORS:
            answers = (event.completion.text for event in events if isinstance(event, Answered))
            yield ended.usage.calls, ended.usage.characters, sum(map(len, answers))
