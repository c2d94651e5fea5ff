"""One process answers several questions, and ends with a question that takes too long or is no longer asked."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import aclosing

import pytest

from pddlego.errors import PddlegoError
from pddlego.tools.client import ToolProcess, call
from tests.lamps import DOMAIN, PROBLEM
from tests.scale import PATIENCE

MEMORY = 2048
TASK = {"domain": DOMAIN, "problem": PROBLEM}


def test_one_process_answers_until_a_question_takes_too_long() -> None:
    async def go() -> None:
        async with aclosing(ToolProcess(MEMORY)) as process:
            assert (await process.ask("check", PATIENCE, **TASK))["ok"]
            first = process.pid
            with pytest.raises(PddlegoError, match="not its path"):
                await process.ask("check", PATIENCE, domain="a.pddl")
            assert process.pid == first
            with pytest.raises(PddlegoError, match="no answer within 0 s"):
                await process.ask("check", 0, **TASK)
            assert (await process.ask("check", PATIENCE, **TASK))["ok"]
            assert process.pid != first
        assert process.pid is None

    asyncio.run(go())


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_question_that_is_cancelled_ends_its_process() -> None:
    async def go() -> None:
        async with aclosing(ToolProcess(MEMORY)) as process:
            asked = asyncio.create_task(process.ask("check", PATIENCE, **TASK))
            while (pid := process.pid) is None:
                await asyncio.sleep(0.01)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    asyncio.run(go())


def test_a_call_says_that_its_process_has_ended() -> None:
    assert call("check", TASK, PATIENCE, MEMORY)["ok"]
    with pytest.raises(PddlegoError, match="the process ended; its memory limit is 2048 MiB"):
        call("no such function", TASK, PATIENCE, MEMORY)
