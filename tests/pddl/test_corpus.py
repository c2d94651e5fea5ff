"""96 recorded edits of real models, applied to the problems that they were written for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from pddlego.pddl import EditSyntaxError, Problem, apply_edit, check, diff, parse_domain, parse_edit, parse_problem
from pddlego.pddl.problem import read_problem
from tests.shared import CORPUS

EDITS = CORPUS / "edits.jsonl"

pytestmark = pytest.mark.shared("corpus")

DOMAIN = parse_domain("""(define (domain environment) (:types location direction)
  (:predicates (at ?l - location) (visited ?l - location) (connected ?a ?b - location ?d - direction)
               (closed_door ?a ?b - location)))""")

START = parse_problem("""(define (problem exploration) (:domain environment)
  (:objects kitchen - location north south east west - direction) (:init (at kitchen) (visited kitchen))
  (:goal (exists (?x - location) (and (not (visited ?x)) (at ?x)))))""")

REAL_FAULTS = ("never was", "it was, before", "not declared", "line is not in the file", "invalid JSON", "exit leads")
"""How the corpus names what is a real fault of an edit, or of one before it, and may end in a message."""


@dataclass(frozen=True)
class Recorded:
    defects: tuple[str, ...]
    answer: str
    before: Problem
    after: Problem | None
    known: bool


def recorded() -> Iterator[Recorded]:
    """Every row with the problem before it: that of the row before, if it is an earlier step of the same game.

    A game whose record begins later than step 0 has lost what came before; `known` is False for its first row.
    """
    game, step, last = "", 0, START
    for line in EDITS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        begins = str(row["game"]) != game or row["step"] <= step
        if begins:
            last = START
        game, step = str(row["game"]), row["step"]
        text = row["problem_after_as_recorded"]
        after = read_problem(text).problem if text else None
        yield Recorded(tuple(row["defects"]), row["edit"], last, after, not begins or row["step"] == 0)
        last = after or last


def _message(item: Recorded) -> str:
    """What the model would be told about this edit; defects that were there before do not count."""
    try:
        report = apply_edit(item.before, parse_edit(item.answer))
    except EditSyntaxError as error:
        return str(error)
    old = {str(defect) for defect in check(DOMAIN, item.before)}
    new = [str(defect) for defect in check(DOMAIN, report.problem) if defect.blocking and str(defect) not in old]
    return "; ".join([*new, *(str(entry) for entry in (*report.unmatched, *report.refused))])


def test_there_are_96() -> None:
    assert len(list(recorded())) == 96


def test_every_edit_without_a_fault_is_applied_without_a_word() -> None:
    clean = [item for item in recorded() if not item.defects]
    assert len(clean) == 23
    assert [_message(item) for item in clean] == [""] * len(clean)


def test_a_clean_edit_gives_the_problem_that_line_replacement_gave() -> None:
    for item in recorded():
        if item.defects or item.after is None:
            continue
        assert not diff(apply_edit(item.before, parse_edit(item.answer)).problem, item.after)


def test_only_edits_with_a_real_fault_end_in_a_message() -> None:
    for item in recorded():
        message = _message(item) if item.known else ""
        if message:
            assert any(fault in defect for defect in item.defects for fault in REAL_FAULTS), (item.defects, message)


def test_how_many_end_in_a_message() -> None:
    known = [item for item in recorded() if item.known]
    assert len(known) == 79
    assert sum(bool(_message(item)) for item in known) == 13


def test_every_message_names_an_atom_of_the_edit_or_of_the_problem() -> None:
    messages = [message for item in recorded() if (message := _message(item))]
    assert len(messages) == 18
    for message in messages:
        assert re.search(r"\(\w+ [\w -]+\)|\w+ - location", message), message


def test_every_edit_that_needs_only_tolerance_is_applied() -> None:
    """The corpus calls these harmless: what is there is added again, a rename is not carried to all facts …"""
    harmless = [item for item in recorded() if item.known and item.defects and not _has_a_real_fault(item)]
    assert len(harmless) > 20
    assert [item.defects for item in harmless if _message(item)] == []


def _has_a_real_fault(item: Recorded) -> bool:
    return any(fault in defect for defect in item.defects for fault in REAL_FAULTS)
