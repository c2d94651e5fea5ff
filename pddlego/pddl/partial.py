"""What an answer says while it is still being written: every line of an edit, or of a file, that is there in full."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pddlego.pddl.edit import apply_edit
from pddlego.pddl.edit_json import EditSyntaxError, parse_edit
from pddlego.pddl.problem import Problem, read_problem
from pddlego.util.answers import spoken

TRIES = 8
"""Ends of values at which an unfinished edit is tried to be cut, from the last one back."""

_SIGN = re.compile(r'"(?:[^"\\]|\\.)*(?:"|(?P<unclosed>\\?\Z))|[{}\[\]]', re.DOTALL)
"""A string or a bracket. A string that is not closed reaches to the end: what is in it is not looked at again."""

DEEPEST = 20
"""Brackets inside of each other; an edit has four."""


def problem_so_far(before: Problem, answer: str) -> Problem | None:
    """The problem with what is complete of an unfinished answer; None if nothing is. Total.

    Of a whole file what was known stays until the file says otherwise of it: the rest is still to come.
    """
    said = spoken(answer)
    start = said.lower().find("(define")
    if start >= 0:
        return _file_so_far(before, said[start:])
    for text in _closed(said):
        try:
            found = apply_edit(before, parse_edit(text)).problem
        except EditSyntaxError:
            continue
        return found if found != before else None
    return None


def _file_so_far(before: Problem, text: str) -> Problem | None:
    end = text.rfind(")")
    if end < 0:
        return None
    found = read_problem(text[: end + 1]).problem
    if not found.objects and not found.facts:
        return None
    # Of a predicate that holds of one thing before, and of another now, only the new one counts: the agent has moved.
    single = _single(found) & _single(before)
    kept = {fact for fact in before.facts if fact.predicate not in single}
    return replace(before, objects=before.objects | found.objects, facts=frozenset(kept) | found.facts)


def _single(problem: Problem) -> set[str]:
    """The predicates that hold of one thing."""
    times = Counter(fact.predicate for fact in problem.facts if len(fact.args) == 1)
    return {predicate for predicate, number in times.items() if number == 1}


def _closed(text: str) -> Iterator[str]:
    """The JSON object that begins in the text, up to its last complete values, with all that is open closed."""
    start = text.find("{")
    for end, stack in reversed(_ends(text[start:]) if start >= 0 else ()):
        yield text[start : start + end] + "".join(reversed(stack))


def _ends(text: str) -> Sequence[tuple[int, tuple[str, ...]]]:
    """Where the last strings, lists and objects end, with what is open there, innermost last."""
    found: deque[tuple[int, tuple[str, ...]]] = deque(maxlen=TRIES)
    stack: list[str] = []
    for match in _SIGN.finditer(text):
        sign = match.group()
        if match.group("unclosed") is not None:
            break
        if sign in "{[":
            stack.append("}" if sign == "{" else "]")
            if len(stack) > DEEPEST:
                return ()
        elif sign in "}]" and stack:
            stack.pop()
        if sign not in "{[":
            found.append((match.end(), tuple(stack)))
    return found
