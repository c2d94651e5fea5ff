"""The tool server for agents: the functions of `pddlego.tools` over standard input and output (MCP).

Each call runs in a process of its own with limits of time and memory, which is killed when the call is cancelled and
when the client goes. Nothing reads or writes files: every argument is the text of a file.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from typing import Annotated, NoReturn, TypeVar

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field, TypeAdapter

from pddlego import __version__, tools
from pddlego.planning.compare import Comparison
from pddlego.util.children import for_children

MAX_TEXT = 1_000_000
"""Characters of an argument."""

_AT_ONCE = 2
"""Calls that run at the same time; others wait."""

_GRACE = 5.0
"""Seconds that a call may take longer than its planner, to start and to end."""

_INSTRUCTIONS = """Tools for planning with PDDL. Write a domain and a problem, check them, correct what check reports, \
solve them, and answer with the plan. All arguments are texts of PDDL files, not paths. Time, chance, and numbers \
other than action costs are not supported."""

DomainText = Annotated[str, Field(description="The text of a PDDL domain file.", max_length=MAX_TEXT)]
ProblemText = Annotated[str, Field(description="The text of a PDDL problem file of the domain.", max_length=MAX_TEXT)]
AnyText = Annotated[str, Field(description="The text of a PDDL domain or problem file.", max_length=MAX_TEXT)]
PlanText = Annotated[str, Field(description="A plan: one (action object …) per line.", max_length=MAX_TEXT)]
PlannerName = Annotated[str, Field(description="auto, pyperplan, fast-downward or mimir.", max_length=50)]
SearchName = Annotated[
    str, Field(description="gbf(hff) for any plan, astar(lmcut) for a plan of least cost.", max_length=50)
]

Result = TypeVar("Result")


class Calls:
    """Runs functions of `pddlego.tools`, each call in a process of its own."""

    def __init__(self, seconds: float, memory: int) -> None:
        self.seconds, self.memory = seconds, memory
        self._running: set[int] = set()
        self._limiter = anyio.CapacityLimiter(_AT_ONCE)

    async def call(self, kind: type[Result], function: str, **arguments: object) -> Result:
        """The result of a function. Raises `ToolError` for its errors, and if it takes too long."""
        question = json.dumps({"function": function, "arguments": arguments}).encode()
        command = [sys.executable, "-m", "pddlego.tool_call", str(self.memory), str(os.getpid())]
        async with self._limiter:
            process = await anyio.open_process(
                command, stderr=subprocess.DEVNULL, env=for_children(), start_new_session=True
            )
            self._running.add(process.pid)
            answer = b""
            try:
                with anyio.fail_after(self.seconds + _GRACE):
                    assert process.stdin is not None and process.stdout is not None
                    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                        await process.stdin.send(question)
                        await process.stdin.aclose()
                    answer = b"".join([part async for part in process.stdout])
            except TimeoutError:
                raise ToolError(f"no answer within {self.seconds:g} s: simplify the task") from None
            finally:
                self._kill(process.pid)
                with anyio.CancelScope(shield=True):
                    await process.wait()
        if not answer:
            raise ToolError(f"the call ended without an answer; its memory limit is {self.memory} MiB")
        value = json.loads(answer)
        if "error" in value:
            raise ToolError(value["error"])
        return TypeAdapter(kind).validate_python(value["result"])

    def _kill(self, pid: int) -> None:
        """Kill a process with its children; its planner ends a second later."""
        self._running.discard(pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(pid, signal.SIGKILL)
            else:
                os.kill(pid, signal.SIGTERM)

    def leave(self, code: int) -> NoReturn:
        """End at once: a thread that reads standard input cannot be interrupted."""
        for pid in list(self._running):
            self._kill(pid)
        os._exit(code)


def make_server(calls: Calls) -> MCPServer:
    """The server with its tools."""
    server = MCPServer(
        "pddlego", title="PDDL tools", version=__version__, instructions=_INSTRUCTIONS, log_level="CRITICAL"
    )
    annotations = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    tool = server.tool(annotations=annotations, structured_output=True)

    @tool
    async def check(domain: DomainText, problem: ProblemText = "", plan: PlanText = "") -> tools.CheckResult:
        """Find errors and warnings in a domain, a problem and a plan: where, why, and what to do."""
        return await calls.call(tools.CheckResult, "check", domain=domain, problem=problem or None, plan=plan or None)

    @tool
    async def repair(text: AnyText, domain: DomainText = "") -> tools.RepairResult:
        """Repair a domain, or a problem (with its domain), that has slips: brackets, missing declarations, misspelt
        sections. Returns strict PDDL and the list of repairs. Nothing is guessed."""
        return await calls.call(tools.RepairResult, "repair", text=text, domain=domain or None)

    @tool
    async def solve(
        domain: DomainText, problem: ProblemText, planner: PlannerName = "auto", search: SearchName = "gbf(hff)"
    ) -> tools.SolveResult:
        """Find a plan. Every plan is validated. `unsolvable` means that no plan exists."""
        return await calls.call(
            tools.SolveResult,
            "solve",
            domain=domain,
            problem=problem,
            planner=planner,
            search=search,
            seconds=calls.seconds,
            memory=calls.memory,
        )

    @tool
    async def validate(domain: DomainText, problem: ProblemText, plan: PlanText) -> tools.ValidationResult:
        """Execute a plan: whether it reaches the goal, its cost, or the first step that fails and what it lacks."""
        return await calls.call(tools.ValidationResult, "validate", domain=domain, problem=problem, plan=plan)

    @tool
    async def compare(domain: DomainText, left: AnyText, right: ProblemText = "") -> Comparison:
        """Whether two problems of a domain say the same, up to the names of objects and what goals imply. Without
        `right`: whether `domain` and `left` are domains that are equal up to names and order."""
        return await calls.call(Comparison, "compare", domain=domain, left=left, right=right or None)

    @tool
    async def simulate(domain: DomainText, problem: ProblemText, plan: PlanText = "") -> tools.SimulationResult:
        """The facts after each step of a plan, and the actions that are possible at its end."""
        return await calls.call(tools.SimulationResult, "simulate", domain=domain, problem=problem, plan=plan)

    return server


def serve(seconds: float, memory: int) -> NoReturn:
    """Serve until standard input closes. Each call has so many seconds and MiB."""
    os.environ["PYDANTIC_ERRORS_INCLUDE_URL"] = "0"
    calls = Calls(seconds, memory)
    server = make_server(calls)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, frame: calls.leave(128 + got))
    try:
        server.run("stdio")
    except BaseException:  # noqa: BLE001 - whatever ends the server, no process may stay
        calls.leave(1)
    calls.leave(0)
