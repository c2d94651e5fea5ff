"""Where the episodes of an evaluation are played: here in threads, in processes of this machine, or on a Ray cluster.

Whatever the executor, the process that evaluates writes the journals and the results, and keeps the budget. A worker
plays a whole episode and gives back its events; if it dies, the episode is lost to an error and no other.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import secrets
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from pddlego.errors import EngineError, UsageError
from pddlego.evaluation.assemble import play
from pddlego.evaluation.limiter_server import LimiterAddress, LimiterServer, RemoteLimiter, connect, serve
from pddlego.evaluation.options import EvaluationOptions
from pddlego.evaluation.runner import INTERRUPTED, Executor, Player
from pddlego.events import Ended, Event, Outcome
from pddlego.models.limiter import SharedLimiter
from pddlego.planning import ProcessPlanner
from pddlego.planning.make import PlannerOptions
from pddlego.runs.cells import Cell
from pddlego.runs.journal import TimedEvent
from pddlego.runs.recording import Timed
from pddlego.util.environment import without_secrets

Call = Callable[[Cell], list[TimedEvent]]
"""Plays a cell elsewhere, and gives back all its events with their times."""

LEAVING = 5.0
"""Seconds for which is waited until all workers that were ended are gone."""

RAY_RETRIES = 3
"""How often Ray begins an episode again whose worker died."""


@contextmanager
def remote_executor(options: EvaluationOptions, limiter: SharedLimiter) -> Iterator[Executor]:
    """The executor `processes` or `ray`. Raises `UsageError` where Ray is missing or out of reach."""
    server = LimiterServer(limiter)
    elsewhere = _ray if options.executor == "ray" else _processes
    # The workers get the key with what they are to play, over a pipe, and not where every program can see it.
    with without_secrets(), elsewhere(options, server) as (call, break_off):
        yield Executor(_player(call, server), break_off)


def _player(call: Call, server: LimiterServer) -> Player:
    """Plays a cell elsewhere: its events come with the times that were taken there."""

    def play_cell(cell: Cell) -> Timed:
        last = [0.0]

        def events() -> Iterator[Event]:
            try:
                for event, last[0] in call(cell):
                    yield event
            except KeyboardInterrupt:
                yield Ended(Outcome.INTERRUPTED, INTERRUPTED, 0.0)
            finally:
                server.clear(cell.label)

        return Timed(events(), lambda: last[0])

    return play_cell


def play_whole(options: EvaluationOptions, address: LimiterAddress, cell: Cell) -> list[TimedEvent]:
    """Play a cell in a worker, to its end; every event with the seconds that the episode had taken then.

    Raises `PddlegoError` for what goes wrong before the first event.

    Where an earlier worker died over this cell (Ray begins it again) its permits are given back first.
    """
    server, owner = connect(address), f"{cell.label}/{secrets.token_hex(8)}"
    server.begin(owner)
    planner = _planner(options.planner)
    events = play(cell, options, planner, RemoteLimiter(server, owner))
    timed = events if isinstance(events, Timed) else Timed(events)
    return [(event, timed.seconds) for event in timed]


@lru_cache(maxsize=1)
def _planner(options: PlannerOptions) -> ProcessPlanner:
    """The planner of a worker process, which lives as long as that."""
    return options.make()


@contextmanager
def _processes(options: EvaluationOptions, server: LimiterServer) -> Iterator[tuple[Call, Callable[[], None]]]:
    """Processes that are started afresh, never forked: a forked one would keep the Java machine alive."""
    address = serve(server)
    # What workers leave behind when they are killed goes with this folder.
    folder = tempfile.TemporaryDirectory(prefix="pddlego-workers-", ignore_cleanup_errors=True)
    workers = _Workers(options.workers, folder.name)

    def call(cell: Cell) -> list[TimedEvent]:
        worker = workers.take()
        try:
            return worker.submit(play_whole, options, address, cell).result()
        except (BrokenProcessPool, CancelledError, RuntimeError) as error:
            raise EngineError("A worker process died", "Its episode is lost.", "Continue the evaluation.") from error
        finally:
            workers.give_back(worker)

    try:
        yield call, workers.kill
    finally:
        workers.kill()
        workers.wait()
        folder.cleanup()


class _Workers:
    """Pools of one process each, so that one that dies takes no other with it."""

    def __init__(self, number: int, folder: str) -> None:
        self._folder = folder
        self._idle: queue.LifoQueue[ProcessPoolExecutor] = queue.LifoQueue()
        self._all = [self._new() for _ in range(number)]
        self._killed = threading.Event()
        for each in self._all:
            self._idle.put(each)

    def take(self) -> ProcessPoolExecutor:
        return self._idle.get()

    def give_back(self, worker: ProcessPoolExecutor) -> None:
        """The worker is idle again; a broken one is replaced."""
        if getattr(worker, "_broken", False) and not self._killed.is_set():
            worker = self._new()
            self._all.append(worker)
        self._idle.put(worker)

    def kill(self) -> None:
        """End all workers, whatever they do. Takes no lock: it is called where a signal has come."""
        self._killed.set()
        for worker in list(self._all):
            for process in list((worker._processes or {}).values()):
                process.kill()
            worker.shutdown(wait=False, cancel_futures=True)

    def wait(self) -> None:
        """Wait until the workers that were ended are gone; planners of theirs end by themselves within a second."""
        end = time.monotonic() + LEAVING
        for worker in self._all:
            for process in list((worker._processes or {}).values()):
                process.join(timeout=max(0.0, end - time.monotonic()))

    def _new(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(1, mp_context=context, initializer=_settle_in, initargs=(self._folder,))


def _settle_in(folder: str) -> None:
    """A worker leaves signals of the terminal to its parent, ends when that is gone, and has its files in `folder`."""
    tempfile.tempdir = folder
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _ray(options: EvaluationOptions, server: LimiterServer) -> Iterator[tuple[Call, Callable[[], None]]]:
    if find_spec("ray") is None:
        what = "Ray is not installed"
        raise UsageError(what, "Missing: ray.", "Install pddlego with its extra: pip install '.[cluster]'.")
    import ray

    try:
        ray.init(
            address=options.address,
            num_cpus=options.workers if options.address is None else None,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        why = " ".join(str(error).split())[:200]
        where = options.address or "this machine"
        raise UsageError(f"There is no Ray cluster at {where}", why, "Check --address.") from error
    host = "127.0.0.1" if options.address is None else ray.util.get_node_ip_address()
    address = serve(server, host)
    task: Any = ray.remote(num_cpus=1, max_retries=RAY_RETRIES)(play_whole)
    kept = ray.put(options)

    def call(cell: Cell) -> list[TimedEvent]:
        try:
            events: list[TimedEvent] = ray.get(task.remote(kept, address, cell))
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except ray.exceptions.RayError as error:
            why = f"{type(error).__name__}: Ray gave the episode up after {RAY_RETRIES} tries."
            raise EngineError("A worker of the cluster died", why, "Continue the evaluation.") from error
        return events

    try:
        yield call, ray.shutdown
    finally:
        ray.shutdown()
