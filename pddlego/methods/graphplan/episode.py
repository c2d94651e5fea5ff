"""An episode about one task: a plan is made for it, and judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from dataclasses import dataclass

from pddlego.events import Event, Outcome, Started
from pddlego.methods.base import Tools
from pddlego.methods.graphplan.events import SOLVED, Bounded, Concluded, Given, Unit
from pddlego.methods.graphplan.loading import GraphplanSetting
from pddlego.methods.graphplan.options import GraphplanOptions
from pddlego.models.feedback import shortened
from pddlego.planning import Plan, PlanStatus, Search, validate
from pddlego.planning.graphplan.values import Graphplan, Passed
from pddlego.planning.validate import PlanFault
from pddlego.refine.usage import Meter, OverError
from pddlego.runs.cells import Cell

Steps = Generator[Event, None, None]

OPTIMAL = Search("astar", "lmcut")
"""The search whose plans have the fewest actions."""

INVALID, TOO_LONG, UNKNOWN = "invalid plan", "too long", "bound not known"

MESSAGES = {
    TOO_LONG: "the plan works, and a shorter one is enough",
    UNKNOWN: "the plan works, but how short one can be is not known: no plan for the intact domain was found in time",
}
"""What is said of a plan that works and is not counted as a solution."""


@dataclass(frozen=True)
class Proposal:
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
    """One episode, from the task to the verdict.

    `domain` is the domain to plan with, which may be damaged; `removed` are the conditions that it has lost.
    """

    def __init__(
        self, cell: Cell, setting: GraphplanSetting, options: GraphplanOptions, tools: Tools, meter: Meter
    ) -> None:
        self.cell, self.setting, self.options, self.tools, self.meter = cell, setting, options, tools, meter
        self.task = setting.one_task(cell.seed, options.task)
        self.domain, self.removed = setting.given(cell.seed)

    @abstractmethod
    def plan(self) -> Generator[Event, None, Proposal]:
        """Plan for the task in `domain`."""

    def run(self) -> Steps:
        """Ends by raising `OverError`."""
        setting, meter, cell = self.setting, self.meter, self.cell
        yield Started(
            setting.name,
            setting.title,
            cell.mode,
            self.tools.model.name,
            cell.seed,
            setting.about,
            limits=meter.limits,
            played_by="graphplan",
        )
        goal = self.task.problem.goal
        goals = len(goal) - 1 if goal[:1] == ("and",) else 1
        yield Given(self.domain.name, self.task.name, self.task.size, goals, setting.share, self.removed)
        yield from self._conclude((yield from self.plan()))

    def faults(self, plan: Plan) -> Mapping[str, PlanFault | None]:
        """The fault of a plan in the damaged domain and in the intact one; None for a valid plan."""
        domains = {"damaged": self.domain, "intact": self.setting.domain}
        return {name: validate(domain, self.task.problem, plan).fault for name, domain in domains.items()}

    def _conclude(self, proposal: Proposal) -> Steps:
        faults, judge = self.faults(proposal.plan) if proposal.plan is not None else {}, self.options.judge
        valid = {name: fault is None for name, fault in faults.items()}
        bound: int | None = None
        if valid.get(judge) and self.options.bound != "none":
            bound = yield from self._bound(proposal)
        kind = self._kind(proposal, valid.get(judge, False), bound)
        fault = faults.get(judge)
        where = f" in the {judge} domain" if self.removed else ""
        message = proposal.message if fault is None else f"the plan does not work{where}: {shortened(str(fault))}"
        message = " ".join(message.split()) or MESSAGES.get(kind, "")
        self.meter.step()
        self.meter.score = float(kind == SOLVED)
        yield Concluded(
            self.meter.tally.steps,
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
        raise OverError(Outcome.WON if kind == SOLVED else Outcome.LOST, "" if kind == SOLVED else message or kind)

    def _kind(self, proposal: Proposal, valid: bool, bound: int | None) -> str:
        if not valid:
            return INVALID if proposal.plan is not None else proposal.kind
        if self.options.bound == "none":
            return SOLVED
        if bound is None:
            return UNKNOWN
        length = len(proposal.steps) if self._unit == "level" else sum(map(len, proposal.steps))
        return SOLVED if length <= bound else TOO_LONG

    @property
    def _unit(self) -> Unit:
        return "action" if self.options.bound == "actions" else "level"

    def _bound(self, proposal: Proposal) -> Generator[Event, None, int | None]:
        """The length of a shortest plan for the intact domain."""
        if self._unit == "level" and proposal.shortest:
            return len(proposal.steps)
        if any(isinstance(event, Bounded) and event.most is None for event in self.tools.recorded or ()):
            most = None  # it was not found then, and what is played again is what was
        else:
            with self.meter.paused():  # not measured
                most = self._levels() if self._unit == "level" else self._actions()
        yield Bounded(most, self._unit)
        return most

    def _actions(self) -> int | None:
        """The actions of an optimal plan in the intact domain, within the time of a planning call of its own."""
        result = self.tools.planner.solve(self.setting.domain, self.task.problem, OPTIMAL)
        return len(result.plan or ()) if result.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE) else None

    def _levels(self) -> int | None:
        """The levels of Graphplan alone in the intact domain, within the time of a planning call of its own."""
        found: int | None = None

        def read(moment: object) -> None:
            nonlocal found
            if isinstance(moment, Passed) and moment.ending == "found":
                found = len(moment.steps)

        problem, domain = self.task.problem, self.setting.domain
        result = self.tools.planner.solve(domain, problem, Graphplan(watch=read))
        return 0 if result.status is PlanStatus.ALREADY_TRUE else found
