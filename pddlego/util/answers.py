"""Extract the parts of a language model's answer: its reasoning, its code blocks, its PDDL file."""

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
    """The answer without its reasoning: without thoughts in tags, and without all Harmony channels but the final one.

    A start tag without an end tag makes the rest of the answer reasoning. An end tag without a start tag makes
    everything before the end tag reasoning, because some endpoints remove the start tag.
    """
    pieces, done = [], 0
    for start, end in (*reasoning(answer), (len(answer), len(answer))):
        pieces.append(answer[done:start])
        done = end
    return "".join(pieces)


def reasoning(answer: str) -> list[tuple[int, int]]:
    """The start and the end of each part of an answer that is reasoning, in order."""
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
    closing = {end for _, end in thoughts}
    unopened = max((end for end in ends if end not in closing), default=0)  # after the last end tag without a start tag
    return [*([(0, unopened)] if unopened else []), *(thought for thought in thoughts if thought[0] >= unopened)]


_BLOCK = re.compile(r"```([^\n`]{0,40})\n(.*?)(?:```|\Z)", re.DOTALL)
_PYTHON = frozenset(("", "python", "python3", "py"))


def python_blocks(text: str) -> list[str]:
    """The code blocks whose language is Python or not named; the last block may lack its closing fence."""
    return [block for language, block in _BLOCK.findall(text) if language.strip().lower() in _PYTHON]


_FILE = re.compile(r"\(\s*define\s*\(\s*(domain|problem)\b", re.IGNORECASE)
_CONTENT = re.compile(r"\(\s*:?(?:init|goals?|objects?|actions?|predicates?|types?|constants?)\b", re.IGNORECASE)


def last_file(text: str, kind: str = "domain|problem") -> tuple[int, int] | None:
    """The start of the last PDDL file of a kind in a text, and the start of the next file or the end of the text.

    A file without sections, such as `(define (problem …) …)` in a sentence, counts only if no file has sections.
    """
    starts = [(match.start(), match[1].lower()) for match in _FILE.finditer(text)]
    ends = [*(start for start, _ in starts[1:]), len(text)]
    files = [(start, end) for (start, name), end in zip(starts, ends, strict=False) if name in kind.split("|")]
    whole = [(start, end) for start, end in files if _CONTENT.search(text, start, end)]
    return whole[-1] if whole else files[0] if files else None


def file_in(text: str) -> str:
    """The last PDDL file in a text, from its `(define` to its last parenthesis; the whole text if it has no file."""
    start, end = last_file(text) or (text.lower().find("(define"), len(text))
    end = text.rfind(")", 0, end)
    return text[start : end + 1] if 0 <= start < end else text
