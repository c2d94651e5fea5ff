"""Plays the episodes of an evaluation on a Ray cluster.

A worker plays a whole episode and yields its events; the evaluating process writes them to journals as they arrive,
and writes the results. Before each request, a worker calls an actor, which has the limiter, budget and ledger of the
whole evaluation. If a worker dies, the runner plays its episode again. If the actor or Ray itself dies, the evaluation
stops.
"""

from __future__ import annotations

import itertools
import math
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pddlego.episode.events import Ended, Event, Outcome
from pddlego.episode.trace import TimedEvent
from pddlego.errors import UsageError
from pddlego.evaluation.playing import play
from pddlego.evaluation.resources import make_limiter
from pddlego.evaluation.runner import Executor, LostExecutorError, LostWorkerError
from pddlego.evaluation.setup import Setup
from pddlego.methods.shared_options import PlannerOptions
from pddlego.models import Request
from pddlego.models.limiter import Ledger, Load, Permit, Price, SharedLimiter, Spending
from pddlego.planning import ProcessPlanner
from pddlego.runs.cells import Cell
from pddlego.runs.journal import Timed
from pddlego.util.children import without_secrets

_WAITING = 1000
"""Maximum number of calls of the actor that wait at the same time."""

_TokenReport = tuple[int, int, int, bool]
"""Tokens in, out and cached, and whether the answer is complete."""


class Permits:
    """The limiter of an evaluation, as an actor that gives out permits by number.

    An `owner` identifies one worker's attempt at a cell, as `LABEL/NUMBER`. If the worker dies, the permits of the
    owner are released, and the owner gets no further permits.
    """

    def __init__(self, make: Callable[[], SharedLimiter]) -> None:
        self._limiter = make()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._gone: set[str] = set()
        self._asking: set[str] = set()
        self._open: dict[int, tuple[str, AbstractContextManager[Permit], Permit]] = {}

    def enter(self, owner: str, model: str, characters: int, most_tokens: int = 0, seconds: float | None = None) -> int:
        """Wait until a request may be sent, at most so many `seconds`, and return the number of its permit.

        Raises `BudgetSpentError`, and `ConnectionError` for an owner that is dead or has waited too long.
        """
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        with self._lock:
            self._asking.add(owner)
        try:

            def wanted() -> bool:
                return owner not in self._gone and time.monotonic() < deadline

            admission = self._limiter.admit(model, characters, wanted, _cell(owner), most_tokens)
            permit = admission.__enter__()
        finally:
            with self._lock:
                self._asking.discard(owner)
        with self._lock:
            number = next(self._numbers)
            self._open[number] = (owner, admission, permit)
            late = owner in self._gone
        if late:
            self.leave(number, None, None)
        return number

    def leave(self, number: int, used: _TokenReport | None, pause: float | None) -> None:
        """Release a permit. `used` are the tokens of the answer; `pause` are the seconds to wait after a rejection.

        Without both, what was reserved for the request counts as spent.
        """
        with self._lock:
            holder = self._open.pop(number, None)
        if holder is None:
            return
        _, admission, permit = holder
        if used is not None:
            permit.used(*used)
        elif pause is not None:
            permit.refused(pause)
        admission.__exit__(None, None, None)

    def retire(self, cell: str, but: str = "") -> None:
        """Release all permits for a cell except those of one owner: the cell has ended, or another worker plays it."""
        with self._lock:
            owners = ({who for who, _, _ in self._open.values()} | self._asking) - {but}
            gone = {who for who in owners if _cell(who) == cell}
            self._gone |= gone
            lost = [number for number, (who, _, _) in self._open.items() if who in gone]
        for number in lost:
            self.leave(number, None, None)

    def load(self) -> Load:
        """The load of the limiter."""
        return self._limiter.load()


def _cell(owner: str) -> str:
    return owner.rpartition("/")[0]


@dataclass
class _Remembered:
    """A permit that remembers how it was used until it is released."""

    usage: _TokenReport | None = None
    pause: float | None = None
    wanted: bool = True
    """Always true: Ray itself stops a worker that waits."""

    def used(self, tokens_in: int, tokens_out: int, tokens_cached: int, whole: bool = True) -> None:
        self.usage = (tokens_in, tokens_out, tokens_cached, whole)

    def refused(self, pause: float) -> None:
        self.pause = pause


class ActorLimiter:
    """The `RequestLimiter` of one worker's attempt at a cell. `call` calls a method of the actor `Permits`.

    `gone` is the error with which a call failed because the actor is dead.
    """

    def __init__(self, call: Callable[..., Any], owner: str) -> None:
        self._call, self._owner = call, owner
        self.gone: LostExecutorError | None = None

    @contextmanager
    def admit_request(self, model: str, request: Request) -> Iterator[Permit]:
        most = request.max_tokens or 0
        try:
            number = self._call("enter", self._owner, model, request.characters, most, request.seconds)
        except LostExecutorError as error:
            self.gone = error
            raise
        permit = _Remembered()
        try:
            yield permit
        finally:
            with suppress(LostExecutorError):  # the answer is there; the next request fails
                self._call("leave", number, permit.usage, permit.pause)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def load_of(call: Callable[..., Any]) -> Callable[[], Load]:
    """A function that returns the load of the actor's limiter: the last known one if the actor is dead."""
    last = Load(Spending(0, 0, 0))

    def load() -> Load:
        nonlocal last
        with suppress(LostExecutorError):
            last = call("load")
        return last

    return load


def play_whole(setup: Setup, permits: Any, cell: Cell) -> Iterator[TimedEvent]:
    """Play a cell in a worker, and yield its events as they happen.

    Raises `PddlegoError` for errors before the first event, and `LostExecutorError` as soon as the actor is dead.
    """
    call, owner = _caller(permits), f"{cell.label}/{secrets.token_hex(8)}"
    call("retire", cell.label, owner)  # a worker may have died while it played this cell
    limiter = ActorLimiter(call, owner)
    events = play(cell, setup, _planner(setup.config.planner), limiter)
    for event in events:
        if limiter.gone is not None:
            raise limiter.gone
        yield event, events.seconds


@lru_cache(maxsize=1)
def _planner(options: PlannerOptions) -> ProcessPlanner:
    """The planner of a worker process, which lives as long as the process."""
    return options.make()


def _caller(actor: Any) -> Callable[..., Any]:
    """A function that calls a method of an actor by name, and raises the exceptions of the method."""
    import ray

    def call(name: str, *arguments: object) -> Any:
        if not ray.is_initialized():
            raise _gone("The evaluation is over.")
        try:
            return ray.get(getattr(actor, name).remote(*arguments))
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except (ray.exceptions.RayError, SystemExit) as error:
            raise _gone(f"The process with the budget of the evaluation died ({type(error).__name__}).") from error

    return call


def _gone(reason: str) -> LostExecutorError:
    advice = "Run the same command again: it plays what has no result yet."
    return LostExecutorError("The Ray cluster is gone", reason, advice)


@contextmanager
def cluster_executor(setup: Setup, ledger: Path, prices: Mapping[str, Price]) -> Iterator[Executor]:
    """The executor that plays cells on the cluster. Raises `UsageError` if Ray is missing or cannot be reached."""
    ray = _started(setup)
    # The actor must run on this machine, because it writes files of the run folder.
    here = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), False)
    kind: Any = ray.remote(num_cpus=0, max_concurrency=_WAITING, scheduling_strategy=here)(Permits)
    place = ledger.resolve()  # the actor works in another folder
    permits = kind.remote(lambda: make_limiter(setup, Ledger(place), prices))
    # Ray's own retries would continue the list of events in the middle of another episode.
    task: Any = ray.remote(num_cpus=1, max_retries=0, num_returns="streaming")(play_whole)
    kept, check, call_actor, lock = ray.put(setup), _check_of(ray), _caller(permits), threading.Lock()

    def call(name: str, *arguments: object) -> Any:
        with lock:  # Ray ends our process if it is asked for anything while it shuts down
            return call_actor(name, *arguments)

    def shut_down() -> None:
        with lock:
            ray.shutdown()

    def player(cell: Cell) -> Timed:
        seconds = [0.0]

        def events() -> Iterator[Event]:
            try:
                check()
                for event, seconds[0] in _received(ray, task.remote(kept, permits, cell)):
                    if isinstance(event, Ended) and event.outcome is Outcome.CRASHED:
                        check()  # a worker may fail in any way while Ray ends
                    yield event
            except (LostWorkerError, SystemExit):  # Ray raises `SystemExit` in any thread when the raylet is gone
                check()  # Ray would end our process if it were asked for another worker
                raise
            finally:
                with suppress(LostExecutorError):
                    call("retire", cell.label)

        return Timed(events(), lambda: seconds[0])

    try:
        yield Executor(player, shut_down, load_of(call), check)
    finally:
        shut_down()


def _received(ray: Any, references: Iterable[Any]) -> Iterator[TimedEvent]:
    """The events of a worker as they arrive. Raises the worker's exceptions, and `LostWorkerError` if it died."""
    try:
        for reference in references:
            yield ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError as error:
        raise LostWorkerError(
            "A worker of the cluster died", f"{type(error).__name__}.", "Continue the evaluation."
        ) from error


def _check_of(ray: Any) -> Callable[[], None]:
    """A function that raises `LostExecutorError` if Ray's process on this machine, the raylet, does not answer.

    Ray itself notices that after half a minute, and then ends our process without a word.
    """
    here = ray.get_runtime_context().get_node_id()
    place = next(node["RayletSocketName"] for node in ray.nodes() if node["NodeID"] == here)

    def check() -> None:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(place)
        except (ConnectionError, FileNotFoundError) as error:
            raise _gone(f"Its process on this machine, the raylet, died ({error.strerror}).") from error

    return check


def _started(setup: Setup) -> Any:
    """Ray, connected to the cluster. Raises `UsageError`."""
    if find_spec("ray") is None:
        what = "Ray is not installed"
        raise UsageError(what, "Missing: ray.", "Install pddlego with its extra: pip install '.[cluster]'.")
    import ray
    import ray.util.scheduling_strategies

    run = setup.config.run
    try:
        with without_secrets():  # workers get the key with the setup, not in the environment, which others can read
            ray.init(
                address=run.address,
                num_cpus=run.workers if run.address is None else None,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
            )
    except Exception as error:  # it is a bare one if its processes do not start in time
        reason = " ".join(str(error).split())[:200]
        where = run.address or "this machine"
        advice = "Check --address." if run.address else "Run it again, with fewer --workers or on a less busy machine."
        raise UsageError(f"There is no Ray cluster at {where}", reason, advice) from error
    return ray
