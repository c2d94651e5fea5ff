"""What the built-in reader makes of ScienceWorld's experiments."""

from __future__ import annotations

import pytest

from pddlego.methods.textgames.formalize import Exchange, Observations, PromptContext
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.reader.experiments import PATIENCE, ExperimentRules
from pddlego.pddl import apply_edit

MELT = "Your task is to melt ice cream. First, focus on the substance."
GROW = "Your task is to grow a cherry plant from seed. Seeds can be found in the bedroom. First, focus on a seed."
TEST = (
    "Your task is to determine if paper clip is electrically conductive. First, focus on the paper clip. If it is "
    "electrically conductive, place it in the red box. If it is electrically nonconductive, place it in the green box."
)
BENCH = ("a paper clip", "a table. On the table is: a battery, a blue wire, a red wire, a green wire, a red light bulb")


def facts(task: str, *exchanges: Exchange) -> set[str]:
    """What is known after these exchanges."""
    known = load("science-melt").start
    for number, exchange in enumerate(exchanges, start=1):
        situation = PromptContext(known, task, Observations((exchange,), history=exchanges[:number]))
        report = apply_edit(known.problem, ExperimentRules().edit(situation))
        assert not report.refused
        known = known.with_problem(report.problem)
    return set(map(str, known.problem.facts))


def room(name: str, *things: str) -> Exchange:
    return Exchange(None, f"This room is called the {name}. In it, you see:\n" + "\n".join((*things, "You also see:")))


def test_a_substance_goes_into_a_pot_and_the_pot_onto_a_heater() -> None:
    known = facts(MELT, room("kitchen", "a metal pot (containing nothing)", "a stove, which is turned off"))
    assert {"(sample ice_cream)", "(goes ice_cream metal_pot)", "(goes metal_pot stove)"} <= known
    assert "(device stove kitchen)" in known
    assert "(goes metal_pot blast_furnace)" not in known


def test_a_heater_that_is_broken_or_too_weak_is_useless() -> None:
    kitchen = room("kitchen", "a stove, which is turned off")
    broken = Exchange("activate stove", "The stove appears broken, and can't be activated or deactivated.")
    assert "(useless stove)" in facts(MELT, kitchen, broken)
    on = Exchange("activate stove", "The stove is now activated.")
    waiting = [Exchange("wait", "You decide to wait for 10 iterations.")] * PATIENCE
    assert "(useless stove)" not in facts(MELT, kitchen, on, *waiting[1:])
    assert "(useless stove)" in facts(MELT, kitchen, on, *waiting)


@pytest.mark.parametrize(("contents", "needs_soil"), [("nothing", True), ("soil", False)])
def test_a_seed_goes_into_a_pot_with_soil(contents: str, needs_soil: bool) -> None:
    known = facts(GROW, room("greenhouse", f"a flower pot 1 (containing {contents})", "a jug (containing nothing)"))
    assert {"(goes cherry_seed flower_pot_1)", "(waters jug flower_pot_1)", "(goes jug sink)"} <= known
    assert ("(goes soil flower_pot_1)" in known) == needs_soil


def test_a_pot_is_watered_again_after_waiting() -> None:
    poured = Exchange("pour jug in flower pot 1", "You pour the contents of the jug into the flower pot 1.")
    greenhouse = room("greenhouse", "a flower pot 1 (containing soil)")
    assert "(poured jug flower_pot_1)" in facts(GROW, greenhouse, poured)
    assert "(poured jug flower_pot_1)" not in facts(GROW, greenhouse, poured, Exchange("wait", "You decide to wait."))


def test_a_number_stands_for_the_command_that_was_ambiguous() -> None:
    taken = Exchange("0", "You move the cherry seed to the inventory.")
    assert "(held cherry_seed)" in facts(GROW, room("bedroom", "a seed jar (containing a cherry seed)"), taken)


def test_focusing_on_a_thing_in_a_vessel_is_focusing_on_the_thing() -> None:
    focused = Exchange("focus on ice cream in metal pot", "You focus on the ice cream.")
    assert "(focused ice_cream)" in facts(MELT, room("kitchen", "ice cream"), focused)


def test_the_connections_of_a_circuit() -> None:
    known = facts(TEST, room("workshop", *BENCH))
    assert {"(wanted paper_clip)", "(in_circuit paper_clip)", "(loose battery_anode)"} <= known
    assert "(to_join battery_anode blue_wire_terminal_1 workshop)" in known
    command = "connect battery anode to blue wire terminal 1"
    answer = "anode on battery is now connected to terminal 1 on blue wire"
    assert "(loose battery_anode)" not in facts(TEST, room("workshop", *BENCH), Exchange(command, answer))
    assert "(in_circuit paper_clip)" not in facts(TEST, room("workshop", BENCH[0]))


@pytest.mark.parametrize(("state", "box"), [("on", "red_box"), ("off", "green_box")])
def test_a_tested_thing_belongs_into_the_box_that_the_task_names(state: str, box: str) -> None:
    workshop = room("workshop", *BENCH)
    waited = Exchange("wait1", f"You decide to wait for 1 iterations.\n\na red light bulb, which is {state}")
    assert "(undecided)" in facts(TEST, workshop)
    known = facts(TEST, workshop, waited)
    assert f"(belongs paper_clip {box})" in known
    assert "(undecided)" not in known


def test_a_dropped_thing_is_in_the_room() -> None:
    taken = Exchange("pick up paper clip", "You move the paper clip to the inventory.")
    dropped = Exchange("drop paper clip", "You move the paper clip to the workshop.")
    known = facts(TEST, room("workshop", *BENCH), taken, dropped)
    assert "(is_in paper_clip workshop)" in known
    assert "(held paper_clip)" not in known
