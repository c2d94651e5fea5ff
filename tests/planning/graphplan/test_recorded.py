"""The paper's own run (appendix A.4): ten levels of candidates, of what GPT-4 kept, and of its order.

Recorded answers of a model and a problem printed in the paper, as data to test with.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from functools import cache
from typing import Any

import pytest

from pddlego.episode.budget import Budget
from pddlego.episode.events import Event, Limits
from pddlego.methods.graphplan.advisers import Advisers, planning
from pddlego.models.base import ScriptedModel
from pddlego.pddl import Domain, Problem, parse_domain, parse_problem
from pddlego.planning import Plan, PlanResult, PlanStep, ProcessPlanner, validate
from pddlego.planning.graphplan.search import graph_task
from pddlego.planning.graphplan.values import (
    AdviceQuestion,
    Advise,
    Graphplan,
    GraphSearch,
    GraphTask,
    LevelAdded,
    Searched,
    SearchMoment,
    SearchWatcher,
    bits,
)
from tests.clock import unhurried
from tests.planning.graphplan.planning import driven
from tests.shared import RECORDED

pytestmark = pytest.mark.shared("recorded/logistics-02.json", "recorded/logistics-02")


@cache
def levels() -> dict[str, Any]:
    """By the number of a level: its candidates, those that GPT-4 kept, and its order."""
    levels: dict[str, Any] = json.loads((RECORDED / "logistics-02.json").read_text(encoding="utf-8"))["levels"]
    return levels


@cache
def pair() -> tuple[Domain, Problem]:
    domain, problem = ((RECORDED / "logistics-02" / f"{kind}.pddl").read_text() for kind in ("domain", "problem"))
    return parse_domain(domain), parse_problem(problem)


def task() -> GraphTask:
    result = graph_task(*pair(), relevant=False)
    assert result is not None
    return result


def text(question: AdviceQuestion) -> Sequence[str]:
    level = levels()[str(question.level)]
    return [f"({name})" for name in level["kept" if question.purpose == "prune" else "ordered"]]


def test_candidates_and_what_is_kept_are_as_recorded_at_ten_of_ten_levels() -> None:
    asked: list[AdviceQuestion] = []

    def answer(question: AdviceQuestion) -> Sequence[str]:
        asked.append(question)
        return text(question)

    planned, moments = driven(task(), GraphSearch(prune=True, sort=True), answer)
    questions = {question.level: question for question in asked if question.purpose == "prune"}
    grown = {moment.level: moment for moment in moments if isinstance(moment, LevelAdded)}
    assert sorted(questions) == sorted(grown) == list(range(1, 11))
    for level, question in questions.items():
        recorded = levels()[str(level)]
        noops = {f"(noop {fact[1:-1]})" for fact in question.facts}
        assert {*question.candidates, *noops} == {f"({name})" for name in recorded["candidates"]}
        kept = ({*question.candidates} - {*grown[level].pruned}) | noops
        assert kept == {f"({name})" for name in recorded["kept"]}
        assert grown[level].actions == len(recorded["kept"])
    assert sum(made.actions for made in grown.values()) == 308
    assert planned.steps is not None
    steps = [name for level in planned.steps for name in level]
    assert len(steps) == 10
    plan = Plan(tuple(PlanStep(name, tuple(args)) for name, *args in (step[1:-1].split() for step in steps)))
    assert validate(*pair(), plan) is None


def test_actions_are_tried_in_the_recorded_order() -> None:
    from pddlego.planning.graphplan.graph import PlanningGraph
    from pddlego.planning.graphplan.search import Extraction

    whole = task()
    graph, ranks = PlanningGraph(whole), {}
    for level in range(1, 11):
        kept = {f"({name})" for name in levels()[str(level)]["kept"]}
        graph.expand(sum(1 << action for action in range(whole.real) if whole.actions[action] in kept))
        ordered = [next(bits(whole.named_actions[f"({name})"])) for name in levels()[str(level)]["ordered"]]
        ranks[level] = {action: rank for rank, action in enumerate(ordered)}
    extraction = Extraction(graph, ranks)
    for level in range(1, 11):
        for fact in range(len(whole.facts)):
            if graph.facts[level] >> fact & 1:
                _, order = extraction._ways_of(level, fact)
                places = [levels()[str(level)]["ordered"].index(whole.actions[action][1:-1]) for action in order]
                assert places == sorted(places)


@pytest.mark.parametrize("memo", [True, False])
def test_what_pruning_and_sorting_saves_on_it(memo: bool) -> None:
    """Mutex pairs fall to a third. Nodes are few with and without: the goal is one package."""
    result = {}
    for prune, sort in ((False, False), (True, False), (False, True), (True, True)):
        _, moments = driven(task(), GraphSearch(prune, sort, memo=memo), text)
        mutexes = sum(moment.mutexes for moment in moments if isinstance(moment, LevelAdded))
        nodes = sum(moment.nodes for moment in moments if isinstance(moment, Searched))
        result[prune, sort] = mutexes, nodes
    assert result == {
        (False, False): (1086, 28),
        (True, False): (343, 30),
        (False, True): (1086, 30),
        (True, True): (343, 28),
    }


def in_words(names: Sequence[str]) -> str:
    """As an answer of a model: real actions only, with a number before each, in the paper's form."""
    lines = []
    for number, name in enumerate(name for name in names if not name.startswith("noop")):
        action, *args = name.split()
        parameters = [item.name for item in pair()[0].actions_by_name[action].parameters]
        pairs = ", ".join(f"'{one}': '{two}'" for one, two in zip(parameters, args, strict=True))
        lines.append(f"{number + 1}. {action.upper()} {pairs}")
    return "Let me look at the predicates one by one.\n" + "\n".join(lines)


def test_the_recorded_choices_as_answers_of_a_model_through_the_planning_process() -> None:
    prune = ScriptedModel(tuple(in_words(levels()[str(level)]["kept"]) for level in range(1, 11)))
    sort = ScriptedModel(tuple(in_words(levels()[str(level)]["ordered"]) for level in range(1, 11)))
    kept: list[int] = []

    advisers = Advisers(Budget(Limits(None)), prune, sort)

    def react(result: AdviceQuestion | SearchMoment) -> Generator[Event, None, tuple[str, ...]]:
        if isinstance(result, AdviceQuestion):
            return (yield from advisers.ask(result))
        if isinstance(result, LevelAdded):
            kept.append(result.actions)
        return ()

    with ProcessPlanner(clock=unhurried) as planner:
        graph = GraphSearch(prune=True, sort=True)

        def solve(advise: Advise, watch: SearchWatcher) -> PlanResult:
            return planner.solve(*pair(), Graphplan(graph=graph, task="whole", advise=advise, watch=watch))

        advice = planning(solve, react)
        while True:
            try:
                next(advice)
            except StopIteration as ended:
                result = ended.value
                break
    assert kept == [23, 27, 29, 30, 32, 32, 33, 35, 35, 32]
    assert result.plan is not None
    assert len(result.plan) == 10
