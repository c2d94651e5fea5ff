"""What an evaluation may cost at most, and what it is likely to cost, before it begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pddlego.evaluation.models import is_free, is_free_adviser
from pddlego.evaluation.options import EvaluationOptions
from pddlego.evaluation.rehearsal import rehearse
from pddlego.models.spending import OUTPUT_ESTIMATE
from pddlego.planning.graphplan.values import MOST_QUESTIONS
from pddlego.runs.cells import Cell

ADVICE = 12_000
"""Characters of a question of the planner: a domain, the facts of a level, and some hundred actions (an estimate)."""


@dataclass(frozen=True)
class Estimate:
    """One configuration: its episodes, and the most calls, tokens and money that they may take.

    `calls` is a bound on the requests sent: each question may take all tries that an endpoint which fails may take.
    `tokens` are estimated from the prompts (three characters a token); `cost` is None without a price. `expected` is
    None where nothing tells.
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


def estimates(options: EvaluationOptions) -> list[Estimate]:
    """What each configuration may take at most, and what is to be expected where the built-in model can tell."""
    rehearsed = rehearse(options)
    found = []
    for worst in worst_cases(options):
        known = rehearsed.get((worst.setting, worst.mode, worst.model))
        if known is not None:
            calls, tokens_in, tokens_out = (
                round(worst.episodes * mean) for mean in (known.calls, known.tokens_in, known.tokens_out)
            )
            price = options.prices.get(worst.model)
            cost = price.cost(tokens_in, tokens_out) if price else None
            worst = replace(worst, expected=Expected(calls, tokens_in + tokens_out, cost))
        found.append(worst)
    return found


def worst_cases(options: EvaluationOptions) -> list[Estimate]:
    """The worst case of each configuration."""
    cells = options.cells()
    episodes = Counter(cell.configuration for cell in cells)
    found = []
    for cell in {each.configuration: each for each in cells}.values():
        number = episodes[cell.configuration]
        each = options.played_in(cell)
        worst = each.method.worst_case(each.setting, cell.mode, each.options, options.retries)
        free = is_free(cell)
        calls = 0 if free else number * worst.calls * options.model.attempts
        tokens_in = calls * (worst.characters // 3)
        tokens_out = calls * OUTPUT_ESTIMATE
        price = options.prices.get(cell.model)
        cost = 0.0 if free else price.cost(tokens_in, tokens_out) if price else None
        found.append(Estimate(*cell.configuration, number, calls, tokens_in + tokens_out, cost))
        found += _advice(options, cell, number * worst.plans)
    return found


def _advice(options: EvaluationOptions, cell: Cell, plans: int) -> Iterator[Estimate]:
    """What the planner may ask language models in so many planning calls: a line for each of them, without episodes."""
    for name in options.planner.advisers if plans else ():
        if not is_free_adviser(name):
            calls = plans * MOST_QUESTIONS * options.model.attempts
            tokens_in, tokens_out = calls * (ADVICE // 3), calls * OUTPUT_ESTIMATE
            price = options.prices.get(name)
            cost = price.cost(tokens_in, tokens_out) if price else None
            who = f"{name} (advises)"
            yield Estimate(cell.setting, cell.mode, who, 0, calls=calls, tokens=tokens_in + tokens_out, cost=cost)
