"""The functions for PDDL where no other package is installed: `python tests/bare.py`.

It imports nothing but pddlego and the standard library.
"""

from __future__ import annotations

import sys

CLASSICAL = """(define (domain roads) (:requirements :adl :derived-predicates :action-costs)
  (:predicates (at ?x) (way ?a ?b) (near ?b)) (:functions (total-cost))
  (:derived (near ?b) (exists (?a) (and (at ?a) (way ?a ?b))))
  (:action go :parameters (?a ?b) :precondition (and (at ?a) (near ?b))
    :effect (and (at ?b) (not (at ?a)) (when (way ?b ?a) (not (at ?a))) (increase (total-cost) 2))))"""
ROADS = "(define (problem p) (:domain roads) (:objects a b) (:init (at a) (way a b)) (:goal (at b)))"
TIMED = """(define (domain pump) (:requirements :durative-actions :fluents) (:predicates (idle)) (:functions (litres))
  (:durative-action stroke :parameters () :duration (= ?duration 3) :condition (at start (idle))
    :effect (and (at start (not (idle))) (at end (idle)) (at end (increase (litres) 2)))))"""
TANK = "(define (problem t) (:domain pump) (:init (idle) (= (litres) 0)) (:goal (>= (litres) 4)))"


def main() -> None:
    before = set(sys.modules)  # setuptools is loaded at the start of Python
    import pddlego
    from pddlego import pddl, tools
    from pddlego.errors import UsageError

    assert pddlego.check(CLASSICAL, ROADS, "(go a b)").ok and pddlego.check(TIMED, TANK).ok
    broken = CLASSICAL.replace("(near ?b))\n", "(neer ?b))\n")
    assert [finding.rule for finding in pddlego.check(broken, ROADS).findings if finding.severity == "error"]
    assert pddlego.repair(CLASSICAL[:-1]).ok and all(file.ok for file in pddlego.repair_files(TIMED, TANK[:-1]))
    assert pddlego.validate(CLASSICAL, ROADS, "(go a b)").cost == 1
    assert pddlego.validate(TIMED, TANK, "0: (stroke) [3]\n3.001: (stroke) [3]").valid
    assert pddlego.simulate(CLASSICAL, ROADS, "(go a b)").states[-1].goal_reached
    assert pddlego.compare(CLASSICAL, ROADS, ROADS.replace(" a", " c")).verdict.value == "same"
    assert tools.applicable(CLASSICAL, ROADS).actions == ("(go a b)",)
    assert pddlego.Simulation(CLASSICAL, ROADS).step("(go a b)").goal_reached
    switch = pddl.Action("switch", (), pddl.Not(pddl.Atom("on")), pddl.Atom("on"))
    lamp = pddlego.Domain("lamp", predicates=(pddl.Predicate("on", ()),), actions=(switch,))
    assert pddlego.validate(lamp, pddlego.Problem("p", "lamp", goal=pddl.Atom("on")), "(switch)").valid
    assert pddlego.parse_problem(ROADS).name == "p" and str(pddlego.parse_domain(TIMED))
    try:
        pddlego.solve(CLASSICAL, ROADS)
    except UsageError as error:
        assert "pyperplan" in error.reason, error
    else:
        raise AssertionError("a planner is installed: this is not an empty environment")
    others = {name.partition(".")[0] for name in set(sys.modules) - before} - {"pddlego", *sys.stdlib_module_names}
    assert not others, others


if __name__ == "__main__":
    main()
