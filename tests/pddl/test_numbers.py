"""Numeric conditions, effects, goals and metrics: what is read, printed and checked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego import tools
from pddlego.pddl import DefectKind, parse_condition, parse_domain, parse_problem
from pddlego.pddl.check import check, check_domain
from pddlego.pddl.conditions import ARITHMETIC, Change, Compare, Term, conjuncts, read_effect
from pddlego.pddl.costs import needs_numbers
from pddlego.pddl.numbers import fluents_in
from pddlego.pddl.rules import Level
from pddlego.pddl.sexpr import read_sexprs
from tests.growth import is_linear

DOMAIN = """(define (domain trucks)
  (:requirements :strips :typing :numeric-fluents)
  (:types place truck)
  (:predicates (at ?t - truck ?p - place) (road ?a ?b - place))
  (:functions (fuel ?t - truck) (dist ?a ?b - place) (used))
  (:action drive :parameters (?t - truck ?a ?b - place)
    :precondition (and (at ?t ?a) (road ?a ?b) (>= (fuel ?t) (dist ?a ?b)))
    :effect (and (not (at ?t ?a)) (at ?t ?b) (decrease (fuel ?t) (dist ?a ?b)) (increase (used) (dist ?a ?b)))))"""

PROBLEM = """(define (problem one) (:domain trucks)
  (:objects t1 - truck p1 p2 p3 - place)
  (:init (at t1 p1) (road p1 p2) (road p2 p3) (= (fuel t1) 8) (= (dist p1 p2) 5) (= (dist p2 p3) 2.5) (= (used) 0))
  (:goal (and (at t1 p3) (>= (fuel t1) 0.5)))
  (:metric minimize (+ (* 2 (used)) 1)))"""


def test_a_sound_numeric_task_has_no_findings() -> None:
    assert tools.check(DOMAIN, PROBLEM).findings == ()


def test_what_is_printed_is_read_again() -> None:
    domain, problem = parse_domain(DOMAIN), parse_problem(PROBLEM)
    assert parse_domain(str(domain)) == domain
    assert parse_problem(str(problem)) == problem


def test_conditions_and_effects_have_their_positions() -> None:
    action = parse_domain(DOMAIN).actions[0]
    parts = conjuncts(action.precondition)[-1], conjuncts(action.effect)[-1]
    assert [(part.place, str(part)) for part in parts] == [
        ((7, 48), "(>= (fuel ?t) (dist ?a ?b))"),
        ((8, 80), "(increase (used) (dist ?a ?b))"),
    ]


operands = st.recursive(
    st.builds(Term, st.sampled_from(["0", "2.5", "-1", ".5"]))
    | st.builds(Term, st.just("fuel"), st.just((Term("?t"),)))
    | st.builds(Term, st.just("used"), st.just(())),
    lambda inner: st.builds(Term, st.sampled_from([*ARITHMETIC]), st.lists(inner, min_size=2, max_size=2).map(tuple)),
    max_leaves=6,
)


@given(operands, operands, st.sampled_from(["=", "<", ">", "<=", ">="]))
def test_a_comparison_is_read_as_it_is_written(left: Term, right: Term, operator: str) -> None:
    condition = Compare(operator, left, right)
    assert parse_condition(str(condition)) == condition
    assert {fluent.head for fluent in fluents_in(left)} <= {"fuel", "used"}


@pytest.mark.parametrize("operator", ["increase", "decrease", "assign", "scale-up", "scale-down"])
def test_a_function_without_arguments_may_lack_parentheses(operator: str) -> None:
    (part,) = read_sexprs(f"({operator} used (+ used 1))").expressions
    used = Term("used", ())
    assert read_effect(part) == Change(operator, used, Term("+", (used, Term("1"))))
    assert parse_condition("(>= used 3)") == parse_condition("(>= (used) 3)")
    assert parse_condition("(= used 3)") == parse_condition("(= (used) 3)")


WRONG = {
    ("(>= (fuel ?t) (dist ?a ?b))", "(>= (fule ?t) 1)"): "function fule is not declared; did you mean fuel?",
    ("(>= (fuel ?t) (dist ?a ?b))", "(>= (fuel ?t) (dist ?a))"): "dist takes 2 argument(s)",
    ("(>= (fuel ?t) (dist ?a ?b))", "(>= (fuel ?a) 1)"): "?a is a place, and fuel takes a truck",
    ("(>= (fuel ?t) (dist ?a ?b))", "(>= (fuel ?x) 1)"): "variable ?x is not a parameter",
    ("(>= (fuel ?t) (dist ?a ?b))", "(>= (fuel ?t) 1e400)"): "1e400 is not a number",
    ("(>= (fuel ?t) (dist ?a ?b))", "(>= ?t 1)"): "?t is not a number",
    ("(>= (fuel ?t) (dist ?a ?b))", "(>= (+ (fuel ?t)) 1)"): "'+' takes two numbers or more",
    ("(>= (fuel ?t) (dist ?a ?b))", "(>= (/ 1 2 (fuel ?t)) 1)"): "'/' takes two numbers",
    ("(>= (fuel ?t) (dist ?a ?b))", "(>= (fuel (fuel ?t)) 1)"): "functions of functions are not supported",
    ("(increase (used) (dist ?a ?b))", "(increase (used) (* #t 2))"): "continuous effects (#t) are not supported",
    ("(increase (used) (dist ?a ?b))", "(increase (used) 1) (assign (used) 2)"): "(increase (used) 1) changes (used)",
    (
        "(increase (used) (dist ?a ?b))",
        "(forall (?x - truck) (and (assign (fuel ?x) 2) (scale-up (fuel ?x) 2)))",
    ): "changes (fuel ?x)",
}


@pytest.mark.parametrize(("old", "new"), WRONG)
def test_errors_in_actions_are_named(old: str, new: str) -> None:
    assert old in DOMAIN
    defects = check_domain(parse_domain(DOMAIN.replace(old, new)), level=Level.NUMBERS)
    assert any(WRONG[old, new] in defect.message and defect.blocking and defect.place for defect in defects), defects


def test_a_conflict_under_a_condition_is_a_fault_of_the_plan_alone() -> None:
    more = DOMAIN.replace("(increase (used) (dist ?a ?b))", "(assign (used) 1) (when (at ?t ?b) (assign (used) 2))")
    assert not check_domain(parse_domain(more), Level.NUMBERS)


def test_increases_may_happen_together() -> None:
    more = DOMAIN.replace("(increase (used) (dist ?a ?b))", "(increase (used) 1) (decrease (used) 2)")
    assert not check_domain(parse_domain(more), level=Level.NUMBERS)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("(= (fuel t1) 8)", "(= (fuel t1) 8) (= (fuel t1) 9)", "(fuel t1) is also 8"),
        ("(= (fuel t1) 8)", "(= (fuel p1) 8)", "p1 is a place, but fuel takes a truck there"),
        ("(= (fuel t1) 8)", "(= (fuel t1) (used))", "used is not a number"),
        ("(>= (fuel t1) 0.5)", "(>= (fuel t2) 0.5)", "object t2 is not declared"),
        ("(+ (* 2 (used)) 1)", "(is-violated one)", "no preference has the name one"),
    ],
)
def test_errors_in_problems_are_named(old: str, new: str, says: str) -> None:
    defects = check(parse_domain(DOMAIN), PROBLEM.replace(old, new), level=Level.NUMBERS)
    assert any(says in defect.message and defect.blocking for defect in defects), defects


def test_callers_without_numbers_refuse_them_by_name() -> None:
    domain = parse_domain(DOMAIN)
    assert {defect.kind for defect in check_domain(domain)} == {DefectKind.NOT_SUPPORTED}
    assert "conditions on numbers are not supported" in check(domain, PROBLEM)[0].message


@pytest.mark.parametrize(
    ("old", "new", "numeric"),
    [
        ("(:metric minimize (+ (* 2 (used)) 1))", "", True),
        ("(and (at t1 p3) (>= (fuel t1) 0.5))", "(at t1 p3)", True),
        ("", "", True),
    ],
)
def test_a_task_is_numeric_through_any_part(old: str, new: str, numeric: bool) -> None:
    assert (needs_numbers(parse_domain(DOMAIN), parse_problem(PROBLEM.replace(old, new))) is not None) is numeric


COSTS = """(define (domain d) (:requirements :strips REQUIREMENT) (:predicates (p)) (:functions (total-cost) (x))
  (:action a :parameters () :precondition (and) :effect (and (p) EFFECT)))"""


@pytest.mark.parametrize(
    ("effect", "numeric"),
    [
        ("(increase (total-cost) 1)", False),
        ("(increase (total-cost) (x))", False),
        ("(increase (total-cost) x)", False),
        ("(increase (total-cost) -1)", True),
        ("(increase (total-cost) (+ 1 (x)))", True),
        ("(decrease (total-cost) 1)", True),
        ("(when (p) (increase (total-cost) 1))", True),
        ("(increase (x) 1)", True),
    ],
)
def test_action_costs_are_classical(effect: str, numeric: bool) -> None:
    text = COSTS.replace("EFFECT", effect)
    assert (parse_domain(text).numeric_part is not None) is numeric
    fluents = tools.check(text.replace("REQUIREMENT", ":fluents"))
    rules = {finding.rule: finding.severity for finding in fluents.findings}
    assert fluents.ok
    assert (rules.get("unused-requirement") == "warning") is not numeric, "some planners refuse it then"


def test_the_requirement_may_belong_to_the_problem() -> None:
    domain = COSTS.replace("REQUIREMENT", ":numeric-fluents").replace("EFFECT", "")
    problem = "(define (problem q) (:domain d) (:init (= (x) 1)) (:goal (p)) (:metric minimize (x)))"
    assert tools.check(domain, problem).ok
    unused = tools.check(domain, problem.replace("(:metric minimize (x))", ""))
    assert unused.ok and [finding.rule for finding in unused.findings] == ["unused-requirement"]


@pytest.mark.parametrize(
    "word",
    [":numeric-fluents", ":fluents", ":durative-actions", ":duration-inequalities", ":timed-initial-literals"],
)
def test_a_requirement_that_nothing_uses_is_a_warning(word: str) -> None:
    """Fast Downward's translator refuses it, so a file without errors is repaired, too."""
    domain = "(define (domain d) (:requirements {}) (:predicates (p)) (:action a :parameters () :effect (p)))"
    problem = "(define (problem q) (:domain d) (:requirements {}) (:init) (:goal (p)))"
    texts = domain.format(word), problem.format(word)
    result = tools.check(*texts)
    assert result.ok
    assert [(finding.rule, finding.severity) for finding in result.findings] == [("unused-requirement", "warning")] * 2
    assert all(f"requirement {word} is not used" in finding.message for finding in result.findings)
    assert [word in repaired.text for repaired in tools.repair_files(*texts)] == [False, False]
    assert tools.solve(*texts).plan == ("(a)",)


@pytest.mark.parametrize("number", ["9" * 10_000, "-" + "9" * 10_000, "0." + "0" * 10_000 + "1", "1e400", "1e-400"])
def test_numbers_out_of_range_are_findings(number: str) -> None:
    for text in (
        (DOMAIN.replace("(dist ?a ?b)))", f"{number}))", 1), PROBLEM),
        (DOMAIN, PROBLEM.replace("0.5", number)),
    ):
        result = tools.check(*text)
        assert not result.ok
        assert all(len(finding.message) < 1_000 for finding in result.findings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "repeated"),
    [("(>= (fuel ?t)", "(>= (f{} ?t)", "uel"), ("(fuel ?t) (dist", "(+ 1 {}) (dist", " (fuel ?t)")],
    ids=["name", "operands"],
)
def test_text_of_numbers_is_read_in_linear_time(old: str, new: str, repeated: str) -> None:
    small, large = (DOMAIN.replace(old, new.format(repeated * size)) for size in (2_000, 20_000))
    assert is_linear(lambda: tools.check(small, PROBLEM), lambda: tools.check(large, PROBLEM), 10)


def test_deep_expressions_are_a_finding() -> None:
    deep = DOMAIN.replace("(fuel ?t) (dist", "(- " * 300 + "(fuel ?t)" + ")" * 300 + " (dist")
    assert "nested more than" in tools.check(deep).findings[0].message


def test_a_cost_without_parentheses_is_legal_and_a_warning_because_planners_refuse_it() -> None:
    cost = COSTS.replace("REQUIREMENT", ":action-costs").replace("EFFECT", "(increase total-cost 1)")
    (finding,) = tools.check(cost).findings
    assert (finding.severity, finding.advice) == ("warning", "Write (total-cost)")
    assert not tools.check(cost.replace("increase total-cost", "increase (total-cost)")).findings


@pytest.mark.parametrize("word", ["1e400", "1e5", "-2.5e-3", "+3", "1/2", "0x10", "9" * 10_000])
@pytest.mark.parametrize("place", ["init", "goal", "metric", "precondition", "effect", "duration"])
def test_a_word_that_is_not_a_number_is_one_error(word: str, place: str) -> None:
    words = dict.fromkeys(("init", "goal", "metric", "precondition", "effect", "duration"), "1") | {place: word}
    domain = """(define (domain d) (:requirements :numeric-fluents :durative-actions) (:predicates (p)) (:functions (f))
      (:action a :parameters () :precondition (>= (f) {precondition}) :effect (and (p) (increase (f) {effect})))
      (:durative-action b :parameters () :duration (= ?duration {duration}) :effect (at end (p))))"""
    problem = """(define (problem one) (:domain d) (:init (= (f) {init}))
      (:goal (and (p) (>= (f) {goal}))) (:metric minimize (* (f) {metric})))"""
    (finding,) = tools.check(domain.format(**words), problem.format(**words)).findings
    plain = {"1e5": "100000", "-2.5e-3": "-0.0025", "+3": "3"}.get(word, "")
    assert finding.severity == "error"
    assert ("is not a number" in finding.message) == (len(word) < 100)
    assert finding.advice.startswith(f"Write {plain}")


FORMS = {
    "precondition": {
        "(fuel ?t >= 3)": "(>= (fuel ?t) 3)",
        "((fuel ?t) >= 3)": "(>= (fuel ?t) 3)",
        "(used >= 3)": "(>= (used) 3)",
        "(=> (used) 3)": "(>= (used) 3)",
        "(=< (used) 3)": "(<= (used) 3)",
        "(== (used) 3)": "(= (used) 3)",
        "(gt (used) 3)": "(> (used) 3)",
        "(at-least (used) (fuel ?t))": "(>= (used) (fuel ?t))",
    },
    "effect": {
        "(set (used) 3)": "(assign (used) 3)",
        "(:= (used) 3)": "(assign (used) 3)",
        "(= (used) 3)": "(assign (used) 3)",
        "(+= (used) 1)": "(increase (used) 1)",
        "(-= (fuel ?t) (used))": "(decrease (fuel ?t) (used))",
        "(*= (used) 2)": "(scale-up (used) 2)",
        "(/= (used) 2)": "(scale-down (used) 2)",
        "((fuel ?t) += 1)": "(increase (fuel ?t) 1)",
        "(used -= 1)": "(decrease (used) 1)",
        "(increment (used))": "(increase (used) 1)",
        "(dec (used) 2)": "(decrease (used) 2)",
        "(increase (used) by 2)": "(increase (used) 2)",
        "(incerase (used) 2)": "(increase (used) 2)",
        "(forall (?u - truck) (when (fuel ?u >= 1) (-= (fuel ?u) 1)))": "",
    },
    "condition": {
        "(overall (p ?t))": "(over all (p ?t))",
        "(over-all (p ?t))": "(over all (p ?t))",
        "(at-start (p ?t))": "(at start (p ?t))",
        "(at begin (p ?t))": "(at start (p ?t))",
        "(at all (p ?t))": "(over all (p ?t))",
        "(at start (p ?t) (p ?t))": "(at start (and (p ?t) (p ?t)))",
    },
    "outcome": {"(at-end (p ?t))": "(at end (p ?t))", "(at finish (used += 1))": ""},
    "metric": {
        "(:metric minimise (used))": "(:metric minimize (used))",
        "(:metric max (used))": "(:metric maximize (used))",
    },
}

FORMED = """(define (domain d) (:requirements :typing :numeric-fluents :durative-actions) (:types truck)
  (:predicates (p ?t - truck)) (:functions (fuel ?t - truck) (used))
  (:action a :parameters (?t - truck) :precondition {precondition} :effect (and (p ?t) {effect}))
  (:durative-action b :parameters (?t - truck) :duration (= ?duration 3) :condition {condition} :effect {outcome}))"""

FORMED_TASK = """(define (problem x) (:domain d) (:objects t1 - truck)
  (:init (= (fuel t1) 4) (= (used) 1)) (:goal (and (p t1))) {metric})"""


@pytest.mark.parametrize(("place", "form"), [(place, form) for place, forms in FORMS.items() for form in forms])
def test_forms_of_other_languages_are_named_and_repaired(place: str, form: str) -> None:
    sound = {"precondition": "(p ?t)", "effect": "(p ?t)", "condition": "(at start (p ?t))"}
    sound |= {"outcome": "(at end (p ?t))", "metric": "(:metric minimize (used))"}
    domain, problem = FORMED.format(**sound | {place: form}), FORMED_TASK.format(**sound | {place: form})
    (finding, *_) = tools.check(domain, problem).findings
    assert finding.severity == "error"
    assert FORMS[place][form] in finding.advice
    repaired = tools.repair_files(domain, problem)
    assert all(result.ok for result in repaired), repaired
    meant = sound | {place: FORMS[place][form]}
    if meant[place]:
        assert parse_domain(repaired[0].text) == parse_domain(FORMED.format(**meant))
        assert parse_problem(repaired[1].text) == parse_problem(FORMED_TASK.format(**meant))
    assert any("is written" in repair for result in repaired for repair in result.repairs)


@pytest.mark.parametrize("form", ["(set (p ?t))", "(set (height ?t) 3)", "(+= (p ?t) 1)", "(add (p ?t))"])
def test_changes_of_what_is_no_function_are_not_written_as_numbers(form: str) -> None:
    sound = {"precondition": "(p ?t)", "condition": "(at start (p ?t))", "outcome": "(at end (p ?t))", "metric": ""}
    domain, _ = tools.repair_files(FORMED.format(**sound, effect=form), FORMED_TASK.format(**sound))
    assert not any("is written" in repair for repair in domain.repairs)


@pytest.mark.parametrize(
    ("metric", "message", "advice"),
    [
        ("(:metric minimize)", "is not a metric", "Write (:metric minimize (total-cost))"),
        ("(:metric (used))", "is not a metric", "Write (:metric minimize (used))"),
        ("(:metric reduce (used))", "is not a metric", "Write (:metric minimize (used))"),
        ("(:metirc minimize (used))", "section :metirc is not supported", "Did you mean :metric?"),
        ("(:metric minimize (usde))", "function usde is not declared", "Did you mean used?"),
        ("(:metric minimize (total_time))", "function total_time is not declared", "Did you mean total-time?"),
    ],
)
def test_a_wrong_metric_is_one_error_that_says_the_right_form(metric: str, message: str, advice: str) -> None:
    domain = "(define (domain d) (:requirements :numeric-fluents) (:predicates (p)) (:functions (used)) (:action a"
    domain += " :parameters () :precondition (>= (used) 1) :effect (and (p) (increase (used) 1))))"
    problem = f"(define (problem x) (:domain d) (:init (= (used) 1)) (:goal (p)) {metric})"
    (finding,) = tools.check(domain, problem).findings
    assert (finding.severity, message in finding.message) == ("error", True)
    assert advice in finding.advice


def test_the_makespan_of_a_task_without_time_is_a_warning() -> None:
    problem = "(define (problem x) (:domain d) (:init) (:goal (p)) (:metric minimize (total-time)))"
    domain = "(define (domain d) (:requirements :strips) (:predicates (p)) (:action a :parameters () :effect (p)))"
    (finding,) = tools.check(domain, problem).findings
    assert (finding.rule, finding.severity) == ("untimed-metric", "warning")
    assert "the task has no time" in finding.message
