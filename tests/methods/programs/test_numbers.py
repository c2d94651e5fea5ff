"""Programs for numeric tasks: what they get, and what a model hears of their plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from pddlego.episode.events import Asked, Event, Outcome, Rejected
from pddlego.errors import UsageError
from pddlego.methods.programs import METHOD
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.programs.setting import ProgramSetting, load
from pddlego.methods.programs.trial import arguments_of
from pddlego.pddl import parse_domain, parse_problem
from pddlego.runs.cells import Cell
from pddlego.tasks import Task
from tests import fuel
from tests.cli.command import run
from tests.methods.programs.playing import ending, events_of
from tests.sandbox.ordinary import needs_locks

pytestmark = needs_locks


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramSetting:
    name = fuel.setting(tmp_path)
    monkeypatch.chdir(tmp_path)
    return load(name, ProgramOptions())


def last_requests(events: list[Event]) -> list[str]:
    return [event.messages[-1].content for event in events if isinstance(event, Asked)]


def fenced(program: str) -> str:
    return f"```python\n{program}```"


def test_a_program_plans_with_numbers_and_feedback_has_values(setting: ProgramSetting) -> None:
    wrong = f"def get_plan(objects, init, goal, numbers):\n    return {[fuel.PLAN[0], fuel.PLAN[2]]}\n"
    events = events_of(setting, ("summary", "strategy", fenced(wrong), fenced(fuel.PROGRAM)))
    assert ending(events).outcome is Outcome.WON
    summarize, _, implement, debug = last_requests(events)
    assert "    (= (fuel t1) 8)\n" in summarize
    assert "(>= (fuel t1) 5.5)" in summarize
    assert "def get_plan(objects, init, goal, numbers):" in implement
    assert "Its keys are tuples of the function and its arguments, such as ('fuel', 't')" in implement
    assert "(Make (>= (fuel t1) (distance p2 p3)) true: (fuel t1) is 3, (distance p2 p3) is 4.5)" in debug
    assert [event.feedback.category for event in events if isinstance(event, Rejected)] == ["plan semantics"]


def test_a_goal_on_numbers_that_is_missed_is_reported_with_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = fuel.setting(tmp_path, problem=fuel.PROBLEM.replace("(= (fuel t1) 8)", "(= (fuel t1) 9.5)"))
    monkeypatch.chdir(tmp_path)
    early = fuel.PROGRAM.replace("(least if roads[place] == target else 0)", "0")
    assert early != fuel.PROGRAM
    events = events_of(load(name, ProgramOptions()), ("summary", "strategy", fenced(early), fenced(fuel.PROGRAM)))
    assert "(Make (>= (fuel t1) 5.5) true: (fuel t1) is 0)" in last_requests(events)[-1]
    assert ending(events).outcome is Outcome.WON


def test_names_of_functions_are_hidden_too(setting: ProgramSetting) -> None:
    events = events_of(setting, ("summary", "strategy", "no program"), "program-no-names-no-debug")
    text = "\n".join(last_requests(events))
    assert "(= (function0 object3) 8)" in text
    assert "('function0', 'v0')" in text
    assert "fuel" not in text.replace(":numeric-fluents", "")
    with pytest.raises(UsageError, match="The built-in reader cannot play trucks"):
        METHOD.builtin_model("reader", Cell("trucks", "program-no-names", "reader", 0), setting)


def test_numbers_are_int_or_float_and_goals_hold_them() -> None:
    domain = parse_domain("""(define (domain d) (:functions (x) (y ?o)) (:action a :parameters ()
      :precondition (and) :effect (increase (x) 0.5)))""")
    huge = "1" + "0" * 30
    problem = parse_problem(f"""(define (problem q) (:domain d) (:objects o)
      (:init (= (x) -0.25) (= (y o) {huge})) (:goal (and (>= (+ (x) (y o)) 3) (= (x) 2.0))))""")
    objects, init, goal, numbers = arguments_of(domain, Task("q", problem), numeric=True)
    assert numbers == {("x",): -0.25, ("y", "o"): 1e30}
    assert goal == {(">=", ("+", ("x",), ("y", "o")), 3), ("=", ("x",), 2)}
    assert (objects, init) == ({"o"}, set())


def test_a_domain_without_predicates_has_a_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    domain = """(define (domain count) (:requirements :numeric-fluents) (:functions (x))
      (:action up :parameters () :effect (increase (x) 1)))"""
    problem = "(define (problem three) (:domain count) (:init (= (x) 0)) (:goal (= (x) 3)))"
    name = fuel.setting(tmp_path, domain, problem)
    monkeypatch.chdir(tmp_path)
    program = 'def get_plan(objects, init, goal, numbers):\n    return ["(up)"] * (3 - numbers[("x",)])\n'
    events = events_of(load(name, ProgramOptions()), (fenced(program),), "program-no-cot")
    assert ending(events).outcome is Outcome.WON
    assert "arguments.\n" in last_requests(events)[0]


def test_solve_plans_with_a_program_of_numbers(tmp_path: Path) -> None:
    for name, text in (("domain.pddl", fuel.DOMAIN), ("tour.pddl", fuel.PROBLEM), ("trucks.py", fuel.PROGRAM)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run("solve", "domain.pddl", "tour.pddl", "--planner", "program:trucks.py", cwd=tmp_path)
    assert done.stdout.splitlines() == list(fuel.PLAN), done.stderr
    assert "The program of trucks.py made a plan of 3 actions" in done.stderr


@pytest.mark.parametrize("other", [("--planner", "graphplan", "--set", "prune=gpt-4"), ("--heuristic", "trucks.py")])
def test_solve_with_graphplan_or_a_heuristic_refuses_numbers(other: tuple[str, ...], tmp_path: Path) -> None:
    for name, text in (("domain.pddl", fuel.DOMAIN), ("tour.pddl", fuel.PROBLEM), ("trucks.py", fuel.PROGRAM)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run("solve", "domain.pddl", "tour.pddl", *other, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    what, why, do = done.stderr.splitlines()
    assert what == "Error: domain.pddl has numbers, time or constraints, which are not possible here"
    assert "(>= (fuel ?t) (distance ?a ?b))" in why
    assert "solve (planner auto)" in do


def test_the_reader_plays_with_the_users_own_program(setting: ProgramSetting, tmp_path: Path) -> None:
    place = tmp_path / "domains" / "programs" / "fuel.py"
    place.parent.mkdir(parents=True)
    place.write_text(fuel.PROGRAM, encoding="utf-8")
    model = METHOD.builtin_model("reader", Cell("trucks", "program", "reader", 0), setting)
    assert model is not None
    assert ending(events_of(setting, model)).outcome is Outcome.WON
