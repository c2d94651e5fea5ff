"""Domains that have lost conditions."""

from __future__ import annotations

import pytest

from pddlego.pddl import parse_domain
from pddlego.pddl.conditions import And
from pddlego.pddl.domain import Domain
from pddlego.pddl.perturb import corrupted
from pddlego.util import resources

NAMES = ("gripper", "logistics", "movie", "openstacks", "woodworking", "cooking")


def domain(name: str) -> Domain:
    return parse_domain(resources.read("domains", f"{name}.pddl"))


def conditions(result: Domain) -> int:
    whole = 0
    for action in result.actions:
        for part in (action.precondition, action.effect):
            whole += len(part.parts) if isinstance(part, And) else 1
    return whole


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_that_share_of_the_conditions_is_gone_and_nothing_else(name: str, share: float) -> None:
    before = domain(name)
    after, removed = corrupted(before, share, "7")
    assert len(removed) == round(share * conditions(before))
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
