"""The states of a search that is kept."""

from __future__ import annotations

import pytest

from pddlego.planning import Plan, ProcessPlanner, Search, kept_states
from pddlego.planning.ground import ground
from pddlego.planning.result import SEARCH_NAMES, SearchTree
from pddlego.planning.search import find_plan
from tests.planning.hanoi import HANOI, hanoi

DOMAIN, PROBLEM = HANOI, hanoi(3)


def kept(text: str, is_kept: bool = True) -> Plan:
    task = ground(DOMAIN, PROBLEM)
    search = Search.parse(text)
    assert task is not None
    plan = find_plan(task, Search(search.algorithm, search.heuristic, is_kept=is_kept))
    assert plan is not None
    return plan


def tree_of(plan: Plan) -> SearchTree:
    assert plan.tree is not None
    return plan.tree


@pytest.mark.parametrize("search", SEARCH_NAMES)
def test_every_search_keeps_its_states_and_finds_the_same_plan(search: str) -> None:
    plan, plain = kept(search), kept(search, is_kept=False)
    assert (plan, plan.expanded, plain.tree) == (plain, plain.expanded, None)
    tree = tree_of(plan)
    assert tree.is_whole
    first, *others = tree.states
    assert (first.before, first.action, first.on_plan) == (None, "", True)
    assert all(one.before is not None and one.before < number for number, one in enumerate(others, 1))
    order = sorted(one.expanded for one in tree.states if one.expanded is not None)
    assert order == [*range(1, len(order) + 1)]
    assert len(order) == sum(expanded for _, expanded in tree.depths) <= plan.expanded
    assert sum(one.on_plan for one in tree.states) == len(plan) + 1
    has_values = search.startswith(("astar", "wastar", "gbf", "ehs"))
    assert all((one.value is not None) is has_values for one in tree.states if one.expanded is not None)


def test_the_states_of_a_plan_of_best_first_search_follow_each_other() -> None:
    plan = kept("gbf(hff)")
    passed = [(number, one) for number, one in enumerate(tree_of(plan).states) if one.on_plan]
    assert [one.before for _, one in passed[1:]] == [number for number, _ in passed[:-1]]
    assert [one.action for _, one in passed[1:]] == [*map(str, plan.steps)]
    order = [one.expanded or 0 for _, one in passed[:-1]]
    assert order == sorted(order), "the goal is not expanded"


def test_of_a_large_search_the_first_states_are_kept_and_the_others_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tree_of(kept("bfs"))
    monkeypatch.setattr(kept_states, "_MOST_KEPT", 5)
    part = tree_of(kept("bfs"))
    assert part.states == whole.states[:5] and part.depths == whole.depths and not part.is_whole
    monkeypatch.setattr(kept_states, "_MOST_COUNTED", 7)
    assert sum(generated for generated, _ in tree_of(kept("bfs")).depths) == 7


def test_a_planner_in_its_own_process_returns_the_tree(planner: ProcessPlanner) -> None:
    for is_kept in (True, False):
        result = planner.solve(DOMAIN, PROBLEM, Search("gbf", "hff", is_kept=is_kept))
        assert result.plan is not None
        assert (result.plan.tree is not None) is is_kept
