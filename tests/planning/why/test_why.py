"""`explain_no_plan` names what is missing in a task without a plan, and never says something false."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from pddlego import tools
from pddlego.pddl import Domain, Problem, parse_domain, parse_problem
from pddlego.pddl.conditions import And, Atom, Compare, Renaming, Term, conjuncts, parse_condition
from pddlego.pddl.rules import Level
from pddlego.planning.engines import attempts
from pddlego.planning.result import BREADTH_FIRST, GoalPart, PlanResult, PlanStatus, PlanStep, Search, WhyNoPlan
from pddlego.planning.why import explain_no_plan, why_no_plan
from pddlego.planning.why.relaxed import Relaxation
from pddlego.planning.worker import solve
from pddlego.planning.world import World, transitions
from pddlego.util.limits import Work
from tests.lamps import DOMAIN as LAMPS
from tests.scale import PATIENCE, scaled
from tests.shared import SHARED

DOMAINS = Path(__file__).parents[3] / "domains"
CASES = SHARED / "cases"

PLACES = """(define (domain places) (:requirements :typing) (:types room yard - place)
  (:predicates (at ?p - place) (lit ?p - place))
  (:action go :parameters (?a ?b - place) :precondition (at ?a) :effect (and (at ?b) (not (at ?a))))
  (:action switch-on :parameters (?p - place) :precondition (at ?p) :effect (lit ?p)))"""
NIGHT = """(define (problem p) (:domain places)
  (:objects r - room y - yard) (:init (at y)) (:goal (and (lit y) (lit r))))"""

FERRY = """(define (problem p) (:domain ferry) (:objects l0 l1 c0 c1)
  (:init (location l0) (location l1) (car c0) (car c1) (not-eq l0 l1) (not-eq l1 l0) (at-ferry l0) (at c0 l0)
    (at c1 l0) (empty-ferry))
  (:goal (and (at c0 l1) (at c1 l1))))"""
ROOMS = """(define (problem p) (:domain lamps) (:objects hall kitchen cellar - room)
  (:init (at hall) (connected hall kitchen) (connected kitchen hall) (connected kitchen cellar)
    (connected cellar kitchen))
  (:goal (and (lit cellar) (lit kitchen) (at hall))))"""
BLOCKS = """(define (problem p) (:domain blocks) (:objects a b c)
  (:init (on-table a) (on-table b) (on c a) (clear b) (clear c) (hand-empty)) (:goal (and (on a b) (on b c))))"""
GRIPPER = """(define (problem p) (:domain gripper) (:objects x y ball left right)
  (:init (room x) (room y) (ball ball) (gripper left) (gripper right) (robot-at x) (at ball x) (free left) (free right))
  (:goal (at ball y)))"""
VAN = """(define (domain van) (:requirements :typing :numeric-fluents) (:types town)
  (:predicates (at ?t - town) (road ?a ?b - town) (pump ?t - town)) (:functions (fuel) (way ?a ?b - town))
  (:action drive :parameters (?a ?b - town) :precondition (and (at ?a) (road ?a ?b) (>= (fuel) (way ?a ?b)))
    :effect (and (not (at ?a)) (at ?b) (decrease (fuel) (way ?a ?b))))
  (:action fill :parameters (?t - town) :precondition (and (at ?t) (pump ?t) (<= (fuel) 3))
    :effect (increase (fuel) 5)))"""
TRIP = """(define (problem p) (:domain van) (:objects a b c - town)
  (:init (at a) (road a b) (road b c) (pump b) (= (fuel) 4) (= (way a b) 3) (= (way b c) 6)) (:goal (at c)))"""

MADE = {  # a solvable task, what is replaced in its domain or problem, and words of which the reasons name one
    "no fact: the ferry is not empty": ("ferry", FERRY, "at c1 l0) (empty-ferry))", "at c1 l0))", "(empty-ferry)"),
    "no fact: a location": ("ferry", FERRY, "(location l1)", "", "(location l1)"),
    "no fact: two places are not declared different": ("ferry", FERRY, "(not-eq l0 l1)", "", "(not-eq l0 l1)"),
    "no way back of the ferry": ("ferry", FERRY, "(not-eq l1 l0)", "", "(not-eq l1 l0)"),
    "no effect: debark leaves the car nowhere": ("ferry", FERRY, "(and (at ?c ?l) (emp", "(and (emp", "(at c0 l1)"),
    "no effect: the ferry never arrives": ("ferry", FERRY, "(at-ferry ?to) ", "", "(at-ferry l1)"),
    "no effect: boarding": ("ferry", FERRY, "(and (on ?c) (not (at", "(and (not (at", "(on c0)"),
    "no effect: the ferry stays full": ("ferry", FERRY, "(empty-ferry) (not (on", "(not (on", "(empty-ferry)"),
    "no connection to the cellar": (LAMPS, ROOMS, "(connected kitchen cellar)", "", "(connected kitchen cellar)"),
    "no connection back": (LAMPS, ROOMS, "(connected cellar kitchen)", "", "(connected cellar kitchen)"),
    "no parameter type": (
        PLACES,
        NIGHT,
        "switch-on :parameters (?p - place)",
        "switch-on :parameters (?p - yard)",
        "(lit r)",
    ),
    "no effect: the arm stays full": (
        "blocks",
        BLOCKS,
        "(clear ?x) (hand-empty) (not (holding ?x)) (not (clear ?y",
        "(clear ?x) (not (holding ?x)) (not (clear ?y",
        "(hand-empty)",
    ),
    "no road": (VAN, TRIP, "(road a b)", "", "(road a b)"),
    "no number": (VAN, TRIP, "(= (fuel) 4)", "", "(fuel) has no number"),
    "no pump": (VAN, TRIP, "(pump b)", "", "(fuel) is at most 4"),
    "no effect: the pump gives nothing": (VAN, TRIP, "(increase (fuel) 5)", "(pump ?t)", "(fuel) is at most 4"),
    "no large tank": (VAN, TRIP, "(<= (fuel) 3)", "(<= (+ (fuel) 5) 5)", "(fuel) is between "),
    "no free gripper": ("gripper", GRIPPER, "(free left) (free right)", "", "(free left)"),
}

SHARED_CASES = {  # files, and words of which the reasons name one
    "four levels of charge": ("unsolvable/warehouse.pddl", "unsolvable/p1-unsolvable.pddl", "(battery r1 l"),
    "one way to s3": ("unsolvable/warehouse.pddl", "unsolvable/one-way.pddl", "(path s3 "),
    **{
        name: (f"pddl-and-endpoints/unreachable/{name}/d.pddl", f"pddl-and-endpoints/unreachable/{name}/p.pddl", words)
        for name, words in {
            "n02-forall-for-a-subset": "(forall (?x - bed) (in-row ?x ?r))",
            "u01-argument-order-in-precondition": "(at ?i van)",
            "u30-forgot-add-back": "(empty)",
        }.items()
    },
    **{
        name: (f"levels/{name}/domain.pddl", f"levels/{name}/problem.pddl", words)
        for name, words in {
            "n07-division-by-zero": "(y) is 0",
            "n23-not": "(x) is 5",
            "n31-static-unsolvable": "(>= (x) 6)",
            "n33-exists-number": "(> (w ?b) 2)",
        }.items()
    },
}


def pair(domain: str, problem: str) -> tuple[Domain, Problem]:
    value = tools.read_domain_file(domain, Level.TIME)
    return value, tools.read_problem_file(value, problem, Level.TIME)


def made(name: str) -> tuple[str, str, str]:
    domain, problem, old, new, words = MADE[name]
    domain = domain if "(" in domain else (DOMAINS / f"{domain}.pddl").read_text(encoding="utf-8")
    assert (domain + problem).count(old) == 1
    assert explain_status(domain, problem) is PlanStatus.SOLVED
    return domain.replace(old, new), problem.replace(old, new), words


def explain_status(domain: str, problem: str) -> PlanStatus:
    graph = transitions(*pair(domain, problem), work=Work(seconds=PATIENCE))
    return PlanStatus.SOLVED if graph.goals else PlanStatus.UNSOLVABLE if graph.complete else PlanStatus.BOUND


def text(why: WhyNoPlan) -> str:
    return "\n".join((*why.exclusive, *why.chain))


@pytest.mark.parametrize("name", MADE)
def test_what_was_removed_is_named(name: str) -> None:
    domain, problem, words = made(name)
    why = explain_no_plan(*pair(domain, problem), PATIENCE)
    assert words in text(why)
    assert not all(part.reachable for part in why.goals) or why.exclusive


def test_a_fact_that_breaks_an_order_is_not_named_as_missing() -> None:
    domain = """(define (domain battery) (:predicates (charge ?l) (next ?lower ?higher) (lit ?r))
      (:action light :parameters (?r ?l ?less) :precondition (and (charge ?l) (next ?less ?l))
        :effect (and (lit ?r) (charge ?less) (not (charge ?l)))))"""
    problem = """(define (problem p) (:domain battery) (:objects l0 l1 l2 a b c)
      (:init (charge l2) (next l0 l1) (next l1 l2)) (:goal (and (lit a) (charge l2))))"""
    why = explain_no_plan(*pair(domain, problem), PATIENCE)
    assert why.exclusive == ("(lit a)", "(charge l2)")
    assert why.chain[-1].endswith("its condition (next l2 ?l) is never true from then on, and no action makes it true")


@pytest.mark.shared("cases")
@pytest.mark.parametrize("name", SHARED_CASES)
def test_the_known_reason_is_named(name: str) -> None:
    domain, problem, words = SHARED_CASES[name]
    files = ((CASES / file).read_text(encoding="utf-8") for file in (domain, problem))
    assert words in text(explain_no_plan(*pair(*files), PATIENCE))


def random_pair(seed: int) -> tuple[Domain, Problem]:
    """A small task of random actions, with negative and conditional parts, quantifiers and, sometimes, a number."""
    rng = random.Random(seed)
    arities = {"p": 1, "q": 1, "r": 2, "s": 0}
    names = ("a", "b", "c")

    def atom(variables: tuple[str, ...]) -> str:
        name = rng.choice([*arities])
        return f"({' '.join((name, *rng.choices(variables, k=arities[name])))})"

    def condition(variables: tuple[str, ...]) -> str:
        kind = rng.random()
        if kind < 0.15:
            return f"(not {atom(variables)})"
        if kind < 0.22:
            return f"(or {atom(variables)} (not {atom(variables)}))"
        if kind < 0.28:
            return f"({rng.choice(('exists', 'forall'))} (?z) (or {atom(('?z', *variables))} {atom(variables)}))"
        if kind < 0.36 and numeric:
            value = rng.choice(("(n)", "(+ (n) 1)", "(* (n) -2)", "(- 3 (n))", "(/ 2 (n))"))
            return f"({rng.choice(('>=', '<', '='))} {value} {rng.randint(-1, 3)})"
        return atom(variables)

    def effect(variables: tuple[str, ...]) -> str:
        kind = rng.random()
        if kind < 0.35:
            return f"(not {atom(variables)})"
        if kind < 0.45:
            return f"(when {condition(variables)} {atom(variables)})"
        return atom(variables)

    numeric = seed % 3 == 0
    actions = []
    for number in range(rng.randint(2, 4)):
        variables = ("?x", "?y")[: rng.randint(1, 2)]
        needs = " ".join(condition(variables) for _ in range(rng.randint(1, 3)))
        change = (
            rng.choice(("(increase (n) 1)", "(decrease (n) 2)", "(assign (n) 1)")) if numeric and number < 2 else ""
        )
        effect_text = " ".join([change, *dict.fromkeys(effect(variables) for _ in range(rng.randint(1, 3)))])
        head = f"(:action a{number} :parameters ({' '.join(variables)})"
        actions.append(f"{head} :precondition (and {needs}) :effect (and {effect_text}))")
    functions = "(:functions (n))" if numeric else ""
    domain = f"""(define (domain random) (:requirements :adl :numeric-fluents) (:predicates (p ?x) (q ?x) (r ?x ?y) (s))
      {functions}
      {" ".join(actions)})"""
    facts = " ".join({atom(names) for _ in range(rng.randint(1, 3))})
    goal = " ".join(dict.fromkeys(condition(names) for _ in range(3)))
    start = "(= (n) 1)" if numeric else ""
    problem = f"(define (problem p) (:domain random) (:objects a b c) (:init {facts} {start}) (:goal (and {goal})))"
    return parse_domain(domain), parse_problem(problem)


_NEVER = re.compile(r"its condition (\(.*?\)) is never true(?: from then on)?(?:[,:]|$)")
_ABSENT = re.compile(r"no action makes (\(.*?\)) true, and it is (?:not in :init|false by then)")
_NEEDS = re.compile(r"but needs (.*), never true")
_AFTER = re.compile(r"(?:after (.*?)|at the beginning), (\(.*\)) (?:is|are) true, and (.*) can never become true")


def check_sentences(domain: Domain, problem: Problem, sentences: tuple[str, ...]) -> int:
    """Check what sentences say, with a search of all states. Returns the number of statements that were checked."""
    checked = 0
    for number, sentence in enumerate(sentences):
        world, graph = World(domain, problem), transitions(domain, problem, work=Work(seconds=PATIENCE))
        needs = [f"(and {needed.replace(' and ', ' ')})" for needed in _NEEDS.findall(sentence)]
        for told in (*_NEVER.findall(sentence), *_ABSENT.findall(sentence), *needs):
            condition, checked = parse_condition(told), checked + 1
            if isinstance(condition, Atom):
                for state in graph.states:
                    assert not any(matches(condition, fact) for fact in state.facts), sentence
            elif "?" not in told:
                assert not any(world.holds(condition, state, {}) for state in graph.states), sentence
        after = _AFTER.match(sentence)
        if after:  # what follows is said of this state
            state = world.initial
            for step in re.findall(r"\(.*?\)", after[1] or ""):
                state = world.after(PlanStep.read(step), state)
            assert world.holds(parse_condition(f"(and {after[2].replace(' and ', ' ')})"), state, {}), sentence
            values = frozenset(Compare("=", term, Term(str(value))) for term, value in state.numbers.items())
            there = replace(problem, facts=frozenset(state.facts), values=values, goal=parse_condition(after[3]))
            assert not transitions(domain, there, work=Work(seconds=PATIENCE)).goals, sentence
            return checked + 1 + check_sentences(domain, there, sentences[number + 1 :])
    return checked


def matches(pattern: Atom, fact: Atom) -> bool:
    """Whether a fact is an instance of a pattern, in which a variable is one object everywhere."""
    values = {one: other for one, other in zip(pattern.args, fact.args, strict=False) if one.startswith("?")}
    return Renaming(values).atom(pattern) == fact


@pytest.mark.slow
def test_nothing_false_is_said_of_random_tasks() -> None:
    """Goals that are called unreachable, or exclusive, are so according to a search of all states."""
    told = {"unreachable": 0, "exclusive": 0, "sentences": 0}
    for seed in range(scaled(200, in_ci=1_000)):
        domain, problem = random_pair(seed)
        graph = transitions(domain, problem, most=400, work=Work(seconds=PATIENCE))
        world = World(domain, problem, Work())
        if not graph.complete:
            continue
        relaxed = Relaxation(domain, problem, Work())
        for state in graph.states:
            assert all(relaxed.may_hold(fact, {}) for fact in state.facts), seed
            true = [goal for goal in conjuncts(problem.goal) if world.holds(goal, state, {})]
            assert all(relaxed.may_hold(goal, {}) for goal in true), seed
        facts = sorted({fact for state in graph.states for fact in state.facts}, key=str)
        pairs = [pair for pair in combinations(facts, 2) if not any({*pair} <= state.facts for state in graph.states)]
        goals = [problem.goal, *map(And, random.Random(seed).sample(pairs, min(3, len(pairs))))]
        for task in map(problem.with_goal, goals):
            is_solvable = any(world.holds(task.goal, state, {}) for state in graph.states)
            why = explain_no_plan(domain, task, PATIENCE)
            assert is_solvable is not bool(why.chain), seed  # a planner that ran out of time may have missed a plan
            for part in why.goals:
                holds = any(world.holds(parse_condition(part.goal), state, {}) for state in graph.states)
                assert part.reachable is holds, (seed, part)
                told["unreachable"] += not holds
            together = And(tuple(parse_condition(part) for part in why.exclusive))
            assert not why.exclusive or not any(world.holds(together, state, {}) for state in graph.states), seed
            assert is_solvable or why.exclusive or not all(part.reachable for part in why.goals), seed
            told["exclusive"] += bool(why.exclusive)
            told["sentences"] += check_sentences(domain, task, why.chain)
    assert min(told.values()) >= 10, told


@pytest.mark.slow
def test_another_planner_agrees_on_random_tasks() -> None:
    """The exploration of states is ours; pyperplan with the grounding of Fast Downward is not."""
    compared = 0
    for seed in range(scaled(30, in_ci=150)):
        domain, problem = random_pair(3 * seed + 1)
        for part in explain_no_plan(domain, problem, PATIENCE).goals:
            if part.reachable is not None:
                task = problem.with_goal(parse_condition(part.goal))
                status = solve(domain, task, BREADTH_FIRST, attempts(BREADTH_FIRST, PATIENCE)).status
                assert (status is PlanStatus.UNSOLVABLE) is not part.reachable, (seed, part, status)
                compared += 1
    assert compared >= 30


class ScriptedPlanner:
    """Knows no reasons, and proves that the goals in `impossible` have no plan. Each search takes a second."""

    def __init__(self, *impossible: str) -> None:
        self.impossible, self.now, self.description = impossible, 0.0, dict[str, object]()

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        self.now += 1
        status = PlanStatus.UNSOLVABLE if str(problem.goal) in self.impossible else PlanStatus.SOLVED
        return PlanResult(status, problem.goal)

    def close(self) -> None:
        pass


UNSOLVABLE = PlanResult(PlanStatus.UNSOLVABLE, And())
TIMEOUT = PlanResult(PlanStatus.TIMEOUT, And())


@pytest.mark.parametrize(
    ("impossible", "result", "seconds", "reachable", "exclusive"),
    [
        (["(and (lit kitchen) (at hall))"], UNSOLVABLE, 9, [True] * 3, ("(lit kitchen)", "(at hall)")),
        (["(and (lit kitchen) (at hall))"], TIMEOUT, 9, [True] * 3, ()),  # a plan may exist
        (["(and (lit kitchen))"], UNSOLVABLE, 9, [True, False, True], ()),
        (["(and (lit kitchen))"], UNSOLVABLE, 2.5, [True, False, None], ()),
    ],
)
def test_searches_decide_what_was_not_explored(
    impossible: list[str], result: PlanResult, seconds: float, reachable: list[bool], exclusive: tuple[str, ...]
) -> None:
    planner = ScriptedPlanner(*impossible)
    why = why_no_plan(planner, *pair(LAMPS, ROOMS), result, seconds, clock=lambda: planner.now)
    assert [part.reachable for part in why.goals] == reachable
    assert why.exclusive == exclusive


def test_a_task_with_time_is_explained() -> None:
    domain = """(define (domain kiln) (:requirements :durative-actions) (:predicates (hot) (fired) (match))
      (:durative-action fire :parameters () :duration (= ?duration 5)
        :condition (and (at start (match)) (over all (hot))) :effect (and (at end (fired)))))"""
    problem = "(define (problem p) (:domain kiln) (:init (hot)) (:goal (fired)))"
    why = explain_no_plan(*pair(domain, problem), PATIENCE)
    assert why == WhyNoPlan(
        (GoalPart("(fired)", reachable=False),),
        chain=("fire could make (fired) true, but its condition (match) is never true, and no action makes it true",),
    )


def test_the_time_limit_is_kept() -> None:
    why = explain_no_plan(*pair(LAMPS, ROOMS), 0.0)
    parts = tuple(GoalPart(goal) for goal in ("(lit cellar)", "(lit kitchen)", "(at hall)"))
    assert why == WhyNoPlan(parts, complete=False)


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        ("(lit y)", "switch-on could make (lit y) true, but no object has the type cellar"),
        (
            "(exists (?c - cellar) (lit ?c))",
            "(exists (?c - cellar) (lit ?c)) is never true: no object has the type cellar",
        ),
    ],
)
def test_a_type_without_objects_is_named(goal: str, reason: str) -> None:
    domain = PLACES.replace("room yard - place)", "room yard cellar - place)").replace(":typing", ":adl :typing")
    domain = domain.replace("switch-on :parameters (?p - place)", "switch-on :parameters (?p - place ?c - cellar)")
    problem = NIGHT.replace("(and (lit y) (lit r))", goal)
    assert explain_no_plan(*pair(domain, problem), PATIENCE).chain == (reason,)


CRANE = """(define (domain crane) (:requirements :typing :numeric-fluents) (:types crate arm)
  (:predicates (down ?c - crate) (high ?c - crate)) (:functions (load ?a - arm) (mass ?c - crate))
  (:action raise :parameters (?c - crate ?a - arm) :precondition (and (down ?c) (>= (load ?a) (mass ?c)))
    :effect (and (high ?c) (not (down ?c)) (decrease (load ?a) (mass ?c))))
  (:action lower :parameters (?c - crate ?a - arm) :precondition (high ?c)
    :effect (and (down ?c) (not (high ?c)) (increase (load ?a) (mass ?c)))))"""
CRATES = """(define (problem p) (:domain crane) (:objects one two - crate arm - arm)
  (:init (down one) (down two) (= (load arm) 2) (= (mass one) 1) (= (mass two) 3)) (:goal (high two)))"""

SWITCH = """(define (domain switches) (:requirements :adl :typing) (:types room)
  (:predicates (in ?r - room) (door ?a ?b - room) (cable ?r - room) (dark ?r - room) (lit ?r - room))
  (:action go :parameters (?a ?b - room) :precondition (and (in ?a) (door ?a ?b)) :effect (and (in ?b) (not (in ?a))))
  (:action press :parameters (?r - room) :precondition (in ?r) :effect {}))"""
LOFT = """(define (problem p) (:domain switches) (:objects hall loft - room)
  (:init (in hall) (door hall loft) {}) (:goal (lit loft)))"""

SAW = """(define (domain saw) (:requirements :adl :typing) (:types log tool)
  (:predicates (cut ?l - log) (blunt ?t - tool) (whetstone ?t - tool))
  (:action saw :parameters (?l - log ?t - tool) :precondition {} :effect (and (cut ?l) (blunt ?t)))
  (:action whet :parameters (?t - tool) :precondition (and (blunt ?t) (whetstone ?t)) :effect (not (blunt ?t))))"""
LOGS = "(define (problem p) (:domain saw) (:objects oak - log s - tool) (:init (blunt s)) (:goal {}))"

TRUST = """(define (domain trust) (:requirements :adl) (:predicates (plugged ?x) (hot ?x) (old ?x) (safe))
  (:action trust :parameters (?x ?y) :precondition (and (plugged ?y) (plugged ?x) (not (hot ?x)) (not (old ?y)))
    :effect (safe)))"""

SHOP = """(define (domain shop) (:requirements :adl :numeric-fluents :durative-actions :timed-initial-literals)
  (:predicates (open) (paid) (shut)) (:functions (stock))
  (:durative-action pay :parameters () :duration (= ?duration 2) :condition (at start (open))
    :effect (at end (paid))))"""
DAY = "(define (problem p) (:domain shop) (:init (open) (= (stock) 5) {}) (:goal (and (paid) {})))"

UNWIRED = "press could make (lit loft) true, but its condition (cable loft) is never true, and no action makes it true"
BLUNT = "whet could make (blunt s) false, but its condition (whetstone s) is never true, and no action makes it true"
CHAINS = {
    "a number that no action changes": (
        CRANE,
        CRATES,
        "no possible step makes (>= (load arm) (mass two)) true: (load arm) is between 1 and 2, (mass two) is 3",
    ),
    "when": (SWITCH.format("(when (cable ?r) (lit ?r))"), LOFT.format("(cable hall)"), UNWIRED),
    "when, without a fact": (SWITCH.format("(when (cable ?r) (lit ?r))"), LOFT.format(""), UNWIRED),
    "forall and when": (
        SWITCH.format("(forall (?x - room) (when (cable ?x) (lit ?x)))"),
        LOFT.format("(cable hall)"),
        UNWIRED,
    ),
    "a variable that hides a parameter": (
        SWITCH.format("(forall (?r - room) (when (cable ?r) (lit ?r)))"),
        LOFT.format("(cable hall)"),
        "press could make (lit loft) true, but its condition (cable loft) is never true, and no action makes it true",
    ),
    "when not": (
        SWITCH.format("(and (when (not (dark ?r)) (lit ?r)) (when (cable ?r) (not (dark ?r))))"),
        LOFT.format("(dark loft)"),
        "press could make (dark loft) false, but its condition (cable loft) is never true, and no action makes it true",
    ),
    "not": (SAW.format("(not (blunt ?t))"), LOGS.format("(cut oak)"), BLUNT),
    "forall not": (SAW.format("(forall (?x - tool) (not (blunt ?x)))"), LOGS.format("(cut oak)"), BLUNT),
    "imply": (SAW.format("(imply (blunt ?t) (cut ?l))"), LOGS.format("(cut oak)"), BLUNT),
    "a negative goal": (SAW.format("(not (blunt ?t))"), LOGS.format("(not (blunt s))"), BLUNT),
    "a condition of what is plugged in": (
        TRUST,
        "(define (problem p) (:domain trust) (:objects lamp kettle) (:init (plugged lamp) (hot lamp)) (:goal (safe)))",
        "trust could make (safe) true, but its conditions (plugged ?x) and (not (hot ?x)) are never true together",
    ),
    "a quantified goal": (SAW.format("(not (blunt ?t))"), LOGS.format("(forall (?l - log) (cut ?l))"), BLUNT),
    "a timed literal ends a fact": (
        SHOP,
        DAY.format("(at 9 (not (open)))", "(open)"),
        "a timed literal makes (open) false at 9, and no possible action makes it true",
    ),
    "the last timed literal counts": (
        SHOP,
        DAY.format("(at 2 (not (shut))) (at 9 (shut))", "(not (shut))"),
        "a timed literal makes (shut) true at 9, and no possible action makes it false",
    ),
    "a timed literal ends a number": (
        SHOP,
        DAY.format("(at 9 (= (stock) 0))", "(>= (stock) 1)"),
        "a timed literal sets (stock) to 0 at 9, and no action changes it",
    ),
    "a timed literal below or": (
        SHOP,
        DAY.format("(at 9 (not (open)))", "(or (open) (shut))"),
        "a timed literal makes (open) false at 9, and no possible action makes it true",
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_the_chain_goes_on_to_its_cause(name: str) -> None:
    domain, problem, sentence = CHAINS[name]
    why = explain_no_plan(*pair(domain, problem), PATIENCE)
    assert sentence in why.chain
    assert False in [part.reachable for part in why.goals]


@pytest.mark.parametrize("name", ["when", "when, without a fact", "forall and when"])
def test_check_follows_conditions_of_effects(name: str) -> None:
    domain, problem, _ = CHAINS[name]
    assert [finding.rule for finding in tools.check(domain, problem).findings] == ["unreachable-goal"]
    cabled = problem.replace("(door hall loft)", "(door hall loft) (cable loft)")
    assert tools.check(domain, cabled).findings == ()


def test_a_goal_that_timed_literals_make_true_in_the_end_is_reachable() -> None:
    for literals in ("(at 2 (not (open))) (at 9 (open))", "(at 9 (shut))"):
        why = explain_no_plan(*pair(SHOP, DAY.format(literals, "(open)")), PATIENCE)
        assert why.goals[1].reachable is None and not why.chain


@pytest.mark.parametrize("condition", ["(>= (fuel) 2)", "(>= (fuel) (+ (tank) 1))"])
def test_numbers_of_durative_actions_have_bounds(condition: str) -> None:
    """A number that the start of an action changes may be what its end needs."""
    domain = """(define (domain d) (:requirements :durative-actions :numeric-fluents) (:predicates (far))
      (:functions (fuel) (tank)) (:durative-action fly :parameters () :duration (= ?duration 3)
        :condition ({} {}) :effect (and (at start ({} (fuel) 1)) (at end (far)))))"""
    problem = "(define (problem p) (:domain d) (:init (= (fuel) 1) (= (tank) 1)) (:goal (far)))"
    short = pair(domain.format("at start", condition, "decrease"), problem)
    (sentence,) = explain_no_plan(*short, PATIENCE).chain
    assert f"its condition {condition} is never true: (fuel) is 1" in sentence
    filled = pair(domain.format("at end", condition, "increase"), problem)
    assert explain_no_plan(*filled, PATIENCE).goals[0].reachable is None


COUNTED = [
    ("(not (boat-at ?i)))", "(not (boat-at ?i)) (increase (crossings) 1))"),
    ("(not (boat-at ?i)))", "(not (boat-at ?i)) (increase (total-cost) (way ?i ?j)) (increase (sum) (crossings)))"),
    ("(not (boat-at ?i)))", "(not (boat-at ?i)) (assign (sum) (+ (sum) (crossings))) (increase (crossings) 1))"),
]


@pytest.mark.parametrize(("old", "new"), COUNTED)
def test_numbers_that_no_condition_reads_change_no_reason(old: str, new: str) -> None:
    domain = """(define (domain boats) (:requirements :typing :numeric-fluents) (:types isle car)
      (:predicates (at ?c - car ?i - isle) (boat-at ?i - isle) (on ?c - car) (link ?i ?j - isle))
      (:functions (free) (crossings) (sum) (way ?i ?j - isle) (total-cost))
      (:action sail :parameters (?i ?j - isle) :precondition (and (boat-at ?i) (link ?i ?j))
        :effect (and (boat-at ?j) (not (boat-at ?i))))
      (:action board :parameters (?c - car ?i - isle) :precondition (and (at ?c ?i) (boat-at ?i) (>= (free) 1))
        :effect (and (on ?c) (not (at ?c ?i)) (decrease (free) 1)))
      (:action leave :parameters (?c - car ?i - isle) :precondition (and (on ?c) (boat-at ?i))
        :effect (and (at ?c ?i) (not (on ?c)))))"""
    problem = """(define (problem p) (:domain boats) (:objects rum eigg - isle van cab - car)
      (:init (at van rum) (at cab rum) (boat-at rum) (link rum eigg) (link eigg rum) (= (free) 1) (= (crossings) 0)
        (= (sum) 0) (= (way rum eigg) 1) (= (way eigg rum) 2)) (:goal (and (at van eigg) (at cab eigg))))"""
    assert domain.count(old) == 1
    without = explain_no_plan(*pair(domain, problem), PATIENCE)
    assert len(without.chain) == 3 and without.exclusive
    assert explain_no_plan(*pair(domain.replace(old, new), problem), PATIENCE) == without


@pytest.mark.parametrize(
    ("change", "reached"),
    [
        ("(increase (count) 1)", True),
        ("(increase (unset) 1)", False),
        ("(assign (count) (unset))", False),
        ("(assign (unset) (count))", True),
        ("(increase (count) (/ 1 (zero)))", False),
        ("(forall (?x) (assign (count) (size ?x)))", False),
        ("(and (assign (count) 1) (increase (count) 1))", False),
    ],
)
def test_a_number_that_makes_a_step_impossible_is_not_left_out(change: str, reached: bool) -> None:
    domain = f"""(define (domain d) (:requirements :adl :numeric-fluents) (:predicates (p) (q))
      (:functions (count) (unset) (zero) (size ?x)) (:action a :parameters () :effect (and (p) {change})))"""
    problem = """(define (problem z) (:domain d) (:objects x y)
      (:init (= (count) 0) (= (zero) 0) (= (size x) 1) (= (size y) 2)) (:goal (and (p) (q))))"""
    value = parse_domain(domain), parse_problem(problem)
    assert explain_no_plan(*value, PATIENCE).goals[0].reachable is reached


def test_what_a_step_makes_true_in_several_ways_is_explained() -> None:
    """The two effects need conditions that exclude each other."""
    domain = """(define (domain d) (:requirements :adl) (:predicates (p) (q) (x) (y))
      (:action a :parameters () :effect (and (when (x) (and (p) (not (q)))) (when (y) (and (q) (not (p))))))
      (:action swap :parameters () :precondition (x) :effect (and (y) (not (x)))))"""
    why = explain_no_plan(*pair(domain, "(define (problem z) (:domain d) (:init (x)) (:goal (and (p) (q))))"), PATIENCE)
    assert why.exclusive == ("(p)", "(q)")
    assert check_sentences(*pair(domain, "(define (problem z) (:domain d) (:init (x)) (:goal (p)))"), why.chain)
