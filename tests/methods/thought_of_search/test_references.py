"""Our own functions pass everything in all problems; functions that are wrong are caught, or prove to be the same."""

from __future__ import annotations

import functools
import itertools
import random
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import pytest

from pddlego.episode.events import Outcome
from pddlego.methods.thought_of_search.events import Attempted, Tested
from pddlego.methods.thought_of_search.expander import canonical
from pddlego.methods.thought_of_search.loading import load
from pddlego.methods.thought_of_search.options import SearchOptions
from pddlego.methods.thought_of_search.planning_space import PlanningSpace
from pddlego.methods.thought_of_search.reference_model import planning_functions, reference_functions
from pddlego.methods.thought_of_search.space import Instance, SearchTask, Which
from pddlego.sandbox import Sandbox
from tests.methods.thought_of_search.mutants import mutants
from tests.methods.thought_of_search.playing import ending, events_of, fenced, kinds, right, small
from tests.sandbox.ordinary import needs_locks
from tests.scale import scaled

pytestmark = needs_locks

PROBLEMS = ("24game", "blocksworld", "crosswords", "deduction", "sokoban")
PLANNING = ("collector", "delivery", "ferry", "forest", "gripper", "heavy", "miconic", "spanner")
SUCCESSORS: Which = "successors"
GOAL: Which = "goal"


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_our_functions_pass_all_tests_and_solve_the_instances(name: str) -> None:
    options = SearchOptions(instances=3 if name == "crosswords" else scaled(10, in_ci=20))
    events = events_of(load(name, options), right(name), options=options)
    assert kinds(events) == []
    assert all(event.passed for event in events if isinstance(event, Tested))
    assert ending(events).outcome is Outcome.WON
    assert all(event.solved for event in events if isinstance(event, Attempted))


@pytest.mark.parametrize("name", PLANNING)
def test_planning_domains_are_search_problems_without_a_test_by_hand(name: str) -> None:
    options = SearchOptions(instances=4, sampled=8)
    setting = load(name, options)
    assert isinstance(setting.space, PlanningSpace)
    texts = planning_functions(setting.space.setting.domain)
    answers = (fenced(texts["successors"]), fenced(texts["goal"]))
    events = events_of(setting, answers, options=options)
    assert kinds(events) == []
    assert ending(events).outcome is Outcome.WON, ending(events)


def test_a_planning_domain_catches_what_is_no_action_and_what_is_missing() -> None:
    options = SearchOptions(instances=2, sampled=8)
    setting = load("ferry", options)
    assert isinstance(setting.space, PlanningSpace)
    texts = planning_functions(setting.space.setting.domain)
    right_one, goal = fenced(texts["successors"]), fenced(texts["goal"])
    unsound = right_one.replace("(state - deletes) | adds", "state | adds")
    missing = right_one.replace("    return results", "    return results[1:]")
    lists = right_one.replace("    return results", "    return [list(each) for each in results]")
    events = events_of(setting, (unsound, goal, missing, lists, right_one), options=options)
    assert kinds(events) == ["unsound transition", "successors missing", "unsound transition"]
    assert ending(events).outcome is Outcome.WON


@functools.cache
def all_mutants() -> list[tuple[str, Which, str, str]]:
    """Of every function, in an order that mixes them: problem, function, what was done, text."""
    result = [
        (name, which, what, text)
        for name in PROBLEMS
        for which in (SUCCESSORS, GOAL)
        for what, text in mutants(reference_functions(name)[which])
    ]
    random.Random("mutants").shuffle(result)
    return result


def test_there_are_enough_mutants_of_every_problem() -> None:
    assert len(all_mutants()) > 100
    assert {name for name, *_ in all_mutants()[:40]} == set(PROBLEMS)


@pytest.mark.slow
@pytest.mark.parametrize("number_of_mutant", range(8))
def test_a_mutant_is_caught_or_is_the_same(number_of_mutant: int) -> None:
    name, which, what, text = all_mutants()[number_of_mutant]
    successors, goal = right(name)
    answers = (fenced(text), goal, successors) if which == SUCCESSORS else (successors, fenced(text), goal)
    number = 2 if name == "crosswords" else 12  # depth first takes its time
    options = SearchOptions(instances=number, call_timeout=0.5, search_timeout=8.0, states=60_000)
    events = events_of(small(name, options), answers, options=options)
    assert ending(events).outcome in (Outcome.WON, Outcome.LOST), ending(events)
    if kinds(events) or any(not event.solved for event in events if isinstance(event, Attempted)):
        return
    assert agrees(name, which, text), f"{name}, {which}, {what}: not noticed"


def agrees(name: str, which: Which, text: str) -> bool:
    """Whether a mutant says the same as our function of all states that can be reached in some instances."""
    setting = load(name, SearchOptions())
    key = canonical(setting.space.unordered)
    with Sandbox() as sandbox, setting.space.judge(sandbox, 0) as judge:
        instances = [*judge.soundness, *judge.instances[:6]]
    functions = {item: function_of(reference_functions(name)[item]) for item in (SUCCESSORS, GOAL)}
    mutant = function_of(text)
    for search, state in itertools.islice(reachable(instances, functions[SUCCESSORS], key), 3_000):
        arguments = search.arguments(which)
        said, expected = mutant(state, *arguments), functions[which](state, *arguments)
        if which == SUCCESSORS:
            said, expected = set(map(key, said)), set(map(key, expected))
        if said != expected:
            return False
    return True


def function_of(text: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(text, names)  # a text of ours, changed in one place
    result: Callable[..., Any] = names["successors"] if "successors" in names else names["is_goal"]
    return result


def reachable(
    instances: list[Instance], successors: Callable[..., Any], key: Callable[[Any], Hashable]
) -> Iterator[tuple[SearchTask, Any]]:
    for instance in instances:
        search = instance.searches[0]
        waiting, met = deque([search.start]), {key(search.start)}
        for _ in range(400):
            if not waiting:
                break
            state = waiting.popleft()
            yield search, state
            for after in successors(state, *search.successor_arguments):
                if key(after) not in met:
                    met.add(key(after))
                    waiting.append(after)
