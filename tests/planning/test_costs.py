"""Action costs from the file to the plan: every engine that promises a cheapest plan finds one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pddlego import tools
from pddlego.pddl import Domain, Problem, check, parse_domain, parse_problem
from pddlego.pddl.check import check_domain
from pddlego.pddl.conditions import Term, number
from pddlego.pddl.costs import integral
from pddlego.planning import Plan, PlanStatus, PlanStep, ProcessPlanner, Search, validate
from pddlego.planning.engines import EngineTurn, attempts, missing, solve_strips
from pddlego.planning.ground import ground
from pddlego.planning.validation.cost import plan_cost
from pddlego.planning.validation.fault import FaultKind
from pddlego.planning.worker import solve
from tests.clock import unhurried
from tests.planning.hanoi import HANOI, hanoi

DOMAIN = """(define (domain roads) (:requirements :strips :typing :action-costs) (:types town)
  (:predicates (at ?t - town) (road ?a ?b - town) (map))
  (:functions (total-cost) - number (length ?a ?b - town) - number)
  (:action drive :parameters (?a ?b - town) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) (length ?a ?b))))
  (:action jump :parameters (?a ?b - town) :precondition (and (at ?a) (map))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) 2)))
  (:action draw :parameters () :effect (map)))"""

PROBLEM = """(define (problem trip) (:domain roads) (:objects a b c - town)
  (:init (at a) (road a b) (road b c) (road a c) (= (total-cost) 0)
    (= (length a b) {short}) (= (length b c) {short}) (= (length a c) {long}))
  (:goal (at c)) (:metric minimize (total-cost)))"""

ROADS = parse_domain(DOMAIN)


def trip(short: str = "3", long: str = "9") -> Problem:
    return parse_problem(PROBLEM.format(short=short, long=long))


def solved(problem: Problem, search: str, engine: str) -> tuple[float | None, list[str]]:
    with ProcessPlanner(clock=unhurried) as planner:
        result = planner.solve(ROADS, problem, Search.parse(search, engine))
    assert result.status is PlanStatus.SOLVED, result
    assert result.plan is not None
    assert result.engine == engine
    return result.cost, [str(step) for step in result.plan.steps]


def engine_or_skip(engine: str) -> str:
    if missing(engine):
        pytest.skip(f"{engine} is not installed")
    return engine


@pytest.mark.parametrize("engine", ["pyperplan", pytest.param("fast-downward", marks=pytest.mark.oracle)])
@pytest.mark.parametrize("search", ["bfs", "astar(lmcut)", "astar(blind)", "ids"])
def test_optimal_searches_find_a_cheapest_plan(engine: str, search: str) -> None:
    engine_or_skip(engine)
    assert solved(trip(), search, engine) == (2, ["(draw)", "(jump a c)"])
    assert solved(trip("0.5"), search, engine) == (1, ["(drive a b)", "(drive b c)"])
    assert solved(trip("0.9", "1.5"), search, engine) == (1.5, ["(drive a c)"])


@pytest.mark.parametrize("engine", ["pyperplan", pytest.param("fast-downward", marks=pytest.mark.oracle), "mimir"])
def test_a_plan_of_any_cost_reports_its_own(engine: str) -> None:
    cost, steps = solved(trip(), "gbf(hff)", engine_or_skip(engine))
    plan = Plan(tuple(map(PlanStep.read, steps)))
    assert validate(ROADS, trip(), plan) is None
    assert cost == plan_cost(ROADS, trip(), plan)


def test_without_a_metric_steps_are_counted() -> None:
    problem = parse_problem(str(trip()).replace("(:metric minimize (total-cost))", ""))
    assert solved(problem, "astar(lmcut)", "pyperplan") == (1, ["(drive a c)"])


def test_a_cost_without_a_number_is_a_fault_of_the_plan() -> None:
    problem = parse_problem(str(trip()).replace("(= (length b c) 3)", ""))
    plan = Plan((PlanStep("drive", ("a", "b")), PlanStep("drive", ("b", "c"))))
    fault = validate(ROADS, problem, plan)
    assert fault is not None
    assert fault.kind is FaultKind.COST
    assert "(length b c), which has no number" in str(fault)
    assert validate(ROADS, trip(), plan) is None


@given(st.fractions(min_value=0, max_value=100, max_denominator=1000).map(lambda value: round(value, 3)))
def test_fractions_become_whole_numbers_in_proportion(short: Fraction) -> None:
    text = f"{float(short):.3f}"
    domain, problem = integral(ROADS, trip(text))
    values = {str(value.left): number(str(value.right)) for value in problem.values}
    assert all(value is not None and value.denominator == 1 for value in values.values())
    assert values["(length a c)"] == 9 * (factor := values["(length a c)"] // 9 if values["(length a c)"] else 1)
    assert values["(length a b)"] == short * factor
    assert f"(increase (total-cost) {2 * factor})" in str(domain)


def test_the_ground_task_knows_the_costs() -> None:
    task = ground(ROADS, trip())
    assert task is not None
    assert {operator.action: operator.cost for operator in task.operators if "a c" in operator.action} == {
        "(drive a c)": 9,
        "(jump a c)": 2,
    }


WRONG = {
    "(increase (total-cost) (length ?a ?b))": {
        "(increase (total-cost) (size ?a ?b))": "function size is not declared",
        "(increase (total-cost) (length ?a))": "length takes 2 argument(s)",
        "(increase (total-cost) -1)": "negative costs are not supported",
        "(increase (total-cost) (+ 1 (length ?a ?b)))": "calculated costs are not supported",
        "(increase (total-cost) (* 2 (length ?a ?b)))": "calculated costs are not supported",
        "(increase (fuel) 1)": "numeric fluents are not supported",
        "(decrease (total-cost) 1)": "numeric fluents are not supported",
        "(when (map) (increase (total-cost) 1))": "a cost under 'when' or 'forall' is not supported",
        "(increase (total-cost) 1) (increase (total-cost) 2)": "increases (total-cost) twice",
    },
    "(and (at ?a) (map))": {"(and (at ?a) (> (length ?a ?b) 2))": "conditions on numbers are not supported"},
    "(:functions (total-cost)": {"(:functions (here) - town (total-cost)": "object fluents are not supported"},
    "(at ?b) (increase (total-cost) 2)": {
        "(oneof (at ?a) (at ?b))": "nondeterministic facts and effects are not supported",
        "(probabilistic 0.5 (at ?b))": "probabilistic effects are not supported",
    },
}


@pytest.mark.parametrize(
    ("old", "new", "says"), [(old, new, says) for old, pairs in WRONG.items() for new, says in pairs.items()]
)
def test_what_is_not_a_classical_cost_is_named_with_its_place(old: str, new: str, says: str) -> None:
    assert old in DOMAIN
    defects = check_domain(parse_domain(DOMAIN.replace(old, new)))
    assert any(says in defect.message and defect.place for defect in defects), defects


VALUES = {
    "(= (length a c) 9)": {
        "(= (length a c) 9) (= (length a c) 8)": "is also",
        "(= (length a d) 9)": "object d is not declared",
        "(= (length a c) many)": "many is not a number",
        "(= (length a c) -2)": "negative costs",
        "(= (height a c) 9)": "function height is not declared",
    },
    "(:goal (at c))": {
        "(:goal (and (at c) (preference p (map))))": "preferences are not supported",
        "(:goal (< (total-cost) 9))": "conditions on numbers are not supported",
    },
}


@pytest.mark.parametrize(
    ("old", "new", "says"), [(old, new, says) for old, pairs in VALUES.items() for new, says in pairs.items()]
)
def test_wrong_numbers_of_a_problem_are_named(old: str, new: str, says: str) -> None:
    defects = [defect for defect in check(ROADS, PROBLEM.format(short=3, long=9).replace(old, new)) if defect.blocking]
    assert any(says in defect.message and defect.place for defect in defects), defects


RECURSIVE = parse_domain("""(define (domain reach) (:requirements :typing :derived-predicates) (:types spot)
  (:predicates (edge ?a ?b - spot) (path ?a ?b - spot) (done))
  (:derived (path ?a ?b - spot) (or (edge ?a ?b) (exists (?c - spot) (and (path ?a ?c) (path ?c ?b)))))
  (:action link :parameters (?a ?b - spot) :effect (edge ?a ?b))
  (:action finish :parameters (?a ?b - spot) :precondition (not (path ?b ?a)) :effect (done)))""")


@settings(max_examples=30)
@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=10))
def test_recursive_rules_mean_their_least_fixed_point(edges: set[tuple[int, int]]) -> None:
    reached = {(a, b) for a, b in edges}
    while more := {(a, d) for a, b in reached for c, d in reached if b == c} - reached:
        reached |= more
    facts = " ".join(f"(edge s{a} s{b})" for a, b in edges)
    objects = " ".join(f"s{number}" for number in range(5))
    for a in range(5):
        for b in range(5):
            text = f"(:objects {objects} - spot) (:init {facts}) (:goal (path s{a} s{b}))"
            problem = parse_problem(f"(define (problem p) (:domain reach) {text})")
            assert (validate(RECURSIVE, problem, Plan(())) is None) is ((a, b) in reached)


@pytest.mark.parametrize("engine", [pytest.param("fast-downward", marks=pytest.mark.oracle), "mimir"])
def test_compiled_engines_plan_with_recursive_rules(engine: str) -> None:
    engine_or_skip(engine)
    text = """(define (problem p) (:domain reach) (:objects a b c d - spot) (:init (edge a b) (edge c d))
      (:goal (and (path a d) (done))))"""
    with ProcessPlanner(engine, clock=unhurried) as planner:
        result = planner.solve(RECURSIVE, parse_problem(text), Search("gbf", "hff"))
    assert result.status is PlanStatus.SOLVED, result
    assert result.engine == engine


@pytest.mark.parametrize("engine", [pytest.param("fast-downward", marks=pytest.mark.oracle), "mimir"])
def test_compiled_engines_plan_for_goals_with_quantifiers(engine: str) -> None:
    engine_or_skip(engine)
    goal = "(:goal (exists (?t - town) (and (at ?t) (or (road b ?t) (not (road a ?t))) (not (at a)))))"
    problem = parse_problem(str(trip()).replace("(:goal (at c))", goal))
    with ProcessPlanner(engine, clock=unhurried) as planner:
        result = planner.solve(ROADS, problem, Search("gbf", "hff"))
    assert result.status is PlanStatus.SOLVED, result


def test_auto_says_which_engine_found_the_plan() -> None:
    with ProcessPlanner(clock=unhurried) as planner:
        assert planner.solve(ROADS, trip(), Search("gbf", "hff", "auto")).engine == "pyperplan"


def test_an_attempt_that_fails_gives_way_to_the_next() -> None:
    def refuses(domain: Domain, problem: Problem, search: Search, seconds: float) -> Plan | None:
        raise MemoryError

    tries = [EngineTurn("first", refuses), EngineTurn("pyperplan", solve_strips), EngineTurn("third", refuses)]
    result = solve(ROADS, trip(), Search(), tries)
    assert (result.status, result.engine) == (PlanStatus.SOLVED, "pyperplan")
    assert solve(ROADS, trip(), Search(), tries[:1]).status is PlanStatus.MEMORY


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the alarm may hit a destructor
def test_pyperplan_gives_way_after_its_head_start() -> None:
    result = solve(HANOI, hanoi(14), Search("astar", "blind"), [EngineTurn("pyperplan", solve_strips, 0.05)])
    assert (result.status, result.message) == (PlanStatus.TIMEOUT, "no plan within 0.05 s")


def test_mimir_is_not_tried_for_optimal_searches() -> None:
    optimal = [attempt.engine for attempt in attempts(Search("astar", "lmcut", "auto"), 30)]
    assert "mimir" not in optimal
    with ProcessPlanner("mimir", clock=unhurried) as planner:
        result = planner.solve(ROADS, trip(), Search("astar", "lmcut"))
    assert (result.status, "no optimal search" in result.message) == (PlanStatus.INVALID, True)


def test_terms_are_equal_by_what_they_say() -> None:
    assert Term("total-cost", ()) != Term("total-cost")
    assert number("1.50") == Fraction(3, 2)
    assert number("1e5") is None


def test_costs_count_without_a_number_in_init() -> None:
    domain = parse_domain("""(define (domain d) (:predicates (a) (b) (c)) (:functions (total-cost))
      (:action direct :parameters () :effect (and (c) (increase (total-cost) 10)))
      (:action first :parameters () :effect (and (a) (increase (total-cost) 1)))
      (:action second :parameters () :precondition (a) :effect (and (c) (increase (total-cost) 1))))""")
    text = "(define (problem p) (:domain d) (:init) (:goal (c)) (:metric minimize (total-cost)))"
    with ProcessPlanner(clock=unhurried) as planner:
        assert planner.solve(domain, parse_problem(text), Search()).cost == 2


TOLLS = parse_domain("""(define (domain tolls) (:requirements :action-costs) (:predicates (start) (half) (end))
  (:functions (total-cost) - number (toll) - number)
  (:action direct :parameters () :precondition (start) :effect (and (end) (increase (total-cost) (toll))))
  (:action first :parameters () :precondition (start) :effect (and (half) (increase (total-cost) 3000000000)))
  (:action second :parameters () :precondition (half) :effect (and (end) (increase (total-cost) 6000000000))))""")


def toll(amount: str) -> Problem:
    init = f"(start) (= (toll) {amount})"
    return parse_problem(
        f"(define (problem p) (:domain tolls) (:init {init}) (:goal (end)) (:metric minimize (total-cost)))"
    )


@pytest.mark.oracle
@pytest.mark.parametrize("search", ["gbf(hff)", "astar(lmcut)", "astar(blind)"])
@pytest.mark.parametrize(("amount", "least"), [("3000000000", 3_000_000_000), ("12000000000", 9_000_000_000)])
def test_fast_downward_plans_with_costs_above_its_integers(search: str, amount: str, least: int) -> None:
    with ProcessPlanner("fast-downward", clock=unhurried) as planner:
        result = planner.solve(TOLLS, toll(amount), Search.parse(search))
    assert result.status is PlanStatus.SOLVED
    assert result.cost == least or (search == "gbf(hff)" and result.cost == int(amount))


@pytest.mark.oracle
@pytest.mark.parametrize("amount", ["9000000001", "2000000000.5"])
def test_costs_that_fast_downward_cannot_minimize_are_named(amount: str) -> None:
    with ProcessPlanner("fast-downward", clock=unhurried) as planner:
        result = planner.solve(TOLLS, toll(amount), Search.parse("astar(lmcut)"))
    assert (result.status, "cannot minimize costs above" in result.message) == (PlanStatus.INVALID, True)
    with ProcessPlanner(clock=unhurried) as planner:
        assert planner.solve(TOLLS, toll("9000000001"), Search.parse("astar(lmcut)")).cost == 9_000_000_000


@pytest.mark.oracle
@pytest.mark.parametrize("search", ["gbf(hff)", "astar(lmcut)"])
@pytest.mark.parametrize("cost", [2**31 - 1, 2**31 - 2, 1_500_000_000, 100_000])
def test_sums_of_large_costs_are_no_dead_ends(cost: int, search: str) -> None:
    domain = """(define (domain r) (:requirements :typing :action-costs) (:types x)
      (:predicates (at ?a - x) (e ?a ?b - x))
      (:functions (d ?a ?b - x) - number (total-cost) - number)
      (:action go :parameters (?a ?b - x) :precondition (and (at ?a) (e ?a ?b))
        :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (d ?a ?b)))))"""
    problem = f"""(define (problem q) (:domain r) (:objects a b c - x)
      (:init (at a) (e a b) (e b c) (= (d a b) {cost}) (= (d b c) {cost}) (= (total-cost) 0))
      (:goal (at c)) (:metric minimize (total-cost)))"""
    result = tools.solve(domain, problem, planner="fast-downward", search=search)
    assert (result.status, result.cost) == ("solved", 2 * cost)


@pytest.mark.oracle
@pytest.mark.parametrize("planner", ["pyperplan", "mimir", "fast-downward"])
def test_a_type_that_only_its_subtype_names_is_known_to_planners(planner: str) -> None:
    domain = """(define (domain h) (:requirements :adl :action-costs) (:types a - c d) (:predicates (p ?x))
      (:functions (total-cost) - number)
      (:action m :parameters (?x - (either a d)) :effect (p ?x))
      (:action n :parameters (?x - c) :effect (and (p ?x) (increase (total-cost) 1.5))))"""
    problem = """(define (problem q) (:domain h) (:objects o1 - a o2 - c o3 - d) (:init (= (total-cost) 0))
      (:goal (and (p o1) (p o2) (p o3))) (:metric minimize (total-cost)))"""
    result = tools.solve(domain, problem, planner=planner)
    assert result.status == "solved", result.message
