"""Whether two tasks are one task under other names: their transition systems are isomorphic."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from enum import Enum

from pddlego.pddl import Domain, Problem, same_name
from pddlego.planning.world import Transitions, transitions

MOST_COMPARED = 300
"""States of systems that are compared without any name in common: that is a search."""


MOST_ALIKE = 12
"""Maximum number of indistinguishable states in compared systems."""


class Equivalence(str, Enum):
    """How two tasks compare. `NO_GOAL`: they are alike, but neither goal can be reached, and such goals leave no trace
    in a transition system."""

    SAME = "same"
    DIFFERENT = "different"
    NO_GOAL = "no reachable goal"
    TOO_LARGE = "too large"


def equivalence(left: tuple[Domain, Problem], right: tuple[Domain, Problem], most: int = 2_000) -> Equivalence:
    """Compare two small tasks up to renaming.

    States are compared by what can be done in them and where that leads, not by what they say: a domain may use other
    predicates. Steps that change nothing count.
    """
    one, other = transitions(*left, most=most), transitions(*right, most=most)
    if not (one.whole and other.whole):
        return Equivalence.TOO_LARGE if one.whole == other.whole else Equivalence.DIFFERENT
    same = Equivalence.SAME if one.goals else Equivalence.NO_GOAL
    if _same_by_names(one, other):
        return same
    colours = _colours(one), _colours(other)
    if sorted(colours[0]) != sorted(colours[1]):
        return Equivalence.DIFFERENT
    hardest = max(Counter(colours[0]).values())
    if len(one.states) > MOST_COMPARED or hardest > MOST_ALIKE:
        return Equivalence.TOO_LARGE
    return same if _isomorphic(one, other, colours) else Equivalence.DIFFERENT


def _same_by_names(one: Transitions, other: Transitions) -> bool:
    """Whether the same steps, by action and objects, lead through both systems to goals at the same time."""
    if len(one.states) != len(other.states):
        return False
    left, right = _by_label(one), _by_label(other)
    waiting, matched = deque([(0, 0)]), {0: 0}
    while waiting:
        here, there = waiting.popleft()
        if (here in one.goals) != (there in other.goals) or left[here].keys() != right[there].keys():
            return False
        for label, following in left[here].items():
            wanted = right[there][label]
            if following not in matched:
                matched[following] = wanted
                waiting.append((following, wanted))
            elif matched[following] != wanted:
                return False
    return len(set(matched.values())) == len(other.states)


def _by_label(transitions: Transitions) -> list[dict[tuple[str, ...], int]]:
    edges: list[dict[tuple[str, ...], int]] = [{} for _ in transitions.states]
    for start, step, end in transitions.edges:
        edges[start][tuple(part.replace("_", "-") for part in (step.action, *step.args))] = end
    return edges


def _colours(transitions: Transitions) -> list[str]:
    """A colour for each state: two of one colour look alike however far one looks (1-dimensional Weisfeiler-Leman)."""
    colours = [f"{number == 0}/{number in transitions.goals}" for number in range(len(transitions.states))]
    known = 0
    while len(set(colours)) > known:
        known = len(set(colours))
        around: list[list[str]] = [[] for _ in colours]
        for start, _, end in transitions.edges:
            around[start].append(f">{colours[end]}")
            around[end].append(f"<{colours[start]}")
        texts = (" ".join([colour, *sorted(near)]) for colour, near in zip(colours, around, strict=True))
        colours = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    return colours


def _isomorphic(one: Transitions, other: Transitions, colours: tuple[list[str], list[str]]) -> bool:
    from networkx import DiGraph
    from networkx.algorithms.isomorphism import DiGraphMatcher

    def graph(transitions: Transitions, own: list[str]) -> DiGraph:
        made = DiGraph()
        for number, colour in enumerate(own):
            made.add_node(number, colour=colour)
        for (start, end), times in Counter((start, end) for start, _, end in transitions.edges).items():
            made.add_edge(start, end, times=times)
        return made

    matcher = DiGraphMatcher(
        graph(one, colours[0]),
        graph(other, colours[1]),
        node_match=lambda left, right: bool(left["colour"] == right["colour"]),
        edge_match=lambda left, right: bool(left["times"] == right["times"]),
    )
    return bool(matcher.is_isomorphic())


def named_alike(domain: Domain, name: str) -> str | None:
    """The action of a domain that is called so, as far as spelling lets it: `pick-up` and `pick_up` are one."""
    exact = name if name in domain.actions_by_name else None
    return exact or next((action.name for action in domain.actions if same_name(action.name, name)), None)
