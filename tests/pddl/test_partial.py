"""What an answer says while it is being written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.pddl import apply_edit, parse_edit, parse_problem
from pddlego.pddl.partial import problem_so_far

BEFORE = parse_problem(
    """(define (problem p) (:domain d) (:objects kitchen loc1 - location)
    (:init (at kitchen) (visited kitchen) (connected kitchen loc1 south)) (:goal (and)))"""
)
EDIT = json.dumps(
    {
        "objects": {"add": ["loc2 - location"], "replace": [{"old": "loc1 - location", "new": "hall - location"}]},
        "init": {
            "add": ["(visited hall)", "(connected hall loc2 east)"],
            "replace": [{"old": "(at kitchen)", "new": "(at hall)"}],
            "delete": [],
        },
    },
    indent=1,
)
FILE = str(apply_edit(BEFORE, parse_edit(EDIT)).problem)


def test_lines_come_one_after_the_other() -> None:
    facts = [problem_so_far(BEFORE, EDIT[:end]) for end in range(len(EDIT) + 1)]
    result = [sorted(map(str, fact.facts)) if fact else [] for fact in facts]
    assert result[EDIT.index("loc2 - loc")] == []
    rooms = facts[EDIT.index("loc2 - location") + 16]
    assert rooms is not None
    assert "loc2" in {obj.name for obj in rooms.objects}
    after = result[EDIT.index("(visited hall)") + 16]
    assert "(visited hall)" in after
    assert "(connected hall loc2 east)" not in after
    assert facts[-1] == apply_edit(BEFORE, parse_edit(EDIT)).problem


def test_thinking_before_and_prose_around_it() -> None:
    for text in (f"<think>What about {{this}}?</think>{EDIT[:150]}", f"Here it is:\n```json\n{EDIT[:150]}"):
        result = problem_so_far(BEFORE, text)
        assert result is not None
        assert "loc2" in {obj.name for obj in result.objects}
    assert problem_so_far(BEFORE, "<think>{") is None
    assert problem_so_far(BEFORE, '{"objects": {"add": [], "replace": {}, "delete": []}') is None


def test_of_a_file_what_was_known_stays_until_it_is_whole() -> None:
    half = problem_so_far(BEFORE, FILE[: FILE.index("(connected")])
    assert half is not None
    facts = {str(fact) for fact in half.facts}
    assert "(at hall)" in facts
    assert "(at kitchen)" not in facts
    assert "(connected kitchen loc1 south)" in facts


@given(st.integers(0, len(EDIT)), st.text(max_size=20))
def test_any_beginning_of_anything(end: int, more: str) -> None:
    problem_so_far(BEFORE, EDIT[:end] + more)
    problem_so_far(BEFORE, FILE[:end] + more)


@pytest.mark.parametrize("text", ["{" * 5000, '{"objects": ' * 500, "[" * 9, '"}' * 99, "(define (" * 400])
def test_what_never_ends(text: str) -> None:
    assert problem_so_far(BEFORE, text) in (None, BEFORE)
