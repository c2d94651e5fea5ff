"""Timed plans as moments: the start and the end of each step, and timed literals, are instantaneous actions.

At a moment, all conditions hold before any effect. Moments are exact: starts and ends as printed, without a tolerance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import TRUE, And, Change, Compare, Formula, Or, TypedName
from pddlego.pddl.domain import Action, at_time
from pddlego.pddl.numbers import DURATION
from pddlego.planning.result import Plan, PlanStep


@dataclass(frozen=True)
class Event:
    """A part of a plan that happens at one moment: `step` is an action of the domain `with_events`.

    `of` is the plan's step that starts or ends, or is instantaneous, and `number` its index; None and -1 for timed
    literals. `time` is `start` or `end`; empty for what is instantaneous.
    """

    step: PlanStep
    of: PlanStep | None = None
    number: int = -1
    time: str = ""


def with_events(domain: Domain, problem: Problem) -> Domain:
    """The domain whose actions are the instantaneous ones, the starts and ends of durative ones, and the literals."""
    actions = list(domain.actions)
    for action in domain.durative:
        parameters = (*action.parameters, TypedName(DURATION.head))
        # A start reads the numbers of its duration, which is checked apart: with a tolerance.
        reads = Or((TRUE, at_time(action.duration, "start")))
        for time, more in (("start", (reads,)), ("end", ())):
            part = action.at(time)
            precondition = And((part.precondition, *more))
            actions.append(Action(_name(action.name, time), parameters, precondition, part.effect))
    literals: dict[str, list[Formula]] = defaultdict(list)
    for literal in problem.sorted_later():
        literals[f"{literal.time:f}"].append(_effect(literal.part))
    actions += [Action(_name("at", time), (), TRUE, And(tuple(parts))) for time, parts in literals.items()]
    return replace(domain, actions=tuple(actions))


def _name(action: str, time: str) -> str:
    """The name of an event, which no action of a file has."""
    return f"{action} {time}"


def _effect(literal: Formula) -> Formula:
    return Change("assign", literal.left, literal.right) if isinstance(literal, Compare) else literal


def moments(domain: Domain, problem: Problem, plan: Plan) -> Iterator[tuple[Fraction, list[Event]]]:
    """The moments of a plan whose steps have times, in order, each with its events."""
    events: dict[Fraction, list[Event]] = defaultdict(list)
    for literal in sorted({f"{literal.time:f}" for literal in problem.later}):
        events[Fraction(literal)].append(Event(PlanStep(_name("at", literal))))
    durative = {action.name for action in domain.durative}
    for number, timed in enumerate(plan.timed):
        step = timed.step
        if step.action not in durative:
            events[Fraction(timed.start)].append(Event(step, step, number))
            continue
        args = (*step.args, f"{timed.duration or 0:f}")
        for time, moment in (("start", Fraction(timed.start)), ("end", timed.end)):
            events[moment].append(Event(PlanStep(_name(step.action, time), args), step, number, time))
    return iter(sorted(events.items()))
