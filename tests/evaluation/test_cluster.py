"""Evaluations on a real local Ray cluster, with workers that are killed, and the permits of their requests."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import pddlego
from pddlego.episode.events import Outcome
from pddlego.errors import BudgetSpentError
from pddlego.evaluation.cluster import ActorLimiter, Permits, load_of
from pddlego.evaluation.runner import LostExecutorError
from pddlego.evaluation.table import result_table
from pddlego.models import Message, Request
from pddlego.models.limiter import Load, SharedLimiter, Spending
from pddlego.pddl import Domain, Problem
from pddlego.runs.store import read_results
from tests.children import started
from tests.methods.textgames.situations import situation_with
from tests.model_server import ModelServer, answer
from tests.scale import PATIENCE

REQUEST = Request(
    "edit",
    (Message("user", "x" * 300),),
    situation_with("", "", Domain("d"), Problem("p", "d")),
)


def permits(limiter: SharedLimiter) -> Permits:
    return Permits(lambda: limiter)


def test_the_actor_keeps_the_budget_for_workers_elsewhere() -> None:
    limiter = SharedLimiter(2, Spending(calls=3))
    server = permits(limiter)
    asked = ActorLimiter(lambda name, *arguments: getattr(server, name)(*arguments), "cell/1")
    with asked.admit_request("m", REQUEST) as permit:
        permit.used(10, 5, 0)
    assert (limiter.spent.calls, limiter.spent.tokens) == (1, 15)
    with asked.admit_request("m", REQUEST) as permit:
        permit.refused(0.0)
    assert (limiter.spent.calls, limiter.spent.tokens) == (2, 15)
    with asked.admit_request("m", REQUEST):
        pass
    with pytest.raises(BudgetSpentError), asked.admit_request("m", REQUEST):
        pass


def test_what_was_spent_is_known_when_the_actor_is_gone() -> None:
    answers = [Load(Spending(3, 40, 0), 2, True)]

    def call(name: str) -> Load:
        if not answers:
            raise LostExecutorError("The Ray cluster is gone")
        return answers.pop()

    load = load_of(call)
    assert load() == load() == Load(Spending(3, 40, 0), 2, True)


@pytest.mark.parametrize("dies", ["enter", "leave"])
def test_a_worker_knows_that_the_actor_is_gone(dies: str) -> None:
    """An answer that is there is kept; the next request fails, and that is neither a bug nor the endpoint."""
    gone = LostExecutorError("The Ray cluster is gone")

    def call(name: str, *arguments: object) -> int:
        calls.append(name)
        if name == dies or dies in calls:
            raise gone
        return 1

    calls: list[str] = []
    limiter, answers = ActorLimiter(call, "cell/1"), list[str]()
    with suppress(LostExecutorError), limiter.admit_request("m", REQUEST):
        answers.append("north")
    assert (answers, limiter.gone) == (([], gone) if dies == "enter" else (["north"], None))
    with pytest.raises(LostExecutorError), limiter.admit_request("m", REQUEST):
        pass
    assert limiter.gone is gone


def test_a_worker_that_is_gone_gives_its_place_back() -> None:
    limiter = SharedLimiter(1)
    server = permits(limiter)
    server.enter("lost/1", "m", 300)
    server.retire("lost")
    assert server.enter("next/1", "m", 300) == 2
    assert limiter.spent.calls == 2, "what was sent stays spent"


def test_who_waits_for_a_place_when_its_worker_dies_gets_none() -> None:
    limiter = SharedLimiter(1)
    server = permits(limiter)
    first = server.enter("cell/1", "m", 300)
    failed: list[BaseException] = []

    def wait() -> None:
        try:
            server.enter("other/1", "m", 300)
        except ConnectionError as error:
            failed.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    deadline = time.monotonic() + PATIENCE
    while not server._asking and time.monotonic() < deadline:
        time.sleep(0.001)
    server.retire("other")
    server.leave(first, (1, 1, 0, True), None)
    waiting.join(PATIENCE)
    assert failed
    assert limiter.spent.calls == 1, "it sent nothing"
    assert server.enter("next/1", "m", 300) > first


def test_an_episode_that_begins_again_takes_back_what_its_dead_worker_held() -> None:
    server = permits(SharedLimiter(1))
    server.enter("cell/1", "m", 300)
    server.retire("cell", but="cell/2")
    assert server.enter("cell/2", "m", 300) == 2


def _killing(find: Callable[[], list[int]]) -> threading.Thread:
    """Kill one worker as soon as there is one that plays."""

    def work() -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            result = find()
            if result:
                time.sleep(0.8)  # it has begun to play
                with contextlib.suppress(ProcessLookupError):
                    os.kill(result[0], signal.SIGKILL)
                return
            time.sleep(0.02)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _same(run: Path, seeds: str) -> bool:
    """Whether the results are those of threads."""
    alone = pddlego.evaluate(["coin"], run / "alone", seeds=seeds, workers=2).results
    return (run / "far" / "results.csv").read_text() == result_table(alone)


@pytest.mark.cluster
def test_a_ray_cluster_loses_nothing_when_a_worker_is_killed(tmp_path: Path) -> None:
    def workers() -> list[int]:
        result = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (place / "cmdline").read_bytes().startswith(b"ray::play_whole"):
                    result.append(int(place.name))
        return result

    killing = _killing(workers)
    results = pddlego.evaluate(["coin"], tmp_path / "far", seeds="0-7", executor="ray", workers=2).results
    killing.join(PATIENCE)
    assert all(result.won for result in results), "the episode of the killed worker is played again"
    assert _same(tmp_path, "0-7")


def of_ray(name: bytes, folder: Path) -> list[int]:
    """The processes of Ray whose command has the name, and that this test has started."""
    result = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_mine = str(folder).encode() in (place / "environ").read_bytes()
            if name in (place / "cmdline").read_bytes() and is_mine:
                result.append(int(place.name))
    return result


@pytest.mark.cluster
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="the processes are found in /proc")
@pytest.mark.parametrize(
    ("name", "why"), [(b"raylet/raylet", "the raylet, died"), (b"ray::Permits", "with the budget")]
)
def test_events_are_written_as_they_happen_and_a_dead_cluster_ends_the_evaluation(
    tmp_path: Path, model_server: ModelServer, name: bytes, why: str
) -> None:
    may_answer = threading.Event()
    model_server.replies = [answer("look around"), answer("look around"), answer("look around", hold=may_answer)]
    options = ("--modes", "act", "--models", "m", "--base-url", model_server.url, "--seeds", "0-5", "--workers", "2")
    command = [sys.executable, "-m", "pddlego", "eval", "coin", *options, "--executor", "ray", "--run", "r"]
    environment = {**os.environ, "PDDLEGO_TEST": str(tmp_path)}
    with started(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as playing:
        journals, deadline = tmp_path / "runs" / "r" / "episodes", time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not any('"step":1,' in path.read_text() for path in journals.glob("*")):
            time.sleep(0.1)
        assert not (tmp_path / "runs" / "r" / "results.jsonl").exists(), "no episode has ended"
        (process,) = of_ray(name, tmp_path)
        os.kill(process, signal.SIGKILL)
        may_answer.set()
        errors = playing.communicate(timeout=PATIENCE)[1].splitlines()
    assert playing.returncode == 3, errors
    assert [line[:7] for line in errors[-3:]] == ["Error: ", "  why: ", "  do:  "]
    assert why in errors[-2]
    results = read_results(tmp_path / "runs" / "r")[0]
    assert 1 <= len(results) <= 3
    assert all(result.outcome is Outcome.INTERRUPTED for result in results), [result.message for result in results]


@pytest.mark.cluster
def test_a_budget_holds_on_a_cluster(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.replies = [answer("look around", delay=0.02)]
    results = pddlego.evaluate(
        ["coin"],
        tmp_path / "far",
        modes="act",
        models="m",
        seeds="0-7",
        base_url=model_server.url,
        max_calls=10,  # no multiple of the steps: an episode is cut
        max_steps=3,
        executor="ray",
        workers=4,
    ).results
    assert len(model_server.requests) == 10
    assert Outcome.BUDGET in {result.outcome for result in results}
