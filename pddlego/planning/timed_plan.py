"""Reads timed plans, which have a line `TIME: (action argument …) [DURATION]` for each step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from pddlego.pddl import Defect, PddlSyntaxError
from pddlego.pddl.rules import Position, syntax_defect
from pddlego.pddl.sexpr import LINE_BREAK, MAX_NUMBER
from pddlego.planning.result import Plan, PlanStep, TimedStep
from pddlego.util.text import one_line

MOST_STEPS = 100_000

_MOST_FAULTS = 20

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d{1,2})?"
_STEP = re.compile(
    rf"(?P<start>{_NUMBER})\s*:\s*\((?P<words>[^()]*)\)"
    rf"(?:\s*\[\s*(?:d(?:uration)?:\s*)?(?P<duration>{_NUMBER})(?:[;\s][^\]]*)?\])?(?:\s*;.*)?\Z",
    re.IGNORECASE | re.ASCII,
)
"""A step, and a comment. Planners also write durations as `[D:5.000; C:1.000]`."""

_SHAPE = "TIME: (action object …) [DURATION], or TIME: (action object …) for an action without a duration"


def read_timed_plan(text: str) -> Plan:
    """Read a timed plan, in any order of lines; `;` begins a comment.

    An empty text is the empty plan. Raises `PddlSyntaxError` with each line that is not a step, up to a bound.
    """
    steps: list[TimedStep] = []
    defects: list[Defect] = []
    for place, line in _lines(text):
        if len(steps) == MOST_STEPS:
            defects.append(syntax_defect(f"the plan has more than {MOST_STEPS:,} steps", place))
            break
        step = _step(line, place)
        if isinstance(step, TimedStep):
            steps.append(step)
        else:
            defects.append(step)
            if len(defects) == _MOST_FAULTS:
                break
    if defects:
        raise PddlSyntaxError(defects)
    return Plan.of(steps)


def _lines(text: str) -> Iterator[tuple[Position, str]]:
    """The stripped lines that are not empty and not comments, each with its position."""
    for number, line in enumerate(LINE_BREAK.split(text.removeprefix("\ufeff")), start=1):
        content = line.strip()
        if content and not content.startswith(";"):
            yield (number, line.index(content[0]) + 1), content


def _step(line: str, place: Position) -> TimedStep | Defect:
    match = _STEP.match(line)
    shown = one_line(line, 60)
    if match is None:
        return syntax_defect(f"line {place[0]}, '{shown}', is not a timed step: write {_SHAPE}", place)
    start, duration = match["start"], match["duration"]
    if max(len(start), len(duration or "")) > MAX_NUMBER:
        return syntax_defect(f"line {place[0]} has a number of more than {MAX_NUMBER} characters", place)
    if start.startswith("-") or (duration or "").startswith("-"):
        return syntax_defect(f"line {place[0]}, '{shown}', has a negative time or duration", place)
    action, *args = match["words"].lower().split() or [""]
    if not action[:1].isalpha():
        return syntax_defect(f"line {place[0]}, '{shown}', does not name an action: write {_SHAPE}", place)
    return TimedStep(Decimal(start), PlanStep(action, tuple(args)), None if duration is None else Decimal(duration))
