"""The towers of Hanoi: a task that takes as long as one likes."""

from __future__ import annotations

import itertools

from pddlego.pddl import And, Atom, Problem, TypedName, parse_domain

HANOI = parse_domain("""(define (domain hanoi) (:predicates (clear ?x) (on ?x ?y) (smaller ?x ?y))
  (:action move :parameters (?d ?from ?to)
    :precondition (and (smaller ?to ?d) (on ?d ?from) (clear ?d) (clear ?to))
    :effect (and (clear ?from) (on ?d ?to) (not (on ?d ?from)) (not (clear ?to)))))""")


def hanoi(discs: int) -> Problem:
    """Needs 2^discs - 1 steps: as long as one likes."""
    names = [f"d{number}" for number in range(1, discs + 1)]
    pegs = ["p1", "p2", "p3"]
    facts = {Atom("smaller", (peg, disc)) for peg in pegs for disc in names}
    facts |= {Atom("smaller", (names[b], names[a])) for a in range(discs) for b in range(a + 1, discs)}
    facts |= {Atom("clear", ("p2",)), Atom("clear", ("p3",)), Atom("clear", ("d1",)), Atom("on", (names[-1], "p1"))}
    facts |= {Atom("on", pair) for pair in itertools.pairwise(names)}
    wanted = (Atom("on", (names[-1], "p3")), *(Atom("on", pair) for pair in itertools.pairwise(names)))
    objects = frozenset(TypedName(name) for name in [*names, *pegs])
    return Problem("towers", "hanoi", objects, frozenset(facts), And(wanted))
