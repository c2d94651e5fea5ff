"""Plans as text: one action a line, as planners and validators write them."""

from __future__ import annotations

import re

from pddlego.pddl import PddlSyntaxError
from pddlego.planning.result import Plan, PlanStep

_LINE = re.compile(r"(?:\d+(?:\.\d+)?\s*:)?\s*\(\s*([^\s()]+)((?:\s+[^\s()]+)*)\s*\)\s*(?:\[[\d.]+\])?\Z")

MOST_FAULTS = 20


def parse_plan(text: str) -> Plan:
    """The plan that a text holds: `(action object …)` a line, in any case, with comments behind `;`.

    A number and a colon before an action are its time, and are not needed. Raises `PddlSyntaxError` with every line
    that is no action.
    """
    steps: list[PlanStep] = []
    faults: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        said = line.partition(";")[0].strip().lower()
        if not said:
            continue
        match = _LINE.match(said)
        if match is None:
            faults.append(f"line {number}, '{line.strip()[:60]}', is no action: write (action object …)")
        else:
            steps.append(PlanStep(match.group(1), tuple(match.group(2).split())))
    if faults:
        raise PddlSyntaxError(faults[:MOST_FAULTS])
    return Plan(tuple(steps))
