"""Results as numbers: one row for each game, mode and model."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pddlego.display.text import csv_cell
from pddlego.evaluation.cells import Cell
from pddlego.evaluation.ledger import Entry
from pddlego.evaluation.statistics import FEWEST, Interval, bootstrap_mean, mcnemar, wilson
from pddlego.evaluation.summary import Summary
from pddlego.models.gate import Price
from pddlego.models.make import is_free


@dataclass(frozen=True)
class Row:
    """What one configuration did. Means are over all `episodes`; `steps` and `median_steps` over those that were won.

    Episodes are cells with an outcome of their own: one that was interrupted is not played yet. `counted` leaves out
    those lost to errors of a model's endpoint or an engine; `interval` is Wilson's (95 %) of the success over all.
    `score` is the game's, from 0 to 1. `cost` is all that was spent, None where a model has no price; `unanswered` is
    what of it was, or may have been, spent on requests that got no answer.
    """

    setting: str
    mode: str
    model: str
    episodes: int
    won: int
    counted: int
    interval: Interval
    score: float
    steps: float | None
    median_steps: float | None
    refused: float
    calls: float
    from_cache: float
    tokens: float
    seconds: float
    cost: float | None
    unanswered: float = 0.0

    @property
    def success(self) -> float:
        """Over all episodes."""
        return self.won / self.episodes

    @property
    def success_counted(self) -> float | None:
        """Over the episodes that were not lost to errors."""
        return self.won / self.counted if self.counted else None


def rows(
    results: Iterable[Summary],
    prices: Mapping[str, Price] | None = None,
    attempts: Iterable[Summary] = (),
    entries: Iterable[Entry] = (),
) -> list[Row]:
    """One row for each configuration of which a cell was played, in the order of its first cell.

    The cost is that of all `attempts`, those that were lost and played again too; without them that of the results. The
    `entries` of a ledger know better, where there are some: each request is in it with what it took, those that got no
    answer too.
    """
    spent: dict[tuple[str, str, str], list[Summary]] = {}
    for each in attempts:
        spent.setdefault(each.cell.configuration, []).append(each)
    grouped: dict[tuple[str, str, str], list[Summary]] = {}
    for each in sorted((one for one in results if one.played), key=lambda summary: summary.cell):
        grouped.setdefault(each.cell.configuration, []).append(each)
    known = _by_configuration((each.cell for found in spent.values() for each in found), entries)
    listed = []
    for key, found in grouped.items():
        cost, mine = _cost(key[2], spent.get(key, found), prices or {}), known.get(key, [])
        if cost is not None and mine:
            cost = sum(each.cost for each in mine)
        listed.append(_row(*key, found, cost, sum(each.cost for each in mine if not each.answered)))
    return listed


def _by_configuration(cells: Iterable[Cell], entries: Iterable[Entry]) -> dict[tuple[str, str, str], list[Entry]]:
    """The requests of each configuration."""
    labels = {each.label: each.configuration for each in cells}
    found: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in entries:
        if entry.origin in labels:
            found.setdefault(labels[entry.origin], []).append(entry)
    return found


def _row(setting: str, mode: str, model: str, found: Sequence[Summary], cost: float | None, unanswered: float) -> Row:
    won = [each.tally.steps for each in found if each.won]
    tallies = [each.tally for each in found]
    return Row(
        setting=setting,
        mode=mode,
        model=model,
        episodes=len(found),
        won=len(won),
        counted=sum(each.counts for each in found),
        interval=wilson(len(won), len(found)),
        score=statistics.mean(each.score for each in found),
        steps=statistics.mean(won) if won else None,
        median_steps=statistics.median(won) if won else None,
        refused=statistics.mean(each.refused for each in tallies),
        calls=statistics.mean(each.calls for each in tallies),
        from_cache=statistics.mean(each.from_cache for each in tallies),
        tokens=statistics.mean(each.tokens_in + each.tokens_out for each in tallies),
        seconds=statistics.mean(each.seconds for each in tallies),
        cost=cost,
        unanswered=unanswered,
    )


def _cost(model: str, found: Sequence[Summary], prices: Mapping[str, Price]) -> float | None:
    if is_free(model):
        return 0.0
    if all(each.tally.calls == each.tally.from_cache for each in found):
        return 0.0
    price = prices.get(model)
    if price is None:
        return None
    return sum(price.cost(each.tally.tokens_in, each.tally.tokens_out, each.tally.tokens_cached) for each in found)


def spent_elsewhere(listed: Iterable[Row], entries: Iterable[Entry]) -> str:
    """A remark on what a ledger says was spent, and stands in no row: on cells that have no outcome."""
    cost = sum(each.cost for each in entries) - sum(each.cost or 0.0 for each in listed)
    return f"Besides, {cost:.2f} was spent on cells that have no outcome." if cost >= 0.005 else ""


def played_of(results: Iterable[Summary], planned: Collection[Cell]) -> str:
    """`4 of 10 cells played`, if not all were; `planned` is empty where nobody knows what was asked for."""
    known = list(results)
    played, total = sum(each.played for each in known), len({each.cell for each in known} | set(planned))
    return "" if played == total else f"{played} of {total} cells played"


@dataclass(frozen=True)
class Comparison:
    """Two methods on the seeds of one game that both have, without episodes that were lost to an error.

    Repeats of a seed are one pair, because they are no independent games: it counts as won if most of them were, with
    their mean steps. `steps` is the bootstrap interval (95 %) of the mean difference in steps, first minus second,
    where both won.
    """

    game: str
    first: str
    second: str
    pairs: int
    only_first: int
    only_second: int
    p_value: float
    both_won: int
    steps_difference: float | None
    steps: Interval | None

    @property
    def conclusion(self) -> str:
        """What may be concluded, in a sentence or two."""
        return f"{self._success()} {self._steps()}"

    def _success(self) -> str:
        if not self.pairs:
            return "They have no seeds in common, so nothing can be concluded."
        told = f"on {self.pairs} common seeds (McNemar's exact test, p = {self.p_value:.3g})"
        if self.p_value >= 0.05:
            return f"That one succeeds more often is not shown {told}."
        better = self.first if self.only_first > self.only_second else self.second
        return f"{better} succeeds more often {told}."

    def _steps(self) -> str:
        if self.steps is None or self.steps_difference is None:
            return "Of steps nothing can be said: no seed was won by both."
        if self.both_won < FEWEST:
            seeds = "1 seed was" if self.both_won == 1 else f"{self.both_won} seeds were"
            return f"Of steps nothing can be said: {seeds} won by both."
        told = (
            f"where both won ({self.both_won} seeds; bootstrap, 95 %: {self.steps.low:+.2f} to {self.steps.high:+.2f})"
        )
        if self.steps.low <= 0 <= self.steps.high:
            return f"A difference in steps is not shown {told}."
        fewer = self.first if self.steps_difference < 0 else self.second
        return f"{fewer} needs {abs(self.steps_difference):.2f} steps less {told}."


def compare(first: Iterable[Summary], second: Iterable[Summary], game: str, names: tuple[str, str]) -> Comparison:
    """Compare the results of two methods on one game, pairwise by seed."""
    one, other = (_by_seed(each, game) for each in (first, second))
    common = [(one[seed], other[seed]) for seed in sorted(one.keys() & other.keys())]
    won = [(left is not None, right is not None) for left, right in common]
    steps = [left - right for left, right in common if left is not None and right is not None]
    return Comparison(
        game,
        *names,
        len(common),
        sum(left and not right for left, right in won),
        sum(right and not left for left, right in won),
        mcnemar(won),
        len(steps),
        statistics.mean(steps) if steps else None,
        bootstrap_mean(steps) if steps else None,
    )


def _by_seed(results: Iterable[Summary], game: str) -> dict[int, float | None]:
    """The mean steps of each seed that was won more often than not, None for the others."""
    repeats: dict[int, list[Summary]] = {}
    for each in results:
        if each.counts and each.cell.setting == game:
            repeats.setdefault(each.cell.seed, []).append(each)
    won = {seed: [each.tally.steps for each in found if each.won] for seed, found in repeats.items()}
    return {
        seed: statistics.mean(steps) if 2 * len(steps) > len(repeats[seed]) else None for seed, steps in won.items()
    }


COLUMNS = (
    *("game", "mode", "model", "seed", "repeat", "outcome", "score", "steps", "refused", "surprises", "calls"),
    *("characters", "tokens_in", "tokens_out", "tokens_cached", "from_cache"),
)


def result_table(results: Iterable[Summary]) -> str:
    """The result table as CSV: a line for each cell, sorted, with nothing in it that differs from run to run."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in sorted(results, key=lambda summary: summary.cell):
        writer.writerow(map(csv_cell, values(each)))
    return text.getvalue()


def values(summary: Summary) -> tuple[object, ...]:
    """The row of an episode in the result table; see `COLUMNS`."""
    cell, used = summary.cell, summary.tally
    score = round(summary.score, 4)
    return (
        *(cell.setting, cell.mode, cell.model, cell.seed, cell.repeat, summary.outcome.value, score),
        *(used.steps, used.refused, summary.surprises, used.calls, used.characters),
        *(used.tokens_in, used.tokens_out, used.tokens_cached, used.from_cache),
    )
