"""Edits of problems with numbers: `(= (fuel t1) 3)` is a line like a fact, but a number has one value."""

from __future__ import annotations

import pytest

from pddlego import tools
from pddlego.pddl import Edit, EntryKind, Problem, SectionEdit, apply_edit, diff, parse_problem
from pddlego.pddl.edit import edit_between

TRUCKS = parse_problem("""(define (problem trucks) (:domain d) (:objects t1 t2 - truck a - place)
  (:init (at t1 a) (= (fuel t1) 8) (= (fuel t2) 2.5) (= (price) -1)) (:goal (= (fuel t1) 3)))""")


def numbers(problem: Problem) -> list[str]:
    return sorted(map(str, problem.values))


def edited(edit: Edit) -> tuple[list[str], list[EntryKind]]:
    report = apply_edit(TRUCKS, edit)
    return numbers(report.problem), [entry.kind for entry in report.entries]


@pytest.mark.parametrize(
    ("init", "fuel", "kinds"),
    [
        (SectionEdit(add=("(= (fuel t1) 3)",)), "(= (fuel t1) 3)", [EntryKind.TOLERATED]),
        (SectionEdit(add=("(= (fuel t1) 8)",)), "(= (fuel t1) 8)", [EntryKind.ALREADY]),
        (SectionEdit(replace=(("(= (fuel t1) 8)", "(= (fuel t1) 3)"),)), "(= (fuel t1) 3)", [EntryKind.APPLIED]),
        (SectionEdit(replace=(("(= (fuel t1) 7)", "(= (fuel t1) 3)"),)), "(= (fuel t1) 8)", [EntryKind.UNMATCHED]),
        (SectionEdit(delete=("(= (fuel t1) 8)",)), "", [EntryKind.APPLIED]),
        (SectionEdit(delete=("(= (fuel t1) 9)",)), "(= (fuel t1) 8)", [EntryKind.UNMATCHED]),
        (SectionEdit(replace=(("(= (fuel t1) 8)", None),)), "", [EntryKind.APPLIED]),
        (SectionEdit(add=("(= (fuel t1) (price))",)), "(= (fuel t1) (price))", [EntryKind.TOLERATED]),
    ],
)
def test_a_number_has_one_value(init: SectionEdit, fuel: str, kinds: list[EntryKind]) -> None:
    values, entries = edited(Edit(init=init))
    assert values == sorted(filter(None, [fuel, "(= (fuel t2) 2.5)", "(= (price) -1)"]))
    assert entries == kinds


def test_numbers_follow_their_objects() -> None:
    values, _ = edited(
        Edit(SectionEdit(replace=(("t1 - truck", "van - truck"),)), SectionEdit(add=("(= (fuel t1) 4)",)))
    )
    assert values == ["(= (fuel t2) 2.5)", "(= (fuel van) 4)", "(= (price) -1)"]
    values, _ = edited(Edit(SectionEdit(delete=("t1 - truck",))))
    assert values == ["(= (fuel t2) 2.5)", "(= (price) -1)"]


def test_the_edit_between_two_problems_has_the_numbers() -> None:
    after = parse_problem(str(TRUCKS).replace("(= (fuel t1) 8)", "(= (fuel t1) 3)").replace("(= (price) -1)", ""))
    edit = edit_between(TRUCKS, after)
    assert (edit.init.add, edit.init.delete) == (("(= (fuel t1) 3)",), ("(= (fuel t1) 8)", "(= (price) -1)"))
    report = apply_edit(TRUCKS, edit)
    assert report.problem == after
    assert not report.unmatched
    assert diff(TRUCKS, after).added == ("(= (fuel t1) 3)",)


def test_the_difference_of_two_files_has_the_numbers() -> None:
    domain = """(define (domain d) (:requirements :strips :typing :numeric-fluents) (:types truck place)
      (:predicates (at ?t - truck ?p - place)) (:functions (fuel ?t - truck) (price))
      (:action fill :parameters (?t - truck) :precondition (and) :effect (increase (fuel ?t) 1)))"""
    other = str(TRUCKS).replace("(= (fuel t1) 8)", "(= (fuel t1) 9)")
    result = tools.difference(domain, str(TRUCKS), other)
    assert (result.only_left, result.only_right) == (("(= (fuel t1) 8)",), ("(= (fuel t1) 9)",))
