"""Constraints are judged as their definition says, by VAL too, and planners without constraints keep them."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import count

import pytest

from pddlego.pddl import Atom, Problem, check, parse_domain, parse_problem
from pddlego.pddl.conditions import Trajectory
from pddlego.pddl.rules import Level
from pddlego.planning import unconstrained
from pddlego.planning.abilities import turns_for
from pddlego.planning.engines import EngineTurn, missing, solve_strips
from pddlego.planning.result import Plan, PlanStatus, PlanStep, Search
from pddlego.planning.state import State
from pddlego.planning.trajectories import Monitor, contradict, instances
from pddlego.planning.validation import validate
from pddlego.planning.worker import solve
from pddlego.planning.world import Simulator, World
from tests.scale import scaled
from tests.shared import SHARED

DOMAIN = parse_domain(
    """(define (domain random) (:types thing) (:predicates (p ?x - thing) (q ?x - thing) (d))
    (:derived (d) (exists (?x - thing) (and (p ?x) (q ?x))))
    (:action pp :parameters (?x - thing) :precondition (not (p ?x)) :effect (p ?x))
    (:action np :parameters (?x - thing) :precondition (p ?x) :effect (and (not (p ?x)) (when (q ?x) (not (q ?x)))))
    (:action pq :parameters (?x ?y - thing) :precondition (and (p ?x) (not (= ?x ?y)))
      :effect (and (q ?y) (not (p ?x)))))"""
)
WITHOUT_TIME = ("at end", "always", "sometime", "at-most-once", "sometime-after", "sometime-before")
WITH_TIME = ("within", "always-within", "hold-during", "hold-after")
CASES = SHARED / "cases" / "turn6" / "rules"


def condition(rng: random.Random, names: tuple[str, ...]) -> str:
    def literal() -> str:
        return "(d)" if rng.random() < 0.1 else f"({rng.choice('pq')} {rng.choice(names)})"

    return rng.choice(
        (
            literal(),
            literal(),
            f"(not {literal()})",
            f"(and {literal()} {literal()})",
            f"(or {literal()} (not {literal()}))",
            f"(exists (?z - thing) ({rng.choice('pq')} ?z))",
        )
    )


def constraint(rng: random.Random, operators: tuple[str, ...]) -> str:
    names = ("a", "b", "?x", "?x") if rng.random() < 0.3 else ("a", "b")
    operator = rng.choice(operators)
    times = sorted(rng.sample(range(5), {"hold-during": 2}.get(operator, 1))) if operator in WITH_TIME else []
    conditions = 2 if operator in ("sometime-after", "sometime-before", "always-within") else 1
    parts = [*map(str, times), *(condition(rng, names) for _ in range(conditions))]
    text = f"({operator} {' '.join(parts)})"
    return f"(forall (?x - thing) {text})" if "?x" in text else text


def task(seed: int, operators: tuple[str, ...]) -> Problem:
    rng = random.Random(seed)
    facts = " ".join(f"({name} {thing})" for name in "pq" for thing in "ab" if rng.random() < 0.4)
    constraints = " ".join(constraint(rng, operators) for _ in range(rng.choice((1, 1, 2))))
    goal = f"(and {condition(rng, ('a', 'b'))} {condition(rng, ('a', 'b'))})"
    problem = parse_problem(
        f"(define (problem t) (:domain random) (:objects a b - thing) (:init {facts}) (:goal {goal})"
        f" (:constraints (and {constraints})))"
    )
    assert not [defect for defect in check(DOMAIN, problem, Level.TIME) if defect.blocking]
    return problem


def by_definition(world: World, own: Trajectory, states: list[State], times: list[Fraction]) -> bool:
    """The table of Gerevini et al. (2009), word by word."""
    first, second = ([world.holds(part, state, {}) for state in states] for part in (own.parts[0], own.parts[-1]))
    bounds, numbers = [Fraction(time) for time in own.times], range(len(states))
    current = {bound: max((i for i in numbers if times[i] <= bound), default=0) for bound in bounds}
    match own.operator:
        case "at end":
            return first[-1]
        case "always":
            return all(first)
        case "sometime":
            return any(first)
        case "at-most-once":
            return sum(first[i] and not (i and first[i - 1]) for i in numbers) <= 1
        case "sometime-after":
            return all(any(second[i:]) for i in numbers if first[i])
        case "sometime-before":
            return all(any(second[:i]) for i in numbers if first[i])
        case "within":
            return any(first[i] for i in numbers if times[i] <= bounds[0])
        case "always-within":
            return all(
                any(second[j] and times[j] - times[i] <= bounds[0] for j in numbers[i:]) for i in numbers if first[i]
            )
        case "hold-during":
            inside = [i for i in numbers if bounds[0] <= times[i] < bounds[1]]
            return all(first[i] for i in {*inside, current[bounds[0]]})
    return all(first[i] for i in {*(i for i in numbers if times[i] >= bounds[0]), current[bounds[0]]})


@pytest.mark.parametrize("seed", range(scaled(100, in_ci=1000)))
def test_random_plans_are_judged_as_the_definition_says(seed: int) -> None:
    problem, rng = task(seed, (*WITHOUT_TIME, *WITH_TIME)), random.Random(seed)
    world = World(DOMAIN, problem)
    states, times = [world.initial], [Fraction(0)]
    for _ in range(rng.randrange(6)):
        step = rng.choice([*Simulator(world, states[-1]).applicable()])
        states.append(world.after(step, states[-1]))
        times.append(times[-1] + rng.choice((1, 1, 2)))
    constraints = [*instances(world, problem.constraints)]
    monitor = Monitor(world, constraints)
    for state, time in zip(states, times, strict=True):
        monitor.observe(state, time)
    kept = [one for one in constraints if by_definition(world, one, states, times)]
    assert [one for one in constraints if one not in {*monitor.unsatisfied()}] == kept


@pytest.mark.shared("cases/turn6/rules")
def test_cases_are_judged_as_written() -> None:
    expected, judged = json.loads((CASES / "expect.json").read_text()), 0
    domain = parse_domain((CASES / "domain.pddl").read_text())
    for name, case in expected.items():
        problem = parse_problem((CASES / f"{name}.pddl").read_text())
        for plan, is_valid in case["valid"].items():
            lines = (CASES / f"{plan}.plan").read_text().split("\n")
            fault = validate(domain, problem, Plan(tuple(map(PlanStep.read, filter(None, lines)))))
            assert (fault is None) is is_valid, (name, plan)
            judged += 1
    assert judged == 48


def fewest_steps(problem: Problem, most: int) -> int | None:
    """The number of steps of a shortest plan of at most `most` steps, by trying every sequence of steps."""
    world = World(DOMAIN, problem)
    plans: list[tuple[tuple[PlanStep, ...], State]] = [((), world.initial)]
    for number in count():
        if any(validate(DOMAIN, problem, Plan(steps)) is None for steps, _ in plans):
            return number
        if number == most:
            return None
        plans = [
            ((*steps, step), world.after(step, state))
            for steps, state in plans
            for step in Simulator(world, state).applicable()
        ]
    return None


@pytest.mark.parametrize("seed", range(scaled(10, in_ci=100)))
def test_a_planner_without_constraints_finds_the_shortest_plan_that_keeps_them(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = task(seed, WITHOUT_TIME)
    monkeypatch.setattr(unconstrained, "_MOST_ALTERNATIVES", seed % 2 * 3)
    fewest = fewest_steps(problem, 4)
    result = solve(DOMAIN, problem, Search("bfs", None), [EngineTurn("pyperplan", solve_strips)])
    if result.plan is None:
        assert (result.status, fewest) in ((PlanStatus.UNSOLVABLE, None), (PlanStatus.ALREADY_TRUE, 0))
    else:
        assert validate(DOMAIN, problem, result.plan) is None
        assert len(result.plan) == fewest or (fewest is None and len(result.plan) > 4)


@pytest.mark.parametrize("seed", range(scaled(10, in_ci=100)))
def test_a_constraint_that_no_plan_breaks_does_not_grow_the_task(seed: int) -> None:
    """Each fact that looks back doubles the operators of a ground task: with 14 rooms there would be too many."""
    rng, rooms = random.Random(seed), [f"r{number}" for number in range(14)]
    domain = parse_domain(
        "(define (domain walk) (:types loc) (:constants r1 r2 - loc)"
        " (:predicates (at ?l - loc) (road ?a ?b - loc) (key))"
        " (:action mv :parameters (?a ?b - loc) :precondition (and (at ?a) (road ?a ?b) (or (key) (not (at r1))))"
        " :effect (and (not (at ?a)) (at ?b)))"
        " (:action get :parameters () :precondition (at r2) :effect (key)))"
    )
    pairs = [(rooms[rng.randrange(number)], rooms[number]) for number in range(1, 14)]
    pairs += [(rng.choice(rooms), rng.choice(rooms)) for _ in range(4)]
    roads = " ".join(f"(road {one} {other}) (road {other} {one})" for one, other in pairs)
    goal, objects = rng.choice(rooms), " ".join(room for room in rooms if room not in ("r1", "r2"))
    text = (
        f"(define (problem p) (:domain walk) (:objects {objects} - loc) (:init (at r0) {roads})"
        f" (:goal (and (at {goal}) (key))) (:constraints (forall (?r - loc) (at-most-once (at ?r)))))"
    )
    problem = parse_problem(text)
    result = solve(domain, problem, Search("bfs", None), [EngineTurn("pyperplan", solve_strips)])
    assert result.status is (PlanStatus.SOLVED if has_simple_path(pairs, goal) else PlanStatus.UNSOLVABLE)


def has_simple_path(pairs: list[tuple[str, str]], goal: str) -> bool:
    """Whether a way from r0 to the goal enters no room twice, sees r2, and leaves r1 only after it."""
    waiting: list[tuple[str, ...]] = [("r0",)]
    while waiting:
        way = waiting.pop()
        if way[-1] == goal and "r2" in way:
            return True
        if way[-1] != "r1" or "r2" in way:
            after = [*(b for a, b in pairs if a == way[-1]), *(a for a, b in pairs if b == way[-1])]
            waiting += [(*way, room) for room in after if room not in way]
    return False


@pytest.mark.skipif(missing("kairos") is not None, reason="kairos is not installed")
@pytest.mark.parametrize("wanted", ["(within 2 (at c))", "(hold-during 1 2 (at b))", "(hold-after 2 (at d))"])
def test_constraints_with_times_are_planned_for(wanted: str) -> None:
    domain = parse_domain(
        "(define (domain walk) (:types loc) (:predicates (at ?l - loc) (road ?a ?b - loc))"
        " (:action mv :parameters (?a ?b - loc) :precondition (and (at ?a) (road ?a ?b))"
        " :effect (and (not (at ?a)) (at ?b))))"
    )
    problem = parse_problem(
        "(define (problem p) (:domain walk) (:objects a b c d - loc) (:goal (at d))"
        f" (:init (at a) (road a b) (road b d) (road a c) (road c d)) (:constraints {wanted}))"
    )
    search = Search("gbf", "hff", "auto")
    result = solve(domain, problem, search, turns_for(domain, problem, search, 60))
    assert result.plan is not None
    assert validate(domain, problem, result.plan) is None


def test_a_variable_that_is_bound_again_is_no_object_there() -> None:
    problem = parse_problem(
        "(define (problem t) (:domain random) (:objects a b - thing) (:init (p b) (q b)) (:goal (p a))"
        " (:constraints (forall (?x - thing) (sometime (exists (?x - thing) (and (p ?x) (q ?x)))))))"
    )
    assert validate(DOMAIN, problem, Plan((PlanStep.read("(pp a)"),))) is None


def test_the_state_that_breaks_a_constraint_is_named() -> None:
    problem = parse_problem(
        "(define (problem t) (:domain random) (:objects a b - thing) (:init (q a)) (:goal (p b))"
        " (:constraints (forall (?x - thing) (always (not (and (p ?x) (q ?x)))))))"
    )
    steps = tuple(map(PlanStep.read, ("(pp b)", "(pp a)", "(np a)")))
    fault = validate(DOMAIN, problem, Plan(steps))
    assert fault is not None
    assert (fault.step, fault.time) == (steps[1], 1)
    assert str(fault).startswith("The constraint (always (not (and (p a) (q a)))) is broken after (pp a) at 2")


@pytest.mark.parametrize("seed", range(scaled(100, in_ci=1000)))
def test_what_is_left_of_constraints_judges_the_rest_as_they_do(seed: int) -> None:
    problem, rng = task(seed, WITHOUT_TIME), random.Random(seed)
    world = World(DOMAIN, problem)
    states = [world.initial]
    for _ in range(rng.randrange(7)):
        states.append(world.after(rng.choice([*Simulator(world, states[-1]).applicable()]), states[-1]))
    for own in instances(world, problem.constraints):
        for cut in range(len(states)):
            whole, before = Monitor(world, [own]), Monitor(world, [own])
            broken = [before.observe(state, Fraction(0)) for state in states[: cut + 1]]
            after = Monitor(world, before.rest())
            for state in states:
                whole.observe(state, Fraction(0))
            for state in states[cut:]:
                after.observe(state, Fraction(0))
            assert any(broken) or (not [*after.unsatisfied()]) == (not [*whole.unsatisfied()])


@pytest.mark.parametrize("seed", range(scaled(20, in_ci=200)))
def test_a_contradiction_is_one_in_longer_traces_too(seed: int) -> None:
    rng = random.Random(seed)
    problem = task(seed, WITHOUT_TIME)
    world = World(DOMAIN, problem)
    pair = [*instances(world, problem.constraints)][:2]
    if len(pair) == 2 and contradict(world, pair[0], pair[1]):
        for _ in range(300):
            monitor = Monitor(world, pair)
            for time in range(rng.randrange(1, 7)):
                facts = {Atom(name, (thing,)) for name in "pq" for thing in "ab" if rng.random() < 0.5}
                monitor.observe(State(frozenset(facts)), Fraction(time))
            assert [*monitor.unsatisfied()]
