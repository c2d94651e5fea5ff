"""Labelled structures: names with colours and relations between them, compared up to the names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from pddlego.util.limits import Work

Relation = tuple[str, tuple[str, ...]]
"""A labelled tuple of names, such as a fact."""


@dataclass(frozen=True)
class Structure:
    """Names with colours, and labelled tuples of names. A name in a tuple that has no colour stands for itself."""

    colours: dict[str, str]
    relations: list[Relation]


def are_isomorphic(left: Structure, right: Structure, work: Work | None = None) -> bool | None:
    """Whether two structures are equal up to the names that have colours; None if that could not be decided.

    Colours are refined until they are stable (1-dimensional Weisfeiler-Leman); then objects that look alike are paired
    one by one. If no pair fits, the structures differ, unless an earlier choice of a pair may be to blame. Raises
    `TooManyCasesError` if that takes more than `work`.
    """
    if Counter(label for label, _ in left.relations) != Counter(label for label, _ in right.relations):
        return False
    graph = _Refinement(work or Work(_MOST_STEPS), left, right)
    if not graph.refine(graph.nodes):
        return False
    chosen = False
    while (alike := graph.smallest_class()) is not None:
        first = next(node for node in alike if node[0] == 0)
        saved = dict(graph.colours)
        for second in (node for node in alike if node[0] == 1):
            if graph.pair(first, second):
                break
            graph.colours = dict(saved)
        else:
            return None if chosen else False
        chosen = True
    return True if graph.agrees() else (None if chosen else False)


_MOST_STEPS = 20_000_000
"""Names that are looked at, again in each round, unless the caller says otherwise: some seconds."""

Node = tuple[int, str]


class _Refinement:
    """Two structures side by side; a node is a side and a name."""

    def __init__(self, work: Work, *sides: Structure) -> None:
        self.work = work
        self.sides = sides
        self.nodes = [(side, name) for side, structure in enumerate(sides) for name in structure.colours]
        first: dict[str, int] = {}
        self.colours: dict[Node, int] = {}
        self.around: dict[Node, list[tuple[str, int, tuple[Node | str, ...]]]] = defaultdict(list)
        for side, structure in enumerate(sides):
            for name, colour in structure.colours.items():
                self.colours[side, name] = first.setdefault(colour, len(first))
            for label, args in structure.relations:
                nodes = tuple((side, arg) if arg in structure.colours else arg for arg in args)
                for place, node in enumerate(nodes):
                    if not isinstance(node, str):
                        self.around[node].append((label, place, nodes))
        self.next = len(first)

    def refine(self, dirty: Iterable[Node]) -> bool:
        """Refine the colours around some nodes until they are stable; False if the sides differ in a colour."""
        waiting = set(dirty)
        while waiting:
            self.work.spend(len(self.colours))
            keys: dict[Node, tuple[object, ...]] = {node: self._key(node) for node in waiting}
            classes: dict[int, list[Node]] = defaultdict(list)
            for node, colour in self.colours.items():
                classes[colour].append(node)
            changed: set[Node] = set()
            for colour in {self.colours[node] for node in waiting}:
                members = classes[colour]
                groups: dict[object, list[Node]] = defaultdict(list)
                for node in members:
                    groups[keys[node] if node in keys else self._key(node)].append(node)
                if any(2 * sum(side for side, _ in group) != len(group) for group in groups.values()):
                    return False
                for group in sorted(groups.values(), key=len)[:-1]:
                    for node in group:
                        self.colours[node] = self.next
                    self.next += 1
                    changed.update(group)
            waiting = {other for node in changed for other in self._neighbours(node)}
        return True

    def _neighbours(self, node: Node) -> set[Node]:
        return {other for _, _, nodes in self.around[node] for other in nodes if not isinstance(other, str)}

    def _key(self, node: Node) -> tuple[object, ...]:
        """What a node sees: the labels around it, and the colours of the other names there."""
        colours = self.colours
        seen = [
            (label, place, tuple(other if isinstance(other, str) else colours[other] for other in nodes))
            for label, place, nodes in self.around[node]
        ]
        return tuple(sorted(seen))

    def smallest_class(self) -> list[Node] | None:
        """The fewest nodes of one colour, two or more on each side."""
        self.work.spend(len(self.colours))
        classes: dict[int, list[Node]] = defaultdict(list)
        for node, colour in self.colours.items():
            classes[colour].append(node)
        return min((nodes for nodes in classes.values() if len(nodes) > 2), key=len, default=None)

    def pair(self, first: Node, second: Node) -> bool:
        """Take two nodes for the same; False if they cannot be."""
        self.colours[first] = self.colours[second] = self.next
        self.next += 1
        return self.refine({first, second} | self._neighbours(first) | self._neighbours(second))

    def agrees(self) -> bool:
        """Whether the pairs of nodes with one colour carry every relation of one side over to the other."""
        other = {colour: name for (side, name), colour in self.colours.items() if side == 1}
        names = {name: other[colour] for (side, name), colour in self.colours.items() if side == 0}
        left, right = self.sides
        carried = Counter((label, tuple(names.get(arg, arg) for arg in args)) for label, args in left.relations)
        return carried == Counter(right.relations)
