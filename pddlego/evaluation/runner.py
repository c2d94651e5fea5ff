"""Plays the cells of an evaluation with many workers. The failure of an episode does not stop the others."""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pddlego.episode.events import Answered, Ended, Event, Outcome, Usage
from pddlego.errors import EngineError, JournalError, PddlegoError
from pddlego.methods.registry import package_that_plays
from pddlego.models.limiter import Load
from pddlego.runs.cells import Cell
from pddlego.runs.journal import follow
from pddlego.runs.store import Recorder, Store
from pddlego.runs.summary import Summary
from pddlego.util.text import writable
from pddlego.util.unexpected import explained

INTERRUPTED = "stopped by the user"

_ENDING = 0.8
"""Seconds that episodes have to end after `Runner.abort`. After that, their threads are abandoned."""


_TRIES = 4
"""Maximum number of attempts at an episode whose process dies."""

_AFTER_REFUSAL = "Correct this, and run the same command again: it plays every episode that has no result."


class LostWorkerError(EngineError):
    """The process that played an episode has died: the episode is played again."""


class LostExecutorError(EngineError):
    """What plays the episodes is gone: the evaluation stops (exit code 3)."""


class Stop(str, Enum):
    """The reason why an evaluation stopped before its last cell."""

    BUDGET = "the budget is spent"
    DRAINED = "interrupted: the running episodes were finished"
    ABORTED = "interrupted: the running episodes were stopped"
    DISK = "the results cannot be written"
    EXECUTOR = "what plays the episodes is gone"


@dataclass(frozen=True)
class Begun:
    """A worker began with a cell."""

    cell: Cell


@dataclass(frozen=True)
class Happened:
    """An event of a running episode."""

    cell: Cell
    event: Event


@dataclass(frozen=True)
class WorkerDone:
    """An attempt ended, and its result was written."""

    summary: Summary


@dataclass(frozen=True)
class Stopping:
    """The user has interrupted the evaluation: running episodes are finished, or stopped now if `broken_off`."""

    broken_off: bool


Progress: TypeAlias = "Begun | Happened | WorkerDone | Stopping"
"""The progress of an evaluation."""

Player = Callable[[Cell], Iterable[Event]]
"""Plays a cell. It may raise `PddlegoError` before the first event; the last event is `Ended`. A player with a clock of
its own returns `Timed`."""


@dataclass(frozen=True)
class Executor:
    """How cells are played: the `player`, a function that stops its episodes in other processes, and the load.

    `check` is called while episodes are played. It raises `LostExecutorError` if no episode can end any more.
    """

    player: Player
    break_off: Callable[[], None]
    load: Callable[[], Load] = Load
    check: Callable[[], None] = lambda: None


class _Attempt:
    """A running attempt. Its worker records the result, or the runner does if the worker does not end."""

    def __init__(self, cell: Cell, store: Store) -> None:
        self._recorder = Recorder(cell, store)
        self._lock = threading.Lock()
        self._ended = False

    def keep(self, event: Event, seconds: float) -> None:
        """Record an event, unless the result was written already."""
        with self._lock:
            if not self._ended:
                self._recorder.keep(event, seconds)

    @property
    def usage(self) -> Usage:
        """What the attempt has used so far."""
        return self._recorder.usage

    def end(self, seconds: float = -1) -> Summary | None:
        """Write the result, and return it.

        None if it was written already, if the other thread is still writing after so many `seconds`, or if the budget
        of the evaluation did not allow the first request: such an attempt leaves nothing.
        """
        if not self._lock.acquire(timeout=seconds):
            return None
        try:
            if self._ended:
                return None
            self._recorder.close()
            summary = None if self._recorder.discard_untried() else self._recorder.record()
            self._ended = True
            return summary
        finally:
            self._lock.release()

    def close(self) -> None:
        """Stop recording."""
        self._recorder.close()


class Runner:
    """Plays cells. `run` yields progress until every cell is finished or the evaluation stops.

    `drain` lets running episodes end and begins no others; `abort` interrupts running episodes. Both may be called from
    any thread, and more than once. An episode that does not end within `_ENDING` seconds of an abort is recorded as
    interrupted, and its thread is abandoned.
    """

    def __init__(self, cells: Iterable[Cell], store: Store, executor: Executor, *, workers: int) -> None:
        self.stopped: Stop | None = None
        self.fault: PddlegoError | None = None
        self._cells = iter(tuple(cells))
        self._store, self._executor, self._workers = store, executor, workers
        self._draining, self._aborting = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._in_flight: dict[Cell, _Attempt] = {}
        self._answers: dict[str, bool] = {}
        """Whether a model that has answered did so after its last refusal."""
        self._refused: dict[str, str] = {}
        self._deadline = math.inf
        self._updates: queue.SimpleQueue[Progress | None] = queue.SimpleQueue()

    def drain(self) -> None:
        """Begin no further episodes."""
        self.stopped = self.stopped or Stop.DRAINED
        self._draining.set()
        self._updates.put(Stopping(False))

    def abort(self) -> None:
        """Begin no further episodes, and interrupt the running ones at their next events."""
        self.stopped = Stop.ABORTED if self.stopped in (None, Stop.DRAINED) else self.stopped
        self._draining.set()
        if not self._aborting.is_set():
            self._updates.put(Stopping(True))
            self._deadline = time.monotonic() + _ENDING
        self._aborting.set()
        self._executor.break_off()

    @property
    def draining(self) -> bool:
        """Whether no further episodes begin."""
        return self._draining.is_set()

    def run(self) -> Iterator[Progress]:
        """Play. A caller that stops iterating stops the running episodes, and waits for their end."""
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self._workers)]
        for worker in threads:
            worker.start()
        working = len(threads)
        try:
            while working and time.monotonic() < self._deadline:
                try:
                    # With a time-out, because a signal is handled only when the main thread wakes up.
                    update = self._updates.get(timeout=0.1)
                except queue.Empty:
                    self._check_executor()
                    continue
                if update is None:
                    working -= 1
                else:
                    yield update
            yield from self._left_behind()
        finally:
            if working:
                self.abort()
                for worker in threads:
                    worker.join(max(0.0, self._deadline - time.monotonic()))
                tuple(self._left_behind())

    def _check_executor(self) -> None:
        """Stop if what plays the episodes is gone: the running ones cannot end."""
        try:
            if not self._aborting.is_set():
                self._executor.check()
        except LostExecutorError as error:
            self._stop_for(error, Stop.EXECUTOR)
            self.abort()

    def _stop_for(self, error: PddlegoError, stop: Stop) -> None:
        """Begin no further episodes because of an error."""
        self.fault, self.stopped = error, stop
        self._draining.set()

    def _left_behind(self) -> Iterator[WorkerDone]:
        """Record the episodes that have not ended after an abort. Yields these, and those that have just ended."""
        for attempt in tuple(self._in_flight.values()):
            summary = attempt.end(0.0)
            if summary is not None:
                yield WorkerDone(summary)
        with contextlib.suppress(queue.Empty):
            while True:
                update = self._updates.get_nowait()
                if isinstance(update, WorkerDone):
                    yield update

    def _work(self) -> None:
        try:
            for cell in iter(self._next, None):
                summary = self._attempt(cell)
                if summary is not None:
                    self._updates.put(WorkerDone(summary))
        except BaseException as error:  # noqa: BLE001 -- the worker's border: every error is reported
            broken = PddlegoError("A worker broke down", f"{explained(error)}.", "Continue the evaluation.")
            self._stop_for(error if isinstance(error, PddlegoError) else broken, Stop.DISK)
        finally:
            self._updates.put(None)

    def _next(self) -> Cell | None:
        with self._lock:
            if self._executor.load().exhausted:
                self.stopped = self.stopped or Stop.BUDGET
                return None
            if self._draining.is_set():
                return None
            for cell in self._cells:
                if cell.model not in self._refused:
                    return cell
                what = f"No further episode with {cell.model} was begun"
                self.fault = self.fault or PddlegoError(what, self._refused[cell.model], _AFTER_REFUSAL)
            return None

    def _note_refusal(self, cell: Cell, event: Event) -> None:
        """Begin no further episodes with a model that refuses all requests.

        A model that has answered is given up if its key is refused, or at its second refusal without an answer in
        between, and not because its endpoint cannot be reached any more, which may pass.
        """
        with self._lock:
            if isinstance(event, Answered) and not event.completion.from_cache:
                self._answers[cell.model] = True
            elif isinstance(event, Ended) and event.cause in ("refused", "no endpoint"):
                has_answered = self._answers.get(cell.model) and cell.model not in self._executor.load().refused
                if cell.model not in self._answers or (event.cause == "refused" and not has_answered):
                    self._refused.setdefault(cell.model, event.message)
                elif event.cause == "refused":
                    self._answers[cell.model] = False

    def _attempt(self, cell: Cell, tries: int = _TRIES) -> Summary | None:
        """Play a cell, again if its process dies. None if the runner has recorded the result after an abort."""
        self._updates.put(Begun(cell))
        attempt = self._in_flight[cell] = _Attempt(cell, self._store)
        try:
            died = self._play(cell, attempt, may_repeat=tries > 1)
            summary = attempt.end()
        finally:
            del self._in_flight[cell]  # not earlier: an abort records running episodes without a result
        return self._attempt(cell, tries - 1) if died and not self._draining.is_set() else summary

    def _play(self, cell: Cell, attempt: _Attempt, may_repeat: bool) -> bool:
        """Play a cell to its last event. Returns whether its process died and it `may_repeat`."""

        def keep(event: Event, seconds: float) -> None:
            attempt.keep(event, seconds)
            self._note_refusal(cell, event)
            self._updates.put(Happened(cell, event))
            if self._aborting.is_set() and not isinstance(event, Ended):
                raise KeyboardInterrupt

        def ended(outcome: Outcome, message: str) -> None:
            keep(Ended(outcome, writable(message), 0.0, attempt.usage), 0.0)

        try:
            follow(self._executor.player(cell), [keep])
        except JournalError:
            raise
        except KeyboardInterrupt:  # the episode did not end with an event of its own
            ended(Outcome.INTERRUPTED, INTERRUPTED)
        except PddlegoError as error:  # the engine or the model could not be created, or other processes are gone
            if self._aborting.is_set():
                ended(Outcome.INTERRUPTED, INTERRUPTED)
                return False
            gone, died = isinstance(error, LostExecutorError), isinstance(error, LostWorkerError) and may_repeat
            if gone:
                self._stop_for(error, Stop.EXECUTOR)
            ended(Outcome.INTERRUPTED if gone or died else Outcome.CRASHED, error.sentence)
            return died
        except BaseException as error:  # noqa: BLE001 -- the worker's border: a bug ends only this episode
            ended(Outcome.CRASHED, explained(error, package_that_plays(cell.setting, cell.mode)))
        finally:
            attempt.close()
        return False
