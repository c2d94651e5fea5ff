"""Learning actions from transitions: what is sure, what may be, and what no transition may teach."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from pddlego.pddl import Atom, Domain, Problem, parse_domain
from pddlego.pddl.conditions import And, Equal, Formula, Not, TypedName, conjuncts, parse_condition
from pddlego.pddl.domain import Action
from pddlego.planning.learning.certificate import certify
from pddlego.planning.learning.learner import LearnedAction, LearnedDomain, learn_domain
from pddlego.planning.learning.transitions import Transition, TransitionError
from pddlego.planning.result import PlanStep
from pddlego.planning.state import State
from pddlego.planning.world import World
from pddlego.util.limits import Work

DOMAIN = parse_domain("""
(define (domain d) (:requirements :adl)
  (:types place thing - object cup - thing)
  (:constants home - place)
  (:predicates (at ?p - place) (open ?p - place) (link ?a ?b - place) (in ?t - thing ?p - place) (have ?t - thing)
    (dark))
  (:action move :parameters (?from ?to - place) :precondition (and) :effect (and))
  (:action take :parameters (?t - thing ?p - place) :precondition (and) :effect (and)))
""")
OBJECTS = frozenset((TypedName("a", "place"), TypedName("b", "place"), TypedName("t", "thing"), TypedName("c", "cup")))


def fact(text: str) -> Atom:
    predicate, *args = text.split()
    return Atom(predicate, tuple(args))


def tried(before: str, action: str, after: str | None) -> Transition:
    """A transition; facts are separated by commas."""

    def state(text: str) -> frozenset[Atom]:
        return frozenset(fact(one) for one in text.split(",") if one.strip())

    return Transition(state(before), PlanStep.read(action), None if after is None else state(after), OBJECTS)


def action(learned: LearnedDomain, name: str) -> LearnedAction:
    return next(one for one in learned.actions if one.name == name)


MOVED = tried("at a, link a b", "(move a b)", "at b, link a b")

SUCCESSES = tuple(
    tried(f"at a, {links}", "(move a b)", f"at b, {links}")
    for links in ("link a b", "link a b, link b home", "link a b, link b a, link b home, link home a, link home b")
)
"""Successes that exclude conditions of all links, and of links back."""


def test_success_teaches_what_may_be_needed_and_what_changes() -> None:
    move = action(learn_domain(DOMAIN, [MOVED]), "move")
    assert move.safe is not None
    needs = {str(one) for one in conjuncts(move.safe.precondition)}
    assert {"(at ?from)", "(link ?from ?to)", "(not (at ?to))", "(not (= ?from ?to))"} <= needs
    assert str(move.safe.effect) == "(and (at ?to) (not (at ?from)))"
    assert move.sure == ()
    assert "(dark)" in {str(one) for one in move.excluded}


def test_an_action_without_parameters_may_need_that_all_objects_with_a_fact_have_another() -> None:
    close = replace(DOMAIN.actions[0], name="close", parameters=())
    domain = replace(DOMAIN, actions=(close,))
    closed = tried("have t, have c, in t a, in c b", "(close)", "have t, have c, in t a, in c b, dark")
    learned = action(learn_domain(domain, [closed, tried("have t, in t a, in c b", "(close)", None)]), "close")
    needs = "(forall (?any1 - thing ?any2 - place) (imply (in ?any1 ?any2) (have ?any1)))"
    assert needs in map(str, (*learned.sure, *(one for reason in learned.reasons for one in reason)))


def test_certificates_say_what_a_learned_action_lacks() -> None:
    pytest.importorskip("z3")
    text = "(define (domain d) (:requirements :adl) (:predicates (dark) (lit) (on))"
    actions = {
        "same": "(and (dark) (on))",
        "safe": "(and (dark) (on) (lit))",
        "wrong": "(dark)",
    }
    reference = parse_domain(f"{text} (:action light :precondition (and (dark) (on)) :effect (lit)))")
    for verdict, needs in actions.items():
        learned = parse_domain(f"{text} (:action light :precondition {needs} :effect (lit)))")
        (certificate,) = certify(reference, learned)
        assert certificate.verdict == verdict
        assert (certificate.witness is not None) == (verdict == "wrong")
    assert str(certificate) == "light: wrong: (light) in (dark): it is impossible"
    (unknown,) = certify(reference, replace(reference, actions=()))
    assert str(unknown) == "light: unknown"


def test_failure_with_one_false_condition_makes_it_sure() -> None:
    failures = [tried("at a, link b a", "(move a b)", None), tried("link a b", "(move a b)", None)]
    move = action(learn_domain(DOMAIN, [*SUCCESSES, *failures]), "move")
    assert [str(one) for one in move.sure] == ["(link ?from ?to)", "(at ?from)"]
    assert str(move.optimistic.precondition) == "(and (link ?from ?to) (at ?from))"


def test_failure_with_several_false_conditions_leaves_them_open() -> None:
    move = action(learn_domain(DOMAIN, [*SUCCESSES, tried("link b a", "(move a b)", None)]), "move")
    assert move.sure == ()
    assert str(move.optimistic.precondition) == "(and (or (at ?from) (link ?from ?to)))"


def test_failure_makes_the_weaker_of_two_conditions_sure() -> None:
    move = action(learn_domain(DOMAIN, [*SUCCESSES, tried("at a", "(move a b)", None)]), "move")
    assert [str(one) for one in move.sure] == ["(or (link ?from ?to) (link ?to ?from))"]


def test_experiment_is_a_state_in_which_one_open_condition_is_false() -> None:
    move = action(learn_domain(DOMAIN, [*SUCCESSES, tried("link b a", "(move a b)", None)]), "move")
    first = move.experiments()[0]
    assert str(first.condition) in ("(at ?from)", "(link ?from ?to)")
    assert f"(not {first.condition})" in str(first.goal)
    assert {str(one.condition) for one in move.experiments()} == {str(one) for one in move.open}


def test_same_object_twice_is_not_taken_for_two() -> None:
    """`(move a a)` changes nothing, since what is added stays: neither effect is excluded, and none is invented."""
    learned = learn_domain(DOMAIN, [MOVED, tried("at a, link a a", "(move a a)", "at a, link a a")])
    safe = action(learned, "move").safe
    assert safe is not None
    assert str(safe.effect) == "(and (at ?to) (not (at ?from)))"
    assert "(= ?from ?to)" not in str(safe.precondition)


def test_only_same_objects_teach_only_same_objects() -> None:
    safe = action(learn_domain(DOMAIN, [tried("", "(move a a)", "at a")]), "move").safe
    assert safe is not None
    assert Equal("?from", "?to") in conjuncts(safe.precondition)


def test_constant_as_argument_is_not_taken_for_every_argument() -> None:
    safe = action(learn_domain(DOMAIN, [tried("", "(move a home)", "at home")]), "move").safe
    assert safe is not None
    assert Equal("?to", "home") in conjuncts(safe.precondition)


def test_narrowest_type_is_safe_and_the_declared_one_optimistic() -> None:
    learned = learn_domain(DOMAIN, [tried("in c a", "(take c a)", "have c")])
    take = action(learned, "take")
    assert take.safe is not None
    assert (take.safe.parameters[0].type, take.optimistic.parameters[0].type) == ("cup", "thing")


def test_action_without_success_is_not_in_the_safe_domain() -> None:
    learned = learn_domain(DOMAIN, [MOVED, tried("", "(take t a)", None)])
    assert learned.unknown == ("take",)
    assert [one.name for one in learned.safe.actions] == ["move"]
    assert [one.name for one in learned.optimistic.actions] == ["move", "take"]


@pytest.mark.parametrize(
    ("transitions", "fault"),
    [
        ([tried("at a", "(move a b)", "dark, at b, in t home")], "in t home"),
        ([MOVED, tried("at a, link a b", "(move a b)", "at b, link a b, in t a")], ""),
        ([MOVED, tried("at b, link b a", "(move b a)", "at b, link b a")], "transitions"),
        ([MOVED, tried("at b, link b a", "(move b a)", None)], "transition 2"),
    ],
)
def test_action_that_no_model_explains_is_left_out(transitions: Sequence[Transition], fault: str) -> None:
    if not fault:
        with pytest.raises(TransitionError, match="in transition 1"):
            learn_domain(DOMAIN, transitions)
        return
    move = action(learn_domain(DOMAIN, transitions), "move")
    assert move.safe is None
    assert fault in move.fault


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (tried("at a", "(fly a b)", None), "fly"),
        (tried("at a", "(move a)", None), "1 argument"),
        (tried("at a b", "(move a b)", None), "2 argument"),
        (tried("here a", "(move a b)", None), "here"),
        (tried("at a", "(move a z)", None), "z"),
        (tried("at a", "(move a t)", None), "thing"),
        (tried("at a", "(move a b)", "at t"), "thing"),
    ],
)
def test_transition_of_another_domain_is_named(wrong: Transition, reason: str) -> None:
    with pytest.raises(TransitionError) as caught:
        learn_domain(DOMAIN, [MOVED, wrong])
    assert caught.value.number == 2
    assert reason in caught.value.reason


def test_condition_of_all_related_objects_is_learned() -> None:
    domain = parse_domain("""
    (define (domain shop) (:types order product)
      (:predicates (has ?o - order ?p - product) (begun ?o - order) (made ?p - product))
      (:action make :parameters (?p - product) :precondition (and) :effect (and)))
    """)
    objects = frozenset((TypedName("x", "order"), TypedName("y", "order"), TypedName("p", "product")))
    facts = {fact("has x p"), fact("has y p"), fact("begun x"), fact("begun y")}
    made = Transition(frozenset(facts), PlanStep("make", ("p",)), frozenset({*facts, fact("made p")}), objects)
    refused = Transition(frozenset(facts - {fact("begun y")}), PlanStep("make", ("p",)), None, objects)
    make = action(learn_domain(domain, [made, refused]), "make")
    condition = parse_condition("(forall (?any - order) (imply (has ?any ?p) (begun ?any)))")
    assert make.sure == (condition,)


NAMES = ("a", "b", "c")
FACTS = [fact(text) for text in ("n", *(f"p {x}" for x in NAMES), *(f"r {x} {y}" for x in NAMES for y in NAMES))]


def drawn_domain(rng: random.Random) -> Domain:
    """A domain of one action over `?x`, `?y` and the constant `c`, with literals and equalities as conditions."""
    names = ("?x", "?y", "c")
    atoms = [
        Atom("n"),
        *(Atom("p", (x,)) for x in names),
        *(Atom("r", pair) for pair in itertools.product(names, repeat=2)),
    ]
    conditions: list[Formula] = [*atoms, Equal("?x", "?y"), Equal("?x", "?y")]
    needs = [one if rng.random() < 0.6 else Not(one) for one in rng.sample(conditions, rng.randint(0, 3))]
    adds = rng.sample(atoms, rng.randint(0, 2))
    deletes = rng.sample([one for one in atoms if one not in adds], rng.randint(0, 2))
    schema = Action("go", (TypedName("?x"), TypedName("?y")), And(tuple(needs)), And((*adds, *map(Not, deletes))))
    head = parse_domain("(define (domain d) (:requirements :adl) (:constants c) (:predicates (n) (p ?x) (r ?x ?y)))")
    return Domain("d", head.requirements, (), head.constants, head.predicates, (), (schema,))


def drawn_transitions(domain: Domain, rng: random.Random, number: int) -> Iterator[Transition]:
    objects = frozenset(map(TypedName, NAMES))
    world = World(domain, Problem("p", "d", objects), Work())
    schema = domain.actions[0]
    for _ in range(number):
        before = frozenset(one for one in FACTS if rng.random() < 0.5)
        step = PlanStep("go", (rng.choice(NAMES), rng.choice(NAMES)))
        possible = world.holds(schema.precondition, State(before), world.binding(step))
        after = frozenset(world.after(step, State(before)).facts) if possible else None
        yield Transition(before, step, after, objects)


@pytest.mark.parametrize("seed", range(150))
def test_safe_is_never_wrong_and_optimistic_never_misses(seed: int) -> None:
    rng = random.Random(seed)
    domain = drawn_domain(rng)
    learned = learn_domain(domain, drawn_transitions(domain, rng, rng.choice((3, 10, 40))))
    (go,) = learned.actions
    assert not go.fault
    for new in drawn_transitions(domain, rng, 60):
        state, step = State(new.before), new.action
        optimistic = World(learned.optimistic, Problem("p", "d", new.objects), Work())
        if new.after is not None:
            assert optimistic.holds(go.optimistic.precondition, state, optimistic.binding(step))
        if go.safe is None:
            continue
        safe = World(learned.safe, Problem("p", "d", new.objects), Work())
        if safe.holds(go.safe.precondition, state, safe.binding(step)):
            assert new.after is not None
            assert safe.after(step, state).facts == new.after
