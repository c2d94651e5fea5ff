"""Invariants that a setting states, and the facts of a problem that violate them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pddlego.pddl.conditions import Atom, Renaming
from pddlego.pddl.domain import Domain
from pddlego.pddl.names import UnknownNameError
from pddlego.pddl.problem import Problem


@dataclass(frozen=True)
class Invariant:
    """A condition that every valid problem satisfies; `about` describes it.

    `once` is a fact of which there is at most one for each value of its variables: `(connected ?a * ?d)` means that an
    exit leads to one room, `(at *)` that the agent is in one place. It applies only if all values of its variables
    match the regular expression `names`, and if the fact `unless` is not true. `never` are facts that are not true
    together, such as `(open ?x)` and `(closed ?x)`. `both_ways` is a fact of which there is also one for the way back:
    `(connected ?a ?b ?d)` has two places and a direction, whose opposite has the negated offset in `directions`.
    """

    about: str
    once: Atom | None = None
    never: tuple[Atom, ...] = ()
    names: str = ""
    unless: Atom | None = None
    both_ways: Atom | None = None
    directions: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def parse_invariant(
    domain: Domain,
    about: str,
    once: str = "",
    never: Sequence[str] = (),
    names: str = "",
    unless: str = "",
    both_ways: str = "",
    directions: Mapping[str, tuple[int, int]] | None = None,
) -> Invariant:
    """An invariant of a domain. Raises `ValueError` for an undeclared fact or an invalid regular expression."""
    if [bool(once), bool(never), bool(both_ways)].count(True) != 1 or (never and len(never) < 2):
        raise ValueError(f"invariant '{about}': give either `once`, `both_ways`, or `never` with two facts or more")
    if (names or unless) and not once:
        raise ValueError(f"invariant '{about}': `names` and `unless` belong to `once`")
    try:
        re.compile(names)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"invariant '{about}': names is not a regular expression ({error})") from error
    pattern = _pattern(domain, about, once) if once else None
    exception = _pattern(domain, about, unless) if unless else None
    if pattern and exception and not set(exception.args) <= set(pattern.args):
        raise ValueError(f"invariant '{about}': `unless` names a variable that `once` does not")
    facts = tuple(_pattern(domain, about, pattern) for pattern in never)
    way = _way(domain, about, both_ways, directions or {}) if both_ways else None
    return Invariant(about, pattern, facts, names, exception, both_ways=way, directions=directions or {})


def _way(domain: Domain, about: str, both_ways: str, directions: Mapping[str, tuple[int, int]]) -> Atom:
    """The pattern of a fact that has a way back. Raises `ValueError`."""
    pattern = _pattern(domain, about, both_ways)
    variables = [arg for arg in pattern.args if arg.startswith("?")]
    if not 2 <= len({*variables}) == len(variables) <= 3:
        reason = "needs a variable for each of two places, and perhaps one for the direction: (connected ?from ?to ?d)"
        raise ValueError(f"invariant '{about}': `both_ways` {reason}")
    if len(variables) == 3 and not any(_ways_back(("", "there", name), directions) for name in directions):
        reason = f"has the direction {variables[2]}, and [map.directions] has no opposite directions"
        raise ValueError(f"invariant '{about}': `both_ways` {reason}")
    return pattern


class Violation(NamedTuple):
    """Facts that violate an invariant, and what it says about them; `missing` is the fact that they need."""

    facts: tuple[Atom, ...]
    about: str
    missing: Atom | None = None

    def __str__(self) -> str:
        return f"{' and '.join(map(str, self.facts))}: {self.about}{f'; add {self.missing}' if self.missing else ''}"


def contradictions(problem: Problem, invariants: Sequence[Invariant]) -> tuple[Violation, ...]:
    """The facts of a problem that cannot be true together."""
    rules = (invariant for invariant in invariants if invariant.both_ways is None)
    return tuple(violation for invariant in rules for violation in _contradictions(problem, invariant))


def one_way(problem: Problem, invariants: Sequence[Invariant]) -> Iterator[Violation]:
    """The facts without their way back, and those whose way back does not have the opposite direction."""
    for invariant in invariants:
        if invariant.both_ways is None:
            continue
        bound = ((_bound(invariant.both_ways, fact), fact) for fact in problem.sorted_facts())
        ways = {tuple(values.values()): fact for values, fact in bound if values is not None}
        backs = {way: _ways_back(way, invariant.directions) for way in ways}
        lacking = {way: back[0] for way, back in backs.items() if back and ways.keys().isdisjoint(back)}
        between = {way[:2]: way for way in lacking}
        for way, back in lacking.items():
            other = between.get(back[:2], ())
            if not other:
                missing = Renaming(dict(zip(way, back, strict=True))).atom(ways[way])
                yield Violation((ways[way],), invariant.about, missing)
            elif way < other:
                about = f"{invariant.about}, in the opposite direction; correct one"
                yield Violation((ways[way], ways[other]), about)


def _ways_back(way: tuple[str, ...], directions: Mapping[str, tuple[int, int]]) -> list[tuple[str, ...]]:
    """The possible ways back; empty if a way leads to its own start, or if its direction has no opposite."""
    start, end, *direction = way
    if not direction:
        return [(end, start)] * (start != end)
    x, y = directions.get(direction[0], (0, 0))
    return [(end, start, name) for name, offset in directions.items() if start != end and offset == (-x, -y) != (0, 0)]


def _contradictions(problem: Problem, invariant: Invariant) -> Iterator[Violation]:
    """The violations in the order of the facts. Only facts that violate the invariant are sorted: they are few."""
    together = _together_once(problem, invariant) if invariant.once is not None else _never(problem, invariant)
    for facts in sorted(together, key=lambda facts: facts[0].sort_key):
        yield Violation(tuple(facts), invariant.about)


def _together_once(problem: Problem, invariant: Invariant) -> Iterator[list[Atom]]:
    """The groups of facts of which only one may be true, each sorted."""
    assert invariant.once is not None
    groups: dict[tuple[str, ...], list[Atom]] = defaultdict(list)
    for fact in problem.facts:
        binding = _bound(invariant.once, fact)
        if binding is not None and _applies_to(invariant, problem, binding):
            groups[tuple(binding.values())].append(fact)
    return (sorted(facts, key=lambda fact: fact.sort_key) for facts in groups.values() if len(facts) > 1)


def _never(problem: Problem, invariant: Invariant) -> Iterator[list[Atom]]:
    """The groups of facts that are never true together, each in the order of the invariant."""
    first, *others = invariant.never
    for fact in problem.facts:
        binding = _bound(first, fact)
        together = [_filled(pattern, binding) for pattern in others] if binding is not None else []
        if together and all(atom in problem.facts for atom in together):
            yield [fact, *together]


def _applies_to(invariant: Invariant, problem: Problem, values: dict[str, str]) -> bool:
    """Whether the invariant applies to these values of its variables."""
    if invariant.names and not all(re.search(invariant.names, value) for value in values.values()):
        return False
    return invariant.unless is None or _filled(invariant.unless, values) not in problem.facts


def _bound(pattern: Atom, fact: Atom) -> dict[str, str] | None:
    """The values of the pattern's variables in a fact; None if it does not match."""
    if pattern.predicate != fact.predicate or len(pattern.args) != len(fact.args):
        return None
    binding: dict[str, str] = {}
    for wanted, value in zip(pattern.args, fact.args, strict=True):
        if wanted.startswith("?"):
            if binding.setdefault(wanted, value) != value:
                return None
        elif wanted not in ("*", value):
            return None
    return binding


def _filled(pattern: Atom, values: dict[str, str]) -> Atom:
    return Atom(pattern.predicate, tuple(values.get(arg, arg) for arg in pattern.args))


def _pattern(domain: Domain, about: str, text: str) -> Atom:
    atom = domain.atom(text)
    if atom is None:
        raise UnknownNameError(f"invariant '{about}': '{text}' is not a fact of the domain", text)
    return atom
