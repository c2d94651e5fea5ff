"""Evaluations in processes of this machine and on a real local Ray cluster, with workers that are killed."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import pddlego
from pddlego.errors import BudgetSpentError
from pddlego.evaluation.limiter_server import LimiterServer, RemoteLimiter, connect, serve
from pddlego.evaluation.table import result_table
from pddlego.events import Outcome
from pddlego.methods.textgames.situation import Situation
from pddlego.models import Message, Request
from pddlego.models.limiter import SharedLimiter
from pddlego.models.spending import Spending
from pddlego.pddl import Domain, Problem
from pddlego.runs.store import read_results
from tests.children import started
from tests.model_server import ModelServer, answer
from tests.planning.test_process import alive
from tests.scale import PATIENCE

REQUEST = Request(
    "edit",
    (Message("user", "x" * 300),),
    Situation("", "", Domain("d", (), (), (), (), (), (), ""), Problem("p", "d")),
)


def test_a_server_keeps_the_budget_for_workers_elsewhere() -> None:
    limiter = SharedLimiter(2, Spending(calls=3))
    asked = RemoteLimiter(connect(serve(LimiterServer(limiter))), "worker")
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


def test_a_worker_that_is_gone_gives_its_place_back() -> None:
    limiter = SharedLimiter(1)
    server = LimiterServer(limiter)
    server.enter("lost", "m", 300)
    server.forget("lost")
    assert server.enter("next", "m", 300) == 2
    assert limiter.spent.calls == 2, "what was sent stays spent"


def test_who_waits_for_a_place_when_its_worker_dies_gets_none() -> None:
    limiter = SharedLimiter(1)
    server = LimiterServer(limiter)
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
    server.clear("other")
    server.leave(first, (1, 1, 0, True), None)
    waiting.join(10)
    assert failed
    assert limiter.spent.calls == 1, "it sent nothing"
    assert server.enter("next/1", "m", 300) > first


def test_an_episode_that_begins_again_takes_back_what_its_dead_worker_held() -> None:
    server = LimiterServer(SharedLimiter(1))
    server.enter("cell/1", "m", 300)
    server.begin("cell/2")
    assert server.enter("cell/2", "m", 300) == 2


def _killing(find: Callable[[], list[int]]) -> threading.Thread:
    """Kills one worker as soon as there is one that plays."""

    def work() -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = find()
            if found:
                time.sleep(0.8)  # it has begun to play
                with contextlib.suppress(ProcessLookupError):
                    os.kill(found[0], signal.SIGKILL)
                return
            time.sleep(0.02)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _same(run: Path, seeds: str) -> bool:
    """Whether the results are those of threads."""
    alone = pddlego.evaluate(["coin"], run / "alone", seeds=seeds, workers=2)
    return (run / "far" / "results.csv").read_text() == result_table(alone)


def test_a_killed_process_loses_its_episode_and_no_other(tmp_path: Path) -> None:
    killing = _killing(lambda: [each.pid for each in multiprocessing.active_children() if each.pid])
    options = {"seeds": "0-15", "engine": "processes", "workers": 3}
    first = pddlego.evaluate(["coin"], tmp_path / "far", **options)
    killing.join(PATIENCE)
    (lost,) = [each for each in first if not each.counts]
    assert lost.outcome is Outcome.CRASHED
    assert "A worker process died" in lost.message
    again = pddlego.evaluate(["coin"], tmp_path / "far", **options)
    assert all(each.won for each in again)
    assert _same(tmp_path, "0-15")


@pytest.mark.cluster
def test_a_ray_cluster_loses_nothing_when_a_worker_is_killed(tmp_path: Path) -> None:
    def workers() -> list[int]:
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (place / "cmdline").read_bytes().startswith(b"ray::play_whole"):
                    found.append(int(place.name))
        return found

    killing = _killing(workers)
    results = pddlego.evaluate(["coin"], tmp_path / "far", seeds="0-15", engine="ray", workers=2)
    killing.join(PATIENCE)
    assert all(each.won for each in results), "Ray plays the episode of the killed worker again"
    assert _same(tmp_path, "0-15")


@pytest.mark.parametrize("engine", ["processes", pytest.param("ray", marks=pytest.mark.cluster)])
def test_a_budget_holds_across_processes(tmp_path: Path, model_server: ModelServer, engine: str) -> None:
    model_server.replies = [answer("look around", delay=0.02)]
    results = pddlego.evaluate(
        ["coin"],
        tmp_path / "far",
        modes="act",
        models="m",
        seeds="0-7",
        base_url=model_server.url,
        max_calls=9,
        max_steps=3,
        executor=engine,
        workers=4,
    )
    assert len(model_server.requests) == 9
    assert Outcome.BUDGET in {each.outcome for each in results}


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_workers_leave_ctrl_c_to_their_parent_and_end_with_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pddlego", "eval", "coin", "--seeds", "0-199", "--engine", "processes"]
    for how, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
        with started(
            [*command, "--workers", "2", "--run", how.name],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            start_new_session=True,
        ) as playing:
            assert playing.stdout is not None
            playing.stdout.readline()  # the first result is there
            children = Path(f"/proc/{playing.pid}/task/{playing.pid}/children").read_text().split()
            os.killpg(playing.pid, how) if how is signal.SIGINT else playing.kill()
            assert playing.wait(30) == code
        if how is signal.SIGINT:
            results = read_results(tmp_path / "runs" / how.name)
            assert {each.outcome for each in results} == {Outcome.WON}, "what had begun was played to its end"
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and any(alive(int(each)) for each in children):
            time.sleep(0.05)
        assert not [each for each in children if alive(int(each))]
