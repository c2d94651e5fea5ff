"""The strict form of an answer that rewards require."""

from __future__ import annotations

import json

import pytest

from pddlego.methods.textgames.formalize.form import form_fault
from pddlego.pddl import parse_problem

BEFORE = parse_problem(
    "(define (problem house) (:domain coin) (:objects room hall - room) (:init (at hall)) (:goal (have coin)))"
)


def edit(*facts: str, objects: tuple[str, ...] = ()) -> str:
    return json.dumps({"objects": {"add": objects}, "init": {"add": facts}})


@pytest.mark.parametrize(
    "answer",
    [
        edit("(at room)"),
        edit("(at room)", objects=("attic cellar - room",)),
        edit(),
        f"<think>{edit('(at attic)')}</think>\n{edit('(at room)')}",
        f"```json\n{edit('(at room)')}\n```",
        f"<|channel|>analysis<|message|>x<|end|><|channel|>final<|message|>{edit('(at room)')}<|return|>",
    ],
)
def test_an_edit_in_its_form(answer: str) -> None:
    assert form_fault(answer, "edit", BEFORE) == ""


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "{",
        str(BEFORE),
        edit("(at room)", "(at room)"),
        edit("", "(not (at hall))"),
        edit("(at room)", "", "(at room)"),
        edit("(at room) ; a guess"),
        edit("(at room)\n"),
        edit("(AT ｒoom)"),
        edit("(at 'room)"),
        edit('(at "room")'),
        edit("(at room,)"),
        edit("(at \u212aroom)"),
        edit("(at room) | (at hall)"),
        edit("(1at room)"),
        edit(objects=("attic` - room",)),
        edit(objects=("attic - room!",)),
        edit(objects=("attic - room - guess",)),
        edit(objects=("attic",)),
        '{"init": {"replace": [{"old": "(at hall)", "new": null}, {"old": "x", "new": "(not (at room))"}]}}',
        '{"init": {"add": []}, "INIT": {"add": ["(at room)"]}}',
        f"{edit('(at room)')}\n{edit('(at room)')}",
        f"[{edit('(at room)')}]",
        " " * 3000 + edit("(at room)").replace(" ", " " * 3000),
    ],
)
def test_an_edit_in_another_form(answer: str) -> None:
    assert form_fault(answer, "edit", BEFORE)


def test_a_file_in_its_form() -> None:
    """An object may have the name of its type, as `room` has here."""
    assert form_fault(str(BEFORE), "gen", BEFORE) == ""
    assert form_fault(f"```pddl\n{BEFORE}\n```", "gen", BEFORE) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(at hall)", "(at hall) (at hall)"),
        ("(at hall)", "(at hall) (not (at room))"),
        ("(at hall)", "(and (at hall))"),
        ("(have coin)", "(or (have coin) (at hall))"),
        ("house", "house-perhaps"),
        (":domain coin", ":domain other"),
        ("(:goal", "(:requirements :guess) (:goal"),
        ("(:init", "(:init) (:init"),
        ("- room", "- room - guess"),
        ("- room", "hall - room"),
        ("(:goal", "; a guess\n(:goal"),
        ("(:init", "a guess (:init"),
        ("(at hall)", "(at 'hall')"),
        ("(at hall)", '(at "hall")'),
        ("(at hall)", "(at `hall)"),
        ("(at hall)", "(at hall),"),
        ("(at hall)", "(at hall,)"),
        ("(at hall)", "(at hall.)"),
        ("(at hall)", "(@at hall)"),
        ("(at hall)", "(at\x0bhall)"),
        ("- room", ", attic - room"),
        ("- room", "- 'room"),
    ],
)
def test_a_file_in_another_form(old: str, new: str) -> None:
    assert old in str(BEFORE)
    assert form_fault(str(BEFORE).replace(old, new, 1), "gen", BEFORE)
