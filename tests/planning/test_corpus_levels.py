"""A corpus whose tasks have numbers or time is planned with by engines that have these."""

from __future__ import annotations

import pytest

from pddlego.planning import ProcessPlanner
from pddlego.tools.audit.pairs import LabelledPair
from tests.pddl.test_unknown_parts import TRAM
from tests.recorded_pairs import check_pair

PROBLEM = """(define (problem p) (:domain tram) (:objects a b - stop)
  (:init (at a) (rail a b) (= (charge) 2) (= (length a b) 3)) (:goal (at b)))"""


@pytest.mark.parametrize("domain", [TRAM, TRAM.replace("(:durative-action", "(:action")], ids=["right", "misnamed"])
def test_a_task_with_time_is_planned_with(domain: str, planner: ProcessPlanner) -> None:
    record = {"recorded_verdict": "PLAN", "recorded_actions": ("(ride a b)",)}
    pair = LabelledPair.model_validate({"id": "tram", "domain": domain, "problem": PROBLEM, **record})
    checked = check_pair(pair, planner)
    assert (checked.refused, checked.contradiction) == ("", "")
