"""Preferences are read, printed and checked."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pddlego.pddl import check, parse_domain, parse_problem
from pddlego.pddl.conditions import parse_condition
from pddlego.pddl.costs import penalties
from pddlego.pddl.lint import problem_warnings
from pddlego.pddl.rules import Level

DOMAIN = parse_domain(
    "(define (domain walk) (:requirements :typing) (:types loc) (:predicates (at ?l - loc) (d))"
    " (:functions (total-cost) - number)"
    " (:action mv :parameters (?a ?b - loc) :precondition (at ?a) :effect (and (not (at ?a)) (at ?b))))"
)


def problem(goal: str = "(at b)", constraints: str = "(and)", metric: str = "0") -> str:
    return (
        "(define (problem p) (:domain walk) (:requirements :preferences :constraints) (:objects a b - loc)"
        f" (:init (at a)) (:goal {goal}) (:constraints {constraints}) (:metric minimize {metric}))"
    )


@pytest.mark.parametrize(
    ("goal", "constraints", "demanded", "preferences"),
    [
        ("(preference p (at a))", "(and)", "(and)", ["(preference p (at end (at a)))"]),
        ("(and (at b) (preference (d)))", "(and)", "(at b)", ["(preference (at end (d)))"]),
        ("(and (d) (at b) (preference p (d)))", "(and)", "(and (d) (at b))", ["(preference p (at end (d)))"]),
        (
            "(forall (?l - loc) (and (at ?l) (preference p (not (at ?l)))))",
            "(and)",
            "(forall (?l - loc) (at ?l))",
            ["(forall (?l - loc) (preference p (at end (not (at ?l)))))"],
        ),
        (
            "(at b)",
            "(and (preference p (and (always (d)) (sometime (d)))) (preference q (at end (d))))",
            "(at b)",
            ["(preference q (at end (d)))", "(preference p (and (always (d)) (sometime (d))))"],
        ),
        (
            "(at b)",
            "(forall (?l - loc) (forall (?m - loc) (preference p (forall (?k - loc) (always (at ?k))))))",
            "(at b)",
            ["(forall (?l ?m - loc) (preference p (forall (?k - loc) (always (at ?k)))))"],
        ),
    ],
)
def test_preferences_are_kept_apart_and_printed_where_they_are_read(
    goal: str, constraints: str, demanded: str, preferences: list[str]
) -> None:
    text = problem(goal, constraints)
    read = parse_problem(text)
    assert (str(read.goal), [*map(str, read.preferences)]) == (demanded, preferences)
    assert parse_problem(str(read)) == read
    assert str(parse_problem(str(read))) == str(read)
    assert not check(DOMAIN, text, Level.TIME)


def test_a_preference_about_the_last_state_is_printed_in_the_goal() -> None:
    text = str(parse_problem(problem(constraints="(and (sometime (d)) (preference p (at end (d))))")))
    assert "(:goal (and (at b) (preference p (d))))" in text
    assert "(:constraints (sometime (d)))" in text


@pytest.mark.parametrize(
    ("goal", "constraints", "metric", "message"),
    [
        ("(preference p)", "(and)", "0", "a preference has a name and one part; write (preference NAME (…))"),
        ("(preference p q)", "(and)", "0", "a preference has a name and one part"),
        ("(preference p (d) (d))", "(and)", "0", "a preference has a name and one part"),
        ("(preference 1 (d))", "(and)", "0", "1 is not a name"),
        ("(preference p (dd))", "(and)", "0", "predicate dd is not declared"),
        ("(preference p (at c))", "(and)", "0", "object c is not declared"),
        ("(forall (?l - locc) (preference p (at ?l)))", "(and)", "0", "type locc does not exist; did you mean loc?"),
        ("(preference p (at ?l))", "(and)", "0", "variable ?l is not bound"),
        ("(preference p (always (d)))", "(and)", "0", "'always' is a constraint on all states, no condition"),
        ("(or (d) (preference p (d)))", "(and)", "0", "preferences are supported only in the :goal and"),
        ("(not (preference p (d)))", "(and)", "0", "write it there, alone or below 'and' and 'forall'"),
        ("(preference p (preference q (d)))", "(and)", "0", "preferences are supported only in"),
        ("(d)", "(preference p (d))", "0", "this is not a constraint; say when it holds, as in (always (d))"),
        ("(d)", "(preference p (alwys (d)))", "0", "'alwys' is not a constraint; did you mean always?"),
        ("(d)", "(always (preference p (d)))", "0", "preferences are supported only in"),
        (
            "(preference home (d))",
            "(and)",
            "(is-violated hone)",
            "no preference has the name hone; did you mean home?",
        ),
        ("(d)", "(and)", "(is-violated x)", "no preference has the name x; write (preference x (…))"),
        (
            "(preference (d))",
            "(and)",
            "(is-violated)",
            "(is-violated) needs the name of one preference; write (is-violated NAME)",
        ),
        ("(preference p (d))", "(and)", "(* (is-violated p) (is-violated p))", "not linear is not supported"),
        ("(preference p (d))", "(and)", "(/ 2 (is-violated p))", "with numbers as factors"),
        ("(preference p (d))", "(and)", "(is-violated p q)", "(is-violated p q) needs the name of one preference"),
        ("(preference zühause (d))", "(and)", "0", "zühause is not a name; write letters from a to z"),
        ("(>= (is-violated p) 1)", "(and)", "0", "violations outside of the metric (is-violated) are not supported"),
    ],
)
def test_what_is_wrong_is_said_with_the_right_form(goal: str, constraints: str, metric: str, message: str) -> None:
    text = problem(goal, constraints, metric)
    found = [defect for defect in check(DOMAIN, text, Level.TIME) if defect.blocking]
    assert any(message in defect.message and defect.place for defect in found), found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (":precondition (at ?a)", ":precondition (and (at ?a) (preference p (d)))"),
        (":effect (and", ":effect (and (preference p (d))"),
        ("(:action", "(:constraints (preference p (always (d)))) (:action"),
    ],
)
def test_a_preference_elsewhere_is_refused_by_name(old: str, new: str) -> None:
    from pddlego.pddl.check import check_domain

    found = check_domain(parse_domain(str(DOMAIN).replace(old, new)), Level.TIME)
    assert any("preferences are" in defect.message and defect.blocking for defect in found), found


def test_where_plans_have_no_preferences_they_are_not_supported() -> None:
    (found,) = check(DOMAIN, problem("(preference p (d))"))
    assert found.message.startswith("preferences are not supported here; only check, solve, validate and simulate")


def test_requirements_of_preferences_are_listed() -> None:
    text = problem("(preference p (d))", "(preference q (always (d)))").replace(":preferences :constraints", ":strips")
    found = {defect.subject for defect in problem_warnings(DOMAIN, parse_problem(text), Level.TIME)}
    assert {":preferences", ":constraints"} <= found


@pytest.mark.parametrize(
    ("direction", "term", "costs"),
    [
        ("minimize", "(is-violated p)", {"p": 1}),
        ("minimize", "(+ 3 (* 2 (is-violated p) 1.5) (- (is-violated q)) (is-violated p))", {"p": 4, "q": -1}),
        ("maximize", "(- 10 (* 2 (is-violated p)) (+ (is-violated q)))", {"p": 2, "q": 1}),
        ("maximize", "(- (* 3 (is-violated p)))", {"p": 3}),
        ("minimize", "(* 2 (+ (total-cost) (* (is-violated p) (- 1 0.5))))", {"p": 1}),
        ("minimize", "(total-cost)", {}),
    ],
)
def test_the_metric_says_what_violations_cost(direction: str, term: str, costs: dict[str, int]) -> None:
    text = problem("(and (preference p (d)) (preference q (d)))", metric=term).replace("minimize", direction)
    assert penalties(parse_problem(text)) == {name: Fraction(cost) for name, cost in costs.items()}
    assert parse_condition("(preference p (d))") != parse_condition("(preference q (d))")


def test_misplaced_preferences_have_names() -> None:
    (fault,) = (one for one in check(DOMAIN, problem("(not (preference p (d)))", metric="(is-violated p)"), Level.TIME))
    assert "preferences are supported only in" in fault.message


def test_a_metric_may_divide_a_violation_by_a_number() -> None:
    text = problem("(preference p (d))", metric="(+ (/ (is-violated p) 4) 1)")
    assert not check(DOMAIN, text, Level.TIME)
    assert penalties(parse_problem(text)) == {"p": Fraction(1, 4)}
