"""The states of a search that is kept."""

from __future__ import annotations

import pytest

from pddlego.pddl import Domain, Problem, parse_domain, parse_problem
from pddlego.planning import Plan, ProcessPlanner, Search, kept_states
from pddlego.planning.ground import ground
from pddlego.planning.result import SEARCH_NAMES, SearchTree
from pddlego.planning.search import find_plan
from tests.planning.hanoi import HANOI, hanoi

DOMAIN, PROBLEM = HANOI, hanoi(3)


def kept(text: str, is_kept: bool = True, domain: Domain = DOMAIN, problem: Problem = PROBLEM) -> Plan:
    task = ground(domain, problem)
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
    assert all(one.before is not None for one in others)
    assert len(chain_of(tree)) == len(plan) + 1
    order = sorted(one.expanded for one in tree.states if one.expanded is not None)
    assert order == [*range(1, len(order) + 1)]
    assert len(order) == sum(expanded for _, expanded in tree.depths) <= plan.expanded
    assert sum(one.on_plan for one in tree.states) == len(plan) + 1
    has_values = search.startswith(("astar", "wastar", "gbf", "ehs"))
    assert all((one.value is not None) is has_values for one in tree.states if one.expanded is not None)


ROADS = parse_domain("""(define (domain roads) (:requirements :strips :action-costs)
  (:predicates (at ?t) (road ?a ?b)) (:functions (total-cost) - number (length ?a ?b) - number)
  (:action drive :parameters (?a ?b) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (increase (total-cost) (length ?a ?b)))))""")
LENGTHS = {"a b": 1, "b c": 1, "c d": 1, "d e": 1, "a c": 5, "b d": 4, "a e": 9}
KNOWN = " ".join(f"(road {way}) (= (length {way}) {length})" for way, length in LENGTHS.items())
TRIP = parse_problem(
    "(define (problem trip) (:domain roads) (:objects a b c d e) (:goal (at e)) (:metric minimize (total-cost))"
    f" (:init (at a) (= (total-cost) 0) {KNOWN}))"
)


def chain_of(tree: SearchTree) -> list[str]:
    """The actions of the states of the plan, from the last one to the first one."""
    parents = {one.before for one in tree.states if one.on_plan}
    (place,) = (index for index, one in enumerate(tree.states) if one.on_plan and index not in parents)
    actions = list[str]()
    at: int | None = place
    while at is not None:
        assert tree.states[at].on_plan
        actions.append(tree.states[at].action)
        at = tree.states[at].before
    return actions


@pytest.mark.parametrize("search", ["gbf(hff)", "astar(lmcut)", "astar(hmax)", "bfs"])
def test_the_states_of_a_plan_follow_each_other_also_after_a_detour(search: str) -> None:
    """A* reaches states again on a cheaper way than the one on which they were generated."""
    for domain, problem in ((DOMAIN, PROBLEM), (ROADS, TRIP)):
        plan = kept(search, domain=domain, problem=problem)
        assert chain_of(tree_of(plan)) == [*map(str, reversed(plan.steps)), ""]
    assert search.startswith("gbf") or len(plan) == 4


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
