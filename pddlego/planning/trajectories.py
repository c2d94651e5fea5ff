"""Whether the states that a plan passes through satisfy constraints (PDDL 3; Gerevini et al. 2009, section 2.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

from pddlego.errors import TooManyCasesError
from pddlego.pddl.conditions import Atom, Forall, Formula, Not, Preference, Renaming, Trajectory, atoms_of, parts_of
from pddlego.planning.state import State
from pddlego.planning.world import World


def instances(world: World, constraints: Formula) -> Iterator[Trajectory]:
    """The constraints over objects that a section stands for: one for each value of the variables of `forall`.

    Raises `TooManyCasesError`.
    """
    waiting: list[tuple[Formula, Mapping[str, str]]] = [(constraints, {})]
    while waiting:
        formula, binding = waiting.pop()
        match formula:
            case Trajectory():
                world.work.spend()
                yield replace(formula, parts=tuple(map(Renaming(binding).formula, formula.parts)))
            case Forall():
                waiting += reversed([(formula.part, case) for case in world.bindings(formula.variables, binding)])
            case _:
                waiting += [(part, binding) for part in reversed(parts_of(formula))]


GroundPreference = tuple[str, list[Trajectory]]
"""The name and the constraints of a preference over objects."""


def preference_instances(world: World, preferences: Iterable[Preference]) -> Iterator[GroundPreference]:
    """The preferences over objects that preferences stand for. Raises `TooManyCasesError`."""
    for preference in preferences:
        try:
            for binding in world.bindings(preference.variables, {}):
                yield preference.name, [*instances(world, Renaming(binding).formula(preference.part))]
        except TooManyCasesError as error:
            raise TooManyCasesError(error.part or str(preference)) from error


AT_END = frozenset({"at end", "sometime", "sometime-after"})
"""The constraints without times that only the end of a plan can break."""


class Monitor:
    """Follows the states of a plan. `observe` is called for the initial state, then for the state after each moment.

    The `preferences` are followed too, and break nothing.
    """

    def __init__(
        self, world: World, constraints: Iterable[Trajectory], preferences: Iterable[GroundPreference] = ()
    ) -> None:
        self.world = world
        self._watches = [_Watch(constraint) for constraint in constraints]
        self._preferences = [(name, Monitor(world, parts)) for name, parts in preferences]

    def copy(self) -> Monitor:
        """A monitor that has observed the same states."""
        copied = Monitor(self.world, ())
        copied._watches = [*map(copy, self._watches)]
        copied._preferences = [(name, own.copy()) for name, own in self._preferences]
        return copied

    def observe(self, state: State, time: Fraction) -> Trajectory | None:
        """Take the next state; return the first constraint that it breaks. Raises `TooManyCasesError`."""
        broken = None
        for _, own in self._preferences:
            own.observe(state, time)
        for watch in self._watches:
            if not watch.is_broken:
                self.world.work.renew()
                watch.observe(time, [self.world.holds(part, state, {}) for part in watch.constraint.parts])
                broken = broken or (watch.constraint if watch.is_broken else None)
        return broken

    def unsatisfied(self) -> Iterator[Trajectory]:
        """The constraints that are not satisfied if no further state follows."""
        return (watch.constraint for watch in self._watches if not watch.is_satisfied)

    def violations(self) -> dict[str, list[bool]]:
        """Whether the instances of each preference are violated if no further state follows, by the names."""
        violated: dict[str, list[bool]] = {}
        for name, own in self._preferences:
            violated.setdefault(name, []).append(next(own.unsatisfied(), None) is not None)
        return violated

    def rest(self) -> Iterator[Trajectory]:
        """What the states from the last one on must satisfy (progression; Bacchus and Kabanza 2000).

        Constraints that are broken and those with times are left out.
        """
        for watch in self._watches:
            yield from watch.rest()

    def finished(self) -> Iterator[Trajectory]:
        """The constraints without times of which nothing is left."""
        return (watch.constraint for watch in self._watches if next(watch.rest(), None) is None)


def contradict(
    world: World,
    one: Trajectory,
    other: Trajectory,
    is_possible: Callable[[frozenset[Atom]], bool] = lambda facts: True,
) -> bool:
    """Whether no possible states satisfy two constraints, even if each fact may change freely. If any do, three do.

    Constraints with variables, derived predicates or more than four facts are not checked. Raises `TooManyCasesError`.
    """
    facts = {*atoms_of(one), *atoms_of(other)}
    if len(facts) > 4 or any("?" in str(fact) or fact.predicate in world.domain.rules for fact in facts):
        return False
    chosen = (frozenset(some) for number in range(len(facts) + 1) for some in combinations(facts, number))
    states = [*filter(is_possible, chosen)]
    for trace in product(states, repeat=3):
        monitor = Monitor(world, (one, other))
        for time, state in enumerate(trace):
            monitor.observe(State(state), Fraction(time))
        if next(monitor.unsatisfied(), None) is None:
            return False
    return True


class _Watch:
    """Follows one constraint, which `is_broken` if no further state can satisfy it."""

    def __init__(self, constraint: Trajectory) -> None:
        self.constraint = constraint
        self.is_broken = False
        self._times = [Fraction(value) for value in constraint.times]
        self._last: tuple[Fraction, bool] | None = None
        self._seen = self._is_over = False
        self._waits_since: Fraction | None = None

    def observe(self, time: Fraction, values: list[bool]) -> None:
        """Take the values of the conditions in the next state."""
        first, second, times = values[0], values[-1], self._times
        match self.constraint.operator:
            case "always":
                self.is_broken = not first
            case "sometime":
                self._seen |= first
            case "within":
                self._seen |= first and time <= times[0]
                self.is_broken = not self._seen and time > times[0]
            case "at-most-once":
                self.is_broken = first and self._is_over
                self._is_over |= self._seen and not first
                self._seen |= first
            case "sometime-before":
                self.is_broken = first and not self._seen
                self._seen |= second
            case "sometime-after" | "always-within":
                self.is_broken = self._is_late(time, first, second)
            case "hold-during" | "hold-after":
                is_inside = times[0] <= time and (len(times) == 1 or time < times[1])
                # The state that was current when the period began counts, too.
                was_false = self._last is not None and self._last[0] < times[0] < time and not self._last[1]
                self.is_broken = was_false or (is_inside and not first)
        self._last = (time, first)

    def rest(self) -> Iterator[Trajectory]:
        operator, parts = self.constraint.operator, self.constraint.parts
        is_satisfied = self._seen and operator in ("sometime", "sometime-before")
        if self.is_broken or is_satisfied or self.constraint.times:
            return
        if self._waits_since is not None:
            yield Trajectory("sometime", parts[1:])
        yield Trajectory("always", (Not(parts[0]),)) if self._is_over else self.constraint

    def _is_late(self, time: Fraction, first: bool, second: bool) -> bool:
        """Whether what had to follow in time has not. Of several states that wait for it, the first one decides."""
        if first and self._waits_since is None:
            self._waits_since = time
        late = self._waits_since is not None and bool(self._times) and time - self._waits_since > self._times[0]
        if second and not late:
            self._waits_since = None
        return late

    @property
    def is_satisfied(self) -> bool:
        """Whether the constraint is satisfied if the plan ends here."""
        if self.is_broken or self._last is None:
            return not self.is_broken
        time, holds = self._last
        match self.constraint.operator:
            case "at end":
                return holds
            case "sometime" | "within":
                return self._seen
            case "sometime-after" | "always-within":
                return self._waits_since is None
            case "hold-during" | "hold-after" if time < self._times[0]:
                return holds
        return True
