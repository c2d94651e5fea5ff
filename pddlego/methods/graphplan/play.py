"""Plays a cell: Graphplan plans for one task and asks a model, or the model writes the plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from dataclasses import dataclass

from pddlego.episode.ask import Chat
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Event, Outcome, Rejected
from pddlego.episode.lifecycle import Body
from pddlego.episode.loop import Attempt, Retry, refine
from pddlego.episode.trace import Trace
from pddlego.methods.base import Tools, base_mode, parse_variant
from pddlego.methods.graphplan.advisers import Advisers, PlanRequest, planning
from pddlego.methods.graphplan.events import (
    INVALID,
    SOLVED,
    Bounded,
    Grown,
    Looked,
    Looking,
    PassEnded,
    PlanConcluded,
    Proposed,
    TaskGiven,
    Unit,
)
from pddlego.methods.graphplan.options import (
    BY_MODEL_COT,
    MODES,
    NO_FEEDBACK,
    NO_PRUNE,
    NO_SORT,
    PLANS_BY_MODEL,
    GraphplanOptions,
)
from pddlego.methods.graphplan.setting import GraphplanSetting, shortest_plan
from pddlego.methods.planning_settings import example_action
from pddlego.models.base import Feedback, shortened
from pddlego.models.prompts import Prompts
from pddlego.pddl import PddlSyntaxError
from pddlego.pddl.conditions import And
from pddlego.planning import Plan, PlanResult, PlanStatus, Search, validate
from pddlego.planning.graphplan.values import (
    AdviceQuestion,
    Advise,
    Graphplan,
    GraphSearch,
    LevelAdded,
    Passed,
    SearchMoment,
    SearchProgress,
    SearchWatcher,
)
from pddlego.planning.plan_text import plan_in
from pddlego.planning.validation.fault import PlanFault
from pddlego.runs.cells import Cell
from pddlego.util.text import count

_OPTIMAL = Search("astar", "lmcut")
"""A search whose plans have the fewest actions."""

_TOO_LONG, _UNKNOWN = "too long", "bound not known"

_MESSAGES = {
    _TOO_LONG: "the plan works, and a shorter one is enough",
    _UNKNOWN: "the plan works, but how short one can be is not known: no plan for the intact domain was found in time",
}
"""Why a valid plan is not counted as a solution."""


@dataclass(frozen=True)
class _PlanProposal:
    """The result of planning. `steps` are the actions of each level of the plan; without a plan, `kind` is the reason.

    `shortest` is true if no plan for the intact domain has fewer levels.
    """

    command: str
    plan: Plan | None
    steps: tuple[tuple[str, ...], ...] = ()
    kind: str = ""
    message: str = ""
    shortest: bool = False


def play(cell: Cell, setting: GraphplanSetting, options: GraphplanOptions, tools: Tools, budget: Budget) -> Body:
    """Every event of the episode after the first. Ends by raising `EpisodeOver`."""
    kind = _ModelEpisode if parse_variant(cell.mode, MODES).mode.name in PLANS_BY_MODEL else _GraphplanEpisode
    return kind(cell, setting, options, tools, budget).run()


@dataclass
class _TaskEpisode(ABC):
    """One episode, from the task to its result.

    `domain` is the domain to plan with, which may be damaged; `removed` are the conditions that it has lost.
    """

    cell: Cell
    setting: GraphplanSetting
    options: GraphplanOptions
    tools: Tools
    budget: Budget

    def __post_init__(self) -> None:
        self.without = parse_variant(self.cell.mode, MODES).without
        self.task = self.setting.one_task(self.cell.seed, self.options.task)
        self.domain, self.removed = self.setting.damaged_domain(self.cell.seed)
        self.bound = self.options.bound

    @abstractmethod
    def plan(self) -> Generator[Event, None, _PlanProposal]:
        """Plan for the task in `domain`."""

    def run(self) -> Body:
        """Every event of the episode after the first. Ends by raising `EpisodeOver`."""
        goal = self.task.problem.goal
        goals = len(goal.parts) if isinstance(goal, And) else 1
        yield TaskGiven(self.domain.name, self.task.name, self.task.size, goals, self.setting.share, self.removed)
        yield from self._conclude((yield from self.plan()))

    def faults(self, plan: Plan) -> Mapping[str, PlanFault | None]:
        """The fault of a plan in the damaged domain and in the intact one; None for a valid plan."""
        domains = {"damaged": self.domain, "intact": self.setting.domain}
        return {name: validate(domain, self.task.problem, plan) for name, domain in domains.items()}

    def _conclude(self, proposal: _PlanProposal) -> Body:
        faults, judge = self.faults(proposal.plan) if proposal.plan is not None else {}, self.options.judge
        valid = {name: fault is None for name, fault in faults.items()}
        bound: int | None = None
        if valid.get(judge) and self.bound != "none":
            bound = yield from self._bound(proposal)
        kind = self._kind(proposal, valid.get(judge, False), bound)
        fault = faults.get(judge)
        where = f" in the {judge} domain" if self.removed else ""
        message = proposal.message if fault is None else f"the plan does not work{where}: {shortened(str(fault))}"
        message = " ".join(message.split()) or _MESSAGES.get(kind, "")
        self.budget.step()
        self.budget.score = float(kind == SOLVED)
        yield PlanConcluded(
            self.budget.usage.steps,
            proposal.command,
            kind,
            message,
            steps=proposal.steps,
            found=proposal.plan is not None,
            valid_damaged=valid.get("damaged", False),
            valid=valid.get("intact", False),
            bound=bound,
            unit=self._unit,
        )
        if kind == SOLVED:
            raise EpisodeOver(Outcome.WON, f"a valid plan of {count(len(proposal.plan or ()), 'action')}")
        raise EpisodeOver(Outcome.LOST, message or kind)

    def _kind(self, proposal: _PlanProposal, valid: bool, bound: int | None) -> str:
        if not valid:
            return INVALID if proposal.plan is not None else proposal.kind
        if self.bound == "none":
            return SOLVED
        if bound is None:
            return _UNKNOWN
        length = len(proposal.steps) if self._unit == "level" else sum(map(len, proposal.steps))
        return SOLVED if length <= bound else _TOO_LONG

    @property
    def _unit(self) -> Unit:
        return "action" if self.bound == "actions" else "level"

    def _bound(self, proposal: _PlanProposal) -> Generator[Event, None, int | None]:
        """The length of a shortest plan for the intact domain."""
        if self._unit == "level" and proposal.shortest:
            return len(proposal.steps)
        recorded = self.tools.recorded
        if recorded is not None and any(bounded.most is None for bounded in recorded.all(Bounded)):
            most = None  # a replay does not search for a plan that was not found in time
        else:
            with self.budget.paused():  # the episode's clock excludes this search
                most = self._fewest()
        yield Bounded(most, self._unit)
        return most

    def _fewest(self) -> int | None:
        """The fewest levels or actions in the intact domain, within the time of a planning call of its own."""
        planner, problem, domain = self.tools.planner, self.task.problem, self.setting.domain
        if self._unit == "level":
            levels = shortest_plan(planner, domain, problem)
            return None if levels is None else len(levels)
        result = planner.solve(domain, problem, _OPTIMAL)
        return len(result.plan or ()) if result.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE) else None


_UNREADABLE = "not a plan"
"""The category of feedback on an answer without a plan."""


class _ModelEpisode(_TaskEpisode):
    """The model writes a plan; the fault of an invalid plan goes back to the model."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.bound = "none" if self.bound == "levels" else self.bound  # the model's plan has no parallel steps
        self._prompts = Prompts("graphplan")
        self._chat = Chat(self.tools.model, self.budget)
        self._last: Plan | None = None

    def plan(self) -> Generator[Event, None, _PlanProposal]:
        """Ask for a plan until one is valid or no retry is left. The last answer counts."""
        attempt = yield from refine(self._propose, 0 if NO_FEEDBACK in self.without else self.tools.retries)
        if self._last is None:
            return _PlanProposal("no plan", None, kind=_UNREADABLE, message=attempt.failure)
        steps = tuple((str(step),) for step in self._last.steps)
        return _PlanProposal(f"plan: {count(len(steps), 'action')}", self._last, steps)

    def _propose(self, retry: Retry) -> Generator[Event, None, Attempt[Plan]]:
        context = PlanRequest(self.tools.planner, self.domain, self.task.problem)
        answer = yield from self._chat.say("plan", self._question(retry), retry.attempt, context)
        feedback = self._read(answer)
        if self._last is not None:
            self.budget.step()
            command = f"plan {retry.attempt + 1}: {count(len(self._last), 'action')}"
            yield Proposed(self.budget.usage.steps, command, tuple(map(str, self._last.steps)))
        if feedback is None:
            return Attempt(answer, self._last)
        yield Rejected(retry.attempt, feedback, attempts=retry.attempts)
        return Attempt(answer, None, feedback)

    def _question(self, retry: Retry) -> str:
        if retry.feedback is not None:
            return self._prompts.render("graphplan/plan-again", feedback=retry.feedback, unreadable=_UNREADABLE)
        domain, problem = self.domain.text.strip(), str(self.task.problem).strip()
        return self._prompts.render(
            "graphplan/plan",
            domain=domain,
            problem=problem,
            action=f"({example_action(self.domain)})",
            thinks=base_mode(self.cell.mode) == BY_MODEL_COT,
        )

    def _read(self, answer: str) -> Feedback | None:
        """Keep the plan of an answer, and return its fault; None for a valid plan."""
        self._last = None
        try:
            plan = plan_in(answer, self.domain, self.task.problem).plan
        except PddlSyntaxError as error:
            return Feedback(_UNREADABLE, error.faults[0], tuple(error.faults[1:]))
        fault = self.faults(plan)[self.options.judge]
        if fault is not None and not plan.steps:
            return Feedback(_UNREADABLE, "it has no step of the form (action object …)")
        self._last = plan
        if fault is None:
            return None
        return Feedback(fault.kind.value, shortened(fault.what), (fault.advice,) if fault.advice else ())


class _RecordedTimeoutError(Exception):
    """A replay has reached the moment at which planning timed out in the recorded episode."""


def _recorded_timeout(recorded: Trace | None) -> tuple[int, str] | None:
    """The number of moments before a recorded timeout, and its message: a faster machine must not replay more."""
    done = recorded.last(PlanConcluded) if recorded is not None else None
    if recorded is None or done is None or done.kind != PlanStatus.TIMEOUT.value:
        return None
    return sum(len(recorded.all(kind)) for kind in (Grown, Looked, PassEnded)), done.message


class _GraphplanEpisode(_TaskEpisode):
    """Graphplan plans, and asks the model."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._timeout = _recorded_timeout(self.tools.recorded)
        self._moments = 0
        self._pruned = False
        self._steps: tuple[tuple[str, ...], ...] = ()

    def plan(self) -> Generator[Event, None, _PlanProposal]:
        """Plan with Graphplan, which asks the model."""
        try:
            result = yield from self._solve()
        except _RecordedTimeoutError as error:
            status = PlanStatus.TIMEOUT.value
            return _PlanProposal(f"no plan: {status}", None, kind=status, message=str(error))
        left = self.budget.seconds_left
        self.budget.check_time(result.status is PlanStatus.TIMEOUT and left is not None and left <= 0.05)
        shortest = not (self._pruned or self.removed)
        if result.status is PlanStatus.ALREADY_TRUE:
            return _PlanProposal("no action: the goal is already true", Plan(()), shortest=shortest)
        if result.plan is None:
            where = " (in the damaged domain)" if self.removed and result.message else ""
            status, message = result.status.value, f"{result.message}{where}"
            return _PlanProposal(f"no plan: {status}", None, kind=status, message=message)
        actions, levels = count(len(result.plan), "action"), count(len(self._steps), "level")
        return _PlanProposal(f"plan: {actions} in {levels}", result.plan, self._steps, shortest=shortest)

    def _solve(self) -> Generator[Event, None, PlanResult]:
        options, left, problem = self.options, self.budget.seconds_left, self.task.problem
        graph = GraphSearch(
            prune=NO_PRUNE not in self.without,
            sort=NO_SORT not in self.without,
            kappas=options.kappa,
            coin=options.coin,
            levels=options.levels,
            memo=options.memo,
            seed=f"{self.cell.setting}/{self.cell.seed}",
            extraction=options.extraction or "backjumping",
        )

        def solve(advise: Advise, watch: SearchWatcher) -> PlanResult:
            search = Graphplan(graph=graph, task="whole", advise=advise, watch=watch)
            return self.tools.planner.solve(self.domain, problem, search, left).tried(self.task.name)

        return (yield from planning(solve, self._react))

    def _react(self, moment: AdviceQuestion | SearchMoment) -> Generator[Event, None, tuple[str, ...]]:
        """The events of a question or a moment of the search, and the answer to a question."""
        if isinstance(moment, AdviceQuestion):
            return (yield from Advisers(self.budget, self.tools.model, self.tools.model).ask(moment))
        if isinstance(moment, SearchProgress):
            yield Looking(moment)
            return ()
        if self._timeout is not None and self._moments >= self._timeout[0]:
            raise _RecordedTimeoutError(self._timeout[1])
        self._moments += 1
        if isinstance(moment, LevelAdded):
            self.budget.step()
            self._pruned = self._pruned or bool(moment.pruned)
            kept = f"{moment.kept} of {moment.candidates} actions kept"
            yield Grown(self.budget.usage.steps, f"level {moment.level}: {kept}", moment)
        elif isinstance(moment, Passed):
            self._steps = moment.steps
            self._pruned = self._pruned and moment.ending == "found"
            yield PassEnded(moment)
        else:
            yield Looked(moment)
        return ()
