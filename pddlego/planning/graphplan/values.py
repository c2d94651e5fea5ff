"""Values that are passed between the algorithm and its caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from pddlego.pddl import Domain, Problem
from pddlego.planning.ground import GOAL_STEP, GroundTask
from pddlego.planning.result import Search
from pddlego.util.text import natural


def bits(number: int) -> Iterator[int]:
    """The places of the bits that are set, the lowest first."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


@dataclass(frozen=True)
class GraphTask:
    """`needs`, `adds` and `deletes` are sets of facts, one for each action; what an action adds it does not delete.

    The first `real` actions are those of the domain. The others are the no-ops, one for each fact, in their order.
    """

    facts: tuple[str, ...]
    actions: tuple[str, ...]
    needs: tuple[int, ...]
    adds: tuple[int, ...]
    deletes: tuple[int, ...]
    initial: int
    goal: int
    real: int

    @cached_property
    def named_actions(self) -> dict[str, int]:
        """The actions of each name, as a set: an action of the domain may be compiled into several."""
        actions: dict[str, int] = {}
        for number, name in enumerate(self.actions):
            actions[name] = actions.get(name, 0) | 1 << number
        return actions

    @cached_property
    def goal_steps(self) -> int:
        """The artificial last steps, where the goal can be reached in several ways."""
        return self.named_actions.get(GOAL_STEP, 0)

    @cached_property
    def needed(self) -> tuple[tuple[int, ...], ...]:
        """What each action needs, as numbers of facts: to go through these is faster than through bits."""
        return tuple(tuple(bits(facts)) for facts in self.needs)

    @cached_property
    def added(self) -> tuple[tuple[int, ...], ...]:
        """What each action adds, as numbers of facts."""
        return tuple(tuple(bits(facts)) for facts in self.adds)

    def named(self, facts: int) -> tuple[str, ...]:
        """The names of a set of facts."""
        return tuple(self.facts[number] for number in bits(facts))


def compile_task(task: GroundTask, others: Iterable[str] = ()) -> GraphTask:
    """Number a ground task. `others` are facts that are always true, and have a no-op of their own like any other."""
    names = sorted({*task.facts, *others}, key=_written)
    number_of = {name: number for number, name in enumerate(names)}

    def mask(facts: Iterable[str]) -> int:
        result = 0
        for fact in facts:
            result |= 1 << number_of[fact]
        return result

    rows = [
        (
            operator.action,
            mask(operator.preconditions),
            mask(operator.adds),
            mask(operator.deletes - operator.adds),
        )
        for operator in task.operators
    ]
    keeping = [(_noop(name), 1 << number, 1 << number, 0) for number, name in enumerate(names)]
    actions, needs, adds, deletes = zip(*rows, *keeping, strict=True) if names else ((), (), (), ())
    return GraphTask(
        facts=tuple(names),
        actions=actions,
        needs=needs,
        adds=adds,
        deletes=deletes,
        initial=mask({*task.initial, *others}),
        goal=mask(task.goals),
        real=len(rows),
    )


def _noop(fact: str) -> str:
    return f"(noop {fact[1:-1]})"


def _written(fact: str) -> tuple[object, ...]:
    return tuple(natural(word) for word in fact.strip("()").split())


Purpose = Literal["prune", "sort"]

TaskKind = Literal["relevant", "whole"]
"""Which ground task: what may contribute to the goal, or everything."""

_Ending = Literal["found", "no plan", "levels", "given up"]
"""How a pass ended: with a plan; with a proof that its graph holds none; after the most levels that it may have; or
because a graph without the pruned actions holds none, which proves nothing."""


MOST_QUESTIONS = 200
"""Questions of one planning call, so that what a night may cost can be said before it."""


@dataclass(frozen=True)
class GraphSearch:
    """How to plan.

    With `prune` and `sort`, `advise` is asked which actions to keep, and which to try first. `kappas` are the
    probabilities with which a level is pruned, one for each pass (the paper's kappa_i); a pass without pruning follows
    as the last one, so that planning stays complete. The `coin` is tossed for each level, or once for a pass. `levels`
    are the most action levels of a graph; None: no bound. `memo` keeps what was found impossible (no-goods); without,
    it is never proved that no plan exists once all goals are in the graph. `seed` draws the coins. At most so many
    `questions` are asked; after that everything is kept.
    """

    prune: bool = False
    sort: bool = False
    kappas: tuple[float, ...] = (1.0,)
    coin: Literal["level", "pass"] = "level"
    levels: int | None = None
    memo: bool = True
    seed: str = ""
    questions: int = MOST_QUESTIONS


@dataclass(frozen=True)
class AdviceQuestion:
    """Which of the `candidates` of an action level to keep (`prune`), or in which order to try those kept (`sort`).

    The answer is a sequence of candidates as they are written here. What is not a candidate is ignored, an empty answer
    keeps all, and what a sorted answer does not name comes last. `facts` are those of the level before.

    What it is about is added on its way out of the planning process: domain and problem for a model that reads them,
    and the ground task for rules that compute.
    """

    purpose: Purpose
    level: int
    facts: tuple[str, ...]
    candidates: tuple[str, ...]
    domain: Domain | None = field(default=None, compare=False, repr=False)
    problem: Problem | None = field(default=None, compare=False, repr=False)
    task: GraphTask | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class LevelAdded:
    """An action level was made from `facts` facts: of `candidates` actions so many were `kept`, both without no-ops.

    `noops` are the actions that keep a fact as it is, `mutexes` the pairs of all these that exclude each other.
    `new_facts` and `fact_mutexes` are those of the level behind it; `satisfied` says that it has all goals, no two of
    which exclude each other. `pruned` names the actions that were not kept.
    """

    iteration: int
    level: int
    facts: int
    candidates: int
    kept: int
    noops: int
    mutexes: int
    new_facts: int
    fact_mutexes: int
    satisfied: bool
    pruned: tuple[str, ...] = ()

    @property
    def actions(self) -> int:
        """All actions of the level, no-ops too: what the paper counts as expanded."""
        return self.kept + self.noops


@dataclass(frozen=True)
class Searched:
    """The graph was searched backwards from `level`: `nodes` actions were tried for a goal, `sets` are the sets of
    goals that were looked at; `nogoods` were found impossible, `hits` times one was met again. All of this search."""

    iteration: int
    level: int
    nodes: int
    sets: int
    nogoods: int
    hits: int
    found: bool


@dataclass(frozen=True)
class SearchProgress:
    """A search is under way: so much of it is done, and it has come down to level `depth`."""

    iteration: int
    level: int
    depth: int
    nodes: int
    sets: int
    nogoods: int


@dataclass(frozen=True)
class Passed:
    """A pass with this `kappa` has ended after so many `levels`; `steps` are the actions of each level of its plan."""

    iteration: int
    kappa: float
    levels: int
    ending: _Ending
    steps: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class PlannedLayers:
    """How planning ended. `steps` are the names of the actions of each level that has any; None without a plan."""

    ending: _Ending
    steps: tuple[tuple[str, ...], ...] | None = None


SearchMoment = LevelAdded | SearchProgress | Searched | Passed
"""What happens while planning."""

Advise = Callable[[AdviceQuestion], Sequence[str]]
"""Answers a question with some of its candidates, in an order. An empty answer keeps all."""

SearchWatcher = Callable[[SearchMoment], object]
"""Is called with what happens while planning."""


def keep_all(question: AdviceQuestion) -> Sequence[str]:
    """Answer nothing: all candidates are kept, in their order."""
    return ()


def ignore(moment: SearchMoment) -> None:
    """Watch nothing."""


@dataclass(frozen=True)
class Graphplan(Search):
    """Plan by Graphplan, whatever the planner's engine: as `graph` says, with the `task` that is chosen.

    `advise` answers questions, and `watch` is called with moments, in the thread that plans; the time that they take
    is not counted. What they raise ends the planning.
    """

    algorithm: str = "graphplan"
    graph: GraphSearch = field(default_factory=GraphSearch)
    task: TaskKind = "relevant"
    advise: Advise = field(default=keep_all, compare=False, repr=False)
    watch: SearchWatcher = field(default=ignore, compare=False, repr=False)


NOOP = "noop"
