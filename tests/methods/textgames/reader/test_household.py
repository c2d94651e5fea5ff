"""The reading rules of the settings of ALFWorld, on texts of the game."""

from __future__ import annotations

import pytest

from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reader import PatternRules
from pddlego.pddl import apply_edit

START = (
    "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a "
    "cabinet 1, a countertop 1, a fridge 1, a microwave 1, and a sinkbasin 1.\n\n"
    "Your task is to: put a clean mug in cabinet."
)


def facts(task: str, *exchanges: tuple[str | None, str]) -> set[str]:
    """The facts after the exchanges with the game, from the setting's first problem on."""
    setting = load("household")
    knowledge = setting.start
    for command, text in exchanges:
        seen = Observations((Exchange(command, text),), ())
        edit = PatternRules().edit(PromptContext(knowledge, task, seen, reader=setting.reader))
        problem = apply_edit(knowledge.problem, edit, knowledge.domain.constants).problem
        knowledge = knowledge.with_problem(problem)
    return {str(fact) for fact in knowledge.problem.facts}


def test_the_first_observation_has_the_places_and_the_task() -> None:
    assert facts("put a clean mug in cabinet", (None, START)) == {
        "(at room)",
        "(visited room)",
        "(hands_free)",
        *(f"(reachable {place}_1)" for place in ("cabinet", "countertop", "fridge", "microwave", "sinkbasin")),
        "(target cabinet_1)",
        "(needs clean)",
        "(gives fridge_1 cool)",
        "(gives microwave_1 hot)",
        "(gives sinkbasin_1 clean)",
        *(f"(opens {place}_1)" for place in ("cabinet", "fridge", "microwave")),
        *(f"(likely mug {place}_1)" for place in ("cabinet", "countertop", "fridge", "microwave", "sinkbasin")),
    }


@pytest.mark.parametrize(
    ("task", "fact"),
    [
        ("clean some mug and put it in cabinet", "(needs clean)"),
        ("heat some mug and put it in cabinet", "(needs hot)"),
        ("put a cool mug in cabinet", "(needs cool)"),
        ("find two mug and put them in cabinet", "(needs_two)"),
        ("examine the mug with the desklamp", "(needs_light)"),
        ("look at mug under the desklamp", "(needs_light)"),
        ("put some mug on cabinet", ""),
    ],
)
def test_each_sentence_of_a_task_is_understood(task: str, fact: str) -> None:
    known = facts(
        task, (None, START), ("go to countertop 1", "You arrive at countertop 1. On the countertop 1, you see a mug 2.")
    )
    assert {name for name in known if name.startswith("(needs")} == ({fact} if fact else set())
    assert "(wanted mug_2)" in known
    assert ("(target cabinet_1)" in known) is (fact != "(needs_light)")


def test_things_are_taken_changed_and_put_down() -> None:
    history = [
        (None, START),
        ("go to cabinet 1", "You arrive at cabinet 1. The cabinet 1 is closed."),
        ("open cabinet 1", "You open the cabinet 1. The cabinet 1 is open. In it, you see a mug 1, and a plate 1."),
        ("take mug 1 from cabinet 1", "You pick up the mug 1 from the cabinet 1."),
        ("heat mug 1 with microwave 1", "You heat the mug 1 using the microwave 1."),
        ("cool mug 1 with fridge 1", "You cool the mug 1 using the fridge 1."),
    ]
    task = "put a cool mug in cabinet"
    assert {"(closed cabinet_1)", "(visited cabinet_1)", "(at cabinet_1)"} < facts(task, *history[:2])
    opened = facts(task, *history[:3])
    assert {"(is_in mug_1 cabinet_1)", "(is_in plate_1 cabinet_1)"} < opened and "(closed cabinet_1)" not in opened
    held = facts(task, *history)
    assert {"(holding mug_1)", "(is mug_1 cool)"} < held
    assert not held & {"(hands_free)", "(is_in mug_1 cabinet_1)", "(is mug_1 hot)"}
    moved = ("move mug 1 to cabinet 1", "You move the mug 1 to the cabinet 1.")
    assert {"(hands_free)", "(is_in mug_1 cabinet_1)"} < facts(task, *history, moved)


def test_what_lies_at_a_place_is_all_that_lies_there() -> None:
    seen = "You arrive at countertop 1. On the countertop 1, you see a mug 1, and a plate 1."
    empty = "On the countertop 1, you see nothing."
    known = facts("put a mug in cabinet", ("go to countertop 1", seen), ("examine countertop 1", empty))
    assert not [fact for fact in known if fact.startswith("(is_in")]


def test_a_place_beside_the_agent_is_examined() -> None:
    """Where two receptacles share a location, the game does not go from one to the other."""
    known = facts("put a mug in cabinet", (None, START), ("go to microwave 1", "Nothing happens."))
    assert "(at microwave_1)" in known and "(visited microwave_1)" not in known
    seen = ("examine microwave 1", "The microwave 1 is closed.")
    known = facts("put a mug in cabinet", (None, START), ("go to microwave 1", "Nothing happens."), seen)
    assert {"(at microwave_1)", "(visited microwave_1)", "(closed microwave_1)"} < known
