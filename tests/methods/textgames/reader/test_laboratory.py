"""What the built-in reader makes of the texts of ScienceWorld."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reader.laboratory import Laboratory, LaboratoryRules, things_in
from pddlego.pddl import apply_edit

ROOM = """This room is called the kitchen. In it, you see:
a substance called soap
a counter. On the counter is: a bowl (containing a red apple, a banana), a drawer.
a cupboard. The cupboard door is closed.
a toilet. In the toilet is: A drain, which is closed, a substance called water.
a red box (containing nothing)
You also see:
A door to the art studio (that is closed)
A door to the hallway (that is open)"""


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("a substance called soap", ["soap"]),
        ("a counter. On the counter is: a bowl (containing a red apple, a banana), a drawer.",
         ["counter", "bowl", "red apple", "banana", "drawer"]),
        ("a bed. On the bed is: a mattress. On the mattress is: a white pillow..", ["bed", "mattress", "white pillow"]),
        ("a table. On the table is: nothing.", ["table"]),
        ("a battery, a switch, which is off", ["battery"]),
        ("a thermometer, currently reading a temperature of 10 degrees celsius", ["thermometer"]),
        ("a flower pot 9 (containing a pea plant in the adult stage with a tall height, soil)",
         ["flower pot 9", "pea plant", "soil"]),
        ("a giant tortoise egg", ["giant tortoise"]),
        ("a juvenile beaver", ["beaver"]),
        ("unknown substance B", ["unknown substance B"]),
        ("", []),
    ],
)  # fmt: skip
def test_the_things_of_a_line(line: str, names: list[str]) -> None:
    assert [thing.name for thing in things_in(line)] == names


def test_a_room() -> None:
    room = Laboratory.read(ROOM)
    assert room is not None
    assert room.room == "kitchen"
    assert room.doors == (("art studio", True), ("hallway", False))
    assert [thing.name for thing in room.things if thing.closed] == ["cupboard"]
    assert Laboratory.read("The door is now open.") is None


@given(st.text(alphabet=st.sampled_from("a b(),.:is On in the containing which\n")))
def test_every_text_can_be_read(text: str) -> None:
    Laboratory.read(f"This room is called the x. In it, you see:\n{text}")


def facts(task: str, *exchanges: Exchange) -> set[str]:
    """What is known after these exchanges, in the setting's own problem."""
    known = load("science-find-animal").start
    for exchange in exchanges:
        situation = PromptContext(known, task, Observations((exchange,)))
        edit = LaboratoryRules().edit(situation)
        report = apply_edit(known.problem, edit)
        assert not report.refused
        known = known.with_problem(report.problem)
    return set(map(str, known.problem.facts))


def outside(*animals: str) -> Exchange:
    lines = "\n".join(animals)
    return Exchange(None, f"This outside location is called the outside. Here you see:\n{lines}\nYou also see:")


def test_what_a_task_of_finding_means() -> None:
    task = "Your task is to find a(n) animal. First, focus on the thing. Then, move it to the red box in the kitchen."
    known = facts(task, outside("an axe", "a baby wolf", "a parrot egg"))
    assert {"(wanted wolf)", "(belongs wolf red_box)", "(is_in axe outside)"} <= known
    assert "(undecided)" not in known
    assert "(undecided)" in facts(task, outside("an axe"))


def test_the_order_of_life_spans() -> None:
    task = "find the animal with the longest life span, then the shortest life span. First, focus on the animal"
    known = facts(task, outside("a baby mouse", "a baby elephant", "a baby wolf"))
    assert {"(wanted elephant)", "(wanted mouse)", "(before elephant mouse)"} <= known
    assert "(wanted wolf)" not in known


@pytest.mark.parametrize(("degrees", "box"), [("51", "red_box"), ("-3", "green_box")])
def test_a_measured_substance_belongs_into_the_box_that_the_task_names(degrees: str, box: str) -> None:
    task = (
        "Your task is to measure the temperature of lead, which is located around the bedroom. If the lead temperature "
        "is above 50.0 degrees celsius, place it in the red box. If the lead temperature is below 50.0 degrees "
        "celsius, place it in the green box."
    )
    told = Exchange("use thermometer on lead", f"the thermometer measures a temperature of {degrees} degrees celsius")
    assert "(unmeasured lead)" in facts(task, outside("lead"))
    known = facts(task, outside("lead"), told)
    assert f"(belongs lead {box})" in known
    assert not {"(unmeasured lead)", "(undecided)"} & known


def test_taken_things_are_in_no_room() -> None:
    known = facts("", outside("an axe"), Exchange("pick up axe", "You move the axe to the inventory."))
    assert "(held axe)" in known
    assert "(is_in axe outside)" not in known


@pytest.mark.parametrize(
    ("task", "places"),
    [
        (
            "Your task is to find a(n) animal. Then, move it to the blue box in the living room.",
            {"blue_box living_room", "animal outside"},
        ),
        (
            "Your task is to find a(n) non-living thing. Then, move it to the red box in the kitchen.",
            {"red_box kitchen"},
        ),
        (
            "Your task is to grow a apple plant from seed. Seeds can be found in the workshop.",
            {"seeds workshop", "plant greenhouse"},
        ),
        ("The animals are in the 'outside' location. Focus on it.", {"animals outside"}),
        (
            "Your task is to measure the temperature of substance B, which is located around the hallway. Focus on the "
            "thermometer. If it is above 2 degrees, place it in the red box. The boxes are located around the bedroom.",
            {"substance_b hallway", "boxes bedroom", "thermometer kitchen"},
        ),
        ("Your task is to use chemistry to create orange paint.", set()),
    ],
)
def test_the_places_that_a_task_names_are_likely(task: str, places: set[str]) -> None:
    start = load("science-find-animal").start
    seen = Observations((Exchange(None, "This room is called the hallway. In it, you see:"),), ())
    edit = LaboratoryRules().edit(PromptContext(start, task, seen))
    assert {line for line in edit.init.add if line.startswith("(likely")} == {f"(likely {place})" for place in places}
