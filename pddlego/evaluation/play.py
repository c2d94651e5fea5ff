"""Puts an evaluation together: models, planners, games and the gate behind one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pddlego.episode import Episode
from pddlego.episodes import check_ladder, episode_events, make_game, make_planner
from pddlego.errors import UsageError
from pddlego.evaluation.cells import Cell
from pddlego.evaluation.ledger import LEDGER, Entry, Ledger, read_ledger
from pddlego.evaluation.options import EvaluationOptions
from pddlego.evaluation.runner import Engine, Evaluation
from pddlego.evaluation.store import Store, read_recorded_prices
from pddlego.evaluation.summary import Summary
from pddlego.evaluation.table import result_table
from pddlego.events import Event, Limits
from pddlego.journal import environment_manifest, write_whole
from pddlego.models import Model
from pddlego.models.gate import Gate, OriginGate, Price, SharedGate
from pddlego.models.make import is_free, make_model
from pddlego.planning import Planner
from pddlego.planning.pool import PlannerPool


def make_planners(options: EvaluationOptions) -> PlannerPool:
    """The planners of an evaluation, tried out on the ladder of every setting. Raises `UsageError`, `SettingError`."""
    arguments = (options.planner, options.planner_timeout, options.planner_memory)
    pool = PlannerPool([make_planner(*arguments) for _ in range(options.planners)])
    try:
        for setting in options.settings:
            check_ladder(setting, pool)
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
    evaluation: Evaluation
    gate: SharedGate
    prices: Mapping[str, Price]
    remarks: Sequence[str] = ()
    results: list[Summary] = field(default_factory=list)
    attempts: list[Summary] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


@contextmanager
def evaluating(options: EvaluationOptions, path: Path, about: Mapping[str, Any] | None = None) -> Iterator[Running]:
    """An evaluation in the folder `path`, new or continued. In the end the result table is written.

    Raises `PddlegoError`, as for a folder that was begun with another configuration or is in use.
    """
    cells = options.cells()
    record = {**(about or {}), **environment_manifest({})}
    with Store(path, options.configuration(), record) as store, make_planners(options) as planner:
        store.plan(options.matrix, options.prices)
        prices = options.prices or read_recorded_prices(path)
        with closing(Ledger(path / LEDGER)) as ledger:
            gate = SharedGate(options.llm_jobs, options.limits, ledger, prices, max_answer=options.model.max_tokens)
            store.remarks += ledger.remarks
            store.recover(cells)
            _check_ledger(path, ledger, store)
            known = {cell: found for cell in cells if (found := store.finished(cell)) is not None}
            waiting = [cell for cell in cells if cell not in known]
            with _engine(options, planner, gate) as engine:
                evaluation = Evaluation(
                    waiting, store, engine.player, options.workers, gate.exhausted, engine.break_off
                )
                running = Running(cells, known, evaluation, gate, prices, store.remarks)
                yield running
        results, mine = store.results(), set(cells)
        running.results += [each for each in results if each.cell in mine]
        running.attempts += [each for each in store.attempts if each.cell in mine]
        running.entries += read_ledger(path / LEDGER)[0].values()
        write_whole(path / "results.csv", result_table(results))


def _check_ledger(path: Path, ledger: Ledger, store: Store) -> None:
    """Raises `UsageError` where the ledger knows of fewer requests than the results: what was spent is not known."""
    answered = sum(each.tally.calls - each.tally.from_cache for each in store.attempts if not is_free(each.cell.model))
    sent = int(ledger.spent.calls or 0)
    if sent < answered - len(store.attempts):  # the last call of an attempt may have been refused for the budget
        why = f"Its results hold {answered} model calls, and its ledger {sent} requests."
        raise UsageError(f"{path} is damaged", why, "Restore ledger.jsonl, or use another folder with --run.")


@contextmanager
def _engine(options: EvaluationOptions, planner: Planner, gate: SharedGate) -> Iterator[Engine]:
    """What plays the cells, as the options say."""
    if options.engine == "threads":
        yield Engine(player(options, planner, gate), gate.break_off)
    else:
        from pddlego.evaluation.engines import remote_engine

        with remote_engine(options, gate) as engine:
            yield engine


def player(options: EvaluationOptions, planner: Planner, gate: Gate) -> Callable[[Cell], Iterator[Event]]:
    """What plays a cell: a game and a model of its own, the planners and the gate shared by all."""

    def play(cell: Cell) -> Iterator[Event]:
        episode = episode_of(cell, options)
        game = make_game(episode.setting, cell.seed, options.java)
        return episode_events(episode, game, model_for(cell, options, gate), planner)

    return play


def episode_of(cell: Cell, options: EvaluationOptions) -> Episode:
    """What a cell is as an episode. Raises `KeyError` for a cell of another evaluation."""
    setting = {each.name: each for each in options.settings}[cell.setting]
    limits = Limits(setting.max_steps, seconds=options.max_seconds)
    return Episode(setting, cell.seed, cell.mode, limits, options.retries, options.replan_every_step)


def model_for(cell: Cell, options: EvaluationOptions, gate: Gate) -> Model:
    """The model of a cell. The seed that it is given differs between repeats: these are to be different answers."""
    seed = cell.seed + 1_000_003 * (cell.repeat - 1)
    own = OriginGate(gate, cell.label) if isinstance(gate, SharedGate) else gate
    return make_model(replace(options.model, name=cell.model, seed=seed, repeat=cell.repeat), own)
