"""Domains that have lost conditions."""

from __future__ import annotations

import pytest

from pddlego.pddl import parse_domain
from pddlego.pddl.conditions import And, Formula
from pddlego.pddl.domain import Domain
from pddlego.pddl.perturb import corrupted, miscounted
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


NUMBERS = """(define (domain pump) (:requirements :numeric-fluents :conditional-effects) (:predicates (on))
  (:functions (level) (total-cost))
  (:action fill :parameters ()
    :precondition (and (on) (<= (+ (level) 2.5) 10))
    :effect (and (not (on)) (increase (level) 2.5) (increase (total-cost) 1)))
  (:action drain :parameters ()
    :precondition (> (level) 0)
    :effect (and (assign (level) 0) (when (on) (decrease (level) 0)))))"""


def test_errors_in_numbers_are_removed_swapped_or_larger_constants() -> None:
    intact = parse_domain(
        NUMBERS.replace("(and (assign (level) 0) (when (on) (decrease (level) 0)))", "(assign (level) 0)")
    )
    numeric = {"(<= (+ (level) 2.5) 10)", "(increase (level) 2.5)", "(> (level) 0)", "(assign (level) 0)"}
    wrong = {
        *("(<= (+ (level) 3.5) 11)", "(decrease (level) 2.5)", "(increase (level) 3.5)"),
        *("(> (level) 1)", "(assign (level) 1)", ""),
    }
    seen = set[str]()
    for seed in range(20):
        domain, errors = miscounted(intact, 1.0, str(seed))
        assert parse_domain(domain.text) == domain
        assert {error.split(" ", 2)[2].partition(" -> ")[0] for error in errors} == numeric
        changes = {error.partition(" -> ")[2] for error in errors}
        assert all(change in domain.text for change in changes)
        assert "(on)" in domain.text and "(increase (total-cost) 1)" in domain.text
        seen |= changes
    assert seen == wrong


def test_errors_in_numbers_reach_conditional_effects_and_nothing_classical() -> None:
    domain = parse_domain(NUMBERS)
    texts = {miscounted(domain, 1.0, str(seed))[0].text for seed in range(20)}
    assert any("(when (on) (increase (level) 0))" in text for text in texts)
    assert any("(when (on) (decrease (level) 1))" in text for text in texts)
    assert miscounted(domain, 0.0, "1") == (corrupted(domain, 0.0, "1")[0], ())
    assert len(miscounted(domain, 0.4, "1")[1]) == 2
    classical = parse_domain(resources.read("domains", "logistics.pddl"))
    assert miscounted(classical, 1.0, "1")[1] == ()
