"""Plans are found, with their costs and what is proved of them."""

from __future__ import annotations

from typing import Any

import pytest

import pddlego
from pddlego import tools
from pddlego.errors import UsageError
from tests.lamps import DOMAIN, PLAN, PROBLEM
from tests.tools.walk import WALK, WALK_TASK


def test_a_plan_is_found_with_its_cost_and_engine() -> None:
    result = pddlego.solve(DOMAIN, PROBLEM)
    assert (result.status, result.cost, result.engine) == ("solved", 3, "pyperplan")
    assert result.plan == tuple(PLAN.splitlines())
    done = pddlego.solve(DOMAIN, PROBLEM.replace("(:init", "(:init (lit hall) (lit kitchen)"))
    assert (done.status, done.plan, done.cost) == ("already true", (), 0)
    impossible = pddlego.solve(DOMAIN, PROBLEM.replace("(connected hall kitchen)", ""))
    assert (impossible.status, impossible.plan) == ("unsolvable", None)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"domain": "(define (domain d"}, "The domain is not valid"),
        ({"problem": PROBLEM.replace("(at hall)", "(at hal)")}, "did you mean hall"),
        ({"search": "magic"}, "unknown search"),
        ({"planner": "magic"}, "Unknown planner 'magic'"),
        ({"seconds": -1.0}, "The limits of the planner are not possible"),
        ({"memory": 5}, "A planner memory of 5 MiB is too small"),
    ],
)
def test_wrong_arguments_are_explained(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        tools.solve(**{"domain": DOMAIN, "problem": PROBLEM, **arguments})
    assert says in caught.value.sentence
    assert "--" not in caught.value.sentence


ROADS = """(define (domain roads) (:requirements :strips :action-costs) (:predicates (at ?p) (road ?a ?b) (rail ?a ?b))
  (:functions (total-cost) - number)
  (:action fly :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 9)))
  (:action ride :parameters (?a ?b) :precondition (and (at ?a) (rail ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 1))))"""

TRIP = """(define (problem trip) (:domain roads) (:objects a b c) (:init (at a) (road a c) (rail a b) (rail b c))
  (:goal (at c)) (:metric minimize (total-cost)))"""


def test_a_cost_that_is_not_proved_to_be_minimal_is_noted() -> None:
    fast = pddlego.solve(ROADS, TRIP)
    note = "the cost is not proved to be minimal: gbf(hff) does not minimize it; the search astar(lmcut) does"
    assert (fast.optimal, fast.note) == (False, note)
    best = pddlego.solve(ROADS, TRIP, search="astar(lmcut)")
    assert (best.cost, best.optimal, best.note) == (2, True, "")
    short = pddlego.solve(WALK, WALK_TASK)
    assert (short.optimal, short.note) == (False, "")  # no metric: any plan is good
    done = pddlego.solve(ROADS, TRIP.replace("(at a)", "(at c)"))
    assert (done.cost, done.optimal, done.note) == (0, True, "")
    none = pddlego.solve(ROADS, TRIP.replace("(rail b c)", "").replace("(road a c)", ""), search="astar(lmcut)")
    assert (none.status, none.optimal, none.note) == ("unsolvable", False, "")
