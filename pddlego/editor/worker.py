"""Checks, repairs and plans for the language server, in a process that can be killed.

The process reads questions as `pddlego.tool_call` does, one per line of JSON, and answers each with a line. To the
answer to `repair` it adds `hunks`: the changed lines, each as `[first line, end line, text]`, counted from 0.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import json
import os
import re
import sys
import threading
from typing import Any

from pddlego.util.children import die_with, for_children, kill_group, limit_memory

_MOST_READ = 64 << 20
"""The maximum length of an answer's line, in bytes."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
"""A line as the protocol counts them, with its end."""


class Worker:
    """Answers questions, one at a time. The process starts with the first one, and again after a time-out."""

    def __init__(self, memory: int) -> None:
        self._memory, self._lock = memory, asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, function: str, limit: float, /, **arguments: object) -> dict[str, Any]:
        """The result of a function of `tool_call`, or `{"error": …}`, also after a time-out."""
        async with self._lock:
            try:
                return await asyncio.wait_for(self._answer(function, arguments), limit)
            except (asyncio.TimeoutError, TimeoutError):
                self.close()
                return {"error": f"no answer within {limit:g} s: simplify the task"}
            except (OSError, ValueError):
                self.close()
                return {"error": f"the process ended; its memory limit is {self._memory} MiB"}
            except asyncio.CancelledError:
                self.close()  # its answer would be read as that of the next question
                raise

    async def _answer(self, function: str, arguments: dict[str, object]) -> dict[str, Any]:
        if self._process is None:
            command = [sys.executable, "-m", "pddlego.editor.worker", str(self._memory), str(os.getpid())]
            self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=for_children(),
                start_new_session=True,
                limit=_MOST_READ,
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        question = json.dumps({"function": function, "arguments": arguments})
        self._process.stdin.write(question.encode() + b"\n")
        await self._process.stdin.drain()
        answer: dict[str, Any] = json.loads(await self._process.stdout.readline())
        return answer.get("result") or {"error": answer["error"]}

    def close(self) -> None:
        """Kill the process with its children."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                kill_group(self._process.pid)
            self._process = None


def hunks(before: str, after: str) -> list[tuple[int, int, str]]:
    """The groups of lines that change."""
    end = "\n" if before.endswith("\n") and not after.endswith("\n") else ""
    old, new = _LINE.findall(before), _LINE.findall(after + end)
    changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [(start, end, "".join(new[first:last])) for tag, start, end, first, last in changes if tag != "equal"]


def main() -> None:
    """Answer questions until standard input ends. Arguments: the memory limit in MiB and the parent's id."""
    from pddlego.tool_call import answered

    memory, parent = int(sys.argv[1]), int(sys.argv[2])
    limit_memory(memory)
    threading.Thread(target=die_with, args=(parent,), daemon=True).start()
    questions, output = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # nothing but answers may reach standard output
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # planners inherit it, and must not read questions
    for line in questions:
        question = json.loads(line)
        answer = answered(question, memory)
        if question["function"] == "repair" and "result" in answer:
            answer["result"]["hunks"] = hunks(question["arguments"]["text"], answer["result"]["text"])
        output.write(json.dumps(answer) + "\n")
        output.flush()


if __name__ == "__main__":
    main()
