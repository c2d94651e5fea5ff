"""Texts of few characters that stand for billions of cases are answered, and the answer names what is too large."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from pddlego import tools
from pddlego.errors import PddlegoError, TooManyCasesError
from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning.checked import checked_problem
from pddlego.planning.compare import ComparisonVerdict, Structure, are_isomorphic, compare_problems
from pddlego.planning.state import State
from pddlego.planning.world import World
from pddlego.util.limits import Work
from tests.scale import PATIENCE

VARIABLES = "?a ?b ?c ?d ?e ?f"
CHAIN = "(and (p ?a ?b) (p ?b ?c) (p ?c ?d) (p ?d ?e) (p ?e ?f) (w))"
NESTED = "(forall (?a) (forall (?b) (forall (?c) (forall (?d) (forall (?e) (forall (?f) (or (p ?a ?b) (t))))))))"


def domain(precondition: str = "()", effect: str = "(w)", derived: str = "", parameters: str = "?u") -> str:
    return f"""(define (domain d) (:requirements :adl :derived-predicates) (:predicates (p ?x ?y) (w) (r) (s) (t))
      {derived} (:action x :parameters ({parameters}) :precondition {precondition} :effect {effect}))"""


def problem(goal: str = "(w)", objects: int = 40) -> str:
    names = " ".join(f"o{number}" for number in range(objects))
    return f"(define (problem q) (:domain d) (:objects {names}) (:init (p o1 o2) (t)) (:goal {goal}))"


DERIVED = domain(derived=f"(:derived (r) (exists ({VARIABLES}) {CHAIN}))")
DOUBLING = domain(
    derived="".join(f"(:derived (s{n}) (and (or (s{n + 1}) (s{n + 1})) (or (s{n + 1}) (s{n + 1}))))" for n in range(40))
).replace("(t))", "(t) " + " ".join(f"(s{n})" for n in range(41)) + ")", 1)
CASES = {
    "a derived predicate": (DERIVED, problem("(r)"), "derived predicate r"),
    "a derived predicate over another": (
        domain(derived=f"(:derived (s) (r)) (:derived (r) (exists ({VARIABLES}) {CHAIN}))"),
        problem("(s)"),
        "derived predicate r",
    ),
    "the goal": (domain(), problem(f"(exists ({VARIABLES}) {CHAIN})"), "the goal"),
    "a negated goal": (domain(), problem(f"(not (forall ({VARIABLES}) (not {CHAIN})))"), "the goal"),
    "derived predicates without a variable": (DOUBLING, problem("(s0)"), "derived predicate"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_goal_with_too_many_cases_is_a_warning_that_names_what_is_too_large(name: str) -> None:
    rules, task, part = CASES[name]
    result = checked_problem(parse_domain(rules), task)
    (found,) = [defect for defect in result.defects if defect.kind.id == "too-large"]
    assert found.message.startswith(part), found.message
    assert result.problem is not None
    with pytest.raises(PddlegoError, match="cannot be judged") as caught:
        tools.validate(rules, task, "")
    assert part in caught.value.reason


STEPS = {
    "a precondition": (domain(precondition=NESTED), "(x o1) has"),
    "a derived predicate in a precondition": (
        domain(precondition="(r)", derived=f"(:derived (r) (exists ({VARIABLES}) {CHAIN}))"),
        "derived predicate r",
    ),
    "an effect for all": (domain(effect=f"(forall ({VARIABLES}) (p ?a ?f))"), "(x o1) has"),
    "the condition of an effect": (domain(effect=f"(when {NESTED} (w))"), "(x o1) has"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_a_step_with_too_many_cases_is_a_fault_of_the_plan(name: str) -> None:
    rules, part = STEPS[name]
    with pytest.raises(PddlegoError, match="cannot be judged") as caught:
        tools.validate(rules, problem(objects=60), "(x o1)")
    assert caught.value.reason.startswith("step 1: ") and part in caught.value.reason
    checked = tools.check(rules, problem(objects=60), "(x o1)")
    assert [finding.rule for finding in checked.findings if finding.severity == "error"] == ["too-large"]


OTHERS = {
    "derived": (DERIVED, "(r)"),
    "forall": (domain(precondition=NESTED), "(w)"),
    "free parameters": (domain(parameters=VARIABLES), "(w)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_other_tools_end_too(name: str) -> None:
    rules, goal = OTHERS[name]
    task = problem(goal, objects=60)
    with pytest.raises(TooManyCasesError):
        tools.simulate(rules, task, "")
    assert tools.compare(rules, task, problem(f"(and {goal} (s))", objects=60)).verdict is ComparisonVerdict.UNDECIDED
    assert tools.repair(task, rules).ok


@pytest.mark.slow
def test_a_long_plan_is_judged_whose_steps_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted belongs to a step: a plan may have any number of them."""
    monkeypatch.setattr("pddlego.planning.world.SECONDS", PATIENCE)
    rules = domain(precondition="(forall (?a) (or (p ?a ?a) (t)))")
    plan = "(x o1)\n" * 6_000
    assert tools.validate(rules, problem(objects=100), plan).cost == 6_000


def test_repeated_work_is_counted_together() -> None:
    world = World(parse_domain(domain()), parse_problem(problem()), Work(100))
    with pytest.raises(TooManyCasesError):
        for _ in range(101):
            world.holds(parse_problem(problem()).goal, State(), {})


def test_a_comparison_ends_when_its_time_is_up() -> None:
    rules = domain(parameters="?a ?b ?c ?d ?e", effect="(and (p ?a ?b) (p ?c ?d) (p ?d ?e))")
    left, right = (parse_problem(problem(goal, 2_000)) for goal in ("(and (p o3 o4) (p o5 o6))", "(p o5 o5)"))
    result = compare_problems(parse_domain(rules), left, right, seconds=0.2)
    assert result.verdict is not ComparisonVerdict.SAME


def test_an_isomorphism_is_looked_for_within_bounds() -> None:
    structure = Structure({str(number): "" for number in range(200)}, [])
    assert are_isomorphic(structure, structure) is True
    with pytest.raises(TooManyCasesError):
        are_isomorphic(structure, structure, Work(1_000))


def test_a_chain_of_many_types_is_refused_for_its_length() -> None:
    names = " ".join(f"t{number} - t{number + 1}" for number in range(20_000))
    rules = f"(define (domain d) (:types {names}) (:predicates (p ?x - t0)) (:action x :parameters () :effect (p a)))"
    result = tools.check(rules, "(define (problem q) (:domain d) (:objects a - t0) (:init) (:goal (p a)))")
    assert [finding.rule for finding in result.findings if finding.file == "domain"] == ["too-large"]


def chain(actions: int) -> tuple[str, str]:
    heads = " ".join(f"(at{number})" for number in range(actions + 1))
    body = " ".join(
        f"(:action go{n} :parameters () :precondition (at{n}) :effect (and (not (at{n})) (at{n + 1})))"
        for n in range(actions)
    )
    return f"(define (domain d) (:predicates {heads}) {body})", (
        f"(define (problem q) (:domain d) (:init (at0)) (:goal (at{actions})))"
    )


def derived_chain(rules: int) -> tuple[str, str]:
    heads = " ".join(f"(at{number})" for number in range(rules + 1))
    body = " ".join(f"(:derived (at{n}) (not (at{n + 1})))" for n in range(rules))
    return f"(define (domain d) (:predicates (p) {heads}) {body} (:action x :parameters () :effect (p)))", (
        "(define (problem q) (:domain d) (:init) (:goal (p)))"
    )


def unused(objects: int) -> tuple[str, str]:
    body = " ".join(f"(:action go{n} :parameters (?x) :precondition (q{n} ?x) :effect (p ?x))" for n in range(objects))
    heads = " ".join(f"(q{n} ?x)" for n in range(objects))
    names = " ".join(f"o{n}" for n in range(objects))
    return f"(define (domain d) (:predicates (p ?x) {heads}) {body})", (
        f"(define (problem q) (:domain d) (:objects {names}) (:init) (:goal (p o1)))"
    )


def _steps(call: Callable[[], object]) -> int:
    """The calls and returns of functions, which do not depend on the speed of the machine."""
    counted = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += 1

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.parametrize("make", [chain, derived_chain, unused])
def test_a_check_takes_steps_in_proportion_to_its_text(make: Callable[[int], tuple[str, str]]) -> None:
    assert _steps(lambda: tools.check(*make(600))) < 2.2 * _steps(lambda: tools.check(*make(300)))


def _many(template: str, number: int) -> str:
    return " ".join(template.replace("#", str(index)) for index in range(number))


SHAPES: dict[str, Callable[[int], str]] = {
    "goals": lambda n: f"(define (problem p) (:domain d) (:init) {_many('(:goal (p#))', n)})",
    "objects of two types": lambda n: (
        f"(define (problem p) (:domain d) (:objects {_many('o# - a o# - b', n)}) (:init))"
    ),
    "objects without a type": lambda n: f"(define (problem p) (:domain d) (:objects o - a {_many('o#', n)}) (:init))",
    "sections twice": lambda n: f"(define (domain d) {_many('(:types a#) (:predicates (p#))', n)})",
    "actions twice": lambda n: f"(define (domain d) (:predicates (p)) {'(:action a :effect (p)) ' * n})",
    "unclear objects": lambda n: f"(define (problem p) (:domain d) (:objects {_many('(o# a)', n)} b - a) (:init))",
    "types of themselves": lambda n: f"(define (domain d) (:types {_many('t# - t#', n)}))",
    "words behind a section": lambda n: f"(define (domain d) :predicates {_many('(p#)', n)})",
    "fields twice": lambda n: f"(define (domain d) (:predicates (p)) (:action a {':effect (p) ' * n}))",
    "unknown sections": lambda n: f"(define (domain d) {'(:foo) ' * n})",
    "parentheses": lambda n: f"(define (problem {'() ' * n}",
    "braces in comments": lambda n: "//{\n" * n,
    "comments of other languages": lambda n: "(define (domain d) " + "-- a\n" * n + ")",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_a_repair_takes_steps_in_proportion_to_its_text(name: str) -> None:
    assert _steps(lambda: tools.repair(SHAPES[name](400))) < 2.3 * _steps(lambda: tools.repair(SHAPES[name](200)))
