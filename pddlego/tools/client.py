"""The client of the process that calls the functions for PDDL (`process`)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from pddlego.errors import PddlegoError
from pddlego.util.children import for_children, kill_group

_MOST_READ = 64 << 20
"""The maximum length of an answer, in bytes."""


class ToolProcess:
    """Answers questions, one at a time, with `memory` MiB. It starts with the first one, and again after a failure."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._process: Process | None = None

    @property
    def pid(self) -> int | None:
        """The number of the process; None before it has begun."""
        return None if self._process is None else self._process.pid

    async def ask(self, function: str, seconds: float, /, **arguments: object) -> dict[str, Any]:
        """The result of a function. Raises `PddlegoError` for its errors, and if it takes more than `seconds`."""
        answer: dict[str, Any] = {}
        try:
            answer = await asyncio.wait_for(self._answer(function, arguments), seconds)
        except (asyncio.TimeoutError, TimeoutError):
            raise PddlegoError(f"no answer within {seconds:g} s: simplify the task") from None
        except (OSError, ValueError):
            raise PddlegoError(f"the process ended; its memory limit is {self._memory} MiB") from None
        finally:
            if not answer:  # it would be read as that of the next question
                await self.aclose()
        if "error" in answer:
            raise PddlegoError(answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    async def _answer(self, function: str, arguments: dict[str, object]) -> dict[str, Any]:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "pddlego.tools.process", str(self._memory), str(os.getpid())),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env=for_children(),
                start_new_session=True,
                limit=_MOST_READ,
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"function": function, "arguments": arguments}).encode() + b"\n")
        await self._process.stdin.drain()
        answer: dict[str, Any] = json.loads(await self._process.stdout.readline())
        return answer

    def kill(self) -> None:
        """Kill the process with its children; its planner ends a second later."""
        if self._process is not None:
            kill_group(self._process.pid)

    async def aclose(self) -> None:
        """Kill the process, and wait until it has ended."""
        self.kill()
        process, self._process = self._process, None
        if process is not None:
            await process.wait()


def call(function: str, arguments: Mapping[str, object], seconds: float, memory: int) -> dict[str, Any]:
    """The result of a function in a process of its own. Raises `PddlegoError` as `ToolProcess.ask` does."""

    async def answer() -> dict[str, Any]:
        async with aclosing(ToolProcess(memory)) as process:
            return await process.ask(function, seconds, **arguments)

    return asyncio.run(answer())
