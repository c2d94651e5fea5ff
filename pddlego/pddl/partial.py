"""Reads the problem in an answer that is still being generated, from the complete lines of an edit or a file."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import Any

from pydantic_core import from_json

from pddlego.pddl.edit import apply_edit, read_edit
from pddlego.pddl.problem import Problem, read_problem
from pddlego.util.answers import spoken


def problem_so_far(before: Problem, answer: str) -> Problem | None:
    """The problem after the complete lines of an unfinished answer; None without a complete line. Total.

    The facts of the problem `before` stay until a line of the file contradicts them, because later lines may repeat
    them.
    """
    text = spoken(answer)
    start = text.lower().find("(define")
    if start >= 0:
        return _file_so_far(before, text[start:])
    begun = re.search(r'\{\s*".*', text, re.DOTALL)  # braces without a key are prose
    if begun is None:
        return None
    try:
        value = from_json(begun.group(), allow_partial=True)
        problem = apply_edit(before, read_edit(json.dumps(_whole_pairs(value)), look=True)[0]).problem
    except ValueError:
        return None
    return problem if problem != before else None


def _whole_pairs(edit: dict[str, Any]) -> dict[str, Any]:
    """The edit without a last replacement whose new line is still missing."""
    for section in edit.values():
        pairs = section.get("replace") if isinstance(section, dict) else None
        if isinstance(pairs, list) and pairs and isinstance(pairs[-1], dict) and "new" not in pairs[-1]:
            pairs.pop()
    return edit


def _file_so_far(before: Problem, text: str) -> Problem | None:
    end = text.rfind(")")
    if end < 0:
        return None
    problem = read_problem(text[: end + 1]).problem
    if not problem.objects and not problem.facts:
        return None
    # If a predicate had one fact and has one fact now, such as the place of the agent, the new fact replaces the old.
    single = _single(problem) & _single(before)
    kept = {fact for fact in before.facts if fact.predicate not in single}
    return replace(before, objects=before.objects | problem.objects, facts=frozenset(kept) | problem.facts)


def _single(problem: Problem) -> set[str]:
    """The predicates with exactly one fact, which has one argument."""
    times = Counter(fact.predicate for fact in problem.facts if len(fact.args) == 1)
    return {predicate for predicate, number in times.items() if number == 1}
