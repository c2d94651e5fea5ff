"""Which object of a model's problem is which object of a reference: `loc2` may be what the reference calls `pantry`.

Facts decide, not names: an object is matched to the one of which the same facts hold. A name that the game printed is
trusted; one that was made up for a room not yet seen is not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from itertools import takewhile

from pddlego.pddl import Atom, Problem


def image(fact: Atom, mapping: Mapping[str, str]) -> Atom:
    """The fact with every object replaced by its counterpart; an object without one keeps its name."""
    return Atom(fact.predicate, tuple([mapping.get(arg, arg) for arg in fact.args]))


def align(
    claimed: Problem,
    true: Problem,
    constants: Collection[str],
    *,
    made_up: Callable[[str], bool],
    before: Mapping[str, str],
) -> dict[str, str]:
    """Match the objects of `claimed` to objects of `true`, one to one, by the facts that they have in common.

    `constants` are in both problems and stay as they are. Equal names are matched unless they are `made_up`. `before`
    is an earlier matching, which decides where the facts do not. An object without a counterpart is left out.
    """
    matching = _Matching(claimed, true, constants, before)
    matching.grow({name: name for name in matching.kinds if name in matching.true_kinds and not made_up(name)})
    return matching.mapping


class _Matching:
    """A matching that grows from what is certain."""

    def __init__(self, claimed: Problem, true: Problem, constants: Collection[str], before: Mapping[str, str]) -> None:
        self.kinds = {obj.name: obj.type for obj in claimed.sorted_objects() if obj.name not in constants}
        self.true_kinds = {obj.name: obj.type for obj in true.sorted_objects() if obj.name not in constants}
        self.mapping = {name: name for name in constants}
        self._true_types = set(self.true_kinds.values())
        self._before = before
        self._facts: dict[str, list[Atom]] = defaultdict(list)
        for fact in claimed.sorted_facts():
            for name in dict.fromkeys(fact.args):
                self._facts[name].append(fact)
        self._like: dict[tuple[str, int], list[Atom]] = defaultdict(list)
        for fact in true.sorted_facts():
            self._like[fact.predicate, len(fact.args)].append(fact)
        self._surroundings = _surroundings(self.kinds, claimed.facts)
        self._true_surroundings = _surroundings(self.true_kinds, true.facts)

    def grow(self, certain: Mapping[str, str]) -> None:
        """Match what is certain, and then the clearest pair, again and again, until nothing supports any.

        Where no fact connects what is left with what is matched, the pair that is most alike comes next.
        """
        self.mapping |= certain
        ballots = {name: self._ballot(name) for name in self.kinds if name not in self.mapping}
        while ballots:
            if not any(ballots.values()):
                ballots = {name: self._likeness(name) for name in ballots}
            name = max(ballots, key=lambda name: _lead(ballots[name]))
            if not ballots[name]:
                return
            choice = self._choice(name, ballots.pop(name))
            self.mapping[name] = choice
            touched = {other for fact in self._facts[name] for other in fact.args}
            for other, ballot in ballots.items():
                if other in touched or choice in ballot:
                    ballots[other] = self._ballot(other)

    def _same_kind(self, name: str, other: str) -> bool:
        """Whether the types agree, as far as the reference has the type: a model may write its own domain."""
        return self.kinds[name] == self.true_kinds[other] or self.kinds[name] not in self._true_types

    def _ballot(self, name: str) -> dict[str, float]:
        """How strongly the facts about an object support each counterpart: each fact has one vote, which it shares
        among all that fit."""
        ballot: dict[str, float] = defaultdict(float)
        taken = set(self.mapping.values())
        for fact in self._facts[name]:
            if fact.args.count(name) == 1 and all(arg == name or arg in self.mapping for arg in fact.args):
                place, wanted = fact.args.index(name), image(fact, self.mapping).args
                fitting = [
                    other.args[place]
                    for other in self._like[fact.predicate, len(fact.args)]
                    if other.args[place] in self.true_kinds
                    and other.args[place] not in taken
                    and self._same_kind(name, other.args[place])
                    and all(n == place or arg == wanted[n] for n, arg in enumerate(other.args))
                ]
                for candidate in fitting:
                    ballot[candidate] += 1 / len(fitting)
        return {candidate: votes + self._resemblance(name, candidate) for candidate, votes in ballot.items()}

    def _likeness(self, name: str) -> dict[str, float]:
        """The counterparts that are still free and have similar facts."""
        taken = set(self.mapping.values())
        free = (other for other in self.true_kinds if other not in taken and self._same_kind(name, other))
        alike = {other: self._resemblance(name, other) for other in free} if self._facts[name] else {}
        return {other: likeness for other, likeness in alike.items() if likeness}

    def _resemblance(self, name: str, other: str) -> float:
        """Less than a vote: how far around both objects all facts are alike."""
        pairs = zip(self._surroundings[name], self._true_surroundings[other], strict=True)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) / (10 * _ROUNDS)

    def _choice(self, name: str, ballot: Mapping[str, float]) -> str:
        """The counterpart with most votes; among equals the one of before, or that of the same name."""
        best = max(ballot.values())
        choices = sorted(candidate for candidate, votes in ballot.items() if votes > best - 1e-9)
        return next((choice for choice in (self._before.get(name), name) if choice in choices), choices[0])


_ROUNDS = 4
"""How many facts away two objects are compared."""


def _surroundings(kinds: Mapping[str, str], facts: Collection[Atom]) -> dict[str, tuple[int, ...]]:
    """A digest of each object's facts, of those and the facts of its neighbours, and so on (colour refinement)."""
    colours: dict[str, list[int]] = {name: [hash(kind)] for name, kind in kinds.items()}
    for _ in range(_ROUNDS):
        views: dict[str, list[int]] = {name: [] for name in kinds}
        for fact in facts:
            seen = tuple([colours[arg][-1] if arg in colours else hash(arg) for arg in fact.args])
            for place, arg in enumerate(fact.args):
                if arg in views:
                    views[arg].append(hash((fact.predicate, place, seen)))
        for name, view in views.items():
            colours[name].append(hash(tuple(sorted(view))))
    return {name: tuple(rounds[1:]) for name, rounds in colours.items()}


def _lead(ballot: Mapping[str, float]) -> tuple[float, float]:
    """The lead of the best candidate, and its votes."""
    first, second = (*sorted(ballot.values(), reverse=True)[:2], 0.0, 0.0)[:2]
    return first - second, first
