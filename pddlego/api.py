"""The Python side of the command line: play an episode, evaluate many, load what was found.

    >>> import pddlego
    >>> pddlego.play("coin", seed=3).outcome.value
    'won'

Nothing is imported before a function is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pddlego.evaluation.summary import Summary
    from pddlego.events import EpisodeEnded


def play(game: str, mode: str = "edit", seed: int = 0, model: str = "reader", **options: Any) -> EpisodeEnded:
    """Play one episode and return its last event: the outcome, the score and what was used. Writes no files.

    `options` are those of `pddlego eval` that belong to an episode, by the same names: `base_url`, `temperature`,
    `fold`, `max_steps`, `retries`, `set` … Raises `PddlegoError` for what goes wrong before the first event.
    """
    from pddlego.episodes import episode_events, follow, make_game
    from pddlego.evaluation.cells import Cell
    from pddlego.evaluation.make import make_options
    from pddlego.evaluation.play import episode_of, make_planners, model_for
    from pddlego.models.gate import SharedGate

    chosen = make_options(
        _config({"games": (game,), "modes": (mode,), "models": (model,), "seeds": str(seed), **options})
    )
    cell = Cell(game, mode, "none" if mode == "random" else model, seed)
    gate = SharedGate(chosen.llm_jobs, chosen.limits, None, chosen.prices, max_answer=chosen.model.max_tokens)
    with make_planners(chosen) as planner:
        episode = episode_of(cell, chosen)
        events = episode_events(
            episode, make_game(episode.setting, seed, chosen.java), model_for(cell, chosen, gate), planner
        )
        return follow(events, [])


def evaluate(games: Sequence[str] | str, run: str | Path, **options: Any) -> list[Summary]:
    """Play many episodes, or continue, and return the last attempt at each, sorted. `run` is the folder it is kept in.

    `options` are those of `pddlego eval`, by the same names: `modes`, `models`, `seeds`, `workers`, `max_calls` …
    An interrupt ends the episodes in flight as interrupted. Raises `PddlegoError`, as for a folder that was begun with
    another configuration.
    """
    from pddlego.evaluation.make import make_options
    from pddlego.evaluation.play import evaluating

    chosen = make_options(_config({"games": games, **options}))
    with evaluating(chosen, Path(run)) as running:
        for _ in running.evaluation.run():
            pass
        if running.evaluation.fault is not None:
            raise running.evaluation.fault
    return running.results


def load_runs(runs: Iterable[str | Path] | str | Path) -> list[dict[str, Any]]:
    """Every episode of one or several run folders as a flat row: `pandas.DataFrame(load_runs(…))` is a table.

    The columns are those of `results.csv`, with numbers as numbers, and besides `won`, `counts` (not lost to an error),
    `seconds`, `model_seconds`, `attempt` and `message`. Raises `UsageError` for a folder that holds no evaluation.
    """
    from pddlego.evaluation.table import COLUMNS, values
    from pddlego.report import load_results

    listed = [runs] if isinstance(runs, (str, Path)) else runs
    return [
        dict(zip(COLUMNS, values(each), strict=True))
        | {
            "won": each.won,
            "counts": each.counts,
            "seconds": each.tally.seconds,
            "model_seconds": each.tally.model_seconds,
            "attempt": each.attempt,
            "message": each.message,
        }
        for each in load_results([Path(each) for each in listed])
    ]


def _config(flags: dict[str, Any]) -> Any:
    """The configuration: arguments beat the environment, that beats the defaults."""
    import os

    from pddlego.evaluation.config import resolve

    return resolve(flags, os.environ).config
