"""What the model is told when its problem leaves no goal of the ladder within reach."""

from __future__ import annotations

from pddlego.models.feedback import Feedback
from pddlego.planning import LadderResult, PlanStatus

UNREACHABLE = "goal unreachable"
"""The category of an answer whose problem leaves no goal within reach."""

NO_PLAN = {
    PlanStatus.UNSOLVABLE: (UNREACHABLE, "with this problem file no sequence of actions reaches any goal:"),
    PlanStatus.ALREADY_TRUE: ("goal already true", "in this problem file the goal is true before any action:"),
    PlanStatus.INVALID: ("invalid problem", "the planner cannot read the problem file:"),
    PlanStatus.TIMEOUT: ("planner timeout", "the planner found no plan in time for this problem file:"),
    PlanStatus.BOUND: ("planner bound", "the planner found no plan that is short enough for this problem file:"),
    PlanStatus.MEMORY: (
        "planner out of memory",
        "the planner ran out of memory with this problem file; make it smaller:",
    ),
}
"""What the model is told when the ladder gives no plan, by the status of the rung that says most."""

SAYS_MOST = (PlanStatus.INVALID, PlanStatus.MEMORY, PlanStatus.TIMEOUT, PlanStatus.BOUND)
"""Of goals that failed in several ways these are told first: that another goal is true already says nothing then."""


def no_plan(ladder: LadderResult) -> Feedback:
    """What the model is told when no goal of the ladder has a plan."""
    statuses = [rung.status for rung in ladder.tried]
    category, message = NO_PLAN[next((status for status in SAYS_MOST if status in statuses), statuses[-1])]
    tried = (f"{rung.name}: {rung.status.value} ({rung.message})" for rung in ladder.tried)
    return Feedback(category, message, tuple(tried))
