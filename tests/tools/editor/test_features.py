"""The features of an editor as functions of documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.pddl.conditions import CONSTRAINTS
from pddlego.pddl.constraints import MEANINGS, constraint_form
from pddlego.pddl.sexpr import TOKEN, read_sexprs
from pddlego.tools.editor import features
from pddlego.tools.editor.document import Document
from tests.shared import COMPETITION, SUITES

DOMAIN = """(define (domain depot)
  (:types truck crate - object)
  ; things that are fixed
  (:constants home - object)
  (:predicates
    (in ?c - crate ?t - truck) ; the crate is in the truck
    (free ?t - truck))
  (:functions (load ?t - truck))
  (:action board :parameters (?c - crate ?t - truck)
    :precondition (and (free ?t) (forall (?x - crate) (not (in ?x ?t))))
    :effect (and (in ?c ?t) (not (free ?t)) (increase (load ?t) 1))))
"""
PROBLEM = """(define (problem one) (:domain depot) (:objects t1 - truck c1 c2 - crate)
  (:init (free t1) (= (load t1) 0)) (:goal (in c1 t1)))
"""
domain, problem = Document("file:///d.pddl", DOMAIN), Document("file:///p.pddl", PROBLEM)


def at(document: Document, text: str, skip: int = 0) -> int:
    return document.text.index(text) + skip


def texts(uses: list[features.Use]) -> list[str]:
    return [file.text[symbol.start : symbol.end] for file, symbol in uses]


def test_hover_says_signature_comment_and_uses() -> None:
    shown = features.hover(problem, at(problem, "in c1"), [domain])
    assert "(in ?c - crate ?t - truck)" in shown
    assert "the crate is in the truck" in shown
    assert "action board (2)" in shown and ":goal (1)" in shown
    assert features.hover(domain, 0, []) == ""
    assert "things that are fixed" in features.hover(domain, at(domain, "home"), [])


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_hover_says_what_a_constraint_means(name: str) -> None:
    form = constraint_form(name).replace("TIME", "3").replace("(…)", "(free t1)")
    text = PROBLEM.rstrip()[:-1] + f" (:constraints (and {form})))"
    document = Document("file:///p.pddl", text)
    for offset in range(at(document, form, 1), at(document, form, 1 + len(name)) + 1):
        shown = features.hover(document, offset, [domain])
        assert constraint_form(name) in shown and MEANINGS[name] in shown
    assert "free ?t" in features.hover(document, at(document, form, form.index("free")), [domain])
    outside = Document("file:///q.pddl", text.replace(":constraints", ":goal"))
    assert "constraint" not in features.hover(outside, at(outside, form, 1), [domain])


def test_each_constraint_has_a_meaning() -> None:
    assert MEANINGS.keys() == CONSTRAINTS.keys()


def test_definition_is_in_the_domain() -> None:
    uses = features.occurrences(problem, at(problem, "load"), [domain])
    ((file, symbol),) = [use for use in uses if use[1].signature]
    assert (file, symbol.start) == (domain, at(domain, "load"))


def test_a_variable_is_found_in_its_quantifier_only() -> None:
    assert texts(features.occurrences(domain, at(domain, "?x"), [])) == ["?x", "?x"]
    uses = features.occurrences(domain, at(domain, "(?c - crate ?t", 1), [])
    assert texts(uses) == ["?c", "?c"] and uses[1][1].start > at(domain, ":effect")


def test_rename_covers_all_files_and_refuses_what_cannot_be_a_name() -> None:
    renamed = features.rename_all(domain, at(domain, "free"), [problem], "idle")
    assert not isinstance(renamed, str) and renamed[0] == "idle" and texts(renamed[1]) == ["free"] * 4
    assert features.rename_all(domain, at(domain, "?x"), [], "y")[0] == "?y"
    assert isinstance(features.rename_all(domain, at(domain, "free"), [problem], "in"), str)
    assert isinstance(features.rename_all(domain, at(domain, "free"), [problem], "a b"), str)
    assert isinstance(features.rename_all(domain, 0, [problem], "a"), str)


def test_objects_of_another_problem_are_not_renamed() -> None:
    other = Document("file:///q.pddl", PROBLEM)
    renamed = features.rename_all(problem, at(problem, "c1"), [domain, other], "box")
    assert not isinstance(renamed, str) and {file.uri for file, _ in renamed[1]} == {problem.uri}


@pytest.mark.parametrize(
    ("typed", "words", "absent"),
    [
        ("(:goal (in ", {"c1", "c2"}, {"t1", "home"}),
        ("(:goal (in c1 ", {"t1"}, {"c1"}),
        ("(:goal (", {"in", "free", "load", "and", "preference"}, {"c1", "always", "sometime"}),
        ("(:goal (or (", {"in", "and"}, {"preference"}),
        ("(:constraints (", {"always", "sometime-after", "preference", "and"}, {"in", "or"}),
        ("(:constraints (and (preference p (", {"always", "at end"}, {"in"}),
        ("(:constraints (always (", {"in", "or"}, {"always", "preference"}),
        ("(:metric minimize (", {"is-violated", "+", "load"}, {"in"}),
        ("(:objects t2 - ", {"truck", "crate", "object"}, {"in"}),
    ],
)
def test_completion(typed: str, words: set[str], absent: set[str]) -> None:
    text = PROBLEM[: PROBLEM.index("(:goal")] + typed
    names = {item[0] for item in features.complete(Document("file:///p.pddl", text), len(text), [domain])}
    assert words <= names and not absent & names


TIMED = """(define (domain bus) (:types bus stop)
  (:predicates (at ?b - bus ?s - stop) (open ?s - stop))
  (:functions (fuel ?b - bus) (total))
  (:action fill :parameters (?b - bus) :precondition PRE :effect EFF)
  (:durative-action ride :parameters (?b - bus ?s - stop)
    :duration DUR
    :condition DCON
    :effect DEFF KEY))
"""
TIMES = {"at start", "at end"}
ORDERS = {"=", "<", ">", "<=", ">="}
CHANGES = {"assign", "increase", "decrease", "scale-up", "scale-down"}
PLACES = ("PRE", "EFF", "DUR", "DCON", "DEFF", "KEY")


@pytest.mark.parametrize(
    ("place", "typed", "words", "absent"),
    [
        ("PRE", "(", {"at", "open", "imply"} | ORDERS, TIMES | CHANGES | {"over all", "when", "?duration"}),
        ("EFF", "(", {"at", "when"} | CHANGES, TIMES | ORDERS | {"over all", "imply"}),
        ("EFF", "(when (", {"at", "or"} | ORDERS, CHANGES),
        ("EFF", "(when (open ?s) (", {"at"} | CHANGES, ORDERS),
        ("DUR", "(", {"=", "<=", ">=", "and"}, TIMES | {"at", "open", "<"}),
        ("DUR", "(= ", {"?duration"}, TIMES),
        ("DUR", "(= ?duration (", {"fuel", "total", "+", "*"}, {"at", "open", "total-time"}),
        ("DCON", "(", TIMES | {"over all", "and"}, {"open", "assign"}),
        ("DCON", "(and (", TIMES | {"over all"}, {"open"}),
        ("DCON", "(at ", {"start", "end"}, {"all"}),
        ("DCON", "(over ", {"all"}, {"start"}),
        ("DCON", "(at start (", {"at", "open"} | ORDERS, TIMES | CHANGES),
        ("DCON", "(at start (>= (", {"fuel"}, {"open"}),
        ("DEFF", "(", TIMES | {"when"}, {"over all", "open"}),
        ("DEFF", "(at end (", {"open"} | CHANGES, TIMES | ORDERS),
        ("DEFF", "(at end (decrease (", {"fuel", "total"}, {"open"}),
        ("DEFF", "(at end (decrease (fuel ?b) ", {"?duration"}, TIMES),
        ("KEY", ":", set(), {":condition", ":precondition"}),
    ],
)
def test_completion_knows_time_and_numbers_in_their_places(
    place: str, typed: str, words: set[str], absent: set[str]
) -> None:
    text = TIMED
    for name in PLACES:
        text = text.replace(f" {name}", f" {'@' if name == place else '()' if name != 'KEY' else ''}")
    offset = text.index("@") + len(typed)
    text = text.replace("@", typed + ")" * typed.count("("))
    names = {item[0] for item in features.complete(Document("file:///d.pddl", text), offset, [])}
    assert words <= names and not absent & names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(define (domain d) (:durative-action a :", {":parameters", ":duration", ":condition", ":effect"}),
        ("(define (domain d) (:durative-action a :parameters () :", {":duration", ":condition", ":effect"}),
        ("(define (domain d) (:action a :", {":parameters", ":precondition", ":effect"}),
        ("(define (domain d) (:action a :effect ", set()),
        ("(define (problem p) (:metric ", {"minimize", "maximize"}),
        ("(define (problem p) (:metric minimize (", {"is-violated", "total-time", "+", "-", "*", "/"}),
        ("(define (problem p) (:init (", {"=", "at"}),
        ("(define (problem p) (:init (= (", set()),
        ("(:goal", set()),
        ("(:goal (", {"and", "or"}),
    ],
)
def test_completion_knows_the_keywords_of_a_section(text: str, words: set[str]) -> None:
    names = {item[0] for item in features.complete(Document("file:///d.pddl", text), len(text), [])}
    assert names == words or (text.endswith("(:goal (") and words <= names)


@given(st.data())
def test_completion_is_total(data: st.DataObject) -> None:
    pieces = [
        "(",
        ")",
        " ",
        ":action ",
        ":durative-action ",
        "at",
        " start",
        "when",
        "=",
        ":effect",
        ":metric",
        "a",
        "-",
    ]
    text = "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=30)))
    features.complete(Document("file:///d.pddl", text), data.draw(st.integers(0, len(text))), [])


def test_the_end_of_an_open_text_is_in_its_open_lists() -> None:
    text = PROBLEM[: PROBLEM.index("(:goal")] + "(:goal (and (in c1 t1)"
    around = Document("file:///p.pddl", text).lists_at(len(text))
    assert [part[0] for part in around][:3] == ["define", ":goal", "and"]


def test_outline_has_sections_actions_and_declarations() -> None:
    outline = features.document_outline(domain)
    assert outline is not None and outline.name == "depot"
    names = {child.name: [part.name for part in child.children] for child in outline.children}
    assert names[":predicates"] == ["in", "free"] and "board" in names


def test_formatting_indents_and_keeps_the_rest() -> None:
    ragged = DOMAIN.replace("\n  ", "\n        ")
    assert features.formatted(features.formatted(ragged)) == features.formatted(ragged)
    assert features.formatted("(a\n  ) )") == "(a\n  ) )"


@pytest.mark.parametrize(
    ("after", "groups"),
    [
        ("a\nb\nc\n", []),
        ("a\nb\nc", []),
        ("x\nb\ny\n", [(0, 1, "x\n"), (2, 3, "y\n")]),
        ("a\nc\n", [(1, 2, "")]),
        ("a\nb\nb\nc\n", [(2, 2, "b\n")]),
    ],
)
def test_changed_lines(after: str, groups: list[tuple[int, int, str]]) -> None:
    assert features.changed_lines("a\nb\nc\n", after) == groups


LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n"])).map("".join)


@given(LINES, LINES)
def test_changed_lines_make_the_new_text(before: str, after: str) -> None:
    lines = before.splitlines(keepends=True)
    for first, end, text in reversed(features.changed_lines(before, after)):
        lines[first:end] = [text]
    assert "".join(lines) in (after, f"{after}\n")


PIECES = st.sampled_from(["(", ")", " ", "\n", "\r\n", "; note (\n", "word", "?x", "-", "\t", "\f", "\u00e9"])


@given(st.lists(PIECES).map("".join) | st.text())
def test_any_text_is_a_document_and_formatting_loses_nothing(text: str) -> None:
    formatted = features.formatted(text)
    assert [token[0].rstrip() for token in TOKEN.finditer(formatted)] == [
        token[0].rstrip() for token in TOKEN.finditer(text)
    ]
    assert features.formatted(formatted) == formatted
    assert read_sexprs(formatted).expressions == read_sexprs(text).expressions
    document = Document("file:///x.pddl", f"(define (domain d) (:predicates (a)) {text}")
    for offset in range(0, len(document.text), 5):
        features.hover(document, offset, [])
        features.complete(document, offset, [])
    features.document_outline(document)


@pytest.mark.shared("competition")
@pytest.mark.parametrize("name", SUITES)
def test_names_of_competition_files(name: str) -> None:
    """Every name has the place that it says, and every predicate and action is declared."""
    files = [Document(kind, (COMPETITION / name / f"{kind}.pddl").read_text("utf-8")) for kind in ("domain", "problem")]
    declared = {symbol.key for file in files for symbol in file.symbols if symbol.signature}
    for file in files:
        for symbol in file.symbols:
            assert file.text[symbol.start : symbol.end].lower() == symbol.key[1]
            assert symbol.key in declared or symbol.key[0] == "type" or symbol.key[1].startswith("total")
