"""A simulation keeps its state: steps, undo, reset, and actions that are not possible."""

from __future__ import annotations

from random import Random

import pytest

import pddlego
from pddlego.errors import UsageError
from tests import fuel, lamps

TASKS = {"classical": (lamps.DOMAIN, lamps.PROBLEM), "numeric": (fuel.DOMAIN, fuel.PROBLEM)}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_walk_has_the_states_of_its_plan(task: tuple[str, str]) -> None:
    """`simulate` executes the same actions at once. Undoing all of them leads back through the same states."""
    for seed in range(5):
        choices, simulation = Random(seed), pddlego.Simulation(*task)
        while len(simulation.states) < 8 and (possible := simulation.applicable()):
            simulation.step(choices.choice(possible))
        plan = [state.action for state in simulation.states[1:]]
        at_once = pddlego.simulate(*task, plan)
        assert (simulation.states, simulation.applicable()) == (at_once.states, at_once.applicable)
        assert [simulation.undo() for _ in plan] == [*reversed(at_once.states[:-1])]
        assert simulation.undo() == simulation.state == at_once.states[0]
        simulation.step(plan[0])
        assert simulation.reset() == at_once.states[0] and len(simulation.states) == 1


def test_the_goal_is_reached_by_a_plan_with_its_cost() -> None:
    simulation = pddlego.Simulation(fuel.DOMAIN, fuel.PROBLEM)
    reached = [simulation.step(action).goal_reached for action in fuel.PLAN]
    assert reached == [False, False, True]
    assert simulation.state.cost == pddlego.validate(fuel.DOMAIN, fuel.PROBLEM, fuel.PLAN).cost


@pytest.mark.parametrize("action", ["(switch-on kitchen)", "(switch-on attic)", "(fly)", "no plan", "", lamps.PLAN])
def test_what_is_not_one_possible_action_is_refused_and_changes_nothing(action: str) -> None:
    simulation = pddlego.Simulation(lamps.DOMAIN, lamps.PROBLEM)
    with pytest.raises(UsageError):
        simulation.step(action)
    assert len(simulation.states) == 1 and simulation.step("switch-on hall").step == 1
