"""The values that the algorithm and its caller exchange."""

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
    """The indices of the bits that are set, the lowest first."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


@dataclass(frozen=True)
class GraphTask:
    """A ground task with numbered facts and actions. A set is an integer with a bit for each member.

    `needs`, `adds` and `deletes` hold a set of facts for each action; no fact is both added and deleted. The first
    `real` actions are actions of the domain. The others are the no-ops, one for each fact, in the order of the facts.
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
        """The set of actions with each name: an action of the domain may be compiled into several."""
        actions: dict[str, int] = {}
        for number, name in enumerate(self.actions):
            actions[name] = actions.get(name, 0) | 1 << number
        return actions

    @cached_property
    def goal_steps(self) -> int:
        """The set of artificial last steps, which exist if the goal can be reached in several ways."""
        return self.named_actions.get(GOAL_STEP, 0)

    @cached_property
    def needed(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the facts that each action needs: a loop over them is faster than over bits."""
        return tuple(tuple(bits(facts)) for facts in self.needs)

    @cached_property
    def added(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the facts that each action adds."""
        return tuple(tuple(bits(facts)) for facts in self.adds)

    def named(self, facts: int) -> tuple[str, ...]:
        """The names of a set of facts."""
        return tuple(self.facts[number] for number in bits(facts))


def compile_task(task: GroundTask, others: Iterable[str] = ()) -> GraphTask:
    """Number the facts and actions of a ground task. `others` are facts that are always true; they have no-ops, too."""
    names = sorted({*task.facts, *others}, key=lambda fact: [natural(word) for word in fact.strip("()").split()])
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
    keeping = [(f"(noop {name[1:-1]})", 1 << number, 1 << number, 0) for number, name in enumerate(names)]
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


Purpose = Literal["prune", "sort"]

TaskKind = Literal["relevant", "whole"]
"""The extent of a ground task: the part that may contribute to the goal, or everything."""

ExtractionKind = Literal["backjumping", "plain"]
"""The backward search: with conflict-directed backjumping, or plain as in Blum and Furst (1997)."""

_Ending = Literal["found", "no plan", "levels", "given up"]
"""How a pass ended: with a plan; with a proof that no plan exists; at the maximum number of levels; or without a plan
in a pruned graph, which proves nothing."""


MOST_QUESTIONS = 200
"""The maximum number of questions of a planning call, which bounds the cost of a run in advance."""


@dataclass(frozen=True)
class GraphSearch:
    """The options of Graphplan.

    With `prune`, the adviser chooses the actions to keep, and with `sort` their order. `kappas` are the probabilities
    of pruning a level, one for each pass (the paper's kappa_i); a last pass without pruning follows, so that planning
    is complete. The `coin` is tossed for each level, or once for a pass; `seed` is the seed of the coins. `levels` is
    the maximum number of action levels of a graph; None: no bound. `memo` records sets of goals that cannot be reached
    together (no-goods); without them, it is never proved that no plan exists once all goals are in the graph. After
    `questions` questions, all actions are kept. `extraction` is the kind of the backward search.
    """

    prune: bool = False
    sort: bool = False
    kappas: tuple[float, ...] = (1.0,)
    coin: Literal["level", "pass"] = "level"
    levels: int | None = None
    memo: bool = True
    seed: str = ""
    questions: int = MOST_QUESTIONS
    extraction: ExtractionKind = "backjumping"


@dataclass(frozen=True)
class AdviceQuestion:
    """A question about an action level: which `candidates` to keep (`prune`), or in which order to try them (`sort`).

    The answer is a sequence of candidates, spelt as here. Other names are ignored, an empty answer keeps all
    candidates, and candidates that a `sort` answer does not name come last. `facts` are the facts of the level before.
    `useless` is the last answer to this question, if the level that came of it was like the level before.

    `ProcessPlanner` adds domain and problem, for a model that reads them, and the ground task, for rules that compute.
    """

    purpose: Purpose
    level: int
    facts: tuple[str, ...]
    candidates: tuple[str, ...]
    domain: Domain | None = field(default=None, compare=False, repr=False)
    problem: Problem | None = field(default=None, compare=False, repr=False)
    task: GraphTask | None = field(default=None, compare=False, repr=False)
    useless: tuple[str, ...] = ()


@dataclass(frozen=True)
class LevelAdded:
    """A level of actions was added after a level of `facts` facts. `candidates` and `kept` do not count the `noops`.

    `mutexes` are the pairs of actions, including no-ops, that exclude each other. `new_facts` and `fact_mutexes` count
    the facts, and the pairs of facts that exclude each other, in the level after the actions. `satisfied`: that level
    has all goals, no two of which exclude each other. `pruned` names the actions that were not kept.
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
        """The number of all actions of the level, including no-ops: the paper counts these as expanded."""
        return self.kept + self.noops


@dataclass(frozen=True)
class Searched:
    """The graph was searched backwards from `level`: `nodes` actions were tried for a goal, `sets` sets of goals
    examined, `nogoods` of them found impossible; `hits` sets contained a known no-good. All counts are of this
    search."""

    iteration: int
    level: int
    nodes: int
    sets: int
    nogoods: int
    hits: int
    found: bool


@dataclass(frozen=True)
class SearchProgress:
    """The progress of a running search, which is at level `depth`."""

    iteration: int
    level: int
    depth: int
    nodes: int
    sets: int
    nogoods: int


@dataclass(frozen=True)
class Passed:
    """A pass with pruning probability `kappa` has ended; `steps` are the actions of each level of its plan."""

    iteration: int
    kappa: float
    levels: int
    ending: _Ending
    steps: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class PlannedLayers:
    """The result of planning. `steps` are the names of the actions of each level that has any; None without a plan."""

    ending: _Ending
    steps: tuple[tuple[str, ...], ...] | None = None


SearchMoment = LevelAdded | SearchProgress | Searched | Passed
"""An event during planning."""

Advise = Callable[[AdviceQuestion], Sequence[str]]
"""A function that answers a question with some of its candidates, in an order. An empty answer keeps all."""

SearchWatcher = Callable[[SearchMoment], object]
"""A function that is called with each event during planning."""


def keep_all(question: AdviceQuestion) -> Sequence[str]:
    """Give an empty answer: all candidates are kept, in their order."""
    return ()


def ignore(moment: SearchMoment) -> None:
    """Ignore an event."""


@dataclass(frozen=True)
class Graphplan(Search):
    """A search by Graphplan as in `graph`, whatever the planner's engine. `task` is the extent of the ground task.

    `advise` answers questions, and `watch` is called with events, in the thread that plans; their time is not counted.
    An exception in either function ends the planning.
    """

    algorithm: str = "graphplan"
    graph: GraphSearch = field(default_factory=GraphSearch)
    task: TaskKind = "relevant"
    advise: Advise = field(default=keep_all, compare=False, repr=False)
    watch: SearchWatcher = field(default=ignore, compare=False, repr=False)


NOOP = "noop"
