"""Opens an evaluation in its run folder: store, planners, ledger, limiter and executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

from pddlego.episode.events import Event
from pddlego.errors import PddlegoError, UsageError
from pddlego.evaluation.dependencies import reads
from pddlego.evaluation.models import is_free
from pddlego.evaluation.playing import play
from pddlego.evaluation.resources import make_limiter, make_planners
from pddlego.evaluation.runner import Executor, Player, Runner
from pddlego.evaluation.setup import Setup
from pddlego.evaluation.table import cost_of, result_table
from pddlego.methods.base import base_mode
from pddlego.methods.registry import make_codec, measuring_of, modes, parse_mode
from pddlego.models.limiter import Ledger, LedgerEntry, Load, Price, SharedLimiter, read_ledger
from pddlego.planning import Planner
from pddlego.runs.cells import Cell, Matrix
from pddlego.runs.folders import LEDGER
from pddlego.runs.store import TABLE, Store, environment_manifest, kept_text, read_cells, read_recorded_prices
from pddlego.runs.summary import Summary
from pddlego.util.files import write_run_file


@dataclass
class Running:
    """An open evaluation. `known` are the results that it begins with, `results` those after it has been closed.

    `limiter` admits the requests of this process; `load` returns the load of all, also on a cluster. After the
    evaluation, `attempts` are all attempts at its cells, and `entries` the requests of all of them.
    """

    cells: tuple[Cell, ...]
    known: Mapping[Cell, Summary]
    store: Store
    evaluation: Runner
    limiter: SharedLimiter
    load: Callable[[], Load]
    planner: Planner
    prices: Mapping[str, Price]
    results: list[Summary] = field(default_factory=list)
    attempts: list[Summary] = field(default_factory=list)
    entries: list[LedgerEntry] = field(default_factory=list)

    @property
    def warnings(self) -> Sequence[str]:
        """Descriptions of damaged files in the folder."""
        return self.store.warnings


@contextmanager
def evaluating(setup: Setup, path: Path, about: Mapping[str, Any] | None = None) -> Iterator[Running]:
    """Open an evaluation in the folder `path`, new or continued, and write the result table when it is closed.

    Raises `PddlegoError`, for example for a folder that has another configuration or is in use.
    """
    cells = setup.cells()
    store = open_store(path, setup.configuration(), about or {}, setup.requested)
    with store, make_planners(setup) as planner:
        for matrix in setup.requested:
            store.plan(matrix, setup.prices)
        prices = read_recorded_prices(path)
        with closing(Ledger(path / LEDGER)) as ledger:
            store.warnings += ledger.warnings
            store.recover(cells)
            _check_ledger(path, ledger, store)
            paid = ((attempt, cost_of([attempt], prices)) for attempt in store.attempts if attempt.usage.tokens)
            ledger.price(prices, {attempt.cell.label: cost / attempt.usage.tokens for attempt, cost in paid if cost})
            limiter = make_limiter(setup, ledger, prices)
            known = {cell: summary for cell in cells if (summary := store.finished(cell)) is not None}
            waiting = [cell for cell in cells if cell not in known]

            def player(cell: Cell) -> Iterator[Event]:
                before = takewhile(cell.__ne__, read_cells(path))
                carried = _carried(store, cell, before) if setup.config.run.carry else None
                return play(cell, setup, planner, limiter, carried=carried)

            with _executor(setup, player, limiter, ledger) as executor:
                evaluation = Runner(waiting, store, executor, workers=setup.workers)
                running = Running(
                    cells=cells,
                    known=known,
                    store=store,
                    evaluation=evaluation,
                    limiter=limiter,
                    load=executor.load,
                    planner=planner,
                    prices=prices,
                )
                yield running
        results, mine = store.results(), set(cells)
        running.results += [summary for summary in results if summary.cell in mine]
        running.attempts += [summary for summary in store.attempts if summary.cell in mine]
        labels = {cell.label for cell in cells}
        running.entries += [entry for entry in read_ledger(path / LEDGER)[0].values() if entry.origin in labels]
        write_run_file(path / TABLE, result_table(results))
        for cell in {cell.configuration: cell for cell in cells}.values():
            with suppress(PddlegoError):  # no result depends on the copy
                if text := _carried(store, cell, read_cells(path)):
                    store.keep_text(f"{cell.series}.{parse_mode(cell.mode).mode.carries.suffix}", text)


def open_store(
    path: Path, configuration: Mapping[str, Any], about: Mapping[str, Any], requested: Sequence[Matrix] = ()
) -> Store:
    """The store of a run folder for episodes of all methods. `about` is added to the manifest."""
    return Store(
        path,
        configuration,
        codec=make_codec(),
        measure_of=lambda cell: measuring_of(cell.setting, cell.mode).measured,
        about={**about, **environment_manifest()},
        requested=requested,
        reads=reads,
    )


def _check_ledger(path: Path, ledger: Ledger, store: Store) -> None:
    """Raise `UsageError` if the ledger has fewer requests than the results: then the amount spent is unknown."""
    known = {mode.name for mode in modes()}  # a method that is no longer installed may have built-in models
    attempts = [summary for summary in store.attempts if base_mode(summary.cell.mode) in known]
    paid = [summary for summary in attempts if not is_free(summary.cell)]
    answered = sum(summary.usage.calls - summary.usage.from_cache for summary in paid)
    sent = int(ledger.spent.calls or 0)
    if sent < answered - len(store.attempts):  # the last call of an attempt may have been refused for the budget
        reason = f"Its results hold {answered} model calls, and its ledger {sent} requests."
        raise UsageError(f"{path} is damaged", reason, "Restore ledger.jsonl, or use another folder with --run.")


@contextmanager
def _executor(setup: Setup, player: Player, limiter: SharedLimiter, ledger: Ledger) -> Iterator[Executor]:
    """The executor that the configuration names."""
    if setup.config.run.executor == "threads":
        yield Executor(player, limiter.break_off, limiter.load)
    else:
        from pddlego.evaluation.cluster import cluster_executor

        ledger.close()  # the actor on the cluster writes it from now on
        with cluster_executor(setup, ledger.path, limiter.prices) as executor:
            yield executor


def _carried(store: Store, cell: Cell, before: Iterable[Cell]) -> str:
    """The text of the last won episode among the cells `before` of the same configuration; empty without one."""
    carries = parse_mode(cell.mode).mode.carries
    if not carries.kind:
        return ""
    results = {result.cell: result for result in store.results()}
    earlier = [results[key] for key in before if key in results and key.configuration == cell.configuration]
    return kept_text(store.path, earlier, make_codec(), carries.kind, carries.of_lost)
