"""The state of a task: the facts that are true, and the values of the numbers that actions change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from fractions import Fraction

from pddlego.pddl import Atom
from pddlego.pddl.conditions import Term


@dataclass(frozen=True, slots=True)
class State:
    """The true facts, and the numbers that actions change; a number without a value is not in `numbers`.

    In a classical task `numbers` is empty: costs and constants belong to the task. A state whose facts are a
    `frozenset` is a value and can be hashed; the state of an `Execution` changes with it.
    """

    facts: AbstractSet[Atom] = frozenset()
    numbers: Mapping[Term, Fraction] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.facts, frozenset(self.numbers.items()))) if self.numbers else hash(self.facts)

    def copy(self) -> State:
        """This state as a value."""
        return State(frozenset(self.facts), dict(self.numbers))


class Execution:
    """Executes steps in place: a copy of the state for each step would take time in the number of all its facts."""

    def __init__(self, start: State) -> None:
        self._facts, self._numbers = set(start.facts), dict(start.numbers)
        self.state = State(self._facts, self._numbers)

    def change(self, adds: Iterable[Atom], deletes: Iterable[Atom]) -> None:
        """Delete and add facts; a fact in both is true afterwards."""
        self._facts.difference_update(deletes)
        self._facts.update(adds)

    def assign(self, numbers: Mapping[Term, Fraction]) -> None:
        """Give numbers new values."""
        self._numbers.update(numbers)
