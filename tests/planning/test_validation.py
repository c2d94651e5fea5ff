from __future__ import annotations

import pytest

from pddlego.pddl import Atom, parse_domain, parse_problem
from pddlego.pddl.conditions import parse_condition
from pddlego.planning import Plan, PlanStep, validate
from pddlego.planning.state import State
from pddlego.planning.validation import goal_holds, speaks_of_nothing
from pddlego.planning.validation.advice import advice
from pddlego.planning.validation.cost import plan_cost
from pddlego.planning.validation.fault import FaultKind
from pddlego.planning.world import World
from tests.methods.textgames.houses import COIN, WORKSHOP

HOUSE = parse_problem("""(define (problem p) (:domain coin-collector) (:objects a b - location)
  (:init (at a) (visited a) (connected a b north) (closed_door a b) (item_at coin b)) (:goal (have coin)))""")

OPEN, GO = PlanStep("open_door", ("a", "b", "north")), PlanStep("move", ("a", "b", "north"))
TAKE = PlanStep("take", ("coin", "b"))


def test_a_plan_that_works_and_what_is_true_on_the_way() -> None:
    assert validate(COIN, HOUSE, Plan((OPEN, GO, TAKE))) is None
    world, states = World(COIN, HOUSE), [State(HOUSE.facts)]
    for step in (OPEN, GO, TAKE):
        states.append(world.after(step, states[-1]))
    assert Atom("at", ("b",)) in states[2].facts
    assert Atom("at", ("a",)) not in states[2].facts
    assert Atom("have", ("coin",)) in states[3].facts


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((GO,), "(move a b north) has an unsatisfied precondition at time 0\n(Set (closed_door a b) to false)"),
        ((OPEN, TAKE), "(take coin b) has an unsatisfied precondition at time 1\n(Set (at b) to true)"),
        ((OPEN,), "The goal is not satisfied\n(Set (have coin) to true)"),
        (
            (PlanStep("fly", ()),),
            "(fly) at time 0 is not an action of the domain; the actions are move, open_door, take",
        ),
        ((PlanStep("move", ("a",)),), "(move a) at time 0 has 1 argument(s), and its form is (move ?from ?to ?d)"),
    ],
)
def test_what_is_missing_is_said_as_advice(steps: tuple[PlanStep, ...], message: str) -> None:
    assert str(validate(COIN, HOUSE, Plan(steps))) == message


def test_conditional_and_universal_effects_see_the_state_before() -> None:
    problem = parse_problem("""(define (problem p) (:domain workshop) (:objects p0 p1 - place t0 t1 - thing)
      (:init (at p0) (lit p0) (link p0 p1) (in t0 p0) (in t1 p0) (held t0)) (:goal (in t0 p1)))""")
    step = PlanStep("go", ("p0", "p1"))
    assert validate(WORKSHOP, problem, Plan((step,))) is None
    after = World(WORKSHOP, problem).after(step, State(problem.facts)).facts
    assert Atom("in", ("t1", "p0")) in after
    assert Atom("in", ("t0", "p0")) not in after


@pytest.mark.parametrize(
    ("goal", "holds"),
    [
        ("(and)", True),
        ("(or)", False),
        ("(imply (at b) (at a))", True),
        ("(imply (at a) (at b))", False),
        ("(exists (?x - location) (not (visited ?x)))", True),
        ("(forall (?x - location) (visited ?x))", False),
        ("(forall (?x - item) (not (have ?x)))", True),
        ("(not (= a b))", True),
        ("(exists (?x ?y - location) (and (connected ?x ?y north) (not (= ?x ?y))))", True),
    ],
)
def test_conditions(goal: str, holds: bool) -> None:
    text = str(HOUSE).replace("(:goal (have coin))", f"(:goal {goal})")
    assert goal_holds(COIN, parse_problem(text)) is holds


def test_derived_predicates_follow_their_rules_even_round_a_circle() -> None:
    domain = parse_domain("""(define (domain d) (:predicates (link ?a ?b) (path ?a ?b))
      (:derived (path ?a ?b) (or (link ?a ?b) (exists (?c) (and (link ?a ?c) (path ?c ?b))))))""")
    problem = parse_problem("""(define (problem p) (:domain d) (:objects a b c e)
      (:init (link a b) (link b a) (link b c)) (:goal (path a c)))""")
    world = World(domain, problem)
    assert goal_holds(domain, problem)
    assert not world.holds(parse_condition("(path a e)"), State(problem.facts), {})


@pytest.mark.parametrize(
    ("goal", "nothing"),
    [
        ("(forall (?i - item) (have ?i))", False),
        ("(forall (?l - location) (imply (item_at coin ?l) (visited ?l)))", False),
        ("(forall (?l - location) (imply (not (connected ?l ?l north)) (visited ?l)))", False),
        ("(forall (?l - location) (imply (connected ?l ?l north) (visited ?l)))", True),
        ("(and)", False),
        ("(at a)", False),
    ],
)
def test_a_goal_that_is_true_of_nothing(goal: str, nothing: bool) -> None:
    condition = parse_problem(str(HOUSE).replace("(have coin)", goal)).goal
    assert speaks_of_nothing(COIN, HOUSE.with_goal(condition)) is nothing


def test_everything_of_a_kind_that_is_empty() -> None:
    empty = parse_problem("(define (problem p) (:domain coin-collector) (:objects) (:init) (:goal (have coin)))")
    goal = parse_problem(str(empty).replace("(have coin)", "(forall (?l - location) (visited ?l))")).goal
    assert speaks_of_nothing(COIN, empty.with_goal(goal))


@pytest.mark.parametrize(
    ("condition", "wanted", "text"),
    [
        ("(at b)", True, "(Set (at b) to true)"),
        ("(at a)", False, "(Set (at a) to false)"),
        ("(not (at a))", True, "(Set (at a) to false)"),
        ("(not (at b))", False, "(Set (at b) to true)"),
        ("(and (at a) (at b))", True, "(Set (at b) to true)"),
        (
            "(and (at b) (have coin))",
            True,
            "(Follow each of:\n    (Set (at b) to true)\n    and (Set (have coin) to true)\n)",
        ),
        (
            "(or (at b) (have coin))",
            True,
            "(Follow one of:\n    (Set (at b) to true)\n    or (Set (have coin) to true)\n)",
        ),
        (
            "(and (at a) (visited a))",
            False,
            "(Follow one of:\n    (Set (at a) to false)\n    or (Set (visited a) to false)\n)",
        ),
        (
            "(or (at a) (visited a))",
            False,
            "(Follow each of:\n    (Set (at a) to false)\n    and (Set (visited a) to false)\n)",
        ),
        ("(imply (at a) (at b))", True, "(Follow one of:\n    (Set (at a) to false)\n    or (Set (at b) to true)\n)"),
        (
            "(imply (at b) (visited a))",
            False,
            "(Follow each of:\n    (Set (at b) to true)\n    and (Set (visited a) to false)\n)",
        ),
        ("(exists (?l - location) (have coin))", True, "(Set (have coin) to true)"),
        ("(exists (?l - location) (visited ?l))", False, "(Set (visited a) to false)"),
        ("(forall (?l - location) (visited ?l))", True, "(Set (visited b) to true)"),
        (
            "(exists (?l - location) (item_at coin ?l))",
            False,
            "(Set (item_at coin b) to false)",
        ),
        (
            "(exists (?l - location) (and (item_at coin ?l) (have coin)))",
            True,
            "(Follow one of:\n    (Follow each of:\n        (Set (item_at coin a) to true)\n        "
            "and (Set (have coin) to true)\n    )"
            "\n    or (Set (have coin) to true)\n)",
        ),
        ("(at a)", True, ""),
        ("(forall (?l - location) (at ?l))", False, ""),
        ("(or)", True, ""),
    ],
)
def test_advice_makes_a_condition_true_or_false(condition: str, wanted: bool, text: str) -> None:
    assert advice(World(COIN, HOUSE), parse_condition(condition), State(HOUSE.facts), {}, wanted) == text


@pytest.mark.parametrize(("rooms", "more"), [(18, False), (19, True)])
def test_long_advice_is_cut(rooms: int, more: bool) -> None:
    names = " ".join(f"r{number}" for number in range(rooms))
    house = parse_problem(str(HOUSE).replace("a b - location", f"a b {names} - location"))
    text = advice(
        World(COIN, house), parse_condition("(exists (?l - location) (connected ?l ?l north))"), State(house.facts), {}
    )
    assert text.count("Set") == 20
    assert text.endswith("\n    or …\n)") is more


def test_wrong_arguments_are_named() -> None:
    def fault(*steps: PlanStep) -> tuple[FaultKind, str, str, int | None, PlanStep | None]:
        found = validate(COIN, HOUSE, Plan(steps))
        assert found is not None
        return found.kind, found.what, found.advice, found.time, found.step

    wrong = PlanStep("move", ("a", "c", "north"))
    assert fault(OPEN, wrong) == (FaultKind.OBJECT, "(move a c north) at time 1: unknown object c", "", 1, wrong)
    wrong = PlanStep("move", ("a", "coin", "north"))
    what = "(move a coin north) at time 0: coin is a item, but ?to is a location"
    assert fault(wrong) == (FaultKind.TYPE, what, "", 0, wrong)
    wrong = PlanStep("mov", ("a", "b", "north"))
    what = "(mov a b north) at time 1 is not an action of the domain; did you mean move?"
    assert fault(OPEN, wrong) == (FaultKind.ACTION, what, "", 1, wrong)


def test_a_cost_without_a_number_is_a_fault_of_its_step() -> None:
    domain = parse_domain("""(define (domain d) (:requirements :action-costs) (:predicates (p ?x))
      (:functions (total-cost) - number (price ?x) - number)
      (:action buy :parameters (?x) :precondition () :effect (and (p ?x) (increase (total-cost) (price ?x)))))""")
    problem = parse_problem("""(define (problem q) (:domain d) (:objects a b c)
      (:init (= (price a) 0.5) (= (price b) 1.5)) (:goal (p a)) (:metric minimize (total-cost)))""")
    steps = [PlanStep("buy", (name,)) for name in "abc"]
    found = validate(domain, problem, Plan((steps[0], steps[2])))
    assert found is not None
    assert (found.kind, found.time) == (FaultKind.COST, 1)
    assert str(found) == (
        "(buy c) at time 1 costs (price c), which has no number in :init\n(Add (= (price c) NUMBER) to :init)"
    )
    cost = plan_cost(domain, problem, Plan((steps[0], steps[1])))
    assert (cost, type(cost)) == (2, int)
    assert plan_cost(domain, problem, Plan((steps[0],))) == 0.5
    assert plan_cost(domain, problem, Plan(())) == 0


STAIRS = parse_domain("""(define (domain stairs) (:types step - object lamp - object)
  (:predicates (on ?s - step) (next ?a ?b - step) (wall ?a ?b - step) (lit ?l - lamp) (bright))
  (:derived (bright) (exists (?l - lamp) (lit ?l)))
  (:action climb :parameters (?a ?b - step)
    :precondition (and (on ?a) (next ?a ?b) (not (wall ?a ?b)) (not (= ?a ?b)))
    :effect (and (not (on ?a)) (on ?b))))""")
ON_STAIRS = parse_problem("""(define (problem p) (:domain stairs) (:objects s1 s2 s3 - step l - lamp)
  (:init (on s1) (next s1 s2) (next s2 s3) (next s3 s1) (wall s3 s1) (next s1 s1)) (:goal (on s3)))""")
POSSIBLE = {
    (
        "s1",
        "s3",
    ): "(No action makes (next s1 s3) true: use objects for which it is true, as in (next s1 s1), ",
    ("s1", "s1"): "(Use different objects for the two arguments of (= s1 s1))",
    ("s2", "s3"): "(Set (on s2) to true)",
    ("s3", "s1"): "(No action makes (wall s3 s1) false: use other objects)",
}


@pytest.mark.parametrize("args", POSSIBLE)
def test_advice_never_asks_for_a_change_that_no_action_makes(args: tuple[str, str]) -> None:
    fault = validate(STAIRS, ON_STAIRS, Plan((PlanStep("climb", args),)))
    assert fault is not None
    assert POSSIBLE[args] in fault.advice
    assert "(Set " in fault.val_advice


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("(lit l)", "(No action makes (lit l) true, and no fact of lit is true)"),
        ("(bright)", "(Set (bright) to true)"),
        ("(not (next s1 s2))", "(No action makes (next s1 s2) false: use other objects)"),
    ],
)
def test_advice_for_a_goal_says_what_no_action_can_make_true(goal: str, expected: str) -> None:
    fault = validate(STAIRS, ON_STAIRS.with_goal(parse_condition(goal)), Plan(()))
    assert fault is not None
    assert fault.advice == expected
