"""Checks, repairs and plans for the language server, in a process that can be killed."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE, Process
from typing import Any

from pddlego.tool_call import answering_command
from pddlego.util.children import for_children, kill_group

_MOST_READ = 64 << 20
"""The maximum length of an answer, in bytes."""


class Worker:
    """Answers questions, one at a time. The process starts with the first one, and again after a time-out."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._process: Process | None = None

    async def ask(self, function: str, seconds: float, /, **arguments: object) -> dict[str, Any]:
        """The result of a function of `tool_call`, or `{"error": …}`, also after a time-out."""
        answer: dict[str, Any] = {}
        try:
            answer = await asyncio.wait_for(self._answer(function, arguments), seconds)
            return answer.get("result") or {"error": answer["error"]}
        except (asyncio.TimeoutError, TimeoutError):
            return {"error": f"no answer within {seconds:g} s: simplify the task"}
        except (OSError, ValueError):
            return {"error": f"the process ended; its memory limit is {self._memory} MiB"}
        finally:
            if not answer:  # it would be read as that of the next question
                self.close()

    async def _answer(self, function: str, arguments: dict[str, object]) -> dict[str, Any]:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                *answering_command(self._memory),
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

    def close(self) -> None:
        """Kill the process with its children."""
        if self._process is not None:
            kill_group(self._process.pid)
            self._process = None
