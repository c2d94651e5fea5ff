"""Constraints on the states of a plan are read, printed and checked."""

from __future__ import annotations

import pytest

from pddlego.pddl import check, parse_domain, parse_problem
from pddlego.pddl.conditions import CONSTRAINTS
from pddlego.pddl.constraints import constraint_form
from pddlego.pddl.rules import Level

DOMAIN = parse_domain(
    "(define (domain walk) (:requirements :typing :constraints) (:types loc) (:predicates (at ?l - loc) (d))"
    " (:action mv :parameters (?a ?b - loc) :precondition (at ?a) :effect (and (not (at ?a)) (at ?b))))"
)


def problem(constraints: str) -> str:
    return (
        "(define (problem p) (:domain walk) (:objects a b - loc) (:init (at a)) (:goal (at b))"
        f" (:constraints {constraints}) (:metric minimize (total-time)))"
    )


RIGHT = [
    *(
        constraint_form(name).replace("TIME", "2.5", 1).replace("TIME", "4").replace("…", "at a")
        for name in CONSTRAINTS
    ),
    "(and)",
    "(and (always (at a)) (forall (?l - loc) (at-most-once (at ?l))))",
    "(forall (?l ?m - loc) (and (sometime-after (at ?l) (or (at ?m) (not (d)))) (at end (imply (at ?l) (d)))))",
]


@pytest.mark.parametrize("constraints", RIGHT)
def test_constraints_are_read_as_printed_and_have_no_defect(constraints: str) -> None:
    text = problem(constraints)
    read = parse_problem(text)
    assert str(read.constraints) == constraints
    assert parse_problem(str(read)) == read
    assert not [defect for defect in check(DOMAIN, text, Level.TIME) if defect.blocking]
    domain = parse_domain(str(DOMAIN)[:-1] + f"(:constraints {constraints.replace(' a)', ' ?l)')}))")
    assert parse_domain(str(domain)) == domain


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ("(alwys (at a))", "'alwys' is not a constraint; did you mean always?"),
        ("(at a)", "this is not a constraint; say when it holds, as in (always (at a)) or (sometime (at a))"),
        ("(always (sometime (at a)))", "constraints cannot be nested, and (sometime (at a)) is one"),
        ("(not (always (at a)))", "'not' is not allowed around constraints; write 'not' inside a constraint"),
        ("(within -1 (at a))", "-1 is not a time; write a number from 0, as in (within TIME (…))"),
        ("(within (at a) 1)", "(at a) is not a time"),
        ("(hold-during 3 3 (at a))", "'hold-during' ends at 3, before it begins"),
        ("(or (preference kept (always (at a))))", "'or' is not allowed around constraints"),
        ("(within (at a))", "'within' has 1 part(s); write (within TIME (…))"),
        ("(sometime-before (at a))", "'sometime-before' has 1 part(s); write (sometime-before (…) (…))"),
        ("(always (att a))", "predicate att is not declared; did you mean at?"),
        ("(always (at c))", "object c is not declared"),
        ("(forall (?l - locc) (always (at ?l)))", "type locc does not exist; did you mean loc?"),
        ("(always (at ?l))", "variable ?l is not bound"),
        ("always", "the constraints must be one list"),
        ("(always (at a)) (always (at b))", "put all of them into one (and …)"),
    ],
)
def test_what_is_wrong_is_said_with_the_right_form(constraints: str, message: str) -> None:
    found = [defect.message for defect in check(DOMAIN, problem(constraints), Level.TIME) if defect.blocking]
    assert any(message in one for one in found), found


def test_a_constraint_among_conditions_is_put_in_its_section() -> None:
    text = problem("(and)").replace("(:goal (at b))", "(:goal (always (at b)))")
    (found,) = (defect.message for defect in check(DOMAIN, text, Level.TIME) if defect.blocking)
    assert "'always' is a constraint on all states, no condition; write it in (:constraints …)" in found


def test_where_plans_have_no_time_constraints_are_not_supported() -> None:
    (found,) = (defect.message for defect in check(DOMAIN, problem("(always (at a))")) if defect.blocking)
    assert found.startswith("constraints are not supported here")
