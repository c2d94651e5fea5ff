"""Why a judge is wrong: the faults that were found, each with the sentence that decides it."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

from tests.levels.tasks import Task

CASES = {
    ("c10-hold-during", "bad1"): (
        "val, kairos",
        "Gerevini and Long 2005: (hold-during a b p) says that p is true from a to b; the plan ends before a",
    ),
    ("n07-division-by-zero", "bad1"): ("val", "an expression without a value makes no comparison true; VAL divides"),
    ("n09-assign-and-increase", "bad1"): (
        "kairos",
        "Fox and Long 2003, definition 11: an action may assign to a number or add to it, not both",
    ),
    ("t10-read-write", "bad1"): (
        "unified-planning",
        "Fox and Long 2003, definition 12: no action reads what another one changes at one moment",
    ),
}
"""The wrong judges of the plans of `shared/cases/levels`."""

SAME_MOMENT = (
    "Fox and Long 2003, definition 12: actions at one moment interfere if one changes what the other reads, and not if "
    "both add the same fact or both increase the same number. unified-planning allows the first, and refuses the second"
)


def is_explained(task: Task, verdicts: dict[str, str]) -> bool:
    """Whether a disagreement follows from `SAME_MOMENT`: only unified-planning disagrees, and moments coincide."""
    return verdicts["val"] == verdicts["kairos"] and _moments_coincide(task)


def _moments_coincide(task: Task) -> bool:
    literals = [Fraction(time) for time in re.findall(r"\(at (\d+) ", task.problem)]
    ends = [moment for step in task.steps.timed for moment in {Fraction(step.start), step.end}]
    return max(Counter([*literals, *ends]).values(), default=0) > 1
