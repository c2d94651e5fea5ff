"""Two tasks are one under other names, or they are not."""

from __future__ import annotations

import pytest

from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.pddl import Atom, Domain, Problem, TypedName, parse_domain
from pddlego.pddl.conditions import And, parse_condition
from pddlego.pddl.perturb import anonymous
from pddlego.planning.checked import checked_problem
from pddlego.planning.compare import equivalence, named_alike
from pddlego.planning.validation import goal_holds
from pddlego.planning.world import transitions

NAMES = ("blocks", "gripper", "ferry", "collector", "miconic", "forest")


def task(name: str, number: int = 0) -> tuple[Domain, Problem]:
    setting = PlanningSetting(**load_planning(name))
    tasks = [task.problem for task in setting.small_tasks(2, "text")]
    return setting.domain, [task for task in tasks if not goal_holds(setting.domain, task)][number]


@pytest.mark.parametrize("name", NAMES)
def test_a_task_is_itself_also_under_names_that_say_nothing(name: str) -> None:
    domain, problem = task(name)
    assert equivalence((domain, problem), (domain, problem)) == "same"
    nameless = anonymous(domain)
    assert equivalence((domain, problem), (nameless.domain, nameless.problem(problem))) == "same"


@pytest.mark.parametrize("name", NAMES)
def test_another_goal_or_another_start_is_another_task(name: str) -> None:
    domain, problem = task(name)
    lost = sorted(problem.facts, key=str)[0]
    other = problem.with_goal(And((lost,)))
    assert equivalence((domain, problem), (domain, other)) == "different"


def test_different_goals_that_cannot_be_reached_are_not_the_same() -> None:
    domain, problem = task("blocks")
    first, second = sorted(obj.name for obj in problem.objects)[:2]
    impossible = [problem.with_goal(parse_condition(f"(on {name} {name})")) for name in (first, second)]
    assert equivalence((domain, impossible[0]), (domain, impossible[1])) == "no reachable goal"
    assert equivalence((domain, impossible[0]), (domain, problem)) == "different"


def test_a_domain_with_other_predicates_may_mean_the_same() -> None:
    """`free` and `busy` for one hand: what is said differs, what can be done does not."""
    domain, problem = task("blocks")
    busy = parse_domain(domain.text.replace("(hand-empty)", "(hand-free)"))
    facts = frozenset(
        type(fact)(fact.predicate.replace("hand-empty", "hand-free"), fact.args) for fact in problem.facts
    )
    renamed = Problem(problem.name, problem.domain, problem.objects, facts, problem.goal)
    assert equivalence((domain, problem), (busy, renamed)) == "same"
    lazy = parse_domain(domain.text.replace("(not (clear ?x)) ", "", 1))
    assert equivalence((domain, problem), (lazy, problem)) == "different"


def test_what_is_too_large_is_not_said() -> None:
    domain, problem = task("blocks")
    assert equivalence((domain, problem), (domain, problem), most=3) == "too large"


def test_transitions_are_the_states_and_what_leads_between_them() -> None:
    domain = parse_domain("""(define (domain d) (:predicates (p) (q))
      (:action a :parameters () :precondition (p) :effect (and (q) (not (p))))
      (:action b :parameters () :precondition (q) :effect (q)))""")
    start = Problem("x", "d", facts=frozenset({Atom("p")}), goal=parse_condition("(q)"))
    result = transitions(domain, start)
    assert [len(state.facts) for state in result.states] == [1, 1]
    assert [(one, step.action, other) for one, step, other in result.edges] == [(0, "a", 1), (1, "b", 1)]
    assert (result.goals, result.complete) == (frozenset({1}), True)
    assert not transitions(domain, start, most=0).complete


def test_spelling_does_not_make_another_action() -> None:
    domain, _ = task("blocks")
    assert named_alike(domain, "pick_up") == "pick-up"
    assert named_alike(domain, "grab") is None


def toggles(wanted: int) -> tuple[Domain, Problem]:
    """Eight switches, alike, and so many that are to be on: a search for an isomorphism would look for ever."""
    names = [f"s{number}" for number in range(8)]
    parts = "".join(
        f"(:action on-{name} :parameters () :precondition (not ({name})) :effect ({name}))"
        f"(:action off-{name} :parameters () :precondition ({name}) :effect (not ({name})))"
        for name in names
    )
    heads = " ".join(f"({name})" for name in names)
    domain = parse_domain(f"(define (domain d) (:requirements :negative-preconditions) (:predicates {heads}) {parts})")
    return domain, Problem("p", "d", goal=And(tuple(map(Atom, names[:wanted]))))


def test_systems_that_look_alike_are_told_apart_without_a_search() -> None:
    domain, four = toggles(4)
    _, six = toggles(6)
    assert equivalence((domain, four), (domain, six)) == "different"


@pytest.mark.slow
def test_what_would_take_for_ever_is_not_looked_at() -> None:
    wide = parse_domain("""(define (domain d) (:predicates (p ?x))
      (:action a :parameters (?a ?b ?c ?d ?e ?f ?g ?h) :precondition (and) :effect (p ?a)))""")
    things = frozenset(TypedName(f"o{number}") for number in range(10))
    problem = Problem("p", "d", things, frozenset(), parse_condition("(p o1)"))
    assert not transitions(wide, problem).complete
    assert equivalence((wide, problem), (wide, problem)) == "too large"
    variables = " ".join(f"?v{number}" for number in range(8))
    text = f"(define (problem p) (:domain d) (:objects {' '.join(thing.name for thing in things)}) (:init) "
    text += f"(:goal (exists ({variables}) (p ?v1))))"
    assert [item.kind.id for item in checked_problem(wide, text).defects] == ["missing-requirement", "too-large"]
