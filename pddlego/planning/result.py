"""The arguments and the results of a planning call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, Protocol

from pddlego.errors import EngineError
from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import Formula
from pddlego.planners import HEURISTICS
from pddlego.util.text import Shown, count


class PlanStatus(str, Enum):
    """How a planning call ended. `bound`: no plan within the allowed levels, though a longer one may exist. `ground`:
    the problem was only ground.
    """

    SOLVED = "solved"
    ALREADY_TRUE = "already true"
    UNSOLVABLE = "unsolvable"
    INVALID = "invalid"
    TIMEOUT = "timeout"
    MEMORY = "out of memory"
    BOUND = "bound"
    GROUND = "ground"
    CRASHED = "crashed"


NOTHING_THERE = "nothing that the goal speaks of is known yet"
"""The message about a goal that is true because no object is of a type that it quantifies over."""

TOO_DEEP = "a condition is nested too deeply, or a derived fact follows from too long a chain"

NO_PLAN = "no sequence of actions reaches the goal"
"""The message about an unsolvable task."""

NO_VALID_PLAN = "no valid plan found"
"""The message about a task for which an engine found only plans that are not valid."""


@dataclass(frozen=True)
class PlanStep:
    """A ground action: its name and its arguments, all PDDL names."""

    action: str
    args: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> PlanStep:
        """The step that is written `(action argument …)`."""
        action, *args = text.strip("()").split()
        return cls(action, tuple(args))

    def __str__(self) -> str:
        return "(" + " ".join((self.action, *self.args)) + ")"


@dataclass(frozen=True)
class TimedStep:
    """A step of a timed plan: it lasts from `start` for `duration`, or is instantaneous if that is None.

    Written `TIME: (action argument …) [DURATION]`, in the units of the domain.
    """

    start: Decimal
    step: PlanStep
    duration: Decimal | None = None

    @property
    def end(self) -> Fraction:
        """Start and duration added exactly: sums of `Decimal` are rounded."""
        return Fraction(self.start) + Fraction(self.duration or 0)

    def __str__(self) -> str:
        return f"{self.start:f}: {self.step}" + ("" if self.duration is None else f" [{self.duration:f}]")


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """The steps of a plan, in the order of execution.

    `times` are their times if several steps are at the same time, which must not interfere, or if a constraint has a
    time; else it is empty.
    `durations` are those of a timed plan, in which each step also has a time; None for an instantaneous action.
    `expanded` is the number of states that the search expanded; 0 if the engine does not count them.
    `optimal` is whether the engine proved that no plan costs less; None if that follows from the search.
    """

    steps: tuple[PlanStep, ...]
    times: tuple[Decimal, ...] = ()
    expanded: int = field(default=0, compare=False)
    durations: tuple[Decimal | None, ...] = ()
    optimal: bool | None = field(default=None, compare=False)

    @classmethod
    def of(cls, steps: Iterable[TimedStep], optimal: bool | None = None) -> Plan:
        """The timed plan of steps in any order."""
        ordered = sorted(steps, key=lambda step: step.start)
        times, durations = (step.start for step in ordered), (step.duration for step in ordered)
        return cls(tuple(step.step for step in ordered), tuple(times), 0, tuple(durations), optimal)

    @property
    def timed(self) -> tuple[TimedStep, ...]:
        """The steps of a timed plan; empty for any other plan."""
        return tuple(map(TimedStep, self.times, self.steps, self.durations))

    @property
    def makespan(self) -> Fraction:
        """The latest end of a step of a timed plan; 0 for any other plan."""
        return max((step.end for step in self.timed), default=Fraction(0))

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return f"<Plan of {count(len(self.steps), 'step')}: {', '.join(map(str, self.steps))}>"

    def __str__(self) -> str:
        return "\n".join(map(str, self.timed or self.steps))


@dataclass(frozen=True)
class GoalPart:
    """A part of a goal, and whether it can be reached without the others; None if that was not decided."""

    goal: str
    reachable: bool | None = None


@dataclass(frozen=True)
class WhyNoPlan:
    """What is known of a goal without a plan.

    `exclusive` are parts of the goal that can be reached, but never together. `chain` are sentences about what is
    missing, each about something that the sentence before it needs. `plan` reaches the goal after all: the exploration
    of states found it, and the planner did not. `cures` are changes of the initial state, each of
    which makes a plan possible, such as `with (connected kitchen cellar) in :init`: types, facts that look
    forgotten, and numbers. `complete`: nothing was left out because the time ended.
    """

    goals: tuple[GoalPart, ...]
    exclusive: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    cures: tuple[str, ...] = ()
    complete: bool = True
    plan: Plan | None = None

    @property
    def is_proof(self) -> bool:
        """Whether it proves that no plan exists."""
        return bool(self.exclusive) or any(part.reachable is False for part in self.goals)


@dataclass(frozen=True)
class PlanResult:
    """The result of one planning call. `plan` is set if and only if the status is `solved`; `seconds` is wall time.

    `engine` is the engine that found the plan, or that was tried last. `cost` is the cost of the plan: the sum of its
    action costs if the problem minimizes costs, else the number of its steps. `slices` is the ground task after the
    search `GROUND`: its facts, the rest of it, and slices of its operators, as texts for the driver of heuristics.
    `why` is the explanation after the search `EXPLAIN`.
    """

    status: PlanStatus
    goal: Formula
    plan: Plan | None = None
    message: str = ""
    seconds: float = 0.0
    engine: str = ""
    cost: float | None = None
    slices: tuple[str, ...] = field(default=(), repr=False)
    why: WhyNoPlan | None = None

    def tried(self, task: str) -> PlanResult:
        """This result, if it says something about the task. Raises `EngineError` if the engine could not try it."""
        if self.status in (PlanStatus.CRASHED, PlanStatus.INVALID):
            what = f"{self.engine or 'The planner'} cannot plan for {task}"
            raise EngineError(what, f"{self.message}.", "See 'pddlego check', or choose another --planner.")
        return self


_ALGORITHMS = {
    "bfs": "breadth-first: plans of least cost, the nearest goal first (A* with hmax where it is far)",
    "astar": "A*: plans of least cost with an admissible heuristic (blind, hmax, lmcut, landmark)",
    "wastar": "weighted A* (weight 5)",
    "gbf": "greedy best-first: fast, plans of any length",
    "ehs": "enforced hill-climbing, greedy best-first where it gets stuck",
    "ids": "iterative deepening; does not notice that a goal is unreachable, so it ends by timeout then",
}
_ADMISSIBLE = (None, "blind", "hmax", "landmark", "lmcut")
_DEFAULT_HEURISTIC = {"astar": "lmcut", "wastar": "hff", "gbf": "hff", "ehs": "hff"}
SEARCH_NAMES = (*_ALGORITHMS, *(f"{name}({heuristic})" for name in _DEFAULT_HEURISTIC for heuristic in HEURISTICS))
"""All searches that `Search.parse` reads."""

_SEARCH = re.compile(r"([a-z]+)(?:\(([a-z]+)\))?\Z")


@dataclass(frozen=True)
class Search:
    """A search algorithm with its heuristic, written as in `bfs`, `astar(lmcut)` or `gbf(hff)`.

    `engine` searches unless the planner is made for one engine.
    """

    algorithm: str = "bfs"
    heuristic: str | None = None
    engine: str = "pyperplan"

    @classmethod
    def parse(cls, text: str, engine: str = "pyperplan") -> Search:
        """The search that `text` names. Raises `ValueError`, which lists the available searches, if it names none."""
        match = _SEARCH.match(text.strip().lower())
        algorithm, heuristic = match.groups() if match else (text, None)
        if algorithm not in _ALGORITHMS:
            raise ValueError(f"unknown search '{text}'; the searches are {', '.join(_ALGORITHMS)}")
        if heuristic is not None and heuristic not in HEURISTICS:
            raise ValueError(f"unknown heuristic '{heuristic}'; the heuristics are {', '.join(HEURISTICS)}")
        default = _DEFAULT_HEURISTIC.get(algorithm)
        if default is None and heuristic is not None:
            raise ValueError(f"{algorithm} takes no heuristic: write '{algorithm}'")
        return cls(algorithm, heuristic or default, engine)

    @property
    def is_optimal(self) -> bool:
        """Whether the search promises a plan of least cost, given an admissible heuristic."""
        return self.algorithm in ("bfs", "astar", "ids")

    @property
    def proves_least_cost(self) -> bool:
        """Whether no plan has a lower cost than the one that the search finds: its heuristic is admissible, too."""
        return self.is_optimal and self.heuristic in _ADMISSIBLE

    def __str__(self) -> str:
        return f"{self.algorithm}({self.heuristic})" if self.heuristic else self.algorithm


LEAST_COST = Search("astar", "lmcut")
"""The search to recommend for a plan of least cost."""

NOT_SEARCHED = "no planner here maximizes a metric, so better plans were not searched for"
"""Why the cost of a plan is not proved to be maximal."""

EAGER = "eager"
"""Greedy best-first search of Fast Downward with one heuristic, without preferred operators."""

GROUND = Search("ground")
"""Grounds the problem without a search, for searches outside of the planner."""

EXPLAIN = Search("explain")
"""Looks for the reasons why there is no plan, for about three quarters of the time limit."""

BREADTH_FIRST = Search()
"""The default search: shortest plans, to the nearest of several goals."""


class Planner(Protocol):
    """Finds a plan for the goal of a problem. Never raises for anything the problem may hold: see `PlanStatus`."""

    @property
    def description(self) -> Mapping[str, Any]:
        """The engine and its limits, for the manifest."""

    def solve(self, domain: Domain, problem: Problem, search: Search, seconds: float | None = None) -> PlanResult:
        """Plan for `problem.goal`, in at most `seconds` if they are given."""

    def close(self) -> None:
        """Release processes and files. Safe to call twice."""
