"""`pddlego counterfactual`: corrects the first errors of models in lost episodes, and counts the episodes won then.

Each corrected episode has a control: the same episode is played on from the same step without the correction, with the
same sampling seed. A model that answers anew wins some episodes anyway.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from pddlego.cli import exits
from pddlego.cli.evaluating import report_missing_results, run_evaluation
from pddlego.cli.exits import handle_sigterm, interrupt_handlers, restore_handlers
from pddlego.cli.options import OfGame, OfMode, OfSeed, with_options
from pddlego.display.console import Console
from pddlego.errors import UsageError
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.config import Config, LimitOptions, resolve
from pddlego.evaluation.config import Run as RunOptions
from pddlego.evaluation.models import is_free
from pddlego.evaluation.prepare import make_continuing_setup
from pddlego.evaluation.replay import Recorded, load_recorded
from pddlego.evaluation.runner import Stop
from pddlego.evaluation.setup import Continuation, Setup
from pddlego.evaluation.statistics import mcnemar, paired_difference
from pddlego.methods.registry import parse_mode
from pddlego.methods.textgames.command_resume import endpoint_again
from pddlego.methods.textgames.first_error import Correction, FirstError, correction
from pddlego.methods.textgames.options import PLANNING, WRITES_DOMAIN
from pddlego.methods.textgames.resume import recorded_game
from pddlego.models.endpoint import Access, Endpoint
from pddlego.report.build import is_reportable, load_results
from pddlego.report.tables import Table, points, print_table
from pddlego.runs.cells import Cell
from pddlego.runs.folders import CONTROL, EPISODES, MANIFEST, RESUMED, find_run
from pddlego.runs.listing import costs_of
from pddlego.runs.store import journal_name, replayed_source, source_of
from pddlego.runs.summary import Summary
from pddlego.util.text import count, money

_MAX_CORRECTIONS = 5
"""The maximum number of errors that are corrected in an episode, one after another."""

_MODES = tuple(mode for mode in PLANNING if mode not in WRITES_DOMAIN)
"""The modes whose problems can be corrected. In the other modes, the model invents the names of the domain."""

_OPTIONS = frozenset(
    ("runs", "run", "workers", "llm_jobs", "base_url", "cache", "max_calls", "max_tokens", "max_cost", "prices")
)

_With = Annotated[str | None, typer.Option("--with", help="The model that plays on. [default: the episode's own]")]


@with_options((RunOptions, Endpoint, LimitOptions), only=_OPTIONS - {"cache"})
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

    As a control, each episode is also played on from the same step without the correction. What is lost again is
    corrected again, up to five times. Text games only. Exit code: 0 all were played on, 2 wrong usage, 3 some are lost
    to errors or the budget, 130 interrupted.
    """
    handle_sigterm()
    config = resolve(flags, os.environ, names=_OPTIONS).config
    place = find_run(run, is_preferred=is_reportable)
    filters = {"setting": game, "mode": mode, "model": model, "seed": seed}
    filters = {name: value for name, value in filters.items() if value is not None}
    results = load_results([place])
    repeats = max((result.cell.repeat for result in results), default=1)
    losses = [
        _Loss.of(summary, place / EPISODES / journal_name(summary.cell, summary.attempt), with_model, repeats)
        for summary in results
        if _is_lost(summary) and all(getattr(summary.cell, name) == value for name, value in filters.items())
    ]
    if not losses:
        reason = f"It has no lost episode of a text game in the modes {', '.join(_MODES)}."
        raise UsageError(f"{place} has no lost episode to correct", reason, "Name another run, or other filters.")
    if len({loss.cell for loss in losses}) < len(losses):
        reason = "The run has lost episodes of several models on the same game, mode and seed."
        raise UsageError("--with plays on the episodes of one model", reason, "Choose them with --model.")
    console = Console()
    config, access = _continued_config(console, losses[0].recorded, with_model, config)
    source = source_of(place)
    name = config.run.run or "-".join(("counterfactual", place.name, *map(str, filters.values())))
    target = Path(config.run.runs) / name
    code = _correct_and_replay(console, losses, config, access, target=target, source=source)
    _show(console, losses)
    console.print(f"Saved in {target}", style="dim", soft_wrap=True)
    raise typer.Exit(code)


def _correct_and_replay(
    console: Console, losses: Sequence[_Loss], config: Config, access: Access, *, target: Path, source: str
) -> int:
    """Correct each loss and play on, until nothing is left to correct or not all are played. Returns the exit code."""
    handlers = interrupt_handlers()
    for number in range(1, _MAX_CORRECTIONS + 1):
        corrected = [loss for loss in losses if loss.correct_first_error()]
        if not corrected:
            break
        for suffix, what in ((CONTROL, "without a correction"), ("", "with a correction")):
            episodes = f"{len(corrected)} of {count(len(losses), 'episode')}"
            console.print(f"Round {number}, {what}: {episodes}", style="bold")
            versions = {loss.cell: loss.continuation(is_control=bool(suffix)) for loss in corrected}
            setup = make_continuing_setup(versions, config, access)
            code = _play_on(console, setup, corrected, target / f"{number}{suffix}", source)
            if code != exits.WON:
                return code
            restore_handlers(handlers)
    return exits.WON


def _continued_config(console: Console, recorded: Recorded, model: str | None, typed: Config) -> tuple[Config, Access]:
    """The configuration of a recorded episode with the cache, budget and workers that were `typed`, and the key."""
    endpoint, access = endpoint_again(console, recorded, model, typed.endpoint.base_url)
    changed = {
        "endpoint": endpoint.model_copy(update={"cache": typed.endpoint.cache}),
        "limits": typed.limits.model_copy(update={"retries": recorded.config.limits.retries}),
        "run": typed.run,
    }
    return recorded.config.model_copy(update=changed), access


@dataclass
class _Loss:
    """A lost episode and its corrected versions. `recorded` is the last version, `errors` are the corrected errors.

    The next version is played as `cell`: its error is corrected, or not, in a control. The repeat of the cell is a new
    one, so that the model samples other answers, the same in both. `corrected` and `controls` say whether each version
    was won. `cost` is the cost of all of them; None if the model has no price.
    """

    summary: Summary
    recorded: Recorded
    steps: int
    cell: Cell
    errors: list[FirstError] = field(default_factory=list)
    correction: Correction | None = None
    corrected: list[bool] = field(default_factory=list)
    controls: list[bool] = field(default_factory=list)
    cost: float | None = 0.0

    @classmethod
    def of(cls, summary: Summary, journal: Path, model: str | None, repeats: int) -> _Loss:
        recorded = load_recorded(journal)
        cell = replace(summary.cell, model=model or summary.cell.model, repeat=summary.cell.repeat + repeats)
        return cls(summary, recorded, recorded.trace.begun.limits.steps or 0, cell)

    @property
    def won(self) -> bool:
        return self.corrected[-1:] == [True]

    @property
    def counts(self) -> bool:
        """Whether each correction has a result."""
        return len(self.corrected) == len(self.errors)

    def correct_first_error(self) -> bool:
        """Correct the first error of the last version, unless it was won. Returns whether there was one."""
        if self.won or not self.counts:
            return False
        recorded = self.recorded
        self.correction = correction(recorded_game(recorded.path, recorded.trace, recorded.played.setting))
        self.errors += [self.correction.error] if self.correction else []
        return self.correction is not None

    def continuation(self, is_control: bool) -> Continuation:
        """The last version without its first error, or with it. It may take as many steps from there as an episode."""
        assert self.correction is not None, "an error was corrected"
        restart = self.correction.control if is_control else self.correction.restart
        limits = replace(self.recorded.trace.begun.limits, steps=restart.step + self.steps)
        return Continuation(self.recorded.played, restart, limits)

    def add_result(self, summary: Summary, path: Path, is_control: bool) -> None:
        """Add the result of a version, if it has one."""
        if summary.counts and is_control:
            self.controls.append(summary.won)
        elif summary.counts:
            self.corrected.append(summary.won)
            self.recorded = load_recorded(path / EPISODES / journal_name(summary.cell, summary.attempt))


def _play_on(console: Console, setup: Setup, losses: Sequence[_Loss], path: Path, source: str) -> int:
    """Play the corrected episodes, or their controls, and return the exit code.

    Raises `UsageError` if the folder contains corrections of another run.
    """
    old_source = replayed_source(path)
    if (path / MANIFEST).exists() and old_source != source:
        raise UsageError(f"{path} belongs to another run", f"It has corrections of {old_source}.", "Use another --run.")
    by_cell = {loss.cell: loss for loss in losses}
    with evaluating(setup, path, {RESUMED: {"source": source}}) as running:
        run_evaluation(console, running)
    costs = costs_of(path)
    for summary in running.results:
        loss = by_cell[summary.cell]
        cost = costs.get(summary.cell.label, 0.0)
        has_price = is_free(summary.cell) or summary.cell.model in running.prices
        loss.cost = loss.cost + cost if has_price and loss.cost is not None else None
        loss.add_result(summary, path, path.name.endswith(CONTROL))
    code = report_missing_results(console, running)
    # After an interrupt there is no further correction, even if all episodes have ended.
    return exits.INTERRUPTED if running.evaluation.stopped in (Stop.DRAINED, Stop.ABORTED) else code


def _show(console: Console, losses: Sequence[_Loss]) -> None:
    """Print the episodes that are won after each number of corrections, and what the first one explains."""
    print_table(console, _wins_by_corrections(losses))
    pairs_by_error: dict[str, list[tuple[bool, bool]]] = {}
    for loss in losses:
        if loss.corrected and loss.controls:
            pairs_by_error.setdefault(loss.errors[0].kind, []).append((loss.corrected[0], loss.controls[0]))
    pairs = list(chain(*pairs_by_error.values()))
    most_frequent_first = sorted(pairs_by_error.items(), key=lambda item: -len(item[1]))
    body = [_effect_row(kind, pairs_of_kind) for kind, pairs_of_kind in most_frequent_first]
    body += [_effect_row("(all)", pairs)] if len(pairs_by_error) > 1 else []
    head = ["first error", "lost", "won without it", "won with it", "difference", "95 %", "p"]
    print_table(console, Table("Effect of one correction", head, body))
    if pairs:
        console.print(_verdict(pairs), soft_wrap=True)


def _wins_by_corrections(losses: Sequence[_Loss]) -> Table:
    """For each configuration, the episodes that are won after each number of corrections, and the won controls."""
    numbers = range(1, _MAX_CORRECTIONS + 1)
    groups: dict[tuple[str, ...], list[_Loss]] = {}
    for loss in losses:
        groups.setdefault(loss.summary.cell.configuration, []).append(loss)
    body = []
    for configuration, group in groups.items():
        won = (str(sum(loss.won and len(loss.errors) == number for loss in group)) for number in numbers)
        controls_won = (str(sum(loss.controls[number - 1 : number] == [True] for loss in group)) for number in numbers)
        body.append([*configuration, "corrected", str(len(group)), *won, *_other_counts(group)])
        body.append([*configuration, "not corrected", "", *controls_won, "", "", "", ""])
    head = ["game", "mode", "model", "replayed", "lost", *(f"after {number}" for number in numbers)]
    head += ["still lost", "no error", "no result", "cost"]
    return Table("Lost episodes that are won after so many corrections", head, body)


def _effect_row(error: str, pairs: Sequence[tuple[bool, bool]]) -> list[str]:
    """How many episodes are won without an error, and with it (the control)."""
    corrected, controls = map(sum, zip(*pairs, strict=True))
    interval = paired_difference(pairs)
    bounds = f"{points(interval.low)} to {points(interval.high)}"
    difference = points((corrected - controls) / len(pairs))
    return [error, str(len(pairs)), str(corrected), str(controls), difference, bounds, f"{mcnemar(pairs):.2g}"]


def _verdict(pairs: Sequence[tuple[bool, bool]]) -> str:
    """What the replays show, in a sentence."""
    replays, p = f"{count(len(pairs), 'pair')} of replays", mcnemar(pairs)
    if p >= _SIGNIFICANCE:
        return f"Nothing is shown: no significant difference with and without a correction ({replays}, p = {p:.2g})."
    interval = paired_difference(pairs)
    share = f"{points(interval.low)} to {points(interval.high)} percentage points"
    return f"One correction changes the share of won episodes by {share} (95 %, {replays}, p = {p:.2g})."


_SIGNIFICANCE = 0.05
"""The p-value of McNemar's exact test below which a difference is said to be shown."""


def _other_counts(losses: Sequence[_Loss]) -> tuple[str, ...]:
    """The numbers of episodes still lost, without a known error, and without a result, and the cost."""
    still_lost = sum(loss.counts and not loss.won and bool(loss.errors) for loss in losses)
    without_error = sum(not loss.errors for loss in losses)
    without_result = sum(not loss.counts for loss in losses)
    costs = [loss.cost for loss in losses]
    total = money(None if None in costs else sum(cost or 0.0 for cost in costs))
    return str(still_lost), str(without_error), str(without_result), total


def _is_lost(summary: Summary) -> bool:
    """Whether the episode has a result, was lost, and has problems that can be corrected."""
    return summary.counts and not summary.won and parse_mode(summary.cell.mode).mode.name in _MODES
