"""The tool server for agents: the functions of `pddlego.tools` over standard input and output (MCP).

Each call runs in a process of its own with limits of time and memory, which is killed when the call is cancelled and
when the client disconnects. Nothing reads or writes files: every argument is the text of a file.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn, TypeVar, cast

import anyio
from anyio.abc import ObjectSendStream
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, ToolAnnotations, jsonrpc_message_adapter
from pydantic import BeforeValidator, Field, TypeAdapter

from pddlego import __version__, tools
from pddlego.errors import PddlegoError
from pddlego.planners import one_of, usable
from pddlego.planning.compare import Comparison
from pddlego.tools.client import ToolProcess
from pddlego.util.text import writable

MAX_TEXT = 1_000_000
"""The maximum length of an argument."""

_AT_ONCE = 2
"""The maximum number of simultaneous calls; others wait."""

_IDS = (str, int)
"""The types of the id of a request. The SDK treats a request with any other id as a notification, without an answer."""

_LONGEST_FAULT = 300
"""The maximum length of a message about a line that cannot be read."""

_GRACE = 5.0
"""The seconds that a call may take in addition to its planner, to start and to end."""

_INSTRUCTIONS = """Tools for planning with PDDL. For a task with many steps, do not plan in your head: write a domain \
and a problem, call check, correct what it reports, call solve, and answer with its plan. Never present a plan that \
neither solve nor validate has confirmed. All arguments are texts of PDDL files, not paths. Chance is not supported; \
all tools know numbers, and check, solve and validate also time."""

DomainText = Annotated[str, Field(description="The text of a PDDL domain file.", max_length=MAX_TEXT)]
ProblemText = Annotated[str, Field(description="The text of a PDDL problem file of the domain.", max_length=MAX_TEXT)]
AnyText = Annotated[str, Field(description="The text of a PDDL domain or problem file.", max_length=MAX_TEXT)]
PlanText = Annotated[
    str,
    BeforeValidator(lambda plan: "\n".join(map(str, plan)) if isinstance(plan, list) else plan),  # as solve returns it
    Field(description="A plan: one (action object …) per line, or the output of a planner.", max_length=MAX_TEXT),
]
PlanNumber = Annotated[int, Field(description="How many plans to find, the further ones as `others`.", ge=1, le=20)]
_SEARCHING = ("auto", *(name for name, spec in usable().items() if spec.solve))
PlannerName = Annotated[str, Field(description=f"{one_of(_SEARCHING)}.", max_length=50)]
ActionName = Annotated[str, Field(description="The name of an action; empty for all.", max_length=200)]
SearchName = Annotated[
    str, Field(description="gbf(hff) for any plan, astar(lmcut) for a plan of least cost.", max_length=50)
]

Result = TypeVar("Result")


@dataclass(frozen=True)
class _Bounded:
    """An answer. `left_out` says what of it would be too long, and how to get that."""

    left_out: str = ""


@dataclass(frozen=True)
class CheckAnswer(_Bounded, tools.CheckResult):
    """What is wrong with the files; `ok` if there are no errors. `cost` is that of a plan without errors."""


@dataclass(frozen=True)
class RepairAnswer(_Bounded, tools.RepairResult):
    """A file as strict PDDL, and every repair that was made. `ok`: it has no errors, as far as `findings` tell."""


@dataclass(frozen=True)
class SolveAnswer(_Bounded, tools.SolveResult):
    """How planning ended, and the plan if there is one: its actions, its cost, and the engine that found it. Without a
    plan: what of the goal can be reached (`why`), and what check finds."""


@dataclass(frozen=True)
class ValidationAnswer(_Bounded, tools.ValidationResult):
    """Whether a plan works, and its cost. If not, what is wrong, and in which step (from 1; None: the goal)."""


@dataclass(frozen=True)
class ComparisonAnswer(_Bounded, Comparison):
    """The verdict on two problems or domains. `only_left` and `only_right` show the difference."""


@dataclass(frozen=True)
class SimulationAnswer(_Bounded, tools.SimulationResult):
    """The states of a plan up to its first action that is not possible, and the actions that are in the last state."""


@dataclass(frozen=True)
class ApplicableAnswer(_Bounded, tools.ApplicableResult):
    """The ground actions that are possible."""


@dataclass(frozen=True)
class DifferenceAnswer(_Bounded, tools.DifferenceResult):
    """The objects, facts and numbers that only one of two states has."""


class Calls:
    """Calls of functions of `pddlego.tools`, each in a process of its own."""

    def __init__(self, seconds: float, memory: int) -> None:
        self.seconds, self.memory = seconds, memory
        self._running: set[ToolProcess] = set()
        self._limiter = anyio.CapacityLimiter(_AT_ONCE)

    async def call(self, kind: type[Result], function: str, **arguments: object) -> Result:
        """The result of a function. Raises `ToolError` for its errors, and if it takes too long."""
        async with self._limiter, aclosing(ToolProcess(self.memory)) as process:
            self._running.add(process)
            try:
                result = await process.ask(function, self.seconds + tools.WHY_SECONDS + _GRACE, **arguments)
            except PddlegoError as error:
                raise ToolError(error.sentence) from None
            finally:
                self._running.discard(process)
        return TypeAdapter(kind).validate_python(result)

    def leave(self, code: int) -> NoReturn:
        """End at once: a thread that reads standard input cannot be interrupted."""
        for process in self._running:
            process.kill()
        os._exit(code)


def make_server(calls: Calls) -> MCPServer:
    server = MCPServer(
        "pddlego", title="PDDL tools", version=__version__, instructions=_INSTRUCTIONS, log_level="CRITICAL"
    )
    annotations = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    tool = server.tool(annotations=annotations, structured_output=True)

    @tool
    async def check(domain: DomainText, problem: ProblemText = "", plan: PlanText = "") -> CheckAnswer:
        """Find errors and warnings in a domain, a problem and a plan: where, why, and what to do. Call this after every
        change to a PDDL text, before solve."""
        return await calls.call(CheckAnswer, "check", domain=domain, problem=problem or None, plan=plan or None)

    @tool
    async def repair(text: AnyText, domain: DomainText = "") -> RepairAnswer:
        """Repair a domain, or a problem (with its domain), that has slips: brackets, missing declarations, misspelt
        sections. Returns strict PDDL and the list of repairs. Nothing is guessed."""
        return await calls.call(RepairAnswer, "repair", text=text, domain=domain or None)

    @tool
    async def solve(
        domain: DomainText,
        problem: ProblemText,
        planner: PlannerName = "auto",
        search: SearchName = "gbf(hff)",
        plans: PlanNumber = 1,
    ) -> SolveAnswer:
        """Find a plan: call this instead of planning yourself. Every plan is validated. `unsolvable` means that no plan
        exists: then the files are wrong, or the task is impossible; `why` says what is missing."""
        files = {"domain": domain, "problem": problem}
        limits = {"seconds": calls.seconds, "memory": calls.memory, "plans": plans}
        return await calls.call(SolveAnswer, "solve", **files, planner=planner, search=search, **limits)

    @tool
    async def validate(domain: DomainText, problem: ProblemText, plan: PlanText) -> ValidationAnswer:
        """Execute a plan: whether it reaches the goal, its cost, or the first step that fails and what it lacks. Call
        this before you answer with a plan that solve has not found, and after each change to one."""
        return await calls.call(ValidationAnswer, "validate", domain=domain, problem=problem, plan=plan)

    @tool
    async def compare(domain: DomainText, left: AnyText, right: ProblemText = "") -> ComparisonAnswer:
        """Whether two problems of a domain say the same, up to the names of objects and what goals imply. Without
        `right`: whether `domain` and `left` are domains that are equal up to names and order."""
        return await calls.call(ComparisonAnswer, "compare", domain=domain, left=left, right=right or None)

    @tool
    async def simulate(domain: DomainText, problem: ProblemText, plan: PlanText = "") -> SimulationAnswer:
        """The facts and numbers after each step of a plan, and the actions that are possible at its end."""
        return await calls.call(SimulationAnswer, "simulate", domain=domain, problem=problem, plan=plan)

    _add_states(tool, calls)
    return server


def _add_states(tool: Callable[[Any], Any], calls: Calls) -> None:
    """Add the tools that look at states."""

    @tool
    async def applicable(
        domain: DomainText, problem: ProblemText, plan: PlanText = "", action: ActionName = ""
    ) -> ApplicableAnswer:
        """The ground actions that are possible now, or after the steps of a plan. Call this when a step is not possible
        or no plan is found, to see what is; `action` names one action of the domain."""
        return await calls.call(
            ApplicableAnswer, "applicable", domain=domain, problem=problem, plan=plan, action=action
        )

    @tool
    async def difference(domain: DomainText, left: ProblemText, right: ProblemText) -> DifferenceAnswer:
        """The objects, initial facts and numbers that only one of two problem files has, by name. Call this to see
        what a change of a file did."""
        return await calls.call(DifferenceAnswer, "difference", domain=domain, left=left, right=right)


class _Lines:
    """The lines of standard input that the SDK can read. Senders of other lines, which it drops, would wait for ever.

    Lone surrogates are replaced, and control characters are accepted. Lines that are still not messages are answered
    with an error.
    """

    def __init__(self) -> None:
        self.answers: ObjectSendStream[SessionMessage]

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in anyio.wrap_file(TextIOWrapper(sys.stdin.buffer, "utf-8", "replace", newline="\n")):
            if not line.strip():
                continue
            message: object = None
            try:
                message = json.loads(line, strict=False)
                text = writable(json.dumps(message, ensure_ascii=False))
                jsonrpc_message_adapter.validate_json(text, by_name=False)
                if isinstance(message, dict) and "method" in message and type(message.get("id", 0)) not in _IDS:
                    raise ValueError("its id is neither a text nor a whole number")
            except (ValueError, RecursionError) as error:
                await self._refuse(message, error)
            else:
                yield text

    async def _refuse(self, message: object, error: Exception) -> None:
        sender = message.get("id") if isinstance(message, dict) else None
        fault = ErrorData(code=PARSE_ERROR, message=f"This is not a message of MCP: {error}"[:_LONGEST_FAULT])
        answer = JSONRPCError(jsonrpc="2.0", id=sender if type(sender) in _IDS else None, error=fault)
        await self.answers.send(SessionMessage(answer))


async def _run(server: MCPServer) -> None:
    """Serve as `MCPServer.run` does, and answer every line."""
    lines = _Lines()
    async with stdio_server(stdin=cast("anyio.AsyncFile[str]", lines)) as (reading, writing):
        lines.answers = writing
        serving = server._lowlevel_server
        await serving.run(reading, writing, serving.create_initialization_options())


def serve_tools(seconds: float, memory: int) -> NoReturn:
    """Serve until standard input closes. Each call is limited to `seconds`, and to `memory` in MiB."""
    os.environ["PYDANTIC_ERRORS_INCLUDE_URL"] = "0"
    calls = Calls(seconds, memory)
    server = make_server(calls)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, frame: calls.leave(128 + got))
    try:
        anyio.run(_run, server)
    except BaseException:  # noqa: BLE001 - whatever ends the server, no process may stay
        calls.leave(1)
    calls.leave(0)
