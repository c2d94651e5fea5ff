"""Problems that say the same are the same, and one changed fact is the witness of a difference."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.pddl import And, Atom, Domain, Problem, Renaming, parse_domain, parse_problem
from pddlego.pddl.implied import ImpliedFacts
from pddlego.pddl.problem import rename
from pddlego.planning.compare import Comparison, ComparisonVerdict, compare_problems
from pddlego.planning.validation import goal_holds
from pddlego.planning.world import transitions
from pddlego.util import resources
from pddlego.util.limits import Work
from tests.scale import PATIENCE

NAMES = (
    *("delivery", "forest", "gripper", "miconic", "ferry", "spanner", "heavy", "collector", "logistics", "movie"),
    *("blocks", "satellite", "zenotravel", "driverlog", "woodworking", "openstacks"),
)
BLOCKS = parse_domain(resources.read("domains", "blocks.pddl"))


def task(name: str) -> tuple[Domain, Problem]:
    setting = PlanningSetting(**load_planning(name))
    tasks = [task.problem for task in setting.small_tasks(2, "text")]
    return setting.domain, next((task for task in tasks if not goal_holds(setting.domain, task)), tasks[0])


def renamed(domain: Domain, problem: Problem, seed: int) -> Problem:
    """A copy with other names in another order."""
    constants = {constant.name for constant in domain.constants}
    names = sorted(obj.name for obj in problem.objects if obj.name not in constants)
    new = [f"new{number}" for number in range(len(names))]
    random.Random(seed).shuffle(new)
    return rename(problem, Renaming(dict(zip(names, new, strict=True))))


@pytest.mark.parametrize("name", NAMES)
def test_a_renamed_copy_is_the_same(name: str) -> None:
    domain, problem = task(name)
    for seed in range(3):
        assert compare_problems(domain, problem, renamed(domain, problem, seed)).verdict is ComparisonVerdict.SAME


@pytest.mark.parametrize("name", [name for name in NAMES if name != "movie"])  # its facts have no arguments
@pytest.mark.parametrize("change", ["added", "removed", "moved"])
def test_one_changed_fact_is_the_witness(name: str, change: str) -> None:
    domain, problem = task(name)
    rng = random.Random(f"{name}/{change}")
    gone = rng.choice(sorted(problem.facts, key=str))
    more = _new_fact(domain, problem, rng)
    facts = problem.facts - ({gone} if change != "added" else set()) | ({more} if change != "removed" else set())
    comparison = compare_problems(domain, problem, replace(problem, facts=frozenset(facts)))
    if comparison.verdict is ComparisonVerdict.SAME:  # the fact moved to an object that is like the first one
        pytest.skip("the change is a renaming")
    expected = Comparison(
        ComparisonVerdict.DIFFERENT,
        "the initial states differ",
        () if change == "added" else (str(gone),),
        () if change == "removed" else (str(more),),
    )
    assert comparison == expected


def _new_fact(domain: Domain, problem: Problem, rng: random.Random) -> Atom:
    known = {fact.predicate for fact in problem.facts}
    names = {obj.name: obj.type for obj in (*domain.constants, *problem.objects)}
    while True:
        predicate = rng.choice([one for one in domain.predicates if one.name in known and one.parameters])
        args = []
        for parameter in predicate.parameters:
            fitting = sorted(name for name, kind in names.items() if domain.is_a(kind, parameter.type))
            args.append(rng.choice(fitting))
        atom = Atom(predicate.name, tuple(args))
        if atom not in problem.facts:
            return atom


def test_a_removed_fact_is_found_under_other_names() -> None:
    domain, problem = task("blocks")
    gone = sorted(problem.facts, key=str)[0]
    other = renamed(domain, replace(problem, facts=problem.facts - {gone}), 1)
    comparison = compare_problems(domain, problem, other)
    assert (comparison.verdict, len(comparison.only_left), comparison.only_right) == (
        ComparisonVerdict.DIFFERENT,
        1,
        (),
    )
    assert comparison.only_left[0].split()[0] == str(gone).split()[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_goal_and_what_it_implies_are_the_same(name: str) -> None:
    """The facts that are true in every state that reaches the goal add nothing to it."""
    domain, problem = task(name)
    system = transitions(domain, problem, 2_000)
    if not (system.complete and system.goals):
        pytest.skip("there are too many states to know what the goal implies")
    implied = frozenset.intersection(*(frozenset(system.states[number].facts) for number in system.goals))
    completed = problem.with_goal(And((problem.goal, *sorted(implied, key=str))))
    assert compare_problems(domain, problem, renamed(domain, completed, 1)).verdict is ComparisonVerdict.SAME
    other = next(state.facts for number, state in enumerate(system.states) if number not in system.goals)
    wrong = problem.with_goal(And(tuple(sorted(other, key=str))))
    assert compare_problems(domain, problem, wrong).verdict is ComparisonVerdict.DIFFERENT


def tower(blocks: int, goal: str) -> Problem:
    names = [f"b{number}" for number in range(blocks)]
    facts = " ".join(f"(on-table {name}) (clear {name})" for name in names)
    wanted = " ".join(f"(on {above} {below})" for above, below in itertools.pairwise(names))
    return parse_problem(f"""(define (problem p) (:domain blocks) (:objects {" ".join(names)})
      (:init (hand-empty) {facts}) (:goal (and {wanted} {goal})))""")


def test_goals_are_completed_where_there_are_too_many_states() -> None:
    """A tower of all blocks stands on the table, nothing is on it, and the hand is empty."""
    short, full = tower(40, ""), tower(40, "(on-table b39) (clear b0) (hand-empty)")
    result = compare_problems(BLOCKS, short, renamed(BLOCKS, full, 1), seconds=PATIENCE)
    assert result.verdict is ComparisonVerdict.SAME
    assert compare_problems(BLOCKS, short, tower(40, "(not (holding b0))")).verdict is ComparisonVerdict.SAME
    other = full.with_goal(And(full.goal.parts[1:]) if isinstance(full.goal, And) else full.goal)
    comparison = compare_problems(BLOCKS, full, other)
    assert (comparison.verdict, comparison.only_left) == (ComparisonVerdict.UNDECIDED, ("(on b0 b1)",))


@given(st.sets(st.integers(0, 3)), st.sets(st.integers(0, 2)))
def test_what_is_completed_is_implied(edges: set[int], more: set[int]) -> None:
    """Nothing is added to a goal that is not true in every reachable state that reaches it."""
    problem = tower(4, "")
    system = transitions(BLOCKS, problem, 2_000)
    wanted = {Atom("on", (f"b{number}", f"b{number + 1}")) for number in edges if number < 3}
    wanted |= {Atom("on-table", (f"b{number}",)) for number in more}
    reached = [frozenset(state.facts) for state in system.states if wanted <= state.facts]
    completion = ImpliedFacts(BLOCKS, problem, wanted)
    if reached:
        assert completion.true <= frozenset.intersection(*reached)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [100, 500])
def test_hundreds_of_objects_are_compared_in_seconds(blocks: int) -> None:
    short, full = tower(blocks, ""), tower(blocks, f"(on-table b{blocks - 1}) (clear b0) (hand-empty)")
    result = compare_problems(BLOCKS, short, renamed(BLOCKS, full, 1), seconds=PATIENCE)
    assert result.verdict is ComparisonVerdict.SAME


def test_goals_with_or_are_compared_as_they_are_written() -> None:
    problem = tower(8, "(or (hand-empty) (clear b0))")
    assert compare_problems(BLOCKS, problem, renamed(BLOCKS, problem, 1)).verdict is ComparisonVerdict.SAME
    other = tower(8, "(or (clear b0) (hand-empty))")
    assert compare_problems(BLOCKS, problem, other).verdict is ComparisonVerdict.UNDECIDED


def two(init: str, goal: str, other_init: str, other_goal: str, rules: str = "") -> Comparison:
    """Compare two problems of two objects, with facts that actions only add."""
    domain = parse_domain(f"""(define (domain d) (:predicates (p ?x) (q ?x) (d ?x) (e ?x)) {rules}
      (:action both :parameters (?x) :effect (and (p ?x) (q ?x)))
      (:action one :parameters (?x) :effect (p ?x)))""")
    texts = ((init, goal), (other_init, other_goal))
    problems = (
        parse_problem(f"(define (problem x) (:domain d) (:objects a b) (:init {init}) (:goal {goal}))")
        for init, goal in texts
    )
    return compare_problems(domain, *problems)


def test_derived_goals_are_not_taken_for_the_same() -> None:
    rules = "(:derived (d ?x) (p ?x)) (:derived (e ?x) (or (p ?x) (q ?x)))"
    assert two("", "(d a)", "", "(e a)", rules).verdict is ComparisonVerdict.UNDECIDED
    assert two("", "(d a)", "", "(d b)", rules).verdict is ComparisonVerdict.SAME


def test_goals_of_other_objects_are_shown_with_the_facts_that_tell_them_apart() -> None:
    comparison = two("(p a)", "(q a)", "(p b)", "(q a)")
    assert (comparison.verdict, comparison.only_left, comparison.only_right) == (
        ComparisonVerdict.DIFFERENT,
        ("(p a)",),
        ("(p b)",),
    )


def test_objects_that_only_one_problem_has_are_named() -> None:
    def compared(left: str, right: str) -> tuple[str, ...]:
        problems = (
            parse_problem(f"(define (problem x) (:domain d) (:objects {names}) (:init) (:goal (p a)))")
            for names in (left, right)
        )
        result = compare_problems(MERGED, *problems)
        return (result.reason, *result.only_left, *result.only_right)

    reason = "the numbers of objects differ: 2 and 3"
    assert compared("a b", "a b c") == (reason, "c - object")
    assert compared("a c", "a b d") == (reason, "c - object", "b - object", "d - object")
    assert compared("a b", "c d a") == (reason, "b - object", "c - object", "d - object")
    assert compared("a b c", "a d e f") == ("the numbers of objects differ: 3 and 4",)


def test_objects_of_other_types_are_named() -> None:
    domain = parse_domain("(define (domain d) (:types dock place) (:predicates (p)))")
    left, right = (
        parse_problem(f"(define (problem x) (:domain d) (:objects a - place b - {kind}) (:init) (:goal (p)))")
        for kind in ("dock", "place")
    )
    different = Comparison(
        ComparisonVerdict.DIFFERENT, "the types of the objects differ", ("b - dock",), ("b - place",)
    )
    assert compare_problems(domain, left, right) == different


def test_numbers_are_compared_by_their_value() -> None:
    from tests.planning.test_costs import ROADS, trip

    without = parse_problem(str(trip()).replace("(= (total-cost) 0)", ""))
    assert compare_problems(ROADS, trip("3"), trip("3.0")).verdict is ComparisonVerdict.SAME
    assert compare_problems(ROADS, trip(), without).verdict is ComparisonVerdict.SAME
    assert compare_problems(ROADS, trip("3"), trip("4")).only_left == ("(= (length a b) 3)", "(= (length b c) 3)")


MERGED = parse_domain("""(define (domain d) (:predicates (p ?x) (q ?x) (r ?x))
  (:action both :parameters (?x ?y) :precondition (and (p ?x) (p ?y))
    :effect (and (q ?x) (r ?y) (not (p ?x)) (not (p ?y))))
  (:action undo :parameters (?x) :precondition (q ?x) :effect (and (p ?x) (not (q ?x)))))""")


def test_one_object_may_be_given_twice_to_an_action() -> None:
    """`(both a a)` makes two facts of `a` true, so that neither of them excludes the other."""
    names = " ".join(f"o{number}" for number in range(14))
    facts = " ".join(f"(p o{number})" for number in range(14))
    first, second = (
        parse_problem(f"(define (problem x) (:domain d) (:objects {names}) (:init {facts}) (:goal {goal}))")
        for goal in ("(q o0)", "(and (q o0) (not (r o0)))")
    )
    assert compare_problems(MERGED, first, second).verdict is ComparisonVerdict.UNDECIDED


LAMP = """(define (domain d) (:predicates (off) (on) (broken))
  (:action press :parameters () :precondition (off) :effect (and (on) (not (off)))))"""


def lamp(goal: str, name: str = "d") -> Problem:
    return parse_problem(f"(define (problem p) (:domain {name}) (:init (off)) (:goal {goal}))")


@pytest.mark.parametrize(
    ("left", "right", "verdict", "reason"),
    [
        ("(on)", "(broken)", ComparisonVerdict.DIFFERENT, "only the goal of the first problem can be reached"),
        (
            "(broken)",
            "(and (on) (not (off)))",
            ComparisonVerdict.DIFFERENT,
            "only the goal of the second problem can be reached",
        ),
        ("(broken)", "(and (on) (off))", ComparisonVerdict.UNDECIDED, "no state reaches either of them"),
        ("(broken)", "(broken)", ComparisonVerdict.SAME, "equal"),
        ("(on)", "(not (off))", ComparisonVerdict.SAME, "equal"),
    ],
)
def test_goals_that_no_state_reaches(left: str, right: str, verdict: ComparisonVerdict, reason: str) -> None:
    result = compare_problems(parse_domain(LAMP), lamp(left), lamp(right))
    assert (result.verdict, reason in result.reason) == (verdict, True), result


@pytest.mark.slow
def test_five_thousand_states_are_looked_at() -> None:
    """Twelve switches and a lamp, and goals that mean the same only because of a rule between two of them."""
    names = [f"s{number}" for number in range(12)]
    heads = " ".join(f"({name}) (no-{name})" for name in names)
    body = " ".join(
        f"(:action set-{name} :parameters () :precondition (no-{name}) :effect (and ({name}) (not (no-{name}))))"
        for name in names
    )
    domain = parse_domain(
        f"(define (domain d) (:predicates {heads} (x)) {body} (:action y :parameters () :precondition "
        "(and (s0) (s1)) :effect (x)))"
    )
    start = " ".join(f"(no-{name})" for name in names)
    problems = [
        parse_problem(f"(define (problem p) (:domain d) (:init {start}) (:goal {goal}))")
        for goal in ("(x)", "(and (x) (s0))", "(and (s1) (x))", "(and (s1) (s0))")
    ]
    assert len(transitions(domain, problems[0], 10_000, Work()).states) == 5_120
    assert compare_problems(domain, problems[0], problems[1], seconds=PATIENCE).verdict is ComparisonVerdict.SAME
    assert compare_problems(domain, problems[1], problems[2], seconds=PATIENCE).verdict is ComparisonVerdict.SAME
    assert compare_problems(domain, problems[1], problems[3], seconds=PATIENCE).verdict is ComparisonVerdict.DIFFERENT


@pytest.mark.slow
def test_too_many_states_are_said() -> None:
    names = " ".join(f"(s{number})" for number in range(40))
    body = " ".join(f"(:action set{n} :parameters () :precondition () :effect (s{n}))" for n in range(40))
    domain = parse_domain(f"(define (domain d) (:predicates {names}) {body})")
    problems = [
        parse_problem(f"(define (problem p) (:domain d) (:init) (:goal {goal}))")
        for goal in ("(s1)", "(and (s1) (s2))")
    ]
    result = compare_problems(domain, *problems, seconds=PATIENCE)
    assert (result.verdict, "too many states" in result.reason) == (ComparisonVerdict.UNDECIDED, True)


def test_another_domain_name_is_a_note_and_no_verdict() -> None:
    result = compare_problems(parse_domain(LAMP), lamp("(on)"), lamp("(on)", "e"))
    assert (result.verdict, result.note) == (ComparisonVerdict.SAME, "the problems name different domains, d and e")
    assert compare_problems(parse_domain(LAMP), lamp("(on)"), lamp("(broken)", "e")).note
    assert not compare_problems(parse_domain(LAMP), lamp("(on)"), lamp("(on)")).note


@pytest.mark.parametrize(
    "goal",
    [
        "(not (or (not (s1)) (s2)))",
        "(not (imply (s1) (s2)))",
        "(and (not (not (s1))) (not (or (s2))))",
        "(not (exists (?x) (or (not (s1)) (s2))))",
    ],
)
def test_a_negated_goal_that_means_literals_is_compared_as_these(goal: str) -> None:
    def compared(facts: int, other: str) -> ComparisonVerdict:
        names = " ".join(f"(s{number})" for number in range(facts))
        body = " ".join(f"(:action set{n} :parameters () :precondition () :effect (s{n}))" for n in range(facts))
        domain = parse_domain(f"(define (domain d) (:constants a) (:predicates {names}) {body})")
        left, right = (
            parse_problem(f"(define (problem p) (:domain d) (:init (s1)) (:goal {goal}))") for goal in (goal, other)
        )
        return compare_problems(domain, left, right, seconds=PATIENCE).verdict

    assert compared(40, "(and (s1) (not (s2)))") is ComparisonVerdict.SAME  # too many states to look at
    assert compared(3, "(and (s1) (s2))") is ComparisonVerdict.DIFFERENT
