"""Answers of language models as texts: what was thought aloud, and what was said."""

from __future__ import annotations

import re

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)


_END_OF_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def spoken(answer: str) -> str:
    """The answer without what a model thought aloud before it.

    Thinking that never ends is all that there is; of an end without a beginning the endpoint has kept the beginning.
    """
    text = _THOUGHT.sub("", answer)
    ends = [match.end() for match in _END_OF_THOUGHT.finditer(text)]
    return text[ends[-1] :] if ends else text


_BLOCK = re.compile(r"```([^\n`]{0,40})\n(.*?)(?:```|\Z)", re.DOTALL)
_PYTHON = frozenset(("", "python", "python3", "py"))


def python_blocks(text: str) -> list[str]:
    """The blocks between fences whose language is Python or not named; the last one may lack its end."""
    return [block for language, block in _BLOCK.findall(text) if language.strip().lower() in _PYTHON]


def file_in(text: str) -> str:
    """The part of a text that is a PDDL file: from its `(define` to the last parenthesis; all of one that has none."""
    start, end = text.lower().find("(define"), text.rfind(")")
    return text[start : end + 1] if 0 <= start < end else text
