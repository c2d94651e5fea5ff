"""Every kind of feedback of the paper, from programs that fail in that way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pddlego.methods.planning_settings import PlanningSetting
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.programs.setting import load
from pddlego.methods.programs.trial import Trial, TrialKind, attempt, judged, operators, read_action, shown_plan
from pddlego.pddl import parse_domain, parse_problem
from pddlego.sandbox import Sandbox, SandboxLimits
from pddlego.tasks import Task
from tests.sandbox.ordinary import needs_locks
from tests.scale import PATIENT

pytestmark = needs_locks

TASK = Task(
    "task",
    parse_problem("""(define (problem p) (:domain ferry) (:objects l0 l1 c0)
      (:init (location l0) (location l1) (car c0) (not-eq l0 l1) (not-eq l1 l0) (at-ferry l0) (at c0 l0) (empty-ferry))
      (:goal (and (at c0 l1))))"""),
)
GOOD = ["(board c0 l0)", "(sail l0 l1)", "(debark c0 l1)"]
LIMITS = SandboxLimits(seconds=20, memory=300, patience=PATIENT)


@pytest.fixture(scope="module")
def ferry() -> PlanningSetting:
    return load("ferry", ProgramOptions())


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


def tried(sandbox: Sandbox, ferry: PlanningSetting, source: str, limits: SandboxLimits = LIMITS) -> Trial:
    return attempt(sandbox, source, ferry.domain, TASK, limits, whole=False)


def program(body: str) -> str:
    return f"def get_plan(objects, init, goal):\n    {body}\n"


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        (program(f"return {GOOD}"), TrialKind.SOLVED, ""),
        (program(f"return {[item.upper() for item in GOOD]}"), TrialKind.SOLVED, ""),
        ("Sail to each car in turn.", TrialKind.EXCEPTION, "SyntaxError: invalid syntax"),
        ("def plan(): pass", TrialKind.EXCEPTION, "NameError: name 'get_plan' is not defined"),
        (program("import sys; sys.exit(3)"), TrialKind.EXCEPTION, "SystemExit: 3"),
        (program("import os; os._exit(0)"), TrialKind.EXCEPTION, "the program ended its own process (exit code 0)"),
        (program("return None"), TrialKind.NO_PLAN, "returned None, which is not a list"),
        (program("return ('a',)"), TrialKind.NO_PLAN, "returned ('a',), which is not a list"),
        (program("return [('sail', 'l0', 'l1')]"), TrialKind.SYNTAX, "('sail', 'l0', 'l1') at step 0"),
        (program("return ['sail l0 l1']"), TrialKind.SYNTAX, "sail l0 l1 at step 0: it is not a string"),
        (program("return ['(fly l0 l1)']"), TrialKind.SYNTAX, "(fly l0 l1) at step 0: unknown operator fly"),
        (program("return ['(board c0 l0)', '(sail l0)']"), TrialKind.SYNTAX, "(sail l0) at step 1: sail takes 2"),
        (program("return ['(sail l0 l9)']"), TrialKind.SEMANTICS, "(sail l0 l9) at time 0: unknown object l9"),
        (
            program("return ['(sail l1 l0)']"),
            TrialKind.SEMANTICS,
            "(sail l1 l0) has an unsatisfied precondition at time 0",
        ),
        (program("return []"), TrialKind.SEMANTICS, "The goal is not satisfied"),
        (
            program("x = []\n    while True: x.append(bytearray(1 << 20))"),
            TrialKind.MEMORY,
            "it needs more than 300 MiB",
        ),
    ],
)
def test_each_kind(sandbox: Sandbox, ferry: PlanningSetting, source: str, kind: TrialKind, message: str) -> None:
    result = tried(sandbox, ferry, source)
    assert result.kind is kind
    assert result.message.startswith(message), result


LONG = "x" * 300_000


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(
    "value",
    [
        [f"({LONG} a)"],
        [f"(sail {LONG} l0)"],
        [f"(sail{' l0' * 100_000})"],
        [LONG],
        [[LONG]],
        ["(sail l0 l1)", f"(board {LONG} {LONG})"],
        LONG,
        {"a": LONG},
    ],
)
def test_what_is_kept_of_a_wrong_plan_is_cut(ferry: PlanningSetting, value: Any, whole: bool) -> None:
    trial = judged(value, 1.0, ferry.domain, TASK, whole)
    texts = (trial.message, trial.action, trial.reason, trial.advice)
    assert not trial.solved
    assert max(map(len, texts)) < 2_100
    assert len(trial.shown) < 210_000


@pytest.mark.parametrize("body", ["while True: pass", "while True: print('x' * 1000)"])
def test_an_endless_program_is_told_where_it_was(sandbox: Sandbox, ferry: PlanningSetting, body: str) -> None:
    result = tried(sandbox, ferry, program(f"{body}"), SandboxLimits(seconds=0.2, patience=PATIENT))
    assert result.kind is TrialKind.TIMEOUT
    assert result.message == "it took longer than 0.2 seconds"


def test_advice_is_in_the_words_of_the_paper(ferry: PlanningSetting) -> None:
    one = judged(["(board c0 l0)", "(sail l1 l1)"], 0.0, ferry.domain, TASK, whole=True)
    assert one.reason == "(sail l1 l1) has an unsatisfied precondition at time 1"
    assert one.advice == "(Follow each of:\n    (Set (not-eq l1 l1) to true)\n    and (Set (at-ferry l1) to true)\n)"
    other = judged(["(board c0 l0)", "(sail l1 l1)"], 0.0, ferry.domain, TASK, whole=False)
    assert "No action makes (not-eq l1 l1) true" in other.advice, "outside of the paper's wording"
    goal = judged([], 0.0, ferry.domain, TASK, whole=True)
    assert (goal.reason, goal.advice) == ("The goal is not satisfied", "(Set (at c0 l1) to true)")
    nameless = judged(["(sail l0 l9)"], 0.0, ferry.domain, TASK, whole=True)  # the validator VAL says nothing of it
    assert (nameless.reason, nameless.advice) == ("", "")


def test_operators_are_listed_by_name(ferry: PlanningSetting) -> None:
    assert operators(ferry.domain) == "(board ?c ?l) (debark ?c ?l) (sail ?from ?to)"


@pytest.mark.parametrize(
    ("action", "read"),
    [
        ("(sail l0 l1)", "(sail l0 l1)"),
        (" ( SAIL  l0 l1 ) ", "(sail l0 l1)"),
        ("(sail l0 (l1))", None),
        ("(sail l0 l1", None),
    ],
)
def test_what_is_an_action(action: object, read: str | None) -> None:
    result = read_action(action)
    assert (None if result is None else str(result)) == read


def test_of_a_long_plan_a_prompt_shows_what_is_around_the_step() -> None:
    plan: list[Any] = [f"(sail l{number} l0)" for number in range(1000)]
    shown = shown_plan(plan, 500)
    assert shown.startswith("[…, '(sail l460 l0)'")
    assert shown.endswith("'(sail l505 l0)', …]")
    assert shown_plan(plan, 500, whole=True) == repr(plan)


def test_constants_of_the_domain_are_objects_of_the_program() -> None:
    from pddlego.methods.programs.trial import arguments_of

    domain = parse_domain("""(define (domain d) (:types t) (:constants k - t) (:predicates (p ?x - t))
      (:action a :parameters (?x - t) :precondition (p ?x) :effect (not (p ?x))))""")
    problem = parse_problem("(define (problem q) (:domain d) (:objects o - t) (:init (p o)) (:goal (not (p o))))")
    objects, init, goal = arguments_of(domain, Task("q", problem))
    assert objects == {("k", "t"), ("o", "t")}
    assert init == {("p", "o")}
    assert goal == {("not", ("p", "o"))}


def test_the_papers_reader_of_actions_is_strict() -> None:
    assert read_action("(SAIL l0 L1)", strict=True) != read_action("(sail l0 l1)", strict=True)
    assert read_action("(SAIL l0 L1)") == read_action("(sail l0 l1)")
    assert read_action(" (sail l0 l1)", strict=True) is None
    double = read_action("(sail  l0 l1)", strict=True)
    assert double is not None and len(double.args) == 3


def test_a_plan_without_an_end_is_not_looked_at(ferry: PlanningSetting) -> None:
    result = judged(["(sail l0 l1)", "(sail l1 l0)"] * 100_000, 0.0, ferry.domain, TASK, whole=False)
    assert (result.kind, result.shown) == (TrialKind.NO_PLAN, "")


@pytest.mark.slow
def test_loading_and_planning_share_one_limit(sandbox: Sandbox, ferry: PlanningSetting) -> None:
    busy = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"
    source = (
        busy.format(0.6) + "def get_plan(o, i, g):\n    " + busy.format(0.6).replace("\n", "\n    ") + "\n    return 1"
    )
    assert tried(sandbox, ferry, source, SandboxLimits(seconds=0.9, patience=PATIENT)).kind is TrialKind.TIMEOUT
    assert tried(sandbox, ferry, source, SandboxLimits(seconds=20, patience=PATIENT)).kind is TrialKind.NO_PLAN
