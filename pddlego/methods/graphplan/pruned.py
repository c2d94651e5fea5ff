"""The first action of a shortest plan that the model pruned."""

from __future__ import annotations

from collections.abc import Iterator

from pddlego.episode.events import Event
from pddlego.episode.trace import Trace
from pddlego.methods.graphplan.events import INVALID, SOLVED, Grown, NeededPruned, PlanConcluded
from pddlego.methods.graphplan.loading import GraphplanSetting
from pddlego.methods.graphplan.options import GraphplanOptions
from pddlego.models import Model
from pddlego.planning.graphplan.values import Graphplan, Passed
from pddlego.planning.process import ProcessPlanner

SECONDS = 10.0
"""How long a shortest plan is looked for."""


def check_recorded(
    trace: Trace, setting: GraphplanSetting, options: GraphplanOptions, model: Model | None = None
) -> Trace:
    """A recorded episode; one without a short enough plan, with the first pruned action of a shortest plan.

    The shortest plan is found by Graphplan without a model, in the domain of the episode, if that takes less than
    `SECONDS`.
    """
    unsolved = any(event.kind not in (SOLVED, INVALID) for event in trace.all(PlanConcluded))
    pruned = [event.made for event in trace.all(Grown) if event.made.pruned]
    needed = needed_actions(trace, setting, options) if unsolved and pruned else ()

    def checks(event: Event) -> Iterator[NeededPruned]:
        for number, level in enumerate(needed, start=1) if isinstance(event, PlanConcluded) else ():
            lost = {name for made in pruned if made.level == number for name in made.pruned}
            first = next((action for action in level if action in lost), None)
            if first is not None:
                yield NeededPruned(number, first)
                return

    return trace.without(NeededPruned).with_checks(checks)


def needed_actions(trace: Trace, setting: GraphplanSetting, options: GraphplanOptions) -> tuple[tuple[str, ...], ...]:
    """The actions of each level of a shortest plan; none if none was found."""
    seed = (trace.started.seed if trace.started is not None else None) or 0
    domain, _ = setting.given(seed)
    steps: tuple[tuple[str, ...], ...] = ()

    def watch(moment: object) -> None:
        nonlocal steps
        if isinstance(moment, Passed) and moment.ending == "found":
            steps = moment.steps

    with ProcessPlanner() as planner:
        planner.solve(domain, setting.one_task(seed, options.task).problem, Graphplan(watch=watch), seconds=SECONDS)
    return steps
