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
from pddlego.cli.evaluating import farewell, run_evaluation
from pddlego.cli.exits import handle_sigterm, interrupt_handlers, restore_handlers
from pddlego.cli.options import OfGame, OfMode, OfSeed, place_named, with_options
from pddlego.cli.resume import endpoint_again, recorded_game
from pddlego.display.console import Console
from pddlego.episode.events import Event, Limits
from pddlego.errors import UsageError
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.config import Config, LimitOptions, resolve
from pddlego.evaluation.config import Run as RunOptions
from pddlego.evaluation.models import is_free
from pddlego.evaluation.replay import Recorded, load_recorded
from pddlego.evaluation.runner import Stop
from pddlego.evaluation.setup import Setup, make_budget, make_cell_model
from pddlego.evaluation.statistics import wilson
from pddlego.methods.base import Tools
from pddlego.methods.registry import parse_mode
from pddlego.methods.textgames.first_error import FirstError, correction
from pddlego.methods.textgames.options import PLANNING, WRITES_DOMAIN, TextGameOptions
from pddlego.methods.textgames.play import play
from pddlego.methods.textgames.world import Restart
from pddlego.models.endpoint import Access, Endpoint, prepare_cache
from pddlego.report.build import is_reportable, load_results
from pddlego.report.tables import Table, print_table
from pddlego.runs.cells import Cell, Matrix
from pddlego.runs.folders import EPISODES, MANIFEST, RESUMED
from pddlego.runs.listing import costs_of
from pddlego.runs.store import journal_name, read_manifest
from pddlego.runs.summary import Summary
from pddlego.util.text import money

MAX_CORRECTIONS = 5
"""Errors of an episode that are corrected, one after another."""

_MODES = tuple(mode for mode in PLANNING if mode not in WRITES_DOMAIN)
"""Modes whose problems are corrected: the names of a domain that a model writes are its own."""

OPTIONS = frozenset(
    ("runs", "run", "workers", "llm_jobs", "base_url", "cache", "max_calls", "max_tokens", "max_cost", "prices")
)

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
        reason = f"It has no lost episode of a text game in the modes {', '.join(_MODES)}."
        raise UsageError(f"{place} has no lost episode to correct", reason, "Name another run, or other filters.")
    console = Console()
    endpoint, access = endpoint_again(console, losses[0].recorded, with_model, flags)
    endpoint = endpoint.model_copy(update={"cache": config.endpoint.cache})
    prepare_cache(endpoint.cache)
    config = config.model_copy(update={"endpoint": endpoint, "planner": losses[0].recorded.config.planner})
    _check_models(losses, with_model)
    source = f"{place.resolve()}, begun {read_manifest(place).get('created', '')}"
    target = Path(config.run.runs) / (config.run.run or f"counterfactual-{place.name}")
    code, handlers = exits.WON, interrupt_handlers()
    for number in range(1, MAX_CORRECTIONS + 1):
        waiting = [loss for loss in losses if loss.is_corrected()]
        if not waiting:
            break
        console.print(f"Correction {number}: {len(waiting)} of {len(losses)} episodes", style="bold")
        setup = _setup(config, access, waiting, with_model)
        code = _play_on(console, setup, waiting, target / str(number), source)
        if code != exits.WON:
            break
        restore_handlers(handlers)
    _show(console, losses)
    console.print(f"Saved in {target}", style="dim", highlight=False, soft_wrap=True)
    raise typer.Exit(code)


def _check_models(losses: Sequence[Loss], model: str | None) -> None:
    """Raises `UsageError` if one model would play several of the episodes on as the same cell."""
    if model is not None and len({replace(loss.cell, model=model) for loss in losses}) < len(losses):
        reason = "The run has lost episodes of several models on the same game, mode and seed."
        raise UsageError("--with plays on the episodes of one model", reason, "Choose them with --model.")


@dataclass
class Loss:
    """A lost episode, and what became of it. `recorded` is its last version, `errors` what was corrected so far.

    `cell` is the one that is played on, `restart` where it goes on. Without `counts` the last version has no result.
    `cost` is None if its model has no price.
    """

    summary: Summary
    recorded: Recorded
    steps: int
    cell: Cell
    errors: list[FirstError]
    restart: Restart | None = None
    won: bool = False
    counts: bool = True
    cost: float | None = 0.0

    @classmethod
    def of(cls, summary: Summary, journal: Path) -> Loss:
        recorded = load_recorded(journal)
        return cls(summary, recorded, recorded.started.limits.steps or 0, summary.cell, [])

    def is_corrected(self) -> bool:
        """Correct the first error of the last version, unless that was won. Returns whether there was one."""
        if self.won or not self.counts:
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
    seeds = {cell.setting: dict.fromkeys(one.seed for one in cells if one.setting == cell.setting) for cell in cells}
    models = dict.fromkeys(cell.model for cell in cells)
    setups = {(loss.cell.setting, loss.cell.mode): loss.recorded.played for loss in losses}
    paid = [cell.model for cell in cells if not is_free(cell)]
    budget, prices = make_budget(config.limits, paid)
    setup = Setup(
        config.model_copy(update={"limits": losses[0].recorded.config.limits}),
        Matrix(
            {setting: tuple(own) for setting, own in seeds.items()},
            tuple(dict.fromkeys(cell.mode for cell in cells)),
            tuple(models),
            max(cell.repeat for cell in cells),
        ),
        setups,
        limits=Limits(None),
        budget=budget,
        prices=prices,
        access=access,
        planners=max(1, min(config.run.workers, os.cpu_count() or 1)),
    )
    for cell in {cell.configuration: cell for cell in cells}.values():
        make_cell_model(cell, setup)
    return setup


def _play_on(console: Console, setup: Setup, losses: Sequence[Loss], path: Path, source: str) -> int:
    """Play the episodes on from their corrections, each with a budget of steps of its own; the exit code.

    Raises `UsageError` for a folder with the corrections of another run.
    """
    known = read_manifest(path).get(RESUMED, {}).get("source") if (path / MANIFEST).exists() else source
    if known != source:
        raise UsageError(f"{path} belongs to another run", f"It has corrections of {known}.", "Use another --run.")
    by_cell = {loss.cell: loss for loss in losses}
    for loss in losses:
        loss.counts = False  # until it has a result

    def begin(cell: Cell, tools: Tools) -> Iterator[Event]:
        loss, played = by_cell[cell], setup.played_in(cell)
        assert loss.restart is not None and isinstance(played.options, TextGameOptions)
        limits = replace(loss.recorded.started.limits, steps=loss.restart.step + loss.steps)
        return play(cell, played.setting, played.options, replace(tools, limits=limits), restart=loss.restart)

    with evaluating(setup, path, {RESUMED: {"source": source}}, cells=tuple(by_cell), begin=begin) as running:
        run_evaluation(console, running)
    costs = costs_of(path)
    for summary in running.results:
        loss = by_cell[summary.cell]
        loss.won, cost = summary.won, costs.get(summary.cell.label, 0.0)
        has_price = is_free(summary.cell) or summary.cell.model in running.prices
        loss.cost = loss.cost + cost if has_price and loss.cost is not None else None
        loss.counts = summary.counts
        if summary.counts:
            loss.recorded = load_recorded(path / EPISODES / journal_name(summary.cell, summary.attempt))
    code = farewell(console, running)
    # All episodes may have ended after the interrupt, and yet the user wants no further correction.
    return exits.INTERRUPTED if running.evaluation.stopped in (Stop.DRAINED, Stop.ABORTED) else code


def _show(console: Console, losses: Sequence[Loss]) -> None:
    """How many losses were one error, two, up to five; by configuration, and by the kind of the first error."""
    after = [f"after {number}" for number in range(1, MAX_CORRECTIONS + 1)]
    groups: dict[tuple[str, ...], list[Loss]] = {}
    for loss in losses:
        groups.setdefault(loss.summary.cell.configuration, []).append(loss)
    body = [
        [*name, str(len(group)), *(str(_won_after(group, n)) for n in range(1, MAX_CORRECTIONS + 1)), *_rest(group)]
        for name, group in groups.items()
    ]
    head = ["game", "mode", "model", "lost", *after, "still lost", "no error", "no result", "cost"]
    print_table(console, Table("Lost episodes that are won after so many corrections", head, body))
    known = [loss for loss in losses if loss.counts and loss.errors]
    kinds = Counter(loss.errors[0].kind for loss in known)
    body = []
    for kind, number in kinds.most_common():
        group = [loss for loss in known if loss.errors[0].kind == kind]
        won, interval = _won_after(group, 1), wilson(_won_after(group, 1), number)
        share = f"{100 * won / number:.0f}%"
        body.append([kind, str(number), str(won), share, interval.percent])
    head = ["first error", "lost", "won without it", "share", "95 %"]
    print_table(console, Table("What one error cost", head, body))


def _won_after(losses: Sequence[Loss], corrections: int) -> int:
    return sum(loss.won and len(loss.errors) == corrections for loss in losses)


def _rest(losses: Sequence[Loss]) -> tuple[str, ...]:
    """Still lost, without an error that could be found, without a result, and what it cost."""
    still = sum(loss.counts and not loss.won and bool(loss.errors) for loss in losses)
    without_error = sum(not loss.errors for loss in losses)
    without_result = sum(not loss.counts for loss in losses)
    costs = [loss.cost for loss in losses]
    total = money(None if None in costs else sum(cost or 0.0 for cost in costs))
    return str(still), str(without_error), str(without_result), total


def _is_lost(summary: Summary) -> bool:
    """Whether the episode says something about its model, was lost, and had problems to correct."""
    return summary.counts and not summary.won and parse_mode(summary.cell.mode).mode.name in _MODES
