"""Many episodes at once, with players that end, fail, hang on and break in every way."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from pddlego.episode.events import Answered, Ended, Event, Outcome, Streamed, Usage
from pddlego.episode.trace import Trace
from pddlego.errors import EngineError
from pddlego.evaluation.progress import EvaluationState, LineProgress, progress_table, waiting_line
from pddlego.evaluation.runner import (
    Begun,
    Executor,
    Happened,
    LostExecutorError,
    LostWorkerError,
    Runner,
    Stop,
    Stopping,
    WorkerDone,
)
from pddlego.methods.registry import make_codec
from pddlego.methods.textgames.events import Observed
from pddlego.models.base import Completion
from pddlego.models.limiter import Load
from pddlego.runs.cells import Cell
from pddlego.runs.store import Store, read_results
from pddlego.runs.summary import Measures, Summary
from tests.clock import FakeClock
from tests.runs.stores import executor, open_store
from tests.scale import PATIENCE

CELLS = tuple(Cell("coin", "edit", "reader", seed) for seed in range(20))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path, {}) as made:
        yield made


def episode(cell: Cell) -> Iterator[Event]:
    try:
        for step in range(3):
            yield Observed(step, "move", "a", "a")
    except KeyboardInterrupt:
        yield Ended(Outcome.INTERRUPTED, "", 0.0, Usage(1))
        return
    yield Ended(Outcome.WON if cell.seed % 2 else Outcome.STEP_LIMIT, "", 0.5, Usage(3))


@pytest.mark.parametrize("workers", [1, 3, 32])
def test_every_cell_is_played_once(store: Store, workers: int) -> None:
    text = list(Runner(CELLS, store, executor(episode), workers=workers).run())
    assert sorted(item.summary.cell for item in text if isinstance(item, WorkerDone)) == list(CELLS)
    assert sum(isinstance(item, Begun) for item in text) == 20
    assert sum(isinstance(item, Happened) for item in text) == 80
    assert len(read_results(store.path)[0]) == 20
    assert sum(result.won for result in store.results()) == 10


def test_one_failure_does_not_stop_the_others(store: Store) -> None:
    def player(cell: Cell) -> Iterator[Event]:
        if cell.seed == 3:
            raise EngineError("Java is gone", "It left.", "Call it.")
        if cell.seed == 4:
            raise ZeroDivisionError("oh")
        if cell.seed == 5:
            return _breaks()
        return episode(cell)

    def _breaks() -> Iterator[Event]:
        yield Observed(0, None, "a", "a")
        raise RuntimeError("in the middle")

    evaluation = Runner(CELLS, store, executor(player), workers=4)
    list(evaluation.run())
    results = {result.cell.seed: result for result in store.results()}
    assert len(results) == 20
    assert results[3].message == "Java is gone: It left. Call it."
    assert "a bug in pddlego: ZeroDivisionError: oh" in results[4].message
    assert {results[seed].outcome for seed in (3, 4, 5)} == {Outcome.CRASHED}
    assert not results[3].counts
    assert evaluation.stopped is None


@pytest.mark.parametrize("kind", [asyncio.CancelledError, GeneratorExit, SystemExit, BaseException])
def test_no_error_of_a_player_ends_its_worker(store: Store, kind: type[BaseException]) -> None:
    def player(cell: Cell) -> Iterator[Event]:
        if cell.seed == 3:
            raise kind("at the start")
        for event in episode(cell):
            if cell.seed == 5:
                raise kind("on the way")
            yield event

    evaluation = Runner(CELLS, store, executor(player), workers=1)
    list(evaluation.run())
    results = store.results()
    assert [result.cell for result in results] == list(CELLS)
    assert {result.cell.seed for result in results if result.outcome is Outcome.CRASHED} == {3, 5}
    assert evaluation.fault is None


@pytest.mark.parametrize(("deaths", "outcome"), [(1, "step limit"), (3, "step limit"), (4, "crashed"), (9, "crashed")])
def test_an_episode_whose_process_dies_is_played_again(store: Store, deaths: int, outcome: str) -> None:
    """Each attempt has a journal and a result, and the evaluation yields the last one only."""
    begun: list[Cell] = []

    def player(cell: Cell) -> Iterator[Event]:
        begun.append(cell)
        for event in episode(cell):
            if isinstance(event, Ended) and cell.seed == 2 and begun.count(cell) <= deaths:
                raise LostWorkerError("A worker died", "It was killed.")
            yield event

    evaluation = Runner(CELLS, store, executor(player), workers=2)
    done = [item.summary for item in evaluation.run() if isinstance(item, WorkerDone)]
    assert sorted(summary.cell for summary in done) == list(CELLS)
    tries = min(deaths + 1, 4)
    assert [result.outcome.value for result in store.attempts if result.cell.seed == 2] == [
        *["interrupted"] * (tries - 1),
        outcome,
    ]
    assert store.results()[2].outcome.value == outcome and store.results()[2].attempt == tries
    assert evaluation.stopped is None and evaluation.fault is None


def test_an_evaluation_stops_when_what_plays_is_gone(store: Store) -> None:
    """It is an error of its own, and no cell counts as played for it."""

    def player(cell: Cell) -> Iterator[Event]:
        for event in episode(cell):
            if isinstance(event, Ended) and cell.seed >= 4:
                raise LostExecutorError("The cluster is gone", "It left.", "Call it.")
            yield event

    evaluation = Runner(CELLS, store, executor(player), workers=2)
    list(evaluation.run())
    results = store.results()
    assert [result.cell.seed for result in results if result.played] == [0, 1, 2, 3]
    assert {result.outcome for result in results[4:]} == {Outcome.INTERRUPTED}
    assert 5 <= len(results) <= 6
    assert evaluation.stopped is Stop.EXECUTOR
    assert str(evaluation.fault) == "The cluster is gone\nIt left.\nCall it."


def test_episodes_that_cannot_end_are_left_when_what_plays_is_gone(store: Store) -> None:
    """As those that wait for ever for a cluster that is gone."""
    waiting, go = threading.Semaphore(0), threading.Event()

    def player(cell: Cell) -> Iterator[Event]:
        yield Observed(0, None, "a", "a")
        waiting.release()
        go.wait(PATIENCE)
        yield Ended(Outcome.WON, "", 1.0)

    def check() -> None:
        if waiting.acquire(blocking=False) and waiting.acquire(timeout=PATIENCE):
            raise LostExecutorError("The cluster is gone", "It left.", "Call it.")

    evaluation = Runner(CELLS, store, replace(executor(player), check=check), workers=2)
    list(evaluation.run())
    go.set()
    assert [result.outcome for result in store.results()] == [Outcome.INTERRUPTED] * 2
    assert evaluation.stopped is Stop.EXECUTOR and isinstance(evaluation.fault, LostExecutorError)


def test_a_worker_that_breaks_down_is_a_fault(tmp_path: Path) -> None:
    """Here it is the code that measures an episode."""

    def measure(trace: Trace) -> Measures:
        raise asyncio.CancelledError

    with Store(tmp_path, {}, codec=make_codec(), measure_of=lambda cell: measure) as store:
        evaluation = Runner(CELLS, store, executor(episode), workers=2)
        list(evaluation.run())
        assert evaluation.stopped is Stop.DISK
        assert evaluation.fault is not None
        assert "CancelledError" in evaluation.fault.reason


@pytest.mark.parametrize("leaves", [False, True], ids=["to the end", "the caller stops iterating"])
def test_an_episode_that_does_not_end_is_left_behind(store: Store, leaves: bool) -> None:
    """What it does later changes nothing."""
    go, ended = threading.Event(), threading.Event()

    def player(cell: Cell) -> Iterator[Event]:
        if cell.seed == 0:
            yield from episode(cell)
            return
        yield Observed(0, None, "a", "a")
        go.wait(PATIENCE)
        yield from episode(cell)
        ended.set()

    evaluation = Runner(CELLS, store, executor(player), workers=1)
    seen: list[object] = []
    for update in evaluation.run():
        seen.append(update)
        if isinstance(update, Happened) and update.cell.seed == 1:
            if leaves:
                break
            evaluation.abort()
    results = store.results()
    assert [result.outcome for result in results] == [Outcome.STEP_LIMIT, Outcome.INTERRUPTED]
    assert leaves or [item.summary for item in seen if isinstance(item, WorkerDone)] == results
    go.set()
    assert ended.wait(PATIENCE)
    assert read_results(store.path)[0] == results


def _waiting(begun: threading.Semaphore, go: threading.Event) -> Callable[[Cell], Iterator[Event]]:
    def player(cell: Cell) -> Iterator[Event]:
        begun.release()
        go.wait(PATIENCE)
        yield from episode(cell)

    return player


@pytest.mark.parametrize(("abort", "outcomes"), [(False, {"won", "step limit"}), (True, {"interrupted"})])
def test_draining_plays_to_the_end_and_aborting_breaks_off(store: Store, abort: bool, outcomes: set[str]) -> None:
    begun, go = threading.Semaphore(0), threading.Event()
    evaluation = Runner(CELLS, store, executor(_waiting(begun, go)), workers=4)
    done: list[WorkerDone] = []

    def watch() -> None:
        done.extend(item for item in evaluation.run() if isinstance(item, WorkerDone))

    watching = threading.Thread(target=watch)
    watching.start()
    for _ in range(4):
        begun.acquire(timeout=PATIENCE)
    evaluation.drain()
    if abort:
        evaluation.abort()
    go.set()
    watching.join(PATIENCE)
    assert len(done) == 4
    assert {item.summary.outcome.value for item in done} == outcomes
    assert evaluation.stopped is (Stop.ABORTED if abort else Stop.DRAINED)


def test_nothing_begins_when_the_budget_is_spent(store: Store) -> None:
    exhausted = threading.Event()

    def player(cell: Cell) -> Iterator[Event]:
        if cell.seed == 2:
            exhausted.set()
        return episode(cell)

    budgeted = Executor(player, lambda: None, lambda: Load(exhausted=exhausted.is_set()))
    evaluation = Runner(CELLS, store, budgeted, workers=1)
    assert len([item for item in evaluation.run() if isinstance(item, WorkerDone)]) == 3
    assert evaluation.stopped is Stop.BUDGET


def test_a_disk_that_takes_nothing_stops_the_evaluation(store: Store) -> None:
    (store.path / "results.jsonl").mkdir()
    evaluation = Runner(CELLS, store, executor(episode), workers=4)
    list(evaluation.run())
    assert evaluation.stopped is Stop.DISK
    assert evaluation.fault is not None
    assert "Cannot write" in str(evaluation.fault)


def test_an_answer_that_arrives_is_part_of_the_progress() -> None:
    clock = FakeClock()
    state = EvaluationState(CELLS, clock=clock)
    lines = io.StringIO()
    progress = LineProgress(Console(file=lines), state)
    first, second = CELLS[:2]
    for cell in (first, second):
        state.update(Begun(cell))
        state.update(Happened(cell, Observed(3, "move", "a", "a")))
    for _ in range(4):
        state.update(Happened(first, Streamed(1, "a")))
        clock.advance(10)
    assert state.running == [(first, "step 3, an answer has been arriving for 40 s"), (second, "step 3")]
    progress._report(40)
    assert "2 episodes running, 1 answer arriving for up to 40 s" in lines.getvalue()
    state.update(Happened(first, Answered(1, Completion(""))))
    assert state.running == [(first, "step 3"), (second, "step 3")]
    state.update(Happened(second, Streamed(1, "a")))
    state.update(Happened(second, Ended(Outcome.WON, "", 1.0)))
    assert state.running == [(first, "step 3")]


def test_interrupted_episodes_are_neither_done_nor_errors() -> None:
    state = EvaluationState(CELLS[:3])
    for cell, outcome in zip(CELLS, (Outcome.INTERRUPTED, Outcome.MODEL_ERROR, Outcome.WON), strict=False):
        state.update(WorkerDone(Summary(cell, 1, outcome)))
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(progress_table(state, 5.0, ""))
    shown = console.export_text()
    assert "2 of 3 episodes" in shown
    row = next(line.split() for line in shown.splitlines() if line.lstrip().startswith("coin"))
    assert (row[3], row[-1]) == ("2/3", "1")


def test_an_interrupt_is_acknowledged_with_what_it_waits_for(store: Store) -> None:
    begun, go = threading.Semaphore(0), threading.Event()
    evaluation = Runner(CELLS, store, executor(_waiting(begun, go)), workers=2)
    state = EvaluationState(CELLS)
    text: list[str] = []
    for told in evaluation.run():
        state.update(told)
        if isinstance(told, Begun) and len(state.in_flight) == 2:
            evaluation.drain()
        elif isinstance(told, Stopping):
            text.append(waiting_line(told, state))
            (evaluation.abort if not told.broken_off else go.set)()
    assert text[0].startswith("Interrupted: waiting for 2 episodes, coin edit reader seed 0 (begins)")
    assert text[0].endswith("Press Ctrl-C again to stop them now.")
    assert text[1] == "Interrupted: stopping 2 episodes."
