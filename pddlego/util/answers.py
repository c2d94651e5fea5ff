"""Extract the parts of a language model's answer: its reasoning, its code blocks, its PDDL file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

_TAGS = (
    r"(?:[a-z]{1,20}[:_])?think|thinking|thoughts?|reasoning|reflection|scratchpad"
    r"|(?:inner|internal)[_-](?:monologue|thoughts?)|chain[_-]of[_-]thoughts?"
)
_WORD = "(?:thinking|think|thought)"
_THOUGHT = re.compile(
    rf"""(?<!["'`])<({_TAGS})>.*?(?:</\1>|\Z) | \[think\].*?(?:\[/think\]|\Z)
        | \u25c1think\u25b7.*?(?:\u25c1/think\u25b7|\Z)
        | <\|(?:start_|begin_of_)?{_WORD}\|>.*?(?:<\|(?:/|end_(?:of_)?){_WORD}\|>|</\|{_WORD}\|>|\Z)
        | \A\s*<(analysis|rationale|draft)>.*?(?:</\2>|\Z) | (?<!["'`])<(analysis|rationale|draft)>.*?</\3>
        | <\|channel>\s*thought\b.*?(?:<channel\|>|\Z) | <unused94>.*?(?:<unused95>|\Z)""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)
"""Reasoning in tags, and in the forms of Mistral, Kimi, Cohere and OpenThinker, Gemma 4, and MedGemma.

Tags that answers also mention, such as `<draft>`, need an end tag, unless they begin the answer.
"""

_END_OF_THOUGHT = re.compile(
    rf"""</(?:{_TAGS})> | \[/think\] | \u25c1/think\u25b7 | <\|(?:/|end_(?:of_)?){_WORD}\|> | </\|{_WORD}\|>
        | <channel\|> | <unused95>""",
    re.IGNORECASE | re.VERBOSE,
)

_CHANNEL = re.compile(r"<\|channel\|>\s*(?:analysis|commentary|final)\b")
_FINAL = re.compile(r"(?:<\|channel\|>|(?<![^\s>]))final\b[^\n<]{0,40}(?:<\|constrain\|>[^\n<]{0,40})?<\|message\|>")
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|start|call|channel)\|>")
_UNMARKED_FINAL = re.compile(r"\A\s*analysis.*assistantfinal", re.DOTALL)
"""The beginning of a Harmony answer whose special tokens the endpoint has removed."""


_BAR = "[|\uff5c]"
_OPEN = rf"(?:<{_BAR}(?:im_start|start_header_id|header_start|start_of_role|start|turn){_BAR}?>|<start_of_turn>)"
_USER = rf"(?:{_OPEN}\s*(?:user|human|system|tool)\b|<{_BAR}(?:user|human|system|tool|observation){_BAR}>|\[INST\])"
_MARKER = re.compile(
    rf"</?{_BAR}/?[\w\u2581:-]{{1,40}}{_BAR}>|<\|turn>|<turn\|>|<(?:start|end)_of_turn>|</?s>|\[/?INST\]"
    r"|\[\|\w{1,20}\|\]|<(?:[be]o[stdmpah]|pad|sep|unk|endoftext)>|\[(?:[be]o[stdmp]|pad|sep|cls|gmask)\]",
    re.IGNORECASE,
)
"""A special token of a chat template, such as `<|im_end|>`, `<｜end▁of▁sentence｜>`, `<end_of_turn>` and `</s>`."""

_BEGIN = re.compile(rf"\s*(?:{_MARKER.pattern})(?:\s*(?:assistant|model)(?=\s*[\n<]))?\s*", re.IGNORECASE)
_NEXT_TURN = re.compile(
    rf"(?:<{_BAR}(?:im_end|end\w*|eo\w{{1,5}}){_BAR}>|<end_of_turn>|<turn\|>|</s>|[<\[]eos[>\]])\s*(?:{_OPEN}|{_USER}|<s>)"
    rf"|^[ \t]*{_USER}",
    re.IGNORECASE | re.MULTILINE,
)
_ROLES = ("", "assistant", "model", "user", "system")


def spoken(answer: str) -> str:
    """The answer without its reasoning, and without the markers of a chat template around it.

    Reasoning is the text in tags, and every Harmony channel but the final one. A start tag without an end tag makes
    the rest of the answer reasoning. An end tag without a start tag makes everything before the end tag reasoning,
    because some endpoints remove the start tag. What follows after the beginning of another turn is left out, too.
    """
    bounds = [0, *chain(*unspoken(answer)), len(answer)]
    return "".join(answer[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True))


def unspoken(answer: str) -> list[tuple[int, int]]:
    """The start and the end of each part of an answer that is reasoning or outside of the turn, in order."""
    thoughts = reasoning(answer)
    begin, end = _turn(blanked(answer, thoughts))
    inside = [(max(start, begin), min(stop, end)) for start, stop in thoughts if start < end and stop > begin]
    return [*([(0, begin)] if begin else []), *inside, *([(end, len(answer))] if end < len(answer) else [])]


def blanked(text: str, parts: Iterable[tuple[int, int]]) -> str:
    """The text with blanks in place of these parts, so that positions and lines stay."""
    pieces, done = [], 0
    for start, end in parts:
        pieces += [text[done:start], re.sub(r"[^\n]", " ", text[start:end])]
        done = end
    return "".join((*pieces, text[done:]))


def spoken_lines(text: str) -> list[str]:
    """The lines of a text, in which a marker of a chat template ends a line, too."""
    return [part for line in text.splitlines() for part in _MARKER.split(line)]


def _turn(text: str) -> tuple[int, int]:
    """The start and the end of the text between the markers of a chat template. Markers inside of it stay."""
    begin = 0
    while match := _BEGIN.match(text, begin):
        begin = match.end()
    following = _NEXT_TURN.search(text, begin)
    end = following.start() if following else len(text)
    last = end
    for marker in reversed([*_MARKER.finditer(text, begin, end)]):
        if text[marker.end() : last].strip() not in _ROLES:
            break
        end = last = marker.start()
    return begin, end


def reasoning(answer: str) -> list[tuple[int, int]]:
    """The start and the end of each part of an answer that is reasoning, in order."""
    channels = list(_FINAL.finditer(answer))
    if channels:
        start = channels[-1].end()
        end = _END_OF_MESSAGE.search(answer, start)
        return [(0, start), *([(end.start(), len(answer))] if end else [])]
    unmarked = _UNMARKED_FINAL.match(answer)
    if unmarked or _CHANNEL.search(answer):
        return [(0, unmarked.end() if unmarked else len(answer))]
    thoughts = [match.span() for match in _THOUGHT.finditer(answer)]
    closing = {match.end() for match in _END_OF_THOUGHT.finditer(answer)}
    rest = blanked(answer, (thought for thought in thoughts if thought[1] in closing))
    ends = (match.span() for match in _END_OF_THOUGHT.finditer(rest) if not _is_mentioned(answer, *match.span()))
    unopened = max((end for _, end in ends), default=0)  # after the last end tag without a start tag
    return [*([(0, unopened)] if unopened else []), *(thought for thought in thoughts if thought[0] >= unopened)]


_NEAR = 1_000
"""Characters before a tag that are looked at."""


def _is_mentioned(text: str, start: int, end: int) -> bool:
    """Whether a tag is in quotation marks, or in a line that is a comment."""
    line = text[max(text.rfind("\n", max(0, start - _NEAR), start) + 1, start - _NEAR, 0) : start].lstrip()
    return line[:1] == ";" or (line[-1:] in ("'", '"', "`") and line[-1:] == text[end : end + 1])


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
