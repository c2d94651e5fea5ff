"""What an evaluation may cost at most, before it begins."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pddlego.evaluation.models import is_free
from pddlego.evaluation.options import EvaluationOptions
from pddlego.models.spending import OUTPUT_ESTIMATE


@dataclass(frozen=True)
class Estimate:
    """One configuration: its episodes, and the most calls, tokens and money that they may take.

    `calls` is a bound on the requests sent: each question may take all tries that an endpoint which fails may take.
    `tokens` are estimated from the prompts (three characters a token); `cost` is None without a price.
    """

    setting: str
    mode: str
    model: str
    episodes: int
    calls: int
    tokens: int
    cost: float | None


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
    return found
