"""`python -m benchmarks [planning|start|play|games|plans|tokens|…]`: everything, or the named parts."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable

from benchmarks import (
    action_models,
    constraints,
    damage,
    engines,
    evaluation,
    figures,
    games,
    graphplan,
    growth,
    heuristics,
    models,
    mutants,
    planning,
    plans,
    play,
    programs,
    sandbox,
    scale,
    search,
    sentences,
    start,
    tokens,
    watch,
    why,
)

PARTS = {
    "planning": planning.main,
    "engines": engines.main,
    "start": start.main,
    "play": play.main,
    "games": games.main,
    "plans": plans.main,
    "tokens": tokens.main,
    "evaluation": evaluation.main,
    "watch": watch.main,
    "sandbox": sandbox.main,
    "search": search.main,
    "graphplan": graphplan.main,
    "programs": programs.main,
    "scale": scale.main,
}

WITH_ARGUMENTS: dict[str, Callable[[list[str]], None]] = {
    "action-models": action_models.main,
    "constraints": constraints.main,
    "models": models.main,
    "damage": damage.main,
    "figures": figures.main,
    "why": why.main,
    "growth": growth.main,
    "heuristics": heuristics.main,
    "mutants": mutants.main,
    "sentences": sentences.main,
}
"""Parts that take long, and have arguments."""


def main() -> None:
    if sys.argv[1:2] and sys.argv[1] in WITH_ARGUMENTS:
        WITH_ARGUMENTS[sys.argv[1]](sys.argv[2:])
        return
    chosen = sys.argv[1:] or list(PARTS)
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        sys.exit(f"Unknown benchmark {', '.join(unknown)}; the benchmarks are: {', '.join(PARTS)}")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}")
    for name in chosen:
        print()
        PARTS[name]()


main()
