"""The OpenEnv server, with OpenEnv's own client. It cannot be installed beside the extra mcp: `.ci/run` runs this in an
environment of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
    "game, mode, sessions", [("coin", "act", 64), ("coin", "edit", 16), ("cooking-hard", "edit", 8)]
)
def test_many_sessions_at_once(game: str, mode: str, sessions: int) -> None:
    number, episodes = scaled(max(2, sessions // 8), in_ci=sessions), range(60, 62)
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


def test_reset_plays_what_is_asked_for() -> None:
    with served("coin", "--mode", "act") as server, client(server) as one, client(server) as two:
        for session, arguments, seed in (
            (one, {}, 60),
            (two, {}, 61),
            (one, {"split": "train"}, 62),
            (two, {"split": "dev"}, 0),
            (one, {"split": "dev"}, 1),
            (two, {"index": 0}, 60),
            (one, {"split": "dev", "index": 4}, 4),
            (two, {"split": "dev", "index": 4, "seed": 4}, 4),
            (one, {"split": "dev", "seed": 7}, 7),
            (two, {"seed": 5, "episode_id": "x", "messages": True}, 5),
            (one, {}, 63),
        ):
            session.reset(**arguments)
            assert session.state()["seed"] == seed, arguments


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"split": "test"}, "no split test"),
        ({"split": "tset"}, "no split tset"),
        ({"split": ""}, "no split"),
        ({"split": "dev", "index": 10}, "no task 10"),
        ({"index": -1}, "no task -1"),
        ({"index": True}, "index = True is invalid"),
        ({"index": "0"}, "index = '0' is invalid"),
        ({"seed": "60"}, "seed = '60' is invalid"),
        ({"seed": 60.0}, "seed = 60.0 is invalid"),
        ({"seed": 10**30}, "no seed"),
        ({"sed": 60}, "Unknown arguments of reset: sed"),
        ({"seed": 60, "game": "twc", "mode": "gold"}, "Unknown arguments of reset: game, mode"),
        ({"seed": 60, "split": "dev"}, "Seed 60 of coin is not in the split dev"),
        ({"seed": 3, "split": "train"}, "Seed 3 of coin is not in the split train"),
        ({"seed": 60, "split": "dev", "index": 3}, "Seed 60 contradicts index 3"),
        ({"seed": 12, "split": "train"}, "test seeds are not for training"),
    ],
)
def test_reset_refuses_what_it_cannot_play(coin: Server, arguments: dict[str, Any], reason: str) -> None:
    with client(coin) as session, pytest.raises(RuntimeError, match=reason):
        session.reset(**arguments)


@pytest.fixture(scope="module")
def coin() -> Iterator[Server]:
    with served("coin", "--mode", "act") as server:
        yield server


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="it reads /proc")
def test_an_episode_whose_engine_died_has_no_reward() -> None:
    """A client that counts a missing reward as 0 must not take it for a lost game."""
    with served("coin", "--mode", "act") as server, client(server) as session:
        session.reset(seed=60)
        tasks = Path(f"/proc/{server.pid}/task").glob("*/children")
        for pid in {pid for task in tasks for pid in task.read_text().split()}:
            if b"java" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(int(pid), signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="The episode has no reward"):
                session.step({"answer": "look around"})
        assert "game engine failed" in session.state()["system_error"]
        assert session.reset(seed=61).done is False and session.state()["system_error"] == ""


@pytest.mark.parametrize(
    "message",
    [
        *("{", "[]", "null", '"x"', "1", "NaN", "", '{"type": 5}', '{"type": "step"}', '{"type": "step", "data": []}'),
        '{"type": "step", "data": {"answer": "\\ud800"}}',
        '{"type": "\\ud800"}',
        '{"type": "reset", "data": {"seed": NaN}}',
        '{"type": "reset", "data": {"seed": ' + "1" * 10_000 + "}}",
        *("[" * 100_000, '{"type": "step", "data": ' + '{"a":' * 5_000 + "1" + "}" * 5_001),
        *(b"\xff\xfe\x00", b"", b"[]"),
    ],
)
def test_no_message_ends_a_session(coin: Server, message: str | bytes) -> None:
    from websockets.sync.client import connect

    with connect(coin.url.replace("http", "ws") + "/ws", max_size=None) as socket:
        socket.send('{"type": "reset", "data": {"seed": 60}}')
        assert json.loads(socket.recv(PATIENCE))["type"] == "observation"
        socket.send(message)
        socket.recv(PATIENCE)
        socket.send(b'{"type": "state"}')  # JSON in a binary frame is read
        assert json.loads(socket.recv(PATIENCE))["data"]["seed"] == 60


def status(server: Server, path: str, data: bytes | None = None, **headers: str) -> tuple[int, str]:
    """The status and the text of a response."""
    request = urllib.request.Request(server.url + path, data, {"content-type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_requests_over_http(coin: Server) -> None:
    assert status(coin, "/reset", b'{"seed": 60}')[0] == 200
    for body, reason in (
        (b'{"seed": 12}', "test seeds are not"),
        (b'{"sed": 60}', "sed"),
        (b'{"split": "x"}', "split x"),
    ):
        code, text = status(coin, "/reset", body)
        assert code == 400 and reason in text, text
    long = json.dumps({"action": {"answer": "x" * 1_000_001}}).encode()
    assert status(coin, "/step", long)[0] == 413
    assert status(coin, "/step", json.dumps({"action": {"answer": "x"}}).encode())[0] == 200


def test_foreign_pages_are_refused(coin: Server) -> None:
    own = coin.url.removeprefix("http://")
    with served("coin", "--mode", "act", "--name", "Games.example") as named:
        for server, headers, wanted in (
            (coin, {"Origin": coin.url}, 200),
            (coin, {"Origin": "http://localhost:3000"}, 200),
            (coin, {"Origin": "https://games.example"}, 403),
            (coin, {"Origin": "null"}, 403),
            (coin, {"Origin": "http://[bad"}, 403),
            (coin, {"Host": "games.example"}, 403),
            (coin, {"Host": f"games.example@{own}"}, 403),
            (coin, {"Host": "localhost:1"}, 200),
            (named, {"Host": "games.example", "Origin": "https://games.example"}, 200),
            (named, {"Origin": "https://other.games.example"}, 403),
        ):
            assert status(server, "/health", None, **headers)[0] == wanted, headers
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    with pytest.raises(InvalidStatus, match="403"):
        connect(coin.url.replace("http", "ws") + "/ws", origin="https://games.example")


def fetched(server: Server, path: str, body: object = None, token: str = "") -> Any:
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.url + path, data, headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        return json.load(response)


def test_tasks_and_validation() -> None:
    with served("coin", "--mode", "act", "--seeds", "test") as server:
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


def test_the_folder_of_the_space_is_what_openenv_uploads() -> None:
    """As it is: `openenv push` finds the files that it wants, and changes none of them."""
    from openenv.cli._cli_utils import validate_env_structure

    folder = ROOT / "examples" / "openenv"
    validate_env_structure(folder)
    _, head, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    docker = (folder / "Dockerfile").read_text(encoding="utf-8")
    port = re.search(r"^port: (\d+)$", (folder / "openenv.yaml").read_text(encoding="utf-8"), re.M)
    assert port is not None and "sdk: docker\n" in head and "--no-interface" in text
    assert f"app_port: {port[1]}\n" in head
    assert f"EXPOSE {port[1]}\n" in docker and f"--port {port[1]}" in docker


def test_the_server_starts_as_in_the_dockerfile() -> None:
    """The command of the image, on another port, with the variables of the image and a token."""
    docker = (ROOT / "examples" / "openenv" / "Dockerfile").read_text(encoding="utf-8")
    shell = json.loads(re.findall(r"^CMD (.*)$", docker, re.M)[-1])
    variables = dict(pair.split("=") for pair in re.findall(r"^ENV (.*)$", docker, re.M)[-1].split())
    filled = re.sub(r'"\$(\w+)"', lambda name: variables[name[1]], shell[-1])
    *arguments, _, _ = filled.removeprefix("exec pddlego serve ").split()  # without the port
    with served(*arguments, PDDLEGO_SERVE_TOKEN="secret") as server:
        assert fetched(server, "/metadata", token="secret")["name"] == "pddlego-coin"


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
    with (
        served("coin", "--mode", "act", "--sessions", "2") as server,
        client(server) as one,
        client(server) as two,
        client(server) as three,
    ):
        one.reset(seed=60)
        two.reset(seed=61)
        with pytest.raises(Exception, match=r"(?i)capacity|session|closed"):
            three.reset(seed=62)
    with (
        served("coin", "--mode", "act", "--sessions", "2", "--idle", "1") as server,
        client(server) as idle,
        client(server) as other,
    ):
        for session in (idle, other):
            with suppress(RuntimeError, OSError):  # a busy machine may take longer than the idle time
                session.reset(seed=60)
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
        "envs = [GenericEnvClient(base_url=sys.argv[1]).sync() for _ in range(15)]\n"
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
        for first in range(0, 400, 40):
            asyncio.run(wave(first))
        clients = [
            subprocess.Popen([sys.executable, "-c", code, server.url], stdout=subprocess.PIPE, text=True)
            for _ in range(4)
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
