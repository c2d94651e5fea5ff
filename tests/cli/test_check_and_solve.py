"""`pddlego check` and `pddlego solve`, as a user runs them."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pddlego.cli.solve import _reasons, _solved
from pddlego.pddl.conditions import TRUE
from pddlego.planning.result import GoalPart, PlanResult, PlanStatus, WhyNoPlan
from pddlego.tasks.generators import GENERATORS
from pddlego.tools import SolveResult, solve_result
from tests.cli.command import run, run_process
from tests.sandbox.ordinary import needs_locks

ROOT = Path(__file__).parent.parent.parent
FERRY = ROOT / "domains" / "ferry.pddl"
PROGRAM = ROOT / "domains" / "programs" / "ferry.py"
BLOCKS = ROOT / "domains" / "blocks.pddl"
HEURISTIC = ROOT / "domains" / "heuristics" / "blocks.py"

TASK = """(define (problem p) (:domain ferry) (:objects l0 l1 c0)
  (:init (location l0) (location l1) (car c0) (not-eq l0 l1) (not-eq l1 l0) (at-ferry l0) (at c0 l0) (empty-ferry))
  (:goal (and (at c0 l1))))"""
PLAN = "(board c0 l0)\n(sail l0 l1)\n(debark c0 l1)\n"


@pytest.fixture
def task(tmp_path: Path) -> str:
    (tmp_path / "task.pddl").write_text(TASK)
    return "task.pddl"


def test_good_files_are_said_to_be_good(tmp_path: Path, task: str) -> None:
    (tmp_path / "a.plan").write_text(f"; a comment\n0: {PLAN.upper()}")
    done = run("check", str(FERRY), task, "--plan", "a.plan", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == [
        "task.pddl: a problem of 3 objects, 8 facts: no defects",
        "a.plan: a plan of 3 steps and cost 3 that reaches the goal: no defects",
    ]


@pytest.mark.parametrize(
    ("plan", "lines"),
    [
        (
            "(sail l1 l1)",
            [
                "a.plan:1:1: error: unsatisfied-precondition",
                "  (sail l1 l1)",
                "  ^",
                "  why: step 1: (sail l1 l1) has an unsatisfied precondition",
                "  do:  Follow each of:",
                "           (No action makes (not-eq l1 l1) true: use objects for which it is true, "
                "as in (not-eq l0 l1), (not-eq l1 l0))",
                "           and (Set (at-ferry l1) to true)",
            ],
        ),
        (
            "(sail l0 l1",
            [
                "a.plan:1:1: error: syntax",
                "  (sail l0 l1",
                "  ^",
                "  why: line 1, '(sail l0 l1', is not an action",
                "  do:  Write one action a line: (action object …).",
            ],
        ),
    ],
)
def test_what_is_wrong_with_a_plan_is_said_in_three_lines(
    tmp_path: Path, task: str, plan: str, lines: list[str]
) -> None:
    (tmp_path / "a.plan").write_text(plan)
    done = run("check", str(FERRY), task, "--plan", "a.plan", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == lines


def test_a_limit_on_findings_is_said(tmp_path: Path) -> None:
    actions = "".join(f"(:action a{n} :parameters () :precondition (q{n}) :effect (p))" for n in range(60))
    (tmp_path / "d.pddl").write_text(f"(define (domain d) (:predicates (p)) {actions})")
    done = run("check", "d.pddl", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("undeclared-predicate") == 50
    assert done.stdout.splitlines()[-1] == "Only the first 50 errors of a file are reported."


def test_what_is_not_checked_is_said(tmp_path: Path, task: str) -> None:
    (tmp_path / "d.pddl").write_text("(define (domain d) (:predicates (p ?x)) (:action a :parameters () :effect (q)))")
    (tmp_path / "a.plan").write_text(PLAN)
    done = run("check", "d.pddl", task, "--plan", "a.plan", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-3:] == [
        "a.plan:1:1: error: not-checked",
        "  why: the plan was not checked, because the domain has errors",
        "  do:  Fix the domain first.",
    ]
    (tmp_path / "t.pddl").write_text(TASK.replace("(at c0 l1)", "(at c9 l1)"))
    (tmp_path / "a.plan").write_text(PLAN)
    done = run("check", str(FERRY), "t.pddl", "--plan", "a.plan", cwd=tmp_path)
    assert "a.plan:1:1: error: not-checked" in done.stdout.splitlines()


def test_files_in_the_wrong_order_are_said_to_be_so(tmp_path: Path, task: str) -> None:
    done = run("check", task, cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()) == (
        1,
        [
            "task.pddl:1:1: error: syntax",
            "  (define (problem p) (:domain ferry) (:objects l0 l1 c0)",
            "  ^",
            "  why: the file defines a problem, not a domain",
            "  do:  Give the domain file in its place",
        ],
    )
    done = run("check", str(FERRY), str(FERRY), cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[3:] == [
        "  why: the file defines a domain, not a problem",
        "  do:  Give the problem file in its place",
    ]


@pytest.mark.method("programs")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("check", "nowhere.pddl"), "nowhere.pddl cannot be read"),
        (("check", str(FERRY), "--plan", "task.pddl"), "A plan needs a problem"),
        (("solve", str(FERRY), str(FERRY)), "is not a valid problem"),
        (("solve", str(FERRY), "task.pddl", "--planner", "dream"), "Unknown planner 'dream'"),
        (("solve", str(FERRY), "task.pddl", "--planner", "astar(lmcut)"), "are searches"),
        (("solve", str(FERRY), "task.pddl", "--search", "asta"), "Did you mean 'astar'?"),
        (("play", "coin", "--search", "gbf(ff)"), "Did you mean 'gbf(hff)'?"),
        (("repair", "-", "--write"), "--write is not possible here"),
        (("solve", str(FERRY), "task.pddl", "-o", "./task.pddl"), "task.pddl is not possible (-o)"),
        (("solve", str(FERRY), "task.pddl", "-o", "task.pddl"), "also an input"),
        (("solve", str(FERRY), "task.pddl", "-o", "a.PNG"), "This command does not write .png files"),
        (("solve", str(FERRY), "task.pddl", "-o", "a.csv"), "Use the ending .plan or .svg or .html or .htm"),
        (("simulate", str(FERRY), "task.pddl", "a.plan", "-o", "b.plan"), "b.plan is not possible (-o)"),
        (("solve", str(FERRY), "task.pddl", "--planner", "program:nowhere.py"), "holds no program"),
        (
            ("solve", str(FERRY), "task.pddl", "--planner", f"program:{PROGRAM}", "--isolation", "some"),
            "--isolation some is invalid",
        ),
    ],
)
def test_wrong_usage_ends_in_three_lines(tmp_path: Path, task: str, arguments: tuple[str, ...], says: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) <= 3
    assert (tmp_path / "task.pddl").read_text() == TASK


@pytest.mark.parametrize("before", [0, 30, 300])
@pytest.mark.parametrize("after", [0, 30, 300])
def test_a_wide_source_line_is_cut_around_the_place(tmp_path: Path, before: int, after: int) -> None:
    wide = f"(define (domain d) (:predicates (p)) {' ' * before}(:action a :effect (q))){' ' * after}"
    (tmp_path / "d.pddl").write_text(wide)
    _, source, caret, *_ = run("check", "d.pddl", cwd=tmp_path, COLUMNS="80").stdout.splitlines()
    assert source[caret.index("^") :].startswith("q)")
    assert max(len(source), len(caret)) <= 80
    shown = source[2:].strip("…")
    assert shown in wide
    assert source.startswith("  …") is not wide.startswith(shown)
    assert source.endswith("…") is not wide.endswith(shown)


def test_a_search_prints_a_plan_that_checks(tmp_path: Path, task: str) -> None:
    done = run("solve", str(FERRY), task, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, PLAN)
    done = run("solve", str(FERRY), task, "-o", "a.plan", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert run("check", str(FERRY), task, "--plan", "a.plan", cwd=tmp_path).returncode == 0


def test_without_a_plan_the_reasons_are_printed(tmp_path: Path) -> None:
    (tmp_path / "t.pddl").write_text(TASK.replace("(empty-ferry)", ""))
    done = run("solve", str(FERRY), "t.pddl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert lines[0] == "No plan: unsolvable (no sequence of actions reaches the goal)."
    assert "warning: unreachable-goal: the goal (at c0 l1) can never be true" in done.stderr  # as check says
    assert "goal: (at c0 l1): cannot be reached" in lines
    assert "why: board could make (on c0) true, but its condition (empty-ferry) is never true" in lines


def test_many_parts_of_a_goal_have_one_line() -> None:
    parts = [GoalPart(f"(p x{number})", verdict) for number, verdict in enumerate((True, None, None, False))]
    result = replace(solve_result(PlanResult(PlanStatus.TIMEOUT, TRUE)), why=WhyNoPlan(tuple(parts), complete=False))
    lines = [line for line, _ in _reasons(result, timed=False)]
    assert lines == [
        "goal: (p x0): can be reached alone",
        "goal: (p x1) and 1 other part: not decided",
        "goal: (p x3): cannot be reached",
        "why: not known: a longer search (--timeout) may find more",
    ]
    many = WhyNoPlan(tuple(GoalPart(f"(p x{number})", True) for number in range(60)))
    assert [line for line, _ in _reasons(replace(result, why=many), timed=False)] == [
        "goal: (p x0) and 59 other parts: can be reached alone",
        "why: not known: the search for the reasons ended without one",
    ]


@pytest.mark.parametrize(("limit", "seconds", "is_announced"), [(30, 0.5, False), (30, 29.0, True), (0, 9.0, False)])
def test_ctrl_c_in_the_search_for_reasons_keeps_the_verdict(
    capsys: pytest.CaptureFixture[str], limit: float, seconds: float, is_announced: bool
) -> None:
    verdict = solve_result(PlanResult(PlanStatus.UNSOLVABLE, TRUE, message="no plan", seconds=seconds))

    def call(before_reasons: Callable[[SolveResult], None], **limits: float) -> SolveResult:
        assert limits == {"seconds": limit, "why_seconds": 5}
        before_reasons(verdict)
        raise KeyboardInterrupt

    def at_once(**_: object) -> SolveResult:
        raise KeyboardInterrupt

    assert _solved(call, limit) == verdict
    announced = "No plan so far. Looking for the reasons for up to 5 s (--timeout)."
    interrupted = "Interrupted: the search for reasons is incomplete."
    assert capsys.readouterr().err.splitlines() == [*([announced] if is_announced else []), interrupted]
    with pytest.raises(KeyboardInterrupt):
        _solved(at_once, limit)


def test_several_plans_are_printed(tmp_path: Path, task: str) -> None:
    done = run("solve", str(FERRY), task, "--plans", "3", cwd=tmp_path)
    plans = done.stdout.strip().split("\n\n")
    assert done.returncode == 0
    assert plans[0] == PLAN.strip()
    assert len(plans) == len({*plans}) == done.stderr.count("Plan ")
    for wrong in (("--planner", "graphplan"), ("-o", "a.plan"), ("-o", "a.html")):
        done = run("solve", str(FERRY), task, "--plans", "2", *wrong, cwd=tmp_path)
        assert (done.returncode, "Error: --plans " in done.stderr) == (2, True)


def test_the_result_of_solve_is_written_as_json(tmp_path: Path, task: str) -> None:
    done = run("solve", str(FERRY), task, "--format", "json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (found["status"], found["plan"], found["cost"]) == ("solved", PLAN.split("\n")[:-1], 3)
    (tmp_path / "t.pddl").write_text(TASK.replace("(empty-ferry)", ""))
    done = run("solve", str(FERRY), "t.pddl", "--format", "json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["status"], found["plan"]) == (1, "unsolvable", None)
    assert found["why"]["goals"] == [{"goal": "(at c0 l1)", "reachable": False}]
    assert next((row["rule"], row["path"]) for row in found["findings"]) == ("unreachable-goal", "t.pddl")


def test_a_plan_is_validated_and_simulated(tmp_path: Path, task: str) -> None:
    (tmp_path / "a.plan").write_text(PLAN)
    (tmp_path / "b.plan").write_text("(board c0 l0)\n(debark c0 l1)\n")
    files = (str(FERRY), task)
    done = run("validate", *files, "a.plan", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "a.plan: valid, cost 3\n")
    done = run("validate", *files, "b.plan", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "b.plan: not valid: unsatisfied-precondition")
    (tmp_path / "c.plan").write_text("(board c0 l0)\n(fly c0)\n")
    done = run("validate", *files, "c.plan", cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "  do:  Correct this step."
    done = run("simulate", *files, "a.plan", "-o", "a.html", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-5:] == [
        "3  (debark c0 l1)  cost 3",
        "   + (at c0 l1)",
        "   + (empty-ferry)",
        "   - (on c0)",
        "The goal is reached.",
    ]
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    (tmp_path / "wrong.plan").write_text("(no-action)")
    done = run("simulate", *files, "wrong.plan", cwd=tmp_path)
    assert "  do:  Correct this step." in done.stdout.splitlines()
    done = run("simulate", *files, "b.plan", cwd=tmp_path)
    assert done.returncode == 1
    assert "Not possible: step 2: (debark c0 l1) has an unsatisfied precondition" in done.stdout
    assert run("applicable", *files, cwd=tmp_path).stdout == "(sail l0 l1)\n(board c0 l0)\n"
    done = run("applicable", *files, "--plan", "a.plan", "--action", "board", cwd=tmp_path)
    assert done.stdout == "(board c0 l1)\n"


def test_a_domain_is_learned_from_transitions(tmp_path: Path) -> None:
    heads = "(:predicates (on)) (:action press :effect (and)) (:action wait :effect (and))"
    (tmp_path / "lamp.pddl").write_text(f"(define (domain lamp) {heads})")
    pressed = '{"objects": [], "state": [], "action": "(press)", "next": ["(on)"]}'
    (tmp_path / "lamp.jsonl").write_text(f'{pressed}\n{{"action": "(press)", "next": null}}\n')
    done = run("learn-domain", "lamp.pddl", "lamp.jsonl", "-o", "safe.pddl", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "press: 1 succeeded, 1 refused",
        "  sure: (not (on))",
        "wait: 0 succeeded, 0 refused; not learned: it never succeeded",
    ]
    safe = (tmp_path / "safe.pddl").read_text()
    assert "(:action press :parameters () :precondition (and (not (on))) :effect (and (on)))" in safe
    assert run("check", "safe.pddl", cwd=tmp_path).returncode == 0
    answer = json.loads(run("learn-domain", "lamp.pddl", "lamp.jsonl", "--format", "json", cwd=tmp_path).stdout)
    assert answer["domain"] == safe
    (tmp_path / "lamp.jsonl").write_text(pressed[:30])
    done = run("learn-domain", "lamp.pddl", "lamp.jsonl", cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 3)


def test_an_unknown_command_is_corrected(tmp_path: Path) -> None:
    done = run("slove", "a.pddl", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "Error: No such command 'slove'"
    assert "Did you mean 'solve'?" in done.stderr


@pytest.mark.method("programs")
@pytest.mark.slow
@needs_locks
def test_a_program_plans_and_one_that_fails_is_replaced_by_search(tmp_path: Path, task: str) -> None:
    done = run("solve", str(FERRY), task, "--planner", f"program:{PROGRAM}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, PLAN)
    assert "made a plan of 3 actions" in done.stderr
    for body, limit in (
        ("return ['(sail l1 l0)']", ()),
        ("raise ValueError('no')", ()),
        ("return None", ()),
        ("while True: pass", ("--timeout", "1")),
    ):
        (tmp_path / "p.py").write_text(f"def get_plan(objects, init, goal):\n    {body}\n")
        done = run("solve", str(FERRY), task, "--planner", "program:p.py", *limit, cwd=tmp_path)
        assert "fails" in done.stderr and "Searching with auto instead" in done.stderr
        assert limit or (done.returncode, done.stdout) == (0, PLAN)  # the search has the same limit


@pytest.mark.method("programs")
@needs_locks
def test_the_program_of_a_run_plans(tmp_path: Path, task: str) -> None:
    small = ("--set", "eval_timeout=5")
    assert run("play", "ferry", "--mode", "program", *small, cwd=tmp_path).returncode == 0
    (folder,) = (tmp_path / "runs").iterdir()
    done = run("solve", str(FERRY), task, "--planner", f"program:{folder}", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, PLAN)


@pytest.mark.method("graphplan")
def test_graphplan_solves_and_says_what_it_took(tmp_path: Path, task: str) -> None:
    done = run("solve", str(FERRY), task, "--planner", "graphplan", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == PLAN
    assert done.stderr.startswith("graphplan: 3 levels, ")
    advised = run(
        "solve",
        str(FERRY),
        task,
        "--planner",
        "graphplan",
        "--set",
        "prune=adversarial",
        "--set",
        "sort=random",
        cwd=tmp_path,
    )
    assert advised.stdout == PLAN
    assert " calls" in advised.stderr


@pytest.mark.method("graphplan")
@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (("--planner", "graphplan", "--set", "levels=2"), 1, "No plan: bound (no plan has at most 2 levels)."),
        (("--set", "prune=relaxed"), 2, "--set has no effect here"),
        (("--planner", "graphplan", "--set", "kappa=1,2"), 2, "kappa = 1,2 is invalid"),
        (("--planner", "graphplan", "--set", "kappa=nan"), 2, "kappa = nan is invalid"),
        (("--planner", "graphplan", "--search", "bfs"), 2, "--search has no effect here"),
        (("--planner", "graphplan", "--set", "prune=random:7"), 2, "random:P keeps every action"),
        (("--planner", "graphplan", "--set", "sort=gpt-4"), 2, "OPENAI_API_KEY is not set"),
    ],
)
def test_what_graphplan_cannot_do_is_said_in_three_lines(
    tmp_path: Path, task: str, options: tuple[str, ...], code: int, text: str
) -> None:
    done = run("solve", str(FERRY), task, *options, cwd=tmp_path)
    assert done.returncode == code
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_findings_as_json(tmp_path: Path, task: str) -> None:
    (tmp_path / "t.pddl").write_text(TASK.replace("(at c0 l1)", "(at c9 l1)"))
    done = run("check", str(FERRY), "t.pddl", "--format", "json", cwd=tmp_path)
    assert done.returncode == 1
    result = json.loads(done.stdout)
    (finding,) = result["findings"]
    assert (finding["file"], finding["line"], finding["column"]) == ("problem", 3, 19)
    assert finding["source"] == "  (:goal (and (at c9 l1))))"
    assert (finding["path"], finding["end_column"]) == ("t.pddl", 21)
    assert json.loads(run("check", str(FERRY), task, "--format", "json", cwd=tmp_path).stdout)["ok"]


@pytest.mark.method("graphplan")
def test_a_cheapest_plan_is_found_and_its_cost_checked(tmp_path: Path) -> None:
    from tests.planning.test_costs import DOMAIN, PROBLEM

    (tmp_path / "d.pddl").write_text(DOMAIN)
    (tmp_path / "p.pddl").write_text(PROBLEM.format(short="0.5", long="9"))
    done = run("solve", "d.pddl", "p.pddl", "--search", "astar(lmcut)", "-o", "a.plan", cwd=tmp_path)
    assert done.stderr.startswith("Plan of 2 actions, cost 1, found by ")
    done = run("check", "d.pddl", "p.pddl", "--plan", "a.plan", cwd=tmp_path)
    assert "a.plan: a plan of 2 steps and cost 1 that reaches the goal" in done.stdout
    done = run("solve", "d.pddl", "p.pddl", "--planner", "graphplan", cwd=tmp_path)
    assert done.stdout == "(drive a c)\n"
    assert "graphplan ignores action costs" in done.stderr
    advice = "The cost is not proved to be minimal. To look for a better one: --search 'astar(lmcut)'"
    assert f"{advice} --planner auto." in done.stderr
    done = run("solve", "d.pddl", "p.pddl", cwd=tmp_path)
    assert f"{advice}." in done.stderr


def test_a_domain_and_a_problem_are_repaired_together(tmp_path: Path) -> None:
    domain = "Here it is:\n```pddl\n" + FERRY.read_text().replace("(not-eq ?x ?y)", "(not-eq ?x?y)")[:-3] + "\n```"
    (tmp_path / "d.pddl").write_text(domain)
    (tmp_path / "p.pddl").write_text(TASK[:-1])
    done = run("repair", "d.pddl", "p.pddl", "--write", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "lexical: Markdown fences found around the file" in done.stderr
    assert run("check", "d.pddl", "p.pddl", cwd=tmp_path).returncode == 0
    again = run("repair", "d.pddl", "p.pddl", "--diff", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, "")
    assert run("solve", "d.pddl", "p.pddl", cwd=tmp_path).stdout == PLAN


def test_only_what_is_repaired_is_written(tmp_path: Path) -> None:
    given = TASK.replace("\n", " ; as it was\r\n").rstrip().encode()
    (tmp_path / "p.pddl").write_bytes(given)
    done = run("repair", "p.pddl", "--domain", str(FERRY), "--write", cwd=tmp_path)
    assert "p.pddl: unchanged, no errors" in done.stderr
    assert (tmp_path / "p.pddl").read_bytes() == given
    (tmp_path / "p.pddl").write_bytes(given.replace(b"(:init", b"(init"))
    done = run("repair", "p.pddl", "--domain", str(FERRY), "--write", cwd=tmp_path)
    assert "p.pddl: changed, no errors" in done.stderr
    assert (tmp_path / "p.pddl").read_bytes() == given


def test_an_answer_with_reasoning_is_repaired(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text(f"<think>{TASK.replace('c0', 'c7')}</think>{TASK}")
    done = run("repair", "p.txt", "--domain", str(FERRY), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, TASK if TASK.endswith("\n") else f"{TASK}\n")
    (tmp_path / "p.txt").write_text("I cannot do that")
    done = run("repair", "p.txt", "--domain", str(FERRY), cwd=tmp_path)
    assert done.returncode == 1
    assert "no (define (problem …) …) was found" in done.stderr


def test_what_cannot_be_repaired_is_reported(tmp_path: Path, task: str) -> None:
    (tmp_path / "p.pddl").write_text(TASK.replace("(at c0 l1)", "(at c9 l1)"))
    done = run("repair", "p.pddl", "--domain", str(FERRY), cwd=tmp_path)
    assert done.returncode == 1
    assert "object c9 is not declared" in done.stderr
    assert "p.pddl: unchanged, errors are left" in done.stderr
    done = run("repair", "p.pddl", task, str(FERRY), cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 3)


def test_all_differences_are_counted(tmp_path: Path) -> None:
    action = "(:action a :parameters (?x) :precondition (>= (n ?x) 1) :effect (q)))"
    domain = f"(define (domain d) (:predicates (p ?x) (q)) (:functions (n ?x)) {action}"
    objects = " ".join(f"o{number}" for number in range(20))
    facts = "".join(f"(p o{number}) (= (n o{number}) 1)" for number in range(20))
    for name, init in (("one", f"(q) {facts}"), ("two", "")):
        text = f"(define (problem x) (:domain d) (:objects {objects}) (:init {init}) (:goal (q)))"
        (tmp_path / f"{name}.pddl").write_text(text)
    (tmp_path / "domain.pddl").write_text(domain)
    lines = run("compare", "domain.pddl", "one.pddl", "two.pddl", cwd=tmp_path).stdout.splitlines()
    assert lines[1:3] == ["  only in one.pddl: (p o0)", "  only in one.pddl: (p o1)"]
    assert lines[-1] == "  only in one.pddl: 31 more (all: --format json)"
    only = json.loads(run("compare", "domain.pddl", "one.pddl", "two.pddl", "--format", "json", cwd=tmp_path).stdout)
    assert len(only["only_left"]) == 41 and only["only_left"][20:22] == ["(q)", "(= (n o0) 1)"]
    (tmp_path / "other.pddl").write_text(domain.replace("(q)))", "(not (q))))"))
    unlike = run("compare", "domain.pddl", "other.pddl", "--format", "json", cwd=tmp_path)
    (witness,) = json.loads(unlike.stdout)["witnesses"]
    assert (unlike.returncode, witness["action"], witness["right"]) == (1, "(a x)", [])


def test_problems_and_domains_are_compared(tmp_path: Path, task: str) -> None:
    (tmp_path / "b.pddl").write_text(TASK.replace("c0", "car9").replace("(at car9 l1)", "(at car9 l1) (location l0)"))
    done = run("compare", str(FERRY), task, "b.pddl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "same: equal up to the names of objects\n")
    (tmp_path / "b.pddl").write_text(TASK.replace(" (empty-ferry)", ""))
    done = run("compare", str(FERRY), task, "b.pddl", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == ["different: the initial states differ", "  only in task.pddl: (empty-ferry)"]
    (tmp_path / "d.pddl").write_text(FERRY.read_text().replace("sail", "cross"))
    done = run("compare", str(FERRY), "d.pddl", "--format", "json", cwd=tmp_path)
    assert json.loads(done.stdout)["verdict"] == "same"


@pytest.fixture
def towers(tmp_path: Path) -> str:
    (tmp_path / "towers.pddl").write_text(str(GENERATORS["blocks"](random.Random(3), blocks=12)))
    return "towers.pddl"


@pytest.mark.method("programs")
@needs_locks
def test_a_heuristic_guides_the_search(tmp_path: Path, towers: str) -> None:
    done = run("solve", str(BLOCKS), towers, "--heuristic", str(HEURISTIC), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "led to a plan of 30 actions" in done.stderr and "after 30 expanded states" in done.stderr
    assert done.stdout.count("(") == 30
    tiny = ("--set", "candidates=3", "--set", "eval_timeout=1")
    assert run("play", "spanner", "--mode", "heuristic", *tiny, cwd=tmp_path).returncode in (0, 1)
    (folder,) = (tmp_path / "runs").iterdir()
    (tmp_path / "spanner.pddl").write_text(
        str(GENERATORS["spanner"](random.Random(3), locations=4, nuts=2, extra_spanners=1))
    )
    done = run("solve", str(BLOCKS.with_name("spanner.pddl")), "spanner.pddl", "--heuristic", str(folder), cwd=tmp_path)
    assert "led to a plan" in done.stderr, done.stderr


@pytest.mark.method("programs")
@needs_locks
def test_a_heuristic_that_fails_is_replaced_by_a_search(tmp_path: Path, towers: str) -> None:
    (tmp_path / "h.py").write_text("class H:\n    def __call__(self, node):\n        return None\n")
    done = run("solve", str(BLOCKS), towers, "--heuristic", "h.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The heuristic of h.py fails (exception in __init__: TypeError" in done.stderr
    assert "Searching with auto instead" in done.stderr


@pytest.mark.method("programs")
@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("--search", "bfs"), "--heuristic and --search exclude each other"),
        (("--planner", "graphplan"), "--heuristic and --planner graphplan exclude each other"),
        (("--planner", "program:p.py"), "--heuristic and --planner program:p.py exclude each other"),
    ],
)
def test_a_heuristic_excludes_other_searches(tmp_path: Path, towers: str, more: tuple[str, ...], reason: str) -> None:
    done = run("solve", str(BLOCKS), towers, "--heuristic", str(HEURISTIC), *more, cwd=tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr and len(done.stderr.strip().splitlines()) == 3
    missing = run("solve", str(BLOCKS), towers, "--heuristic", "none.py", cwd=tmp_path)
    assert missing.returncode == 2 and "holds no program" in missing.stderr


KILN = """(define (domain kiln) (:requirements :durative-actions) (:predicates (done))
  (:durative-action bake :parameters () :duration (= ?duration 5) :condition () :effect (at end (done))))"""


@pytest.mark.kairos
def test_a_timed_plan_is_printed_and_written_as_a_chart(tmp_path: Path) -> None:
    (tmp_path / "kiln.pddl").write_text(KILN)
    (tmp_path / "bread.pddl").write_text("(define (problem bread) (:domain kiln) (:init) (:goal (done)))")
    done = run("solve", "kiln.pddl", "bread.pddl", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "0: (bake) [5]\n"), done.stderr
    written = run("solve", "kiln.pddl", "bread.pddl", "-o", "plan.svg", cwd=tmp_path)
    assert (written.returncode, written.stdout) == (0, "")
    chart = (tmp_path / "plan.svg").read_text(encoding="utf-8")
    assert chart.startswith("<svg") and "(bake)" in chart and "bread: a plan" in chart


def test_a_plan_without_times_is_drawn_step_by_step(tmp_path: Path, towers: str) -> None:
    done = run("solve", str(BLOCKS), towers, "-o", "plan.SVG", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    chart = (tmp_path / "plan.SVG").read_text(encoding="utf-8")
    assert chart.startswith("<svg") and chart.count("<rect") > 1


def test_a_valid_file_with_time_is_not_called_invalid_where_time_is_not_possible(tmp_path: Path) -> None:
    (tmp_path / "kiln.pddl").write_text(KILN)
    (tmp_path / "bread.pddl").write_text("(define (problem bread) (:domain kiln) (:init) (:goal (done)))")
    (tmp_path / "bread.plan").write_text("0: (bake) [5]")
    for command in (("compare", "bread.pddl"), ("simulate", "bread.plan"), ("applicable", "--plan", "bread.plan")):
        done = run(command[0], "kiln.pddl", "bread.pddl", *command[1:], cwd=tmp_path)
        assert done.returncode == 2
        assert "kiln.pddl has time or constraints, which are not possible here" in done.stderr
    (tmp_path / "kiln.pddl").write_text(KILN.replace("(= ?duration 5)", "(< ?duration 5)"))
    checked = run("check", "kiln.pddl", "bread.pddl", cwd=tmp_path)
    assert checked.returncode == 1
    assert ": error: syntax\n" in checked.stdout
    done = run("compare", "kiln.pddl", "bread.pddl", "bread.pddl", cwd=tmp_path)
    assert "(< ?duration 5)" in done.stderr and "not supported here" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "typed", "output"),
    [
        (("check", str(FERRY), "-"), TASK, "-: a problem of 3 objects, 8 facts: no defects"),
        (("solve", str(FERRY), "-"), TASK, PLAN.strip()),
        (("validate", str(FERRY), "task.pddl", "-"), PLAN, "-: valid, cost 3"),
        (("compare", str(FERRY), "-", "task.pddl"), TASK, "same: equal up to the names of objects"),
        (("repair", "-"), f"Here it is:\n{TASK[:-1]}", TASK),
    ],
)
def test_a_dash_is_standard_input(
    tmp_path: Path, task: str, arguments: tuple[str, ...], typed: str, output: str
) -> None:
    done = run_process(*arguments, cwd=tmp_path, typed=typed)
    assert (done.returncode, done.stdout.strip()[-len(output) :]) == (0, output), done.stderr


def test_a_line_for_editors_holds_place_severity_text_and_rule(tmp_path: Path) -> None:
    (tmp_path / "t.pddl").write_text(TASK.replace("(empty-ferry)", "(emty-ferry)"))
    done = run("check", str(FERRY), "t.pddl", "--format", "gcc", cwd=tmp_path)
    first = done.stdout.splitlines()[0]
    assert done.returncode == 1
    assert first.startswith("t.pddl:2:") and ": error: predicate emty-ferry is not declared" in first
    assert first.endswith(" (emty-ferry). Did you mean empty-ferry? [undeclared-predicate]")


def test_a_missing_extra_is_named_in_three_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygls", None)
    done = run("lsp", cwd=tmp_path)
    assert done.returncode == 2 and "pip install '.[lsp]'" in done.stderr
    assert len(done.stderr.splitlines()) == 3


def test_a_format_that_does_not_exist_is_said_with_those_that_do(tmp_path: Path) -> None:
    done = run("check", str(FERRY), "--format", "xml", cwd=tmp_path)
    assert done.returncode == 2
    assert "Invalid value for '--format': 'xml' is not one of 'text', 'json', 'gcc'." in done.stderr
    assert "text, json, or gcc" in run("check", "--help", cwd=tmp_path).stdout


def test_compare_names_the_command_that_compares_runs(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "runs" / name / "episodes").mkdir(parents=True)
    for names in (("one", "two"), ("runs/one", "runs/two"), ("two", str(FERRY))):
        done = run("compare", *names, cwd=tmp_path)
        assert done.returncode == 2 and f"{names[0]} is a run" in done.stderr
        assert f"Compare runs with 'pddlego report {names[0]} {names[1]}'." in " ".join(done.stderr.split())
    (tmp_path / "one").write_text("(define (domain d))")
    assert "is a run" not in run("compare", "one", "one", cwd=tmp_path).stderr
