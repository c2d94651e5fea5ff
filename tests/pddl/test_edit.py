from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.pddl import Atom, Edit, EntryKind, Problem, SectionEdit, TypedName, apply_edit, diff, parse_problem
from pddlego.pddl.conditions import parse_condition
from pddlego.pddl.edit import edit_between
from tests.pddl.strategies import ROOMS, atoms, edits, names, problems, typed_names, wild_edits

HOUSE = parse_problem("""(define (problem house) (:domain d)
  (:objects kitchen loc1 loc10 pantry - location)
  (:init (at kitchen) (visited kitchen) (visited pantry) (connected kitchen loc1 south) (connected loc1 kitchen north)
         (closed_door kitchen loc1) (connected pantry loc10 east))
  (:goal (at loc1)))""")


def objects(**lines: object) -> Edit:
    return Edit(objects=_section(lines))


def init(**lines: object) -> Edit:
    return Edit(init=_section(lines))


def _section(lines: dict[str, object]) -> SectionEdit:
    replace = lines.get("replace", {})
    assert isinstance(replace, dict)
    return SectionEdit(
        tuple(lines.get("add", ())),  # type: ignore[arg-type]
        tuple(replace.items()),
        tuple(lines.get("delete", ())),  # type: ignore[arg-type]
    )


def kinds(problem: Problem, edit: Edit) -> list[EntryKind]:
    return [entry.kind for entry in apply_edit(problem, edit).entries]


# properties


@given(problems, wild_edits)
def test_applying_is_total_and_accounts_for_every_line(problem: Problem, edit: Edit) -> None:
    report = apply_edit(problem, edit)
    lines = sum(len(item.add) + len(item.replace) + len(item.delete) for item in (edit.objects, edit.init))
    blank = sum(not line.strip() for item in (edit.objects, edit.init) for line in (*item.add, *item.delete))
    assert len(report.entries) >= lines - blank


@given(problems)
def test_the_empty_edit_changes_nothing(problem: Problem) -> None:
    report = apply_edit(problem, Edit())
    assert report.problem == problem
    assert report.entries == ()


@given(problems, edits)
def test_the_problem_changes_only_if_a_line_took_effect(problem: Problem, edit: Edit) -> None:
    report = apply_edit(problem, edit)
    effective = {EntryKind.APPLIED, EntryKind.RENAMED, EntryKind.MERGED, EntryKind.TOLERATED}
    if not any(entry.kind in effective for entry in report.entries):
        assert report.problem == problem


@given(problems, st.lists(atoms, max_size=5), st.randoms(use_true_random=False))
def test_space_case_and_order_do_not_matter(problem: Problem, facts: list[Atom], rng: random.Random) -> None:
    lines = [str(fact) for fact in facts]
    untidy = [line.upper().replace(" ", "  \n").replace("(", " ( ") for line in lines]
    rng.shuffle(untidy)
    assert apply_edit(problem, init(add=lines)).problem == apply_edit(problem, init(add=untidy)).problem
    assert apply_edit(problem, init(delete=lines)).problem == apply_edit(problem, init(delete=untidy)).problem


@given(problems, atoms)
def test_adding_twice_is_adding_once(problem: Problem, fact: Atom) -> None:
    once = apply_edit(problem, init(add=[str(fact)])).problem
    again = apply_edit(once, init(add=[str(fact)]))
    assert again.problem == once
    assert [entry.kind for entry in again.entries] == [EntryKind.ALREADY]


@given(problems, atoms)
def test_what_is_deleted_is_gone(problem: Problem, fact: Atom) -> None:
    assert fact not in apply_edit(problem, init(delete=[str(fact)])).problem.facts


@given(problems, typed_names)
def test_renaming_there_and_back_is_the_identity(problem: Problem, item: TypedName) -> None:
    known = {one.name for one in problem.objects}
    if item.name not in known or any("zz" in arg for fact in problem.facts for arg in fact.args):
        return
    there = apply_edit(problem, objects(replace={item.name: "zz"})).problem
    assert apply_edit(there, objects(replace={"zz": item.name})).problem == problem


@given(problems, names)
def test_renaming_touches_whole_names_only(problem: Problem, new: str) -> None:
    after = apply_edit(problem, objects(replace={"loc1": new})).problem
    before10 = {fact for fact in problem.facts if "loc10" in fact.args and "loc1" not in fact.args}
    assert before10 <= after.facts


# what is said of a line


def entries(edit: Edit) -> list[tuple[EntryKind, str, str]]:
    return [(entry.kind, entry.line, entry.note) for entry in apply_edit(HOUSE, edit).entries]


def test_an_object_that_is_deleted_and_renamed_is_gone() -> None:
    edit = Edit(SectionEdit(replace=(("loc1 - location", "garage - location"), ("loc1 - location", None))))
    (_, deleted, _), (kind, line, note) = entries(edit)
    assert deleted == "loc1 - location"
    assert (kind, line) == (EntryKind.UNMATCHED, "loc1 - location -> garage - location")
    assert note == "loc1 is deleted by the same edit"


def test_deleting_an_object_by_its_old_name_keeps_it() -> None:
    edit = objects(replace={"loc1 - location": "garage - location"}, delete=["loc1 - location"])
    assert entries(edit)[1] == (EntryKind.TOLERATED, "loc1 - location", "it was renamed to garage, which stays")
    assert TypedName("garage", "location") in apply_edit(HOUSE, edit).problem.objects


def test_a_fact_under_an_old_name_says_which_fact_it_is() -> None:
    renaming = objects(replace={"loc1 - location": "garage - location"}).objects
    edit = Edit(
        renaming, init(add=["(at loc1)", "(visited pantry) (at loc10)"], delete=["(closed_door kitchen loc1)"]).init
    )
    assert entries(edit)[1:] == [
        (EntryKind.APPLIED, "(closed_door kitchen loc1)", "as (closed_door kitchen garage)"),
        (EntryKind.TOLERATED, "(at loc1)", "as (at garage)"),
        (EntryKind.ALREADY, "(visited pantry)", ""),
        (EntryKind.APPLIED, "(at loc10)", ""),
    ]


def test_a_refused_line_names_the_two_names_that_become_one() -> None:
    renaming = objects(replace={"loc10": "attic", "loc1": "pantry"}).objects
    for line in ("(linked loc10 pantry loc1)", "(linked attic pantry loc1)"):
        kind, _, note = entries(Edit(renaming, init(add=[line]).init))[-1]
        assert kind is EntryKind.REFUSED
        assert "makes loc1 and pantry one" in note
    house = parse_problem(str(HOUSE).replace("(at kitchen)", "(at kitchen) (linked loc10 pantry loc1)", 1))
    assert [entry.line for entry in apply_edit(house, Edit(renaming)).refused] == ["loc1 -> pantry"]


def test_an_edit_as_text() -> None:
    edit = Edit(
        SectionEdit(("a - b",), (("c", "d"), ("e", None)), ("f",)), SectionEdit(("(at a)",), (("(at c)", None),), ())
    )
    assert str(edit).splitlines() == ["+ a - b", "- f", "c -> d", "- e", "+ (at a)", "- (at c)"]


# the paper's cases


def test_a_placeholder_gets_its_name_everywhere() -> None:
    report = apply_edit(HOUSE, objects(replace={"loc1 - location": "garage - location"}))
    assert Atom("connected", ("kitchen", "garage", "south")) in report.problem.facts
    assert Atom("connected", ("pantry", "loc10", "east")) in report.problem.facts
    assert report.problem.goal == parse_condition("(at garage)")
    assert report.renamed == (("loc1", "garage"),)
    assert not diff(HOUSE, report.problem, dict(report.renamed))


def test_renaming_onto_a_known_room_merges_the_two() -> None:
    report = apply_edit(HOUSE, objects(replace={"loc1 - location": "pantry - location"}))
    assert [entry.kind for entry in report.entries] == [EntryKind.MERGED]
    assert TypedName("loc1", "location") not in report.problem.objects
    assert Atom("connected", ("kitchen", "pantry", "south")) in report.problem.facts


def test_constraints_and_preferences_follow_a_new_name() -> None:
    problem = parse_problem(
        "(define (problem p) (:domain d) (:objects r1 - room) (:init (at r1)) (:goal (and (preference g (at r1))))"
        " (:constraints (and (always (at r1)) (preference q (sometime (at r1))))))"
    )
    renamed = apply_edit(problem, objects(replace={"r1 - room": "hall - room"})).problem
    assert str(renamed) == str(problem).replace("r1", "hall")


def test_names_can_be_swapped() -> None:
    report = apply_edit(HOUSE, objects(replace={"loc1": "loc10", "loc10": "loc1"}))
    assert Atom("connected", ("pantry", "loc1", "east")) in report.problem.facts
    assert Atom("connected", ("kitchen", "loc10", "south")) in report.problem.facts
    assert report.problem.objects == HOUSE.objects


def test_the_rest_of_an_edit_may_use_the_old_or_the_new_name() -> None:
    for name in ("loc1", "garage"):
        edit = Edit(
            objects(replace={"loc1 - location": "garage - location"}).objects,
            init(delete=[f"(closed_door kitchen {name})"]).init,
        )
        report = apply_edit(HOUSE, edit)
        assert not any(fact.predicate == "closed_door" for fact in report.problem.facts)
        assert not report.unmatched


def test_a_fact_added_under_the_old_name_follows_the_renaming() -> None:
    edit = Edit(objects(replace={"loc1": "garage"}).objects, init(add=["(at loc1)"]).init)
    report = apply_edit(HOUSE, edit)
    assert Atom("at", ("garage",)) in report.problem.facts
    assert report.of(EntryKind.TOLERATED)


def test_a_name_that_is_given_away_can_be_declared_anew() -> None:
    edit = Edit(
        objects(replace={"loc1": "garage"}, add=["loc1 - location"]).objects,
        init(add=["(connected garage loc1 west)"]).init,
    )
    assert Atom("connected", ("garage", "loc1", "west")) in apply_edit(HOUSE, edit).problem.facts


def test_deleting_an_object_deletes_the_facts_about_it_and_says_so() -> None:
    report = apply_edit(HOUSE, objects(delete=["loc1 - location"]))
    assert not any("loc1" in fact.args for fact in report.problem.facts)
    assert "(closed_door kitchen loc1)" in report.entries[0].note


def test_a_name_that_is_given_away_and_taken_means_its_new_owner() -> None:
    edit = Edit(
        objects(replace={"loc1": "loc10", "loc10": "pantry"}).objects,
        init(add=["(closed_door kitchen loc10)"]).init,
    )
    report = apply_edit(HOUSE, edit)
    assert Atom("closed_door", ("kitchen", "loc10")) in report.problem.facts
    assert Atom("connected", ("kitchen", "loc10", "south")) in report.problem.facts
    assert [entry.kind for entry in report.entries][:2] == [EntryKind.RENAMED, EntryKind.MERGED]


def test_two_placeholders_that_become_one_room_are_merged() -> None:
    report = apply_edit(HOUSE, objects(replace={"loc1": "garage", "loc10": "garage"}))
    assert [entry.kind for entry in report.entries] == [EntryKind.RENAMED, EntryKind.MERGED]


def test_a_negation_among_additions_loses_nothing() -> None:
    report = apply_edit(HOUSE, init(add=["(not (at kitchen)) (at loc1)"]))
    assert Atom("at", ("loc1",)) in report.problem.facts
    assert Atom("at", ("kitchen",)) not in report.problem.facts
    assert len(report.entries) == 2


def test_grouped_declarations() -> None:
    report = apply_edit(HOUSE, objects(add=["north south - direction"]))
    assert {TypedName("north", "direction"), TypedName("south", "direction")} <= report.problem.objects


@pytest.mark.parametrize(
    ("edit", "kind"),
    [
        (init(add=["(at kitchen)"]), EntryKind.ALREADY),
        (init(replace={"(at kitchen)": "(at kitchen)"}), EntryKind.ALREADY),
        (init(replace={"(at kitchen)": None}), EntryKind.APPLIED),
        (init(replace={"(at kitchen)": ""}), EntryKind.APPLIED),
        (init(replace={"(at kitchen)": "null"}), EntryKind.APPLIED),
        (objects(replace={"loc1 - location": "loc1 - item"}), EntryKind.APPLIED),
        (init(replace={"(at garage)": "(visited kitchen)"}), EntryKind.ALREADY),
        (init(replace={"(at garage)": "(at pantry)"}), EntryKind.UNMATCHED),
        (init(delete=["(at garage)"]), EntryKind.UNMATCHED),
        (init(add=["at pantry"]), EntryKind.TOLERATED),
        (init(add=["(at pantry"]), EntryKind.TOLERATED),
        (init(add=["(and (at pantry))"]), EntryKind.REFUSED),
        (init(add=["("]), EntryKind.REFUSED),
        (init(add=["(not (at kitchen))"]), EntryKind.APPLIED),
        (objects(add=["kitchen - location"]), EntryKind.ALREADY),
        (objects(add=["kitchen - item"]), EntryKind.REFUSED),
        (objects(replace={"kitchen": "kitchen"}), EntryKind.ALREADY),
        (objects(replace={"loc7 - location": "pantry - location"}), EntryKind.ALREADY),
        (objects(replace={"loc7 - location": "garage - location"}), EntryKind.UNMATCHED),
        (objects(replace={"loc1": None}), EntryKind.APPLIED),
        (objects(replace={"loc1 loc10 - location": "a b - location"}), EntryKind.REFUSED),
        (objects(delete=["garage - location"]), EntryKind.UNMATCHED),
        (objects(delete=["()"]), EntryKind.REFUSED),
    ],
)
def test_what_becomes_of_a_line(edit: Edit, kind: EntryKind) -> None:
    assert kinds(HOUSE, edit) == [kind]


def test_adding_what_a_replace_put_there() -> None:
    edit = init(replace={"(at kitchen)": "(at pantry)"}, add=["(at pantry)"])
    assert kinds(HOUSE, edit) == [EntryKind.APPLIED, EntryKind.ALREADY]


def test_replacing_what_the_same_edit_deleted() -> None:
    edit = init(replace={"(at kitchen)": "(at pantry)"}, delete=["(at kitchen)"])
    assert kinds(HOUSE, edit) == [EntryKind.APPLIED, EntryKind.TOLERATED]
    assert Atom("at", ("pantry",)) in apply_edit(HOUSE, edit).problem.facts


def test_what_is_deleted_and_added_is_there() -> None:
    edit = init(add=["(at kitchen)"], delete=["(at kitchen)"])
    assert apply_edit(HOUSE, edit).problem == HOUSE


def test_constants_exist_and_keep_their_names() -> None:
    constants = [TypedName("coin", "item")]
    assert [e.kind for e in apply_edit(HOUSE, objects(add=["coin - item"]), constants).entries] == [EntryKind.ALREADY]
    assert [e.kind for e in apply_edit(HOUSE, objects(replace={"coin": "c"}), constants).entries] == [EntryKind.REFUSED]


def test_the_world_of_the_strategies_holds_the_cases() -> None:
    assert {"loc1", "loc10"} <= set(ROOMS)


def test_an_edit_that_makes_two_rooms_one_and_names_both_in_a_fact_is_a_message() -> None:
    house = parse_problem(
        """(define (problem house) (:domain d) (:objects kitchen corridor - location)
        (:init (at corridor)) (:goal (at kitchen)))"""
    )
    edit = Edit(
        SectionEdit(replace=(("corridor - location", "kitchen - location"),)),
        SectionEdit(
            add=("(connected corridor kitchen east)",), replace=(("(at corridor)", "(near corridor kitchen)"),)
        ),
    )
    report = apply_edit(house, edit)
    assert [item.line for item in report.refused] == ["(near corridor kitchen)", "(connected corridor kitchen east)"]
    assert all("makes corridor and kitchen one" in item.note for item in report.refused)
    assert not any("kitchen kitchen" in str(fact) for fact in report.problem.facts)


def test_a_merge_of_rooms_that_a_fact_keeps_apart_is_a_message_unless_the_edit_takes_it_back() -> None:
    merge = {"loc1 - location": "kitchen - location"}
    report = apply_edit(HOUSE, objects(replace=merge))
    assert [item.line for item in report.refused] == ["loc1 -> kitchen"] * 3
    assert "(closed_door kitchen loc1), which names both" in report.refused[0].note
    apart = ("(connected kitchen loc1 south)", "(connected loc1 kitchen north)", "(closed_door kitchen loc1)")
    both = Edit(objects(replace=merge).objects, init(delete=apart).init)
    assert apply_edit(HOUSE, both).refused == ()


def test_names_that_are_swapped_may_stand_in_one_fact() -> None:
    swap = {"kitchen - location": "pantry - location", "pantry - location": "kitchen - location"}
    report = apply_edit(HOUSE, Edit(objects(replace=swap).objects, init(add=["(connected kitchen pantry west)"]).init))
    assert report.refused == ()
    assert Atom("connected", ("kitchen", "pantry", "west")) in report.problem.facts


@given(problems, problems)
def test_every_line_of_the_edit_between_two_problems_matches(before: Problem, after: Problem) -> None:
    """An edit that deletes an object and its facts names facts that are gone with the object: it is right."""
    report = apply_edit(before, edit_between(before, after))
    assert report.unmatched == ()


def test_a_fact_may_be_deleted_beside_its_object() -> None:
    edit = Edit(SectionEdit(delete=("loc1 - location",)), SectionEdit(delete=("(closed_door kitchen loc1)",)))
    report = apply_edit(HOUSE, edit)
    assert [entry.kind for entry in report.entries] == [EntryKind.APPLIED, EntryKind.ALREADY]
    again = init(delete=["(at kitchen)", "(at kitchen)"])
    assert kinds(HOUSE, again) == [EntryKind.APPLIED, EntryKind.ALREADY]
    assert kinds(HOUSE, init(delete=["(at moon)"])) == [EntryKind.UNMATCHED]
