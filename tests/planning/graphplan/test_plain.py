"""The plain extraction: the nodes of an independent backward search, plans as short, and proofs that there is none."""

from __future__ import annotations

from typing import Any

import pytest

from pddlego.planning.graphplan.search import graph_task
from pddlego.planning.graphplan.values import GraphSearch, GraphTask, Searched, compile_task
from tests.planning.graphplan.planning import SIZES, driven, least_levels, random_task, works
from tests.planning.graphplan.test_search import setting, small
from tests.scale import scaled
from tests.shared import SHARED

SECONDS = 60
"""More than the independent search may need; if it is exceeded, the test fails."""


def independent(task: GraphTask, memo: bool) -> list[tuple[int, int, bool]]:
    """The level, the nodes and the result of each backward search of another implementation."""
    names: dict[str, Any] = {}
    exec((SHARED / "cases/papers/plain_lib.py").read_text(encoding="utf-8"), names)
    names["task"] = task
    _, searches, _ = names["run"](memo, True, SECONDS)
    return list(searches)


def searches_of(task: GraphTask, memo: bool) -> list[tuple[int, int, bool]]:
    """The same, of ours. The other implementation gives up after 14 levels."""
    _, moments = driven(task, GraphSearch(memo=memo, extraction="plain", levels=14))
    return [(moment.level, moment.nodes, moment.found) for moment in moments if isinstance(moment, Searched)]


@pytest.mark.shared("cases/papers/plain_lib.py")
@pytest.mark.parametrize("memo", [True, False])
@pytest.mark.parametrize("name", SIZES)
def test_nodes_are_those_of_an_independent_backward_search(name: str, memo: bool) -> None:
    """Fifty tasks, with and without no-goods."""
    for seed in range(5):
        task = compile_task(small(name, seed))
        assert searches_of(task, memo) == independent(task, memo)


@pytest.mark.shared("cases/papers/plain_lib.py")
@pytest.mark.parametrize(("seed", "memo", "nodes"), [(1, True, 12_714), (1, False, 12_919), (5, False, 75_394)])
def test_nodes_are_equal_also_where_they_are_many(seed: int, memo: bool, nodes: int) -> None:
    logistics = setting("logistics")
    task = graph_task(logistics.domain, logistics.one_task(seed).problem, relevant=False)
    assert task is not None
    searches = searches_of(task, memo)
    assert searches == independent(task, memo)
    assert sum(made for _, made, _ in searches) == nodes


def test_random_tasks_are_solved_in_as_few_levels_or_proved_unsolvable() -> None:
    solved = unsolvable = 0
    for seed in range(scaled(300, in_ci=600)):
        task = random_task(seed)
        least = least_levels(task)
        for memo in (True, False) if least is not None else (True,):
            planned, _ = driven(compile_task(task), GraphSearch(memo=memo, extraction="plain"))
            assert (None if planned.steps is None else len(planned.steps)) == least
            assert works(task, planned.steps) if planned.steps is not None else planned.ending == "no plan"
        solved, unsolvable = solved + (least is not None), unsolvable + (least is None)
    assert min(solved, unsolvable) >= 50


def test_a_failure_goes_back_to_the_last_choice_and_not_to_its_cause() -> None:
    """Backjumping tries fewer actions than the plain search, on the same graph and for plans of as many levels."""
    task = compile_task(small("openstacks", 1))
    nodes, levels = {}, set()
    for kind in ("backjumping", "plain"):
        planned, moments = driven(task, GraphSearch(extraction=kind))
        nodes[kind] = sum(moment.nodes for moment in moments if isinstance(moment, Searched))
        levels.add(len(planned.steps or ()))
    assert levels == {7}
    assert nodes["backjumping"] < nodes["plain"] == 254
