"""Graphplan finds shortest parallel plans, proves that there is none, and stays complete whoever advises it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest

from pddlego.methods.graphplan.advisers import Choose, adviser_rule
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning.graphplan.graph import PlanningGraph
from pddlego.planning.graphplan.search import Extraction, graph_task
from pddlego.planning.graphplan.values import (
    AdviceQuestion,
    GraphSearch,
    GraphTask,
    LevelAdded,
    Passed,
    Searched,
    bits,
    compile_task,
)
from pddlego.planning.ground import GOAL_STEP, GroundTask, ground
from pddlego.tasks.generators import generate
from tests.planning.graphplan.planning import SIZES, driven, least_levels, random_task, works
from tests.scale import scaled

ADVISERS = ("keep-all", "oracle", "random", "random:0.1", "adversarial", "relaxed", "reader+noise:0.3")


def setting(name: str) -> PlanningSetting:
    return PlanningSetting(**load_planning(name))


def small(name: str, seed: int) -> GroundTask:
    """A small task of a domain as the agent plans with."""
    task = ground(setting(name).domain, generate(name, SIZES[name], f"graphplan/{seed}"))
    assert task is not None
    return task


def levels_of(task: GroundTask) -> int | None:
    """The levels of a plan; the artificial last step is one in the task, and none in the plan."""
    planned, _ = driven(compile_task(task), GraphSearch())
    if planned.steps is None:
        assert planned.ending == "no plan"
        return None
    return len(planned.steps) + any(operator.action == GOAL_STEP for operator in task.operators)


@pytest.mark.parametrize("name", SIZES)
def test_plans_are_as_short_as_any_parallel_plan(name: str) -> None:
    for seed in range(scaled(8, in_ci=16)):
        task = small(name, seed)
        least = least_levels(task)
        assert least is not None  # every task that is generated can be solved
        assert levels_of(task) == least


def test_random_tasks_are_solved_in_as_few_levels_as_can_be_or_proved_unsolvable() -> None:
    solved = unsolvable = 0
    for seed in range(scaled(300, in_ci=600)):
        task = random_task(seed)
        least = least_levels(task)
        for memo in (True, False) if least is not None else (True,):
            planned, _ = driven(compile_task(task), GraphSearch(memo=memo))
            assert (None if planned.steps is None else len(planned.steps)) == least
            if planned.steps is None:
                assert planned.ending == "no plan"
            else:
                assert works(task, planned.steps)
        solved, unsolvable = solved + (least is not None), unsolvable + (least is None)
    assert solved >= 50
    assert unsolvable >= 50


@pytest.mark.slow
def test_unsolvable_tasks_of_the_domains_are_proved_so() -> None:
    """Operators are taken out by chance. The end must be proved, also where all levels are alike already."""
    proved = 0
    for number, name in enumerate(sorted(SIZES) * 30):
        whole, rng = small(name, number), random.Random(number)
        kept = tuple(operator for operator in whole.operators if rng.random() < 0.6)
        task = replace(whole, operators=kept)
        least = least_levels(task)
        assert levels_of(task) == least
        proved += least is None
    assert proved >= 50


def test_levels_that_are_alike_prove_nothing_while_no_goods_still_change() -> None:
    """Gripper with nine balls: all levels are alike early, and a plan needs many more."""
    problem = generate("gripper", {"rooms": (2, 2), "balls": (2, 16)}, "1")
    task = graph_task(setting("gripper").domain, problem)
    assert task is not None
    planned, moments = driven(task, GraphSearch())
    assert planned.ending == "found"
    assert [moment.level for moment in moments if isinstance(moment, Searched)][-1] == 12


def advice(choose: Choose, rng: random.Random, task: GraphTask, question: AdviceQuestion) -> Sequence[str]:
    return choose(replace(question, task=task), rng)


@pytest.mark.parametrize("name", ADVISERS)
def test_whoever_advises_the_same_tasks_are_solvable_and_every_plan_works(name: str) -> None:
    kappas = ((1.0,), (0.6, 0.3), (0.5,))
    for seed in range(scaled(30, in_ci=50)):
        ground_task = random_task(seed) if seed % 2 else small(sorted(SIZES)[seed // 2 % len(SIZES)], seed)
        task, choose, rng = compile_task(ground_task), adviser_rule(name), random.Random(f"{name}/{seed}")
        assert choose is not None
        search = GraphSearch(True, True, kappas[seed % 3], ("level", "pass")[seed % 2], seed=str(seed))
        planned, moments = driven(task, search, partial(advice, choose, rng, task))
        alone, _ = driven(task, GraphSearch())
        assert (planned.steps is None) == (alone.steps is None)
        if planned.steps is None:
            assert planned.ending == "no plan"
        elif not any(operator.action == GOAL_STEP for operator in ground_task.operators):
            assert works(ground_task, planned.steps)
        last = [moment for moment in moments if isinstance(moment, Passed)][-1]
        assert last.ending in ("found", "no plan")


def test_answers_are_read_as_they_can_be() -> None:
    """Unknown names are ignored, an empty answer keeps all, no-ops are never pruned, and unnamed actions come last."""
    ranges = {"cities": (2, 2), "places": (2, 2), "packages": (2, 2), "airplanes": (1, 1)}
    task = graph_task(setting("logistics").domain, generate("logistics", ranges, "1"))
    assert task is not None
    asked: list[AdviceQuestion] = []

    def answer(question: AdviceQuestion) -> Sequence[str]:
        asked.append(question)
        return () if question.level == 1 else ("(teleport)", question.candidates[-1], question.candidates[-1])

    _, moments = driven(task, GraphSearch(prune=True), answer)
    grown = [moment for moment in moments if isinstance(moment, LevelAdded) and moment.iteration == 1]
    assert grown[0].kept == grown[0].candidates
    assert all(made.kept == 1 for made in grown[1:])
    assert all(made.noops == made.facts for made in grown)
    assert not any(name.startswith("(noop") for question in asked for name in question.candidates)


def test_the_same_question_is_asked_once_and_no_more_than_may_be() -> None:
    task, asked = compile_task(small("driverlog", 1)), []

    def answer(question: AdviceQuestion) -> Sequence[str]:
        asked.append(question)
        return question.candidates[:1]

    driven(task, GraphSearch(prune=True, sort=True, kappas=(1.0, 1.0, 1.0)), answer)
    assert len(set(asked)) == len(asked)
    asked.clear()
    driven(task, GraphSearch(prune=True, sort=True, questions=2), answer)
    assert len(asked) == 2


@pytest.mark.parametrize("heeds", [True, False])
def test_a_choice_after_which_nothing_is_new_is_asked_for_once_more(heeds: bool) -> None:
    """The first candidate alone soon brings nothing new, and then the next level would be like the last one."""
    task = compile_task(small("gripper", 1))
    asked: list[AdviceQuestion] = []

    def answer(question: AdviceQuestion) -> Sequence[str]:
        asked.append(question)
        return question.candidates if question.useless and heeds else question.candidates[:1]

    planned, moments = driven(task, GraphSearch(prune=True), answer)
    again = [question for question in asked if question.useless]
    assert again
    assert len({(question.facts, question.candidates) for question in again}) == len(again)
    for question in again:
        assert question.useless == question.candidates[:1]
    endings = [moment.ending for moment in moments if isinstance(moment, Passed)]
    assert endings == (["found"] if heeds else ["given up", "found"])
    assert planned.ending == "found"


def test_levels_are_bounded_in_every_pass() -> None:
    task = compile_task(small("logistics", 2))
    planned, moments = driven(task, GraphSearch(levels=1))
    assert planned.ending == "levels"
    assert [moment.ending for moment in moments if isinstance(moment, Passed)] == ["levels"]


def test_a_coin_of_0_asks_nobody_and_one_for_a_pass_prunes_all_levels_or_none() -> None:
    task = compile_task(small("logistics", 2))
    asked: list[AdviceQuestion] = []

    def answer(question: AdviceQuestion) -> Sequence[str]:
        asked.append(question)
        return question.candidates[:2]

    driven(task, GraphSearch(prune=True, kappas=(0.0,)), answer)
    assert not asked
    for seed in range(20):
        _, moments = driven(task, GraphSearch(prune=True, kappas=(0.5,), coin="pass", seed=str(seed)), answer)
        first = [moment for moment in moments if isinstance(moment, LevelAdded) and moment.iteration == 1]
        pruned = {bool(made.pruned) for made in first if made.candidates > 2}
        assert len(pruned) <= 1


ONE_OF_TWO = """(define (domain d) (:requirements :adl) (:predicates (x) (z) (g) (h))
  (:action a :parameters () :precondition (and) :effect (and (z) (when (x) (g)) (when (not (x)) (h))))
  (:action gx :parameters () :precondition (and) :effect (x))
  (:action dx :parameters () :precondition (x) :effect (not (x))))"""


def adl(goal: str) -> GraphTask:
    domain = parse_domain(ONE_OF_TWO)
    task = graph_task(domain, parse_problem(f"(define (problem p) (:domain d) (:objects) (:init (x)) (:goal {goal}))"))
    assert task is not None
    return task


def test_an_action_that_was_compiled_into_several_is_kept_and_sorted_as_one() -> None:
    """`a` is one operator where (x) is true, and another where it is not: only the second is a candidate later."""
    task = adl("(and (g) (h))")
    assert any(number.bit_count() > 1 for number in task.named_actions.values())
    alone, _ = driven(task, GraphSearch())
    for sort in (False, True):
        planned, moments = driven(task, GraphSearch(prune=True, sort=sort), lambda question: question.candidates)
        assert not any(moment.pruned for moment in moments if isinstance(moment, LevelAdded))
        assert len(planned.steps or ()) == len(alone.steps or ())
        assert sort or planned == alone


def test_the_artificial_last_step_is_nobodys_business_and_no_level() -> None:
    task, asked = adl("(or (and (g) (h)) (and (h) (z)))"), []

    def answer(question: AdviceQuestion) -> Sequence[str]:
        asked.append(question)
        return [name for name in question.candidates if name in ("(a)", "(dx)")]

    planned, moments = driven(task, GraphSearch(prune=True, sort=True, levels=2), answer)
    assert planned.ending == "found"
    assert planned.steps == (("(dx)",), ("(a)",))
    assert [moment.ending for moment in moments if isinstance(moment, Passed)] == ["found"]
    assert not any(GOAL_STEP in question.candidates for question in asked)


@pytest.mark.parametrize("seed", [829, 193, 314])
def test_without_no_goods_a_pass_that_prunes_still_ends(seed: int) -> None:
    task, rng = random_task(seed), random.Random(seed)

    def answer(question: AdviceQuestion) -> Sequence[str]:
        return [name for name in question.candidates if rng.random() < 0.5]

    if least_levels(task) is None:
        return
    planned, _ = driven(compile_task(task), GraphSearch(prune=True, memo=False), answer)
    assert planned.steps is not None
    assert works(task, planned.steps)


def test_what_nobody_ranks_comes_last_and_of_that_the_no_op_first() -> None:
    """As in the paper's recorded orders, where no-ops stand behind the actions that were moved to the front."""
    task = compile_task(small("gripper", 3))
    graph = PlanningGraph(task)
    graph.expand(graph.candidates())
    graph.expand(graph.candidates())
    ranked = next(action for action in bits(graph.actions[2]) if action < task.real)
    for ranks in ({}, {2: {ranked: 0}}):
        extraction = Extraction(graph, ranks)
        for fact in bits(graph.facts[1]):
            _, order = extraction._ways_of(2, fact)
            unranked = [action for action in order if action not in ranks.get(2, {})]
            assert list(order) == [action for action in order if action in ranks.get(2, {})] + unranked
            assert unranked[0] >= task.real
