"""The tool server as an agent uses it: the SDK's client and the server in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests import fuel
from tests.children import started
from tests.lamps import DOMAIN, PLAN, PROBLEM
from tests.scale import PATIENCE

if TYPE_CHECKING:  # importing the SDK takes seconds, which every worker would spend to collect the tests
    from mcp import ClientSession

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="the extra mcp is not installed")

HANOI = """(define (domain hanoi) (:predicates (clear ?x) (on ?x ?y) (smaller ?x ?y))
  (:action move :parameters (?disc ?from ?to)
    :precondition (and (smaller ?to ?disc) (on ?disc ?from) (clear ?disc) (clear ?to))
    :effect (and (clear ?from) (on ?disc ?to) (not (on ?disc ?from)) (not (clear ?to)))))"""

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def hanoi(discs: int) -> str:
    names = [f"d{number}" for number in range(discs)]
    pegs = ["p1", "p2", "p3"]
    facts = [f"(smaller {peg} {disc})" for peg in pegs for disc in names]
    facts += [f"(smaller {names[big]} {names[small]})" for big in range(discs) for small in range(big)]
    facts += [f"(on {disc} {below})" for disc, below in zip(names, [*names[1:], "p1"], strict=True)]
    goal = [f"(on {disc} {below})" for disc, below in zip(names, [*names[1:], "p3"], strict=True)]
    return f"""(define (problem h) (:domain hanoi) (:objects {" ".join([*names, *pegs])})
      (:init (clear d0) (clear p2) (clear p3) {" ".join(facts)}) (:goal (and {" ".join(goal)})))"""


@asynccontextmanager
async def session(errors: Path, *options: str) -> AsyncIterator[ClientSession]:
    from mcp import ClientSession, StdioServerParameters, stdio_client

    environment = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    server = StdioServerParameters(command=sys.executable, args=["-m", "pddlego", "mcp", *options], env=environment)
    with errors.open("w") as log:
        async with (
            stdio_client(server, errlog=log) as (read, write),
            ClientSession(read, write, read_timeout_seconds=PATIENCE) as client,
        ):
            await client.initialize()
            yield client


def talk(tmp_path: Path, conversation: Callable[[ClientSession], Awaitable[None]], *options: str) -> None:
    async def go() -> None:
        async with session(tmp_path / "errors", *options) as client:
            await conversation(client)

    asyncio.run(go())
    assert (tmp_path / "errors").read_text() == ""


async def call(client: ClientSession, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def fault(client: ClientSession, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    (content,) = result.content
    assert content.type == "text"
    assert "Traceback" not in content.text
    return content.text


def test_tools_are_documented_and_check_solve_and_repair(tmp_path: Path) -> None:
    async def conversation(client: ClientSession) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        page = (Path(__file__).parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")
        documented = dict(re.findall(r"^\| `(\w+)\((.*?)\)` \|", page, re.MULTILINE))
        assert {name: ", ".join(tool.input_schema["properties"]) for name, tool in tools.items()} == documented
        assert all(tool.output_schema and tool.description for tool in tools.values())
        assert await call(client, "check", domain=DOMAIN, problem=PROBLEM, plan=PLAN) == {
            "ok": True,
            "findings": [],
            "cost": 3,
            "left_out": "",
        }
        wrong = await call(client, "check", domain=DOMAIN, problem=PROBLEM.replace("(at hall)", "(at hal)"))
        (finding,) = wrong["findings"]
        assert (finding["rule"], finding["line"], finding["severity"]) == ("undeclared-object", 2, "error")
        assert "did you mean hall" in finding["message"].lower() + finding["advice"].lower()
        solved = await call(client, "solve", domain=DOMAIN, problem=PROBLEM)
        assert (solved["status"], solved["cost"], solved["engine"]) == ("solved", 3, "pyperplan")
        valid = await call(client, "validate", domain=DOMAIN, problem=PROBLEM, plan="\n".join(solved["plan"]))
        assert valid["valid"] and valid["cost"] == 3
        invalid = await call(client, "validate", domain=DOMAIN, problem=PROBLEM, plan="(switch-on kitchen)")
        assert (invalid["valid"], invalid["step"], invalid["advice"]) == (False, 1, "Set (at kitchen) to true")
        unreadable = await call(client, "validate", domain=DOMAIN, problem=PROBLEM, plan="/etc/passwd")
        assert (unreadable["valid"], unreadable["rule"]) == (False, "syntax")
        assert not solved["optimal"] and solved["note"] == ""
        repaired = await call(client, "repair", text=PROBLEM[:-2], domain=DOMAIN)
        assert repaired["ok"] and repaired["repairs"]

    talk(tmp_path, conversation)


def test_tasks_are_compared_and_plans_simulated(tmp_path: Path) -> None:
    async def conversation(client: ClientSession) -> None:
        renamed = PROBLEM.replace("kitchen", "bath")
        assert (await call(client, "compare", domain=DOMAIN, left=PROBLEM, right=renamed))["verdict"] == "same"
        other = DOMAIN.replace("(not (at ?a))", "")
        assert other != DOMAIN
        (witness,) = (await call(client, "compare", domain=DOMAIN, left=other))["witnesses"]
        assert witness["left"] != witness["right"]
        simulated = await call(client, "simulate", domain=DOMAIN, problem=PROBLEM, plan=PLAN)
        assert [state["added"] for state in simulated["states"]] == [
            [],
            ["(lit hall)"],
            ["(at kitchen)"],
            ["(lit kitchen)"],
        ]
        assert simulated["states"][-1]["goal_reached"]
        assert "(move kitchen hall)" in simulated["applicable"]
        moves = await call(client, "applicable", domain=DOMAIN, problem=PROBLEM, plan=PLAN, action="move")
        assert set(moves["actions"]) == {a for a in simulated["applicable"] if a.startswith("(move ")}
        assert "no action fly" in await fault(client, "applicable", domain=DOMAIN, problem=PROBLEM, action="fly")
        changed = await call(client, "difference", domain=DOMAIN, left=PROBLEM, right=renamed)
        assert changed["only_left"] and changed["only_right"]

    talk(tmp_path, conversation)


@pytest.mark.slow
def test_every_tool_knows_numbers(tmp_path: Path) -> None:
    async def conversation(client: ClientSession) -> None:
        task = {"domain": fuel.DOMAIN, "problem": fuel.PROBLEM}
        assert (await call(client, "check", **task, plan="\n".join(fuel.PLAN)))["cost"] == 3
        solved = await call(client, "solve", **task)
        assert (solved["status"], tuple(solved["plan"])) == ("solved", fuel.PLAN)
        values = "(fuel t1) is 3, (distance p2 p3) is 4.5"
        invalid = await call(client, "validate", **task, plan=[fuel.PLAN[0], fuel.PLAN[2]])
        assert (invalid["valid"], invalid["step"]) == (False, 2)
        assert values in invalid["advice"]
        repaired = await call(client, "repair", text=fuel.PROBLEM[:-3], domain=fuel.DOMAIN)
        assert repaired["ok"] and "(= (distance p2 p3) 4.5)" in repaired["text"]
        other = fuel.PROBLEM.replace("(= (fuel t1) 8)", "(= (fuel t1) 9)")
        numbers = {"only_left": ["(= (fuel t1) 8)"], "only_right": ["(= (fuel t1) 9)"]}
        for tool in ("difference", "compare"):
            different = await call(client, tool, domain=fuel.DOMAIN, left=fuel.PROBLEM, right=other)
            assert {name: different[name] for name in numbers} == numbers, tool
        simulated = await call(client, "simulate", **task, plan="\n".join(fuel.PLAN))
        assert [[fact for fact in state["added"] if "=" in fact] for state in simulated["states"]] == [
            [],
            ["(= (fuel t1) 3)"],
            ["(= (fuel t1) 10)"],
            ["(= (fuel t1) 5.5)"],
        ]
        assert "(= (distance p1 p2) 5)" in simulated["states"][-1]["facts"]
        assert (await call(client, "applicable", **task, plan=fuel.PLAN[0]))["actions"] == ["(refuel t1 p2)"]

    talk(tmp_path, conversation)


@pytest.mark.slow
def test_bad_input_is_explained(tmp_path: Path) -> None:
    async def conversation(client: ClientSession) -> None:
        for path in ("/etc/passwd", "domain.pddl"):
            assert "not its path" in await fault(client, "check", domain=path)
        assert not (await call(client, "check", domain="I cannot do that"))["ok"]
        answer = f"<think>{PROBLEM[:9]}</think>{PROBLEM}"
        assert (await call(client, "repair", text=answer, domain=DOMAIN))["text"] == PROBLEM
        assert "1000000 characters" in await fault(client, "check", domain="(" * 1_000_001)
        assert "Field required" in await fault(client, "solve", domain=DOMAIN)
        assert "Unknown tool" in await fault(client, "play", domain=DOMAIN)
        assert "The domain is not valid" in await fault(client, "solve", domain="(define", problem=PROBLEM)
        assert "Unknown planner" in await fault(client, "solve", domain=DOMAIN, problem=PROBLEM, planner="best")
        assert "unknown search" in await fault(client, "solve", domain=DOMAIN, problem=PROBLEM, search="magic")
        assert not (await call(client, "check", domain="(" * 1000))["ok"]

    talk(tmp_path, conversation)


@pytest.mark.slow
def test_a_planner_without_time_ends_with_a_result_and_others_go_on(tmp_path: Path) -> None:
    async def conversation(client: ClientSession) -> None:
        hard = {"domain": HANOI, "problem": hanoi(14), "planner": "pyperplan", "search": "astar(blind)"}
        slow, quick = await asyncio.gather(
            client.call_tool("solve", hard), client.call_tool("check", {"domain": DOMAIN, "problem": PROBLEM})
        )
        assert slow.structured_content and slow.structured_content["status"] == "timeout"
        assert quick.structured_content and quick.structured_content["ok"]

    talk(tmp_path, conversation, "--timeout", "20")  # to start a process may take so long on a busy machine


@pytest.mark.slow
def test_two_clients_at_once(tmp_path: Path) -> None:
    async def conversation(client: ClientSession) -> None:
        assert (await call(client, "solve", domain=DOMAIN, problem=PROBLEM))["status"] == "solved"

    async def go() -> None:
        async with session(tmp_path / "one") as one, session(tmp_path / "two") as two:
            await asyncio.gather(conversation(one), conversation(two))

    asyncio.run(go())


ROOMS = """(define (domain rooms) (:predicates (at ?x) (seen ?x) (dark ?x))
  (:action go :parameters (?x ?y) :precondition (at ?x) :effect (and (at ?y) (not (at ?x)) (seen ?y)))
  (:action light :parameters () :precondition () :effect (forall (?x) (not (dark ?x)))))"""


def rooms(number: int) -> str:
    names = " ".join(f"room-number-{room}" for room in range(number))
    dark = " ".join(f"(dark room-number-{room})" for room in range(number))
    return f"(define (problem p) (:domain rooms) (:objects {names}) (:init (at room-number-0) {dark}) (:goal (and)))"


def walk(steps: int) -> str:
    return "\n".join(f"(go room-number-{step % 2} room-number-{(step + 1) % 2})" for step in range(steps))


@pytest.mark.slow
def test_every_answer_is_bounded(tmp_path: Path) -> None:
    """What is left out is said, with how to get it."""
    action = "(:action a{0} :parameters (?x) :precondition (q{0} ?x) :effect (q ?x))"
    many = "(define (domain d) (:predicates (q ?x))" + "\n".join(action.format(number) for number in range(2_000))

    async def sized(client: ClientSession, tool: str, **arguments: Any) -> Any:
        answer = await call(client, tool, **arguments)
        text = answer.pop("text", "")
        assert len(json.dumps(answer)) < 120_000
        return answer | {"text": text}

    async def conversation(client: ClientSession) -> None:
        long = await sized(client, "simulate", domain=ROOMS, problem=rooms(1_500), plan=walk(1_000))
        assert long["states"][-1]["step"] == 1_000
        assert long["states"][-1]["added"] == ["(at room-number-0)"]
        assert [state["facts"] for state in long["states"][:-1]] == [[]] * (len(long["states"]) - 1)
        assert "of 1001 states" in long["left_out"] and "of 1501 applicable" in long["left_out"]
        assert "Pass only the first steps of the plan" in long["left_out"]
        wide = await sized(client, "simulate", domain=ROOMS, problem=rooms(9_000), plan="(light)")
        assert "the facts of all states but the last" in wide["left_out"]
        assert "of the last state" in wide["left_out"]
        short = await sized(client, "simulate", domain=ROOMS, problem=rooms(20), plan=walk(2))
        assert short["left_out"] == "" and len(short["states"][0]["facts"]) == 21
        wrong = await sized(client, "check", domain=f"{many})")
        assert len(wrong["findings"]) == 50 and wrong["left_out"] == ""
        repaired = await sized(client, "repair", text=many)
        assert "(:action a1999" in repaired["text"] and len(repaired["text"]) < 2_000_000
        left, right = rooms(5_000), rooms(5_000).replace("(dark", "(seen")
        compared = await sized(client, "compare", domain=ROOMS, left=left, right=right)
        assert compared["verdict"]
        assert (
            len(await fault(client, "solve", domain=DOMAIN, problem=PROBLEM.replace("kitchen", "k" * 500_000))) < 5_000
        )

    talk(tmp_path, conversation)


CALL = b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"check","arguments":{"domain":%s}}}'


LINES: list[tuple[bytes, object]] = [
    (CALL % (b"7", rb'"(define \ud800)"'), 7),
    (CALL % (b"7", rb'"(define \udc00\ud800)"'), 7),
    (CALL % (b"7", rb'"(define \ud83d\ude00 \\ud800)"'), 7),
    (CALL % (b"7", b'"(define \xff\xed\xa0\x80)"'), 7),
    (CALL % (b"7", b'"(define \x00\x01\r\x0b)"'), 7),
    (CALL % (b"7", '"(define \u2028\x85)"'.encode()), 7),
    (CALL % (b"7", b"1e999"), 7),
    (CALL % (b'"\\ud800"', b'"(define"'), "?"),
    (CALL % (b"7", b"9" * 5_000), None),
    (CALL % (b"7", b"[" * 100_000 + b"]" * 100_000), None),
    (CALL % (b"true", b'"(define"'), None),
    (b'{"jsonrpc":"2.0","id":7}', 7),
    (b'{"jsonrpc":"2.0","id":7,"method":3}', 7),
    (b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]', None),
    (b"hello", None),
    (b"\xff", None),
]
"""Lines, and the id of the answer to each."""


@pytest.mark.slow
def test_every_line_is_answered() -> None:
    """Whatever a client writes; the SDK drops what it cannot read. After each line the server still works."""
    command = [sys.executable, "-m", "pddlego", "mcp"]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        for line, answered in LINES:
            for message in (b"", line, CALL % (b"8", b'"(define"')):
                server.stdin.write(message + b"\n")
            server.stdin.flush()
            answers = [json.loads(server.stdout.readline()) for _ in range(2)]
            assert sorted(str(answer["id"]) for answer in answers) == sorted(map(str, (answered, 8))), line[:100]
        server.stdin.close()
        assert server.wait(PATIENCE) == 0
        assert server.stderr.read() == b""


CLIENT = """
import asyncio, sys
sys.path[:0] = {path!r}
from pathlib import Path
from tests.tools.mcp.test_server import HANOI, hanoi, session
async def go():
    async with session(Path({errors!r})) as client:
        print("ready", flush=True)
        await client.call_tool("solve", {{"domain": HANOI, "problem": hanoi(14), {how}}})
asyncio.run(go())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("how", ["'search': 'astar(blind)', 'planner': 'pyperplan'", "'planner': 'mimir'"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_killing_the_client_leaves_no_process(tmp_path: Path, number: int, how: str) -> None:
    script = CLIENT.format(path=[str(Path(__file__).parents[3])], errors=str(tmp_path / "errors"), how=how)
    with started([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == b"ready\n"
        ends = time.monotonic() + PATIENCE
        while len(below := _children(client.pid)) < 3:
            assert time.monotonic() < ends
            time.sleep(0.1)
        client.send_signal(number)
    ends = time.monotonic() + PATIENCE
    while any(map(_is_running, below)):
        assert time.monotonic() < ends
        time.sleep(0.1)


def _children(pid: int) -> list[int]:
    """All processes below one."""
    listing = subprocess.run(
        ["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout
    parents = {int(own): int(parent) for own, parent in (line.split() for line in listing.splitlines())}
    family = {pid}
    while more := {own for own, parent in parents.items() if parent in family and own not in family}:
        family |= more
    return sorted(family - {pid})


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.slow
def test_an_interrupt_ends_the_server_quietly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pddlego", "mcp"]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdin.flush()
        assert b"pddlego" in server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=PATIENCE) == 130
        assert server.stderr.read() == b""
