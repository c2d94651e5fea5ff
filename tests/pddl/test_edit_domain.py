"""Edits of domains: what lies between two domains makes one of the other, and every line says what became of it."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.pddl import EntryKind, SectionEdit, parse_domain
from pddlego.pddl.domain import read_domain
from pddlego.pddl.edit import (
    SECTIONS,
    SectionModel,
    apply_domain_edit,
    domain_diff,
    domain_edit_between,
    domain_parts,
    domain_text,
    sections_of,
)

FILES = sorted((Path(__file__).parents[2] / "domains").glob("*.pddl"))
DOMAINS = {file.stem: parse_domain(file.read_text()) for file in FILES if "(problem" not in file.read_text()}

COIN = DOMAINS["coin"]


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_a_domain_that_is_printed_is_the_same_domain(name: str) -> None:
    domain = DOMAINS[name]
    again = parse_domain(domain_text(domain.name, domain.requirements, sections_of(domain)))
    for part in (
        "name",
        "requirements",
        "supertypes",
        "constants",
        "predicates",
        "functions",
        "actions",
        "derived",
        "durative",
    ):
        assert getattr(again, part) == getattr(DOMAINS[name], part)


WITHOUT_FUNCTIONS = sorted(name for name, domain in DOMAINS.items() if not domain.functions)
"""An edit does not change functions."""


@pytest.mark.parametrize(("one", "other"), list(itertools.pairwise(WITHOUT_FUNCTIONS)))
def test_the_edit_between_two_domains_makes_one_of_the_other(one: str, other: str) -> None:
    before, after = DOMAINS[one], DOMAINS[other]
    edit = domain_edit_between(before, after)
    result = apply_domain_edit(before, edit)
    assert {kind for entry in result.entries for kind in [entry.kind]} <= {EntryKind.APPLIED}
    made = read_domain(result.text).domain
    assert {name: set(lines.values()) for name, lines in sections_of(made).items()} == {
        name: set(lines.values()) for name, lines in sections_of(after).items()
    }
    assert not domain_edit_between(after, after)
    changed = domain_diff(before, after)
    assert set(domain_parts(before).values()) - set(changed.removed) | set(changed.added) == set(
        domain_parts(after).values()
    )


@pytest.mark.parametrize(
    ("section", "edit", "kind", "says"),
    [
        ("predicates", SectionEdit(add=("(lit ?l - location)",)), EntryKind.APPLIED, ""),
        ("predicates", SectionEdit(add=("(at ?l - location)",)), EntryKind.ALREADY, ""),
        ("predicates", SectionEdit(add=("(at ?l - item)",)), EntryKind.REFUSED, "replace it"),
        ("types", SectionEdit(add=(str(COIN.supertypes[0]),)), EntryKind.ALREADY, ""),
        ("predicates", SectionEdit(add=("at the door",)), EntryKind.REFUSED, "not a line of predicates"),
        ("predicates", SectionEdit(delete=("visited",)), EntryKind.APPLIED, ""),
        ("predicates", SectionEdit(delete=("(visited ?l - location)",)), EntryKind.APPLIED, ""),
        ("predicates", SectionEdit(delete=("lit",)), EntryKind.UNMATCHED, ""),
        ("predicates", SectionEdit(replace=(("visited", "(seen ?l - location)"),)), EntryKind.APPLIED, ""),
        ("predicates", SectionEdit(replace=(("lit", "(dark ?l - location)"),)), EntryKind.UNMATCHED, ""),
        ("predicates", SectionEdit(replace=(("visited", "nothing ("),)), EntryKind.REFUSED, "not a line"),
        ("predicates", SectionEdit(replace=(("visited", None),)), EntryKind.APPLIED, ""),
        ("types", SectionEdit(delete=("item",)), EntryKind.APPLIED, ""),
        ("constants", SectionEdit(add=("key - item",)), EntryKind.APPLIED, ""),
        ("actions", SectionEdit(delete=("take",)), EntryKind.APPLIED, ""),
        ("actions", SectionEdit(add=("(:act take)",)), EntryKind.REFUSED, "not a line of actions"),
        ("rules", SectionEdit(add=("(:derived (here) (at kitchen))",)), EntryKind.APPLIED, ""),
    ],
)
def test_every_line_says_what_became_of_it(section: str, edit: SectionEdit, kind: EntryKind, says: str) -> None:
    (entry,) = apply_domain_edit(COIN, {section: edit}).entries
    assert entry.kind is kind
    assert says in entry.note
    assert entry.where.startswith(f"domain.{section}.")


def test_an_action_is_replaced_where_it_stands() -> None:
    new = "(:action take :parameters (?i - item) :precondition (and) :effect (have ?i))"
    made = read_domain(apply_domain_edit(COIN, {"actions": SectionEdit(replace=(("take", new),))}).text).domain
    assert [action.name for action in made.actions] == ["move", "open_door", "take"]
    assert len(made.actions_by_name["take"].parameters) == 1


WORDS = st.text(alphabet="abc ?-():\n", max_size=40)
EDITS = st.builds(
    SectionEdit,
    st.lists(WORDS, max_size=3).map(tuple),
    st.lists(st.tuples(WORDS, WORDS | st.none()), max_size=2).map(tuple),
    st.lists(WORDS | st.sampled_from(["at", "move", "coin", "item - object"]), max_size=3).map(tuple),
)


@given(st.dictionaries(st.sampled_from(SECTIONS), EDITS))
def test_any_edit_gives_a_text_and_says_something_of_every_line(sections: dict[str, SectionEdit]) -> None:
    result = apply_domain_edit(COIN, sections)
    assert result.text.startswith("(define (domain coin-collector)")
    least = sum(len(section.delete) + len(section.replace) + len(section.add) for section in sections.values())
    assert len(result.entries) >= least
    json.dumps([str(entry) for entry in result.entries])


def test_sections_are_read_as_those_of_problems_are() -> None:
    model = SectionModel.model_validate({"add": "(p)", "replace": [{"old": "(a)", "new": "(b)"}], "delete": None})
    assert model.as_value() == SectionEdit(("(p)",), (("(a)", "(b)"),), ())
