"""Conditions and effects as values: text, reader, visitors."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given

from pddlego.pddl import (
    DefectKind,
    Domain,
    Edit,
    Formula,
    Problem,
    Renaming,
    SectionEdit,
    apply_edit,
    parse_condition,
)
from pddlego.pddl.check import check_domain
from pddlego.pddl.conditions import (
    Atom,
    Change,
    Compare,
    Forall,
    Not,
    Term,
    TypedName,
    Unreadable,
    When,
    atoms_of,
    changed_atoms,
    read_condition,
    read_effect,
    typed_text,
    walk,
)
from pddlego.pddl.domain import parse_domain, read_domain
from pddlego.pddl.perturb import anonymous
from pddlego.pddl.problem import Later, Metric, read_problem
from pddlego.pddl.sexpr import read_sexprs
from pddlego.planning import ProcessPlanner, Search
from tests.pddl.strategies import atoms, comparisons, conditions, domains, effects, problems


@given(conditions | comparisons)
def test_a_condition_is_read_as_it_is_written(condition: Formula) -> None:
    assert read_condition(read_sexprs(str(condition)).expressions[0]) == condition


@given(effects)
def test_an_effect_is_read_as_it_is_written(effect: Formula) -> None:
    assert read_effect(read_sexprs(str(effect)).expressions[0]) == effect


@given(domains)
def test_a_domain_is_read_as_it_is_written(domain: Domain) -> None:
    assert read_domain(str(domain)).domain == domain


@given(problems, comparisons, atoms)
def test_numbers_and_times_of_a_problem_are_read_as_they_are_written(
    problem: Problem, value: Compare, atom: Atom
) -> None:
    term = Term("total-cost", ())
    values = frozenset({Compare("=", term, Term("0")), replace(value, operator="=")})
    later = frozenset({Later(Decimal("2.5"), Not(atom)), Later(Decimal(3), Compare("=", term, Term("1")))})
    whole = replace(problem, values=values, metric=Metric("minimize", term), later=later)
    assert read_problem(str(whole)).problem == whole


@given(conditions)
def test_renaming_to_the_same_names_changes_nothing(condition: Formula) -> None:
    assert Renaming({"kitchen": "kitchen"}, {"at": "at"}).formula(condition) == condition


@given(conditions)
def test_every_atom_is_renamed(condition: Formula) -> None:
    renamed = Renaming({"kitchen": "pantry"}, {"at": "is_at"}).formula(condition)
    assert not any(atom.predicate == "at" or "kitchen" in atom.args for atom in atoms_of(renamed))


def test_positions_are_those_of_the_text_and_do_not_compare() -> None:
    condition = parse_condition("(and (at ?x)\n  (not (have coin)))")
    places = {str(node): node.place for node, _ in walk(condition)}
    assert places["(at ?x)"] == (1, 6)
    assert places["(have coin)"] == (2, 8)
    assert condition == parse_condition("(and (at ?x) (not (have coin)))")


def test_variables_are_bound_where_their_quantifier_says() -> None:
    condition = parse_condition("(and (p ?x) (exists (?y - room) (forall (?z) (q ?y ?z))))")
    scopes = {str(node): dict(scope) for node, scope in walk(condition)}
    assert scopes["(p ?x)"] == {}
    assert scopes["(q ?y ?z)"] == {"?y": "room", "?z": "object"}


def test_conditional_effects_change_what_their_effect_says() -> None:
    effect = read_effect(read_sexprs("(forall (?x) (when (p ?x) (and (q ?x) (not (r ?x)))))").expressions[0])
    assert isinstance(effect, Forall)
    assert isinstance(effect.part, When)
    assert [(atom.predicate, value) for atom, value in changed_atoms(effect)] == [("q", True), ("r", False)]


def test_numeric_effects_are_represented() -> None:
    effect = read_effect(read_sexprs("(increase (total-cost) (distance ?a ?b))").expressions[0])
    assert effect == Change("increase", Term("total-cost", ()), Term("distance", (Term("?a"), Term("?b"))))


def test_what_is_not_a_condition_keeps_its_text_and_says_why() -> None:
    for text in ("(not (p) (q))", "(exists ?x (p ?x))", "(when (p) (q))", "(at (next ?x))"):
        condition = parse_condition(text)
        assert isinstance(condition, Unreadable)
        assert str(condition) == text
        assert condition.reason.fault


def test_object_is_written_where_it_would_change_the_meaning() -> None:
    names = (TypedName("a"), TypedName("b", "room"), TypedName("c", "room"), TypedName("d"))
    assert typed_text(names) == "a - object b c - room d"


def test_a_derived_predicate_may_be_asked_for_in_a_conditional_effect() -> None:
    domain = parse_domain("""(define (domain d) (:predicates (p ?x) (q ?x) (r ?x))
      (:derived (r ?x) (p ?x))
      (:action a :parameters (?x) :effect (when (r ?x) (q ?x))))""")
    assert not check_domain(domain)


def test_atoms_compare_without_their_position() -> None:
    assert Atom("p", ("a",)) in {parse_condition("  (p a)")}


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("(exists (x - room) (at x))", "x is not a variable"),
        ("(forall (?x ?x - room) (at ?x))", "bound twice"),
        ("(forall () (at ?a))", "write (forall (?x - type) (…))"),
        ("(exists (- room) (at ?a))", "write (exists (?x - type) (…))"),
        ("(= ?a)", "'=' takes 2 part(s)"),
        ("(nott (at ?a))", "did you mean 'not'?"),
        ("(at strat (open ?a))", "did you mean 'at start'?"),
        ("(ovr all (open ?a))", "did you mean 'over all'?"),
        ("(increase (cost) 1)", "'increase' is not allowed in a condition; write it in the effect"),
    ],
)
def test_malformed_conditions_are_reported_once_where_they_are(condition: str, says: str) -> None:
    text = f"""(define (domain d) (:types room) (:predicates (at ?r - room) (q))
  (:action a :parameters (?a - room)
    :precondition (and (at ?a)
                       {condition})
    :effect (q)))"""
    (defect,) = (
        item for item in check_domain(read_domain(text).domain) if item.kind is not DefectKind.UNDECLARED_OBJECT
    )
    assert says in defect.message
    assert defect.place == (4, 24)


def test_bare_words_have_their_own_position() -> None:
    text = "(define (domain d) (:predicates (q))\n  stray\n  (:action a :effect (and (q)\n    foo)))"
    reading = read_domain(text)
    assert [defect.place for defect in reading.defects] == [(2, 3)]
    assert [item.place for item in check_domain(reading.domain)] == [(4, 5)]
    problem = read_problem("(define (problem p) (:domain d) (:objects)\n (:init (q) loose) (:goal (q)))")
    assert [defect.place for defect in problem.defects] == [(2, 13)]


def test_a_repeated_field_of_an_action_is_a_defect() -> None:
    reading = read_domain("(define (domain d) (:predicates (p) (q)) (:action a :effect (p) :effect (q)))")
    assert reading.defects[0].message == ":effect appears twice; write it once. In action a"


def test_types_of_either_are_renamed_one_by_one() -> None:
    domain = parse_domain("""(define (domain d) (:types key thing) (:predicates (p ?x - (either key thing)))
      (:action a :parameters (?x - key) :effect (p ?x)))""")
    assert not [item for item in check_domain(anonymous(domain).domain) if item.blocking]


def test_numbers_survive_an_edit_and_a_renaming() -> None:
    text = """(define (problem p) (:domain d) (:objects a) (:init (q a) (= (cost a) 3)) (:goal (q a))
      (:metric minimize (cost a)))"""
    problem = read_problem(text).problem
    edited = apply_edit(problem, Edit(SectionEdit(replace=(("a", "b"),)))).problem
    assert str(Compare("=", Term("cost", (Term("b"),)), Term("3"))) in str(edited)
    assert "(:metric minimize (cost b))" in str(edited)


def test_an_engine_gets_the_canonical_order(planner: ProcessPlanner) -> None:
    text = """(define (domain d) (:predicates (p ?x))
      (:action a :parameters (?x - t) :effect (p ?x) :precondition (and () (q ?x)))
      (:types t) (:predicates (q ?x - t)))"""
    problem = read_problem("(define (problem z) (:domain d) (:objects o - t) (:init (q o)) (:goal (p o)))").problem
    assert planner.solve(parse_domain(text), problem, Search()).plan is not None


@pytest.mark.parametrize("length", [101, 5_000])
def test_a_number_that_is_too_long_is_an_error_at_its_place(length: int) -> None:
    number = "7" * length
    domain = read_domain(
        f"(define (domain d) (:predicates (p)) (:action a :parameters ()\n :effect (and (p) (increase "
        f"(total-cost) {number}))))"
    )
    (defect,) = domain.defects
    assert (defect.place, f"{length:,} characters" in defect.message) == ((2, 42), True)
    problem = read_problem(f"(define (problem p) (:domain d) (:init\n (= (f) -{number}.5)) (:goal (p)))")
    assert problem.defects[0].place == (2, 9)


def test_a_number_of_a_hundred_digits_is_read() -> None:
    problem = read_problem(f"(define (problem p) (:domain d) (:init (= (f) {'7' * 100})) (:goal (p)))")
    assert problem.defects == ()
