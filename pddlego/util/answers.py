"""Answers of language models as texts: what was thought aloud, and what was said."""

from __future__ import annotations

import re

_TAGS = r"think|thinking|thought|reasoning|seed:think"
_THOUGHT = re.compile(
    rf"<({_TAGS})>.*?(?:</\1>|\Z)|\[think\].*?(?:\[/think\]|\Z)|<\|start_thinking\|>.*?(?:<\|end_thinking\|>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_END_OF_THOUGHT = re.compile(rf"</(?:{_TAGS})>|\[/think\]|<\|end_thinking\|>", re.IGNORECASE)

_CHANNEL = "<|channel|>"
_FINAL = re.compile(r"(?:<\|channel\|>|(?<![^\s>]))final\b[^\n<]{0,40}(?:<\|constrain\|>[^\n<]{0,40})?<\|message\|>")
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|start|call|channel)\|>")
_UNMARKED_FINAL = re.compile(r"\A\s*analysis.*assistantfinal", re.DOTALL)
"""The beginning of a Harmony answer whose special tokens the endpoint has removed."""


def spoken(answer: str) -> str:
    """The answer without what a model thought aloud: thoughts in tags, and all of Harmony's channels but the final one.

    Thinking that never ends is all that there is; of an end without a beginning the endpoint has kept the beginning.
    """
    pieces, done = [], 0
    for start, end in (*reasoning(answer), (len(answer), len(answer))):
        pieces.append(answer[done:start])
        done = end
    return "".join(pieces)


def reasoning(answer: str) -> list[tuple[int, int]]:
    """The start and the end of each part of an answer that was thought aloud, in order."""
    channels = list(_FINAL.finditer(answer))
    if channels:
        start = channels[-1].end()
        end = _END_OF_MESSAGE.search(answer, start)
        return [(0, start), *([(end.start(), len(answer))] if end else [])]
    unmarked = _UNMARKED_FINAL.match(answer)
    if unmarked or _CHANNEL in answer:
        return [(0, unmarked.end() if unmarked else len(answer))]
    thoughts = [match.span() for match in _THOUGHT.finditer(answer)]
    ends = [match.end() for match in _END_OF_THOUGHT.finditer(answer)]
    # The last end that no beginning belongs to; an end that does not stand in a thought belongs to none.
    closing = {end for _, end in thoughts}
    alone = max((end for end in ends if end not in closing), default=0)
    return [*([(0, alone)] if alone else []), *(thought for thought in thoughts if thought[0] >= alone)]


_BLOCK = re.compile(r"```([^\n`]{0,40})\n(.*?)(?:```|\Z)", re.DOTALL)
_PYTHON = frozenset(("", "python", "python3", "py"))


def python_blocks(text: str) -> list[str]:
    """The blocks between fences whose language is Python or not named; the last one may lack its end."""
    return [block for language, block in _BLOCK.findall(text) if language.strip().lower() in _PYTHON]


_FILE = re.compile(r"\(\s*define\s*\(\s*(domain|problem)\b", re.IGNORECASE)
_CONTENT = re.compile(r"\(\s*:?(?:init|goals?|objects?|actions?|predicates?|types?|constants?)\b", re.IGNORECASE)


def last_file(text: str, kind: str = "domain|problem") -> tuple[int, int] | None:
    """Where the last PDDL file of a kind begins in a text, and where the next one or the text ends.

    A `(define (problem …) …)` without sections is only mentioned; it counts if there is nothing else.
    """
    starts = [(match.start(), match[1].lower()) for match in _FILE.finditer(text)]
    ends = [*(start for start, _ in starts[1:]), len(text)]
    files = [(start, end) for (start, name), end in zip(starts, ends, strict=False) if name in kind.split("|")]
    whole = [(start, end) for start, end in files if _CONTENT.search(text, start, end)]
    return whole[-1] if whole else files[0] if files else None


def file_in(text: str) -> str:
    """The part of a text that is a PDDL file, the last one: from its `(define` to its last parenthesis.

    The whole text if it contains no file.
    """
    start, end = last_file(text) or (text.lower().find("(define"), len(text))
    end = text.rfind(")", 0, end)
    return text[start : end + 1] if 0 <= start < end else text
