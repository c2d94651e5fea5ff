"""What an answer says while it is still being written: every line of an edit, or of a file, that is there in full."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from pddlego.pddl.edit import apply_edit
from pddlego.pddl.edit_json import EditSyntaxError, parse_edit
from pddlego.pddl.problem import Problem, read_problem
from pddlego.util.answers import spoken

TRIES = 8
"""Ends of values at which an unfinished edit is tried to be cut, from the last one back."""


def problem_so_far(before: Problem, answer: str) -> Problem | None:
    """The problem with what is complete of an unfinished answer; None if nothing is. Total.

    Of a whole file what was known stays until the file says otherwise of it: the rest is still to come.
    """
    said = spoken(answer)
    start = said.find("(define")
    if start >= 0:
        return _file_so_far(before, said[start:])
    text = _closed(said)
    if text is None:
        return None
    try:
        found = apply_edit(before, parse_edit(text)).problem
    except EditSyntaxError:
        return None
    return found if found != before else None


def _file_so_far(before: Problem, text: str) -> Problem | None:
    end = text.rfind(")")
    if end < 0:
        return None
    found = read_problem(text[: end + 1]).problem
    if not found.objects and not found.facts:
        return None
    told = {(fact.predicate, fact.args[:1]) for fact in found.facts if len(fact.args) == 1}
    places = {predicate for predicate, _ in told if predicate == "at"}
    kept = {fact for fact in before.facts if fact.predicate not in places}
    return replace(before, objects=before.objects | found.objects, facts=frozenset(kept) | found.facts)


def _closed(text: str) -> str | None:
    """The JSON object that begins in the text, up to its last complete value, with all that is open closed."""
    start = text.find("{")
    if start < 0:
        return None
    text, ends = text[start:], _ends(text[start:])
    for end, stack in reversed(ends[-TRIES:]):
        candidate = text[:end] + "".join(reversed(stack))
        try:
            if isinstance(json.loads(candidate), dict):
                return candidate
        except (ValueError, RecursionError):
            continue
    return None


def _ends(text: str) -> list[tuple[int, tuple[str, ...]]]:
    """Where strings, lists and objects end, with what is open there, innermost last."""
    found: list[tuple[int, tuple[str, ...]]] = []
    stack: list[str] = []
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', text, re.DOTALL):
        sign = match.group()
        if sign in "{[":
            stack.append("}" if sign == "{" else "]")
        elif sign in "}]" and stack:
            stack.pop()
        if sign not in "{[":
            found.append((match.end(), tuple(stack)))
    return found
