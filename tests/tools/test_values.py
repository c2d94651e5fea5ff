"""Domains and problems made in Python: the functions treat them as they treat the text that is printed."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pddlego
from pddlego.errors import UsageError
from pddlego.pddl import Action, And, Atom, Domain, Exists, Forall, Formula, Not, Predicate, Problem, TypedName
from tests.lamps import DOMAIN, PLAN, PROBLEM

LAMP = TypedName("?l", "lamp")
ON = Atom("on", ("?l",))


def lamps(on: str = "on", precondition: Formula | None = None) -> Domain:
    """A domain without text, in which lamps are switched on."""
    light = Action("light", (LAMP,), precondition or Not(ON), ON)
    predicates = (Predicate(on, (LAMP,)),)
    return Domain("lamps", supertypes=(TypedName("lamp"),), predicates=predicates, actions=(light,))


def evening(*names: str) -> Problem:
    return Problem("evening", "lamps", frozenset(TypedName(name, "lamp") for name in names), goal=Forall((LAMP,), ON))


def test_a_domain_and_a_problem_made_in_python_are_planned_with() -> None:
    domain, problem = lamps(), evening("a", "b")
    assert pddlego.parse_domain(str(domain)) == domain and pddlego.parse_problem(str(problem)) == problem
    assert pddlego.check(domain, problem).ok
    plan = pddlego.solve(domain, problem).plan
    assert plan and pddlego.validate(domain, problem, plan).valid
    assert pddlego.compare(domain, problem, str(problem)).verdict == "same"


WRONG = {
    "a name with a parenthesis": (lamps("on)"), evening("a")),
    "an unknown predicate": (lamps(precondition=Atom("off", ("?l",))), evening("a")),
    "an unknown variable": (lamps(precondition=Atom("on", ("?lamp",))), evening("a")),
}

UNWRITABLE = {
    "a quantifier without variables": (lamps(precondition=Exists((), ON)), evening("a")),
    "a name in capitals": (lamps("On"), evening("a")),
    "a name with a blank": (lamps(), evening("a lamp")),
    "a list in place of a tuple": (lamps(precondition=And([Not(ON)])), evening("a")),  # type: ignore[arg-type]
    "a list in place of a set": (lamps(), replace(evening("a"), facts=[Atom("on", ("a",))])),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("domain", "problem"), (WRONG | UNWRITABLE).values(), ids=WRONG | UNWRITABLE)
def test_an_invalid_value_is_refused(domain: Domain, problem: Problem) -> None:
    for function in (pddlego.solve, pddlego.simulate, pddlego.Simulation):
        with pytest.raises(UsageError):
            function(domain, problem)


@pytest.mark.parametrize(("domain", "problem"), WRONG.values(), ids=WRONG)
def test_an_invalid_value_has_the_findings_of_its_text(domain: Domain, problem: Problem) -> None:
    checked = pddlego.check(domain, problem)
    assert not checked.ok and checked == pddlego.check(str(domain), str(problem))


def test_a_changed_copy_is_not_taken_for_the_text_that_was_read() -> None:
    domain = pddlego.parse_domain(DOMAIN)
    less = replace(domain, actions=domain.actions[:1])
    assert pddlego.check(domain, PROBLEM, PLAN).ok and not pddlego.check(less, PROBLEM, PLAN).ok
    actions = tuple(replace(action, precondition=Not(And())) for action in domain.actions)
    assert pddlego.simulate(replace(domain, actions=actions), PROBLEM).applicable == ()
