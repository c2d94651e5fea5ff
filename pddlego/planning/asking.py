"""Planning that asks on its way: a generator that yields questions and what happens, and takes answers.

A planner that asks nothing is one that yields nothing, so that whoever can answer needs only one way to plan.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from pddlego.pddl import Domain, Problem
from pddlego.planning.graphplan.values import GraphSearch, Moment, Question, TaskKind
from pddlego.planning.result import Planner, PlanResult, Search

T = TypeVar("T")

Answer = Sequence[str] | None
"""Names of actions, for a question; None for none, and for what is no question."""

Asking = Generator[Question | Moment, Answer, T]
"""Planning that returns a T in the end."""


@runtime_checkable
class AskingPlanner(Protocol):
    """A planner that may ask while it plans."""

    def planning(
        self,
        domain: Domain,
        problem: Problem,
        search: Search,
        seconds: float | None,
        graph: GraphSearch | None = None,
        task: TaskKind = "relevant",
    ) -> Asking[PlanResult]:
        """Plan as `solve` does, or by Graphplan as `graph` says. The time that is waited for answers does not count."""


def planned(
    planner: Planner,
    domain: Domain,
    problem: Problem,
    search: Search,
    seconds: float | None,
    graph: GraphSearch | None = None,
    task: TaskKind = "relevant",
) -> Asking[PlanResult]:
    """Plan with any planner. Other planners than those that ask need not know of a limit where there is none.

    Raises `TypeError` for a `graph` that the planner knows nothing of.
    """
    if isinstance(planner, AskingPlanner):
        return (yield from planner.planning(domain, problem, search, seconds, graph=graph, task=task))
    if graph is not None:
        raise TypeError(f"{type(planner).__name__} does not plan by Graphplan")
    return planner.solve(domain, problem, search, **({} if seconds is None else {"seconds": seconds}))


def unasked(planning: Asking[T], told: Callable[[Question | Moment], None] = lambda moment: None) -> T:
    """The end of planning when nobody answers; `told` hears what happens."""
    while True:
        try:
            told(planning.send(None))
        except StopIteration as ended:
            found: T = ended.value
            return found
