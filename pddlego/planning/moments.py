"""AtTime plans as moments: the start and the end of each step, and timed literals, are instantaneous actions.

At a moment, all conditions hold before any effect. Moments are exact: starts and ends as printed, without a tolerance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import TRUE, And, Change, Compare, Formula, Or, TypedName
from pddlego.pddl.domain import Action
from pddlego.pddl.numbers import DURATION
from pddlego.planning.result import Plan, PlanStep


@dataclass(frozen=True)
class Happening:
    """A part of a plan that happens at one moment: `step` is an action of the domain `with_events`.

    `of` is the plan's step that starts or ends, or is instantaneous, and `number` its index; None and -1 for timed
    literals. `time` is `start` or `end`; empty for what is instantaneous.
    """

    step: PlanStep
    of: PlanStep | None = None
    number: int = -1
    time: str = ""


def with_events(domain: Domain, problem: Problem) -> Domain:
    """The domain whose actions are the instantaneous ones, the starts and ends of durative ones, and the literals.

    Their names have a blank, so no action of a file has the same one.
    """
    actions = list(domain.actions)
    for action in domain.durative:
        parameters = (*action.parameters, TypedName(DURATION.head))
        # A start reads the numbers of its duration, which is checked apart: with a tolerance.
        reads = Or((TRUE, action.duration))
        for time, more in (("start", (reads,)), ("end", ())):
            part = action.at(time)
            precondition = And((part.precondition, *more))
            actions.append(Action(f"{action.name} {time}", parameters, precondition, part.effect))
    literals: dict[str, list[Formula]] = defaultdict(list)
    for literal in problem.sorted_later():
        value = literal.part
        effect = Change("assign", value.left, value.right) if isinstance(value, Compare) else value
        literals[f"{literal.time:f}"].append(effect)
    actions += [Action(f"at {time}", (), TRUE, And(tuple(parts))) for time, parts in literals.items()]
    return replace(domain, actions=tuple(actions))


def moments(domain: Domain, problem: Problem, plan: Plan) -> Iterator[tuple[Fraction, list[Happening]]]:
    """The moments of a plan whose steps have times, in order, each with its events."""
    events: dict[Fraction, list[Happening]] = defaultdict(list)
    for literal in sorted({f"{literal.time:f}" for literal in problem.later}):
        events[Fraction(literal)].append(Happening(PlanStep(f"at {literal}")))
    durative = {action.name for action in domain.durative}
    for number, timed in enumerate(plan.timed):
        step = timed.step
        if step.action not in durative:
            events[Fraction(timed.start)].append(Happening(step, step, number))
            continue
        args = (*step.args, f"{timed.duration or 0:f}")
        for time, moment in (("start", Fraction(timed.start)), ("end", timed.end)):
            events[moment].append(Happening(PlanStep(f"{step.action} {time}", args), step, number, time))
    return iter(sorted(events.items()))
