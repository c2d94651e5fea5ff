"""Separates the steps of a timed plan that interfere, in the order of the plan.

Engines drop a part of a condition that a static fact decides, as in `(imply (asked ?g ?d) (cooked ?d))` for a dish that
the guest did not ask for. PDDL 2.1 does not: no atom of a condition may change at the moment of the condition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from itertools import combinations, product

from pddlego.pddl import Domain, Problem
from pddlego.planning.moments import Happening, moments, with_events
from pddlego.planning.numbers import ImpossibleChangeError
from pddlego.planning.result import Plan
from pddlego.planning.state import Execution
from pddlego.planning.validation.interference import interference
from pddlego.planning.validation.sequential import advance
from pddlego.planning.world import World
from pddlego.util.limits import Work

_APART = Decimal("0.001")
"""The time between events that interfere, as Kairos leaves it."""

_MOST_ROUNDS = 100
"""The maximum number of rounds: each one separates all events that interfere in the plan of the round before."""

_Pairs = set[tuple[Happening, Happening]]


def separated(domain: Domain, problem: Problem, plan: Plan) -> Iterator[Plan]:
    """Yield reorderings of a timed plan in which no two steps interfere. They may have other faults.

    Steps start as early as the order of all starts and ends allows. The plans differ in the order at one moment.
    """
    world = World(with_events(domain, problem), problem, Work())
    for first, sign in product(("end", "start"), (1, -1)):
        order = [
            event
            for _, events in moments(domain, problem, plan)
            for event in sorted(events, key=lambda event: (event.time != first, sign * event.number))
        ]
        places = {event: place for place, event in enumerate(order)}
        apart: _Pairs = set()
        shifted: Plan | None = plan
        for _ in range(_MOST_ROUNDS):
            pairs = None if shifted is None else _interfering(world, domain, problem, shifted)
            if not pairs:
                if shifted is not None and pairs is not None:
                    yield Plan.of(shifted.timed, shifted.optimal)
                break
            apart |= {(min(pair, key=places.__getitem__), max(pair, key=places.__getitem__)) for pair in pairs}
            shifted = _scheduled(plan, order, apart)


def _interfering(world: World, domain: Domain, problem: Problem, plan: Plan) -> _Pairs | None:
    """The events that interfere, each pair in any order; None if a number cannot change as a step says."""
    execution, pairs = Execution(world.initial), set()
    try:
        for _, events in moments(domain, problem, plan):
            state = execution.state
            if len(events) > 1 and interference(world, [event.step for event in events], state):
                pairs |= {
                    pair for pair in combinations(events, 2) if interference(world, [one.step for one in pair], state)
                }
            advance(world, [event.step for event in events], execution)
    except ImpossibleChangeError:
        return None
    return pairs


def _scheduled(plan: Plan, order: list[Happening], apart: _Pairs) -> Plan | None:
    """The earliest plan whose events are in this order, pairs of events `apart`; None if there is no such plan.

    No step starts before its start in `plan`.
    """
    starts = list(plan.times)
    before: dict[Happening, list[Happening]] = defaultdict(list)
    for one, other in apart:
        before[other].append(one)

    def time(event: Happening) -> Decimal:
        if event.of is None:
            return Decimal(event.step.action.removeprefix("at "))
        return starts[event.number] + ((plan.durations[event.number] or 0) if event.time == "end" else 0)

    for _ in order:
        earliest, is_stable = Decimal(0), True
        for event in order:
            earliest = max((earliest, *(time(other) + _APART for other in before[event])))
            late = earliest - time(event)
            if late > 0:
                if event.of is None:
                    return None
                starts[event.number] += late
                is_stable = False
            earliest = time(event)
        if is_stable:
            return Plan(plan.steps, tuple(starts), 0, plan.durations, plan.optimal)
    return None
