"""Episodes of Graphplan in a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pddlego.episode.events import Event, Limits
from pddlego.methods.base import Tools
from pddlego.methods.graphplan import METHOD
from pddlego.methods.graphplan.options import GraphplanOptions
from pddlego.methods.graphplan.setting import load
from pddlego.models.base import Model, ScriptedModel
from pddlego.pddl import Domain, Problem
from pddlego.planning import PlanResult, PlanStatus, ProcessPlanner, Search
from pddlego.planning.graphplan.values import Graphplan
from pddlego.runs.cells import Cell
from tests.clock import unhurried
from tests.planners import kept_planner
from tests.traces import trace_of


def played(
    setting: str,
    model: str | Model | Sequence[str],
    mode: str = "graphplan",
    seed: int = 0,
    limits: Limits | None = None,
    planner: ProcessPlanner | None = None,
    recorded: Sequence[Event] = (),
    **options: Any,
) -> list[Event]:
    """Every event of an episode; `model` is a model, the name of one of ours, or answers."""
    chosen = GraphplanOptions(**options)
    loaded = load(setting, chosen)
    cell = Cell(setting, mode, model if isinstance(model, str) else "scripted", seed)
    if isinstance(model, str):
        result = METHOD.builtin_model(model, cell, loaded)
        assert result is not None
        model = result
    elif isinstance(model, (tuple, list)):
        model = ScriptedModel(tuple(model))
    assert not isinstance(model, Sequence)
    with planner or kept_planner(clock=unhurried) as used:
        recording = trace_of(recorded) if recorded else None
        tools = Tools(model, used, limits or Limits(None), recorded=recording)
        return list(METHOD.run(cell, loaded, chosen, tools))


class Hurried(ProcessPlanner):
    """A planner that has no time for Graphplan without questions."""

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        if isinstance(search, Graphplan) and not search.graph.prune:
            return PlanResult(PlanStatus.TIMEOUT, problem.goal)
        return super().solve(domain, problem, search, seconds)
