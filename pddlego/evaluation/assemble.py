"""Puts an evaluation together: models, planners and the limiter behind one call. One episode is one of one cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pddlego.errors import UsageError
from pddlego.evaluation.models import is_free, is_free_adviser, make_adviser_model, make_model
from pddlego.evaluation.options import EvaluationOptions
from pddlego.evaluation.runner import Evaluation, Executor
from pddlego.evaluation.table import result_table
from pddlego.events import Event
from pddlego.methods.base import Tools, whole
from pddlego.methods.registry import make_codec, measuring_of, modes
from pddlego.models.limiter import CellLimiter, RequestLimiter, SharedLimiter
from pddlego.models.spending import Price
from pddlego.planning import Planner
from pddlego.planning.pool import PlannerPool
from pddlego.refine.approval import Overseer
from pddlego.refine.asked import Advisers
from pddlego.runs.cells import Cell
from pddlego.runs.kept import kept_domain
from pddlego.runs.ledger import LEDGER, Ledger, LedgerEntry, read_ledger
from pddlego.runs.manifest import environment_manifest
from pddlego.runs.measures import Measures
from pddlego.runs.store import Store, read_recorded_prices
from pddlego.runs.summary import Measure, Summary
from pddlego.util.files import write_run_file

Person = Callable[[tuple[str, ...]], str]
"""Types what comes next, given what is possible."""


def make_planners(options: EvaluationOptions) -> PlannerPool:
    """The planners of an evaluation, tried out on the ladder of every setting. Raises `UsageError`, `SettingError`."""
    made = [options.planner.make() for _ in range(options.planners)]
    pool = PlannerPool(made)
    try:
        for setting in options.settings:
            setting.check(pool)
    except BaseException:
        pool.close()
        raise
    return pool


@dataclass
class Running:
    """An evaluation that is about to run. `known` are the results before it, `results` those after it.

    `attempts` are all that were ever made at its cells, and paid for; `entries` are the requests of all of them.
    `remarks` say what was damaged in the folder.
    """

    cells: tuple[Cell, ...]
    known: Mapping[Cell, Summary]
    store: Store
    evaluation: Evaluation
    limiter: SharedLimiter
    planner: Planner
    prices: Mapping[str, Price]
    results: list[Summary] = field(default_factory=list)
    attempts: list[Summary] = field(default_factory=list)
    entries: list[LedgerEntry] = field(default_factory=list)

    @property
    def remarks(self) -> Sequence[str]:
        return self.store.remarks


@contextmanager
def evaluating(options: EvaluationOptions, path: Path, about: Mapping[str, Any] | None = None) -> Iterator[Running]:
    """An evaluation in the folder `path`, new or continued. In the end the result table is written.

    Raises `PddlegoError`, as for a folder that was begun with another configuration or is in use.
    """
    cells = options.cells()
    record = {**(about or {}), **environment_manifest()}
    opened = Store(path, options.configuration(), codec=make_codec(), measure_of=measure_of, about=record)
    with opened as store, make_planners(options) as planner:
        store.plan(options.matrix, options.prices)
        prices = options.prices or read_recorded_prices(path)
        with closing(Ledger(path / LEDGER)) as ledger:
            most = options.model.max_tokens
            limiter = SharedLimiter(options.llm_jobs, options.budget, ledger, prices, max_answer=most)
            store.remarks += ledger.remarks
            store.recover(cells)
            if not any(map(is_free_adviser, options.planner.advisers)):  # their calls are counted, and send nothing
                _check_ledger(path, ledger, store)
            known = {cell: found for cell in cells if (found := store.finished(cell)) is not None}
            waiting = [cell for cell in cells if cell not in known]
            with _executor(options, planner, limiter, store) as executor:
                exhausted = limiter.exhausted
                evaluation = Evaluation(waiting, store, executor, workers=options.workers, exhausted=exhausted)
                running = Running(
                    cells=cells,
                    known=known,
                    store=store,
                    evaluation=evaluation,
                    limiter=limiter,
                    planner=planner,
                    prices=prices,
                )
                yield running
        results, mine = store.results(), set(cells)
        running.results += [summary for summary in results if summary.cell in mine]
        running.attempts += [summary for summary in store.attempts if summary.cell in mine]
        running.entries += read_ledger(path / LEDGER)[0].values()
        write_run_file(path / "results.csv", result_table(results))


def measure_of(cell: Cell) -> Measure:
    """What the cell's method measures; nothing where no method of its mode is installed any more."""
    try:
        return measuring_of(cell.setting, cell.mode).of
    except UsageError:
        return lambda events, used: Measures()


def _check_ledger(path: Path, ledger: Ledger, store: Store) -> None:
    """Raises `UsageError` where the ledger knows of fewer requests than the results: what was spent is not known."""
    known = {mode.name for mode in modes()}  # of a method that is gone nobody knows what it brought itself
    attempts = [summary for summary in store.attempts if whole(summary.cell.mode) in known]
    paid = [summary for summary in attempts if not is_free(summary.cell)]
    answered = sum(summary.tally.calls - summary.tally.from_cache for summary in paid)
    sent = int(ledger.spent.calls or 0)
    if sent < answered - len(store.attempts):  # the last call of an attempt may have been refused for the budget
        why = f"Its results hold {answered} model calls, and its ledger {sent} requests."
        raise UsageError(f"{path} is damaged", why, "Restore ledger.jsonl, or use another folder with --run.")


@contextmanager
def _executor(options: EvaluationOptions, planner: Planner, limiter: SharedLimiter, store: Store) -> Iterator[Executor]:
    """What plays the cells, as the options say."""
    if options.executor == "threads":

        def player(cell: Cell) -> Iterator[Event]:
            carried = _carried(options, store, cell) if options.carry else ""
            return play(cell, options, planner, limiter, carried=carried)

        yield Executor(player, limiter.break_off)
    else:
        from pddlego.evaluation.executors import remote_executor

        with remote_executor(options, limiter) as executor:
            yield executor


def _carried(options: EvaluationOptions, store: Store, cell: Cell) -> str:
    """The domain of the last episode before this one that was won, of its setting, mode and model."""
    cells = options.cells()
    before = set(cells[: cells.index(cell)])
    order = {each: number for number, each in enumerate(cells)}
    results = sorted((each for each in store.results() if each.cell in before), key=lambda each: order[each.cell])
    return kept_domain(store.path, results, make_codec(), lambda each: each.cell.configuration == cell.configuration)


def play(
    cell: Cell,
    options: EvaluationOptions,
    planner: Planner,
    limiter: RequestLimiter,
    *,
    overseer: Overseer | None = None,
    person: Person | None = None,
    carried: str = "",
    begin: object = None,
) -> Iterator[Event]:
    """Play a cell, with a model of its own; planners and limiter are shared by all.

    `overseer` is asked before things take effect, `person` types where the mode needs one, `begin` is where to begin,
    and `carried` the domain that an earlier episode has left.
    Raises `PddlegoError` for what goes wrong before the first event.
    """
    played = options.played_in(cell)
    own = CellLimiter(limiter, cell.label) if isinstance(limiter, SharedLimiter) else limiter
    asked = {name: make_adviser_model(name, cell, options.model, own) for name in options.planner.advisers}
    tools = Tools(
        model=make_model(cell, played.method, played.setting, options.model, own),
        planner=planner,
        limits=options.limits,
        retries=options.retries,
        overseer=overseer,
        person=person,
        advisers=Advisers(asked.get(options.planner.prune or ""), asked.get(options.planner.sort or "")),
        planning=options.planner,
        carried=carried,
        begin=begin,
    )
    return played.method.run(cell, played.setting, played.options, tools)
