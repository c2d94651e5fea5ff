"""Preferences are judged as their definition says, by VAL too, and planners that know costs find the best plans."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import pytest

from pddlego.pddl import Domain, Problem, check, parse_domain, parse_problem
from pddlego.pddl.conditions import TRUE, And, Forall, Formula, Preference, Renaming, Trajectory, parts_of
from pddlego.pddl.rules import Level
from pddlego.planning.abilities import planners_for, turns_for
from pddlego.planning.engines import EngineTurn, missing, solve_strips
from pddlego.planning.ground import PlanningError
from pddlego.planning.preferences import without_preferences
from pddlego.planning.result import Plan, PlanStatus, PlanStep, Search
from pddlego.planning.state import State
from pddlego.planning.validation import followed, validate
from pddlego.planning.validation.cost import plan_cost
from pddlego.planning.validation.preferences import preference_verdicts
from pddlego.planning.worker import solve
from pddlego.planning.world import Simulator, World
from tests.levels.judges import val_value
from tests.planning.test_trajectories import WITH_TIME, WITHOUT_TIME, by_definition, condition, constraint
from tests.scale import scaled

DOMAIN = parse_domain(
    """(define (domain random) (:types thing) (:predicates (p ?x - thing) (q ?x - thing) (d))
    (:functions (total-cost) - number (weight ?x - thing) - number)
    (:derived (d) (exists (?x - thing) (and (p ?x) (q ?x))))
    (:action pp :parameters (?x - thing) :precondition (not (p ?x)) :effect (and (p ?x) (increase (total-cost) 1)))
    (:action np :parameters (?x - thing) :precondition (p ?x)
      :effect (and (not (p ?x)) (when (q ?x) (not (q ?x))) (increase (total-cost) 0.5)))
    (:action pq :parameters (?x ?y - thing) :precondition (and (p ?x) (not (= ?x ?y)))
      :effect (and (q ?y) (not (p ?x)) (increase (total-cost) (weight ?y)))))"""
)


def task(seed: int, operators: tuple[str, ...] = WITHOUT_TIME) -> Problem:
    rng, names = random.Random(seed), ("one", "two", "three")
    facts = " ".join(f"({name} {thing})" for name in "pq" for thing in "ab" if rng.random() < 0.4)
    goals, constraints = [condition(rng, ("a", "b"))], ["(and)"]
    for name in names[: rng.choice((1, 2, 3))]:
        own = constraint(rng, operators)
        if rng.random() < 0.3:
            goals.append(f"(preference {name} {condition(rng, ('a', 'b'))})")
        elif rng.random() < 0.3:
            goals.append(f"(forall (?x - thing) (preference {name} {condition(rng, ('a', '?x'))}))")
        elif own.startswith("(forall") and rng.random() < 0.7:
            constraints.append(f"(forall (?x - thing) (preference {name} {own[len('(forall (?x - thing) ') :]})")
        else:
            more = rng.choice(("", constraint(rng, operators)))
            constraints.append(f"(preference {name} (and {own} {more}))")
    constraints += [constraint(rng, operators)] if rng.random() < 0.2 else []
    used = [name for name in names if f"preference {name} " in " ".join((*goals, *constraints))]
    direction = rng.choice(("minimize", "minimize", "maximize"))
    sign = "-" if direction == "maximize" else ""
    terms = [f"(* {rng.choice(('0', '1', '2', '3.5', '-1'))} (is-violated {name}))" for name in used]
    terms += [rng.choice(("4", f"(* {sign}2 (total-cost))", f"(* {sign}0.5 (total-time))"))]
    problem = parse_problem(
        f"(define (problem t) (:domain random) (:objects a b - thing) (:goal (and {' '.join(goals)}))"
        f" (:init {facts} (= (total-cost) 0) (= (weight a) 1) (= (weight b) 3))"
        f" (:constraints (and {' '.join(constraints)})) (:metric {direction} (+ {' '.join(terms)})))"
    )
    assert not [defect for defect in check(DOMAIN, problem, Level.TIME) if defect.blocking]
    assert parse_problem(str(problem)) == problem
    return problem


def ground(part: Formula, binding: dict[str, str]) -> Iterator[Trajectory]:
    """The constraints that a formula stands for, with `a` and `b` as the only objects."""
    match part:
        case Trajectory():
            yield Renaming(binding).formula(part)  # type: ignore[misc]
        case Forall():
            for values in product("ab", repeat=len(part.variables)):
                names = {variable.name: value for variable, value in zip(part.variables, values, strict=True)}
                yield from ground(part.part, {**binding, **names})
        case _:
            for inner in parts_of(part):
                yield from ground(inner, binding)


def violations(world: World, own: Preference, states: list[State], times: list[Fraction]) -> int:
    """How many instances of a preference a trace violates, by the definition."""
    cases = product("ab", repeat=len(own.variables))
    bindings = [{variable.name: value for variable, value in zip(own.variables, case, strict=True)} for case in cases]
    kept = [all(by_definition(world, one, states, times) for one in ground(own.part, case)) for case in bindings]
    return kept.count(False)


def value(problem: Problem, violated: dict[str, int], steps: list[PlanStep]) -> Fraction:
    """The value of the metric of `task`, from its text."""
    assert problem.metric is not None
    costs = {"pp": Fraction(1), "np": Fraction(1, 2)}
    weights = {"a": Fraction(1), "b": Fraction(3)}
    spent = sum((costs[step.action] if step.action in costs else weights[step.args[1]] for step in steps), Fraction(0))
    known = {"(total-cost)": spent, "(total-time)": Fraction(len(steps))}
    known |= {f"(is-violated {name})": Fraction(number) for name, number in violated.items()}
    total = Fraction(0)
    for term in problem.metric.term.parts or ():
        factor, *rest = term.parts or (term,)
        total += Fraction(factor.head) * (known[str(rest[0])] if rest else 1)
    return total


def best_value(problem: Problem, most: int) -> Fraction | None:
    """The best value of the metric of a plan of at most `most` steps, by trying every sequence of steps."""
    assert problem.metric is not None
    world, values = World(DOMAIN, problem), list[Fraction]()
    waiting: list[tuple[list[PlanStep], list[State]]] = [([], [world.initial])]
    while waiting:
        steps, states = waiting.pop()
        times = [Fraction(number) for number in range(len(states))]
        demanded = all(by_definition(world, one, states, times) for one in ground(problem.constraints, {}))
        if demanded and world.holds(problem.goal, states[-1], {}):
            violated = {own.name: violations(world, own, states, times) for own in problem.preferences}
            values.append(value(problem, violated, steps))
        if len(steps) < most:
            for step in Simulator(world, states[-1]).applicable():
                waiting.append(([*steps, step], [*states, world.after(step, states[-1])]))
    best = max if problem.metric.direction == "maximize" else min
    return best(values, default=None)


@pytest.mark.parametrize("seed", range(scaled(60, in_ci=600)))
def test_random_plans_violate_what_the_definition_says(seed: int) -> None:
    problem, rng = task(seed, (*WITHOUT_TIME, *WITH_TIME)), random.Random(seed)
    problem = replace(problem, goal=TRUE, constraints=TRUE)
    world = World(DOMAIN, problem)
    states, steps = [world.initial], list[PlanStep]()
    for _ in range(rng.randrange(6)):
        steps.append(rng.choice([*Simulator(world, states[-1]).applicable()]))
        states.append(world.after(steps[-1], states[-1]))
    violated = {
        own.name: violations(world, own, states, [Fraction(number) for number in range(len(states))])
        for own in problem.preferences
    }
    found = preference_verdicts(problem, followed(DOMAIN, problem, Plan(tuple(steps)))[1])
    assert {verdict.name: verdict.violated for verdict in found} == violated
    assert plan_cost(DOMAIN, problem, Plan(tuple(steps))) == value(problem, violated, steps)


VAL_READS = replace(DOMAIN, requirements=(":adl", ":typing", ":constraints", ":preferences", ":derived-predicates"))


@pytest.mark.parametrize("seed", range(scaled(20, in_ci=400)))
def test_val_computes_the_same_metric(seed: int) -> None:
    """VAL counts a preference with several constraints once for each time at which one of them is broken."""
    problem, rng = replace(task(seed), goal=TRUE, constraints=TRUE), random.Random(seed)
    if any(isinstance(own.part, And) and own.part.parts[1:] for own in problem.preferences):
        return
    world = World(DOMAIN, problem)
    state, steps = world.initial, list[PlanStep]()
    for _ in range(rng.randrange(1, 6)):
        steps.append(rng.choice([*Simulator(world, state).applicable()]))
        state = world.after(steps[-1], state)
    plan = Plan(tuple(steps))
    value = val_value(str(VAL_READS), str(problem), str(plan))
    if value is None:
        pytest.skip("VAL is not installed")
    assert value == pytest.approx(plan_cost(DOMAIN, problem, plan))


@pytest.mark.parametrize("seed", range(scaled(15, in_ci=200)))
def test_an_optimal_search_finds_the_best_value_of_the_metric(seed: int) -> None:
    problem = task(seed)
    best = best_value(problem, 4)
    result = solve(DOMAIN, problem, Search("astar", "lmcut"), [EngineTurn("pyperplan", solve_strips)])
    if result.plan is None:
        assert (result.status, best) in ((PlanStatus.UNSOLVABLE, None), (PlanStatus.ALREADY_TRUE, best))
        return
    assert validate(DOMAIN, problem, result.plan) is None
    assert problem.metric is not None and result.cost is not None
    sign = -1 if problem.metric.direction == "maximize" else 1
    assert best is None or sign * Fraction(result.cost) <= sign * best
    assert len(result.plan) > 4 or Fraction(result.cost) == best


@pytest.mark.parametrize("engine", ["fast-downward", "kairos", "mimir", "auto"])
@pytest.mark.parametrize("seed", range(scaled(3, in_ci=40)))
def test_every_planner_that_knows_costs_plans_with_preferences(
    seed: int, engine: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)  # Fast Downward writes its plan there
    if engine != "auto" and missing(engine):
        pytest.skip(f"{engine} is not installed")
    problem = task(seed)
    if engine == "mimir":  # it refuses several disjunctions in a condition, which the facts that look back may need
        problem = replace(problem, constraints=TRUE)
    optimal = solve(DOMAIN, problem, Search("astar", "lmcut"), [EngineTurn("pyperplan", solve_strips)])
    searches = (("gbf", "hff"),) if engine == "mimir" else (("gbf", "hff"), ("astar", "lmcut"))
    for algorithm, heuristic in searches:
        search = Search(algorithm, heuristic, engine)
        result = solve(DOMAIN, problem, search, turns_for(DOMAIN, problem, search, 60))
        assert (result.plan is None) == (optimal.plan is None), result
        if result.plan is not None:
            assert validate(DOMAIN, problem, result.plan) is None
            assert algorithm == "gbf" or result.cost == optimal.cost


WALK = parse_domain(
    "(define (domain walk) (:types loc) (:predicates (at ?l - loc) (seen ?l - loc))"
    " (:action mv :parameters (?a ?b - loc) :precondition (at ?a)"
    " :effect (and (not (at ?a)) (at ?b) (seen ?a))))"
)


def walk(goal: str, constraints: str, metric: str) -> Problem:
    return parse_problem(
        "(define (problem w) (:domain walk) (:objects a b c - loc) (:init (at a))"
        f" (:goal (and {goal})) (:constraints (and {constraints})) (:metric {metric}))"
    )


RIGHT = [
    ("(preference p (at c))", "", "minimize (is-violated p)", "abc", 0),
    ("(preference p (at b))", "", "minimize (is-violated p)", "abc", 1),
    ("(preference p (at b)) (preference p (seen c))", "", "minimize (* 2 (is-violated p))", "abc", 4),
    ("(forall (?l - loc) (preference p (seen ?l)))", "", "minimize (* 3.5 (is-violated p))", "ab", 7),
    ("(preference p (forall (?l - loc) (seen ?l)))", "", "minimize (* 3.5 (is-violated p))", "ab", 3.5),
    ("", "(preference p (always (not (at b))))", "minimize (+ (is-violated p) 1)", "abc", 2),
    ("", "(preference p (and (sometime (at b)) (at-most-once (at a))))", "minimize (is-violated p)", "aba", 1),
    ("", "(forall (?l - loc) (preference p (sometime (at ?l))))", "maximize (- 9 (* 2 (is-violated p)))", "ab", 7),
    ("", "(preference p (sometime-before (at c) (at b)))", "minimize (+ (total-time) (is-violated p))", "ac", 2),
    ("", "(preference p (within 1 (at c))) (preference (always (at c)))", "minimize (is-violated p)", "abc", 1),
]


@pytest.mark.parametrize(("goal", "constraints", "metric", "way", "right"), RIGHT)
def test_a_metric_has_its_right_value(goal: str, constraints: str, metric: str, way: str, right: float) -> None:
    problem = walk(goal, constraints, metric)
    plan = Plan(tuple(PlanStep("mv", pair) for pair in pairwise(way)))
    assert not [defect for defect in check(WALK, problem, Level.TIME) if defect.blocking]
    assert validate(WALK, problem, plan) is None
    assert plan_cost(WALK, problem, plan) == right


def test_verdicts_say_how_many_are_violated_and_what_that_costs() -> None:
    problem = walk(
        "(forall (?l - loc) (preference see (seen ?l))) (preference home (at a)) (preference (at b))",
        "(preference quiet (always (not (at b))))",
        "minimize (+ (* 2 (is-violated see)) (* 3 (is-violated home)))",
    )
    plan = Plan((PlanStep("mv", ("a", "b")),))
    assert [*map(str, preference_verdicts(problem, followed(WALK, problem, plan)[1]))] == [
        "preference see: 2 of 3 violated (cost 4)",
        "preference home: violated (cost 3)",
        "preference without a name: kept",
        "preference quiet: violated (cost 0)",
    ]


@pytest.mark.parametrize(
    ("domain", "constraints", "metric", "reason"),
    [
        (WALK, "(preference p (within 2 (at b)))", "(is-violated p)", "task with times ((within 2 (at b)))"),
        (WALK, "(preference p (always (at b)))", "(- (is-violated p) (total-time))", "beside low costs only"),
        (DOMAIN, "(preference p (always (d)))", "(+ (is-violated p) (weight a))", "not beside other numbers"),
        (DOMAIN, "(preference p (always (d)))", "(+ (is-violated p) (* 3 (total-cost)))", "is not a decimal number"),
    ],
)
def test_what_is_not_planned_for_is_refused_by_name(domain: Domain, constraints: str, metric: str, reason: str) -> None:
    problem = replace(walk("", constraints, f"minimize {metric}"), objects=frozenset(), facts=frozenset(), goal=TRUE)
    for planner in planners_for(domain, problem, Search()).planners:
        assert reason in planner.reason
    with pytest.raises(PlanningError, match=re.escape(reason)):
        turns_for(domain, problem, Search("astar", "lmcut", "auto"), 10)
    assert turns_for(domain, problem, Search("gbf", "hff", "auto"), 10)


def test_a_goal_that_is_true_already_is_planned_for_if_more_can_be_kept() -> None:
    problem = walk("(at a)", "(preference p (sometime (at b)))", "minimize (* 3 (is-violated p))")
    result = solve(WALK, problem, Search(), [EngineTurn("pyperplan", solve_strips)])
    assert result.plan is not None
    assert (len(result.plan), result.cost) == (2, 0)
    without = replace(problem, metric=None)
    assert solve(WALK, without, Search(), [EngineTurn("pyperplan", solve_strips)]).status is PlanStatus.ALREADY_TRUE


def test_preferences_without_a_cost_do_not_change_the_task() -> None:
    problem = walk("(at b) (preference p (at c))", "(preference q (always (at a)))", "minimize (total-time)")
    domain, plain, added = without_preferences(WALK, problem, Search())
    assert (domain, plain, added) == (WALK, replace(problem, preferences=()), frozenset())


@pytest.mark.parametrize(
    ("constraints", "metric"),
    [
        ("(sometime (p))", "(total-cost)"),
        ("(preference w (sometime (p)))", "(is-violated w)"),
        (
            f"(forall ({' '.join(f'?x{number}' for number in range(800))}) (and {'(always (p)) ' * 800}))",
            "(total-cost)",
        ),
    ],
    ids=["constraints", "preferences", "variables"],
)
def test_constraints_that_many_actions_would_repeat_are_refused(constraints: str, metric: str) -> None:
    many = f"(and {constraints * (800 if 'forall' not in constraints else 1)})"
    actions = "".join(f"(:action a{number} :effect (p))" for number in range(800))
    domain = parse_domain(f"(define (domain d) (:predicates (p)) (:functions (total-cost)) {actions})")
    problem = parse_problem(
        "(define (problem x) (:domain d) (:objects a) (:init (= (total-cost) 0)) (:goal (p))"
        f" (:constraints {many}) (:metric minimize {metric}))"
    )
    result = solve(domain, problem, Search("astar", "lmcut"), [EngineTurn("pyperplan", solve_strips)])
    assert "copies of constraints, preferences" in result.message
