"""What an evaluation may cost at most, and what it is likely to cost, before it begins."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pddlego.episode.events import Answered, Ended
from pddlego.errors import PddlegoError
from pddlego.evaluation.models import is_free
from pddlego.evaluation.playing import make_planners, play
from pddlego.evaluation.setup import Setup
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
class Estimate:
    """One configuration: its episodes, and the most calls, tokens and money that they may take.

    `calls` is a bound on the requests sent: each question may take all tries that an endpoint which fails may take.
    `tokens` are estimated from the prompts (three characters a token); `cost` is None without a price. `expected` is
    None if nothing is known.
    """

    setting: str
    mode: str
    model: str
    episodes: int
    calls: int
    tokens: int
    cost: float | None
    expected: Expected | None = None


@dataclass(frozen=True)
class Expected:
    """What the same episodes take if they go as the built-in model's do: calls, tokens, and money with a price."""

    calls: int
    tokens: int
    cost: float | None


@dataclass(frozen=True)
class Means:
    """Means of an episode: calls, and tokens in and out (estimated from characters)."""

    calls: float
    tokens_in: float
    tokens_out: float


def estimates(setup: Setup) -> list[Estimate]:
    """What each configuration may take at most, and what is to be expected where the built-in model can tell.

    That is a sample of another model's calls: a language model that errs asks more, and one that writes more answers
    longer.
    """
    cells = setup.cells()
    episodes = Counter(cell.configuration for cell in cells)
    means = _rehearsed(setup)
    estimates = []
    for cell in {one.configuration: one for one in cells}.values():
        worst = _worst(setup, cell, episodes[cell.configuration])
        mean = None if is_free(cell) else means.get((cell.setting, cell.mode))
        if mean is not None:
            calls, tokens_in, tokens_out = (
                round(worst.episodes * amount) for amount in (mean.calls, mean.tokens_in, mean.tokens_out)
            )
            price = setup.prices.get(worst.model)
            cost = price.cost(tokens_in, tokens_out) if price else None
            worst = replace(worst, expected=Expected(calls, tokens_in + tokens_out, cost))
        estimates.append(worst)
    return estimates


def _worst(setup: Setup, cell: Cell, episodes: int) -> Estimate:
    """The worst case of the configuration of a cell."""
    played, free = setup.played_in(cell), is_free(cell)
    worst = played.method.upper_bound(played.setting, cell.mode, played.options, setup.config.limits.retries)
    calls = 0 if free else episodes * worst.calls * ATTEMPTS
    tokens_in, tokens_out = calls * (worst.characters // 3), calls * OUTPUT_ESTIMATE
    price = setup.prices.get(cell.model)
    cost = 0.0 if free else price.cost(tokens_in, tokens_out) if price else None
    return Estimate(*cell.configuration, episodes, calls, tokens_in + tokens_out, cost)


def _rehearsed(setup: Setup) -> dict[tuple[str, str], Means]:
    """Means by setting and mode, of those that a paid model plays and the built-in model can play, too."""
    paid: dict[tuple[str, str], dict[int, Cell]] = {}
    for cell in setup.cells():
        if not is_free(cell):
            paid.setdefault((cell.setting, cell.mode), {}).setdefault(cell.seed, replace(cell, model=BUILT_IN_MODEL))
    if not paid:
        return {}
    with make_planners(setup) as planner:
        samples = {pair: list(_played(list(cells.values())[:_SAMPLE], setup, planner)) for pair, cells in paid.items()}
    return {pair: _mean(episodes) for pair, episodes in samples.items() if episodes}


def _mean(episodes: list[tuple[int, int, int]]) -> Means:
    """Of calls, and of characters in and out."""
    calls, sent, answered = map(statistics.mean, zip(*episodes, strict=True))
    return Means(calls, sent / CHARACTERS, answered / CHARACTERS)


def _played(cells: list[Cell], setup: Setup, planner: Planner) -> Iterator[tuple[int, int, int]]:
    """Calls, and characters in and out, of each episode. Nothing where no such model plays, or no engine is there."""
    for cell in filter(is_free, cells):
        try:
            events = list(play(cell, setup, planner, SharedLimiter(1)))
        except PddlegoError:
            return
        ended = events[-1]
        if isinstance(ended, Ended) and ended.outcome not in LOST_TO_ERRORS:
            answers = (event.completion.text for event in events if isinstance(event, Answered))
            yield ended.usage.calls, ended.usage.characters, sum(map(len, answers))
