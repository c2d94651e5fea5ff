"""Structures whose names look alike to the refinement of colours, so that pairs are chosen."""

from __future__ import annotations

import random

import pytest

from pddlego.planning.compare import Relation, Structure, are_isomorphic


def rings(*sizes: int, seed: int | None = None) -> Structure:
    """Rings of so many names: every name has two neighbours, so all look alike. With a seed in another order."""
    names = [f"{ring}-{number}" for ring, size in enumerate(sizes) for number in range(size)]
    if seed is not None:
        random.Random(seed).shuffle(names)
    edges: list[Relation] = [
        ("next", (f"{ring}-{number}", f"{ring}-{(number + 1) % size}"))
        for ring, size in enumerate(sizes)
        for number in range(size)
    ]
    return Structure(dict.fromkeys(names, "name"), edges)


@pytest.mark.parametrize("seed", range(8))
def test_a_first_pair_that_does_not_fit_is_taken_back(seed: int) -> None:
    """The first name is in the ring of six, and may be tried with names of the rings of three first."""
    assert are_isomorphic(rings(6, 3, 3), rings(3, 6, 3, seed=seed)) is True
    assert are_isomorphic(rings(3, 3, 6), rings(6, 3, 3)) is True


@pytest.mark.parametrize("sizes", [(6,), (4, 2), (2, 2, 2)])
def test_other_rings_of_as_many_names_are_different(sizes: tuple[int, ...]) -> None:
    assert are_isomorphic(rings(3, 3), rings(*sizes)) is False


def test_where_a_pair_was_chosen_before_nothing_is_certain() -> None:
    """A ring of three fits; of what is left, one ring of six, no pair fits two rings of three."""
    assert are_isomorphic(rings(3, 6), rings(3, 3, 3)) is None
