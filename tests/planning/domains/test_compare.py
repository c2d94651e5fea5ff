"""Domains are compared by what their actions do: mutants have a witness, rewritten ones are the same."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from pddlego.errors import UsageError
from pddlego.pddl import Domain, PddlSyntaxError, parse_domain, parse_problem
from pddlego.pddl.conditions import And
from pddlego.pddl.perturb import anonymous
from pddlego.planning.compare import ComparisonVerdict
from pddlego.planning.domains import compare as compare_module
from pddlego.planning.domains.compare import compare_domains
from pddlego.tools import compare
from pddlego.util import resources
from tests.planning.domains.mutants import KINDS, mutant, refuted, rewritten
from tests.scale import PATIENCE
from tests.shared import COMPETITION, SHARED

pytest.importorskip("z3")

NAMES = ("blocks", "coin", "logistics", "miconic", "movie", "openstacks", "spanner", "woodworking")

LEFT = """(define (domain f) (:requirements :adl) (:predicates (p ?x) (q ?x) (r ?x))
 (:action a :parameters (?x) :precondition (and (p ?x) (q ?x)) :effect (and (r ?x) (not (p ?x))))
 (:action b :parameters (?x) :precondition (r ?x) :effect (p ?x)))"""

TRUCK = """(define (domain d) (:requirements :numeric-fluents :durative-actions :typing) (:types truck)
 (:predicates (free ?t - truck)) (:functions (fuel ?t - truck))
 (:action refuel :parameters (?t - truck) :precondition (< (fuel ?t) 10) :effect (increase (fuel ?t) 5))
 (:durative-action wash :parameters (?t - truck) :duration (= ?duration 3)
  :condition (at start (free ?t)) :effect (and (at start (not (free ?t))) (at end (free ?t)))))"""


def domain_of(name: str) -> Domain:
    return parse_domain(resources.read("domains", f"{name}.pddl"))


@pytest.mark.parametrize("name", NAMES)
def test_domains_are_the_same_under_other_names(name: str) -> None:
    domain = domain_of(name)
    shuffled = replace(domain, actions=domain.actions[::-1], predicates=domain.predicates[::-1])
    assert compare_domains(domain, anonymous(shuffled).domain).verdict is ComparisonVerdict.SAME
    first = domain.actions[0]
    fewer = replace(domain, actions=(replace(first, effect=And(())), *domain.actions[1:]))
    assert compare_domains(domain, fewer).verdict is ComparisonVerdict.DIFFERENT
    assert compare_domains(domain, replace(domain, actions=domain.actions[1:])).verdict is ComparisonVerdict.DIFFERENT


@pytest.mark.parametrize(
    ("old", "new", "facts", "left", "right"),
    [
        ("(and (p ?x) (q ?x))", "(p ?x)", ("(p x)",), None, ("(not (p x))", "(r x)")),
        ("(r ?x) (not (p ?x))", "(r ?x)", ("(p x)", "(q x)"), ("(not (p x))", "(r x)"), ("(r x)",)),
        (":precondition (r ?x)", ":precondition (and (r ?x) (q ?x))", ("(r x)",), ("(p x)",), None),
    ],
    ids=["condition", "effect", "added"],
)
def test_a_difference_has_a_small_state_that_shows_it(
    old: str, new: str, facts: tuple[str, ...], left: tuple[str, ...] | None, right: tuple[str, ...] | None
) -> None:
    result = compare_domains(parse_domain(LEFT), parse_domain(LEFT.replace(old, new)))
    (witness,) = result.witnesses
    assert (witness.facts, witness.left, witness.right) == (facts, left, right)


@pytest.mark.parametrize(
    ("old", "new", "moment", "facts"),
    [
        ("(< (fuel ?t) 10)", "(<= (fuel ?t) 10)", "", ("(= (fuel t) 10)",)),
        ("(increase (fuel ?t) 5)", "(assign (fuel ?t) 5)", "", None),
        ("(= ?duration 3)", "(<= ?duration 3)", "start", None),
        ("(at end (free ?t))", "(at start (free ?t))", "start", ("(free t)", "(= #t 0)", "(= ?duration 3)")),
    ],
    ids=["bound", "change", "duration", "moment"],
)
def test_numbers_and_times_are_compared(old: str, new: str, moment: str, facts: tuple[str, ...] | None) -> None:
    result = compare_domains(parse_domain(TRUCK), parse_domain(TRUCK.replace(old, new)))
    witness = result.witnesses[0]
    assert witness.moment == moment and witness.left != witness.right
    assert facts is None or witness.facts == facts
    assert compare_domains(parse_domain(TRUCK), parse_domain(TRUCK)).verdict is ComparisonVerdict.SAME


@pytest.mark.parametrize("name", [*NAMES, "LEFT", "TRUCK"])
def test_mutants_are_decided_and_rewritten_domains_are_the_same(name: str) -> None:
    domain = parse_domain({"LEFT": LEFT, "TRUCK": TRUCK}[name]) if name.isupper() else domain_of(name)
    rng = random.Random(name)
    for kind in KINDS:
        changed = mutant(domain, kind, rng)
        if changed is None:
            continue
        verdict = compare_domains(domain, changed).verdict
        assert verdict is not ComparisonVerdict.UNDECIDED, kind
        if verdict is ComparisonVerdict.SAME:
            assert not list(refuted(domain, changed, rng, 300)), kind
    assert compare_domains(domain, rewritten(domain, rng)).verdict is ComparisonVerdict.SAME


@pytest.mark.slow
@pytest.mark.shared("competition", "cases/levels")
def test_domains_of_others_are_decided() -> None:
    rng, verdicts = random.Random(3), Counter[str]()
    files = [*COMPETITION.glob("*/domain.pddl"), *SHARED.glob("cases/levels/*/domain.pddl")]
    for file in sorted(files):
        try:
            domain = parse_domain(file.read_text())
        except PddlSyntaxError:
            continue
        for kind in KINDS:
            changed = mutant(domain, kind, rng)
            if changed is not None:
                result = compare_domains(domain, changed)
                verdicts[result.verdict.value] += 1
                if result.verdict is ComparisonVerdict.SAME:
                    assert not list(refuted(domain, changed, rng, 300)), (file, kind)
        assert not compare_domains(domain, rewritten(domain, rng)).witnesses, file
    assert verdicts["undecided"] <= verdicts.total() / 20, verdicts


def test_a_problem_leaves_out_states_that_it_never_reaches() -> None:
    domain = domain_of("blocks")
    old = "(and (holding ?x) (clear ?y))"
    text = resources.read("domains", "blocks.pddl")
    assert old in text
    other = parse_domain(text.replace(old, "(and (holding ?x) (clear ?y) (not (hand-empty)))"))
    assert compare_domains(domain, other).verdict is ComparisonVerdict.DIFFERENT
    problem = parse_problem(
        """(define (problem p) (:domain blocks) (:objects a b)
        (:init (on-table a) (on b a) (clear b) (hand-empty)) (:goal (on a b)))"""
    )
    with_problem = compare_domains(domain, other, problem, seconds=PATIENCE)
    assert with_problem.verdict is ComparisonVerdict.SAME and with_problem.invariants
    without_clear = parse_domain(text.replace(old, "(holding ?x)"))
    (witness,) = compare_domains(domain, without_clear, problem, seconds=PATIENCE).witnesses
    assert (witness.action, witness.plan, witness.left) == ("(stack b b)", ("(unstack b a)",), None)


def test_conditions_that_are_assumed_are_named() -> None:
    changed = LEFT.replace(":precondition (r ?x)", ":precondition (and (r ?x) (not (p ?x)))")
    assert compare(LEFT, changed).verdict is ComparisonVerdict.DIFFERENT
    assumed = "(forall (?x) (imply (r ?x) (not (p ?x))))"
    result = compare(LEFT, changed, invariants=[assumed])
    assert (result.verdict, result.invariants) == (ComparisonVerdict.SAME, (assumed,))
    with pytest.raises(UsageError, match="invariant"):
        compare(LEFT, changed, invariants=["(s ?x)"])
    problem = "(define (problem p) (:domain f) (:objects o) (:init (r o)) (:goal (p o)))"
    with pytest.raises(UsageError, match="two problems"):
        compare(LEFT, problem, problem, invariants=[assumed])


def test_actions_with_other_parameters_are_different() -> None:
    more = LEFT.replace(":parameters (?x) :precondition (r ?x)", ":parameters (?x ?y) :precondition (r ?x)")
    assert compare_domains(parse_domain(LEFT), parse_domain(more)).verdict is ComparisonVerdict.DIFFERENT


def test_what_is_derived_is_compared_by_its_facts() -> None:
    derived = LEFT.replace(" (:action a", " (:derived (q ?x) (and (p ?x) (r ?x))) (:action a", 1)
    other = derived.replace("(and (p ?x) (r ?x))", "(or (p ?x) (r ?x))")
    actions = {
        witness.action.split()[0] for witness in compare_domains(parse_domain(derived), parse_domain(other)).witnesses
    }
    assert "(q" in actions
    same = derived.replace("(and (p ?x) (r ?x))", "(not (or (not (r ?x)) (not (p ?x))))")
    assert compare_domains(parse_domain(derived), parse_domain(same)).verdict is ComparisonVerdict.SAME


@pytest.mark.parametrize(
    "change",
    [
        ("(stack ?x - block)", "(stack ?x - table)"),
        ("(on ?x - block ?y - table)", "(on ?x - block ?y - block)"),
        ("(?p - block ?q - table)", "(?p - block ?q - block)"),
        ("(exists (?z - block)", "(exists (?z - table)"),
        ("red - block", "red - table"),
    ],
    ids=lambda change: change[0],
)
def test_domains_with_other_types_of_parameters_are_not_the_same(change: tuple[str, str]) -> None:
    text = """(define (domain d) (:requirements :adl) (:types block table) (:constants red - block)
      (:predicates (stack ?x - block) (on ?x - block ?y - table))
      (:action put :parameters (?p - block ?q - table) :precondition (stack ?p)
        :effect (when (exists (?z - block) (stack ?z)) (on ?p ?q)))
      (:action drop :parameters (?r - table) :precondition () :effect (stack red)))"""
    assert change[0] in text
    domain, other = parse_domain(text), parse_domain(text.replace(*change))
    assert compare_domains(domain, parse_domain(text)).verdict is ComparisonVerdict.SAME
    assert compare_domains(domain, other).verdict is not ComparisonVerdict.SAME


def test_without_the_solver_only_equal_domains_are_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_module, "find_spec", lambda name: None)
    other = LEFT.replace("(and (p ?x) (q ?x))", "(p ?x)")
    assert compare_domains(parse_domain(LEFT), parse_domain(other)).verdict is ComparisonVerdict.UNDECIDED
    assert compare_domains(parse_domain(LEFT), parse_domain(LEFT)).verdict is ComparisonVerdict.SAME


def test_conditions_at_another_time_than_their_effect_are_not_called_the_same() -> None:
    timed = TRUCK.replace("(at end (free ?t))", "(when (at start (free ?t)) (at end (free ?t)))")
    other = timed.replace("(when (at start (free ?t))", "(when (at start (not (free ?t)))")
    assert compare_domains(parse_domain(timed), parse_domain(timed)).verdict is ComparisonVerdict.SAME
    assert compare_domains(parse_domain(timed), parse_domain(other)).verdict is ComparisonVerdict.UNDECIDED


def test_what_becomes_true_later_is_part_of_what_a_problem_reaches() -> None:
    text = LEFT.replace(":adl", ":adl :timed-initial-literals")
    other = parse_domain(text.replace(":precondition (r ?x)", ":precondition (and (r ?x) (not (q ?x)))"))
    start = "(define (problem p) (:domain f) (:objects o) (:init (r o)LATER) (:goal (p o)))"
    now, later = (parse_problem(start.replace("LATER", more)) for more in ("", " (at 5 (q o))"))
    assert compare_domains(parse_domain(text), other, now).verdict is ComparisonVerdict.SAME
    assert compare_domains(parse_domain(text), other, later).verdict is ComparisonVerdict.DIFFERENT


PETS = """(define (domain pets) (:requirements :strips :typing) (:types {types}) (:predicates (p ?x - {kind}) {more})
  (:action a :parameters (?x - {kind}) :precondition (p ?x) :effect (not (p ?x))) {action})"""
PLAIN = PETS.format(types="cat", kind="cat", more="", action="")
FEED = "(:action feed :parameters (?x - dog) :precondition (hungry ?x) :effect (not (hungry ?x)))"


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        (PETS.format(types="cat dog", kind="cat", more="", action=""), True),
        (PETS.format(types="dog", kind="dog", more="", action=""), True),
        (PETS.format(types="car bus", kind="car", more="(r ?x - bus)", action=""), False),
        (PETS.format(types="cat dog", kind="cat", more="(hungry ?x - dog)", action=FEED), False),
        (PETS.format(types="cat - pet pet", kind="pet", more="", action=""), False),
        (PETS.format(types="car bus", kind="car", more="(hungry ?x - bus)", action=FEED.replace("dog", "bus")), False),
    ],
)
def test_types_of_one_domain_are_no_reason_to_call_domains_the_same(other: str, is_same: bool) -> None:
    for left, right in ((PLAIN, other), (other, PLAIN)):
        verdict = compare_domains(parse_domain(left), parse_domain(right)).verdict
        assert verdict is (ComparisonVerdict.SAME if is_same else ComparisonVerdict.DIFFERENT)
