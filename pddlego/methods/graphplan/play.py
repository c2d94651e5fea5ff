"""Plays a cell: Graphplan plans for one task and asks a model, or the model writes the plan."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pddlego.episode.ask import Chat
from pddlego.episode.budget import Budget, EpisodeOver
from pddlego.episode.events import Event, Outcome, Rejected
from pddlego.episode.lifecycle import played
from pddlego.episode.loop import Attempt, Retry, refine
from pddlego.methods.base import Tools, parse_variant, started
from pddlego.methods.graphplan.advisers import Advisers, planning
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
from pddlego.methods.graphplan.loading import GraphplanSetting
from pddlego.methods.graphplan.options import BY_MODEL, MODES, NO_FEEDBACK, NO_PRUNE, NO_SORT, GraphplanOptions
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
    Searched,
    SearchMoment,
    SearchProgress,
    SearchWatcher,
)
from pddlego.planning.plan_text import plan_in
from pddlego.planning.validate import PlanFault
from pddlego.runs.cells import Cell
from pddlego.util.text import count

PlanSteps = Generator[Event, None, None]

OPTIMAL = Search("astar", "lmcut")
"""The search whose plans have the fewest actions."""

_TOO_LONG, _UNKNOWN = "too long", "bound not known"

_MESSAGES = {
    _TOO_LONG: "the plan works, and a shorter one is enough",
    _UNKNOWN: "the plan works, but how short one can be is not known: no plan for the intact domain was found in time",
}
"""What is said of a plan that works and is not counted as a solution."""


@dataclass(frozen=True)
class PlanProposal:
    """The result of planning. `steps` are the actions of each level of the plan; without a plan, `kind` is the reason.

    A `shortest` plan has the fewest levels that a plan for the intact domain can have.
    """

    command: str
    plan: Plan | None
    steps: tuple[tuple[str, ...], ...] = ()
    kind: str = ""
    message: str = ""
    shortest: bool = False


class TaskEpisode(ABC):
    """One episode, from the task to its result.

    `domain` is the domain to plan with, which may be damaged; `removed` are the conditions that it has lost.
    """

    def __init__(
        self, cell: Cell, setting: GraphplanSetting, options: GraphplanOptions, tools: Tools, budget: Budget
    ) -> None:
        self.cell, self.setting, self.options, self.tools, self.budget = cell, setting, options, tools, budget
        self.task = setting.one_task(cell.seed, options.task)
        self.domain, self.removed = setting.given(cell.seed)

    @abstractmethod
    def plan(self) -> Generator[Event, None, PlanProposal]:
        """Plan for the task in `domain`."""

    def run(self) -> PlanSteps:
        """Ends by raising `EpisodeOver`."""
        setting, budget, cell = self.setting, self.budget, self.cell
        yield started(cell, setting, self.tools, budget.limits, "graphplan")
        goal = self.task.problem.goal
        goals = len(goal.parts) if isinstance(goal, And) else 1
        yield TaskGiven(self.domain.name, self.task.name, self.task.size, goals, setting.share, self.removed)
        yield from self._conclude((yield from self.plan()))

    def faults(self, plan: Plan) -> Mapping[str, PlanFault | None]:
        """The fault of a plan in the damaged domain and in the intact one; None for a valid plan."""
        domains = {"damaged": self.domain, "intact": self.setting.domain}
        return {name: validate(domain, self.task.problem, plan) for name, domain in domains.items()}

    def _conclude(self, proposal: PlanProposal) -> PlanSteps:
        faults, judge = self.faults(proposal.plan) if proposal.plan is not None else {}, self.options.judge
        valid = {name: fault is None for name, fault in faults.items()}
        bound: int | None = None
        if valid.get(judge) and self.options.bound != "none":
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

    def _kind(self, proposal: PlanProposal, valid: bool, bound: int | None) -> str:
        if not valid:
            return INVALID if proposal.plan is not None else proposal.kind
        if self.options.bound == "none":
            return SOLVED
        if bound is None:
            return _UNKNOWN
        length = len(proposal.steps) if self._unit == "level" else sum(map(len, proposal.steps))
        return SOLVED if length <= bound else _TOO_LONG

    @property
    def _unit(self) -> Unit:
        return "action" if self.options.bound == "actions" else "level"

    def _bound(self, proposal: PlanProposal) -> Generator[Event, None, int | None]:
        """The length of a shortest plan for the intact domain."""
        if self._unit == "level" and proposal.shortest:
            return len(proposal.steps)
        if any(isinstance(event, Bounded) and event.most is None for event in self.tools.recorded or ()):
            most = None  # it was not found then, and what is played again is what was
        else:
            with self.budget.paused():  # not measured
                most = self._levels() if self._unit == "level" else self._actions()
        yield Bounded(most, self._unit)
        return most

    def _actions(self) -> int | None:
        """The actions of an optimal plan in the intact domain, within the time of a planning call of its own."""
        result = self.tools.planner.solve(self.setting.domain, self.task.problem, OPTIMAL)
        return len(result.plan or ()) if result.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE) else None

    def _levels(self) -> int | None:
        """The levels of Graphplan alone in the intact domain, within the time of a planning call of its own."""
        levels: int | None = None

        def read(moment: object) -> None:
            nonlocal levels
            if isinstance(moment, Passed) and moment.ending == "found":
                levels = len(moment.steps)

        problem, domain = self.task.problem, self.setting.domain
        result = self.tools.planner.solve(domain, problem, Graphplan(watch=read))
        return 0 if result.status is PlanStatus.ALREADY_TRUE else levels


UNREADABLE = "not a plan"
"""The category of an answer that holds no plan."""

SEARCH = Search("gbf", "hff")
"""The search of the built-in model: it is fast, and any plan is good."""


@dataclass(frozen=True)
class PlanRequest:
    """The context of a request, for the built-in model."""

    episode: TaskEpisode

    def solve(self) -> Plan | None:
        """Plan with the planner in the domain that the prompt shows. None if it finds no plan."""
        episode = self.episode
        return episode.tools.planner.solve(episode.domain, episode.task.problem, SEARCH).plan


class ModelEpisode(TaskEpisode):
    """The model writes a plan; if it is not valid, its fault goes back to the model."""

    def __init__(
        self, cell: Cell, setting: GraphplanSetting, options: GraphplanOptions, tools: Tools, budget: Budget
    ) -> None:
        if options.bound == "levels":  # a sequence has no parallel steps
            options = options.model_copy(update={"bound": "none"})
        super().__init__(cell, setting, options, tools, budget)
        self._retries = 0 if NO_FEEDBACK in parse_variant(cell.mode, MODES).without else tools.retries
        self._prompts = Prompts("graphplan")
        self._chat = Chat(tools.model, budget)
        self._last: Plan | None = None

    def plan(self) -> Generator[Event, None, PlanProposal]:
        """Ask for a plan until one is valid or no retry is left. The last answer counts."""
        attempt = yield from refine(self._propose, self._retries)
        if self._last is None:
            return PlanProposal("no plan", None, kind=UNREADABLE, message=attempt.failure)
        steps = tuple((str(step),) for step in self._last.steps)
        return PlanProposal(f"plan: {count(len(steps), 'action')}", self._last, steps)

    def _propose(self, retry: Retry) -> Generator[Event, None, Attempt[Plan]]:
        answer = yield from self._chat.say("plan", self._question(retry), retry.attempt, PlanRequest(self))
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
            return self._prompts.render("graphplan/plan-again", feedback=retry.feedback, unreadable=UNREADABLE)
        domain, problem = self.domain.text.strip(), str(self.task.problem).strip()
        return self._prompts.render(
            "graphplan/plan", domain=domain, problem=problem, action=f"({example_action(self.domain)})"
        )

    def _read(self, answer: str) -> Feedback | None:
        """Keep the plan of an answer, and return its fault; None for a valid plan."""
        self._last = None
        try:
            plan = plan_in(answer, self.domain, self.task.problem).plan
        except PddlSyntaxError as error:
            return Feedback(UNREADABLE, error.faults[0], tuple(error.faults[1:]))
        fault = self.faults(plan)[self.options.judge]
        if fault is not None and not plan.steps:
            return Feedback(UNREADABLE, "it has no step of the form (action object …)")
        self._last = plan
        if fault is None:
            return None
        return Feedback(fault.kind.value, shortened(fault.what), (fault.advice,) if fault.advice else ())


def play(cell: Cell, setting: GraphplanSetting, options: GraphplanOptions, tools: Tools) -> Iterator[Event]:
    """Every event of the episode."""
    budget = Budget(replace(tools.limits, steps=None))
    kind = ModelEpisode if parse_variant(cell.mode, MODES).mode.name == BY_MODEL else GraphplanEpisode
    return played(kind(cell, setting, options, tools, budget).run(), budget)


class _TimedOutThenError(Exception):
    """The recorded episode came no further in the time of its planning call."""


def _timed_out(events: Sequence[Event]) -> tuple[int, str] | None:
    """The number of moments before a recorded timeout, and its message.

    With them, a replay on another machine ends at the same place.
    """
    done = next((event for event in events if isinstance(event, PlanConcluded)), None)
    if done is None or done.kind != PlanStatus.TIMEOUT.value:
        return None
    return sum(isinstance(event, (Grown, Looked, PassEnded)) for event in events), done.message


class GraphplanEpisode(TaskEpisode):
    """Graphplan plans, and asks the model."""

    def __init__(
        self, cell: Cell, setting: GraphplanSetting, options: GraphplanOptions, tools: Tools, budget: Budget
    ) -> None:
        super().__init__(cell, setting, options, tools, budget)
        without = parse_variant(cell.mode, MODES).without
        self.search = GraphSearch(
            prune=NO_PRUNE not in without,
            sort=NO_SORT not in without,
            kappas=options.kappa,
            coin=options.coin,
            levels=options.levels,
            memo=options.memo,
            seed=f"{cell.setting}/{cell.seed}",
        )
        self._then = None if tools.recorded is None else _timed_out(tools.recorded)
        self._told_moments = 0
        self._pruned = False
        self._steps: tuple[tuple[str, ...], ...] = ()

    def plan(self) -> Generator[Event, None, PlanProposal]:
        """Plan, asking the model on the way."""
        result = yield from self._solve()
        self.budget.check_time(result.status is PlanStatus.TIMEOUT and self._is_short)
        shortest = not (self._pruned or self.removed)
        if result.status is PlanStatus.ALREADY_TRUE:
            return PlanProposal("no action: the goal is already true", Plan(()), shortest=shortest)
        if result.plan is None:
            where = " (in the damaged domain)" if self.removed and result.message else ""
            message = result.message if result.message.endswith(where) else f"{result.message}{where}"
            return PlanProposal(f"no plan: {result.status.value}", None, kind=result.status.value, message=message)
        actions, levels = count(len(result.plan), "action"), count(len(self._steps), "level")
        return PlanProposal(f"plan: {actions} in {levels}", result.plan, self._steps, shortest=shortest)

    @property
    def _is_short(self) -> bool:
        """Whether nothing is left of the episode's time."""
        left = self.budget.seconds_left
        return left is not None and left <= 0.05

    def _solve(self) -> Generator[Event, None, PlanResult]:
        def solve(advise: Advise, watch: SearchWatcher) -> PlanResult:
            how = Graphplan(graph=self.search, task="whole", advise=advise, watch=watch)
            limit = {} if left is None else {"seconds": left}
            return self.tools.planner.solve(self.domain, problem, how, **limit)

        left, problem = self.budget.seconds_left, self.task.problem
        try:
            return (yield from planning(solve, self._react))
        except _TimedOutThenError as error:
            return PlanResult(PlanStatus.TIMEOUT, problem.goal, None, str(error))

    def _react(self, moment: AdviceQuestion | SearchMoment) -> Generator[Event, None, tuple[str, ...]]:
        if isinstance(moment, AdviceQuestion):
            return (yield from Advisers(self.budget, self.tools.model, self.tools.model).ask(moment))
        yield from self._told(moment)
        return ()

    def _told(self, moment: SearchMoment) -> Iterator[Event]:
        if not isinstance(moment, SearchProgress):
            if self._then is not None and self._told_moments >= self._then[0]:
                raise _TimedOutThenError(self._then[1])
            self._told_moments += 1
        if isinstance(moment, LevelAdded):
            self.budget.step()
            self._pruned = self._pruned or bool(moment.pruned)
            kept = f"{moment.kept} of {moment.candidates} actions kept"
            yield Grown(self.budget.usage.steps, f"level {moment.level}: {kept}", moment)
        elif isinstance(moment, SearchProgress):
            yield Looking(moment)
        elif isinstance(moment, Searched):
            yield Looked(moment)
        elif isinstance(moment, Passed):
            self._steps = moment.steps
            self._pruned = self._pruned and moment.ending == "found"
            yield PassEnded(moment)
