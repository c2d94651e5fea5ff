"""Temporal tasks with quantified conditions, in the form of suites of the planning competitions of 2006 and 2008.

Static guards decide which atoms a condition needs: `(forall (?p - product) (imply (includes ?o ?p) (made ?p)))`.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from pddlego.pddl.sexpr import Sexpr, read_sexprs, show

Texts = tuple[str, str]
"""The texts of a domain and of a problem."""

_NEEDS = "(:requirements :typing :adl :durative-actions :numeric-fluents)"


def stacks(rng: random.Random) -> Texts:
    """Orders include products: a product is made when all of its orders have begun, an order ends with all of its own.

    The form of openstacks.
    """
    orders, products = range(rng.randint(2, 4)), range(rng.randint(2, 4))
    during = rng.choice(("at start", "over all"))
    included = [f"(includes o{o} p{p})" for o in orders for p in products if rng.random() < 0.5]
    lasts = " ".join(f"(= (making p{p}) {rng.choice((1, 2, 3, 5, '2.5'))})" for p in products)
    count = rng.randint(max(1, len(orders) - 1), len(orders)) if rng.random() < 0.5 else len(orders)
    domain = f"""(define (domain stacks) {_NEEDS} (:types order product count)
  (:predicates (includes ?o - order ?p - product) (waiting ?o - order) (started ?o - order) (shipped ?o - order)
    (made ?p - product) (free ?c - count) (next ?a ?b - count))
  (:functions (making ?p - product))
  (:durative-action start :parameters (?o - order ?c ?d - count) :duration (= ?duration 1)
    :condition (and (at start (waiting ?o)) (at start (free ?c)) (at start (next ?d ?c)))
    :effect (and (at start (not (waiting ?o))) (at start (not (free ?c))) (at end (free ?d)) (at end (started ?o))))
  (:durative-action make :parameters (?p - product) :duration (= ?duration (making ?p))
    :condition (and (at start (not (made ?p)))
      ({during} (forall (?o - order) (imply (includes ?o ?p) (started ?o)))))
    :effect (at end (made ?p)))
  (:durative-action ship :parameters (?o - order ?c ?d - count) :duration (= ?duration 1)
    :condition (and (at start (started ?o)) (at start (free ?c)) (at start (next ?c ?d))
      (at start (forall (?p - product) (imply (includes ?o ?p) (made ?p)))))
    :effect (and (at start (not (started ?o))) (at start (not (free ?c))) (at end (free ?d)) (at end (shipped ?o)))))"""
    waiting = " ".join(f"(waiting o{o})" for o in orders)
    chain = " ".join(f"(next n{number} n{number + 1})" for number in range(count))
    problem = f"""(define (problem s) (:domain stacks)
  (:objects {_names("o", orders)} - order {_names("p", products)} - product {_names("n", range(count + 1))} - count)
  (:init {waiting} {chain} (free n{count}) {" ".join(included)} {lasts})
  (:goal (and {" ".join(f"(shipped o{o})" for o in orders)} {" ".join(f"(made p{p})" for p in products)})))"""
    return domain, problem


def trucks(rng: random.Random) -> Texts:
    """Packages are loaded into areas of a truck that nothing closer to the door blocks. The form of trucks."""
    areas, packages, places = range(rng.randint(2, 3)), range(rng.randint(2, 4)), range(rng.randint(2, 3))
    closer = " ".join(f"(closer a{one} a{other})" for one in areas for other in areas if one < other)
    domain = f"""(define (domain trucks) {_NEEDS} (:types area place package truck)
  (:predicates (at ?t - truck ?l - place) (lies ?p - package ?l - place) (in ?p - package ?t - truck ?a - area)
    (free ?a - area ?t - truck) (closer ?a ?b - area) (delivered ?p - package ?l - place))
  (:functions (distance ?a ?b - place))
  (:durative-action load :parameters (?p - package ?t - truck ?a - area ?l - place) :duration (= ?duration 1)
    :condition (and (at start (lies ?p ?l)) (over all (at ?t ?l)) (at start (free ?a ?t))
      (at start (forall (?b - area) (imply (closer ?b ?a) (free ?b ?t)))))
    :effect (and (at start (not (lies ?p ?l))) (at start (not (free ?a ?t))) (at end (in ?p ?t ?a))))
  (:durative-action unload :parameters (?p - package ?t - truck ?a - area ?l - place) :duration (= ?duration 1)
    :condition (and (over all (at ?t ?l)) (at start (in ?p ?t ?a))
      (at start (forall (?b - area) (imply (closer ?b ?a) (free ?b ?t)))))
    :effect (and (at start (not (in ?p ?t ?a))) (at end (free ?a ?t)) (at end (lies ?p ?l))))
  (:durative-action drive :parameters (?t - truck ?k ?l - place) :duration (= ?duration (distance ?k ?l))
    :condition (at start (at ?t ?k)) :effect (and (at start (not (at ?t ?k))) (at end (at ?t ?l))))
  (:durative-action hand-over :parameters (?p - package ?l - place) :duration (= ?duration 1)
    :condition (over all (lies ?p ?l)) :effect (at end (delivered ?p ?l))))"""
    lies = {package: rng.choice(places) for package in packages}
    wanted = {package: rng.choice(places) for package in packages}
    init = " ".join(f"(lies p{package} l{place})" for package, place in lies.items())
    init += " ".join(f"(free a{area} t)" for area in areas)
    init += " ".join(f"(= (distance l{a} l{b}) {rng.choice((1, 3, '4.5'))})" for a in places for b in places)
    goal = " ".join(f"(delivered p{package} l{place})" for package, place in wanted.items())
    problem = f"""(define (problem t) (:domain trucks)
  (:objects t - truck {_names("a", areas)} - area {_names("p", packages)} - package {_names("l", places)} - place)
  (:init (at t l{rng.choice(places)}) {closer} {init}) (:goal (and {goal})))"""
    return domain, problem


def pathways(rng: random.Random) -> Texts:
    """Substances react, with conditions in `or` and `exists` and a conditional effect. The form of pathways."""
    kinds = range(rng.randint(4, 6))
    simple = [kind for kind in kinds if kind < 3]
    made = [(kind - 1 - rng.randint(0, 1), kind - 3, kind) for kind in kinds if kind >= 3]
    domain = f"""(define (domain pathways) {_NEEDS} (:types molecule)
  (:predicates (simple ?m - molecule) (available ?m - molecule) (reacts ?a ?b ?c - molecule) (warms ?a ?b - molecule)
    (warm ?m - molecule) (chosen ?m - molecule))
  (:functions (lasts ?a ?b - molecule) (chosen-count))
  (:durative-action choose :parameters (?m - molecule) :duration (= ?duration 1)
    :condition (and (at start (simple ?m)) (at start (not (chosen ?m))))
    :effect (and (at start (chosen ?m)) (at end (available ?m)) (at end (increase (chosen-count) 1))))
  (:durative-action associate :parameters (?a ?b ?c - molecule) :duration (= ?duration (lasts ?a ?b))
    :condition (and (at start (reacts ?a ?b ?c)) (over all (available ?a)) (at start (available ?b))
      (at start (or (not (warms ?b ?c)) (warm ?b) (exists (?m - molecule) (and (warms ?m ?c) (available ?m))))))
    :effect (and (at start (not (available ?b))) (at end (available ?c))
      (forall (?m - molecule) (at end (when (and (warms ?c ?m) (available ?m)) (warm ?m)))))))"""
    init = " ".join(f"(simple m{kind})" for kind in simple)
    init += " ".join(f"(reacts m{a} m{b} m{c}) (= (lasts m{a} m{b}) {rng.choice((1, 2, 3))})" for a, b, c in made)
    init += " ".join(f"(warms m{rng.choice(kinds)} m{rng.choice(kinds)})" for _ in kinds)
    last = max(kinds)
    problem = f"""(define (problem w) (:domain pathways) (:objects {_names("m", kinds)} - molecule)
  (:init (= (chosen-count) 0) {init}) (:goal (or (available m{last}) (available m{last - 1}))))"""
    return domain, problem


def crew(rng: random.Random) -> Texts:
    """A crew works in days that end at given times, on tasks with static order and rests. The form of crewplanning."""
    people, tasks = range(rng.randint(1, 3)), range(rng.randint(2, 5))
    domain = f"""(define (domain crew) {_NEEDS} (:types person job)
  (:predicates (free ?p - person) (before ?a ?b - job) (skilled ?p - person ?j - job) (done ?j - job) (power)
    (loud ?j - job) (runs ?j - job) (rested ?p - person))
  (:functions (effort ?j - job) (stock))
  (:durative-action work :parameters (?p - person ?j - job) :duration (= ?duration (effort ?j))
    :condition (and (at start (free ?p)) (at start (skilled ?p ?j)) (at start (not (done ?j))) (over all (power))
      (at start (forall (?b - job) (imply (before ?b ?j) (done ?b))))
      (at start (forall (?b - job) (or (not (loud ?b)) (not (loud ?j)) (not (runs ?b))))))
    :effect (and (at start (not (free ?p))) (at start (runs ?j)) (at end (not (runs ?j))) (at end (free ?p))
      (at end (done ?j)) (at end (when (loud ?j) (not (rested ?p)))) (at end (increase (stock) 1))))
  (:durative-action rest :parameters (?p - person) :duration (and (>= ?duration 1) (<= ?duration 4))
    :condition (and (at start (free ?p)) (over all (forall (?j - job) (imply (loud ?j) (not (runs ?j))))))
    :effect (and (at start (not (free ?p))) (at end (free ?p)) (at end (rested ?p)))))"""
    init = " ".join(f"(free p{person})" for person in people)
    init += " ".join(f"(skilled p{p} j{j})" for p in people for j in tasks if p == 0 or rng.random() < 0.6)
    init += " ".join(f"(before j{a} j{b})" for a in tasks for b in tasks if a < b and rng.random() < 0.3)
    init += " ".join(f"(= (effort j{j}) {rng.choice((1, 2, 4, '1.25'))})" for j in tasks)
    init += " ".join(f"(loud j{j})" for j in tasks if rng.random() < 0.4)
    if rng.random() < 0.5:
        init += "(at 5 (not (power))) (at 7 (power))"
    goal = " ".join(f"(done j{j})" for j in tasks) + " ".join(f"(rested p{p})" for p in people)
    problem = f"""(define (problem cr) (:domain crew)
  (:objects {_names("p", people)} - person {_names("j", tasks)} - job)
  (:init (power) (= (stock) 0) {init}) (:goal (and {goal})))"""
    return domain, problem


def kitchen(rng: random.Random) -> Texts:
    """Guests are served when what they asked for is cooked, in a kitchen of few pots."""
    guests, dishes = range(rng.randint(1, 4)), range(rng.randint(2, 5))
    form = rng.choice(
        (
            "(at start (forall (?d - dish) (imply (asked ?g ?d) (cooked ?d))))",
            "(at start (not (exists (?d - dish) (and (asked ?g ?d) (not (cooked ?d))))))",
            "(at start (forall (?d - dish) (or (cooked ?d) (not (asked ?g ?d)))))",
            "(over all (forall (?d - dish) (imply (asked ?g ?d) (cooked ?d))))",
            "(at end (forall (?d - dish) (imply (asked ?g ?d) (cooked ?d))))",
        )
    )
    domain = f"""(define (domain kitchen) {_NEEDS} (:types guest dish)
  (:predicates (asked ?g - guest ?d - dish) (cooked ?d - dish) (raw ?d - dish) (served ?g - guest) (happy ?g - guest))
  (:functions (pots) (time ?d - dish))
  (:durative-action cook :parameters (?d - dish) :duration (= ?duration (time ?d))
    :condition (and (at start (raw ?d)) (at start (< (pots) {rng.randint(1, 9)})))
    :effect (and (at start (increase (pots) 1)) (at start (not (raw ?d))) (at end (cooked ?d))
      (at end (decrease (pots) 1))))
  (:durative-action serve :parameters (?g - guest) :duration (= ?duration 1) :condition {form}
    :effect (and (at end (served ?g))
      (at end (when (exists (?d - dish) (and (asked ?g ?d) (cooked ?d))) (happy ?g))))))"""
    init = " ".join(f"(asked g{g} d{d})" for g in guests for d in dishes if rng.random() < 0.5 or g == d)
    init += " ".join(f"(raw d{d}) (= (time d{d}) {rng.choice((2, 2, 3, '1.5'))})" for d in dishes)
    goal = " ".join(f"(served g{g})" for g in guests) + " ".join(f"(cooked d{d})" for d in dishes)
    problem = f"""(define (problem k) (:domain kitchen)
  (:objects {_names("g", guests)} - guest {_names("d", dishes)} - dish)
  (:init (= (pots) 0) {init}) (:goal (and {goal})))"""
    return domain, problem


def _names(letter: str, numbers: range) -> str:
    return " ".join(f"{letter}{number}" for number in numbers)


FORMS: tuple[Callable[[random.Random], Texts], ...] = (stacks, trucks, pathways, crew, kitchen)


def adl_task(seed: int) -> Texts:
    """One of the forms, in turn, with other objects and numbers for each seed."""
    return FORMS[seed % len(FORMS)](random.Random(f"adl {seed}"))


def for_val(domain: str) -> str:
    """A domain with `(when (at end P) (at end Q))` for `(at end (when P Q))`, which VAL does not read."""

    def rewritten(part: Sexpr) -> Sexpr:
        match part:
            case ("at", time, ("when", condition, effect)):
                return ("when", ("at", time, condition), ("at", time, effect))
        return part if isinstance(part, str) else tuple(map(rewritten, part))

    return show(rewritten(read_sexprs(domain).expressions[0]))
