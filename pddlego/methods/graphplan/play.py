"""Plays a cell of Graphplan: one task, planned for with a model that is asked, and judged."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace

from pddlego.events import Event, Outcome, Started
from pddlego.methods.base import Tools, parse_variant
from pddlego.methods.graphplan.events import (
    SOLVED,
    Bounded,
    Concluded,
    Given,
    Grown,
    Looked,
    Looking,
    PassEnded,
    Unit,
)
from pddlego.methods.graphplan.modes import MODES, NO_PRUNE, NO_SORT
from pddlego.methods.graphplan.options import GraphplanOptions, GraphplanSetting
from pddlego.planning import PlanResult, PlanStatus, Search, validate
from pddlego.planning.asking import planned, unasked
from pddlego.planning.graphplan.values import Expanded, GraphSearch, Moment, Passed, Searched, Searching
from pddlego.refine.advice import advised
from pddlego.refine.asked import Advisers
from pddlego.refine.episode import played
from pddlego.refine.usage import Meter, OverError
from pddlego.runs.cells import Cell
from pddlego.util.text import count

Steps = Generator[Event, None, None]

OPTIMAL = Search("astar", "lmcut")
"""The search whose plans have the fewest actions."""

TOO_LONG, UNKNOWN = "too long", "bound not known"

MESSAGES = {
    TOO_LONG: "the plan works, and a shorter one is enough",
    UNKNOWN: "the plan works, but how short one can be is not known: no plan for the intact domain was found in time",
}
"""What is said of a plan that works and is not counted as a solution."""


def play(cell: Cell, setting: GraphplanSetting, options: GraphplanOptions, tools: Tools) -> Iterator[Event]:
    """Every event of the episode."""
    meter = Meter(replace(tools.limits, steps=None))
    return played(_Episode(cell, setting, options, tools, meter).run(), meter)


class _TimedOutThenError(Exception):
    """The recorded episode came no further in the time of its planning call."""


def _timed_out(events: Sequence[Event]) -> tuple[int, str] | None:
    """After how many moments the planning of a recorded episode was out of time, and what was said then.

    What a clock has ended does not end by itself when it is played again on another machine.
    """
    done = next((event for event in events if isinstance(event, Concluded)), None)
    if done is None or done.kind != PlanStatus.TIMEOUT.value:
        return None
    return sum(isinstance(event, (Grown, Looked, PassEnded)) for event in events), done.message


class _Episode:
    """One episode, from the first level to the verdict."""

    def __init__(
        self, cell: Cell, setting: GraphplanSetting, options: GraphplanOptions, tools: Tools, meter: Meter
    ) -> None:
        self.cell, self.setting, self.options, self.tools, self.meter = cell, setting, options, tools, meter
        without = parse_variant(cell.mode, MODES).without
        self.task = setting.one_task(cell.seed, options.task)
        self.domain, self.removed = setting.given(cell.seed)
        self.search = GraphSearch(
            prune=NO_PRUNE not in without,
            sort=NO_SORT not in without,
            kappas=tools.planning.kappas,
            coin=options.coin,
            levels=tools.planning.levels,
            memo=options.memo,
            seed=f"{cell.setting}/{cell.seed}",
        )
        self._then = None if tools.recorded is None else _timed_out(tools.recorded)
        self._told_moments = 0
        self._pruned = False
        self._steps: tuple[tuple[str, ...], ...] = ()

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
        result = yield from self._plan()
        meter.check_time(result.status is PlanStatus.TIMEOUT and self._is_short)
        valid, message = self._judged(result)
        bound: int | None = None
        if valid[self.options.judge] and self.options.bound != "none":
            bound = yield from self._bound()
        kind = self._kind(result, valid[self.options.judge], bound)
        message = " ".join(message.split()) or MESSAGES.get(kind, "")
        meter.step()
        meter.score = float(kind == SOLVED)
        yield Concluded(
            meter.tally.steps,
            self._command(result),
            kind,
            message,
            steps=self._steps,
            found=result.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE),
            valid_damaged=valid["damaged"],
            valid=valid["intact"],
            bound=bound,
            unit=self._unit,
        )
        raise OverError(Outcome.WON if kind == SOLVED else Outcome.LOST, "" if kind == SOLVED else message or kind)

    def _command(self, result: PlanResult) -> str:
        if result.status is PlanStatus.ALREADY_TRUE:
            return "no action: the goal is already true"
        if result.plan is None:
            return f"no plan: {result.status.value}"
        return f"plan: {count(sum(map(len, self._steps)), 'action')} in {count(len(self._steps), 'level')}"

    @property
    def _is_short(self) -> bool:
        """Whether nothing is left of the episode's time."""
        left = self.meter.seconds_left
        return left is not None and left <= 0.05

    def _plan(self) -> Generator[Event, None, PlanResult]:
        left, problem = self.meter.seconds_left, self.task.problem
        asked = planned(self.tools.planner, self.domain, problem, Search(), left, graph=self.search, task="whole")
        advisers = Advisers(self.tools.model, self.tools.model)
        try:
            return (yield from advised(asked, advisers, self.meter, self._told))
        except _TimedOutThenError as error:
            return PlanResult(PlanStatus.TIMEOUT, problem.goal, None, str(error))

    def _told(self, moment: Moment) -> Iterator[Event]:
        if not isinstance(moment, Searching):
            if self._then is not None and self._told_moments >= self._then[0]:
                raise _TimedOutThenError(self._then[1])
            self._told_moments += 1
        if isinstance(moment, Expanded):
            self.meter.step()
            self._pruned = self._pruned or bool(moment.pruned)
            kept = f"{moment.kept} of {moment.candidates} actions kept"
            yield Grown(self.meter.tally.steps, f"level {moment.level}: {kept}", moment)
        elif isinstance(moment, Searching):
            yield Looking(moment)
        elif isinstance(moment, Searched):
            yield Looked(moment)
        elif isinstance(moment, Passed):
            self._steps = moment.steps
            self._pruned = self._pruned and moment.ending == "found"
            yield PassEnded(moment)

    def _judged(self, result: PlanResult) -> tuple[Mapping[str, bool], str]:
        """In which domains the plan works, and what is to be said if it does not in the one that counts."""
        if result.plan is None:
            where = " (in the damaged domain)" if self.removed and result.message else ""
            message = result.message if result.message.endswith(where) else f"{result.message}{where}"
            is_true = result.status is PlanStatus.ALREADY_TRUE
            return {"damaged": is_true, "intact": is_true}, "" if is_true else message
        domains = {"damaged": self.domain, "intact": self.setting.domain}
        faults = {name: validate(domain, self.task.problem, result.plan).message for name, domain in domains.items()}
        judge = self.options.judge
        message = f"the plan does not work in the {judge} domain: {faults[judge]}" if faults[judge] else ""
        return {name: not fault for name, fault in faults.items()}, message

    @property
    def _unit(self) -> Unit:
        return "action" if self.options.bound == "actions" else "level"

    def _bound(self) -> Generator[Event, None, int | None]:
        """The length of a shortest plan in the intact domain: levels that Graphplan found without pruning are it."""
        if self._unit == "level" and not (self._pruned or self.removed):
            return len(self._steps)
        if any(isinstance(event, Bounded) and event.most is None for event in self.tools.recorded or ()):
            most = None  # it was not found then, and what is played again is what was
        else:
            with self.meter.paused():  # that is no part of what is measured
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
        result = unasked(planned(self.tools.planner, domain, problem, Search(), None, graph=GraphSearch()), read)
        return 0 if result.status is PlanStatus.ALREADY_TRUE else found

    def _kind(self, result: PlanResult, valid: bool, bound: int | None) -> str:
        if not valid:
            return "invalid plan" if result.plan is not None else result.status.value
        if self.options.bound == "none":
            return SOLVED
        if bound is None:
            return UNKNOWN
        length = len(self._steps) if self._unit == "level" else sum(map(len, self._steps))
        return SOLVED if length <= bound else TOO_LONG
