"""Backward search for a plan in a planning graph, with no-goods that hold only what the failure was about.

From the goals at the last level: for each goal an action that adds it and that no chosen one excludes; what the chosen
actions need are the goals of the level before. A set of goals that fails is explained by a subset (a conflict set,
Kambhampati, 2000): choices that are no part of it are not tried again, and it is kept as a no-good of its level, met
again by every set of goals that holds it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pddlego.planning.graphplan.graph import PlanningGraph
from pddlego.planning.graphplan.task import bits

Chosen = tuple[int, int, "Chosen"] | None
"""What was chosen in a level so far, the last first: the goal (as a bit), and the action for it."""


@dataclass
class Count:
    """What a search took: `nodes` are actions tried for a goal, `sets` the sets of goals looked at."""

    nodes: int = 0
    sets: int = 0
    nogoods: int = 0
    hits: int = 0


class NoGoods:
    """Sets of goals that cannot be reached together at a level, found by any set that holds one of them."""

    def __init__(self) -> None:
        self.all: list[int] = []
        self._by_lowest: dict[int, list[int]] = defaultdict(list)
        self._known: set[int] = set()

    def add(self, facts: int) -> bool:
        if facts in self._known:
            return False
        self._known.add(facts)
        self.all.append(facts)
        self._by_lowest[facts & -facts].append(facts)
        return True

    def within(self, facts: int) -> int:
        """One that `facts` hold; 0 if they hold none."""
        if facts in self._known:
            return facts
        rest, missing, by_lowest = facts, ~facts, self._by_lowest
        while rest:
            low = rest & -rest
            for found in by_lowest.get(low, ()):
                if not found & missing:
                    return found
            rest ^= low
        return 0


class _Choice:
    """A goal for which an action is being chosen. `first` is set in the first of a level: what was to be reached."""

    __slots__ = ("above", "available", "chosen", "conflict", "first", "forbidden", "goal", "level", "remaining", "ways")

    def __init__(self, level: int, remaining: int, forbidden: int, chosen: Chosen, first: int, above: Chosen) -> None:
        self.level, self.remaining, self.forbidden, self.chosen = level, remaining, forbidden, chosen
        self.first, self.above = first, above
        self.goal = self.conflict = self.available = 0
        self.ways: Iterator[int] = iter(())


class Extraction:
    """Searches one graph, again each time it has grown. `ranks` say, by level, which actions to try first.

    What is not ranked follows: the no-op, then the others in their order. `tick` is called at every set of goals,
    and may raise to break off; the last one was looked at in level `depth`.
    """

    def __init__(
        self,
        graph: PlanningGraph,
        ranks: Mapping[int, Mapping[int, int]] | None = None,
        memo: bool = True,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self.graph, self.memo, self._tick = graph, memo, tick
        self.ranks = ranks if ranks is not None else {}
        self.nogoods: dict[int, NoGoods] = defaultdict(NoGoods)
        self.count = Count()
        self.depth = 0
        self._ways: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {}
        self._needs, self._adds = graph.task.needs, graph.task.adds

    def find(self, level: int, goals: int) -> list[list[int]] | None:
        """The actions of each level, no-ops too, that reach the goals at `level`; None if there are none."""
        if level == 0 or not goals:
            return [[] for _ in range(level)]
        if self._known(level, goals):
            return None
        stack = [self._begin(level, goals, None)]
        while stack:
            top = stack[-1]
            conflict = self._advance(top, stack)
            if conflict is None:
                continue
            if conflict == 0:
                return self._solution(stack)
            while True:  # a conflict goes back to the last choice that is part of it
                top = stack.pop()
                if top.first:
                    self._learn(top.level, conflict)
                    if not stack:
                        return None
                    conflict = self._regressed(conflict, top.above)
                below = stack[-1]
                if conflict & below.goal:
                    below.conflict |= conflict
                    break
        return None

    def hopeless(self, level_off: int) -> bool:
        """Whether longer graphs hold no plan either, after a search from the last level has found none.

        That is so if, from where all levels are alike, there is a level each of whose no-goods holds one of the next
        level: then what blocks every way down to it blocks every way down to the next, and so on.
        """
        if not self.memo:
            return False
        for level in range(level_off, self.graph.level):
            here, above = self.nogoods[level], self.nogoods[level + 1]
            # A search may add to the no-goods that are gone through, and these must hold, too.
            if here.all and all(above.within(each) or self.find(level + 1, each) is None for each in here.all):
                return True
        return False

    def _advance(self, top: _Choice, stack: list[_Choice]) -> int | None:
        """Try the next action for a goal: None to go on, 0 if all is reached, else why it cannot be."""
        graph, level = self.graph, top.level
        for action in top.ways:
            if not top.available >> action & 1:
                continue
            self.count.nodes += 1
            remaining = top.remaining & ~self._adds[action]
            chosen: Chosen = (top.goal, action, top.chosen)
            if remaining:
                stack.append(self._choice(level, remaining, top.forbidden | graph.exclusive[level][action], chosen))
                return None
            goals = 0
            link = chosen
            while link is not None:
                goals |= self._needs[link[1]]
                link = link[2]
            if level == 1 or not goals:
                stack.append(_Choice(0, 0, 0, None, 0, chosen))
                return 0
            known = self._known(level - 1, goals)
            if not known:
                stack.append(self._begin(level - 1, goals, chosen))
                return None
            conflict = self._regressed(known, chosen)
            if not conflict & top.goal:
                return conflict
            top.conflict |= conflict
        return top.conflict

    def _known(self, level: int, goals: int) -> int:
        """A no-good that these goals hold."""
        self.depth = level
        self._tick()
        self.count.sets += 1
        found = self.nogoods[level].within(goals) if self.memo else 0
        if found:
            self.count.hits += 1
        return found

    def _learn(self, level: int, conflict: int) -> None:
        if self.memo and self.nogoods[level].add(conflict):
            self.count.nogoods += 1

    def _begin(self, level: int, goals: int, above: Chosen) -> _Choice:
        return self._prepared(_Choice(level, goals, 0, None, goals, above))

    def _choice(self, level: int, remaining: int, forbidden: int, chosen: Chosen) -> _Choice:
        return self._prepared(_Choice(level, remaining, forbidden, chosen, 0, None))

    def _prepared(self, choice: _Choice) -> _Choice:
        """Choose the goal with the fewest actions left. Choices that exclude others are part of why it may fail."""
        level, forbidden = choice.level, choice.forbidden
        best, least, all_ways = -1, 1 << 60, 0
        ordered: tuple[int, ...] = ()
        for fact in bits(choice.remaining):
            ways, order = self._ways_of(level, fact)
            left = (ways & ~forbidden).bit_count()
            if left < least:
                best, least, all_ways, ordered = fact, left, ways, order
                if not left:
                    break
        choice.goal = choice.conflict = 1 << best
        choice.available = all_ways & ~forbidden
        choice.ways = iter(ordered)
        taken, link = all_ways & forbidden, choice.chosen
        exclusive = self.graph.exclusive[level]
        while taken and link is not None:
            blocked = exclusive[link[1]] & taken
            if blocked:
                choice.conflict |= link[0]
                taken &= ~blocked
            link = link[2]
        return choice

    def _ways_of(self, level: int, fact: int) -> tuple[int, tuple[int, ...]]:
        """The actions that add a fact, as a set and in the order in which they are tried."""
        found = self._ways.get((level, fact))
        if found is None:
            ways = self.graph.supporters(level, fact)
            rank, real = self.ranks.get(level, {}), self.graph.task.real
            last = len(rank)
            order = sorted(bits(ways), key=lambda action: (rank.get(action, last), action < real, action))
            found = self._ways[level, fact] = ways, tuple(order)
        return found

    def _regressed(self, conflict: int, chosen: Chosen) -> int:
        """The goals of the level above for whose sake the facts of a conflict were needed."""
        found = 0
        while chosen is not None and conflict:
            goal, action, chosen = chosen
            if self._needs[action] & conflict:
                found |= goal
                conflict &= ~self._needs[action]
        return found

    def _solution(self, stack: list[_Choice]) -> list[list[int]]:
        found: list[list[int]] = []
        for choice in reversed(stack):
            if choice.above is not None:
                level: list[int] = []
                link: Chosen = choice.above
                while link is not None:
                    level.append(link[1])
                    link = link[2]
                found.append(level)
        return [[] for _ in range(stack[0].level - len(found))] + found
