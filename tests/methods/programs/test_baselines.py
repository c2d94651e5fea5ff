from __future__ import annotations

from dataclasses import replace

import pytest

from pddlego.episode.events import Outcome
from pddlego.methods.programs.events import Ran
from pddlego.methods.programs.play import SEARCH
from pddlego.methods.programs.reference_model import builtin_model
from pddlego.planning import PlanStatus, ProcessPlanner
from pddlego.runs.cells import Cell
from tests.methods.programs.playing import ending, events_of, small
from tests.sandbox.ordinary import needs_locks
from tests.scale import scaled

DOMAINS = ("collector", "delivery", "ferry", "forest", "gripper", "heavy", "miconic", "spanner")


@pytest.mark.slow
@pytest.mark.parametrize("name", DOMAINS)
def test_a_planner_solves_the_training_tasks(name: str, planner: ProcessPlanner) -> None:
    setting = small(name, training=10)
    for task in setting.tasks(0).training:
        result = planner.solve(setting.domain, task.problem, SEARCH)
        assert result.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE)


def test_mode_plan_tries_both_splits_and_counts_the_larger_tasks(planner: ProcessPlanner) -> None:
    setting = small("heavy", training=2, evaluation=2)
    file = setting.file.model_copy(update={"evaluation": {"items": (11, 12)}})
    events = events_of(replace(setting, file=file), mode="plan", planner=planner)
    assert [event.split for event in events if isinstance(event, Ran)] == ["training"] * 2 + ["evaluation"] * 2
    assert (ending(events).outcome, ending(events).score) == (Outcome.WON, 1.0)


@needs_locks
@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("mode", ["program", "program-no-names"])
def test_our_programs_solve_everything(name: str, mode: str) -> None:
    setting = small(name, training=3, evaluation=scaled(3, in_ci=5))
    model = builtin_model("reader", Cell(name, mode, "reader", 0), setting)
    assert model is not None
    events = events_of(setting, model, mode)
    assert (ending(events).outcome, ending(events).score) == (Outcome.WON, 1.0)


@needs_locks
def test_a_reader_that_errs_is_told_so_and_recovers() -> None:
    setting = small("gripper")
    cell = Cell("gripper", "program", "reader+noise:0.9,seed=2", 0)
    model = builtin_model(cell.model, cell, setting)
    assert model is not None
    events = events_of(setting, model)
    assert ending(events).usage.steps > 2


@pytest.mark.slow
def test_a_random_policy_stops_at_dead_ends_goals_and_the_horizon() -> None:
    spanner = events_of(small("spanner", evaluation=6), mode="random")
    assert {event.kind for event in spanner if isinstance(event, Ran)} <= {"dead end", "solved"}
    ferry = events_of(small("ferry", evaluation=2), mode="random")
    assert [(event.kind, event.length) for event in ferry if isinstance(event, Ran)] == [("horizon", 1000)] * 2
    assert [event.length for event in spanner if isinstance(event, Ran)] == [
        event.length for event in events_of(small("spanner", evaluation=6), mode="random") if isinstance(event, Ran)
    ]
