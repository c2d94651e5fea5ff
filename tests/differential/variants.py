"""Variants of three tasks, each by one change: sections, names, types, costs, conditions, effects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pddlego.pddl.sexpr import Sexpr, read_sexprs, show


@dataclass(frozen=True)
class Variant:
    """A domain and a problem, and what was changed in them."""

    name: str
    domain: str
    problem: str


TRUCKS = Variant(
    "trucks",
    """(define (domain trucks)
  (:requirements :strips :typing :action-costs)
  (:types vehicle place box - object truck plane - vehicle depot airport - place)
  (:constants hub - depot)
  (:predicates (at ?v - vehicle ?p - place) (road ?a ?b - place) (in ?b - box ?v - vehicle) (lies ?b - box ?p - place))
  (:functions (total-cost) - number (distance ?a ?b - place) - number)
  (:action drive :parameters (?t - truck ?a ?b - place)
    :precondition (and (at ?t ?a) (road ?a ?b))
    :effect (and (not (at ?t ?a)) (at ?t ?b) (increase (total-cost) (distance ?a ?b))))
  (:action load :parameters (?b - box ?v - vehicle ?p - place)
    :precondition (and (at ?v ?p) (lies ?b ?p))
    :effect (and (in ?b ?v) (not (lies ?b ?p)) (increase (total-cost) 1)))
  (:action unload :parameters (?b - box ?v - vehicle ?p - place)
    :precondition (and (at ?v ?p) (in ?b ?v))
    :effect (and (lies ?b ?p) (not (in ?b ?v)))))""",
    """(define (problem one)
  (:domain trucks)
  (:requirements :typing)
  (:objects t - truck a - plane b1 b2 - box north - airport)
  (:init (at t hub) (at a north) (road hub north) (road north hub) (lies b1 hub) (lies b2 north)
    (= (total-cost) 0) (= (distance hub north) 7) (= (distance north hub) 9))
  (:goal (and (lies b1 north) (lies b2 hub)))
  (:metric minimize (total-cost)))""",
)

LAMPS = Variant(
    "lamps",
    """(define (domain lamps)
  (:requirements :adl :derived-predicates)
  (:types room lamp)
  (:predicates (in ?r - room) (door ?a ?b - room) (hangs ?l - lamp ?r - room) (on ?l - lamp) (bright ?r - room) (tired))
  (:derived (bright ?r - room) (exists (?l - lamp) (and (hangs ?l ?r) (on ?l))))
  (:action go :parameters (?a ?b - room)
    :precondition (and (in ?a) (or (door ?a ?b) (door ?b ?a)) (not (= ?a ?b)) (imply (tired) (bright ?a)))
    :effect (and (in ?b) (not (in ?a)) (forall (?l - lamp) (when (hangs ?l ?a) (not (on ?l))))))
  (:action switch :parameters (?l - lamp ?r - room)
    :precondition (and (in ?r) (hangs ?l ?r) (not (on ?l)))
    :effect (and (on ?l) (when (not (tired)) (tired))))
  (:action sleep :parameters ()
    :precondition (forall (?l - lamp) (not (on ?l)))
    :effect (not (tired))))""",
    """(define (problem evening)
  (:domain lamps)
  (:objects hall attic - room l1 l2 - lamp)
  (:init (in hall) (door hall attic) (hangs l1 hall) (hangs l2 attic))
  (:goal (and (bright attic) (exists (?l - lamp) (not (on ?l))))))""",
)

BLOCKS = Variant(
    "blocks",
    """(define (domain blocks)
  (:requirements :strips)
  (:predicates (clear ?x) (table ?x) (holding ?x) (on ?x ?y) (empty))
  (:action pick :parameters (?x)
    :precondition (and (clear ?x) (table ?x) (empty))
    :effect (and (holding ?x) (not (clear ?x)) (not (table ?x)) (not (empty))))
  (:action stack :parameters (?x ?y)
    :precondition (and (holding ?x) (clear ?y))
    :effect (and (on ?x ?y) (clear ?x) (empty) (not (holding ?x)) (not (clear ?y)))))""",
    """(define (problem tower)
  (:domain blocks)
  (:objects a b)
  (:init (clear a) (clear b) (table a) (table b) (empty))
  (:goal (on a b)))""",
)

BASES = (TRUCKS, LAMPS, BLOCKS)


def variants() -> Iterator[Variant]:
    yield from BASES
    for base in BASES:
        yield from _sections(base)
    for base, changes in ((TRUCKS, _TRUCKS), (LAMPS, _LAMPS), (BLOCKS, _BLOCKS)):
        for old, new in changes:
            yield _changed(base, old, new)
    for word in _WORDS:
        for base, names in ((TRUCKS, ("plane", "in", "load", "hub", "distance", "b1")), (BLOCKS, ("clear", "empty"))):
            for name in names:
                yield _renamed(base, name, word)


def _sections(base: Variant) -> Iterator[Variant]:
    """The base without, with twice, and with exchanged sections."""
    for part in ("domain", "problem"):
        (whole,) = read_sexprs(getattr(base, part)).expressions
        assert isinstance(whole, tuple)
        for number in range(1, len(whole)):
            name = f"{base.name}, {part}: {whole[number][0]} {number}"
            yield _with(base, f"{name} removed", part, (*whole[:number], *whole[number + 1 :]))
            yield _with(base, f"{name} twice", part, (*whole[: number + 1], *whole[number:]))
            if number + 1 < len(whole):
                exchanged = (*whole[:number], whole[number + 1], whole[number], *whole[number + 2 :])
                yield _with(base, f"{name} after the next", part, exchanged)


def _with(base: Variant, name: str, part: str, whole: Sexpr) -> Variant:
    texts = {"domain": base.domain, "problem": base.problem, part: show(whole)}
    return Variant(name, texts["domain"], texts["problem"])


def _changed(base: Variant, old: str, new: str) -> Variant:
    """One occurrence of a text replaced, in the domain if it is there, else in the problem."""
    name = f"{base.name}: {old} -> {new or 'nothing'}"
    if old in base.domain:
        return Variant(name, base.domain.replace(old, new, 1), base.problem)
    assert old in base.problem, old
    return Variant(name, base.domain, base.problem.replace(old, new, 1))


def _renamed(base: Variant, old: str, new: str) -> Variant:
    def renamed(part: Sexpr) -> Sexpr:
        return (new if part == old else part) if isinstance(part, str) else tuple(map(renamed, part))

    texts = [show(renamed(read_sexprs(text).expressions[0])) for text in (base.domain, base.problem)]
    return Variant(f"{base.name}: {old} is called {new}", *texts)


_WORDS = (
    "number",
    "object",
    "total-cost",
    "increase",
    "at",
    "always",
    "preference",
    "minimize",
    "problem",
    "total-time",
)
"""Words of PDDL that may be used as names."""

_TRUCKS = (
    # types
    ("truck plane - vehicle", "truck - vehicle plane - vehicle"),
    ("truck plane - vehicle", "truck plane truck - vehicle"),
    ("truck plane - vehicle", "truck plane - (either vehicle place)"),
    ("truck plane - vehicle", "truck plane - craft craft - vehicle"),
    ("truck plane - vehicle", "truck plane - craft craft - vehicle box - craft"),
    ("truck plane - vehicle", "plane - truck truck - plane"),
    ("vehicle place box - object", "vehicle place box"),
    ("vehicle place box - object", "object vehicle place box"),
    ("vehicle place box - object", "vehicle place - thing box - object"),
    ("vehicle place box - object", "place box"),
    ("(:types vehicle", "(:types trunk vehicle"),
    ("?t - truck", "?t - (either truck plane)"),
    ("?t - truck", "?t - vehicle"),
    ("?t - truck", "?t - (either truck)"),
    ("?t - truck", "?t - box"),
    ("?t - truck", "?t - object"),
    ("?t - truck ", "?t "),
    ("?t - truck ?a ?b - place", "?a ?b - place ?t - truck"),
    ("?t - truck", "?t - (either truck airport)"),
    ("?v - vehicle ?p - place) (road", "?v - (either truck plane) ?p - place) (road"),
    ("(distance ?a ?b - place)", "(distance ?a ?b - (either airport depot))"),
    ("(at ?v - vehicle ?p - place)", "(at ?v ?p)"),
    ("(at ?v - vehicle ?p - place)", "(at ?v - vehicle ?v - place)"),
    ("(at ?v - vehicle ?p - place)", "(at ?v - vehicle ?p - place) (at ?v - vehicle ?p - place)"),
    ("(at ?v - vehicle ?p - place)", "(at ?v - vehicle ?p - place) (at ?v - vehicle)"),
    ("(at ?v - vehicle ?p - place)", "(at ?v - vehicle ?p - place) (vehicle ?v) (truck)"),
    # constants and objects
    ("(:constants hub - depot)", "(:constants hub hub - depot)"),
    ("(:constants hub - depot)", "(:constants hub - (either depot airport))"),
    ("(:constants hub - depot)", "(:constants hub - depot hub - airport)"),
    ("north - airport", "north - airport hub - airport"),
    ("north - airport", "north north - airport"),
    ("north - airport", "north - (either airport depot)"),
    ("north - airport", "north - airport spare"),
    ("b1 b2 - box", "b1 b2 - box ferry - vehicle"),
    # requirements and the head
    (":action-costs", ":fluents"),
    (":action-costs", ":numeric-fluents"),
    (":action-costs", ""),
    (":action-costs", ":action-costs :flunts"),
    (":action-costs", ":action-costs :ucpop"),
    (":action-costs", ":action-costs :domain-axioms"),
    (":action-costs", ":action-costs :action-costs"),
    (":action-costs", "action-costs"),
    ("(:requirements :typing)", "(:requirements :fluents)"),
    ("(:requirements :typing)", ""),
    ("(domain trucks)", "(domain trucks :requirements :strips)"),
    ("(domain trucks)", "(domain)"),
    ("(domain trucks)", "(domain trucks and planes)"),
    ("(domain trucks)", "(domain lorries)"),
    ("(problem one)", "(problem)"),
    ("(problem one)", "(problem one two)"),
    ("(problem one)", "(problem 1)"),
    ("(:domain trucks)", "(:domain lorries)"),
    ("(:domain trucks)", "(:domain)"),
    ("(:domain trucks)", "(:domain trucks lorries)"),
    # costs
    ("(increase (total-cost) 1)", "(increase (total-cost) 3000000000)"),
    ("(increase (total-cost) 1)", "(increase (total-cost) 1.5)"),
    ("(increase (total-cost) 1)", "(increase (total-cost) 0)"),
    ("(increase (total-cost) 1)", "(increase (total-cost) -1)"),
    ("(increase (total-cost) 1)", "(increase (total-cost) total-cost)"),
    ("(increase (total-cost) 1)", "(increase (total-cost) (+ 1 2))"),
    ("(increase (total-cost) 1)", "(increase (distance ?p ?p) 1)"),
    ("(increase (total-cost) 1)", "(decrease (total-cost) 1)"),
    ("(increase (total-cost) 1)", "(assign (total-cost) 1)"),
    ("(increase (total-cost) 1)", "(increase (total-cost) 1) (increase (total-cost) 2)"),
    ("(increase (total-cost) 1)", "(when (at ?v ?p) (increase (total-cost) 1))"),
    ("(increase (total-cost) 1)", "(and (increase (total-cost) 1))"),
    ("(increase (total-cost) 1)", "(increase (total-cost) (distance ?p))"),
    ("(increase (total-cost) 1)", "(increase (total-cost) (price ?p))"),
    ("(increase (total-cost) 1)", "(increase (total-cost) (distance ?p hub))"),
    ("(increase (total-cost) 1)", "(increase (total-cost) (distance ?v ?p))"),
    (":effect (and (in ?b ?v) (not (lies ?b ?p)) (increase (total-cost) 1))", ":effect (increase (total-cost) 1)"),
    ("(distance ?a ?b - place) - number", "(distance ?a ?b - place)"),
    ("(distance ?a ?b - place) - number", "(distance ?a ?b - place) - place"),
    ("(total-cost) - number", "(total-cost ?x) - number"),
    ("(total-cost) - number", "total-cost - number"),
    ("(total-cost) - number", ""),
    ("(= (total-cost) 0)", ""),
    ("(= (total-cost) 0)", "(= (total-cost) 5)"),
    ("(= (total-cost) 0)", "(= total-cost 0)"),
    ("(= (distance hub north) 7)", "(= (distance hub north) 7.25)"),
    ("(= (distance hub north) 7)", "(= (distance hub north) 7) (= (distance hub north) 7)"),
    ("(= (distance hub north) 7)", "(= (distance hub north) 7) (= (distance hub north) 8)"),
    ("(= (distance hub north) 7)", "(= (distance hub north) 3000000000)"),
    ("(= (distance hub north) 7)", "(= (distance hub north) -7)"),
    ("(= (distance hub north) 7)", "(= 7 (distance hub north))"),
    ("(= (distance hub north) 7)", "(= (distance hub t) 7)"),
    ("(= (distance hub north) 7)", "(= (distance hub north) seven)"),
    ("(:metric minimize (total-cost))", ""),
    ("(:metric minimize (total-cost))", "(:metric maximize (total-cost))"),
    ("(:metric minimize (total-cost))", "(:metric minimize (total-time))"),
    ("(:metric minimize (total-cost))", "(:metric minimize (+ (total-cost) 1))"),
    ("(:metric minimize (total-cost))", "(:metric minimize)"),
    ("(:metric minimize (total-cost))", "(:metric minimize (distance hub north))"),
    # facts and goals
    ("(at t hub) ", "(at t hub) (at t hub) "),
    ("(at t hub) ", "(at t hub) (not (at a hub)) "),
    ("(at t hub) ", "(at t hub) (not (at t hub)) "),
    ("(at t hub) ", "(at t hub) (and (at a hub)) "),
    ("(at t hub) ", "(at t hub) (at b1 hub) "),
    ("(at t hub) ", "(at t hub) (= t t) "),
    ("(at t hub) ", "(at t hub) (truck t) "),
    ("(at t hub) ", "(at t ?where) "),
    ("(lies b2 hub)", "(lies b2)"),
    ("(lies b2 hub)", "(not (lies b2 north))"),
    ("(lies b2 hub)", "(not (not (lies b2 hub)))"),
    ("(lies b2 hub)", "(= b2 b2)"),
    ("(lies b2 hub)", "(= b2 b1)"),
    ("(lies b2 hub)", "(truck t)"),
    ("(lies b2 hub)", "(forall (?b - (either box)) (lies ?b north))"),
    ("(lies b2 hub)", "(exists (?v - (either truck plane)) (at ?v hub))"),
    ("(and (lies b1 north) (lies b2 hub))", "(and)"),
    ("(and (lies b1 north) (lies b2 hub))", "()"),
    ("(and (lies b1 north) (lies b2 hub))", "(lies b1 north) (lies b2 hub)"),
    ("(and (lies b1 north) (lies b2 hub))", "lies"),
    ("(and (lies b1 north) (lies b2 hub))", "(or (lies b1 north) (lies b2 hub))"),
    ("(and (lies b1 north) (lies b2 hub))", "(or)"),
    # actions
    ("(:action load", "(:action drive"),
    ("(:action load :parameters (?b - box ?v - vehicle ?p - place)", "(:action load"),
    ("(:action load", "(:action load :duration 5"),
    ("(:action load", "(:action load :vars (?w - truck)"),
    ("(:action load", "(:durative-action load"),
    ("(:action load", "(:observe look) (:action load"),
    (
        "(?b - box ?v - vehicle ?p - place)\n    :precondition (and (at ?v ?p) (lies",
        "(?b - box ?b - vehicle ?p - place)\n    :precondition (and (at ?v ?p) (lies",
    ),
    (
        "(?b - box ?v - vehicle ?p - place)\n    :precondition (and (at ?v ?p) (lies",
        "(b - box ?v - vehicle ?p - place)\n    :precondition (and (at ?v ?p) (lies",
    ),
    (
        "(?b - box ?v - vehicle ?p - place)\n    :precondition (and (at ?v ?p) (lies",
        "?b\n    :precondition (and (at ?v ?p) (lies",
    ),
    (":effect (and (lies ?b ?p) (not (in ?b ?v)))", ""),
    (":effect (and (lies ?b ?p) (not (in ?b ?v)))", ":effect (and (lies ?b ?p) (not (in ?b ?v))) :effect (lies ?b ?p)"),
    (":effect (and (lies ?b ?p) (not (in ?b ?v)))", ":effect ()"),
    (":effect (and (lies ?b ?p) (not (in ?b ?v)))", ":effect (and)"),
    (":effect (and (lies ?b ?p) (not (in ?b ?v)))", ":effect lies"),
    ("\n    :precondition (and (at ?v ?p) (in ?b ?v))", ""),
    ("\n    :precondition (and (at ?v ?p) (in ?b ?v))", "\n    :precondition ()"),
    ("\n    :precondition (and (at ?v ?p) (in ?b ?v))", "\n    :precondition (and ())"),
    (
        ":precondition (and (at ?v ?p) (in ?b ?v))\n    :effect (and (lies ?b ?p) (not (in ?b ?v)))",
        ":effect (and (lies ?b ?p) (not (in ?b ?v)))\n    :precondition (and (at ?v ?p) (in ?b ?v))",
    ),
    ("(and (at ?t ?a) (road ?a ?b))", "(and (at ?t ?a) (road ?a ?b) (not (= ?a ?b)))"),
    ("(and (at ?t ?a) (road ?a ?b))", "(and (at ?t ?a) (road ?a ?b) (= ?a ?b))"),
    ("(and (at ?t ?a) (road ?a ?b))", "(and (at ?t ?a) (road ?a ?b) (truck ?t))"),
    ("(and (at ?t ?a) (road ?a ?b))", "(and (at ?t ?a) (> (distance ?a ?b) 3))"),
    ("(and (at ?t ?a) (road ?a ?b))", "(at ?t ?a) (road ?a ?b)"),
    ("(and (at ?t ?a) (road ?a ?b))", "(and (at ?t ?a) (road ?a ?b) (road ?c ?b))"),
    ("(and (at ?t ?a) (road ?a ?b))", "(and (at ?t ?a) (road?a ?b))"),
    ("(and (at ?t ?a) (road ?a ?b))", "(and (at ?t ?a) (road ?a ?b) (when (at ?t ?a) (at ?t ?b)))"),
    ("(not (at ?t ?a)) (at ?t ?b)", "(not (at ?t ?a)) (at ?t ?b) (truck ?t)"),
    ("(not (at ?t ?a)) (at ?t ?b)", "(not (at ?t ?a)) (at ?t ?b) (= ?a ?b)"),
    ("(not (at ?t ?a)) (at ?t ?b)", "(not (and (at ?t ?a))) (at ?t ?b)"),
    ("(not (at ?t ?a)) (at ?t ?b)", "(not (not (at ?t ?b))) (not (at ?t ?a))"),
    ("(not (at ?t ?a)) (at ?t ?b)", "(or (at ?t ?b) (at ?t ?a))"),
    ("(not (at ?t ?a)) (at ?t ?b)", "(at ?t ?a) (not (at ?t ?a)) (at ?t ?b)"),
    ("(not (at ?t ?a)) (at ?t ?b)", "(oneof (at ?t ?a) (at ?t ?b))"),
)

_LAMPS = (
    ("(when (hangs ?l ?a) (not (on ?l)))", "(when (hangs ?l ?a) (and (not (on ?l)) (tired)))"),
    ("(when (hangs ?l ?a) (not (on ?l)))", "(when (hangs ?l ?a) (when (on ?l) (not (on ?l))))"),
    ("(when (hangs ?l ?a) (not (on ?l)))", "(when (hangs ?l ?a) (and (tired) (forall (?m - lamp) (not (on ?m)))))"),
    ("(when (hangs ?l ?a) (not (on ?l)))", "(when (hangs ?l ?a) (forall (?l - lamp) (not (on ?l))))"),
    ("(when (hangs ?l ?a) (not (on ?l)))", "(and (when (hangs ?l ?a) (not (on ?l))) (when (on ?l) (tired)))"),
    ("(when (hangs ?l ?a) (not (on ?l)))", "(forall (?r - room) (when (hangs ?l ?r) (not (on ?l))))"),
    ("(when (hangs ?l ?a) (not (on ?l)))", "(forall (?l - lamp) (when (hangs ?l ?a) (not (on ?l))))"),
    ("(when (hangs ?l ?a) (not (on ?l)))", "(when (exists (?l - lamp) (hangs ?l ?a)) (not (on ?l)))"),
    ("(when (hangs ?l ?a) (not (on ?l)))", "(when (or (hangs ?l ?a) (hangs ?l ?b)) (not (on ?l)))"),
    ("(when (hangs ?l ?a) (not (on ?l)))", "(when (bright ?a) (not (on ?l)))"),
    ("(when (hangs ?l ?a) (not (on ?l)))", "(when () (not (on ?l)))"),
    ("(when (hangs ?l ?a) (not (on ?l)))", "(when (hangs ?l ?a) ())"),
    ("(forall (?l - lamp) (when (hangs ?l ?a)", "(forall (?l - (either lamp room)) (when (hangs ?l ?a)"),
    ("(forall (?l - lamp) (when (hangs ?l ?a)", "(forall (?a - room ?l - lamp) (when (hangs ?l ?a)"),
    ("(forall (?l - lamp) (when (hangs ?l ?a)", "(forall (?l) (when (hangs ?l ?a)"),
    ("(forall (?l - lamp) (when (hangs ?l ?a)", "(forall ?l (when (hangs ?l ?a)"),
    ("(forall (?l - lamp) (when (hangs ?l ?a)", "(forall () (when (hangs ?l ?a)"),
    ("(forall (?l - lamp) (when (hangs ?l ?a)", "(exists (?l - lamp) (when (hangs ?l ?a)"),
    ("(when (not (tired)) (tired))", "(when (not (tired)) (tired)) (when (tired) (not (tired)))"),
    ("(when (not (tired)) (tired))", "(when (tired) (not (on ?l)) (tired))"),
    ("(when (not (tired)) (tired))", "(when (not (tired)) (bright ?r))"),
    ("(forall (?l - lamp) (not (on ?l)))\n", "(forall (?l - (either lamp room)) (not (on ?l)))\n"),
    ("(forall (?l - lamp) (not (on ?l)))\n", "(not (exists (?l - lamp) (on ?l)))\n"),
    ("(forall (?l - lamp) (not (on ?l)))\n", "(forall (?l - lamp) (forall (?l - lamp) (not (on ?l))))\n"),
    ("(forall (?l - lamp) (not (on ?l)))\n", "(forall (?l ?l - lamp) (not (on ?l)))\n"),
    ("(forall (?l - lamp) (not (on ?l)))\n", "(forall (?l - lamp) (and))\n"),
    ("(forall (?l - lamp) (not (on ?l)))\n", "(exists (?l - lamp) (or))\n"),
    ("(forall (?l - lamp) (not (on ?l)))\n", "(forall (?l - torch) (not (on ?l)))\n"),
    ("(forall (?l - lamp) (not (on ?l)))\n", "(forall (?l - lamp) (not (on ?l)) (tired))\n"),
    ("(imply (tired) (bright ?a))", "(or (not (tired)) (bright ?a))"),
    ("(imply (tired) (bright ?a))", "(imply (tired))"),
    (
        "(imply (tired) (bright ?a))",
        "(imply (exists (?r - room) (bright ?r)) (forall (?r - room) (imply (bright ?r) (in ?r))))",
    ),
    ("(imply (tired) (bright ?a))", "(not (imply (tired) (bright ?a)))"),
    ("(imply (tired) (bright ?a))", "(not (or (tired) (not (in ?a))))"),
    ("(imply (tired) (bright ?a))", "(not (and))"),
    ("(imply (tired) (bright ?a))", "(xor (tired) (in ?a))"),
    ("(imply (tired) (bright ?a))", "(preference p (tired))"),
    ("(not (= ?a ?b))", "(not (= ?a hall))"),
    ("(not (= ?a ?b))", "(not (= ?a))"),
    ("(not (= ?a ?b))", "(= ?a ?b)"),
    ("(not (= ?a ?b))", "(!= ?a ?b)"),
    ("(not (= ?a ?b))", "(not (= ?a ?b) (tired))"),
    # derived predicates
    ("(:derived (bright ?r - room)", "(:derived (bright ?r)"),
    ("(:derived (bright ?r - room)", "(:derived (bright ?x - room)"),
    ("(:derived (bright ?r - room)", "(:derived (bright ?r - (either room lamp))"),
    ("(:derived (bright ?r - room)", "(:derived (not (bright ?r - room))"),
    ("(:derived (bright ?r - room)", "(:derived (bright ?r - room ?l - lamp)"),
    ("(:derived (bright ?r - room)", "(:derived (light ?r - room)"),
    ("(:derived (bright ?r - room)", "(:derived bright"),
    ("(:derived (bright ?r - room)", "(:derived (bright ?r - room) (in ?r)) (:derived (bright ?r - room)"),
    (
        "(and (hangs ?l ?r) (on ?l))",
        "(or (and (hangs ?l ?r) (on ?l)) (exists (?x - room) (and (door ?x ?r) (bright ?x))))",
    ),
    ("(and (hangs ?l ?r) (on ?l))", "(and (hangs ?l ?r) (on ?l) (not (bright ?r)))"),
    ("(and (hangs ?l ?r) (on ?l))", "(and (hangs ?l ?r) (on ?l) (when (on ?l) (tired)))"),
    ("(in hall) ", "(in hall) (bright hall) "),
    ("(and (bright attic) (exists (?l - lamp) (not (on ?l))))", "(and (bright attic) (not (bright hall)))"),
    ("(and (bright attic) (exists (?l - lamp) (not (on ?l))))", "(imply (tired) (in attic))"),
    ("(and (bright attic) (exists (?l - lamp) (not (on ?l))))", "(forall (?r - room) (bright ?r))"),
    ("(and (bright attic) (exists (?l - lamp) (not (on ?l))))", "(and (on l2) (not (on l2)))"),
    ("(and (bright attic) (exists (?l - lamp) (not (on ?l))))", "(exists (?x - lamp ?x - lamp) (on ?x))"),
    (
        "(and (bright attic) (exists (?l - lamp) (not (on ?l))))",
        "(exists (?x - lamp) (exists (?x - room) (bright ?x)))",
    ),
    ("(and (bright attic) (exists (?l - lamp) (not (on ?l))))", "(exists (?x - (either lamp room)) (and (on ?x)))"),
    ("(and (bright attic) (exists (?l - lamp) (not (on ?l))))", "(when (tired) (in attic))"),
    ("(and (bright attic) (exists (?l - lamp) (not (on ?l))))", "(sometime (in attic))"),
    ("hall attic - room l1 l2 - lamp", "hall attic - room l1 l2 - lamp dark - room"),
    ("(hangs l1 hall) (hangs l2 attic)", "(hangs l1 hall) (hangs l1 attic) (hangs l2 attic)"),
)

_BLOCKS = (
    ("(:predicates (clear ?x)", "(:predicates (clear ?x - object)"),
    ("(:predicates (clear ?x)", "(:predicates (clear x)"),
    ("(:predicates (clear ?x)", "(:predicates (clear)"),
    ("(:predicates (clear ?x)", "(:predicates clear"),
    ("(:predicates (clear ?x)", "(:predicates (clear ?x ?x)"),
    ("(:predicates (clear ?x)", "(:predicates (clear ?x -)"),
    ("(:predicates (clear ?x)", "(:predicates (clear ?x - block)"),
    ("(:predicates (clear ?x)", "(:types) (:predicates (clear ?x)"),
    ("(:predicates (clear ?x)", "(:constants) (:predicates (clear ?x)"),
    ("(:predicates (clear ?x)", "(:functions) (:predicates (clear ?x)"),
    ("(:predicates (clear ?x)", "(:constants table) (:predicates (clear ?x)"),
    ("(:predicates (clear ?x)", "(:functions (total-cost)) (:predicates (clear ?x)"),
    ("(:predicates (clear ?x)", "(:predicates (spare ?x) (clear ?x)"),
    ("(:predicates (clear ?x)", "(:predicates (clear ?x) (= ?x ?y)"),
    ("(:action pick", "(:action pick-up_2"),
    ("(:action pick", "(:action 2pick"),
    ("(:action pick", "(:action (pick)"),
    ("(:action pick", "(:action"),
    ("(:objects a b)", "(:objects)"),
    ("(:objects a b)", "(:objects a b b)"),
    ("(:objects a b)", "(:objects (a b))"),
    ("(:objects a b)", "(:objects a b - object)"),
    ("(:objects a b)", "(:objects a b - block)"),
    ("(:objects a b)", "(:objects a b 3)"),
    ("(:objects a b)", "(:objects a b -)"),
    ("(:goal (on a b))", "(:goal (on a b)) (:length (:serial 3))"),
    ("(:goal (on a b))", "(:goal (on a b)) (:metric minimize (total-cost))"),
    ("(:goal (on a b))", "(:goal (on a b)) (:goal (clear a))"),
    ("(:goal (on a b))", "(:goal (on a ?x))"),
    ("(:goal (on a b))", "(:goal (on a c))"),
    ("(:goal (on a b))", "(:goal (on a b c))"),
    ("(clear a) ", "(clear a) clear "),
    ("(clear a) ", "(clear a) () "),
    ("(clear a) ", "(clear a) (clear) "),
    ("(clear a) ", "(clear a) (at 5 (clear b)) "),
    ("(clear a) ", "(clear a) (forall (?x) (table ?x)) "),
    ("(?x ?y)", "(?x?y)"),
    ("(?x ?y)", "(?x, ?y)"),
    ("(and (holding ?x) (clear ?y))", "(and (holding ?x) (and (clear ?y)))"),
    ("(and (holding ?x) (clear ?y))", "(AND (Holding ?X) (CLEAR ?y))"),
    ("(and (holding ?x) (clear ?y))", "(and (holding ?x) (clear ?y) (clear b))"),
    ("(and (holding ?x) (clear ?y))", "(and (holding ?x) (clear ?y) ; the target\n)"),
)
