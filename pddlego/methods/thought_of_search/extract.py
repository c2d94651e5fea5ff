"""The code of a function out of an answer, with everything that it needs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pddlego.methods.thought_of_search.space import Which
from pddlego.util.answers import python_blocks, spoken

_DEF = re.compile(r"^(?:async\s+)?def\s+([A-Za-z_]\w*)", re.MULTILINE)
_HEAD = re.compile(r"def\s+([A-Za-z_]\w*)\s*\(")
_DEFINITION = re.compile(r"(?:def|class|import|from|async def|@|#|[)\]}]|\s|$)|[A-Za-z_]\w*\s*(?::[^=]*)?=[^=(]*$")

WORDS: dict[Which, tuple[str, ...]] = {"successors": ("succ",), "goal": ("goal",)}
"""What the name of each function holds, if a block has several functions."""

ASKED: dict[Which, str] = {"successors": "successors", "goal": "is_goal"}
"""The names that prompts ask for."""

_PAPER_WORDS: dict[Which, str] = {"successors": "successor", "goal": "goal"}


@dataclass(frozen=True)
class Code:
    """The text of a program, and the name of the function in it that is meant."""

    text: str
    name: str


def code_of(answer: str, which: Which) -> Code | None:
    """The function of that kind: out of the last block that defines one, with the definitions of blocks before it.

    A model that shows its old function, and then the new one, means the new one. None if there is no function at all.
    """
    said = spoken(answer)
    blocks = [block.rstrip("` \n") for block in python_blocks(said)]  # of a fence that was cut off something is left
    if not blocks and (first := _DEF.search(said)):
        blocks = [said[first.start() :]]
    named = [(number, _named(block, which)) for number, block in enumerate(blocks)]
    found = [(number, name) for number, name in named if name] or [
        (number, names[-1]) for number, block in enumerate(blocks) if (names := _DEF.findall(block))
    ]
    if not found:
        return None
    last, name = found[-1]
    helpers = [block for block in blocks[:last] if _only_defines(block)]
    return Code("\n\n\n".join((*helpers, blocks[last])).rstrip(), name)


def _named(block: str, which: Which) -> str | None:
    """The function of a block whose name says that it is the one: the name that was asked for, else the last."""
    names = [name for name in _DEF.findall(block) if any(word in name.lower() for word in WORDS[which])]
    if ASKED[which] in names:
        return ASKED[which]
    names = [name for name in names if not name.startswith("_")] or names
    return names[-1] if names else None


def _only_defines(block: str) -> bool:
    """Whether a block does nothing when it is run: no call, no loop at its top."""
    return all(_DEFINITION.match(line) for line in block.splitlines())


def code_as_the_paper(answer: str, which: Which) -> Code | None:
    """The first function at the top of the first block that has one with a fitting name, and nothing after it.

    Lines before it, as imports, are moved into it. A function whose head has an annotation of what it returns is not
    found, as in the paper's code.
    """
    parts = answer.replace("<|endoftext|>", "").split("```")
    blocks = parts if len(parts) == 1 else parts[1::2]
    for block in blocks:
        text = block[6:].strip() if block[:6].lower() == "python" else block
        lines = text.split("\n")
        first = next((number for number, line in enumerate(lines) if line.startswith("def ")), None)
        if first is None or not any(word in lines[first].lower() for word in _PAPER_WORDS.values()):
            if len(parts) == 1:
                return None
            continue
        after = lines[first + 1 :]
        end = next((number for number, line in enumerate(after) if line[:1].isalpha()), len(after))
        moved = [f"    {line}" for line in lines[:first]]
        code = "\n".join((lines[first], *moved, *after[:end])).strip("`")
        fitting = [name for name in _heads(code) if _PAPER_WORDS[which] in name.lower()]
        return Code(code, fitting[0]) if fitting else None
    return None


def _heads(code: str) -> list[str]:
    """The names of functions whose heads end on their line, without what is returned: one a line."""
    matches = ((line, _HEAD.search(line)) for line in code.split("\n"))
    return [match[1] for line, match in matches if match and "):" in line[match.end() :]]
