"""The first action of a shortest plan that the model pruned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pddlego.episode.events import Event, Started
from pddlego.methods.graphplan.events import INVALID, SOLVED, Grown, NeededPruned, PlanConcluded
from pddlego.methods.graphplan.loading import GraphplanSetting
from pddlego.methods.graphplan.options import GraphplanOptions
from pddlego.models import Model
from pddlego.planning.graphplan.values import Graphplan, Passed
from pddlego.planning.process import PlannerOptions

SECONDS = 10.0
"""How long a shortest plan is looked for."""


def check_recorded(
    events: Sequence[Event], setting: GraphplanSetting, options: GraphplanOptions, model: Model | None = None
) -> Iterator[Event]:
    """A recorded episode; one without a plan that is short enough, with the first action of a shortest plan that was
    pruned.

    The plan is that of Graphplan without a model, in the domain of the episode; none may be found in `SECONDS`.
    """
    unsolved = any(isinstance(event, PlanConcluded) and event.kind not in (SOLVED, INVALID) for event in events)
    pruned = [event.made for event in events if isinstance(event, Grown) and event.made.pruned]
    needed = needed_actions(events, setting, options) if unsolved and pruned else ()
    for event in events:
        if isinstance(event, PlanConcluded):
            for number, level in enumerate(needed, start=1):
                lost = {name for made in pruned if made.level == number for name in made.pruned}
                first = next((action for action in level if action in lost), None)
                if first is not None:
                    yield NeededPruned(number, first)
                    break
        if not isinstance(event, NeededPruned):
            yield event


def needed_actions(
    events: Sequence[Event], setting: GraphplanSetting, options: GraphplanOptions
) -> tuple[tuple[str, ...], ...]:
    """The actions of each level of a shortest plan; none if none was found."""
    seed = next((event.seed for event in events if isinstance(event, Started)), None) or 0
    domain, _ = setting.given(seed)
    steps: tuple[tuple[str, ...], ...] = ()

    def watch(moment: object) -> None:
        nonlocal steps
        if isinstance(moment, Passed) and moment.ending == "found":
            steps = moment.steps

    with PlannerOptions().make() as planner:
        planner.solve(domain, setting.one_task(seed, options.task).problem, Graphplan(watch=watch), seconds=SECONDS)
    return steps
