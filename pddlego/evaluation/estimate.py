"""What an evaluation may cost at most, before it begins."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pddlego.episodes import prompt_texts
from pddlego.evaluation.options import EvaluationOptions
from pddlego.formalize.base import MAX_REJECTED
from pddlego.models.gate import OUTPUT_ESTIMATE
from pddlego.models.make import is_free
from pddlego.modes import parse_mode
from pddlego.settings import Setting

GROWTH = 12_000
"""Characters that problem file, news and history may add to a request; a rejected answer comes on top."""


@dataclass(frozen=True)
class WorstCase:
    """One configuration: its episodes, and the most calls, tokens and money that they may take.

    `calls` is a bound on the requests sent: every command may take a question of its own, each question all its
    repeated ones, and each of these all tries that an endpoint which fails may take. `tokens` are
    estimated from the prompts (three characters a token); `cost` is None without a price.
    """

    setting: str
    mode: str
    model: str
    episodes: int
    calls: int
    tokens: int
    cost: float | None


def worst_cases(options: EvaluationOptions) -> list[WorstCase]:
    """The worst case of each configuration."""
    episodes = Counter(cell.configuration for cell in options.cells())
    settings = {each.name: each for each in options.settings}
    found = []
    for (name, mode, model), number in episodes.items():
        free = is_free(model)
        calls = 0 if free else number * settings[name].max_steps * (1 + options.retries) * options.model.attempts
        tokens_in = calls * (_characters(settings[name], mode) // 3)
        tokens_out = calls * OUTPUT_ESTIMATE
        price = options.prices.get(model)
        cost = 0.0 if free else price.cost(tokens_in, tokens_out) if price else None
        found.append(WorstCase(name, mode, model, number, calls, tokens_in + tokens_out, cost))
    return found


def _characters(setting: Setting, mode: str) -> int:
    """Characters of a long request."""
    own = sum(
        len(text) for name, text in prompt_texts(setting.prompts) if parse_mode(mode).base in name or "notes" in name
    )
    return own + len(setting.domain.text) + GROWTH + MAX_REJECTED
