from __future__ import annotations

import random

import pytest

from pddlego.methods.textgames.loading import load
from pddlego.pddl import TRUE, Atom, Domain, Problem, TypedName, parse_condition, parse_domain
from pddlego.pddl.plain import write_out
from pddlego.planning import ProcessPlanner, Search
from pddlego.planning.validation import goal_holds

CAUGHT = parse_domain("""(define (domain d) (:requirements :adl :derived-predicates)
  (:types thing) (:predicates (link ?a ?b - thing) (lonely ?x - thing) (known ?x - thing))
  (:derived (lonely ?x - thing) (not (exists (?y - thing) (link ?x ?y))))
  (:derived (known ?x - thing) (link ?x ?x))
  (:derived (known ?x - thing) (exists (?y - thing) (and (link ?y ?x) (not (lonely ?x)))))
  (:action use :parameters (?y - thing) :precondition (lonely ?y)
    :effect (and (link ?y ?y) (when (known ?y) (not (link ?y ?y))))))""")


def test_a_definition_does_not_catch_the_variables_of_its_caller() -> None:
    written, goal = write_out(CAUGHT, parse_condition("(exists (?y - thing) (and (lonely ?y) (known ?y)))"))
    assert parse_domain(str(written)) == written
    assert {predicate.name for predicate in written.predicates} == {"link"}
    assert not written.derived
    objects = frozenset(TypedName(name, "thing") for name in "abc")
    rng = random.Random(1)
    answers = set()
    for _ in range(60):
        pairs = [(a, b) for a in "abc" for b in "abc" if rng.random() < 0.3]
        facts = frozenset(Atom("link", pair) for pair in pairs)
        first = Problem(
            "p", "d", objects, facts, parse_condition("(exists (?y - thing) (and (not (lonely ?y)) (known ?y)))")
        )
        second = first.with_goal(write_out(CAUGHT, first.goal)[1])
        answers.add(goal_holds(CAUGHT, first))
        assert goal_holds(CAUGHT, first) == goal_holds(written, second)
    assert answers == {True, False}
    assert "lonely" not in str(goal)


def test_conditions_and_effects_of_actions_are_written_out() -> None:
    (action,) = write_out(CAUGHT, TRUE)[0].actions
    assert "lonely" not in str(action) and "known" not in str(action)


def test_the_ladder_of_cooking_means_the_same_without_its_derived_predicates() -> None:
    setting = load("cooking-hard")
    seen: set[tuple[str, bool]] = set()
    for number in range(40):
        problem = _cooking(setting.start.domain, random.Random(number))
        for rung in setting.start.ladder:
            plain, goal = write_out(setting.start.domain, rung.goal)
            holds = goal_holds(setting.start.domain, problem.with_goal(rung.goal))
            assert holds == goal_holds(plain, problem.with_goal(goal)), rung.name
            seen.add((rung.name, holds))
    assert len(seen) >= 10, "most goals were met true and false"


def _cooking(domain: Domain, rng: random.Random) -> Problem:
    kinds = {"location": ["hall", "loc1"], "container": ["fridge"], "item": ["carrot", "salt"]}
    objects = frozenset(TypedName(name, kind) for kind, names in kinds.items() for name in names)
    named: dict[str, list[str]] = {}
    for item in (*objects, *domain.constants):
        for kind in domain.types[item.type]:
            named.setdefault(kind, []).append(item.name)
    facts = set()
    for predicate in domain.predicates:
        if predicate.name in ("needed", "missing"):
            continue
        for _ in range(rng.choice([0, 1, 1, 3])):
            args = tuple(rng.choice(sorted(named[parameter.type])) for parameter in predicate.parameters)
            facts.add(Atom(predicate.name, args))
    return Problem("p", domain.name, objects, frozenset(facts))


def test_a_recursive_definition_is_named() -> None:
    text = "(define (domain d) (:predicates (p ?x) (q ?x)) (:derived (p ?x) (q ?x)) (:derived (q ?x) (not (p ?x))))"
    domain = parse_domain(text)
    assert domain.circles == dict.fromkeys("pq", frozenset("pq"))
    with pytest.raises(ValueError, match="is recursive"):
        write_out(domain, TRUE)


def test_a_domain_without_derived_predicates_stays_as_it_is(coin: object) -> None:
    domain = load("coin").start.domain
    goal = Atom("at", ("x",))
    assert write_out(domain, goal) == (domain, goal)


def test_new_names_are_used_by_nobody() -> None:
    text = """(define (domain d) (:types thing) (:predicates (link ?a ?b - thing) (r ?x - thing))
      (:derived (r ?x - thing) (exists (?y - thing) (link ?x ?y)))
      (:action a :parameters (?v1 ?y - thing) :precondition (and (r ?v1) (r ?y)) :effect (link ?y ?v1)))"""
    (action,) = write_out(parse_domain(text), TRUE)[0].actions
    assert str(action.precondition).count("?v1 ") == 1, "only where the action itself names it"


def test_a_rule_counts_only_for_the_types_that_it_names(planner: ProcessPlanner) -> None:
    text = """(define (domain d) (:requirements :adl :derived-predicates) (:types a b)
      (:predicates (f ?x) (g ?x) (p ?x) (done))
      (:derived (p ?x - a) (f ?x)) (:derived (p ?x - b) (g ?x))
      (:action act :parameters (?x) :precondition (p ?x) :effect (done)))"""
    domain = parse_domain(text)
    objects = frozenset({TypedName("one", "a"), TypedName("two", "b")})
    exists = parse_condition("(exists (?x) (p ?x))")
    for predicate, arg, possible in (("g", "one", False), ("f", "one", True), ("g", "two", True), ("f", "two", False)):
        problem = Problem("p", "d", objects, frozenset({Atom(predicate, (arg,))}), parse_condition("(done)"))
        written = write_out(domain, problem.goal)[0]
        solved = {planner.solve(item, problem, Search()).plan is not None for item in (domain, written)}
        assert solved == {possible}
        assert goal_holds(domain, problem.with_goal(exists)) is possible


def test_a_constant_with_the_name_of_a_predicate_is_no_recursion() -> None:
    text = """(define (domain d) (:types lost) (:constants lost - lost) (:predicates (f ?x) (lost ?x))
      (:derived (lost ?x) (or (= ?x lost) (exists (?y - lost) (f ?y)))))"""
    assert not parse_domain(text).circles
