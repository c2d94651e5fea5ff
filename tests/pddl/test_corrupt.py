"""Domains that have lost conditions."""

from __future__ import annotations

import pytest

from pddlego.pddl import parse_domain
from pddlego.pddl.conditions import And, Formula
from pddlego.pddl.domain import Domain
from pddlego.pddl.perturb import corrupted
from pddlego.util import resources

NAMES = ("gripper", "logistics", "movie", "openstacks", "woodworking", "cooking")


def domain(name: str) -> Domain:
    return parse_domain(resources.read("domains", f"{name}.pddl"))


def parts(condition: Formula) -> int:
    return len(condition.parts) if isinstance(condition, And) else 1


def conditions(result: Domain) -> int:
    return sum(parts(action.precondition) + parts(action.effect) for action in result.actions)


def test_a_share_is_exact_although_it_is_a_binary_fraction() -> None:
    """0.29 times 100 is a little less than 29 in binary fractions; of each list 29 conditions are removed."""
    facts = " ".join(f"(p{number})" for number in range(100))
    text = (
        f"(define (domain d) (:predicates {facts}) (:action a :parameters () :precondition (and {facts}) :effect (p1)))"
    )
    assert len(corrupted(parse_domain(text), 0.29, "1")[1]) == 29


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("pooled", [False, True])
def test_that_share_of_the_conditions_is_gone_and_nothing_else(name: str, share: float, pooled: bool) -> None:
    before = domain(name)
    after, removed = corrupted(before, share, "7", pooled)
    if pooled:
        assert len(removed) == round(share * conditions(before))
    else:
        for was, now in zip(before.actions, after.actions, strict=True):
            for field in ("precondition", "effect"):
                whole, left = (parts(getattr(action, field)) for action in (was, now))
                assert whole - left == {0.0: 0, 0.1: whole // 10, 0.5: whole // 2, 1.0: whole}[share]
    assert conditions(after) == conditions(before) - len(removed)
    assert [(action.name, action.parameters) for action in after.actions] == [
        (action.name, action.parameters) for action in before.actions
    ]
    assert after.predicates == before.predicates
    assert after.derived == before.derived


def test_a_seed_draws_the_same_and_another_others() -> None:
    one = corrupted(domain("logistics"), 0.3, "1")
    assert one[1] == corrupted(domain("logistics"), 0.3, "1")[1]
    assert one[1] != corrupted(domain("logistics"), 0.3, "2")[1]
