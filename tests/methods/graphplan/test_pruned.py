"""The first action of a shortest plan that a model pruned is found later, and only if pruning can be to blame."""

from __future__ import annotations

from pddlego.episode.events import Event, Limits, Started
from pddlego.methods.graphplan.events import Grown, NeededPruned, PlanConcluded, check_recorded, measure
from pddlego.methods.graphplan.options import GraphplanOptions
from pddlego.methods.graphplan.setting import load, shortest_plan
from pddlego.planning import ProcessPlanner
from pddlego.planning.graphplan.values import LevelAdded
from tests.traces import trace_of

OPTIONS = GraphplanOptions()
SETTING = load("gripper", OPTIONS)


def episode(kind: str, *pruned: str) -> list[Event]:
    level = LevelAdded(1, 1, 5, 9, 9 - len(pruned), 5, 0, 3, 0, False, pruned)
    begun = Started("gripper", "Gripper", "graphplan", "m", 0, "", Limits(None), played_by="graphplan")
    return [begun, Grown(1, "level 1", level), PlanConcluded(2, "no plan", kind, "the reason")]


def needed_actions(planner: ProcessPlanner) -> list[str]:
    levels = shortest_plan(planner, SETTING.damaged_domain(0)[0], SETTING.one_task(0).problem)
    assert levels
    return list(levels[0])


def test_a_pruned_action_of_a_shortest_plan_is_named(planner: ProcessPlanner) -> None:
    found = check_recorded(trace_of(episode("no plan")), SETTING, OPTIONS).all(NeededPruned)
    assert found == [], "nothing was pruned"
    every = needed_actions(planner)
    checked = check_recorded(trace_of(episode("no plan", *every)), SETTING, OPTIONS)
    assert [event.action for event in checked.all(NeededPruned)] == every[:1]
    assert every[0] in measure(checked).first_error
    again = check_recorded(checked, SETTING, OPTIONS)
    assert again.timed == checked.timed, "what was found before is not doubled"


def test_pruning_is_not_to_blame_for_an_invalid_plan(planner: ProcessPlanner) -> None:
    every = needed_actions(planner)
    checked = check_recorded(trace_of(episode("invalid plan", *every)), SETTING, OPTIONS)
    assert not checked.all(NeededPruned)
    assert measure(checked).first_error == "the reason"
    solved = check_recorded(trace_of(episode("solved", *every)), SETTING, OPTIONS)
    assert measure(solved).first_error == ""
