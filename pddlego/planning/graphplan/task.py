"""A ground task as Graphplan reads it: facts and actions are numbered, and sets of them are the bits of an integer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pddlego.pddl.names import natural
from pddlego.planning.ground import GOAL_STEP, GroundTask


def bits(number: int) -> Iterator[int]:
    """The places of the bits that are set, the lowest first."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


@dataclass(frozen=True)
class GraphTask:
    """`needs`, `adds` and `deletes` are sets of facts, one for each action; what an action adds it does not delete.

    The first `real` actions are those of the domain. The others are the no-ops, one for each fact, in their order.
    """

    facts: tuple[str, ...]
    actions: tuple[str, ...]
    needs: tuple[int, ...]
    adds: tuple[int, ...]
    deletes: tuple[int, ...]
    initial: int
    goal: int
    real: int

    @cached_property
    def named_actions(self) -> dict[str, int]:
        """The actions of each name, as a set: an action of the domain may be compiled into several."""
        found: dict[str, int] = {}
        for number, name in enumerate(self.actions):
            found[name] = found.get(name, 0) | 1 << number
        return found

    @cached_property
    def goal_steps(self) -> int:
        """The artificial last steps, where the goal can be reached in several ways."""
        return self.named_actions.get(GOAL_STEP, 0)

    @cached_property
    def needed(self) -> tuple[tuple[int, ...], ...]:
        """What each action needs, as numbers of facts: to go through these is faster than through bits."""
        return tuple(tuple(bits(facts)) for facts in self.needs)

    @cached_property
    def added(self) -> tuple[tuple[int, ...], ...]:
        """What each action adds, as numbers of facts."""
        return tuple(tuple(bits(facts)) for facts in self.adds)

    def named(self, facts: int) -> tuple[str, ...]:
        """The names of a set of facts."""
        return tuple(self.facts[number] for number in bits(facts))


def compile_task(task: GroundTask, others: Iterable[str] = (), complements: bool = False) -> GraphTask:
    """Number a ground task. `others` are facts that are always true, and have a no-op of their own like any other.

    With `complements` the negation of every fact is a fact, too: level 0 holds then those of all that is not true.
    """
    opposite: dict[str, str] = {}
    changing = task.initial.union(task.goals, *(each.adds | each.deletes for each in task.operators))
    if complements:
        opposite = {fact: f"(not {fact})" for fact in changing if not fact.startswith("(not ")}
    names = sorted({*task.facts, *others, *opposite.values()}, key=_written)
    number_of = {name: number for number, name in enumerate(names)}

    def mask(facts: Iterable[str]) -> int:
        found = 0
        for fact in facts:
            found |= 1 << number_of[fact]
        return found

    def flipped(facts: Iterable[str]) -> list[str]:
        return [opposite[fact] for fact in facts if fact in opposite]

    initial = {*task.initial, *others}
    initial |= {negation for fact, negation in opposite.items() if fact not in initial}
    rows = [
        (
            each.action,
            mask(each.preconditions),
            mask([*each.adds, *flipped(each.deletes - each.adds)]),
            mask([*(each.deletes - each.adds), *flipped(each.adds)]),
        )
        for each in task.operators
    ]
    keeping = [(_noop(name), 1 << number, 1 << number, 0) for number, name in enumerate(names)]
    actions, needs, adds, deletes = zip(*rows, *keeping, strict=True) if names else ((), (), (), ())
    return GraphTask(
        facts=tuple(names),
        actions=actions,
        needs=needs,
        adds=adds,
        deletes=deletes,
        initial=mask(initial),
        goal=mask(task.goals),
        real=len(rows),
    )


def _noop(fact: str) -> str:
    return f"(noop {fact[1:-1]})"


def _written(fact: str) -> tuple[object, ...]:
    return tuple(natural(word) for word in fact.strip("()").split())
