"""Whether two tasks are one task under other names: their transition systems are isomorphic."""

from __future__ import annotations

from collections import Counter, deque
from enum import Enum

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Domain, Problem, same_name
from pddlego.planning.isomorphism import Structure, are_isomorphic
from pddlego.planning.world import Transitions, transitions


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
        whole, part = (one, other) if one.whole else (other, one)
        return Equivalence.DIFFERENT if whole.whole and len(part.states) > len(whole.states) else Equivalence.TOO_LARGE
    same = Equivalence.SAME if one.goals else Equivalence.NO_GOAL
    if _same_by_names(one, other):
        return same
    try:
        isomorphic = are_isomorphic(_structure(one), _structure(other))
    except TooManyCasesError:
        isomorphic = None
    if isomorphic is None:
        return Equivalence.TOO_LARGE
    return same if isomorphic else Equivalence.DIFFERENT


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


def _structure(transitions: Transitions) -> Structure:
    """The states without what is true in them: which is the first, which are goals, and what leads to what."""
    colours = {str(number): f"{number == 0} {number in transitions.goals}" for number in range(len(transitions.states))}
    times = Counter((str(start), str(end)) for start, _, end in transitions.edges)
    return Structure(colours, [(f"{number} steps", pair) for pair, number in times.items()])


def named_alike(domain: Domain, name: str) -> str | None:
    """The action of a domain that is called so, as far as spelling lets it: `pick-up` and `pick_up` are one."""
    exact = name if name in domain.actions_by_name else None
    return exact or next((action.name for action in domain.actions if same_name(action.name, name)), None)
