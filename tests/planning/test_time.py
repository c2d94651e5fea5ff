"""Plans with times: read, printed and measured exactly, and executed moment by moment."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego import tools
from pddlego.errors import UsageError
from pddlego.pddl import PddlSyntaxError, Problem, parse_domain, parse_problem
from pddlego.pddl.conditions import Not
from pddlego.pddl.problem import Later
from pddlego.planners import Feature
from pddlego.planning import Plan, PlanStep, Search, engines, validate
from pddlego.planning.ground import PlanningError
from pddlego.planning.plan_text import plan_in, read_plan
from pddlego.planning.result import TimedStep
from pddlego.planning.validation.cost import plan_cost
from pddlego.planning.validation.fault import PlanFault
from tests.cli.command import run
from tests.growth import is_linear
from tests.pddl.strategies import atoms, problems
from tests.scale import PATIENCE

KILN = """(define (domain kiln)
  (:requirements :typing :durative-actions :duration-inequalities :timed-initial-literals :numeric-fluents)
  (:types pot)
  (:predicates (hot) (baked ?p - pot) (raw ?p - pot) (open))
  (:functions (wood) (size ?p - pot))
  (:action look :parameters () :precondition (hot) :effect (open))
  (:durative-action fire :parameters () :duration (<= ?duration 8)
    :condition (and (at start (>= (wood) ?duration)) (over all (open)))
    :effect (and (at start (hot)) (at start (decrease (wood) ?duration)) (at end (not (hot)))))
  (:durative-action bake :parameters (?p - pot) :duration (= ?duration (/ (size ?p) 3))
    :condition (and (at start (raw ?p)) (over all (hot)))
    :effect (and (at start (not (raw ?p))) (at end (baked ?p)))))"""

POTS = """(define (problem pots) (:domain kiln) (:objects a b - pot)
  (:init (raw a) (raw b) (= (wood) 20) (= (size a) 6) (= (size b) 10) (open) (at 30 (not (open))) (at 40 (= (wood) 50)))
  (:goal (and (baked a) (baked b))))"""

DOMAIN, PROBLEM = parse_domain(KILN), parse_problem(POTS)

PLAN = "0: (fire) [8]\n1: (bake a) [2]\n1: (bake b) [3.333]\n1.5: (look)"


def fault_of(plan: str) -> PlanFault | None:
    return validate(DOMAIN, PROBLEM, read_plan(plan, DOMAIN, PROBLEM).plan)


def test_tasks_are_printed_and_read_again() -> None:
    assert parse_domain(str(DOMAIN)) == DOMAIN
    assert parse_problem(str(PROBLEM)) == PROBLEM
    assert tools.check(KILN, POTS).findings == ()


@given(
    problems,
    st.frozensets(st.builds(Later, st.decimals(0, 10**9, places=3), atoms | st.builds(Not, atoms)), max_size=5),
)
def test_timed_literals_are_printed_and_read_again(problem: Problem, later: frozenset[Later]) -> None:
    timed = replace(problem, later=later)
    assert parse_problem(str(timed)) == timed


@pytest.mark.parametrize(
    ("old", "new", "message", "advice"),
    [
        ("(at start (hot))", "(hot)", "this has no time", "Write (at start (hot)), or at end"),
        ("(over all (open))", "(open)", "this has no time", "Write (at start (open)), or over all or at end"),
        ("(at start (hot))", "(over all (hot))", "an effect is at the start or at the end", "Write (at end (hot))"),
        (
            "(over all (hot))",
            "(over all (at end (hot)))",
            "only the outer parts of a durative action",
            "Write (hot)",
        ),
        (
            "(at end (baked ?p))",
            "(increase (wood) (* #t 2))",
            "continuous effects (#t) are not supported",
            "without it",
        ),
        ("(<= ?duration 8)", "(over all (<= ?duration 8))", "is not a duration", "Write (= ?duration NUMBER)"),
        ("(<= ?duration 8)", "(<= ?duration eight)", "function eight is not declared", ""),
        (":precondition (hot)", ":precondition (at start (hot))", "only the outer parts of a durative", "Write (hot)"),
        (":effect (open)", ":effect (increase (wood) ?duration)", "durations (?duration) are not supported", ""),
        ("(at end (baked ?p))", "(at end (bake ?p))", "predicate bake is not declared", "Did you mean baked"),
        ("(at start (hot))", "(at start (assign (wood) 1))", "changes (wood) at the same time", ""),
        ("fire :parameters", "look :parameters", "action look is defined twice", ""),
    ],
)
def test_errors_in_durative_actions_are_named(old: str, new: str, message: str, advice: str) -> None:
    assert old in KILN
    found = [finding for finding in tools.check(KILN.replace(old, new, 1)).findings if finding.severity == "error"]
    assert found
    assert message in found[0].message
    assert advice in found[0].advice


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        ("(at 30 (shut))", "predicate shut is not declared"),
        ("(at 30 (open))", "is at 30, too"),
        ("(at -3 (open))", "time -3 is before the start"),
        ("(at 1e400 (open))", "(at 1e400 (open)): 1e400 is not a time"),
        ("(at noon (= (wood) 3))", "(at noon (= (wood) 3)): noon is not a time"),
        ("(at (wood) (open))", "(at (wood) (open)): (wood) is not a time"),
        (f"(at {'1' * 10_000} (open))", "a number has 10,000 characters"),
        ("(at 5 (and (open) (hot)))", "(at 5 (and (open) (hot))) is not a timed literal"),
        ("(at 5 (open) (hot))", "(at 5 (open) (hot)) is not a timed literal"),
        ("(at a (open))", "a parenthesis is missing"),
        ("(at 30 (= (wood) x))", "is not a timed literal"),
        ("(at 30 (= (coal) 1))", "function coal is not declared"),
    ],
)
def test_errors_in_timed_literals_are_named(literal: str, message: str) -> None:
    result = tools.check(KILN, POTS.replace("(at 40", f"{literal} (at 40"))
    assert any(message in finding.message for finding in result.findings if finding.severity == "error"), result


@pytest.mark.parametrize("planner", ["pyperplan", "mimir", "graphplan"])
def test_planners_without_time_say_so(planner: str) -> None:
    result = tools.solve(KILN, POTS, planner=planner)
    assert result.status == "invalid"
    assert "has no time; use the planner auto or kairos" in result.message or "no time" in result.message


def test_without_kairos_solve_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "missing", lambda name: ("kairos", "pip install kairos-planner, for Linux only"))
    with pytest.raises(PlanningError, match=r"no planner for time can do this: kairos is not installed \(pip install"):
        engines.numeric_attempts(Search.parse("gbf(hff)", "auto"), 10, {Feature.TIME: "", Feature.NUMBERS: ""})


@pytest.mark.kairos
def test_solve_finds_a_timed_plan() -> None:
    result = tools.solve(KILN, POTS, seconds=PATIENCE)
    assert (result.status, result.optimal, result.engine) == ("solved", False, "kairos")
    assert result.plan is not None
    assert all(re.fullmatch(r"[\d.]+: \(.+\) \[[\d.]+\]", step) for step in result.plan)
    assert tools.validate(KILN, POTS, result.plan).cost == result.cost


@pytest.mark.kairos
def test_the_page_of_a_timed_plan_has_its_chart_and_its_steps(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(KILN, encoding="utf-8")
    (tmp_path / "p.pddl").write_text(POTS, encoding="utf-8")
    done = run("solve", "d.pddl", "p.pddl", "-o", "a.html", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<svg" in page and "(bake b): " in page  # a bar with its times
    assert re.search(r"[\d.]+: \(bake b\) \[[\d.]+\]", page)


def test_a_terminal_shows_a_chart(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(KILN)
    (tmp_path / "p.pddl").write_text(POTS)
    done = run("solve", "d.pddl", "p.pddl", cwd=tmp_path)
    assert done.returncode == 0
    assert "█" not in done.stderr
    shown = run("solve", "d.pddl", "p.pddl", cwd=tmp_path, FORCE_COLOR="1")
    assert re.search(r"\(bake b\) .*█", shown.stderr)
    assert shown.stdout == done.stdout


def test_a_plan_works_and_costs_its_makespan() -> None:
    assert fault_of(PLAN) is None
    plan = read_plan(PLAN, DOMAIN, PROBLEM).plan
    assert str(plan) == PLAN
    assert plan_cost(DOMAIN, PROBLEM, plan) == 8
    for metric, cost in (("(total-time)", 8), ("(+ (total-time) (wood))", 8 + 50)):
        assert tools.validate(KILN, f"{POTS[:-1]} (:metric minimize {metric}))", PLAN).cost == cost


@pytest.mark.parametrize(
    ("old", "new", "what", "advice"),
    [
        ("[2]", "[2.1]", "(bake a) lasts 2.1, and its duration is (/ (size a) 3) = 2", "(Write [2])"),
        ("[3.333]", "[3.3]", "(bake b) lasts 3.3, and its duration is (/ (size b) 3) = 10/3", "(Write [3.333])"),
        ("[8]", "[9]", "(fire) lasts 9, and its duration is at most 8", "(Write [8])"),
        ("[8]", "[4]", "(bake b) needs a condition from 1 to 4.333 that is false after 4", "(Set (hot) to true)"),
        ("1.5: (look)", "8: (look)", "(look) interferes with (fire), also at 8: both concern (hot)", "Give them diff"),
        ("1.5: (look)", "9: (look)", "(look) has an unsatisfied precondition at 9", "(Set (hot) to true)"),
        ("0: (fire) [8]", "0: (fire)", "(fire) has no duration", "(Write TIME: (action object …) [DURATION])"),
        ("0: (fire) [8]", "-1: (fire) [8]", "(fire) has a negative time or duration", "(Write TIME"),
        ("1: (bake a) [2]", "", "The goal is not satisfied", "(Set (baked a) to true)"),
        ("1.5: (look)", "8.5: (fire) [8]\n16.9: (fire) [8]", "precondition at its start, at 16.9", "(wood) is 4"),
        ("1.5: (look)", "29: (fire) [2]", "(fire) needs a condition from 29 to 31 that is false after 30", "(open)"),
        ("1.5: (look)", "40: (fire) [2]", "interferes with a timed literal, also at 40: both concern (wood)", ""),
        ("(look)", "(lok)", "(lok) at time 3 is not an action of the domain; did you mean look?", ""),
        ("(bake a)", "(bake c)", "(bake c) at time 1: unknown object c", ""),
    ],
)  # fmt: skip
def test_faults_have_moments_and_advice(old: str, new: str, what: str, advice: str) -> None:
    fault = fault_of(PLAN.replace(old, new))
    assert fault is not None
    assert what in fault.what
    assert advice in fault.advice


def test_a_step_without_a_time_is_named() -> None:
    result = tools.validate(KILN, POTS, PLAN.replace("1: (bake a)", "(bake a)"))
    assert result.message.endswith("line 2: (bake a) has no time")
    assert result.advice == "Write TIME: (action object …) [DURATION]."
    for plan in ("(fire", "nothing"):
        assert tools.validate(KILN, POTS, plan).advice.endswith(": TIME: (action object …) [DURATION].")
    (finding,) = tools.check(KILN, POTS, "(look)").findings
    assert (finding.message, finding.advice) == (
        "line 1: (look) has no time",
        "Write TIME: (action object …) [DURATION].",
    )


def test_times_are_not_needed_in_a_task_without_time() -> None:
    domain = "(define (domain d) (:predicates (p)) (:action a :parameters () :effect (p)))"
    problem = "(define (problem one) (:domain d) (:init) (:goal (p)))"
    assert tools.validate(domain, problem, "0: (a) [5]").valid
    result = tools.validate(domain, problem, "5: (a)\n(a)\n3: (a)")
    assert result.message.endswith("time 3 follows time 5, and other steps have no time")
    assert result.advice == "Give each step a time, or none."


def test_a_plan_value_without_times_is_named() -> None:
    fault = validate(DOMAIN, PROBLEM, Plan((PlanStep("fire"),)))
    assert fault is not None
    assert (fault.what, fault.advice) == ("(fire) has no time", "(Write TIME: (action object …) [DURATION])")


def test_a_number_in_a_duration_may_not_change_when_the_action_starts() -> None:
    domain = KILN.replace(
        "(:action look", "(:action grow :parameters (?p - pot) :effect (increase (size ?p) 1))\n(:action look"
    )
    result = tools.validate(domain, POTS, PLAN.replace("1.5: (look)", "1: (grow a)"))
    assert (result.rule, result.valid) == ("interfering-actions", False)
    assert tools.validate(domain, POTS, PLAN.replace("1.5: (look)", "1.5: (grow a)")).valid


def test_the_goal_holds_after_the_last_literal() -> None:
    text = POTS.replace("(and (baked a)", "(and (open) (baked a)")
    result = tools.validate(KILN, text, PLAN)
    assert (result.valid, result.message) == (False, "The goal is not satisfied")
    assert tools.validate(KILN, text.replace("(at 30 (not (open)))", "(at 30 (not (open))) (at 31 (open))"), PLAN).valid


@pytest.mark.kairos
@pytest.mark.parametrize("time", ["at start", "over all"])
@pytest.mark.parametrize("later", ["(at 2 (not (done)))", "(at 2 (not (done))) (at 5 (not (done)))", "(at 2 (raw))"])
@pytest.mark.parametrize("more", ["", "(never-todo ?x)"])
def test_a_literal_that_deletes_a_false_fact_deletes_no_other_one(time: str, later: str, more: str) -> None:
    """Of `todo` and `done`, one is true: Kairos made the values of one variable of them, and found no plan."""
    domain = f"""(define (domain once) (:predicates (todo) (done) (raw) (open) {more})
      (:durative-action do :parameters () :duration (= ?duration 1)
        :condition (and ({time} (open)) (at start (todo))) :effect (and (at start (done)) (at start (not (todo))))))"""
    problem = f"(define (problem p) (:domain once) (:init (todo) (at 4 (open)) {later}) (:goal (done)))"
    result = tools.solve(domain, problem, why_seconds=0)
    assert result.status == "solved", result


def test_facts_that_another_action_gives_later_are_reachable() -> None:
    domain = """(define (domain d) (:requirements :durative-actions) (:predicates (x) (y) (p))
      (:durative-action a :parameters () :duration (= ?duration 5) :condition (at end (y))
        :effect (and (at start (x)) (at end (p))))
      (:durative-action b :parameters () :duration (= ?duration 1) :condition (at start (x)) :effect (at end (y))))"""
    problem = "(define (problem p) (:domain d) (:init) (:goal (p)))"
    assert tools.check(domain, problem).findings == ()
    assert tools.validate(domain, problem, "0: (a) [5]\n2: (b) [1]").valid
    assert not tools.validate(domain, problem, "0: (a) [5]\n0: (b) [1]").valid


@pytest.mark.parametrize("call", [tools.simulate, tools.applicable, tools.compare, tools.difference])
def test_what_has_no_time_refuses_it_by_name(call: object) -> None:
    assert callable(call)
    more = (POTS,) if call in (tools.compare, tools.difference) else ()
    for domain in (KILN, DOMAIN):
        with pytest.raises(UsageError, match="action fire: durative actions are not supported here"):
            call(domain, POTS, *more)
    plain = KILN[: KILN.index("(:durative-action fire")] + ")"
    for problem in (POTS, PROBLEM):
        with pytest.raises(UsageError, match=r"\(at 30 \(not \(open\)\)\): timed literals are not"):
            call(plain, problem, *((problem,) if more else ()))


# reading

NAMES = st.sampled_from(("fire", "bake a", "bake b", "look"))
NUMBERS = st.decimals(min_value=0, max_value=10**9, places=4, allow_nan=False, allow_infinity=False)
STEPS = st.builds(
    lambda start, name, lasts: TimedStep(start, PlanStep.read(name), None if name == "look" else lasts),
    NUMBERS,
    NAMES,
    st.none() | NUMBERS,
)


@given(st.lists(STEPS, max_size=8))
def test_a_printed_plan_is_read_as_an_equal_plan(steps: list[TimedStep]) -> None:
    plan = Plan.of(steps)
    assert read_plan(str(plan), DOMAIN, PROBLEM).plan == plan
    assert list(plan.times) == sorted(plan.times)


@given(st.text(alphabet="0123456789.:()[]de;-+abfirlok \n\t", max_size=200))
def test_any_text_is_read_and_judged_or_refused(text: str) -> None:
    with suppress(PddlSyntaxError):
        plan = read_plan(text, DOMAIN, PROBLEM).plan
        assert validate(DOMAIN, PROBLEM, plan) is not None


def test_what_planners_write_is_read() -> None:
    text = "; Time 0.05\r\n2.0: (BAKE  a) [D:1.50; C:0.1] ; second\n\n.5:(look) [0.001]\n 0 : ( fire ) [ 1e1 ]\n"
    plan = read_plan(text, DOMAIN, PROBLEM).plan
    assert str(plan) == "0: (fire) [10]\n0.5: (look)\n2.0: (bake a) [1.50]"
    assert plan.durations == (Decimal(10), None, Decimal("1.5"))
    assert plan.makespan == 10
    assert read_plan("0: fire [8]\n1: bake a [2]", DOMAIN, PROBLEM).plan.durations == (Decimal(8), Decimal(2))


def test_the_makespan_is_exact() -> None:
    assert read_plan("0.1: (fire) [0.2]\n0: (fire) [0.3]", DOMAIN, PROBLEM).plan.makespan == Fraction(3, 10)
    assert read_plan("", DOMAIN, PROBLEM).plan.makespan == 0


@pytest.mark.parametrize(
    "line", ["1e400: (fire)", "1: (fire) [1e400]", "1" * 200 + ": (fire)", f"1: (fire) [{'1' * 200}]"]
)
def test_numbers_that_are_too_long_are_named(line: str) -> None:
    with pytest.raises(PddlSyntaxError, match="line 1: a number has more than 100 characters"):
        read_plan(line, DOMAIN, PROBLEM)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["0: (fire{})", "0: (fire){}x", "{}0: (fire)", "0: (fire) [1{}", "0: (fire) [{}", "{}:"]
)
@pytest.mark.parametrize("filler", [" ", "5", "[", "(", ";"])
def test_long_lines_are_read_in_linear_time(line: str, filler: str) -> None:
    def work(size: int) -> None:
        with suppress(PddlSyntaxError):
            read_plan(line.format(filler * size), DOMAIN, PROBLEM)

    assert is_linear(lambda: work(5_000), lambda: work(50_000), 10)


@pytest.mark.parametrize(
    ("duration", "rule"),
    [
        ("(= ?duration -5)", "impossible-duration"),
        ("(<= ?duration -0.5)", "impossible-duration"),
        ("(and (>= ?duration 5) (<= ?duration 3))", "impossible-duration"),
        ("(and (>= 3 ?duration) (<= 5 ?duration))", "impossible-duration"),
        ("(and (= ?duration 3) (= ?duration 4))", "impossible-duration"),
        ("(= ?duration (+ ?duration 1))", "syntax"),
        ("(and (>= ?duration 3) (<= ?duration 3))", ""),
        ("(and (>= ?duration -3) (<= ?duration 0))", ""),
        ("(and (>= ?duration 5) (<= ?duration (wood)))", ""),
    ],
)
def test_durations_that_no_number_has_are_errors_of_the_domain(duration: str, rule: str) -> None:
    found = tools.check(KILN.replace("(<= ?duration 8)", duration)).findings
    assert [(finding.rule, finding.severity) for finding in found] == ([(rule, "error")] if rule else [])


def test_an_impossible_duration_without_numbers_of_the_problem_is_a_whole_sentence() -> None:
    domain = KILN.replace("(= ?duration (/ (size ?p) 3))", "(= ?duration (- 2 5))")
    messages = [finding.message for finding in tools.check(domain, POTS).findings]
    reason = "(bake a) can never be applied, as 1 other call of bake: (= ?duration (- 2 5)) allows no duration from 0"
    assert reason in messages


@pytest.mark.parametrize(
    ("duration", "values", "message"),
    [
        (
            "(= ?duration (size ?p))",
            "(= (size a) -6)",
            "(bake a) can never be applied: (= ?duration (size a)) allows no",
        ),
        (
            "(and (>= ?duration (size ?p)) (<= ?duration 3))",
            "(= (size a) 6)",
            "allows no duration from 0, as (size a) is 6",
        ),
        ("(= ?duration (- 2 (size ?p)))", "(= (size a) 6)", "as (size a) is 6"),
        ("(= ?duration (/ 6 (size ?p)))", "(= (size a) 0)", "as (size a) is 0"),
        ("(= ?duration (size ?p))", "", "(size a) has no number in :init, so (bake a) can never be applied"),
        ("(= ?duration (size ?p))", "(= (size a) 0)", ""),
        ("(= ?duration (+ (wood) (size ?p)))", "(= (size a) -30)", ""),  # another action may change (wood)
    ],
)
def test_durations_that_numbers_of_the_problem_make_impossible_are_warnings(
    duration: str, values: str, message: str
) -> None:
    domain, problem = KILN.replace("(= ?duration (/ (size ?p) 3))", duration), POTS.replace("(= (size a) 6)", values)
    result = tools.check(domain, problem)
    assert result.ok
    assert [message in finding.message for finding in result.findings] == [True] * bool(message), result.findings


@pytest.mark.kairos
@pytest.mark.parametrize(
    ("duration", "solvable"),
    [
        ("(= ?duration (size ?p))", False),
        ("(and (>= ?duration 0) (<= ?duration (size ?p)))", False),
        ("(and (>= ?duration (size ?p)) (<= ?duration 3))", True),
    ],
)
def test_no_engine_gets_a_duration_that_makes_it_give_up(duration: str, solvable: bool) -> None:
    domain = f"""(define (domain d) (:requirements :typing :durative-actions :duration-inequalities :numeric-fluents)
      (:types pot) (:predicates (baked ?p - pot)) (:functions (size ?p - pot))
      (:durative-action bake :parameters (?p - pot) :duration {duration} :effect (at end (baked ?p))))"""
    problem = "(define (problem p) (:domain d) (:objects a - pot) (:init (= (size a) -4)) (:goal (baked a)))"
    result = tools.solve(parse_domain(domain), parse_problem(problem), seconds=PATIENCE)
    assert result.status == ("solved" if solvable else "unsolvable"), result.message


FILE = "0: (fire) [8]\n1: (bake a) [2.0]\n1: (bake b) [3.333]\n1.5: (look)\n"


def test_a_plan_file_that_is_cut_is_not_valid() -> None:
    """Each beginning of a valid plan that ends inside of a step is an error, or not a valid plan."""
    assert tools.validate(KILN, POTS, FILE).valid
    ends = {0, *(number + len(line) for line in FILE.splitlines() for number in [FILE.index(line)])}
    for end in range(1, len(FILE)):
        text = FILE[:end]
        if text.endswith("\n") or end in ends:
            read_plan(text, DOMAIN, PROBLEM)
            continue
        with suppress(PddlSyntaxError):
            read_plan(text, DOMAIN, PROBLEM)
            assert not tools.validate(KILN, POTS, text).valid, text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0: (fire) [8", "'(fire) [8', is not an action"),
        ("0: (fire) [8 ; note", "is not an action"),
        ("0: (fire) [8\n1: (bake a) [2]", "line 1, '(fire) [8', is not an action"),
        ("0: (fire) [8]\n1: (", "line 2, '(', is not an action"),
        ("0: (fire) [8]\n1:", "line 2, '1:', is not an action"),
        ("0: (fire) [8,5]", "8,5 is not a number; write 8.5, not 8,5"),
        ("0,5: (fire) [8]", "0,5 is not a number; write 0.5, not 0,5"),
        ("0: (fire) [D: 8,5; C: 1]", "8,5 is not a number"),
        ("| time | action | duration |\n|---|---|---|\n| 0 | (fire) | 8 |", "line 3: (fire) has no time; write TIME:"),
    ],
)
def test_cut_steps_decimal_commas_and_tables_are_named(text: str, message: str) -> None:
    with pytest.raises(PddlSyntaxError, match=re.escape(message)):
        read_plan(text, DOMAIN, PROBLEM)


def test_the_complete_steps_of_an_answer_that_breaks_off_are_read() -> None:
    reading = plan_in("0: (fire) [8]\n1: (bake a) [2", DOMAIN, PROBLEM)
    assert (str(reading.plan), "the text ends inside of a step" in reading.note) == ("0: (fire) [8]", True)
