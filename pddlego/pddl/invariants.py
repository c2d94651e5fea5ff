"""What no problem of a game can say without contradicting itself, as data."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pddlego.pddl.domain import Domain
from pddlego.pddl.problem import Atom, Problem


@dataclass(frozen=True)
class Invariant:
    """What cannot be otherwise, with `about` saying so in words.

    `once` is a fact of which there is at most one for each value of its variables: `(connected ?a * ?d)` says that an
    exit leads to one room, `(at *)` that the agent is in one place. It holds only where all its variables have `names`
    of this form (a regular expression), and not where the fact `unless` is true. `never` are facts that are not true
    together, as `(open ?x)` and `(closed ?x)`.
    """

    about: str
    once: Atom | None = None
    never: tuple[Atom, ...] = ()
    names: str = ""
    unless: Atom | None = None


def parse_invariant(
    domain: Domain, about: str, once: str, never: Sequence[str] = (), names: str = "", unless: str = ""
) -> Invariant:
    """An invariant of a domain. Raises `ValueError` for what is no fact of it, or no regular expression."""
    if bool(once) == bool(never) or (never and len(never) < 2):
        raise ValueError(f"invariant '{about}': give either `once`, or `never` with two facts or more")
    if (names or unless) and not once:
        raise ValueError(f"invariant '{about}': `names` and `unless` belong to `once`")
    try:
        re.compile(names)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"invariant '{about}': names is no regular expression ({error})") from error
    pattern = _pattern(domain, about, once) if once else None
    exception = _pattern(domain, about, unless) if unless else None
    if pattern and exception and not set(exception.args) <= set(pattern.args):
        raise ValueError(f"invariant '{about}': `unless` names a variable that `once` does not")
    return Invariant(about, pattern, tuple(_pattern(domain, about, each) for each in never), names, exception)


def contradictions(problem: Problem, invariants: Sequence[Invariant]) -> tuple[str, ...]:
    """How the problem contradicts itself: one message for each, naming the facts."""
    return tuple(message for each in invariants for message in _contradictions(problem, each))


def _contradictions(problem: Problem, invariant: Invariant) -> Iterator[str]:
    if invariant.once is not None:
        groups: dict[tuple[str, ...], list[Atom]] = defaultdict(list)
        for fact in problem.sorted_facts():
            found = _bound(invariant.once, fact)
            if found is not None and _holds_for(invariant, problem, found):
                groups[tuple(found.values())].append(fact)
        for facts in groups.values():
            if len(facts) > 1:
                yield f"{' and '.join(map(str, facts))}: {invariant.about}"
        return
    first, *others = invariant.never
    for fact in problem.sorted_facts():
        found = _bound(first, fact)
        together = [_filled(each, found) for each in others] if found is not None else []
        if together and all(each in problem.facts for each in together):
            yield f"{' and '.join(map(str, (fact, *together)))}: {invariant.about}"


def _holds_for(invariant: Invariant, problem: Problem, values: dict[str, str]) -> bool:
    """Whether the invariant says anything about these values of its variables."""
    if invariant.names and not all(re.search(invariant.names, each) for each in values.values()):
        return False
    return invariant.unless is None or _filled(invariant.unless, values) not in problem.facts


def _bound(pattern: Atom, fact: Atom) -> dict[str, str] | None:
    """The values of the pattern's variables in a fact; None if it does not match."""
    if pattern.predicate != fact.predicate or len(pattern.args) != len(fact.args):
        return None
    found: dict[str, str] = {}
    for wanted, given in zip(pattern.args, fact.args, strict=True):
        if wanted.startswith("?"):
            if found.setdefault(wanted, given) != given:
                return None
        elif wanted not in ("*", given):
            return None
    return found


def _filled(pattern: Atom, values: dict[str, str]) -> Atom:
    return Atom(pattern.predicate, tuple(values.get(each, each) for each in pattern.args))


def _pattern(domain: Domain, about: str, text: str) -> Atom:
    atom = domain.atom(text)
    if atom is None:
        raise ValueError(f"invariant '{about}': '{text}' is no fact of the domain")
    return atom
