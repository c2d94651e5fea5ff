"""Graphplan against peers that can be installed, against optimal searches, and with and without pruning.

Peers are `planning-graph` and that of `aima3`. They get our ground tasks, so that their own grounding, which tries
every object for every parameter, costs them nothing.
"""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from queue import Empty
from typing import Any

from benchmarks.table import show
from pddlego.methods.graphplan.advisers import adviser_rule
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.planning import PlanStatus, ProcessPlanner, Search
from pddlego.planning.graphplan.search import graph_task, plan_graph
from pddlego.planning.graphplan.values import (
    AdviceQuestion,
    GraphSearch,
    LevelAdded,
    Passed,
    PlannedLayers,
    Searched,
    SearchMoment,
    compile_task,
)
from pddlego.planning.ground import GroundTask, ground
from pddlego.tasks.generators import generate
from tests.planning.graphplan.planning import SIZES, works

PEER_TASKS, PEER_SECONDS = 6, 20.0

MEDIUM: dict[str, dict[str, tuple[int, int]]] = {
    "gripper": {"rooms": (2, 2), "balls": (3, 4)},
    "miconic": {"buildings": (1, 1), "floors": (4, 8), "passengers": (2, 3)},
    "logistics": {"cities": (2, 2), "places": (2, 2), "packages": (2, 2), "airplanes": (1, 1)},
    "movie": {"snacks": (5, 20)},
    "blocks": {"blocks": (4, 5)},
    "satellite": {"satellites": (1, 2), "instruments": (1, 2), "modes": (2, 2), "directions": (4, 5), "images": (2, 3)},
    "zenotravel": {"aircraft": (1, 1), "people": (1, 2), "cities": (3, 3)},
    "driverlog": {"junctions": (2, 3), "drivers": (1, 1), "trucks": (1, 1), "packages": (1, 2)},
    "woodworking": {"parts": (2, 2), "boards": (1, 2), "colours": (1, 2), "machines": (1, 1)},
    "openstacks": {"orders": (2, 4), "products": (2, 4), "spare": (0, 1)},
}
"""Tasks that a peer may solve."""

Answer = tuple[float, list[list[str]] | None]
"""Seconds, and the actions of each level; None where the answer is not a plan."""

Peer = Callable[[GroundTask], "Answer | None"]
"""Plans; None where that takes too long."""

COVERED, LIMIT = 2, 60.0
PRUNED, PRUNED_SECONDS = 4, 10.0


def main() -> None:
    """All three tables."""
    against_the_peers()
    print()
    coverage()
    print()
    pruning()


def setting(name: str) -> PlanningSetting:
    return PlanningSetting(**load_planning(name))


def against_the_peers() -> None:
    """Small tasks of the ten domains; all get the same ground task. Only answers that are plans are compared."""
    for name, peer, is_here, how in PEERS:
        if is_here():
            _against(name, peer)
        else:
            print(f"the peer {name} is not here: {how}")


def _against(peer_name: str, peer: Peer) -> None:
    rows, ratios, wrong, ended, late = [], [], 0, 0, 0
    for name in SIZES:
        times: list[tuple[float, float]] = []
        bad = slow = 0
        for seed in range(PEER_TASKS):
            task = ground(setting(name).domain, generate(name, MEDIUM[name], f"benchmark/{seed}"))
            assert task is not None
            if task.goals <= task.initial:
                continue
            answer = _limited(peer, task)
            began = time.perf_counter()
            planned = _ended(task)
            mine = time.perf_counter() - began
            assert planned.steps is not None
            assert works(task, planned.steps)
            slow += answer is None
            bad += answer is not None and answer[1] is None
            if answer is not None and answer[1] is not None:
                times.append((mine, answer[0]))
        ratios += [theirs / mine for mine, theirs in times]
        wrong, late, ended = wrong + bad, late + slow, ended + len(times)
        ours, theirs = (statistics.median(part) * 1000 for part in zip(*(times or [(0, 0)]), strict=True))
        compared = [f"{ours:.2f}", f"{theirs:.1f}", f"{theirs / ours:.0f}"] if times else ["", "", ""]
        rows.append([name, *compared, str(len(times)), str(bad), str(slow)])
    head = ("", "pddlego", peer_name, "times", "plans", "no plan, or wrong", f"over {PEER_SECONDS:g} s")
    show(f"graphplan: milliseconds a task, medians; {PEER_TASKS} tasks a domain, grounded by us for both", head, rows)
    if ratios:
        print(
            f"  median over the {ended} tasks that {peer_name} has a plan for: {statistics.median(ratios):.0f} times;"
        )
    print(f"  {wrong} of its answers are not plans, {late} took longer than {PEER_SECONDS:g} s")


def _ended(task: GroundTask) -> PlannedLayers:
    return plan_graph(compile_task(task), GraphSearch())


def _limited(work: Peer, task: GroundTask) -> Answer | None:
    """What work gives in a process of its own; None if that takes too long."""
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=lambda: answers.put(_answered(work, task)), daemon=True)
    process.start()
    try:
        answer: Answer | None = answers.get(timeout=PEER_SECONDS + 5.0)
        return answer
    except Empty:
        return None
    finally:
        process.kill()
        process.join()


def _answered(work: Peer, task: GroundTask) -> Answer | None:
    sys.setrecursionlimit(100_000)
    try:
        return work(task)
    except (LookupError, AttributeError, RecursionError, TypeError, ValueError):
        return 0.0, None  # a peer that breaks down has no plan


def _aima(task: GroundTask) -> Answer:
    """aima3. Its loop is that of its own `spare_tire_graphplan`; of its solutions the first that is a plan counts."""
    planning = importlib.import_module("aima3.planning")
    expression = importlib.import_module("aima3.utils").Expr
    facts = {fact: expression(f"F{number}") for number, fact in enumerate(sorted(task.facts))}
    names = {f"A{number}": operator.action for number, operator in enumerate(task.operators)}

    def problem_lines(chosen: frozenset[str]) -> list[Any]:
        return [facts[name] for name in sorted(chosen)]

    def steps(solution: Sequence[Sequence[Any]]) -> list[list[str]]:
        return [[names[str(action)] for action in level if str(action) in names] for level in solution]

    actions = []
    for number, operator in enumerate(task.operators):
        effects = [problem_lines(operator.adds), problem_lines(operator.deletes - operator.adds)]
        actions.append(planning.Action(expression(f"A{number}"), [problem_lines(operator.preconditions), []], effects))
    goals = problem_lines(task.goals)
    began = time.perf_counter()
    pddl = planning.PDDL(problem_lines(task.initial), actions, lambda kb: False)
    graphplan = planning.GraphPlan(pddl, planning.FolKB([]))
    while True:
        last, action = graphplan.graph.levels[-1], None
        if all(goal in last.poskb.clauses for goal in goals) and graphplan.graph.non_mutex_goals(goals, -1):
            action = graphplan.extract_solution(goals, [], -1)
        if action:
            took = time.perf_counter() - began
            return took, next((plan for plan in map(steps, action) if works(task, plan)), None)
        graphplan.graph.expand_graph()
        if graphplan.check_leveloff():
            return time.perf_counter() - began, None


PLANNING_GRAPH = """
import json, sys, time
from planning_graph.planning_graph import PlanningGraph
from planning_graph.planning_graph_planner import GraphPlanner
graph = PlanningGraph(sys.argv[1], sys.argv[2])
began = time.perf_counter()
made = graph.create(max_num_of_levels=100)
expand = PlanningGraph.expand
PlanningGraph.expand = lambda other: expand(graph, other)  # its planner calls it without a graph to expand
found = GraphPlanner().plan(made, set(graph.goal))
took = time.perf_counter() - began
levels = [] if found is None else [found.data[level].plan for level in sorted(found.data)]
print(json.dumps([took, [[a.operator_name for a in level if a.operator_name != "NoOp"] for level in levels]]))
"""


def _planning_graph(task: GroundTask) -> Answer | None:
    """planning-graph, in the environment of `PEER_PYTHON`: it brings packages that do not go with ours. It reads our
    ground task as PDDL without parameters, outside of the measured time."""
    facts = {fact: f"f{number}" for number, fact in enumerate(sorted(task.facts))}
    names = {f"a{number}": operator.action for number, operator in enumerate(task.operators)}

    def conjunction(adds: frozenset[str], deletes: frozenset[str] = frozenset()) -> str:
        parts = [f"({facts[fact]})" for fact in sorted(adds)]
        parts += [f"(not ({facts[fact]}))" for fact in sorted(deletes)]
        return f"(and {' '.join(parts)})"

    actions = "".join(
        f"(:action {name} :parameters () :precondition {conjunction(operator.preconditions)}"
        f" :effect {conjunction(operator.adds, operator.deletes - operator.adds)})\n"
        for name, operator in zip(names, task.operators, strict=True)
    )
    predicates = " ".join(f"({name})" for name in facts.values())
    initial = " ".join(f"({facts[fact]})" for fact in sorted(task.initial))
    with tempfile.TemporaryDirectory() as folder:
        domain, problem = Path(folder) / "domain.pddl", Path(folder) / "problem.pddl"
        domain.write_text(f"(define (domain d) (:requirements :strips) (:predicates {predicates})\n{actions})")
        problem.write_text(
            f"(define (problem p) (:domain d) (:objects o) (:init {initial}) (:goal {conjunction(task.goals)}))"
        )
        command = [os.environ["PEER_PYTHON"], "-c", PLANNING_GRAPH, str(domain), str(problem)]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PEER_SECONDS)
        except subprocess.TimeoutExpired:
            return None
    lines = ran.stdout.strip().splitlines()
    if ran.returncode or not lines:
        return 0.0, None
    took, levels = json.loads(lines[-1])
    steps = [[names[name] for name in level if name in names] for level in levels]
    return took, steps if works(task, steps) else None


PEERS: tuple[tuple[str, Peer, Callable[[], bool], str], ...] = (
    (
        "planning-graph",
        _planning_graph,
        lambda: "PEER_PYTHON" in os.environ,
        "make an environment of its own (pip install --no-deps planning-graph pddlpy antlr4-python3-runtime==4.9.3 "
        "pydot pyparsing), and name its Python as PEER_PYTHON",
    ),
    ("aima3", _aima, lambda: find_spec("aima3") is not None, "pip install --no-deps aima3"),
)
"""Each with whether it is here, and how it comes here."""


def coverage() -> None:
    """Tasks of the sizes of the settings, each planner with the same limit; all three give optimal plans, in levels or
    in actions."""
    engines = [("graphplan", "graphplan", Search()), ("pyperplan A* lmcut", "pyperplan", Search("astar", "lmcut"))]
    if find_spec("up_fast_downward") is not None:
        engines.append(("Fast Downward optimal", "fast-downward", Search("astar", "lmcut")))
    rows: list[list[str]] = []
    for name in SIZES:
        made = setting(name)
        row = [name]
        for _, engine, search in engines:
            solved, seconds = 0, []
            with ProcessPlanner(engine, LIMIT, 8192) as planner:
                for seed in range(COVERED):
                    result = planner.solve(made.domain, made.one_task(seed).problem, search)
                    solved += result.status is PlanStatus.SOLVED
                    seconds.append(result.seconds)
            row.append(f"{solved}/{COVERED} {statistics.median(seconds):6.2f} s")
        rows.append(row)
        print(f"  {'  '.join(row)}", file=sys.stderr)
    title = f"tasks solved in {LIMIT:g} s, and the median of the seconds (the limit where it was reached)"
    show(title, ("", *(name for name, _, _ in engines)), rows)


def pruning() -> None:
    """Nodes and mutex pairs of plain Graphplan, and with the delete relaxation as the adviser."""
    rows = []
    for name in SIZES:
        made = setting(name)
        sums: dict[str, list[tuple[int, int, int] | None]] = {}
        for seed in range(PRUNED):
            task = graph_task(made.domain, made.one_task(seed).problem, relevant=False)
            assert task is not None
            for label, prune, sort in (("plain", False, False), ("prune", True, False), ("both", True, True)):
                sums.setdefault(label, []).append(_counted(task, prune, sort))
        both = [number for number in range(PRUNED) if all(values[number] is not None for values in sums.values())]
        cells = [name, *(f"{sum(value is not None for value in values)}/{PRUNED}" for values in sums.values())]
        for place in (0, 1, 2):
            for label in ("plain", "prune", "both") if place == 0 else ("plain", "prune"):
                values = [counted[place] for number in both if (counted := sums[label][number]) is not None]
                cells.append(f"{statistics.median(values):,.0f}" if values else "")
        rows.append(cells)
    head = ("", "solved", "prune", "both", "nodes", "prune", "both", "mutexes", "prune", "levels", "prune")
    title = f"with 'relaxed' as adviser, {PRUNED} tasks, {PRUNED_SECONDS:g} s: medians of those that all three solved"
    show(title, head, rows)


class _OutOfTimeError(Exception):
    pass


def _counted(task: Any, prune: bool, sort: bool) -> tuple[int, int, int] | None:
    """Nodes, mutex pairs and levels; None without a plan in time."""
    choose, rng = adviser_rule("relaxed"), random.Random("relaxed/0")
    assert choose is not None
    ends = time.monotonic() + PRUNED_SECONDS

    def tick(progress: object) -> None:
        if time.monotonic() > ends:
            raise _OutOfTimeError

    nodes = mutexes = levels = 0

    def advise(question: AdviceQuestion) -> Sequence[str]:
        return choose(replace(question, task=task), rng)

    def watch(moment: SearchMoment) -> None:
        nonlocal nodes, mutexes, levels
        mutexes += moment.mutexes if isinstance(moment, LevelAdded) else 0
        nodes += moment.nodes if isinstance(moment, Searched) else 0
        levels = len(moment.steps) if isinstance(moment, Passed) else levels

    try:
        plan_graph(task, GraphSearch(prune, sort), advise, watch, tick)
    except _OutOfTimeError:
        return None
    return nodes, mutexes, levels
