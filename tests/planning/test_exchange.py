"""unified-planning's objects and back: the same ground task, for every domain of ours and a hundred problems."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from pddlego import tools
from pddlego.episode.events import Accepted
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.methods.registry import make_codec
from pddlego.methods.setting_files import setting_names
from pddlego.methods.textgames.loading import load
from pddlego.methods.textgames.options import TEXT_GAME
from pddlego.pddl import Domain, Problem, parse_domain, parse_problem
from pddlego.pddl.conditions import conjuncts, parse_condition
from pddlego.planning.ground import GroundTask, ground
from pddlego.planning.unified import ExchangeError, from_unified, to_unified
from pddlego.planning.world import transitions
from pddlego.runs.folders import find_journals, newest_run
from pddlego.runs.journal import read_journal
from tests.cli.command import run
from tests.methods.textgames.houses import COIN, WORKSHOP, random_problem, random_workshop
from tests.planning.test_costs import ROADS, trip
from tests.shared import SHARED, SMALL_SUITES, suite
from tests.test_domains import kitchen

pytestmark = [pytest.mark.slow, pytest.mark.oracle]

GENERATED = (
    *("delivery", "forest", "gripper", "miconic", "ferry", "spanner", "heavy", "collector", "logistics", "movie"),
    *("blocks", "satellite", "zenotravel", "driverlog", "woodworking", "openstacks"),
)
GAMES = (
    *("coin", "cooking-hard", "mapreader", "twc", "paper-coin", "paper-cooking-hard"),
    *("science-thermometer", "textworld-coin", "textworld-cooking-medium", "household"),
)
"""One game of each domain: the others have the same domain and the same goals."""

LEVELS = SHARED / "cases" / "levels"
REFUSED = {"n07-division-by-zero", "n09-assign-and-increase", "t16-continuous"}
"""Tasks that are not valid PDDL, or that are planned for neither here nor there."""

LEVEL_TASKS = sorted({file.parent.name for file in LEVELS.glob("[nt]*/expect.json")} - REFUSED) or ["no task"]
PARTS: tuple[tuple[str, Callable[[str], Any]], ...] = (("domain", parse_domain), ("problem", parse_problem))

STATES = 30
"""States of a task with derived predicates that are compared."""


def there_and_back(domain: Domain, problem: Problem) -> None:
    """The same facts, goals and operators; only their order may differ, which breaks ties.

    Derived predicates are written out on the way, which makes other operators of the same meaning: then it is the same
    states, steps and goals.
    """
    again = from_unified(to_unified(domain, problem))
    if domain.derived:
        assert transitions(*again, most=STATES) == transitions(domain, problem, most=STATES)
    else:
        assert as_sets(ground(*again)) == as_sets(ground(domain, problem))


def as_sets(task: GroundTask | None) -> object:
    return None if task is None else (task.facts, task.initial, task.goals, frozenset(task.operators))


@pytest.mark.parametrize("name", GENERATED)
def test_generated_problems_come_back_as_the_same_task(name: str) -> None:
    setting = PlanningSetting(**load_planning(name))
    tasks = setting.small_tasks(3, "exchange")[:2]
    for task in tasks:
        assert ground(setting.domain, task.problem) is not None
        there_and_back(setting.domain, task.problem)
    assert len(tasks) == 2


@pytest.mark.parametrize("part", range(4))
def test_random_problems_of_games_come_back_as_the_same_task(part: int) -> None:
    for number in range(part * 5, part * 5 + 5):
        domain, problem = (WORKSHOP, random_workshop(number)) if number % 3 == 0 else (COIN, random_problem(number))
        there_and_back(domain, problem)


def test_every_domain_of_a_game_is_among_those_that_are_played() -> None:
    names = [name for name in setting_names(TEXT_GAME) if not name.startswith("_")]
    assert {load(name).start.domain.text for name in names} == {load(name).start.domain.text for name in GAMES}


@pytest.mark.parametrize("name", GAMES)
def test_problems_that_were_played_come_back_as_the_same_task(name: str, tmp_path: Path) -> None:
    """Every goal of the ladder on the last problem of an episode; derived predicates are written out."""
    done = run("play", name, "--max-steps", "8", "--pace", "0", cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    (journal,) = find_journals(newest_run(tmp_path / "runs"))
    texts = [event.text for event in read_journal(journal, make_codec()).events if isinstance(event, Accepted)]
    setting = load(name)
    problem = parse_problem(texts[-1]) if texts else setting.start.problem
    for rung in setting.start.ladder:
        there_and_back(setting.start.domain, problem.with_goal(rung.goal))


def test_a_recipe_comes_back_as_the_same_task() -> None:
    domain = load("cooking-hard").start.domain
    facts = ("recipe_known", "ingredient carrot", "wanted carrot sliced", "have carrot", "have knife")
    there_and_back(domain, kitchen(*facts).with_goal(parse_condition("(eaten meal)")))


TWO_PARENTS = """(define (domain yard) (:types area crate hoist - object depot - area store - area depot - store)
  (:predicates (at ?h - hoist ?a - area)) (:action go :parameters (?h - hoist ?a - area) :effect (at ?h ?a)))
(define (problem p) (:domain yard) (:objects d - depot h - hoist) (:init) (:goal (at h d)))"""


def test_a_type_with_two_parents_is_refused_by_name() -> None:
    start = TWO_PARENTS.index("(define (problem")
    with pytest.raises(ExchangeError, match="cannot hold the problem") as refused:
        to_unified(parse_domain(TWO_PARENTS[:start]), parse_problem(TWO_PARENTS[start:]))
    assert "types with one parent" in refused.value.next_step


@pytest.mark.shared("competition")
@pytest.mark.parametrize("name", SMALL_SUITES)
def test_domains_of_the_competitions_come_back(name: str) -> None:
    domain, problem = suite(name)
    if "(either " in domain.text:  # a predicate in place of a type: not the same text, but the same plans
        there = to_unified(domain, problem)
        assert {action.name for action in there.actions} == set(domain.actions_by_name)
    else:
        there_and_back(domain, problem)


def test_what_is_begun_there_goes_on_here() -> None:
    """A problem built with its own classes, which nobody wrote as PDDL."""
    from unified_planning.shortcuts import BoolType, Fluent, InstantaneousAction, Not, UserType
    from unified_planning.shortcuts import Problem as Unified

    room = UserType("Room")
    at, lit = Fluent("robot-at", BoolType(), r=room), Fluent("Lit", BoolType(), r=room)
    walk = InstantaneousAction("walk", a=room, b=room)
    walk.add_precondition(at(walk.a))
    walk.add_effect(at(walk.a), False)
    walk.add_effect(at(walk.b), True)
    light = InstantaneousAction("switch on", r=room)
    light.add_precondition(at(light.r))
    light.add_precondition(Not(lit(light.r)))
    light.add_effect(lit(light.r), True)
    made = Unified("lights")
    made.add_fluent(at, default_initial_value=False)
    made.add_fluent(lit, default_initial_value=False)
    made.add_actions([walk, light])
    hall, attic = (made.add_object(name, room) for name in ("hall", "attic"))
    made.set_initial_value(at(hall), True)
    made.add_goal(lit(attic))
    domain, problem = from_unified(made)
    task = ground(domain, problem)
    assert task is not None
    assert {"(robot-at hall)"} <= task.initial
    assert task.goals == {"(lit attic)"}
    assert {operator.action.split()[0].strip("()") for operator in task.operators} == {"walk", "switch_on"}


def counting(most: int) -> Any:
    """A number from 0 to `most`, which an action of unified-planning increases by 2 until it is 3 or more."""
    from unified_planning.shortcuts import GE, Fluent, InstantaneousAction, IntType
    from unified_planning.shortcuts import Problem as Unified

    made = Unified("counting")
    count = made.add_fluent(Fluent("count", IntType(0, most)), default_initial_value=0)
    more = InstantaneousAction("more")
    more.add_increase_effect(count, 2)
    made.add_action(more)
    made.add_goal(GE(count(), 3))
    return made


@pytest.mark.parametrize(("most", "valid"), [(9, True), (3, False)])
def test_a_bounded_number_keeps_its_bounds(most: int, valid: bool) -> None:
    domain, problem = from_unified(counting(most))
    assert problem.name == "counting-problem"
    assert tools.validate(domain, problem, "(more) (more)").valid is valid


def test_time_of_unified_planning_is_kept() -> None:
    from unified_planning.shortcuts import (
        GE,
        ClosedTimeInterval,
        DurativeAction,
        EndTiming,
        GlobalStartTiming,
        IntType,
        MinimizeMakespan,
        StartTiming,
    )
    from unified_planning.shortcuts import Problem as Unified

    made = Unified("charging")
    power = made.add_fluent("power", default_initial_value=False)
    level = made.add_fluent("level", IntType(), default_initial_value=0)
    charge = DurativeAction("charge")
    charge.set_closed_duration_interval(1, Fraction(5, 2))
    charge.add_condition(ClosedTimeInterval(StartTiming(), EndTiming()), power)
    charge.add_increase_effect(EndTiming(), level, 1)
    charge.add_effect(StartTiming(), level, 3, GE(level, 1))
    made.add_action(charge)
    made.add_timed_effect(GlobalStartTiming(5), power, True)
    made.add_timed_effect(GlobalStartTiming(9), level, 7)
    made.add_goal(GE(level, 2))
    made.add_quality_metric(MinimizeMakespan())
    domain, problem = from_unified(made)
    (action,) = domain.durative
    assert str(action.duration) == "(and (>= ?duration 1) (<= ?duration 2.5))"
    assert set(map(str, conjuncts(action.precondition))) == {
        "(at start (power))",
        "(over all (power))",
        "(at end (power))",
    }
    assert set(map(str, conjuncts(action.effect))) == {
        "(at end (increase (level) 1))",
        "(when (at start (<= 1 (level))) (at start (assign (level) 3)))",
    }
    assert set(map(str, problem.later)) == {"(at 5 (power))", "(at 9 (= (level) 7))"}
    assert str(problem.metric) == "(:metric minimize (total-time))"
    assert tools.validate(domain, problem, "5.001: (charge) [1]\n6.002: (charge) [2.5]").valid
    assert not tools.validate(domain, problem, "4: (charge) [1]\n6.002: (charge) [2.5]").valid


def test_fractions_are_exact() -> None:
    from unified_planning.shortcuts import Equals, InstantaneousAction, RealType
    from unified_planning.shortcuts import Problem as Unified

    made = Unified("thirds")
    small = Fraction(1, 10**12)
    part = made.add_fluent("part", RealType(), default_initial_value=small)
    add = InstantaneousAction("add")
    add.add_increase_effect(part, Fraction(1, 3))
    made.add_action(add)
    made.add_goal(Equals(part, small + 1))
    assert tools.validate(*from_unified(made), "(add) (add) (add)").valid
    made.set_initial_value(part, Fraction(1, 3))
    with pytest.raises(ExchangeError, match="cannot be planned with here") as refused:
        from_unified(made)
    assert refused.value.next_step == "Write the problem without it."


def test_an_action_without_a_cost_costs_nothing() -> None:
    from unified_planning.shortcuts import InstantaneousAction, Int, MinimizeActionCosts
    from unified_planning.shortcuts import Problem as Unified

    made = Unified("priced")
    done = [made.add_fluent(name, default_initial_value=False) for name in ("cheap", "dear")]
    actions = [InstantaneousAction(f"do-{fluent.name}") for fluent in done]
    for action, fluent in zip(actions, done, strict=True):
        action.add_effect(fluent, True)
        made.add_goal(fluent)
    made.add_actions(actions)
    made.add_quality_metric(MinimizeActionCosts({actions[1]: Int(3)}))
    assert tools.validate(*from_unified(made), "(do-cheap) (do-dear)").cost == 3


def test_features_that_the_writer_leaves_out_are_refused() -> None:
    from unified_planning.model.contingent_problem import ContingentProblem
    from unified_planning.shortcuts import TRUE, InstantaneousAction, SimulatedEffect
    from unified_planning.shortcuts import Problem as Unified

    for made, feature in (
        (ContingentProblem("unseen"), "ContingentProblem"),
        (Unified("computed"), "simulated effects"),
    ):
        lit = made.add_fluent("lit", default_initial_value=False)
        light = InstantaneousAction("light")
        light.set_simulated_effect(SimulatedEffect([lit()], lambda *_: [TRUE()]))
        made.add_action(light)
        made.add_goal(lit)
        with pytest.raises(ExchangeError, match="PDDL cannot hold the problem") as refused:
            from_unified(made)
        assert feature in refused.value.reason


@pytest.mark.shared("cases/levels")
@pytest.mark.parametrize("name", LEVEL_TASKS)
def test_tasks_with_numbers_and_time_mean_the_same_afterwards(name: str) -> None:
    """The same states, and the same verdict and cost for each plan, good and bad."""
    folder = LEVELS / name
    domain, problem = (parse((folder / f"{part}.pddl").read_text(encoding="utf-8")) for part, parse in PARTS)
    again = from_unified(to_unified(domain, problem))
    if not domain.durative and not problem.later:
        assert transitions(*again, most=STATES) == transitions(domain, problem, most=STATES)
    for plan in sorted(folder.glob("*.plan")):
        there, here = tools.validate(*again, plan), tools.validate(domain, problem, plan)
        assert (there.valid, there.cost) == (here.valid, here.cost), plan.name


def test_costs_go_there_and_back() -> None:
    domain, problem = from_unified(to_unified(ROADS, trip()))
    task, original = ground(domain, problem), ground(ROADS, trip())
    assert task is not None
    assert original is not None
    assert {operator.action: operator.cost for operator in task.operators} == {
        operator.action: operator.cost for operator in original.operators
    }


def test_a_recursive_predicate_is_refused_by_name() -> None:
    domain = parse_domain("""(define (domain d) (:requirements :derived-predicates :existential-preconditions)
      (:predicates (near ?a ?b) (far ?a ?b)) (:derived (far ?a ?b) (exists (?c) (and (near ?a ?c) (far ?c ?b))))
      (:action go :parameters (?a) :effect (near ?a ?a)))""")
    problem = parse_problem("(define (problem p) (:domain d) (:objects a) (:init) (:goal (near a a)))")
    with pytest.raises(ExchangeError, match="cannot hold the problem") as refused:
        to_unified(domain, problem)
    assert "far is recursive" in refused.value.reason
