"""Plans as text: one action a line, as planners and validators write them."""

from __future__ import annotations

import re

from pddlego.pddl import PddlSyntaxError
from pddlego.planning.result import Plan, PlanStep
from pddlego.util.answers import spoken

_LINE = re.compile(r"(?:\d+(?:\.\d+)?\s*:)?\s*\(\s*([^\s()]+)((?:\s+[^\s()]+)*)\s*\)\s*(?:\[[\d.]+\])?\Z")

_MARK = re.compile(r"\A\s*(?:[-*+\u2022]|\d[\d.]*[.):])\s*")
"""The bullet or number before a line of a list."""

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


def plan_in(answer: str) -> Plan:
    """Read the plan in a model's answer: its last block of code, or the whole answer if it has no block.

    Bullets and numbers of lists are skipped, and so are lines that do not begin with a parenthesis. Raises
    `PddlSyntaxError` as `parse_plan` does.
    """
    parts = spoken(answer).split("```")
    lines = (_MARK.sub("", line, count=1).strip() for line in parts[-2 if len(parts) > 2 else -1].splitlines())
    return parse_plan("\n".join(line for line in lines if line.startswith("(")))
