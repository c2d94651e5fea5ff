"""Estimates of the maximum and the expected cost of an evaluation before it begins."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from rich.console import RenderableType

from pddlego.episode.events import Answered, Ended
from pddlego.errors import PddlegoError, UsageError
from pddlego.evaluation.models import is_free
from pddlego.evaluation.playing import play
from pddlego.evaluation.resources import make_planners
from pddlego.evaluation.setup import Setup, run_path
from pddlego.evaluation.table import Configuration, ShownColumn, by_configuration, fitted_table
from pddlego.evaluation.truth import last_attempts
from pddlego.methods.base import BUILT_IN_MODEL
from pddlego.methods.registry import methods
from pddlego.models.base import ATTEMPTS, HUGGING_FACE, is_local
from pddlego.models.endpoint import make_endpoint
from pddlego.models.limiter import OUTPUT_ESTIMATE, SharedLimiter
from pddlego.models.speed import Speed, measure_speed
from pddlego.planning import Planner
from pddlego.runs.cells import Cell
from pddlego.runs.store import read_results
from pddlego.runs.summary import LOST_TO_ERRORS, Summary
from pddlego.util.text import hours, money

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
    estimated from the prompts (three characters a token). `expected` is the amount if the episodes are like those that
    are finished in the run folder, or else like those of the built-in model; None if that is unknown. `seconds` is the
    time of the episodes one after the other; None if that is unknown.
    """

    configuration: tuple[str, str, str]
    episodes: int
    most: Amount
    expected: Amount | None = None
    seconds: float | None = None


_Means = tuple[float, float, float]
"""Means of an episode: calls, and characters in and out."""


def estimates(setup: Setup, speed_of: Callable[[str], Speed | None]) -> list[Estimate]:
    """The maximum for the unfinished episodes of each configuration, and the expected amount from finished ones.

    Without any, it is estimated from sample episodes of the built-in model: a language model that errs more often sends
    more requests, and may write longer answers. The time of a model on this machine then follows from its `speed_of`.
    """
    results = _results(setup)
    done = {result.cell for result in last_attempts([results]) if result.counts}
    cells = [cell for cell in setup.cells() if cell not in done]
    episodes = Counter(cell.configuration for cell in cells)
    finished = by_configuration(result for result in results if result.counts)
    means = _sample_means(setup, finished)
    estimates = []
    for cell in {one.configuration: one for one in cells}.values():
        number, expected, seconds = episodes[cell.configuration], None, None
        mean = None if is_free(cell) else means.get((cell.setting, cell.mode))
        known = [result.usage for result in finished.get(cell.configuration, ())]
        if known:
            own = (statistics.mean(map(attrgetter(name), known)) for name in ("calls", "tokens_in", "tokens_out"))
            expected = _amount(setup, cell, *(round(number * amount) for amount in own))
            seconds = number * statistics.mean(usage.seconds for usage in known)
        elif mean is not None:
            calls, sent, answered = mean
            amounts = (calls, sent / CHARACTERS, answered / CHARACTERS)
            expected = _amount(setup, cell, *(round(number * amount) for amount in amounts))
            if is_local(cell.model) and calls and (speed := speed_of(cell.model)):
                # Each request repeats most of the one before, which the server does not read again.
                seconds = number * speed.seconds(sent / calls / speed.per_token, answered / speed.per_token)
        estimates.append(Estimate(cell.configuration, number, _worst(setup, cell, number), expected, seconds))
    return estimates


def _results(setup: Setup) -> list[Summary]:
    """The results in the run folder of the setup; none if it was not played yet, or cannot be read."""
    try:
        return read_results(run_path(setup))[0]
    except UsageError:
        return []


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


def _sample_means(setup: Setup, finished: Container[Configuration]) -> dict[tuple[str, str], _Means]:
    """Means over sample episodes of the built-in model, by setting and mode, for those that a paid model plays.

    Configurations with `finished` episodes need none.
    """
    paid: dict[tuple[str, str], dict[int, Cell]] = {}
    for cell in setup.cells():
        if not is_free(cell) and cell.configuration not in finished:
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


def check_local_files(setup: Setup) -> None:
    """Raise `UsageError` if the file of a model on this machine is missing. A model may still be downloaded."""
    # Imported here, because only models on this machine need it.
    from pddlego.models.local import find_file

    for name in dict.fromkeys(cell.model for cell in setup.cells() if is_local(cell.model)):
        if not name.startswith(HUGGING_FACE):
            find_file(name)


def speed_of_local(name: str, setup: Setup) -> Speed | None:
    """The speed of a model on this machine; None without a game to measure it with. Raises `ModelError`."""
    request = next((request for method in methods() for request in method.first_requests().values()), None)
    endpoint = setup.config.endpoint.model_copy(update={"cache": "off"})
    return None if request is None else measure_speed(make_endpoint(name, endpoint, setup.access), request)


def time_note(cases: Iterable[Estimate], workers: int) -> str:
    """How long the models on this machine are likely to need for their episodes; empty if that is unknown."""
    seconds = sum(case.seconds or 0.0 for case in cases if is_local(case.configuration[2]))
    return f"Likely time of local models: {hours(seconds / workers)} hours." if seconds else ""


def upper_bound_table(cases: Iterable[Estimate], width: int) -> RenderableType:
    """The table of upper bounds for each configuration, with the sums in the last row, for `width` columns."""
    estimates = list(cases)
    likely = [_amounts(bound.expected) if bound.expected else ("", "", "") for bound in estimates]
    likely.append(_amounts(_sum([bound.expected or bound.most for bound in estimates])))
    most = [_amounts(amount) for amount in (*(bound.most for bound in estimates), _sum([b.most for b in estimates]))]
    episodes = [bound.episodes for bound in estimates]
    columns = [ShownColumn("episodes", [f"{number:,}" for number in (*episodes, sum(episodes))])]
    if any(bound.expected is not None for bound in estimates):
        columns += map(ShownColumn, ("likely calls", "tokens", "cost"), zip(*likely, strict=True), (4, 2, _LAST))
    columns += map(
        ShownColumn, ("max calls", "max tokens", "max cost"), zip(*most, strict=True), (math.inf, 1, math.inf)
    )
    return fitted_table([*(bound.configuration for bound in estimates), ("all", "", "")], columns, width)


_LAST = math.inf
"""The rank of columns that are left out only if they are alike in all rows."""


def _sum(amounts: Sequence[Amount]) -> Amount:
    costs = [amount.cost for amount in amounts]
    calls, tokens = sum(amount.calls for amount in amounts), sum(amount.tokens for amount in amounts)
    return Amount(calls, tokens, None if None in costs else sum(cost or 0.0 for cost in costs))


def _amounts(amount: Amount) -> tuple[str, str, str]:
    return f"{amount.calls:,}", f"{amount.tokens:,}", money(amount.cost)
