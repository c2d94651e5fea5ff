from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.pddl import DefectKind, Domain, Problem, TypedName, check, parse_domain, parse_problem
from pddlego.pddl.check import check_domain
from pddlego.pddl.conditions import parse_condition
from pddlego.pddl.domain import read_domain

DOMAIN = parse_domain("""(define (domain d) (:requirements :adl)
  (:types room thing - object small - thing direction)
  (:constants north south - direction)
  (:predicates (at ?r - room) (near ?r - room) (link ?a ?b - room ?d - direction)
               (in ?t - thing ?x - (either room thing)))
  (:derived (near ?r - room) (at ?r))
  (:action go :parameters (?r - room) :effect (at ?r)))""")


def problem(objects: str = "a b - room c - small", init: str = "(at a)", goal: str = "(at b)") -> str:
    return f"(define (problem p) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}))"


def test_a_sound_problem_has_no_defect() -> None:
    assert check(DOMAIN, problem(init="(at a) (link a b north) (in c a) (in c c)")) == ()


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        (problem(init="(at x)"), DefectKind.UNDECLARED_OBJECT, "add 'x - room' to the objects"),
        (problem("kitchen - room", "(at kitchn)", "(at kitchen)"), DefectKind.UNDECLARED_OBJECT, "mean kitchen?"),
        (problem(init="(att a)"), DefectKind.UNDECLARED_PREDICATE, "predicate att is not declared"),
        (problem(init="(blah a)"), DefectKind.UNDECLARED_PREDICATE, "use one of at, in, link, near"),
        (problem(init="(nearby a)"), DefectKind.UNDECLARED_PREDICATE, "did you mean near?"),
        (problem("kitchen - room", "(at cuisine)"), DefectKind.UNDECLARED_OBJECT, "to the objects"),
        (problem("parcel - room", "(at package)"), DefectKind.UNDECLARED_OBJECT, "mean parcel?"),
        (problem("a b - rooom"), DefectKind.UNDECLARED_TYPE, "type rooom does not exist; did you mean room? The types"),
        (problem("a b - vehicle"), DefectKind.UNDECLARED_TYPE, "type vehicle does not exist; the types are direction,"),
        (problem(init="(at a b)"), DefectKind.ARITY, "at takes 1 argument(s), as in (at ?r - room)"),
        (problem(init="(at c)"), DefectKind.ARGUMENT_TYPE, "c is a small, but at takes a room there"),
        (problem(init="(link a b c)"), DefectKind.ARGUMENT_TYPE, "takes a direction"),
        (problem(init="(in c north)"), DefectKind.ARGUMENT_TYPE, "takes a (either room thing)"),
        (problem("a a b - room"), DefectKind.DUPLICATE_OBJECT, "a is declared twice"),
        (problem("a b - room a - thing"), DefectKind.TWO_TYPES, "two types, room and thing"),
        (problem("a b - room e - (either room thing)"), DefectKind.TWO_TYPES, "give it one type"),
        (problem("a b - room 1x - room"), DefectKind.BAD_NAME, "object 1x"),
        (problem(init="(at a) (not (at b))"), DefectKind.NEGATED_INIT, "leave it out"),
        (problem(init="(at a) (not (at a))"), DefectKind.NEGATED_INIT, "both listed and negated"),
        ("(define (problem p) (:domain d) (:objects a - room) (:goal (at a)))", DefectKind.MISSING_SECTION, ":init"),
        (problem()[:-1], DefectKind.SYNTAX, "a parenthesis is missing here"),
        (problem(goal="(at ?x)"), DefectKind.VARIABLE, "variable ?x is not bound"),
        (problem(init="(at ?x)"), DefectKind.VARIABLE, "variable ?x is not bound"),
        (problem(goal="(exists (?x - thing) (at ?x))"), DefectKind.ARGUMENT_TYPE, "?x is a thing"),
        (problem(goal="(exists (?x - nothing) (at ?x))"), DefectKind.UNDECLARED_TYPE, "nothing"),
        (problem(goal="(exists (at a))"), DefectKind.SYNTAX, "write (exists"),
        (problem(goal="(not (at a) (at b))"), DefectKind.SYNTAX, "takes 1 part"),
        (problem(init="(near a)"), DefectKind.DERIVED_INIT, "leave it out of :init"),
        ("(define (problem p) (:domain e) (:objects) (:init) (:goal (and)))", DefectKind.DOMAIN_NAME, "domain is e"),
    ],
)
def test_every_defect_is_found_and_says_what_to_do(text: str, kind: DefectKind, says: str) -> None:
    result = [item for item in check(DOMAIN, text) if item.kind is kind]
    assert result, [str(item) for item in check(DOMAIN, text)]
    assert any(says in item.message for item in result), [str(item) for item in result]


def test_a_variable_of_either_type() -> None:
    assert check(DOMAIN, problem(goal="(exists (?x - (either room thing)) (in c ?x))")) == ()
    kinds = [item.kind for item in check(DOMAIN, problem(goal="(exists (?x - (either room thing)) (at ?x))"))]
    assert kinds == [DefectKind.ARGUMENT_TYPE]


@pytest.mark.parametrize("kind", ["rooom", "(either rooom small)"])
def test_an_undeclared_type_has_no_further_errors(kind: str) -> None:
    text = problem(f"a - {kind} b - room", "(at a)", f"(and (at b) (exists (?x - {kind}) (at ?x)))")
    assert {item.kind for item in check(DOMAIN, text)} <= {DefectKind.UNDECLARED_TYPE, DefectKind.TWO_TYPES}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("(carries ?r)", "(carrying ?r)", "did you mean carries? Else add it to (:predicates …)"),
        ("(carries ?r)", "(blah ?r)", "is not declared; add it to (:predicates …)"),
        ("?r - robot)\n", "?r - robots)\n", "did you mean robot? Else add it to (:types …)"),
        ("(carries gate)", "(carries gates)", "did you mean gate? Else add it to (:constants …)"),
    ],
)
def test_a_similar_name_is_advised_beside_a_declaration(old: str, new: str, says: str) -> None:
    text = """(define (domain d) (:types robot) (:constants gate - robot) (:predicates (carries ?r - robot))
      (:action a :parameters (?r - robot)
        :precondition (carries gate) :effect (carries ?r)))"""
    assert old in text
    assert any(says in defect.message for defect in check_domain(read_domain(text.replace(old, new)).domain))


def test_all_defects_come_at_once() -> None:
    text = problem("a - room a - thing", "(at x) (att a) (at a a) (not (at b))", "(at ?x)")[:-1]
    kinds = {item.kind for item in check(DOMAIN, text)}
    assert len(kinds) >= 6


def test_what_a_planner_does_not_mind_is_not_blocking() -> None:
    harmless = check(DOMAIN, problem("a a b - room", "(at a) (not (at b))"))
    assert len(harmless) == 2
    assert not any(item.blocking for item in harmless)


def test_a_value_is_checked_like_a_text() -> None:
    value = Problem(
        "p", "d", frozenset({TypedName("a", "room"), TypedName("a", "thing")}), goal=parse_condition("(at a)")
    )
    assert [item.kind for item in check(DOMAIN, value)] == [DefectKind.TWO_TYPES]


@given(st.text(alphabet="()abnort:-? \nexistsfl=", max_size=120))
def test_checking_is_total(goal: str) -> None:
    check(DOMAIN, problem(goal=goal))
    check(DOMAIN, goal)


def test_the_starting_problem_of_coin_is_sound() -> None:
    from pddlego.util import resources

    domain: Domain = parse_domain(resources.read("domains", "coin.pddl"))
    assert check(domain, parse_problem(resources.read("domains", "coin-start.pddl"))) == ()


def test_every_defect_has_a_position_in_the_text() -> None:
    text = """(define (problem p) (:domain d)
  (:objects a - room
            c - nothing)
  (:init (at a)
         (at x))
  (:goal (and (at a)
              (in ?y a))))"""
    places = {item.kind: item.place for item in check(DOMAIN, text)}
    assert places == {
        DefectKind.UNDECLARED_TYPE: (3, 13),
        DefectKind.UNDECLARED_OBJECT: (5, 10),
        DefectKind.VARIABLE: (7, 15),
    }
