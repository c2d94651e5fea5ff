"""Planning that asks on its way: a generator that yields questions and what happens, and takes answers.

A planner that asks nothing is one that yields nothing, so that whoever can answer needs only one way to plan.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from pddlego.pddl import Domain, Problem
from pddlego.planning.graphplan.values import Moment, Question
from pddlego.planning.result import Planner, PlanResult, Search

T = TypeVar("T")

Answer = Sequence[str] | None
"""Names of actions, for a question; None for none, and for what is no question."""

Asking = Generator[Question | Moment, Answer, T]
"""Planning that returns a T in the end."""


@runtime_checkable
class AskingPlanner(Protocol):
    """A planner that may ask while it plans."""

    def planning(self, domain: Domain, problem: Problem, search: Search, seconds: float | None) -> Asking[PlanResult]:
        """Plan as `solve` does. The time that is waited for answers does not count."""


def planned(
    planner: Planner, domain: Domain, problem: Problem, search: Search, seconds: float | None
) -> Asking[PlanResult]:
    """Plan with any planner. Other planners than those that ask need not know of a limit where there is none."""
    if isinstance(planner, AskingPlanner):
        return (yield from planner.planning(domain, problem, search, seconds))
    return planner.solve(domain, problem, search, **({} if seconds is None else {"seconds": seconds}))


def unasked(planning: Asking[T], told: Callable[[Question | Moment], None] = lambda moment: None) -> T:
    """The end of planning when nobody answers; `told` hears what happens."""
    while True:
        try:
            told(planning.send(None))
        except StopIteration as ended:
            found: T = ended.value
            return found
