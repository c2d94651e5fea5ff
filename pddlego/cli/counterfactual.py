"""`pddlego counterfactual`: corrects the first errors of models in lost episodes, and counts the episodes won then."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from pddlego.cli import exits
from pddlego.cli.evaluating import report_missing_results, run_evaluation
from pddlego.cli.exits import handle_sigterm, interrupt_handlers, restore_handlers
from pddlego.cli.options import OfGame, OfMode, OfSeed, place_named, with_options
from pddlego.cli.resuming import endpoint_again
from pddlego.display.console import Console
from pddlego.errors import UsageError
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.config import Config, LimitOptions, resolve
from pddlego.evaluation.config import Run as RunOptions
from pddlego.evaluation.models import is_free
from pddlego.evaluation.replay import Recorded, load_recorded
from pddlego.evaluation.runner import Stop
from pddlego.evaluation.setup import Continuation, Setup, make_continuing_setup
from pddlego.evaluation.statistics import wilson
from pddlego.methods.registry import parse_mode
from pddlego.methods.textgames.first_error import FirstError, correction
from pddlego.methods.textgames.options import PLANNING, WRITES_DOMAIN
from pddlego.methods.textgames.resume import recorded_game
from pddlego.methods.textgames.world import Restart
from pddlego.models.endpoint import Access, Endpoint
from pddlego.report.build import is_reportable, load_results
from pddlego.report.tables import Table, print_table
from pddlego.runs.cells import Cell
from pddlego.runs.folders import EPISODES, MANIFEST, RESUMED
from pddlego.runs.listing import costs_of
from pddlego.runs.store import journal_name, read_manifest
from pddlego.runs.summary import Summary
from pddlego.util.text import money

_MAX_CORRECTIONS = 5
"""The maximum number of errors that are corrected in an episode, one after another."""

_MODES = tuple(mode for mode in PLANNING if mode not in WRITES_DOMAIN)
"""The modes whose problems can be corrected. In the other modes, the model invents the names of the domain."""

_OPTIONS = frozenset(
    ("runs", "run", "workers", "llm_jobs", "base_url", "cache", "max_calls", "max_tokens", "max_cost", "prices")
)

_With = Annotated[str | None, typer.Option("--with", help="The model that plays on. [default: the episode's own]")]


@with_options((RunOptions, Endpoint, LimitOptions), only=_OPTIONS)
def command(
    flags: dict[str, Any],
    run: Annotated[str, typer.Argument(help="A run folder, its name or a unique prefix, or latest.")],
    game: OfGame = None,
    mode: OfMode = None,
    model: Annotated[str | None, typer.Option("--model", help="Only this model.")] = None,
    seed: OfSeed = None,
    with_model: _With = None,
) -> None:
    """Correct what the model got wrong first in each lost episode, play on from there, and count what is won.

    What is lost again is corrected again, up to five times. Text games only. Exit code: 0 all were played on, 2 wrong
    usage, 3 some are lost to errors or the budget, 130 interrupted.
    """
    handle_sigterm()
    config = resolve(flags, os.environ, names=_OPTIONS).config
    place = place_named(run, flags.get("runs"), is_reportable)
    wanted = {"setting": game, "mode": mode, "model": model, "seed": seed}
    losses = [
        _Loss.of(summary, place / EPISODES / journal_name(summary.cell, summary.attempt), with_model)
        for summary in load_results([place])
        if _is_lost(summary) and all(value in (None, getattr(summary.cell, name)) for name, value in wanted.items())
    ]
    if not losses:
        reason = f"It has no lost episode of a text game in the modes {', '.join(_MODES)}."
        raise UsageError(f"{place} has no lost episode to correct", reason, "Name another run, or other filters.")
    if len({loss.cell for loss in losses}) < len(losses):
        reason = "The run has lost episodes of several models on the same game, mode and seed."
        raise UsageError("--with plays on the episodes of one model", reason, "Choose them with --model.")
    console = Console()
    config, access = _continued_config(console, losses[0].recorded, with_model, config)
    source = f"{place.resolve()}, begun {read_manifest(place).get('created', '')}"
    target = Path(config.run.runs) / (config.run.run or f"counterfactual-{place.name}")
    code, handlers = exits.WON, interrupt_handlers()
    for number in range(1, _MAX_CORRECTIONS + 1):
        waiting = [loss for loss in losses if loss.correct_first_error()]
        if not waiting:
            break
        console.print(f"Correction {number}: {len(waiting)} of {len(losses)} episodes", style="bold")
        setup = make_continuing_setup({loss.cell: loss.continuation() for loss in waiting}, config, access)
        code = _play_on(console, setup, waiting, target / str(number), source)
        if code != exits.WON:
            break
        restore_handlers(handlers)
    _show(console, losses)
    console.print(f"Saved in {target}", style="dim", soft_wrap=True)
    raise typer.Exit(code)


def _continued_config(console: Console, recorded: Recorded, model: str | None, chosen: Config) -> tuple[Config, Access]:
    """The configuration of a recorded episode with the cache, budget and workers of `chosen`, and the key."""
    endpoint, access = endpoint_again(console, recorded, model, chosen.endpoint.base_url)
    changed = {
        "endpoint": endpoint.model_copy(update={"cache": chosen.endpoint.cache}),
        "limits": chosen.limits.model_copy(update={"retries": recorded.config.limits.retries}),
        "run": chosen.run,
    }
    return recorded.config.model_copy(update=changed), access


@dataclass
class _Loss:
    """A lost episode and its corrected versions. `recorded` is the last version, `errors` are the corrected errors.

    The next version is played as `cell` from `restart` on. `counts` is true if the last version has a result. `cost` is
    the cost of all versions; None if the model has no price.
    """

    summary: Summary
    recorded: Recorded
    steps: int
    cell: Cell
    errors: list[FirstError] = field(default_factory=list)
    restart: Restart | None = None
    won: bool = False
    counts: bool = True
    cost: float | None = 0.0

    @classmethod
    def of(cls, summary: Summary, journal: Path, model: str | None) -> _Loss:
        recorded = load_recorded(journal)
        cell = replace(summary.cell, model=model or summary.cell.model)
        return cls(summary, recorded, recorded.started.limits.steps or 0, cell)

    def correct_first_error(self) -> bool:
        """Correct the first error of the last version, unless it was won. Returns whether an error was corrected."""
        if self.won or not self.counts:
            return False
        recorded = self.recorded
        corrected = correction(recorded_game(recorded.path, recorded.trace, recorded.played.setting))
        self.restart = corrected.restart if corrected else None
        self.errors += [corrected.error] if corrected else []
        return corrected is not None

    def continuation(self) -> Continuation:
        """The last version without its first error. It may take as many steps after the restart as an episode."""
        assert self.restart is not None, "an error was corrected"
        limits = replace(self.recorded.started.limits, steps=self.restart.step + self.steps)
        return Continuation(self.recorded.played, self.restart, limits)


def _play_on(console: Console, setup: Setup, losses: Sequence[_Loss], path: Path, source: str) -> int:
    """Play the corrected episodes, and return the exit code.

    Raises `UsageError` if the folder contains corrections of another run.
    """
    old_source = read_manifest(path).get(RESUMED, {}).get("source") if (path / MANIFEST).exists() else source
    if old_source != source:
        raise UsageError(f"{path} belongs to another run", f"It has corrections of {old_source}.", "Use another --run.")
    by_cell = {loss.cell: loss for loss in losses}
    for loss in losses:
        loss.counts = False  # until the new version has a result
    with evaluating(setup, path, {RESUMED: {"source": source}}) as running:
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
    code = report_missing_results(console, running)
    # After an interrupt there is no further correction, even if all episodes have ended.
    return exits.INTERRUPTED if running.evaluation.stopped in (Stop.DRAINED, Stop.ABORTED) else code


def _show(console: Console, losses: Sequence[_Loss]) -> None:
    """Print the episodes that are won after each number of corrections, and after one by the kind of the error."""
    after = [f"after {number}" for number in range(1, _MAX_CORRECTIONS + 1)]
    groups: dict[tuple[str, ...], list[_Loss]] = {}
    for loss in losses:
        groups.setdefault(loss.summary.cell.configuration, []).append(loss)
    body = [
        [
            *name,
            str(len(group)),
            *(str(_won_after(group, n)) for n in range(1, _MAX_CORRECTIONS + 1)),
            *_other_counts(group),
        ]
        for name, group in groups.items()
    ]
    head = ["game", "mode", "model", "lost", *after, "still lost", "no error", "no result", "cost"]
    print_table(console, Table("Lost episodes that are won after so many corrections", head, body))
    corrected = [loss for loss in losses if loss.counts and loss.errors]
    kinds = Counter(loss.errors[0].kind for loss in corrected)
    body = []
    for kind, number in kinds.most_common():
        group = [loss for loss in corrected if loss.errors[0].kind == kind]
        won, interval = _won_after(group, 1), wilson(_won_after(group, 1), number)
        share = f"{100 * won / number:.0f}%"
        body.append([kind, str(number), str(won), share, interval.percent])
    head = ["first error", "lost", "won without it", "share", "95 %"]
    print_table(console, Table("What one error cost", head, body))


def _won_after(losses: Sequence[_Loss], corrections: int) -> int:
    return sum(loss.won and len(loss.errors) == corrections for loss in losses)


def _other_counts(losses: Sequence[_Loss]) -> tuple[str, ...]:
    """The numbers of episodes still lost, without a known error, and without a result, and the cost."""
    still = sum(loss.counts and not loss.won and bool(loss.errors) for loss in losses)
    without_error = sum(not loss.errors for loss in losses)
    without_result = sum(not loss.counts for loss in losses)
    costs = [loss.cost for loss in losses]
    total = money(None if None in costs else sum(cost or 0.0 for cost in costs))
    return str(still), str(without_error), str(without_result), total


def _is_lost(summary: Summary) -> bool:
    """Whether the episode has a result, was lost, and has problems that can be corrected."""
    return summary.counts and not summary.won and parse_mode(summary.cell.mode).mode.name in _MODES
