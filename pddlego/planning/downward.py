"""Fast Downward: the translator's task is piped into the compiled search of the extra `fast-downward`."""

from __future__ import annotations

import io
import math
import subprocess
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from pddlego.pddl import Domain, Problem
from pddlego.pddl.plain import plain
from pddlego.planning.ground import EngineFailedError, NotPlannableError, OutOfTimeError, translating, translator_task
from pddlego.planning.result import Plan, PlanStep, Search, half_of

_LAMA = (
    "let(l, eval_modify_costs(landmark_sum(lm_reasonable_orders_hps(lm_rhw()), pref=false), cost_type=one), "
    "let(h, eval_modify_costs(ff(), cost_type=one), "
    "lazy_greedy([h, l], preferred=[h, l], cost_type=one, reopen_closed=false)))"
)
_LAZY_FF = "let(h, eval_modify_costs(ff(), cost_type=one), lazy_greedy([h], preferred=[h], cost_type=one))"
"""Searches for any plan, whatever its cost: the first one of LAMA, and the same without landmarks."""

_LM_CUT = "astar(lmcut())"
_BLIND = "astar(blind())"
"""Searches for a plan of least cost. LM-cut has no conditional effects and no derived predicates."""

_PLAN = Path("sas_plan")

_PROVEN_UNSOLVABLE = frozenset({10, 11})
_OUT_OF_MEMORY = frozenset({20, 22, 24})
_UNSUPPORTED = 34
_MAX_COST = 2**31 - 1

_MAX_ACTION_COST = _MAX_COST // 1_000
"""The search adds costs in 32 bits: sums of this many steps must not wrap around, which looks like a dead end."""

_TOO_DEAR = f"Fast Downward cannot minimize costs above {_MAX_ACTION_COST:,}; fractions are multiplied first"
_OUT_OF_TIME = 23


def downward() -> Path | None:
    """The compiled search; None if it is not installed."""
    spec = find_spec("up_fast_downward")
    folders = spec.submodule_search_locations if spec else None
    path = Path(folders[0], "downward", "builds", "release", "bin", "downward") if folders else None
    return path if path and path.exists() else None


def solve_downward(domain: Domain, problem: Problem, search: Search, seconds: float) -> Plan | None:
    """A plan, of least cost if `search` is optimal; None if none exists.

    A search that is not optimal has two configurations, each with half of the time. Writes the plan to the working
    directory, so two calls must not share one. Raises `NotPlannableError`, `OutOfTimeError`, `EngineFailedError` and
    `MemoryError`.
    """
    began = time.monotonic()
    task, costs = _translated(domain, problem, search)
    seconds = max(0.1, seconds - (time.monotonic() - began))
    if search.is_optimal:
        code = _run(task, _LM_CUT, seconds)
        if code == _UNSUPPORTED:
            code = _run(task, _BLIND, seconds)
    else:
        code = _run(task, _LAMA, half_of(seconds))
        if code != 0 and code not in _PROVEN_UNSOLVABLE:
            code = _run(task, _LAZY_FF, half_of(seconds))
    if code == 0:
        lines = _PLAN.read_text(encoding="utf-8").splitlines()
        steps = tuple(line for line in lines if not line.startswith(";"))
        # Where a sum is too large for the search, it wraps around and the plan may not be the cheapest.
        if search.is_optimal and sum(costs[step] for step in steps) + max(costs.values(), default=0) > _MAX_COST:
            raise NotPlannableError(_TOO_DEAR)
        return Plan(tuple(map(PlanStep.read, steps)))
    if code in _PROVEN_UNSOLVABLE:
        return None
    if code == _OUT_OF_TIME:
        raise OutOfTimeError
    if code in _OUT_OF_MEMORY:
        raise MemoryError
    raise EngineFailedError(f"Fast Downward ended without a plan and without a proof (exit code {code})")


def _translated(domain: Domain, problem: Problem, search: Search) -> tuple[bytes, Mapping[str, int]]:
    """The task in the format of Fast Downward's search, and what each operator costs there.

    Costs that are too large for it are divided by their greatest common divisor, or left out where the search is not
    optimal, which does not look at them.
    """
    from fast_downward.translate import main

    with translating():
        task = main.pddl_to_sas(translator_task(*plain(domain, problem)))
    highest = max((operator.cost for operator in task.operators), default=0)
    if highest > _MAX_ACTION_COST:
        divisor = math.gcd(*(operator.cost for operator in task.operators))
        if search.is_optimal and highest // divisor > _MAX_ACTION_COST:
            raise NotPlannableError(_TOO_DEAR)
        for operator in task.operators:
            operator.cost = operator.cost // divisor if search.is_optimal else 1
    text = io.StringIO()
    task.output(text)
    return text.getvalue().encode(), {operator.name: operator.cost for operator in task.operators}


def _run(task: bytes, configuration: str, seconds: float) -> int:
    """Search, and return the exit code."""
    command = [str(downward()), "--search", configuration, "--internal-plan-file", str(_PLAN)]
    _PLAN.unlink(missing_ok=True)
    limit = seconds if math.isfinite(seconds) else None
    try:
        return subprocess.run(command, input=task, stdout=subprocess.DEVNULL, timeout=limit, check=False).returncode
    except subprocess.TimeoutExpired:
        return _OUT_OF_TIME
