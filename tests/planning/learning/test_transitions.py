"""Reading transitions from lines of JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pddlego import tools
from pddlego.errors import UsageError
from pddlego.planning.learning.transitions import TransitionError, read_transitions, write_transitions

HEADS = """
(define (domain roads) (:requirements :strips :typing) (:types town)
  (:predicates (at ?t - town) (road ?a ?b - town))
  (:action drive :parameters (?a ?b - town) :precondition (and) :effect (and)))
"""
FIRST = '{"objects": ["a b - town"], "state": ["(at a)", "(road a b)"], "action": "(drive a b)", "next": ["(at b)"]}'
REFUSED = '{"action": "(drive a b)", "next": null}'
BACK = '{"action": "(drive b a)", "next": ["(at a)"]}'


def test_line_continues_where_the_line_before_ended() -> None:
    first, refused, back = read_transitions("\n".join((FIRST, REFUSED, BACK, "")))
    assert [*read_transitions(write_transitions((first, refused, back)))] == [first, refused, back]
    assert (refused.before, refused.after) == (first.after, None)
    assert (back.before, back.objects) == (first.after, first.objects)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (FIRST[:40], "cut off"),
        ("", "not JSON"),
        ("[1]", "another form"),
        ("7", "another form"),
        ('{"action": "(drive a b)"}', "'next'"),
        ('{"state": "(at a)", "action": "(drive a b)", "next": null}', "lists"),
        ('{"state": ["at a"], "action": "(drive a b)", "next": null}', "not a fact"),
        ('{"state": [["at", "a"]], "action": "(drive a b)", "next": null}', "another form"),
        ('{"objects": ["a -"], "action": "(drive a b)", "next": null}', "type is missing"),
        ('{"objects": {"a": 3}, "action": "(drive a b)", "next": [3]}', "another form"),
        ('{"objects": "a - place", "action": "(drive a b)", "next": null}', "lists"),
        ('{"objects": ["a - place", "a - car"], "action": "(drive a b)", "next": null}', "a has two types"),
        ('{"action": "drive", "next": null}', "not a fact or an action"),
        ("[" * 100_000, "another form"),
    ],
)
def test_line_of_another_form_is_named(line: str, reason: str) -> None:
    with pytest.raises(TransitionError) as caught:
        list(read_transitions(f"{FIRST}\n{line}\n{BACK}"))
    assert caught.value.number == 2
    assert reason in caught.value.reason


@pytest.mark.parametrize("missing", ["objects", "state"])
def test_first_line_has_objects_and_a_state(missing: str) -> None:
    values = {name: value for name, value in json.loads(FIRST).items() if name != missing}
    with pytest.raises(TransitionError, match=missing):
        list(read_transitions(json.dumps(values)))


@pytest.mark.parametrize("text", [f"{FIRST}\n{FIRST.replace('at b', 'at c')}", f"{FIRST}\n{FIRST[:50]}"])
def test_nothing_is_learned_from_a_file_with_a_wrong_line(text: str, tmp_path: Path) -> None:
    file = tmp_path / "trips.jsonl"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"Line 2 of .*trips.jsonl"):
        tools.learn_actions(HEADS, file)
    with pytest.raises(UsageError, match="Line 2"):
        tools.learn_actions(HEADS, str(file))


def test_an_object_of_an_undeclared_type_is_named() -> None:
    with pytest.raises(UsageError, match="the type of z - plce is not declared"):
        tools.learn_actions(HEADS, FIRST.replace('"objects": [', '"objects": ["z - plce", '))


def test_file_without_a_success_is_refused() -> None:
    with pytest.raises(UsageError, match="succeeded"):
        tools.learn_actions(HEADS, FIRST.replace('["(at b)"]', "null"))
