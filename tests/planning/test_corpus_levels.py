"""A corpus whose tasks have numbers or time is planned with by engines that have these."""

from __future__ import annotations

import pytest

from pddlego.planning import ProcessPlanner
from pddlego.planning.corpus import Pair, check_pair
from tests.pddl.test_unknown_parts import TRAM

PROBLEM = """(define (problem p) (:domain tram) (:objects a b - stop)
  (:init (at a) (rail a b) (= (charge) 2) (= (length a b) 3)) (:goal (at b)))"""


@pytest.mark.parametrize("domain", [TRAM, TRAM.replace("(:durative-action", "(:action")], ids=["right", "misnamed"])
def test_a_task_with_time_is_planned_with(domain: str, planner: ProcessPlanner) -> None:
    pair = Pair(id="tram", domain=domain, problem=PROBLEM, recorded_verdict="PLAN", recorded_actions=("(ride a b)",))
    checked = check_pair(pair, planner)
    assert (checked.refused, checked.message, checked.contradiction) == ("", "", "")
