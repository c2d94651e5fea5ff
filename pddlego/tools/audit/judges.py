"""Audits the labels of a benchmark: each is confirmed, contradicted with the evidence, or undecided with the reason.

Each label is judged in a separate process, with limits of time and memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from pddlego.errors import PddlegoError
from pddlego.pddl.costs import needs_numbers
from pddlego.pddl.domain import read_domain
from pddlego.pddl.numbers import TOTAL_COST
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import DefectKind, Level
from pddlego.pddl.tolerant import read_pair
from pddlego.planners import OWN
from pddlego.planning.engines import missing
from pddlego.planning.result import LEAST_COST
from pddlego.tools import WHY_SECONDS
from pddlego.tools.audit.pairs import LabelledPair
from pddlego.tools.client import call
from pddlego.util.text import count

Verdict = Literal["confirmed", "contradicted", "undecided"]

_MAX_STEPS = 12
"""The maximum number of steps of a plan in the evidence."""

_MEMORY = 2048
"""MiB of memory of a search, and of the process that judges a label."""

_STARTING = 30.0 + WHY_SECONDS
"""Seconds for the start and the end of the process that judges a label, and for reasons, in addition to the search."""


@dataclass(frozen=True)
class AuditedLabel:
    """The verdict on one label of a pair.

    `evidence` is the plan, the fault of the plan, the difference, the engines that proved it, or why it is undecided.
    `digest` is that of the pair.
    """

    id: str
    label: str
    labelled: bool | float | str
    verdict: Verdict
    evidence: str
    digest: str


def audit(pairs: Iterable[LabelledPair], seconds: float, workers: int = 1) -> Iterator[AuditedLabel]:
    """Judge every label, pairs in their order, `workers` pairs at once, with at most `seconds` for a search."""
    with ThreadPoolExecutor(workers) as pool:
        for judgements in pool.map(partial(judge, seconds=seconds), pairs):
            yield from judgements


def judge(pair: LabelledPair, seconds: float) -> tuple[AuditedLabel, ...]:
    """The judgements of all labels of a pair."""
    judgements = []
    for label, labelled in pair.labels.items():
        try:
            verdict, evidence = _JUDGES[label](pair, labelled, seconds)
        except PddlegoError as error:
            verdict, evidence = "undecided", error.sentence
        judgements.append(AuditedLabel(pair.id, label, labelled, verdict, evidence, pair.digest))
    return tuple(judgements)


def _verdict(labelled: bool, judged: bool) -> Verdict:
    return "confirmed" if labelled == judged else "contradicted"


def _run_tool(function: str, pair: LabelledPair, seconds: float, /, **more: object) -> dict[str, Any]:
    problems = {"left": pair.problem, "right": pair.other} if function == "compare" else {"problem": pair.problem}
    return call(function, {"domain": pair.domain, **problems, **more}, seconds + _STARTING, _MEMORY)


def _solve(pair: LabelledPair, seconds: float, **options: object) -> dict[str, Any]:
    limits: dict[str, object] = {"seconds": seconds, "memory": _MEMORY, "why_seconds": 0}
    return _run_tool("solve", pair, seconds, **limits | options)


def _plan_text(result: Mapping[str, Any]) -> str:
    """The first steps of the plan in a result."""
    plan = result["plan"]
    more = f" … ({len(plan) - _MAX_STEPS} more)" if len(plan) > _MAX_STEPS else ""
    return f"{' '.join(plan[:_MAX_STEPS])}{more}" if plan else "the goal is true at the beginning"


def _judge_solvable(pair: LabelledPair, labelled: Any, seconds: float) -> tuple[Verdict, str]:
    """A validated plan decides. A proof that no plan exists is repeated by a second engine, if one can try it."""
    result = _solve(pair, seconds)
    if result["status"] == "bound":  # the engines cannot prove unsolvability; the search for reasons may
        result = _solve(pair, seconds, why_seconds=WHY_SECONDS)
    if result["plan"] is not None:
        return _verdict(labelled, True), f"a plan of {count(len(result['plan']), 'step')}: {_plan_text(result)}"
    if result["status"] != "unsolvable":
        return "undecided", f"no plan and no proof ({result['status']})"
    has_plan, evidence = _second_opinion(pair, seconds, result["engine"])
    return "undecided" if has_plan else _verdict(labelled, False), evidence


def _second_opinion(pair: LabelledPair, seconds: float, first: str) -> tuple[bool, str]:
    """Whether another engine has a plan where the `first` proves that none exists, and the evidence."""
    for engine in _SECOND:
        if engine == first or missing(engine):
            continue
        try:
            second = _solve(pair, seconds, planner=engine)
        except PddlegoError:
            continue
        if second["plan"] is not None:
            return True, f"{first} proves that no plan exists, and {engine} has one: {_plan_text(second)}"
        if second["status"] == "unsolvable":
            return False, f"{first} and {engine} prove that no plan exists"
    return False, f"{first} proves that no plan exists"


_SECOND = sorted((name for name, spec in OWN.items() if spec.solve), key=lambda name: not OWN[name].is_parser)
"""Engines for a second proof. Those with their own parser come first, because the others share a translator."""


def _judge_valid(pair: LabelledPair, labelled: Any, seconds: float) -> tuple[Verdict, str]:
    if pair.plan is None:
        return "undecided", "there is no plan"
    result = _run_tool("validate", pair, seconds, plan=pair.plan)
    if result["valid"]:
        return _verdict(labelled, True), f"the plan reaches the goal, with cost {result['cost']}"
    if result["rule"] == DefectKind.SYNTAX.id:
        return "undecided", result["message"]
    return _verdict(labelled, False), result["message"]


def _judge_equivalent(pair: LabelledPair, labelled: Any, seconds: float) -> tuple[Verdict, str]:
    if pair.other is None:
        return "undecided", "there is no second problem (other)"
    result = _run_tool("compare", pair, seconds)
    only = [f"only in {side}: {', '.join(result[key][:3])}" for side, key in _SIDES.items() if result[key]]
    evidence = "; ".join((result["reason"], *only))
    if result["verdict"] == "undecided":
        return "undecided", evidence
    return _verdict(labelled, result["verdict"] == "same"), evidence


_SIDES = {"problem": "only_left", "other": "only_right"}


def _judge_cost(pair: LabelledPair, labelled: Any, seconds: float) -> tuple[Verdict, str]:
    """A cheaper plan contradicts the label whether or not its own cost is proved to be the least."""
    metric = read_problem(pair.problem).problem.metric
    if metric is not None and metric.direction == "maximize":
        return "undecided", "the metric is maximized, and the label is the least cost"
    if metric is None and TOTAL_COST.head in read_domain(pair.domain).domain.functions_by_name:
        return "undecided", "actions have costs, and the problem has no metric"
    result = _solve(pair, seconds, search=str(LEAST_COST))
    if result["plan"] is None and result["status"] == "unsolvable":
        has_plan, evidence = _second_opinion(pair, seconds, result["engine"])
        return "undecided" if has_plan else "contradicted", evidence
    if result["plan"] is None:
        return "undecided", f"no plan and no proof ({result['status']})"
    cost, plan = result["cost"], _plan_text(result)
    if cost < labelled:
        return "contradicted", f"a plan of cost {cost}: {plan}"
    if not result["optimal"]:
        return "undecided", f"no plan cheaper than {cost} was found, and none is excluded"
    return ("confirmed" if cost == labelled else "contradicted"), f"the least cost is {cost}: {plan}"


def _judge_recorded(pair: LabelledPair, labelled: Any, seconds: float) -> tuple[Verdict, str]:
    """The files are repaired first, and a shortest plan is searched for: its length may be recorded, too."""
    if labelled not in _RECORDED:
        return "undecided", f"{labelled} is not a verdict on the problem"
    reading = read_pair(pair.domain, pair.problem, level=Level.TIME)
    if reading.domain is None or reading.defects:
        return "undecided", f"the files are not valid: {reading.defects[0].message}"
    texts = {"domain": reading.files.domain, "problem": reading.files.problem}
    planner = "auto" if needs_numbers(reading.domain, reading.problem) else "pyperplan"
    result = _solve(pair.model_copy(update=texts), seconds, planner=planner, search="bfs")
    if result["status"] not in _RECORDED.values():
        return "undecided", f"no plan and no proof ({result['status']})"
    if reason := difference_from_record(pair, result["status"], len(result["plan"] or ())):
        return "contradicted", reason
    return "confirmed", f"{result['status']}{f': {_plan_text(result)}' if result['plan'] else ''}"


_RECORDED = {"PLAN": "solved", "goal FALSE": "unsolvable", "goal already TRUE": "already true"}
"""The recorded verdicts on problems, as statuses of `solve`. Others are on texts that a planner could not read."""


def difference_from_record(pair: LabelledPair, status: str, steps: int) -> str:
    """How a result of `solve` differs from the record in status or plan length; empty if it does not."""
    expected = [_RECORDED.get(pair.recorded_verdict or "", status)]
    if pair.recorded_verdict == "PLAN" and not pair.recorded_actions:
        expected.append("already true")  # then the plan has no actions
    if status not in expected:
        return f"recorded {pair.recorded_verdict}, now {status}"
    lengths = (len(pair.recorded_actions or ()), pair.reference_plan_length)
    recorded_length = next((length for length in lengths if length and steps and length != steps), None)
    return "" if recorded_length is None else f"recorded a plan of {count(recorded_length, 'step')}, now of {steps}"


_JUDGES = {
    "solvable": _judge_solvable,
    "valid": _judge_valid,
    "equivalent": _judge_equivalent,
    "cost": _judge_cost,
    "recorded_verdict": _judge_recorded,
}
