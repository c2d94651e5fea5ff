"""`pddlego truth`: reports the first error of the model in each recorded episode, and the shares of right facts."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pddlego.cli import exits
from pddlego.cli.options import OfGame, OfMode, OfModel, OfSeed, RunArgument, place_named, with_options
from pddlego.display.console import Console
from pddlego.errors import JournalError
from pddlego.evaluation.config import LimitOptions, resolve
from pddlego.evaluation.config import Run as RunOptions
from pddlego.evaluation.replay import load_recorded
from pddlego.evaluation.setup import make_budget
from pddlego.evaluation.table import NAMES, as_values, by_configuration
from pddlego.methods.base import BUILT_IN_MODEL
from pddlego.methods.textgames.reader import ReaderModel
from pddlego.models.base import Model
from pddlego.models.endpoint import Access, Endpoint, make_endpoint, prepare_cache
from pddlego.models.limiter import SharedLimiter
from pddlego.report.tables import Table, print_table, share_tables
from pddlego.runs.folders import EpisodeFilter, find_journals, started_of
from pddlego.runs.store import journal_parts
from pddlego.runs.summary import Summary, summarize
from pddlego.util.options import names_of
from pddlego.util.text import clean, count

_ReferenceOption = Annotated[
    str | None,
    typer.Option(
        "--reference",
        help="Text games: compare facts with what this model or the built-in reader reads. "
        "[default: the game's own facts if it reports them, else reader]",
    ),
]
_Format = Annotated[Literal["text", "json"], typer.Option("--format", help="text or json.")]

_BUDGET = frozenset({"max_calls", "max_tokens", "max_cost", "prices"})
_NAMES = names_of(Endpoint) | _BUDGET


@with_options((RunOptions, Endpoint, LimitOptions), only=_NAMES | {"runs"})
def command(
    flags: dict[str, Any],
    run: RunArgument,
    game: OfGame = None,
    mode: OfMode = None,
    model: OfModel = None,
    seed: OfSeed = None,
    reference: _ReferenceOption = None,
    to: _Format = "text",
) -> None:
    """Say what models got wrong first in recorded episodes.

    Text games: every fact of every problem is compared with the game's own facts, where its engine reports them, or
    with what the built-in reader or another model makes of the same observations. Programs: the first task that fails,
    and its first wrong action. Search spaces: the first test that fails. Graphplan: the first action of a shortest plan
    that was pruned. Builders: the first difference from the reference files.
    """
    place = place_named(run, flags.pop("runs", None))
    journals = _last_attempts(find_journals(place, EpisodeFilter(game, mode, model, seed)))
    compared = None if reference is None else ReaderModel() if reference == BUILT_IN_MODEL else _model(reference, flags)
    console = Console()
    results = []
    for journal in journals:
        try:
            results.append(_checked_result(journal, compared))
        except JournalError as error:
            Console(stderr=True).print(clean(error.sentence), style="yellow")
    if to == "json":
        rows = [{**as_values(summary), "first_error": summary.measures.first_error} for summary in results]
        console.out(json.dumps(rows, indent=1))
    else:
        _show(console, results)
    raise typer.Exit(exits.WON)


def _model(name: str, flags: dict[str, Any]) -> Model:
    """The language model with this name, limited by the budget of the options."""
    config = resolve(flags, os.environ, names=_NAMES).config
    prepare_cache(config.endpoint.cache)
    budget, prices = make_budget(config.limits, [name])
    limiter = SharedLimiter(1, budget, None, prices, max_answer=config.endpoint.max_tokens)
    return make_endpoint(name, config.endpoint, Access(os.environ.get("OPENAI_API_KEY")), limiter)


def _last_attempts(journals: Sequence[Path]) -> list[Path]:
    """The journal of the last attempt at each episode, without empty journals."""
    last = {journal_parts(journal)[0]: journal for journal in sorted(journals, key=lambda path: journal_parts(path)[1])}
    return [journal for journal in journals if journal in last.values() and started_of(journal)]


def _checked_result(journal: Path, reference: Model | None) -> Summary:
    """The summary of an episode with checks of the model's facts, against the facts that `reference` reads, if any."""
    recorded = load_recorded(journal)
    return summarize(recorded.cell, 1, recorded.checked(reference), recorded.played.method.measuring.of)


def _show(console: Console, results: Sequence[Summary]) -> None:
    """Print the shares of right facts, and the first error of each episode that was not won."""
    for table in share_tables(by_configuration(results)):
        if table.body:
            print_table(console, table)
    lost = [summary for summary in results if not summary.won]
    body = [
        [
            *summary.cell.configuration,
            str(summary.cell.seed),
            summary.outcome.value,
            summary.measures.first_error or "-",
        ]
        for summary in lost
    ]
    if body:
        head = [*NAMES, "seed", "outcome", "first error"]
        print_table(console, Table("First error of each episode that was not won", head, body))
    else:
        console.print(f"{count(len(results), 'episode')}: all were won.")
