"""What can never happen is reported, and nothing is reported that can happen."""

from __future__ import annotations

import pytest

from pddlego import tools
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.pddl import DefectKind, conjuncts, parse_domain, parse_problem
from pddlego.pddl.portable import checked_domain
from pddlego.planning.checked import Explorer, checked_problem
from pddlego.planning.world import transitions
from tests.shared import SHARED

DOMAIN = """(define (domain post) (:requirements :strips :typing :action-costs :negative-preconditions :equality)
  (:types town - object parcel van - thing)
  (:predicates (link ?a ?b - town) (in ?t - thing ?c - town) (inside ?p - parcel ?v - van) (closed ?c - town))
  (:functions (length ?a ?b - town) - number (total-cost) - number)
  (:action ride :parameters (?v - van ?a ?b - town)
    :precondition (and (in ?v ?a) (link ?a ?b) (not (= ?a ?b)) (not (closed ?b)))
    :effect (and (not (in ?v ?a)) (in ?v ?b) (increase (total-cost) (length ?a ?b))))
  (:action take :parameters (?p - parcel ?v - van ?c - town)
    :precondition (and (in ?p ?c) (in ?v ?c))
    :effect (and (not (in ?p ?c)) (inside ?p ?v)))
  (:action give :parameters (?p - parcel ?v - van ?c - town)
    :precondition (and (inside ?p ?v) (in ?v ?c))
    :effect (and (in ?p ?c) (not (inside ?p ?v)))))"""

PROBLEM = """(define (problem one) (:domain post)
  (:objects a b c - town p - parcel v - van)
  (:init (link a b) (link b c) (link c a) (link b b) (in v a) (in p a) (closed c) (link a c)
    (= (length a b) 2) (= (length c a) 3) (= (total-cost) 0))
  (:goal (in p b)) (:metric minimize (total-cost)))"""


def rules(domain: str, problem: str) -> list[tuple[str, str]]:
    checked = checked_domain(domain)
    assert checked.domain is not None
    defects = checked_problem(checked.domain, problem).defects
    return [(defect.kind.id, defect.subject) for defect in defects]


def test_numbers_that_no_action_needs_may_be_left_out() -> None:
    """The town c is closed, and nothing rides from b to b."""
    assert rules(DOMAIN, PROBLEM) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (" (inside ?p ?v)))\n  (:action give", "))\n  (:action give", [("precondition-never-true", "inside")]),
        ("(= (length a b) 2)", "", [("missing-cost", "(length a b)")]),
        ("(closed c)", "", [("missing-cost", "(length a c)")]),
        ("(in p b)) (:m", "(and (in p b) (not (in p b)))) (:m", [("contradicting-goal", "(in p b)")]),
        ("(in p b)) (:m", "(and (in p b) (in p a))) (:m", [("contradicting-goal", "p")]),
        ("(in p b)) (:m", "(in p c)) (:m", [("unreachable-goal", "(in p c)")]),
        ("(in p b)) (:m", "(not (link a b))) (:m", [("unreachable-goal", "(not (link a b))")]),
        (
            "(in v a) (in p a)",
            "(in v a) (in p c)",
            [("unreachable-goal", "(in p b)"), ("action-never-applicable", "take")],
        ),
    ],
)
def test_a_mistake_is_found(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    assert (old in DOMAIN) + (old in PROBLEM) == 1
    places = tools.check(DOMAIN.replace(old, new), PROBLEM.replace(old, new)).findings
    assert all(finding.line == 1 or finding.source for finding in places), "positions are those of the problem"
    assert rules(DOMAIN.replace(old, new), PROBLEM.replace(old, new)) == expected


def test_more_numbers_that_are_missing_are_counted() -> None:
    checked = checked_domain(DOMAIN)
    assert checked.domain is not None
    problem = PROBLEM.replace("(= (length a b) 2)", "").replace("(closed c)", "")
    (found,) = checked_problem(checked.domain, problem).defects
    expected = "length has no number in :init for 2 combinations of arguments, as in (length a b), so (ride v a b)"
    assert found.message.startswith(expected)


NUMERIC = """(define (domain tanks) (:requirements :typing :numeric-fluents) (:types tank) (:predicates (p ?t - tank))
  (:functions (level ?t - tank) (used))
  (:action fill :parameters (?t - tank) :precondition (>= (level ?t) 1) :effect (p ?t)))"""


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("(< (level ?t) 9)", "so (fill t) can never be applied"),
        ("(p ?t)", "so (fill t) cannot be applied until an action assigns one"),
        ("(or (< (level ?t) 9) (p ?t))", "so (fill t) cannot be applied until an action assigns one"),
    ],
)
def test_a_number_that_actions_read_and_that_is_not_given_is_a_warning(condition: str, reason: str) -> None:
    action = f"(:action top-up :parameters (?t - tank) :precondition {condition} :effect (assign (level ?t) 9))"
    domain = f"{NUMERIC[:-1]} {action})"
    task = "(define (problem x) (:domain tanks) (:objects t - tank) (:init (p t)) (:goal (>= (level t) 3)))"
    (message,) = (one.message for one in tools.check(domain, task).findings if one.rule == "missing-number")
    assert message == f"(level t) has no number in :init, {reason}"


def test_a_number_that_is_read_only_after_an_action_has_assigned_it_needs_no_value() -> None:
    saving = "(:action save :parameters (?t - tank) :effect (and (saved ?t) (assign (level ?t) 9)))"
    domain = NUMERIC.replace("(p ?t - tank)", "(p ?t - tank) (saved ?t - tank)")
    domain = domain.replace("(>= (level ?t) 1)", "(and (saved ?t) (>= (level ?t) 1))")
    task = "(define (problem x) (:domain tanks) (:objects t - tank) (:init) (:goal (p t)))"
    assert not tools.check(f"{domain[:-1]} {saving})", task).findings


@pytest.mark.shared("cases/turn6/played/build_undefined_number")
def test_the_number_that_a_model_left_out_of_a_build_is_named() -> None:
    folder = SHARED / "cases/turn6/played/build_undefined_number"
    files = [(folder / f"{name}.pddl").read_text(encoding="utf-8") for name in ("domain", "problem")]
    (found,) = tools.check(*files).findings
    assert found.rule == "missing-number" and found.message.startswith("(battery d1) has no number in :init, so ")


def test_numbers_that_are_missing_are_one_finding_for_each_function() -> None:
    names = [f"t{number}" for number in range(60)]
    goal = " ".join(f"(> (level {name}) 0)" for name in names)
    task = f"(define (problem x) (:domain tanks) (:objects {' '.join(names)} - tank) (:init (= (level t0) 1))"
    task += f" (:goal (and {goal})) (:metric minimize (+ (used) (level t3))))"
    result = tools.check(NUMERIC, task).findings
    assert [finding.rule for finding in result] == ["missing-number"] * 2
    assert result[0].message.startswith(
        "level has no number in :init for 59 combinations of arguments, as in (level t1)"
    )
    assert result[1].message.startswith("(used) has no number in :init, and no action assigns one, so (:metric")


@pytest.mark.parametrize(
    "name", ["blocks", "ferry", "gripper", "miconic", "movie", "logistics", "woodworking", "openstacks"]
)
def test_whatever_happens_in_a_task_is_thought_possible(name: str) -> None:
    setting = PlanningSetting(**load_planning(name))
    for task in setting.small_tasks(1, "text")[:2]:
        explorer = Explorer(setting.domain, task.problem)
        explorer.explore()
        system = transitions(setting.domain, task.problem, most=200)
        assert all(state.facts <= explorer.state.facts for state in system.states)
        assert {step.action for _, step, _ in system.edges} <= explorer.possible


def test_effects_under_conditions_and_derived_conditions_are_thought_possible() -> None:
    domain = """(define (domain d) (:requirements :adl :derived-predicates) (:predicates (p ?x) (q ?x) (s) (d ?x))
      (:derived (d ?x) (not (q ?x)))
      (:action a :parameters () :precondition (s) :effect (forall (?x) (when (d ?x) (p ?x))))
      (:action b :parameters (?x) :precondition (and (p ?x) (or (s) (q ?x)) (d ?x)) :effect (and (q ?x) (not (s)))))"""
    problem = "(define (problem one) (:domain d) (:objects x y) (:init (s)) (:goal (and (q x) (not (s)))))"
    assert rules(domain, problem) == []
    assert rules(domain, problem.replace("(:init (s))", "(:init (q y))")) == [
        ("precondition-never-true", "s"),
    ]


def test_a_domain_is_explored_in_linear_time_where_each_action_needs_the_one_before() -> None:
    size = 3_000
    body = " ".join(f"(:action go{n} :parameters () :precondition (at{n}) :effect (at{n + 1}))" for n in range(size))
    heads = " ".join(f"(at{n})" for n in range(size + 1))
    domain = f"(define (domain d) (:predicates {heads}) {body})"
    assert parse_domain(domain)
    assert rules(domain, f"(define (problem one) (:domain d) (:init (at0)) (:goal (at{size})))") == []


PILES = """(define (domain piles) (:requirements :strips :typing :action-costs) (:types pile flag)
  (:predicates (top ?p ?q ?r - pile) (seen ?p - pile) (odd ?p - pile) (up ?f - flag))
  (:functions (price ?p - pile) (total-cost))
  (:action turn :parameters (?a ?b ?c ?d - pile) :precondition (and (top ?a ?b ?c) (seen ?d))
    :effect (and (top ?b ?c ?d) (increase (total-cost) 1)))
  (:action look :parameters (?p - pile) :precondition (seen ?p) :effect (increase (total-cost) (price ?p)))
  (:action raise :parameters (?f - flag) :precondition () :effect (up ?f))
  (:action hide :parameters (?p - pile) :precondition (and (seen ?p) (odd ?p)) :effect (and (not (seen ?p)))))"""


def piles(count: int, prices: str, goal: str) -> str:
    """A problem with `count` to the power of four possible actions."""
    names = [f"p{number}" for number in range(count)]
    facts = " ".join(f"(seen {name}) (= (price {name}) 1)" for name in names[1:])
    return f"""(define (problem x) (:domain piles) (:objects {" ".join(names)} - pile)
      (:init (seen p0) {prices} {facts} (top p0 p1 p2) (odd p1)) (:goal {goal}))"""


def test_what_is_proved_is_reported_of_a_task_that_is_too_large_to_explore() -> None:
    problem = piles(60, "(= (price p0) 1)", "(and (odd p0) (top p5 p6 p7))")
    assert rules(PILES, problem) == [("unreachable-goal", "(odd p0)"), ("action-never-applicable", "raise")]
    assert rules(PILES, problem.replace("(odd p0)", "(odd p1)")) == [("action-never-applicable", "raise")]
    (finding,) = checked_problem(parse_domain(PILES), piles(60, "", "(top p5 p6 p7)")).defects
    assert finding.message.startswith("(price p0) has no number in :init")


@pytest.mark.parametrize("goal", ["(top p2 p1 p0)", "(odd p1)", "(odd p0)", "(and (top p2 p2 p2) (odd p2))"])
@pytest.mark.parametrize("prices", ["", "(= (price p0) 1)"])
def test_an_exploration_that_stops_early_finds_the_same(goal: str, prices: str) -> None:
    domain, problem = parse_domain(PILES), parse_problem(piles(3, prices, goal))
    whole, short = Explorer(domain, problem), Explorer(domain, problem)
    whole.explore()
    whole.complete = True
    short.decide(problem.goal)
    assert short.possible == whole.possible
    parts = [part for part in conjuncts(problem.goal) if whole.is_out_of_reach(part)]
    assert [part for part in conjuncts(problem.goal) if short.is_out_of_reach(part)] == parts
    assert [str(one) for one in short.missing_numbers(problem)] == [str(one) for one in whole.missing_numbers(problem)]


WHY = """(define (domain why) (:requirements :typing :adl) (:types cup shelf)
  (:predicates (in ?c - cup ?s - shelf) (clean ?c - cup) (near ?s ?t - shelf) (done))
  (:action serve :parameters (?c - cup ?s - shelf) :precondition (and (in ?c ?s) {}) :effect (done)))"""


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("(near ?s ?s)", "(near ?s ?s) of serve is never true"),
        ("(clean ?c)", "(in ?c ?s) and (clean ?c) of serve are never true together"),
        ("(forall (?t - shelf) (near ?s ?t))", "(forall (?t - shelf) (near ?s ?t)) of serve is never true"),
    ],
)
def test_the_condition_that_is_never_true_is_named(condition: str, reason: str) -> None:
    problem = """(define (problem one) (:domain why) (:objects a b - cup s t - shelf)
      (:init (in a s) (clean b) (near s t)) (:goal (done)))"""
    defects = checked_problem(parse_domain(WHY.format(condition)), problem).defects
    (defect,) = (defect for defect in defects if defect.kind is DefectKind.NEVER_APPLICABLE)
    assert f"in this problem: {reason};" in defect.message


DOCKS = """(define (domain docks) (:requirements :adl :typing) (:types robot place - object shelf dock - place)
  (:predicates (at ?r - robot ?p - place) (charged ?r - robot) (plug ?d - dock))
  (:action move :parameters (?r - robot ?a ?b - place) :precondition (at ?r ?a)
    :effect (and (at ?r ?b) (not (at ?r ?a))))
  (:action recharge :parameters {} :precondition {} :effect (charged ?r)))"""
DOCKLESS = """(define (problem p) (:domain docks) (:objects r - robot d - place s - shelf) (:init (at r d))
  (:goal (and (at r s) (charged r))))"""


@pytest.mark.parametrize(
    ("parameters", "condition", "kind"),
    [
        ("(?r - robot ?d - dock)", "(at ?r ?d)", "dock"),
        ("(?r - robot ?d - (either dock robot))", "(at ?r ?d)", ""),
        ("(?r - robot ?d - place)", "(at ?r ?d)", ""),  # a shelf is one
        ("(?r - robot)", "(exists (?d - dock) (= ?d ?d))", "dock"),
        ("(?r - robot)", "(exists (?s - shelf) (and (= ?s ?s) (exists (?d - dock) (= ?d ?d))))", "dock"),
        ("(?r - robot)", "(not (exists (?d - dock) (= ?d ?d)))", ""),
        ("(?r - robot ?d - dock)", "(plug ?d)", "dock"),
    ],
)
def test_a_type_without_objects_is_named(parameters: str, condition: str, kind: str) -> None:
    domain = parse_domain(DOCKS.format(parameters, condition))
    messages = [defect.message for defect in checked_problem(domain, DOCKLESS).defects]
    named = [message for message in messages if "no object has the type" in message]
    first = f"no object has the type {kind}, so action recharge can never be applied"
    assert [message.startswith(first) and "declare one in :objects" in message for message in named] == [True] * bool(
        kind
    )
    assert not any("?d) of recharge is never true" in message for message in messages if kind)
    declared = checked_problem(domain, DOCKLESS.replace("d - place", "d - dock")).defects
    assert not any("no object has the type" in defect.message for defect in declared)


def test_both_types_of_an_either_without_objects_are_named() -> None:
    parameters = "(?r - robot ?d - (either dock bay))"
    domain = parse_domain(DOCKS.replace("shelf dock", "shelf dock bay").format(parameters, "(at ?r ?d)"))
    messages = "\n".join(defect.message for defect in checked_problem(domain, DOCKLESS).defects)
    assert "no object has the type dock or bay, so action recharge can never be applied" in messages
