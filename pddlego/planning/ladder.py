"""The goal ladder: the end goal first, then the sub-goals to fall back on (paper, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pddlego.pddl import TRUE, Domain, Formula, Problem
from pddlego.pddl.conditions import And, Not
from pddlego.planning.result import BREADTH_FIRST, NO_PLAN, Plan, Planner, PlanStatus, PlanStep, Search


@dataclass(frozen=True)
class Rung:
    """A goal of the ladder, its search, and the constraints of its plan.

    `explores`: it is to see anything new. `ends`: no action is possible once the goal is true.
    """

    name: str
    goal: Formula
    search: Search = BREADTH_FIRST
    explores: bool = False
    constraints: Formula = TRUE
    ends: bool = False

    def task(self, domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
        """The task to plan for this goal."""
        if self.ends:
            over, actions = Not(self.goal), domain.actions
            actions = tuple(replace(action, precondition=And((action.precondition, over))) for action in actions)
            domain = replace(domain, actions=actions)
            domain = replace(domain, text=str(domain))
        return domain, replace(problem, goal=self.goal, constraints=self.constraints)


@dataclass(frozen=True)
class TriedRung:
    """A rung of the ladder and the result of planning for it. `length` is the number of steps of its plan."""

    name: str
    status: PlanStatus
    message: str
    seconds: float
    length: int = 0


@dataclass(frozen=True)
class LadderResult:
    """The rungs that were tried, in order. `plan` is the plan for the last rung, if one was found."""

    tried: tuple[TriedRung, ...]
    plan: Plan | None = None

    @property
    def rung(self) -> str | None:
        """The name of the rung that the plan is for."""
        return self.tried[-1].name if self.plan is not None else None


def climb(
    planner: Planner,
    domain: Domain,
    problem: Problem,
    rungs: Sequence[Rung],
    objection: Callable[[PlanStep], str] = lambda step: "",
    seconds_left: Callable[[], float | None] = lambda: None,
) -> LadderResult:
    """Try the rungs in order and stop at the first that has a plan.

    A rung whose goal is already true has no plan. A plan is rejected if `objection` returns a reason against its first
    step; an empty text accepts the plan. An invalid problem or a crashed planner ends the climb, because every other
    rung would fail in the same way; so does the end of the time.
    """
    tried: list[TriedRung] = []
    plan: Plan | None = None
    for rung in rungs:
        left = seconds_left()
        if left is not None and left <= 0 and tried:
            break
        limit = {} if left is None else {"seconds": left}
        actions, task = rung.task(domain, problem)
        result = planner.solve(actions, task, rung.search, **limit)
        if result.message == NO_PLAN:  # another problem may have the plan, once more of the world is known
            result = replace(result, message=f"{NO_PLAN} from what is known")
        reason = objection(result.plan.steps[0]) if result.plan is not None else ""
        if reason and result.plan is not None:
            message = f"the plan begins with {result.plan.steps[0]}, and {reason}"
            result = replace(result, status=PlanStatus.UNSOLVABLE, plan=None, message=message)
        tried.append(TriedRung(rung.name, result.status, result.message, result.seconds, len(result.plan or ())))
        plan = result.plan
        if result.status in (PlanStatus.SOLVED, PlanStatus.INVALID, PlanStatus.CRASHED):
            break
    return LadderResult(tuple(tried), plan)
