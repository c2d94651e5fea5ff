"""`pddlego counterfactual`: would an episode have been won without what the model got wrong first?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from pddlego.cli import exits
from pddlego.cli.eval import farewell, run_evaluation
from pddlego.cli.exits import handle_sigterm
from pddlego.cli.options import OfGame, OfMode, OfSeed, place_named, with_options
from pddlego.cli.report import print_table
from pddlego.cli.resume import endpoint_again, recorded_game
from pddlego.display.console import Console
from pddlego.episode.events import Event, Limits
from pddlego.errors import UsageError
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.config import Config, LimitOptions, resolve
from pddlego.evaluation.config import Run as RunOptions
from pddlego.evaluation.replay import Recorded, load_recorded
from pddlego.evaluation.setup import Setup, read_prices
from pddlego.evaluation.statistics import wilson
from pddlego.methods.base import Tools
from pddlego.methods.registry import parse_mode
from pddlego.methods.textgames.options import PLANNING, TextGameOptions
from pddlego.methods.textgames.play import play
from pddlego.methods.textgames.truth.counterfactual import correction
from pddlego.methods.textgames.truth.first_error import FirstError
from pddlego.methods.textgames.world import Restart
from pddlego.models.endpoint import Access, Endpoint
from pddlego.models.limiter import Spending
from pddlego.report.build import is_reportable, load_results
from pddlego.runs.cells import Cell, Matrix
from pddlego.runs.folders import EPISODES
from pddlego.runs.manifest import RESUMED
from pddlego.runs.store import journal_name
from pddlego.runs.summary import Summary
from pddlego.util.text import money

MOST = 5
"""Errors of an episode that are corrected, one after another."""

OPTIONS = frozenset({"runs", "run", "workers", "llm_jobs", "base_url", "cache", "max_calls", "max_tokens", "max_cost"})
OPTIONS |= {"prices"}

With = Annotated[str | None, typer.Option("--with", help="The model that plays on. [default: the episode's own]")]


@with_options((RunOptions, Endpoint, LimitOptions), only=OPTIONS)
def command(
    flags: dict[str, Any],
    run: Annotated[str, typer.Argument(help="A run folder, its name or a unique prefix, or latest.")],
    game: OfGame = None,
    mode: OfMode = None,
    model: Annotated[str | None, typer.Option("--model", help="Only this model.")] = None,
    seed: OfSeed = None,
    with_model: With = None,
) -> None:
    """Correct what the model got wrong first in each lost episode, play on from there, and count what is won.

    What is lost again is corrected again, up to five times. Text games only. Exit code: 0 all were played on, 2 wrong
    usage, 3 some are lost to errors or the budget, 130 interrupted.
    """
    handle_sigterm()
    config = resolve(flags, os.environ, names=OPTIONS).config
    place = place_named(run, flags.get("runs"), is_reportable)
    wanted = {"setting": game, "mode": mode, "model": model, "seed": seed}
    losses = [
        Loss.of(summary, place / EPISODES / journal_name(summary.cell, summary.attempt))
        for summary in load_results([place])
        if _is_lost(summary) and all(value in (None, getattr(summary.cell, name)) for name, value in wanted.items())
    ]
    if not losses:
        reason = "Every text game in it that was played in a planning mode was won, or none was."
        raise UsageError(f"{place} has no lost episode", reason, "Name another run, or other filters.")
    console = Console()
    endpoint, access = endpoint_again(console, losses[0].recorded, with_model, flags)
    config = config.model_copy(update={"endpoint": endpoint, "planner": losses[0].recorded.config.planner})
    target = Path(config.run.runs) / (config.run.run or f"{place.name}-counterfactual")
    code = exits.WON
    for number in range(1, MOST + 1):
        waiting = [loss for loss in losses if loss.is_corrected()]
        if not waiting:
            break
        console.print(f"Correction {number}: {len(waiting)} of {len(losses)} episodes", style="bold")
        setup = _setup(config, access, waiting, with_model)
        code = _play_on(console, setup, waiting, target / str(number))
        if code != exits.WON:
            break
    _show(console, losses)
    console.print(f"Saved in {target}", style="dim", highlight=False, soft_wrap=True)
    raise typer.Exit(code)


@dataclass
class Loss:
    """A lost episode, and what became of it. `recorded` is its last version, `errors` what was corrected so far.

    `cell` is the one that is played on, `restart` where it goes on.
    """

    summary: Summary
    recorded: Recorded
    steps: int
    cell: Cell
    errors: list[FirstError]
    restart: Restart | None = None
    won: bool = False
    cost: float = 0.0

    @classmethod
    def of(cls, summary: Summary, journal: Path) -> Loss:
        recorded = load_recorded(journal)
        return cls(summary, recorded, recorded.started.limits.steps or 0, summary.cell, [])

    def is_corrected(self) -> bool:
        """Correct the first error of the last version, unless that was won. Returns whether there was one."""
        if self.won:
            return False
        played = self.recorded.played
        found = correction(recorded_game(self.recorded), played.setting)
        self.restart = found.restart if found else None
        self.errors += [found.error] if found else []
        return found is not None


def _setup(config: Config, access: Access, losses: Sequence[Loss], model: str | None) -> Setup:
    """An evaluation that has the cells of these episodes among its own."""
    for loss in losses:
        loss.cell = replace(loss.cell, model=model or loss.cell.model)
    cells = [loss.cell for loss in losses]
    seeds = {cell.setting: tuple(other.seed for other in cells if other.setting == cell.setting) for cell in cells}
    limits = config.limits
    return Setup(
        config.model_copy(update={"limits": losses[0].recorded.config.limits}),
        Matrix(
            seeds,
            tuple(dict.fromkeys(cell.mode for cell in cells)),
            tuple(dict.fromkeys(cell.model for cell in cells)),
            max(cell.repeat for cell in cells),
        ),
        {(loss.cell.setting, loss.cell.mode): loss.recorded.played for loss in losses},
        limits=Limits(None),
        budget=Spending(limits.max_calls, limits.max_tokens, limits.max_cost),
        prices=read_prices(Path(limits.prices) if limits.prices else None),
        access=access,
    )


def _play_on(console: Console, setup: Setup, losses: Sequence[Loss], path: Path) -> int:
    """Play the episodes on from their corrections, each with a budget of steps of its own; the exit code."""
    by_cell = {loss.cell: loss for loss in losses}

    def begin(cell: Cell, tools: Tools) -> Iterator[Event]:
        loss, played = by_cell[cell], setup.played_in(cell)
        assert loss.restart is not None and isinstance(played.options, TextGameOptions)
        limits = replace(loss.recorded.started.limits, steps=loss.restart.step + loss.steps)
        return play(cell, played.setting, played.options, replace(tools, limits=limits), restart=loss.restart)

    with evaluating(setup, path, {RESUMED: {"correction": path.name}}, cells=tuple(by_cell), begin=begin) as running:
        run_evaluation(console, running)
    spent: Counter[str] = Counter()
    for entry in running.entries:
        spent[entry.origin] += entry.cost  # type: ignore[assignment]  # dollars, not a count
    for summary in running.results:
        loss = by_cell[summary.cell]
        loss.won, loss.cost = summary.won, loss.cost + spent[summary.cell.label]
        loss.recorded = load_recorded(path / EPISODES / journal_name(summary.cell, summary.attempt))
    return farewell(console, running)


def _show(console: Console, losses: Sequence[Loss]) -> None:
    """How many losses were one error, two, up to five; by configuration, and by the kind of the first error."""
    after = [f"after {number}" for number in range(1, MOST + 1)]
    groups: dict[tuple[str, ...], list[Loss]] = {}
    for loss in losses:
        groups.setdefault(loss.summary.cell.configuration, []).append(loss)
    body = [
        [*name, str(len(group)), *(str(_won_after(group, n)) for n in range(1, MOST + 1)), *_rest(group)]
        for name, group in groups.items()
    ]
    head = ["game", "mode", "model", "lost", *after, "still lost", "no error", "cost"]
    print_table(console, "Lost episodes that are won after so many corrections", head, body)
    kinds = Counter(loss.errors[0].kind for loss in losses if loss.errors)
    body = []
    for kind, number in kinds.most_common():
        group = [loss for loss in losses if loss.errors and loss.errors[0].kind == kind]
        won, interval = _won_after(group, 1), wilson(_won_after(group, 1), number)
        share = f"{100 * won / number:.0f}%"
        body.append([kind, str(number), str(won), share, f"{100 * interval.low:.0f}-{100 * interval.high:.0f}"])
    head = ["first error", "lost", "won without it", "share", "95 %"]
    print_table(console, "What one error cost", head, body)


def _won_after(losses: Sequence[Loss], corrections: int) -> int:
    return sum(loss.won and len(loss.errors) == corrections for loss in losses)


def _rest(losses: Sequence[Loss]) -> tuple[str, str, str]:
    """Still lost, without an error that could be found, and what it cost."""
    still = sum(not loss.won and bool(loss.errors) for loss in losses)
    none = sum(not loss.errors for loss in losses)
    return str(still), str(none), money(sum(loss.cost for loss in losses))


def _is_lost(summary: Summary) -> bool:
    """Whether the episode says something about its model, was lost, and had problems to correct."""
    return summary.counts and not summary.won and parse_mode(summary.cell.mode).mode.name in PLANNING
