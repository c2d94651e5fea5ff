from __future__ import annotations

import subprocess
import sys

import pytest

from pddlego.pddl import Domain, Problem, parse_domain, parse_problem
from pddlego.pddl.conditions import parse_condition
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from pddlego.planning.ground import PlanningError, ground
from pddlego.planning.search import find_plan
from tests.methods.textgames.houses import COIN, WORKSHOP, explored, random_workshop
from tests.scale import PATIENCE

RECIPE = parse_domain("""(define (domain recipe) (:requirements :adl) (:types food)
  (:predicates (needed ?f - food) (have ?f - food) (cut ?f - food) (wants-cut ?f - food) (meal) (happy))
  (:action take :parameters (?f - food) :precondition (needed ?f) :effect (have ?f))
  (:action cut :parameters (?f - food) :precondition (and (have ?f) (wants-cut ?f) (not (cut ?f))) :effect (cut ?f))
  (:action prepare :parameters ()
    :precondition (forall (?f - food) (imply (needed ?f) (and (have ?f) (imply (wants-cut ?f) (cut ?f)))))
    :effect (meal))
  (:action eat :parameters () :precondition (meal) :effect (and (happy) (not (meal)))))""")

DINNER = parse_problem("""(define (problem dinner) (:domain recipe) (:objects a b c - food)
  (:init (needed a) (needed b) (wants-cut b)) (:goal (happy)))""")


def solve(domain: Domain, problem: Problem, search: str = "bfs") -> list[str]:
    task = ground(domain, problem)
    plan = find_plan(task, Search.parse(search)) if task else None
    return [str(step) for step in plan.steps] if plan else []


def test_quantified_preconditions() -> None:
    assert solve(RECIPE, DINNER) == ["(take a)", "(take b)", "(cut b)", "(prepare)", "(eat)"]


def test_a_disjunctive_goal_leaves_no_artificial_step() -> None:
    goal = parse_condition("(or (cut b) (have a))")
    assert solve(RECIPE, DINNER.with_goal(goal)) == ["(take a)"]


def test_conditional_effects() -> None:
    problem = parse_problem("""(define (problem p) (:domain workshop) (:objects p0 - place t0 - thing)
      (:init (at p0) (in t0 p0)) (:goal (held t0)))""")
    assert solve(WORKSHOP, problem) == ["(switch p0)", "(grab t0)"]


def test_out_of_reach_even_without_deletes() -> None:
    assert ground(COIN, explored(4, 2, seed=0).with_goal(parse_condition("(have coin)"))) is None


def test_operators_are_in_the_order_of_the_domain_not_of_names() -> None:
    task = ground(COIN, explored(6, 3, seed=2))
    assert task is not None
    actions = [
        operator.action.strip("()").split()[0]
        for operator in task.operators
        if operator.action.startswith(("(m", "(o"))
    ]
    assert actions == sorted(actions, key=["move", "open_door"].index)


def test_a_plan_does_not_depend_on_what_a_room_is_called() -> None:
    text = """(define (problem p) (:domain coin-collector) (:objects here {a} {b} - location)
      (:init (at here) (visited here) (connected here {a} north) (connected here {b} south))
      (:goal (exists (?x - location) (and (at ?x) (not (visited ?x))))))"""
    for a, b in (("aaa", "zzz"), ("zzz", "aaa")):
        assert solve(COIN, parse_problem(text.format(a=a, b=b))) == [f"(move here {a} north)"]


@pytest.mark.parametrize(
    ("domain", "says"),
    [
        ("(:predicates (a)) (:action x :parameters () :precondition (b) :effect (a))", "b"),
        (
            "(:predicates (a ?x ?y) (r ?x ?y))"
            "(:derived (r ?x ?y) (or (a ?x ?y) (exists (?z) (and (a ?x ?z) (r ?z ?y)))))"
            "(:action x :parameters (?p ?q) :effect (a ?p ?q))",
            "is derived from itself",
        ),
    ],
)
def test_what_cannot_be_planned_with_is_refused_by_name(domain: str, says: str) -> None:
    parsed = parse_domain(f"(define (domain d) {domain})")
    goal = "(r o p)" if "derived" in says else "(a o p)" if "?y" in domain else "(a)"
    problem = parse_problem(f"(define (problem p) (:domain d) (:objects o p) (:init) (:goal {goal}))")
    with pytest.raises(PlanningError, match=says):
        ground(parsed, problem)


def test_what_would_blow_up_is_refused_by_name() -> None:
    pairs = " ".join(f"(or (a{number}) (b{number}))" for number in range(14))
    names = " ".join(f"(a{number}) (b{number})" for number in range(14))
    sets = " ".join(f"(a{number})" for number in range(14))
    text = f"""(define (domain d) (:requirements :adl) (:predicates {names} (done))
      (:action set :parameters () :effect (and {sets}))
      (:action flip :parameters () :effect (and {" ".join(f"(b{number})" for number in range(14))}))
      (:action finish :parameters () :precondition (forall (?x) (and {pairs})) :effect (done)))"""
    problem = parse_problem("(define (problem p) (:domain d) (:objects o) (:init) (:goal (done)))")
    with pytest.raises(PlanningError, match="ways to be true"):
        ground(parse_domain(text), problem)


def test_grounding_prints_nothing() -> None:
    script = (
        "from pddlego.planning.ground import ground\n"
        "from tests.methods.textgames.houses import COIN, explored\n"
        "ground(COIN, explored(6, 3, 1))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout == done.stderr == ""


def test_hill_climbing_that_gets_stuck_is_no_proof(planner: ProcessPlanner) -> None:
    for number in range(40):
        problem = random_workshop(number)
        exact = planner.solve(WORKSHOP, problem, Search()).status
        assert planner.solve(WORKSHOP, problem, Search.parse("ehs(hff)")).status is exact
        assert exact in (PlanStatus.SOLVED, PlanStatus.UNSOLVABLE)


def test_only_what_may_contribute_to_the_goal_is_kept() -> None:
    """Picking up a hundred things nobody wants would make a hundred thousand orders of doing so; walking is one."""
    items = " ".join(f"thing{number}" for number in range(100))
    lying = " ".join(f"(item_at thing{number} a)" for number in range(100))
    text = f"""(define (problem p) (:domain coin-collector) (:objects a b - location {items} - item)
      (:init (at a) {lying} (connected a b north)) (:goal (at b)))"""
    task = ground(COIN, parse_problem(text))
    assert task is not None
    assert [operator.action for operator in task.operators] == ["(move a b north)"]
