"""`pddlego truth`: reports why recorded episodes were lost, and the shares of right facts."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from pddlego.cli import exits, options
from pddlego.cli.explaining import check_progress, explain_journals
from pddlego.cli.printing import Format
from pddlego.display.console import Console
from pddlego.errors import JournalError
from pddlego.evaluation.config import LimitOptions, resolve
from pddlego.evaluation.replay import SettingLoader
from pddlego.evaluation.resources import make_budget
from pddlego.evaluation.table import NAMES, Configuration, as_values, by_configuration
from pddlego.evaluation.truth import Causes, check_episode
from pddlego.methods.base import BUILT_IN_MODEL
from pddlego.models.base import Model
from pddlego.models.endpoint import Access, Endpoint, make_endpoint, prepare_cache
from pddlego.models.limiter import SharedLimiter
from pddlego.report.tables import Table, cause_table, print_table, share_tables
from pddlego.runs.cells import NO_MODEL, Cell
from pddlego.runs.folders import EpisodeFilter, find_journals, find_run, last_journals, started_of
from pddlego.runs.summary import Summary
from pddlego.util.options import names_of
from pddlego.util.text import clean, count

_ReferenceOption = Annotated[
    str | None,
    typer.Option(
        "--with",
        help="Text games: compare facts with what this model or the built-in reader reads. "
        "[default: the game's own facts if it reports them, else reader]",
    ),
]
_TYPED = ("base_url", "max_calls", "max_tokens", "max_cost", "prices")


@options.with_options((Endpoint, LimitOptions), only=_TYPED)
def command(
    flags: dict[str, Any],
    run: options.RunArgument,
    game: options.OfGame = None,
    mode: options.OfMode = None,
    model: options.OfModel = None,
    seed: options.OfSeed = None,
    only: options.Only = None,
    reference: _ReferenceOption = None,
    form: Format = "text",
) -> None:
    """Say why episodes were lost: the errors of the model that lasted, and how often won episodes had them, too.

    Text games: every fact of every problem is compared with the game's own facts, where its engine reports them, or
    with what the built-in reader or another model makes of the same observations. Programs: the first task that fails,
    and its first wrong action. Search spaces: the first test that fails. Graphplan: the first action of a shortest plan
    that was pruned. Builders: the first difference from the reference files.
    """
    asks = reference not in (None, BUILT_IN_MODEL)
    typed = [f"--{name.replace('_', '-')}" for name in flags]
    options.refuse_unread(typed, "--with MODEL" if asks else "", dict.fromkeys(typed, ("--with MODEL",)))
    place = find_run(run)
    episode_filter, selection = EpisodeFilter(game, mode, model, seed), options.result_filter(only)
    console = Console()
    if reference is None:
        explained, causes = explain_journals(place, episode_filter, selection, check_progress())
        results = list(explained.values())
    else:
        compared = reference if reference == BUILT_IN_MODEL else _model(reference, flags)
        results = _compared(find_journals(place, episode_filter), compared)
        causes = Causes(results)
        results = [result for result in results if selection.matches(result, causes)]
    if form == "json":
        rows = [
            {**as_values(result), "first_error": result.measures.first_error, "cause": causes.of(result)}
            for result in results
        ]
        console.out(json.dumps(rows, indent=1))
    else:
        _show(console, results, causes, episode_filter)
    raise typer.Exit(exits.WON)


def _model(name: str, flags: dict[str, Any]) -> Model:
    """The language model with this name, limited by the budget of the options."""
    config = resolve(flags, os.environ, names={*names_of(Endpoint), *_TYPED}).config
    prepare_cache(config.endpoint.cache)
    budget, prices = make_budget(config.limits, [name])
    limiter = SharedLimiter(1, budget, None, prices, max_answer=config.endpoint.max_tokens)
    return make_endpoint(name, config.endpoint, Access(os.environ.get("OPENAI_API_KEY")), limiter)


def _compared(journals: Sequence[Path], reference: Model | str) -> list[Summary]:
    """The results of the last attempts, with the facts of the model compared with those that `reference` reads."""
    results, loader = [], SettingLoader()
    for journal in last_journals(journals):
        if started_of(journal):
            try:
                results.append(check_episode(journal, reference, loader)[1])
            except JournalError as error:
                Console(stderr=True).print(clean(error.sentence), style="yellow")
    return results


def _show(console: Console, results: Sequence[Summary], causes: Causes, episode_filter: EpisodeFilter) -> None:
    """Print the errors that lasted, the shares of right facts, and the cause of each loss."""

    def is_selected(configuration: Configuration) -> bool:
        return episode_filter.has(Cell(*configuration, seed=episode_filter.seed or 0))

    for table in (cause_table(causes, is_selected), *share_tables(by_configuration(results))):
        if table.body:
            print_table(console, table)
    body = [
        [*result.cell.configuration, str(result.cell.seed), result.outcome.value, causes.of(result) or "-"]
        for result in results
        if not result.won and result.cell.model != NO_MODEL
    ]
    if body:
        print_table(console, Table("Cause of each loss", [*NAMES, "seed", "outcome", "cause"], body))
    without_model = [result for result in results if result.cell.model == NO_MODEL]
    if not body:
        played, condition = len(results) - len(without_model), " with a model" if without_model else ""
        console.print(f"{count(played, 'episode')}{condition}: all were won." if played else "No model played.")
    if lost := sum(not result.won for result in without_model):
        total, verb = count(len(without_model), "episode"), "was" if lost == 1 else "were"
        console.print(f"{lost} of {total} without a model {verb} not won. No error of a model can be the cause.")
