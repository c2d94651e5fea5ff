"""Forms that mutants of the repair of arrangements could change without a failing test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pddlego.pddl import parse_domain, parse_problem
from pddlego.pddl.problem import read_problem
from pddlego.pddl.tolerant import repair
from tests.pddl.test_tolerant import DOMAIN, PROBLEM, swap

RIGHT = parse_domain(DOMAIN)
CONDITION = "(and (at ?a) (way ?a ?b ?w) (not (shut ?a ?b)))"


def repaired(domain: str, problem: str = PROBLEM) -> tuple[str, str, str]:
    """Both files after their repair, and the repairs."""
    result = repair(domain, problem)
    return result.domain, result.problem, "\n".join(map(str, result.repairs))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (swap(CONDITION, f"({CONDITION})"), "twice"),
        (swap("    :precondition", "  )\n    :precondition"), "closing parentheses too many"),
        (swap("(:action move", "() (:action move"), "found among the sections"),
    ],
    ids=["twice", "fields behind the action", "nothing"],
)
def test_another_arrangement_of_the_same_domain(wrong: Callable[[str], str], says: str) -> None:
    domain, _, repairs = repaired(wrong(DOMAIN))
    assert parse_domain(domain).actions == RIGHT.actions
    assert says in repairs


def test_a_connective_by_another_name_and_one_that_lacks_a_part() -> None:
    domain, _, repairs = repaired(swap("(not (shut ?a ?b))", "(implies (shut ?a ?b) (at ?b))")(DOMAIN))
    assert "(imply (shut ?a ?b) (at ?b))" in domain
    assert "'implies' is called imply" in repairs
    assert "is called imply" not in repaired(swap("(not (shut ?a ?b))", "(implies (shut ?a ?b))")(DOMAIN))[2]


def test_a_name_without_a_type_in_a_group_does_not_get_the_type_of_the_next_group() -> None:
    objects = swap("hall attic - room", "(hall - room attic) (up - way)")(PROBLEM)
    types = {obj.name: obj.type for obj in parse_problem(repaired(DOMAIN, objects)[1]).objects}
    assert types == {"hall": "room", "attic": "room", "up": "way"}


def test_the_domain_without_its_colon_behind_init_is_not_a_fact() -> None:
    problem = swap("(:domain walk)", "")(PROBLEM).replace("  (:goal", "  (domain walk)\n  (:goal")
    assert "domain" not in {fact.predicate for fact in read_problem(repaired(DOMAIN, problem)[1]).problem.facts}
