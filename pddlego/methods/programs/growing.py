"""The program as it grows: every answer is appended, so that helpers of earlier answers are still there."""

from __future__ import annotations

import re

from pddlego.util.answers import python_blocks, spoken

_PAPER_MARK = "```python"

BETWEEN = "\n\n\n"

DEFINES = re.compile(r"^def\s+get_plan\b", re.MULTILINE)


def code_of(answer: str, paper: bool = False) -> str:
    """The code in an answer: the blocks up to the first that defines `get_plan`; without any block the whole answer.

    The paper's code takes the first block that is marked as Python.
    """
    if paper:
        _, mark, rest = answer.partition(_PAPER_MARK)
        return rest.partition("```")[0] if mark else answer
    said = spoken(answer)
    blocks = python_blocks(said)
    for number, block in enumerate(blocks):
        if DEFINES.search(block):
            return BETWEEN.join(blocks[: number + 1]).rstrip()
    return BETWEEN.join(blocks).rstrip() if blocks else said.strip()


def grown(kept: str, code: str) -> str:
    """The program with what came now."""
    return f"{kept}{BETWEEN}{code}" if kept else code
