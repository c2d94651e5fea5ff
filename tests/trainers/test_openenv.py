"""The OpenEnv server, with OpenEnv's own client. It cannot be installed beside the extra mcp: `.ci/run` runs this in an
environment of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pddlego.errors import UsageError
from tests.scale import PATIENCE, scaled
from tests.trainers.serving import Server, expert_answers, served

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.beside("openenv")


def client(server: Server, **options: Any) -> Any:
    from openenv.core.generic_client import GenericEnvClient

    return GenericEnvClient(base_url=server.url, **options).sync()


def won_episodes(server: Server, game: str, mode: str, seeds: range) -> int:
    """Play the expert's answers in one session, an episode for each seed."""
    won = 0
    with client(server) as session:
        for seed in seeds:
            result, total = session.reset(seed=seed), 0.0
            assert result.reward is None and not result.done
            for answer in expert_answers(game, mode, seed):
                result = session.step({"answer": answer})
                total += result.reward
            assert result.done
            won += result.observation["won"] and total == pytest.approx(1.0)
    return won


@pytest.mark.parametrize(
    "game, mode, sessions", [("coin", "act", 64), ("coin", "edit", 64), ("cooking-hard", "edit", 16)]
)
def test_many_sessions_at_once(game: str, mode: str, sessions: int) -> None:
    number, episodes = scaled(max(2, sessions // 8), in_ci=sessions), range(60, scaled(62, in_ci=65))
    for seed in episodes:
        expert_answers(game, mode, seed)
    with served(game, "--mode", mode) as server, ThreadPoolExecutor(number) as pool:
        results = pool.map(lambda _: won_episodes(server, game, mode, episodes), range(number))
        assert list(results) == [len(episodes)] * number


def test_a_session() -> None:
    with served("coin", "--mode", "edit") as server, client(server) as session:
        early = session.step({"answer": "{}"})
        assert "reset begins an episode" in early.observation["text"] and early.reward == 0
        assert session.reset(seed=60).observation["messages"] == []
        first = session.reset(seed=60, messages=True)
        assert first.observation["messages"][0]["role"] == "system" and not first.done
        assert session.step({}).observation["accepted"] is False  # an empty edit, with which there is no plan
        session.reset(seed=60)
        answer = json.loads(expert_answers("coin", "edit", 60)[0])
        bare = session.step(answer)  # an edit as the whole action, which clients send
        assert bare.observation["accepted"] and bare.observation["reasons"] == []
        wrong = session.step({"answer": "I do not know."})
        assert wrong.observation["accepted"] is False and wrong.reward <= 0
        state = session.state()
        assert (state["seed"], state["step_count"], state["game"]) == (60, 2, "coin")
        with pytest.raises(RuntimeError, match="test seeds are not for training"):
            session.reset(seed=12)
        assert session.reset(split="dev", index=3).done is False and session.state()["seed"] == 3
        with pytest.raises(RuntimeError, match="no split test"):
            session.reset(split="test", index=3)


def fetched(server: Server, path: str, body: object = None, token: str = "") -> Any:
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data, headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        return json.load(response)


def test_tasks_and_validation() -> None:
    with served("coin", "--mode", "act", "--split", "test") as server:
        assert fetched(server, "/health") == {"status": "healthy"}
        name = fetched(server, "/metadata")["name"]
        assert name == "pddlego-coin"
        assert [split["name"] for split in fetched(server, f"/{name}/splits")] == ["train", "dev", "test"]
        task = fetched(server, f"/{name}/task", {"split": "test", "index": 2})
        assert task["task"]["seed"] == 12 if "task" in task else task["seed"] == 12
        report = subprocess.run(
            [sys.executable, "-m", "openenv.cli", "validate", "--url", server.url], capture_output=True, text=True
        )
        assert "Verdict: PASS" in report.stdout, report.stdout + report.stderr
        with client(server) as session:
            assert not session.reset(split="test", index=2).done


def test_the_manifest_passes_the_static_checks() -> None:
    command = [sys.executable, "-m", "openenv.cli", "validate", "examples/openenv", "--level", "static", "--skip-build"]
    report = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert "PASS  static.manifest" in report.stdout, report.stdout + report.stderr


def test_a_public_server_needs_a_token() -> None:
    refused = subprocess.run(
        [sys.executable, "-m", "pddlego", "serve", "coin", "--host", "0.0.0.0"], capture_output=True, text=True
    )
    assert refused.returncode == 2 and "needs a token" in refused.stderr
    with served("coin", PDDLEGO_SERVE_TOKEN="secret") as server:
        assert fetched(server, "/health") == {"status": "healthy"}
        with pytest.raises(urllib.error.HTTPError, match="401"):
            fetched(server, "/metadata")
        assert fetched(server, "/metadata", token="secret")["name"] == "pddlego-coin"
        with pytest.raises(Exception, match=r"401|403|reject"), client(server) as session:
            session.reset(seed=60)
        with client(server, headers={"Authorization": "Bearer secret"}) as session:
            assert not session.reset(seed=60).done


def test_limits_of_sessions() -> None:
    with served("coin", "--mode", "act", "--sessions", "2", "--idle", "1") as server:
        with client(server) as one, client(server) as two, client(server) as three:
            one.reset(seed=60)
            two.reset(seed=61)
            with pytest.raises(Exception, match=r"(?i)capacity|session|closed"):
                three.reset(seed=62)
        with client(server) as idle, client(server) as other:
            idle.reset(seed=60)
            other.reset(seed=61)
            assert any(has_room(server) for _ in patiently(1.0)), "no idle session was closed"


def patiently(pause: float) -> Iterator[None]:
    """A moment after each pause, to the end of the patience."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        time.sleep(pause)
        yield


def has_room(server: Server) -> bool:
    """Whether the server accepts another session."""
    try:
        with client(server) as session:
            return bool(session.reset(seed=60))
    except (RuntimeError, OSError):
        return False


async def drop(server: Server, number: int) -> None:
    """Open a session, begin an episode, and drop the connection without a word."""
    from websockets.asyncio.client import connect

    async with connect(server.url.replace("http", "ws") + "/ws", max_size=None) as socket:
        await socket.send(json.dumps({"type": "reset", "data": {"seed": 60 + number % 40}}))
        if number % 2:
            await socket.recv()
        socket.transport.abort()


def settled(server: Server, wanted: tuple[int, int, int]) -> tuple[int, int, int]:
    """The server's resources when they have become `wanted`, or at the end of the patience."""
    deadline = time.monotonic() + PATIENCE
    while any(now > most for now, most in zip(server.resources, wanted, strict=True)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return server.resources


@pytest.mark.slow
def test_dropped_connections_and_killed_clients_leave_nothing() -> None:
    code = (
        "import sys, time; from openenv.core.generic_client import GenericEnvClient\n"
        "envs = [GenericEnvClient(base_url=sys.argv[1]).sync() for _ in range(3)]\n"
        "[env.connect().reset(seed=60) for env in envs]; print('ready', flush=True); time.sleep(1000)"
    )
    with served("coin", "--mode", "act", "--sessions", "200") as server:
        with client(server) as session:  # the game engine runs from here on
            session.reset(seed=60)

        async def wave(first: int) -> None:
            await asyncio.gather(*(drop(server, number) for number in range(first, first + 40)), return_exceptions=True)

        # the engine keeps one connection for each episode that ran at once, which are 40 and the clients
        descriptors, threads, children = server.resources
        most = (descriptors + 50, threads + 4, children)
        for first in range(0, 1000, 40):
            asyncio.run(wave(first))
        clients = [
            subprocess.Popen([sys.executable, "-c", code, server.url], stdout=subprocess.PIPE, text=True)
            for _ in range(20)
        ]
        for process in clients:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert all(now <= limit for now, limit in zip(settled(server, most), most, strict=True)), server.resources
        assert won_episodes(server, "coin", "act", range(0)) == 0


def test_a_used_port_is_explained() -> None:
    with served("coin", "--mode", "act") as server:
        port = server.url.rpartition(":")[2]
        refused = subprocess.run(
            [sys.executable, "-m", "pddlego", "serve", "coin", "--port", port], capture_output=True, text=True
        )
        assert refused.returncode == 2 and "cannot be used" in refused.stderr and "Traceback" not in refused.stderr


def test_an_unknown_game_is_explained() -> None:
    from pddlego import Environment

    with pytest.raises(UsageError, match="coim"):
        Environment("coim")
