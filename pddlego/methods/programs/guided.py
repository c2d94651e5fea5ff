"""Runs searches with a model's heuristic, and classifies the result.

The search runs in the sandbox, in the process of the heuristic (`guide.py`), so its report may be forged. A
plan is validated here, and a state without a better successor is computed here from the actions that lead to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from pddlego.errors import TooManyCasesError
from pddlego.methods.programs.events import SOLVED
from pddlego.methods.programs.guide import GREEDY, PROPERTY, Guide, NoHeuristicError, WrongValueError
from pddlego.methods.programs.trial import MOST_ACTIONS
from pddlego.pddl import Domain, conjuncts
from pddlego.planning import Plan, Planner, PlanResult, PlanStatus, PlanStep, validate
from pddlego.planning.ground import GOAL_STEP
from pddlego.planning.result import GROUND
from pddlego.planning.validation.fault import FaultKind
from pddlego.planning.world import World
from pddlego.sandbox import CallResult, Sandbox, SandboxLimits, SandboxSession, Status
from pddlego.sandbox.jail.values import LARGEST
from pddlego.sandbox.sandbox import modules_of
from pddlego.tasks import Task
from pddlego.util.text import count

_SUCCESSORS = 20
"""Maximum number of successors in a counterexample."""

_REPORTING = 1.0
"""Additional seconds in which a search whose time is up can report its counts."""


class GuidedKind(str, Enum):
    """The kinds of results of a heuristic on a task. All kinds but `SOLVED` are failures."""

    SOLVED = SOLVED
    LOADING = "exception in loading"
    NO_CLASS = "no heuristic"
    INIT = "exception in __init__"
    CALL = "exception in __call__"
    VALUE = "wrong value"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    EXHAUSTED = "search space exhausted"
    UNSOLVABLE = "no plan exists"
    STALLED = "not direct"
    INVALID = "plan semantics"
    GROUNDING = "not grounded"


@dataclass(frozen=True)
class Counterexample:
    """A state that is not a goal and has no successor with a lower value.

    `steps` counts the actions that lead to it, and `missing` are the goals that are false in it. A successor is the
    action, the value, the facts that it adds, and those that it deletes. `left_out` counts the other successors.
    """

    steps: int
    facts: tuple[str, ...]
    missing: tuple[str, ...]
    value: float
    successors: tuple[tuple[str, float, tuple[str, ...], tuple[str, ...]], ...]
    left_out: int = 0


@dataclass(frozen=True)
class GuidedTrial:
    """The result of a heuristic on one task. `seconds` are those of grounding, and CPU time of the search.

    `expanded` is the number of expanded states that the search reports. `plan` is None unless it is valid. If
    `unfinished`, the search for a state that shows that the heuristic is not direct ran out of time.
    """

    kind: GuidedKind
    message: str = ""
    seconds: float = 0.0
    length: int = 0
    expanded: int = 0
    traceback: str = ""
    counterexample: Counterexample | None = None
    plan: Plan | None = field(default=None, repr=False)
    unfinished: bool = False

    @property
    def solved(self) -> bool:
        return self.kind is GuidedKind.SOLVED


@dataclass(frozen=True)
class GroundedTask:
    """A task with the result of grounding it."""

    domain: Domain
    task: Task
    result: PlanResult

    @classmethod
    def of(cls, planner: Planner, domain: Domain, task: Task, seconds: float) -> GroundedTask:
        """Ground a task in the planner's process."""
        return cls(domain, task, planner.solve(domain, task.problem, GROUND, seconds))

    def described(self) -> tuple[list[str], list[str], list[str]]:
        """The facts that can become true, those that are true at first, and those that never change.

        They are empty if the task could not be ground.
        """
        if not self.result.slices:
            return [], [], []
        facts, (initial, _, static) = self.result.slices[0].split("\n"), self.result.slices[1].split("\n")
        return facts, [facts[int(number)] for number in initial.split()], static.split("\t") if static else []


def guided(
    sandbox: Sandbox, program: str, task: GroundedTask, limits: SandboxLimits, algorithms: Sequence[str] = (GREEDY,)
) -> GuidedTrial:
    """Search for a plan in a process of its own. Grounding and all `algorithms` share the time of the limits.

    The next algorithm is tried if hill climbing stops.
    """
    if task.result.status is PlanStatus.ALREADY_TRUE:
        return GuidedTrial(GuidedKind.SOLVED, seconds=task.result.seconds, plan=Plan(()))
    if task.result.status is not PlanStatus.GROUND:
        late = task.result.status is PlanStatus.TIMEOUT
        kind = GuidedKind.TIMEOUT if late else GuidedKind.GROUNDING
        return GuidedTrial(kind, f"while grounding: {task.result.message}", task.result.seconds)
    with sandbox.session(limits, modules_of(program), Guide) as session:
        search = _Search(session, task, limits)
        trial = search.prepare(program)
        for algorithm in algorithms:
            if trial is None or trial.kind is GuidedKind.STALLED:
                trial = search.run(algorithm)
    assert trial is not None
    return trial


_ENDED = {Status.TIMEOUT: GuidedKind.TIMEOUT, Status.MEMORY: GuidedKind.MEMORY}
_RAISED = {NoHeuristicError.__name__: GuidedKind.NO_CLASS, WrongValueError.__name__: GuidedKind.VALUE}


class _Search:
    """A search in a session of the sandbox. Its calls share the time of the limits."""

    def __init__(self, session: SandboxSession, task: GroundedTask, limits: SandboxLimits) -> None:
        self._session, self._task, self._limits = session, task, limits
        self._seconds = task.result.seconds

    def prepare(self, program: str) -> GuidedTrial | None:
        """Send the task, load the program, and make its heuristic. The result if one of them fails."""
        facts, rest, *operators = self._task.result.slices
        calls = [("begin", self._task.task.name, facts, rest), *(("add", part) for part in operators)]
        for function, *arguments in calls:
            if fault := self._fault(self._call(function, *arguments), GuidedKind.GROUNDING):
                return fault
        loaded = self._session.load(program)
        self._seconds += loaded.seconds
        return self._fault(loaded, GuidedKind.LOADING) or self._fault(self._call("make"), GuidedKind.INIT)

    def run(self, algorithm: str) -> GuidedTrial:
        """Search, and check what the search reports."""
        result = self._call("search", algorithm, self._left)
        if fault := self._fault(result, GuidedKind.CALL):
            return fault
        try:
            return self._judged(result.value[0], algorithm)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, TooManyCasesError):  # forged
            return self._trial(GuidedKind.INVALID, "the search did not report its result in the right form")

    @property
    def _left(self) -> float:
        return max(0.0, self._limits.seconds - self._seconds)

    def _call(self, function: str, *arguments: object) -> CallResult:
        self._session.post(function, *arguments)
        result = self._session.collect(self._left + _REPORTING)
        self._seconds += result.seconds
        return result

    def _trial(self, kind: GuidedKind, message: str = "", **details: Any) -> GuidedTrial:
        return GuidedTrial(kind, message, self._seconds, **details)

    def _fault(self, result: CallResult, kind: GuidedKind) -> GuidedTrial | None:
        """The trial of a call that failed; `kind` is that of an exception."""
        if result.returned:
            return None
        kind = _ENDED.get(result.status) or _RAISED.get(result.error, kind)
        if kind in _RAISED.values():  # raised by our code, so there is no line of the heuristic
            return self._trial(kind, result.message.partition(f"{result.error}: ")[2])
        late = f"it took longer than {count(round(self._limits.seconds, 3), 'second')}"
        return self._trial(kind, late if kind is GuidedKind.TIMEOUT else result.message, traceback=result.traceback)

    def _judged(self, report: Any, algorithm: str) -> GuidedTrial:
        """The trial for a report of the search. Raises an exception if its form is wrong."""
        ended, expanded = report["ended"], report["expanded"]
        if type(expanded) is not int or not 0 <= expanded < LARGEST:
            raise ValueError("the number of expanded states is not a count")
        unfinished = ended == "time" and algorithm == PROPERTY
        late = ended == "time" or (algorithm != PROPERTY and self._seconds > self._limits.seconds)
        if late and not (unfinished and report["plan"]):
            reason = f"no plan within {count(round(self._limits.seconds, 3), 'second')}"
            return self._trial(GuidedKind.TIMEOUT, reason, expanded=expanded, unfinished=unfinished)
        if ended == "exhausted":
            reason = "no state is left whose value is finite"
            return self._trial(GuidedKind.EXHAUSTED, reason, expanded=expanded)
        if ended == "unsolvable":
            reason = "every state that can be reached was expanded, and none is a goal"
            return self._trial(GuidedKind.UNSOLVABLE, reason, expanded=expanded)
        names = report["plan"]
        if len(names) > MOST_ACTIONS:
            reason = f"the plan has {len(names):,} actions, more than can be looked at"
            return self._trial(GuidedKind.INVALID, reason, expanded=expanded)
        steps = tuple(PlanStep.read(name) for name in names if name != GOAL_STEP)
        if ended == "stalled":
            return self._stalled(steps, report, expanded)
        fault = validate(self._task.domain, self._task.task.problem, Plan(steps))
        if fault is not None:
            return self._trial(GuidedKind.INVALID, fault.what, length=len(steps), expanded=expanded)
        plan = Plan(steps, expanded=max(expanded, len(steps)))
        found = self._trial(GuidedKind.SOLVED, length=len(steps), expanded=plan.expanded, plan=plan)
        return replace(found, unfinished=unfinished)

    def _stalled(self, steps: Sequence[PlanStep], report: Any, expanded: int) -> GuidedTrial:
        """The trial that ended in a state without a better successor. Raises `ValueError` for impossible steps."""
        domain, problem = self._task.domain, self._task.task.problem
        fault = validate(domain, problem, Plan(tuple(steps)))
        if fault is None or fault.kind is not FaultKind.GOAL:
            raise ValueError("the search did not come to this state")
        world = World(domain, problem)
        state = world.initial
        for step in steps:
            world.work.renew()
            state = world.after(step, state)
        values = sorted(((str(name), float(value)) for name, value in report["successors"]), key=lambda pair: pair[1])
        successors = []
        for name, value in values[:_SUCCESSORS]:
            after = world.after(PlanStep.read(name), state)
            successors.append((name, value, _texts(after.facts - state.facts), _texts(state.facts - after.facts)))
        facts, _, static = self._task.described()
        true = set(map(str, state.facts))
        negated = [fact for fact in facts if fact.startswith("(not ") and fact[5:-1] not in true]
        missing = (part for part in conjuncts(problem.goal) if not world.holds(part, state, {}))
        example = Counterexample(
            len(steps),
            tuple(sorted(true.difference(static).union(negated))),
            _texts(missing),
            float(report["value"]),
            tuple(successors),
            len(values) - len(successors),
        )
        reason = f"the state after {count(len(steps), 'step')} has the value {example.value:g}, and no better successor"
        return self._trial(GuidedKind.STALLED, reason, expanded=expanded, counterexample=example)


def _texts(parts: Iterable[object]) -> tuple[str, ...]:
    return tuple(sorted(map(str, parts)))
