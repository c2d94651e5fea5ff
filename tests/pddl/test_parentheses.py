"""Missing and surplus parentheses: one finding, at the line of the mistake."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego.pddl.domain import read_domain
from pddlego.pddl.parentheses import balancing, edited
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import Defect
from pddlego.pddl.sexpr import TOKEN, Source, read_sexprs
from tests.growth import is_linear

FILES = sorted((Path(__file__).parents[2] / "domains").glob("*.pddl"))

DOMAIN = """(define (domain greenhouse)
  (:types plant lamp)
  (:predicates (dark ?p - plant)
    (lights ?l - lamp ?p - plant))
  (:action switch :parameters (?l - lamp ?p - plant)
    :precondition (and (lights ?l ?p) (dark ?p))
    :effect (not (dark ?p)))
  (:action unplug :parameters (?l - lamp)
    :effect (forall (?p - plant) (not (lights ?l ?p)))))"""

PROBLEM = """(define (problem evening) (:domain greenhouse)
  (:objects fern moss - plant spot - lamp)
  (:init (dark fern) (lights spot fern)
    (lights spot moss) (dark moss))
  (:goal (and (not (dark fern)) (not (dark moss)))))"""


def errors(text: str) -> list[Defect]:
    reading = read_problem(text) if "(problem" in text else read_domain(text)
    defects = [*reading.defects, *(reading.missing_sections() if hasattr(reading, "missing_sections") else ())]
    return [defect for defect in defects if defect.blocking]


@pytest.mark.parametrize(
    ("text", "old", "new", "line", "says"),
    [
        (DOMAIN, "plant))\n  (:action sw", "plant)\n  (:action sw", 4, "missing here: line 4, after (lights ?l - lamp"),
        (DOMAIN, "(dark ?p - plant)", "(dark ?p - plant", 3, "is missing here: line 3, after plant"),
        (DOMAIN, "(lights ?l ?p) (", "(lights ?l ?p (", 6, "is missing here: line 6, after ?p"),
        (DOMAIN, "(dark ?p))\n", "(dark ?p)\n", 6, "is missing here: line 6, after (dark ?p)"),
        (DOMAIN, "(dark ?p))\n", "(dark ?p)))\n", 6, "is surplus here: line 6, after (dark ?p)"),
        (DOMAIN, "lamp ?p - plant)\n    :pre", "lamp ?p - plant\n    :pre", 5, "is missing here: line 5"),
        (DOMAIN, "(forall (?p - plant)", "(forall (?p - plant", 9, "is missing here: line 9, after plant"),
        (DOMAIN, "and (lights", "and lights", 6, "is missing here: line 6, before lights"),
        (DOMAIN, "(not (dark ?p))", "((not (dark ?p))", 7, "is surplus here: line 7"),
        (DOMAIN, "(:types plant lamp)", "(:types plant) lamp)", 2, "is surplus here: line 2, after plant"),
        (PROBLEM, "- lamp)", "- lamp", 2, "is missing here: line 2, after lamp"),
        (PROBLEM, "(lights spot moss)", "(lights spot moss", 4, "is missing here: line 4, after moss"),
        (PROBLEM, "spot fern)", "spot fern))", 3, "is surplus here: line 3, after (lights spot fern)"),
        (PROBLEM, "(:domain greenhouse)", "(:domain greenhouse", 1, "is missing here: line 1, after greenhouse"),
        (PROBLEM, "(dark moss)))))", "(dark moss))))", 5, "is missing here: line 5, after (dark moss)"),
    ],
)
def test_one_finding_names_the_place(text: str, old: str, new: str, line: int, says: str) -> None:
    assert old in text
    (error,) = errors(text.replace(old, new))
    assert error.place is not None
    assert error.place[0] == line
    assert says in error.message


def test_a_missing_and_a_surplus_one_are_two_findings() -> None:
    text = PROBLEM.replace("- lamp)", "- lamp") + ")"
    assert [error.place[0] for error in errors(text) if error.place] == [2, 5]


def _mistakes(text: str, random: random.Random) -> Iterator[tuple[str, int]]:
    """Texts with one parenthesis too few or too many, and the line of the mistake."""
    tokens = [match for match in TOKEN.finditer(text) if match[0][0] != ";"]
    source = Source(text)
    for match in random.sample([token for token in tokens[1:] if token[0] in "()"], 4):
        yield f"{text[: match.start()]} {text[match.end() :]}", source.position(match.start())[0]
    for match in random.sample(tokens, 4):
        yield f"{text[: match.end()]}){text[match.end() :]}", source.position(match.end())[0]
    for match in random.sample(tokens[1:], 4):
        yield f"{text[: match.start()]}({text[match.start() :]}", source.position(match.start())[0]


def test_one_mistake_is_one_finding_nearly_always_at_its_line() -> None:
    choice = random.Random(58)
    right = total = 0
    for file in FILES:
        for text, line in _mistakes(file.read_text(), choice):
            found = errors(text)
            assert len(found) == 1, (file.name, line, found)
            total += 1
            right += found[0].place is not None and found[0].place[0] == line
            fixed = read_sexprs(edited(text, balancing(text)))
            assert not fixed.unclosed and not fixed.extra
    assert right / total >= 0.97


def test_balancing_takes_linear_time() -> None:
    def read(times: int) -> None:
        balancing("(define (problem p) (:init " + "(not (and (a b (c)\n" * 20 + "(d e) (f\n" * times)

    assert is_linear(lambda: read(500), lambda: read(8000), 16)


NUMERIC = """(define (domain shuttle) ; (a comment
  (:requirements :typing :durative-actions :numeric-fluents)
  (:types stop - object)
  (:predicates (at ?s - stop))
  (:functions (far ?a ?b - (either stop object)) (used) - number)
  (:durative-action go :parameters (?a ?b - stop)
    :duration (= ?duration (* 2 (far ?a ?b)))
    :condition (and (at start (at ?a)) (over all (imply (at ?b) (> (used) (- 5 1)))))
    :effect (and (at start (not (at ?a))) (at end (at ?b)) (at end (increase (used) 1)))))"""


@pytest.mark.parametrize("text", [DOMAIN, PROBLEM, NUMERIC, *(file.read_text() for file in FILES[::12])])
def test_a_file_that_is_still_being_written_has_no_surplus_parentheses(text: str) -> None:
    step = 1 if len(text) < 1_000 else 1 + len(text) // 100
    read = read_problem if "(problem" in text else read_domain
    lists = {match.start() for match in list(re.finditer(r"\(", text))[:: 1 + step // 4]}
    for start in lists.union(range(0, len(text), step)):
        messages = [defect.message for defect in read(text[: start + 1]).defects]
        assert not any("surplus" in message or "too many" in message for message in messages), text[:start]


def test_a_list_that_begins_at_the_end_of_the_text_counts_among_the_missing_parentheses() -> None:
    (defect,) = errors("(define (domain q) (:predicates (a))\n  (:action x :parameters () :precondition (a) :effect (")
    assert defect.message.startswith("3 parentheses are missing here: line 2")


DEPOT = """(define (domain depot)
  (:requirements :typing :numeric-fluents :durative-actions)
  (:types robot place)
  (:predicates (at ?r - robot ?p - place) (free ?r - robot) (shut ?p - place) (night))
  (:functions (battery ?r - robot) (most ?r - robot) (far ?a ?b - place))
  (:action wait :parameters (?r - robot ?p - place)
    :precondition (and (at ?r ?p) (free ?r))
    :effect (and (not (free ?r)) (shut ?p)))
  (:action go :parameters (?r - robot ?a ?b - place)
    :precondition (and (at ?r ?a) (>= (battery ?r) (far ?a ?b)) (not (shut ?b)))
    :effect (and (not (at ?r ?a)) (at ?r ?b) (assign (battery ?r) (most ?r))))
  (:durative-action rest :parameters (?r - robot ?p - place) :duration (= ?duration 2)
    :condition (and (at start (at ?r ?p)) (over all (night)))
    :effect (and (at end (free ?r)) (at end (not (shut ?p))))))"""

SHIFT = """(define (problem shift) (:domain depot)
  (:objects r2 - robot hall yard - place)
  (:init (at r2 hall) (free r2) (= (battery r2) 5)
    (night))
  (:goal (and (at r2 yard) (>= (battery r2) (most r2)) (not (shut hall))))
  (:metric minimize (battery r2)))"""

CONDITION, CHANGE = "(>= (battery ?r) (far ?a ?b))", "(assign (battery ?r) (most ?r))"
CONDITIONS = """(battery ?r >= (far ?a ?b)); (=> (battery ?r) (far ?a ?b))
(≥ (battery ?r) (far ?a ?b)); (battery ?r = (far ?a ?b))
(ge (battery ?r) (far ?a ?b)); (greater-than (battery ?r) (far ?a ?b)); (! (shut ?b)); (none (shut ?a))
(nott (shut ?a))
(-> (shut ?a) (shut ?b)); (implies (shut ?a) (shut ?b)); (implication (shut ?a) (night)); (if (shut ?a) then (night))
(&& (shut ?a) (free ?r)); (?a != ?b); (for-all (?x - place) (shut ?x)); (exist (?x - place) (shut ?x))"""
CHANGES = """(set (battery ?r) (most ?r)); (:= (battery ?r) (most ?r)); (= (battery ?r) (most ?r))
(battery ?r := (most ?r))
(+= (battery ?r) (most ?r)); (battery ?r -= (most ?r)); (inc (battery ?r)); (set (battery ?r) to (most ?r))
(increase (battery ?r) by (most ?r)); (decrese (battery ?r) (most ?r)); (set (battery ?r) (+ (most ?r) 1))
(when (battery ?r < (most ?r)) (set (battery ?r) 3)); (add (free ?r)); (add (free ?r) (shut ?b))
(add (and (free ?r) (night)))
(delete (free ?r) (shut ?b)); (if (night) (shut ?b))"""
BARE = """((battery ?r) >= (far ?a ?b)); ((shut ?a) => (shut ?b)); ((shut ?a) and (free ?r))
((shut ?a) (free ?r)); ((free ?r))"""


def _forms(before: str, forms: str) -> list[tuple[str, str]]:
    return [(before, form) for form in re.split(r"; |\n", forms)]


GO = DEPOT.splitlines()[10].strip()[:-1]
OPENED = [
    *_forms(CONDITION, BARE),
    *_forms(CHANGE, "((battery ?r) := (most ?r)); ((free ?r) (shut ?b))"),
    *_forms(GO.partition(" ")[2], "((not (at ?r ?a)) (at ?r ?b)); ((at ?r ?b))"),
    (GO, f"({GO})"),
    ("(?r - robot ?a ?b - place)", "((?r - robot) (?a ?b - place))"),
]
"""Right parts, and forms that begin with a parenthesis more."""

FORMS = [
    *_forms(CONDITION, CONDITIONS),
    *_forms(CHANGE, CHANGES),
    *_forms(GO.partition(" ")[2], "(not (at ?r ?a)) (at ?r ?b); (and (delete (at ?r ?a)) (add (at ?r ?b)))"),
    *_forms(":effect (and (not (at ?r ?a))", ":effects (and (not (at ?r ?a)); effect (and (not (at ?r ?a))"),
    *_forms("(:types robot place)", "(:types (robot place)); (types robot place); (:type robot place)"),
    *_forms("(:action go", "(:actions go; (action go"),
    ("depot)\n  (:requirements", "depot :requirements"),
    *_forms("(over all (night))", "(overall (night)); (over (night)); (at all (night)); (over-all (night))"),
    *_forms("(at start (at ?r ?p))", "(at-start (at ?r ?p)); (at begin (at ?r ?p)); (start (at ?r ?p))"),
    *_forms(
        "(>= (battery r2) (most r2))",
        "(battery r2 >= (most r2)); (=> (battery r2) (most r2))",
    ),
    ("(and (at r2 yard) (>= (battery r2) (most r2)) (not (shut hall)))", "(at r2 yard) (not (shut hall))"),
    ("(at r2 hall) (free r2)", "(and (at r2 hall) (free r2))"),
    ("r2 - robot hall yard - place", "(r2 - robot) (hall yard - place)"),
    ("(:metric minimize (battery r2))", "(metric minimise battery)"),
    *OPENED,
]
"""Right parts, and forms of them that are repaired or for which the check says the form of PDDL."""

PLACES = [
    *[("(free ?r - robot)", new) for new in ("(free ?r - robot", "(free ?r - robot))")],
    *[("(night))", new) for new in ("(night)", "(night)))")],
    *[("(free ?r))\n", new) for new in ("(free ?r)\n", "(free ?r)))\n")],
    *[("(at ?r ?p) (free", new) for new in ("(at ?r ?p (free", "at ?r ?p) (free", "((at ?r ?p) (free")],
    *[("(shut ?p)))\n", new) for new in ("(shut ?p))\n", "(shut ?p))))\n")],
    *[("?duration 2)", new) for new in ("?duration 2", "?duration 2))")],
    *[("(at end (free ?r))", new) for new in ("(at end (free ?r)", "at end (free ?r))", "(at end ((free ?r))")],
    *[("(shut ?p))))))", new) for new in ("(shut ?p)))))", "(shut ?p)))))))")],
    *[("- place)\n  (:init", new) for new in ("- place\n  (:init", "- place))\n  (:init")],
    *[("(= (battery r2) 5)", new) for new in ("(= (battery r2) 5", "(= (battery r2) 5))")],
    *[("(at r2 yard) ", new) for new in ("(at r2 yard ", "(at r2 yard)) ")],
    *[("(shut hall))))\n", new) for new in ("(shut hall)))\n", "(shut hall)))))\n")],
]
"""Right parts, and the same with a parenthesis too few or too many."""


@pytest.mark.parametrize(("right", "form"), [("(", "("), *FORMS], ids=lambda text: text.replace("\n", " "))
def test_a_form_that_is_repaired_hides_no_parenthesis_elsewhere(right: str, form: str) -> None:
    assert right in DEPOT + SHIFT
    checked = 0
    for file in (DEPOT, SHIFT):
        text = file.replace(right, form, 1)
        wanted = [match[0] for match in TOKEN.finditer(text)]
        for old, new in PLACES:
            is_open = (right, form) in OPENED and new.count("(") > old.count("(")  # it may as well be the surplus one
            is_elsewhere = text.count(old) == 1 and old.strip() not in form and (text != file or right == form)
            if is_elsewhere and not is_open:
                wrong = text.replace(old, new)
                fixed = edited(wrong, edits := balancing(wrong))
                assert ([match[0] for match in TOKEN.finditer(fixed)], len(edits)) == (wanted, 1), (new, edits)
                checked += 1
    assert checked > 5


@pytest.mark.parametrize("field", [":precondition", ":condition"])
@pytest.mark.parametrize("first", ["(at ?r ?p)", "(>= (battery ?r) 2)", "(not (shut ?p))"])
@pytest.mark.parametrize("others", ["(free ?r)", "(free ?r) (>= (battery ?r) 1)", "(or (night) (free ?r)) (free ?r)"])
def test_a_forgotten_and_is_written_where_it_belongs(field: str, first: str, others: str) -> None:
    right = f"(define (domain d) (:predicates (night)) (:action go {field} (and {first} {others}) :effect (night)))"
    wrong = right.replace("(and ", "", 1)
    assert balancing(right) == []
    assert balancing(wrong) == [(place := wrong.index(first), place, "(and ")]
    (defect,) = read_domain(wrong).defects
    assert f"(and is missing here: line 1, before {first.split(' (')[0]}" in defect.message
