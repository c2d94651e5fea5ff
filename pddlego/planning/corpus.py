"""Reads a corpus of PDDL files by models, repairs and plans with them, and compares the results with recorded ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from pddlego.errors import UsageError
from pddlego.pddl.costs import needs_numbers
from pddlego.pddl.rules import Level
from pddlego.pddl.tolerant import read_pair
from pddlego.planning import Planner, PlanResult, PlanStatus, Search
from pddlego.util.text import count, fault_of

_VERDICTS = {
    "PLAN": PlanStatus.SOLVED,
    "goal FALSE": PlanStatus.UNSOLVABLE,
    "goal already TRUE": PlanStatus.ALREADY_TRUE,
}
"""The recorded verdicts about problems, as statuses. Other verdicts are about texts that a planner could not read."""

RECORDED_VERDICTS = (*_VERDICTS, "", "semantic error", "syntax error", "none, no message", "n/a", "segfault")
"""All recorded verdicts; only those in `_VERDICTS` are compared with a result."""


class Pair(BaseModel):
    """A line of the corpus: a domain and a problem by a model, and the recorded result of a planner."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    domain: str
    problem: str
    recorded_verdict: str | None = None
    recorded_actions: tuple[str, ...] | None = None
    reference_plan_length: int | None = None


@dataclass(frozen=True)
class CheckedPair:
    """The result of checking a pair. `refused` is the kind of defect that prevents planning, `message` its description.

    `readable`: the files have no syntax errors. `contradiction` is the difference between the result and the record;
    empty without one. A refused pair contradicts every record of a verdict about the problem.
    """

    pair: Pair
    repairs: tuple[str, ...] = ()
    readable: bool = True
    refused: str = ""
    message: str = ""
    contradiction: str = ""


def read_pairs(path: Path) -> Iterator[Pair]:
    """The pairs of a file of JSON lines. Raises `UsageError`."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"{path} cannot be read", f"{error.strerror}.", "Check the path.") from error
    for number, line in enumerate(lines, start=1):
        try:
            yield Pair.model_validate_json(line)
        except ValidationError as error:
            reason = f"Line {number}: {fault_of(error.errors()[0])}."
            raise UsageError(f"{path} is not a corpus", reason, "A line needs id, domain and problem.") from error


def check_pair(pair: Pair, planner: Planner) -> CheckedPair:
    """Repair a pair, check it, plan with it, and compare the result with the record."""
    reading = read_pair(pair.domain, pair.problem, level=Level.TIME)
    repairs = tuple(map(str, reading.files.repairs))
    if reading.domain is None:
        return _refused(pair, repairs, False, "domain cannot be read", reading.defects[0].message)
    if reading.defects:
        readable = not any(
            defect.kind.value in ("syntax", "not supported", "missing section") for defect in reading.in_problem
        )
        first = reading.defects[0]
        return _refused(pair, repairs, readable, first.kind.value, first.message)
    needs_others = needs_numbers(reading.domain, reading.problem) is not None  # engines that have numbers and time
    search = Search(engine="auto") if needs_others else Search()
    result = planner.solve(reading.domain, reading.problem, search)
    if result.status not in _VERDICTS.values():
        return _refused(pair, repairs, True, f"planner: {result.status.value}", result.message)
    return CheckedPair(pair, repairs, contradiction=_contradiction(pair, result))


def _refused(pair: Pair, repairs: tuple[str, ...], readable: bool, reason: str, message: str) -> CheckedPair:
    """The result for a pair that cannot be planned with, which contradicts a recorded verdict about the problem."""
    recorded = f"recorded {pair.recorded_verdict}, now refused" if pair.recorded_verdict in _VERDICTS else ""
    return CheckedPair(pair, repairs, readable, reason, message, recorded)


def _contradiction(pair: Pair, result: PlanResult) -> str:
    wanted = _VERDICTS.get(pair.recorded_verdict or "")
    if wanted is PlanStatus.SOLVED and not pair.recorded_actions:
        wanted = PlanStatus.ALREADY_TRUE  # a plan without actions
    if wanted is not None and result.status is not wanted:
        return f"recorded {pair.recorded_verdict}, now {result.status.value}"
    if result.plan is None:
        return ""
    lengths = [len(pair.recorded_actions)] if pair.recorded_actions else []
    lengths += [pair.reference_plan_length] if pair.reference_plan_length is not None else []
    other = next((length for length in lengths if length != len(result.plan)), None)
    return "" if other is None else f"recorded a plan of {count(other, 'step')}, now of {len(result.plan)}"
