"""Facts that exclude each other, derived from the actions of a domain: a block is on the table, on another, or held.

A candidate is a set of predicates, such as `clear ?x`, `on * ?x` and `holding ?x`, with the claim that for each object
at most one of their facts is true. The claim holds if every action that makes such a fact true makes another fact about
the same object false that was true before (the balance of Helmert's *Concise finite-domain representations*, 2009). A
candidate that an action violates is extended by a fact that the action makes false. Different parameters are assumed to
be different objects, so a candidate is evidence for a warning, not a proof. `ImpliedFacts` also considers one object
for several parameters, which gives a proof.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pddlego.pddl.conditions import (
    And,
    Atom,
    Equal,
    Exists,
    Formula,
    Not,
    Renaming,
    TypedName,
    atoms_of,
    changed_atoms,
    conjuncts,
    parts_of,
    required_atoms,
)
from pddlego.pddl.domain import Action, Domain, circles_of
from pddlego.pddl.problem import Problem
from pddlego.pddl.rules import Defect, DefectKind, warning
from pddlego.util.limits import Work

_MAX_CANDIDATES, _MAX_PARTS, _MAX_ARGUMENTS = 500, 5, 2
"""The maximum numbers of candidates, of predicates in a candidate, and of arguments of such a predicate."""

Candidate = frozenset[tuple[str, int]]
"""Predicates, each with the index of the argument for which its facts are counted."""


@dataclass(frozen=True)
class _Effects:
    """The atoms that an action always needs, adds and deletes, and the `others`: predicates in its other effects."""

    needs: frozenset[Atom]
    adds: frozenset[Atom]
    deletes: frozenset[Atom]
    others: frozenset[str]


ALL = -1
"""In place of an index: the facts of the whole problem are counted, because the agent is `at` one place."""


def exclusive(domain: Domain, in_all: bool = False) -> tuple[Candidate, ...]:
    """The candidates that hold under every action, in the order of the predicates.

    With `in_all`, also candidates that count the facts of the whole problem.
    """
    actions = [_effects(action) for action in domain.actions]
    moved = {atom.predicate for action in actions for atom in action.adds}
    moved &= {atom.predicate for action in actions for atom in action.deletes}
    start = [
        frozenset({(predicate.name, place)})
        for predicate in domain.predicates
        if predicate.name in moved
        for place in range(len(predicate.parameters))
        if len(predicate.parameters) <= _MAX_ARGUMENTS
    ]
    if in_all:
        start += [
            frozenset({(one.name, ALL)}) for one in domain.predicates if one.name in moved and len(one.parameters) < 2
        ]
    waiting, seen, balanced = deque(start), set(start), list[Candidate]()
    while waiting:
        candidate = waiting.popleft()
        wider = next(
            (wider_candidate for action in actions if (wider_candidate := _unbalanced(candidate, action)) is not None),
            None,
        )
        if wider is None:
            balanced.append(candidate)
        for part in sorted(wider or ()):
            more = candidate | {part}
            predicates = {name for name, _ in more}
            fits = part[0] in moved and len(predicates) == len(more) <= _MAX_PARTS
            if fits and more not in seen and len(seen) < _MAX_CANDIDATES:
                seen.add(more)
                waiting.append(more)
    return tuple(balanced)


def exclusive_goals(domain: Domain, problem: Problem) -> Iterator[Defect]:
    """Warnings about facts of the goal that exclude each other, such as `(on a b)` and `(on a c)`."""
    goals = sorted(required_atoms(problem.goal), key=str)
    reported: set[frozenset[Atom]] = set()
    for candidate in exclusive(domain) if len(goals) > 1 else ():
        places = dict(candidate)
        first = _grouped(problem.facts, places)
        for name, facts in sorted(_grouped(goals, places).items()):
            if len({*facts}) > 1 and len(first[name]) < 2 and frozenset(facts) not in reported:
                reported.add(frozenset(facts))
                message = f"the goal: {' and '.join(map(str, facts))} exclude each other for {name}: every action that"
                message += " makes one of them true makes another false; keep one"
                yield warning(DefectKind.CONTRADICTING_GOAL, name, message, facts[0].place)


def never_together(domain: Domain, goal: Formula) -> str:
    """A message about two parts of a goal that no action can leave true together; empty without such parts.

    Each action that makes one of them true makes the other false, such as `(visited ?l)` for a goal "at ?l and not
    visited". So the goal is reached only if it is true at the beginning.
    """
    stated = (literal for literal in _literals(goal) if literal[0].predicate not in domain.rules)
    literals = list(itertools.islice(stated, _MOST_LITERALS))
    for pair in itertools.combinations(literals, 2):
        makers = [(action, *changes) for action in domain.actions for changes in _breaking(action, *pair)]
        if makers and all(broken for _, _, broken in makers):
            action, made, broken = makers[0]
            message = (
                f"action {action.name} makes {broken} when it makes {made}, so that {' and '.join(map(_shown, pair))}"
            )
            return f"{message} are never true together: remove one of the effects, or choose another goal"
    return ""


_MOST_LITERALS = 20
"""The maximum number of parts of a goal that are compared with each other."""

_Literal = tuple[Atom, bool]


def _literals(goal: Formula) -> Iterator[_Literal]:
    match goal:
        case Atom() | Not(part=Atom()):
            yield from changed_atoms(goal)
        case And() | Exists():
            yield from (literal for part in parts_of(goal) for literal in _literals(part))


def _shown(literal: _Literal) -> str:
    return str(literal[0] if literal[1] else Not(literal[0]))


def _breaking(action: Action, *pair: _Literal) -> Iterator[tuple[str, str]]:
    """Each effect that makes one literal of a pair true, and the effect that always breaks the other with it, or ''."""
    always = {literal for part in conjuncts(action.effect) for literal in _literals(part)}
    for (atom, value), (other, wanted) in (pair, pair[::-1]):
        for effect, new in changed_atoms(action.effect):
            if (effect.predicate, new, len(effect.args)) != (atom.predicate, value, len(atom.args)):
                continue
            names = dict(zip(atom.args, effect.args, strict=True))
            if any(not (name + arg).count("?") and name != arg for name, arg in names.items()):
                continue  # two constants
            known = all(name in names or not name.startswith("?") for name in other.args)
            broken = Renaming(names).atom(other), not wanted
            breaks = known and broken in always and (not wanted or (broken[0], True) not in always)
            yield f"{effect if new else Not(effect)} true", f"{_shown(broken)} true" if breaks else ""


def _grouped(facts: Iterable[Atom], places: Mapping[str, int]) -> dict[str, list[Atom]]:
    """The facts of a candidate, by the object for which they are counted."""
    groups: dict[str, list[Atom]] = defaultdict(list)
    for fact in facts:
        place = places.get(fact.predicate)
        if place is not None and place < len(fact.args):
            groups[_counted_for(fact, places)].append(fact)
    return groups


def broken_invariants(domain: Domain, problem: Problem) -> Iterator[Defect]:
    """Warnings about facts of `:init` that exclude each other, if most objects have at most one of them."""
    reported: set[frozenset[Atom]] = set()
    facts_in_order = problem.sorted_facts()
    places = list(itertools.islice(_places(domain, problem), _MAX_CANDIDATES))
    for candidate in (*exclusive(domain), *places):
        groups = _grouped(facts_in_order, dict(candidate))
        crowded = {name: facts for name, facts in groups.items() if len(facts) > 1}
        if candidate not in places:
            # Several facts of one predicate prove nothing: balanced actions keep their number, whatever it is.
            crowded = {name: facts for name, facts in crowded.items() if len({fact.predicate for fact in facts}) > 1}
            if 2 * len(crowded) >= len(groups):
                continue  # most objects have several of these facts, so the facts do not exclude each other
        for name, facts in sorted(crowded.items()):
            if frozenset(facts) not in reported:
                reported.add(frozenset(facts))
                atoms = " and ".join(map(str, facts))
                whose = f" for {name}" if name else ""
                usually = "usually " if candidate in places else ""  # tokens that only move may be many
                message = f"{atoms} {usually}exclude each other{whose}: every action that makes one of them true makes"
                message += " another false; keep the one that is true at the beginning"
                yield warning(DefectKind.BROKEN_INVARIANT, name, message, facts[0].place)


def _places(domain: Domain, problem: Problem) -> Iterator[Candidate]:
    """The predicates that are used like `at`: moves keep the number of their facts, and other actions need one.

    Tokens that only move, such as the free cells of a puzzle, may be many.
    """
    actions, listed = [_effects(action) for action in domain.actions], Counter(fact.predicate for fact in problem.facts)
    moved = {atom.predicate for action in actions for atom in action.adds}
    for predicate in domain.predicates:
        name, arity = predicate.name, len(predicate.parameters)
        if name not in moved or listed[name] < 2 or arity > _MAX_ARGUMENTS:
            continue
        needs = [(sum(atom.predicate == name for atom in action.needs), action) for action in actions]
        is_needed = any(number and all(atom.predicate != name for atom in one.deletes) for number, one in needs)
        if is_needed and max(number for number, _ in needs) == 1:
            candidates = (frozenset({(name, place)}) for place in (range(arity) if arity > 1 else (ALL,)))
            yield from (candidate for candidate in candidates if _is_constant(candidate, actions))


def _unbalanced(candidate: Candidate, action: _Effects) -> set[tuple[str, int]] | None:
    """The facts that may extend a candidate that the action violates; None if the action keeps the candidate."""
    places = dict(candidate)
    if action.others & set(places):
        return set()
    added: dict[str, list[Atom]] = defaultdict(list)
    for atom in action.adds:
        if atom.predicate in places and atom not in action.needs:
            added[_counted_for(atom, places)].append(atom)
    for name, atoms in sorted(added.items()):
        gone = [atom for atom in action.deletes & action.needs if name in atom.args or not name]
        taken = [atom for atom in gone if atom.predicate in places and _counted_for(atom, places) == name]
        if len(atoms) > 1:
            return set()
        if not taken:
            short = (atom for atom in gone if len(atom.args) <= (_MAX_ARGUMENTS if name else 1))
            return {(atom.predicate, atom.args.index(name) if name else ALL) for atom in short}
    return None


def _counted_for(atom: Atom, places: Mapping[str, int]) -> str:
    """The object for which a fact of a candidate is counted; empty for the whole problem."""
    place = places[atom.predicate]
    return "" if place == ALL else atom.args[place]


class ImpliedFacts:
    """The facts that follow from true facts, because exactly one fact of each group is true in every reachable state.

    A group is a candidate and an object: exactly one of its facts is true in the initial state, and no action changes
    this number. Raises `TooManyCasesError` if the computation takes more than `work`.
    """

    def __init__(self, domain: Domain, problem: Problem, true: Iterable[Atom], work: Work | None = None) -> None:
        self.domain, self._work = domain, work or Work()
        actions = [effects for action in domain.actions for effects in _merged(domain, action)]
        kept = exclusive(domain, in_all=True)
        self._places = [dict(candidate) for candidate in kept if _is_constant(candidate, actions)]
        first = Counter(group for fact in problem.facts for group in self._groups_of(fact, every=True))
        self._single = {group for group, times in first.items() if times == 1}
        self._objects = [*domain.constants, *problem.objects]
        self._true_in: dict[tuple[int, str], Atom] = {}
        names = {obj.name for obj in self._objects}
        single = [
            places if all((number, name) in self._single for name in names) else {}
            for number, places in enumerate(self._places)
        ]
        plain = [_effects(action) for action in domain.actions]
        self._acyclic = {name for name in domain.predicates_by_name if _stays_acyclic(name, single, plain)}
        self._acyclic = {name for name in self._acyclic if not _has_circle(name, problem.facts)}
        self._next: dict[tuple[str, str], str] = {}
        self.true: set[Atom] = set()
        for atom in true:
            self._take(atom)
        waiting = self._single - self._true_in.keys()
        while True:
            decided = [group for group in sorted(waiting) if self._decide(group)]
            if not decided:
                break
            waiting -= self._true_in.keys()

    @property
    def is_total(self) -> bool:
        """Whether the truth of all changeable facts is known: each is in a group, and each group has its true fact."""
        changing = {atom.predicate for action in self.domain.actions for atom, _ in changed_atoms(action.effect)}
        grouped = {predicate for places in self._places for predicate in places}
        every = {(n, name) for n, places in enumerate(self._places) for name in self._keys(places)}
        return changing <= grouped and every == self._single and self._single <= self._true_in.keys()

    def _keys(self, places: Mapping[str, int]) -> list[str]:
        """The objects for which the facts of a candidate are counted."""
        return [""] if ALL in places.values() else [obj.name for obj in self._objects]

    def is_excluded(self, atom: Atom) -> bool:
        """Whether an atom must be false: another fact of its groups is true, or the atom would close a circle."""
        self._work.spend()
        if any(self._true_in.get(group, atom) != atom for group in self._groups_of(atom)):
            return True
        if atom.predicate in self._acyclic:
            name: str | None = atom.args[1]
            for _ in range(len(self._next) + 1):
                if name is None or name == atom.args[0]:
                    break
                name = self._next.get((atom.predicate, name))
            return name == atom.args[0]
        return False

    def _take(self, atom: Atom) -> None:
        self.true.add(atom)
        if atom.predicate in self._acyclic:
            self._next[atom.predicate, atom.args[0]] = atom.args[1]
        self._true_in |= dict.fromkeys(self._groups_of(atom), atom)

    def _decide(self, group: tuple[int, str]) -> bool:
        """Take the fact of an undecided group if only one can be true; return whether it was taken."""
        if group in self._true_in:
            return False
        possible = list(itertools.islice((atom for atom in self._members(group) if not self.is_excluded(atom)), 2))
        if len(possible) == 1:
            self._take(possible[0])
        return len(possible) == 1

    def _groups_of(self, atom: Atom, every: bool = False) -> list[tuple[int, str]]:
        groups = [(n, _counted_for(atom, places)) for n, places in enumerate(self._places) if atom.predicate in places]
        return groups if every else [group for group in groups if group in self._single]

    def _members(self, group: tuple[int, str]) -> Iterator[Atom]:
        """All possible facts of a group."""
        number, name = group
        for predicate, place in self._places[number].items():
            parameters = self.domain.predicates_by_name[predicate].parameters
            choices = [
                [name] if index == place else self._of_type(parameter.type)
                for index, parameter in enumerate(parameters)
            ]
            yield from (Atom(predicate, args) for args in itertools.product(*choices))

    def _of_type(self, kind: str) -> list[str]:
        return [obj.name for obj in self._objects if self.domain.is_a(obj.type, kind)]


_MOST_MERGED = 200
"""The maximum number of variants of an action with one object for several parameters."""


def _merged(domain: Domain, action: Action) -> list[_Effects]:
    """The effects of an action, also with one object for several parameters, or a constant for a parameter."""
    variants = {action: None}
    waiting = [action]
    while waiting and len(variants) <= _MOST_MERGED:
        current = waiting.pop()
        unequal = {frozenset(names) for names in _unequal(current.precondition)}
        for first, second in itertools.product((*current.parameters, *domain.constants), current.parameters):
            names = frozenset((first.name, second.name))
            if len(names) < 2 or names in unequal or not _may_be_one(domain, first, second):
                continue
            renaming = Renaming({second.name: first.name})
            variant = replace(
                current,
                parameters=tuple(parameter for parameter in current.parameters if parameter != second),
                precondition=renaming.formula(current.precondition),
                effect=renaming.formula(current.effect),
            )
            if variant not in variants:
                variants[variant] = None
                waiting.append(variant)
    return [_effects(variant) for variant in variants]


def _unequal(condition: Formula) -> Iterator[tuple[str, str]]:
    """The pairs of names that a condition requires to be different objects."""
    for part in conjuncts(condition):
        if isinstance(part, Not) and isinstance(part.part, Equal):
            yield part.part.left, part.part.right


def _may_be_one(domain: Domain, first: TypedName, second: TypedName) -> bool:
    return any(domain.is_a(kind, first.type) and domain.is_a(kind, second.type) for kind in domain.types)


def _is_constant(candidate: Candidate, actions: Iterable[_Effects]) -> bool:
    """Whether no action changes the number of true facts of a candidate, if that number is one."""
    places = dict(candidate)
    for action in actions:
        needed = Counter(_counted_for(atom, places) for atom in action.needs if atom.predicate in places)
        impossible = any(times > 1 for times in needed.values())  # it needs two facts of which only one can be true
        if not impossible and (_unbalanced(candidate, action) is not None or _empties(candidate, action)):
            return False
    return True


def _empties(candidate: Candidate, action: _Effects) -> bool:
    """Whether an action may make a fact of a candidate false without making another one true."""
    places = dict(candidate)
    added = Counter(_counted_for(atom, places) for atom in action.adds - action.needs if atom.predicate in places)
    gone = Counter(_counted_for(atom, places) for atom in action.deletes if atom.predicate in places)
    return any(added[name] < times for name, times in gone.items())


def _effects(action: Action) -> _Effects:
    needs = frozenset(required_atoms(action.precondition))
    adds, deletes, others = set[Atom](), set[Atom](), set[str]()
    for part in conjuncts(action.effect):
        match part:
            case Atom():
                adds.add(part)
            case Not(part=Atom() as atom):
                deletes.add(atom)
            case _:
                others.update(atom.predicate for atom in atoms_of(part))
    return _Effects(needs, frozenset(adds), frozenset(deletes - adds), frozenset(others))


def _stays_acyclic(predicate: str, places: Sequence[Mapping[str, int]], actions: Sequence[_Effects]) -> bool:
    """Whether no action can close a circle in a relation such as `on`.

    Each action that makes `(on ?x ?y)` true needs a fact about `?x` and another one about `?y` that exclude `(on * ?x)`
    and `(on * ?y)`. Because these facts differ, `?x` is not `?y`.
    """

    def excluding_predicates(needs: Iterable[Atom], name: str, group: Mapping[str, int]) -> set[str]:
        inside = (atom for atom in needs if atom.predicate in group and atom.predicate != predicate)
        return {atom.predicate for atom in inside if _counted_for(atom, group) == name}

    def is_safe(action: _Effects, group: Mapping[str, int]) -> bool:
        added = [atom for atom in action.adds if atom.predicate == predicate]
        if len(added) != 1 or len(added[0].args) != 2:
            return not added
        first, second = (excluding_predicates(action.needs, name, group) for name in added[0].args)
        return bool(first and second) and first.isdisjoint(second)

    groups = [group for group in places if group.get(predicate) == 1]
    return any(all(is_safe(action, group) for action in actions) for group in groups)


def breaks_order(atom: Atom, facts: Iterable[Atom]) -> bool:
    """Whether a fact closes a circle in a relation that has chains but no circles, such as `(next ?lower ?higher)`."""
    if len(atom.args) != 2:
        return False
    others = [fact for fact in facts if fact.predicate == atom.predicate]
    has_chain = not {fact.args[0] for fact in others}.isdisjoint(fact.args[1] for fact in others)
    return has_chain and not _has_circle(atom.predicate, others) and _has_circle(atom.predicate, [*others, atom])


def _has_circle(predicate: str, facts: Iterable[Atom]) -> bool:
    """Whether the facts of a predicate with two arguments lead from an object back to it."""
    edges: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        if fact.predicate == predicate:
            edges[fact.args[0]].add(fact.args[1])
    return bool(circles_of(edges))


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


def contradictions(problem: Problem, invariants: Sequence[Invariant]) -> tuple[str, ...]:
    """A message for each violation of an invariant in a problem, with the facts."""
    rules = (invariant for invariant in invariants if invariant.both_ways is None)
    return tuple(message for invariant in rules for message in _contradictions(problem, invariant))


def one_way(problem: Problem, invariants: Sequence[Invariant]) -> Iterator[str]:
    """A message for each fact without its way back, or whose way back does not have the opposite direction."""
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
                yield f"{ways[way]}: {invariant.about}; add {missing}"
            elif way < other:
                yield f"{ways[way]} and {ways[other]}: {invariant.about}, in the opposite direction; correct one"


def _ways_back(way: tuple[str, ...], directions: Mapping[str, tuple[int, int]]) -> list[tuple[str, ...]]:
    """The possible ways back; empty if a way leads to its own start, or if its direction has no opposite."""
    start, end, *direction = way
    if not direction:
        return [(end, start)] * (start != end)
    x, y = directions.get(direction[0], (0, 0))
    return [(end, start, name) for name, offset in directions.items() if start != end and offset == (-x, -y) != (0, 0)]


def _contradictions(problem: Problem, invariant: Invariant) -> Iterator[str]:
    """The messages in the order of the facts. Only facts that violate the invariant are sorted: they are few."""
    together = _exclusive(problem, invariant) if invariant.once is not None else _never(problem, invariant)
    for facts in sorted(together, key=lambda facts: facts[0].sort_key):
        yield f"{' and '.join(map(str, facts))}: {invariant.about}"


def _exclusive(problem: Problem, invariant: Invariant) -> Iterator[list[Atom]]:
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
        raise ValueError(f"invariant '{about}': '{text}' is not a fact of the domain")
    return atom
