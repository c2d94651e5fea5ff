"""The planning graph: levels of facts and actions, and which of them exclude each other, as bit sets."""

from __future__ import annotations

from collections.abc import Iterable

from pddlego.planning.graphplan.values import GraphTask, bits


class PlanningGraph:
    """The graph as far as it is expanded.

    `facts[k]` are the facts of level k, `excluded[k][p]` the facts that exclude fact p there. `actions[k]` are the
    actions between levels k - 1 and k, `exclusive[k][a]` the actions that exclude action a there, including actions
    outside the level; both are empty for k = 0. Two facts that do not exclude each other never do at a later level,
    pruned or not, because their no-ops stay.
    """

    def __init__(self, task: GraphTask) -> None:
        self.task = task
        count = len(task.facts)
        self.facts = [task.initial]
        self.excluded: list[list[int]] = [[0] * count]
        self.actions = [0]
        self.exclusive: list[list[int]] = [[]]
        self._adders, self._needers, deleters = [0] * count, [0] * count, [0] * count
        for action in range(len(task.actions)):
            one = 1 << action
            for fact in task.added[action]:
                self._adders[fact] |= one
            for fact in task.needed[action]:
                self._needers[fact] |= one
            if task.deletes[action]:
                for fact in bits(task.deletes[action]):
                    deleters[fact] |= one
        self._noops = self._noops_of(task.initial)
        self._always = [self._static(action, deleters) for action in range(len(task.actions))]
        self._competing = [0] * len(task.actions)
        self._blocked = [0] * count
        self._changed = 0

    @property
    def level(self) -> int:
        return len(self.facts) - 1

    @property
    def satisfied(self) -> bool:
        """Whether the last level has all goals, and no two of them exclude each other."""
        goal, excluded = self.task.goal, self.excluded[-1]
        return not goal & ~self.facts[-1] and not any(excluded[fact] & goal for fact in bits(goal))

    @property
    def level_off(self) -> int | None:
        """The first level to which all later ones are equal; None if the last two levels differ. Equal facts have equal
        candidates, and of equal candidates the same are kept."""
        level = self.level
        while level and self.facts[level] == self.facts[level - 1] and self.excluded[level] == self.excluded[level - 1]:
            level -= 1
        return level if level < self.level else None

    def candidates(self) -> int:
        """The real actions that the next level may have: no two of the facts that they need exclude each other."""
        absent, excluded = ~self.facts[-1], self.excluded[-1]
        actions = 0
        for action in range(self.task.real):
            needs = self.task.needs[action]
            if needs & absent:
                continue
            for fact in self.task.needed[action]:
                if excluded[fact] & needs:
                    break
            else:
                actions |= 1 << action
        return actions

    def expand(self, kept: int) -> None:
        """Add a level with the `kept` candidates and all no-ops."""
        facts, excluded = self.facts[-1], self.excluded[-1]
        present = kept | self._noops
        exclusive = self._compete(present)
        after = facts
        for action in bits(kept):
            after |= self.task.adds[action]
        self.actions.append(present)
        self.exclusive.append(exclusive)
        self.facts.append(after)
        self.excluded.append(self._exclude(present, exclusive, facts, after, excluded))
        self._noops |= self._noops_of(after & ~facts)

    def remove_level(self) -> None:
        """Remove the last level, which has the facts of the level before."""
        for levels in (self.actions, self.exclusive, self.facts, self.excluded):
            del levels[-1]

    def mutexes(self, level: int) -> int:
        """The number of pairs of actions of a level that exclude each other."""
        present, exclusive = self.actions[level], self.exclusive[level]
        return sum((exclusive[action] & present).bit_count() for action in bits(present)) // 2

    def fact_mutexes(self, level: int) -> int:
        """The number of pairs of facts of a level that exclude each other."""
        return sum(mask.bit_count() for mask in self.excluded[level]) // 2

    def supporters(self, level: int, fact: int) -> int:
        """The actions of a level that add a fact."""
        return self._adders[fact] & self.actions[level]

    def _noops_of(self, facts: int) -> int:
        return facts << self.task.real

    def _static(self, action: int, deleters: list[int]) -> int:
        """The actions that exclude an action in every level, by inconsistent effects or interference."""
        task, actions = self.task, 0
        for fact in task.added[action]:
            actions |= deleters[fact]
        for fact in task.needed[action]:
            actions |= deleters[fact]
        if task.deletes[action]:
            for fact in bits(task.deletes[action]):
                actions |= self._adders[fact] | self._needers[fact]
        return actions & ~(1 << action)

    def _compete(self, present: int) -> list[int]:
        """The actions that exclude each action in the next level: always, or by needs that exclude each other."""
        excluded, needs = self.excluded[-1], self.task.needs
        before = self.excluded[-2] if len(self.excluded) > 1 else None
        seen = self.actions[-1] if before is not None else 0
        changed = 0
        for fact in bits(self.facts[-1]):
            if before is None or excluded[fact] != before[fact]:
                changed |= 1 << fact
                blocked = 0
                for other in bits(excluded[fact]):
                    blocked |= self._needers[other]
                self._blocked[fact] = blocked
        exclusive = list(self.exclusive[-1]) if before is not None else list(self._always)
        for action in bits(present):
            if needs[action] & changed or not seen >> action & 1:
                competing = 0
                for fact in self.task.needed[action]:
                    competing |= self._blocked[fact]
                exclusive[action] = self._always[action] | competing
        return exclusive

    def _exclude(self, present: int, exclusive: list[int], facts: int, after: int, before: list[int]) -> list[int]:
        """The facts that exclude each fact: all actions that add one exclude all that add the other.

        Only pairs with a new fact, and pairs that excluded each other before, are examined.
        """
        excluded = [0] * len(before)
        new = after & ~facts
        adding: dict[int, int] = {}
        free: dict[int, int] = {}
        for fact in bits(after):
            if not (before[fact] or new):
                continue
            ways = adding[fact] = self._adders[fact] & present
            common = -1
            for action in bits(ways):
                common &= exclusive[action]
                if not common:
                    break
            free[fact] = ~common
        for fact in free:
            rest = (before[fact] & ~((2 << fact) - 1)) if not new >> fact & 1 else after & ~(1 << fact)
            able = free[fact]
            for other in bits(rest):
                if not adding[other] & able:
                    excluded[fact] |= 1 << other
                    excluded[other] |= 1 << fact
        return excluded


_FAR = 1 << 30
"""The cost of an unreachable fact."""


def relevance(task: GraphTask) -> dict[int, int]:
    """The real actions that may help, each with its distance: the number of actions between it and the goal.

    These are the actions of all cheapest relaxed plans, by additive costs, and the actions that restore what these
    delete: for every needed fact that a relevant action deletes, the cheapest actions that add it again are relevant,
    with the facts that they need, until no fact is missing. In the end, every action is relevant that adds a needed
    fact and needs only needed or initial facts, because it may be part of a shorter plan.
    """
    costs = _costs(task)
    adders: dict[int, list[int]] = {}
    for action in range(task.real):
        for fact in bits(task.adds[action]):
            adders.setdefault(fact, []).append(action)
    distances: dict[int, int] = {}
    needed = dict.fromkeys(bits(task.goal), 0)
    waiting = [fact for fact in needed if not task.initial >> fact & 1]
    restored: set[int] = set()
    while waiting:
        for fact in waiting:
            for action in _cheapest(task, adders.get(fact, ()), costs, fact if fact in restored else None):
                if action not in distances:
                    distances[action] = needed[fact]
                    for need in bits(task.needs[action]):
                        if need not in needed:
                            needed[need] = needed[fact] + 1
                            if not task.initial >> need & 1:
                                waiting.append(need)
        deleted = 0
        for action in distances:
            deleted |= task.deletes[action]
        waiting = [fact for fact in needed if deleted >> fact & 1 and fact not in restored]
        restored.update(waiting)
    there = task.initial | sum(1 << fact for fact in needed)
    for action in range(task.real):
        helps = [needed[fact] for fact in bits(task.adds[action]) if fact in needed]
        if helps and action not in distances and not task.needs[action] & ~there:
            distances[action] = min(helps)
    return distances


def _cheapest(task: GraphTask, ways: Iterable[int], costs: list[int], restored: int | None) -> list[int]:
    """The cheapest of some actions. Actions that restore a fact must not need it."""
    priced = [
        (cost, action)
        for action in ways
        if (restored is None or not task.needs[action] >> restored & 1) and (cost := _cost(task, action, costs)) < _FAR
    ]
    least = min((cost for cost, _ in priced), default=_FAR)
    return [action for cost, action in priced if cost == least]


def _costs(task: GraphTask) -> list[int]:
    """The additive cost of each fact."""
    costs = [0 if task.initial >> fact & 1 else _FAR for fact in range(len(task.facts))]
    changed = True
    while changed:
        changed = False
        for action in range(task.real):
            cost = _cost(task, action, costs) + 1
            if cost > _FAR:
                continue
            for fact in bits(task.adds[action]):
                if cost < costs[fact]:
                    costs[fact] = cost
                    changed = True
    return costs


def _cost(task: GraphTask, action: int, costs: list[int]) -> int:
    return min(_FAR, sum(costs[fact] for fact in bits(task.needs[action])))
