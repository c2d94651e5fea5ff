"""The Python interface: play one episode, evaluate many, load results, build PDDL from a text.

    >>> import pddlego
    >>> pddlego.play("coin", seed=3).outcome.value
    'won'

Importing this module is fast; each function imports what it needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pddlego.episode.events import Ended
    from pddlego.evaluation.config import Resolved
    from pddlego.methods.builders.files import Built
    from pddlego.runs.summary import Summary


def play(game: str, mode: str | None = None, seed: int = 0, model: str | None = None, **options: Any) -> Ended:
    """Play one episode and return its last event: the outcome, the score and the resources used. Writes no files.

    If `mode` is None, the game's default mode is played, as with `pddlego play`; if `model` is None, the
    built-in model plays.

    `options` takes the episode-level options of `pddlego eval`, under the same names: `base_url`, `temperature`,
    `fold`, `max_steps`, `retries`, `set` … Raises `PddlegoError` for errors that occur before the first event.
    """
    from pddlego.evaluation.playing import make_limiter, make_planners
    from pddlego.evaluation.playing import play as play_cell
    from pddlego.evaluation.setup import make_setup, one_cell
    from pddlego.runs.journal import follow

    what: dict[str, Any] = {"games": (game,), "seeds": str(seed), "repeats": 1, "workers": 1}
    what |= {"modes": (mode,)} if mode is not None else {}
    what |= {"models": (model,)} if model is not None else {}
    setup = make_setup(_resolved({**what, **options}))
    cell = one_cell(setup)
    with make_planners(setup) as planner:
        return follow(play_cell(cell, setup, planner, make_limiter(setup, None, setup.prices)), [])


def evaluate(games: Sequence[str] | str, run: str | Path, **options: Any) -> list[Summary]:
    """Play many episodes, or resume an interrupted evaluation, and return the last attempt at each, sorted.

    `run` is the folder in which the evaluation is saved.

    `options` takes the options of `pddlego eval`, under the same names: `modes`, `models`, `seeds`,
    `workers`, `max_calls` …
    An interrupt ends the running episodes; they are recorded as
    interrupted. Raises `PddlegoError`, for example
    if the folder was created with a different configuration.
    """
    from pddlego.evaluation.assemble import evaluating
    from pddlego.evaluation.setup import make_setup

    setup = make_setup(_resolved({"games": games, **options}))
    with evaluating(setup, Path(run)) as running:
        for _ in running.evaluation.run():
            pass
        if running.evaluation.fault is not None:
            raise running.evaluation.fault
    return running.results


def build(
    what: Literal["domain", "problem", "task"],
    description: str,
    model: str,
    *,
    steps: Literal["whole", "by-component", "by-action"] = "by-component",
    feedback: Literal["none", "model"] = "none",
    rounds: int = 3,
    domain: str = "",
    **options: Any,
) -> Built:
    """Build PDDL from a description; a `problem` needs the text of its `domain`. Writes no files.

    `options` takes the options of the endpoint, the planner and the limits, as for `pddlego build`: `base_url`,
    `temperature` …
    Raises `PddlegoError` for errors before the first request, and `PddlSyntaxError` for an invalid domain.
    """
    import os

    from pddlego.episode.events import Limits
    from pddlego.evaluation.config import BUILDING
    from pddlego.methods.builders.draft import draft_of
    from pddlego.methods.builders.files import BuildOptions
    from pddlego.methods.builders.files import build as build_files
    from pddlego.models.endpoint import Access, make_endpoint, prepare_cache

    config = _resolved(options, BUILDING).config
    limits = Limits(None, calls=config.limits.max_calls, seconds=config.limits.max_seconds)
    prepare_cache(config.endpoint.cache)
    asked = make_endpoint(model, config.endpoint, Access(os.environ.get("OPENAI_API_KEY")))
    begin = draft_of(domain) if domain else None
    with config.planner.make() as planner:
        chosen = BuildOptions(steps, feedback, rounds, config.limits.retries, limits)
        return build_files(what, description, asked, planner, chosen, begin)


def load_runs(runs: Iterable[str | Path] | str | Path) -> list[dict[str, Any]]:
    """Every episode of one or several run folders as a flat row: `pandas.DataFrame(load_runs(…))` is a table.

    The columns are those of `results.csv`, with numbers as numbers, plus `won`, `counts` (not lost to an error),
    `seconds`, `model_seconds`, `attempt` and `message`. Raises `UsageError` for a folder that holds no evaluation.
    """
    from pddlego.evaluation.table import as_values, columns
    from pddlego.report import load_results

    paths = [runs] if isinstance(runs, (str, Path)) else runs
    results = load_results([Path(run) for run in paths])
    names = columns(results)
    return [
        {name: as_values(summary).get(name) for name in names}
        | {
            "won": summary.won,
            "counts": summary.counts,
            "seconds": summary.usage.seconds,
            "model_seconds": summary.usage.model_seconds,
            "attempt": summary.attempt,
            "message": summary.message,
        }
        for summary in results
    ]


def _resolved(arguments: dict[str, Any], names: Collection[str] | None = None) -> Resolved:
    """The configuration: arguments beat the environment, that beats the defaults."""
    import os

    from pddlego.evaluation.config import ARGUMENT, resolve

    return resolve(arguments, os.environ, names=names, origin=ARGUMENT)
