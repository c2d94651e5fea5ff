"""Plays a cell: Graphplan plans for one task and asks a model, or the model writes the plan."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

from pddlego.events import Event
from pddlego.methods.base import Tools, parse_variant
from pddlego.methods.graphplan.advice import Advisers, planning
from pddlego.methods.graphplan.by_model import ModelEpisode
from pddlego.methods.graphplan.episode import Proposal, TaskEpisode
from pddlego.methods.graphplan.events import Concluded, Grown, Looked, Looking, PassEnded
from pddlego.methods.graphplan.loading import GraphplanSetting
from pddlego.methods.graphplan.modes import BY_MODEL, MODES, NO_PRUNE, NO_SORT
from pddlego.methods.graphplan.options import GraphplanOptions
from pddlego.planning import Plan, PlanResult, PlanStatus
from pddlego.planning.graphplan.values import (
    Advise,
    Expanded,
    Graphplan,
    GraphSearch,
    Moment,
    Passed,
    Question,
    Searched,
    Searching,
    Watch,
)
from pddlego.refine.episode import played
from pddlego.refine.usage import Meter
from pddlego.runs.cells import Cell
from pddlego.util.text import count


def play(cell: Cell, setting: GraphplanSetting, options: GraphplanOptions, tools: Tools) -> Iterator[Event]:
    """Every event of the episode."""
    meter = Meter(replace(tools.limits, steps=None))
    kind = ModelEpisode if parse_variant(cell.mode, MODES).mode.name == BY_MODEL else GraphplanEpisode
    return played(kind(cell, setting, options, tools, meter).run(), meter)


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


class GraphplanEpisode(TaskEpisode):
    """Graphplan plans, and asks the model."""

    def __init__(
        self, cell: Cell, setting: GraphplanSetting, options: GraphplanOptions, tools: Tools, meter: Meter
    ) -> None:
        super().__init__(cell, setting, options, tools, meter)
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

    def plan(self) -> Generator[Event, None, Proposal]:
        """Plan, asking the model on the way."""
        result = yield from self._solve()
        self.meter.check_time(result.status is PlanStatus.TIMEOUT and self._is_short)
        shortest = not (self._pruned or self.removed)
        if result.status is PlanStatus.ALREADY_TRUE:
            return Proposal("no action: the goal is already true", Plan(()), shortest=shortest)
        if result.plan is None:
            where = " (in the damaged domain)" if self.removed and result.message else ""
            message = result.message if result.message.endswith(where) else f"{result.message}{where}"
            return Proposal(f"no plan: {result.status.value}", None, kind=result.status.value, message=message)
        actions, levels = count(len(result.plan), "action"), count(len(self._steps), "level")
        return Proposal(f"plan: {actions} in {levels}", result.plan, self._steps, shortest=shortest)

    @property
    def _is_short(self) -> bool:
        """Whether nothing is left of the episode's time."""
        left = self.meter.seconds_left
        return left is not None and left <= 0.05

    def _solve(self) -> Generator[Event, None, PlanResult]:
        def solve(advise: Advise, watch: Watch) -> PlanResult:
            how = Graphplan(graph=self.search, task="whole", advise=advise, watch=watch)
            limit = {} if left is None else {"seconds": left}
            return self.tools.planner.solve(self.domain, problem, how, **limit)

        left, problem = self.meter.seconds_left, self.task.problem
        try:
            return (yield from planning(solve, self._react))
        except _TimedOutThenError as error:
            return PlanResult(PlanStatus.TIMEOUT, problem.goal, None, str(error))

    def _react(self, found: Question | Moment) -> Generator[Event, None, tuple[str, ...]]:
        if isinstance(found, Question):
            return (yield from Advisers(self.meter, self.tools.model, self.tools.model).ask(found))
        yield from self._told(found)
        return ()

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
