"""Whether two problems of a domain say the same: equal up to the names of objects, with goals of the same meaning.

The comparison of Planetarium (Zuo et al., 2024), for any domain: goals are completed by what must be true in every
state that reaches them, and the facts of both problems are compared as labelled graphs.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import (
    ANY_TYPE,
    And,
    Change,
    Equal,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Renaming,
    TypedName,
    When,
    arguments_in,
    changed_atoms,
    conjuncts,
    parts_of,
    word_of,
)
from pddlego.pddl.costs import TOTAL_COST, counts_cost, values_of
from pddlego.pddl.domain import Action, either
from pddlego.pddl.exclusive import Completion
from pddlego.planning.isomorphism import Relation, Structure, are_isomorphic
from pddlego.planning.world import Transitions, World, transitions
from pddlego.util.limits import Work

SECONDS = 10.0
"""Seconds in which a comparison is decided, or not at all."""

_MOST_FACTS = 4_000_000
"""Facts of all states that are looked at to find what a goal implies: some 300 MB."""

_MOST_CASES = 2_000
"""Cases of a `forall` that are written out."""

_MOST_WITNESSES = 5
_MOST_REMOVALS = 100
"""Facts that are removed, one after the other, to find the one that makes the difference."""


class Verdict(str, Enum):
    """How two problems compare."""

    SAME = "same"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Comparison:
    """The verdict on two problems or domains.

    `only_left` and `only_right` show the difference: facts, or parts of goals, that only one of the two has. `note` is
    a warning for the user; it does not change the verdict.
    """

    verdict: Verdict
    reason: str
    only_left: tuple[str, ...] = ()
    only_right: tuple[str, ...] = ()
    note: str = ""


def compare_problems(domain: Domain, left: Problem, right: Problem, *, seconds: float = SECONDS) -> Comparison:
    """Compare two problems without blocking defects, in about so many seconds."""
    if counts_cost(left) != counts_cost(right):
        return Comparison(Verdict.DIFFERENT, "only one of the problems minimizes costs")
    problems = (left, right)
    try:
        result = _compared(
            domain, problems, *_completed_goals(domain, problems, Work(seconds=seconds / 4)), seconds / 4
        )
        if result.verdict is Verdict.UNDECIDED:
            result = _by_states(domain, problems, result, seconds / 4)
    except TooManyCasesError:
        result = Comparison(Verdict.UNDECIDED, f"the problems are too large to be compared within {seconds:g} s")
    if left.domain != right.domain:
        note = f"the problems name different domains, {left.domain} and {right.domain}"
        return replace(result, note=note)
    return result


def _compared(
    domain: Domain, problems: Sequence[Problem], goals: Sequence[Literals | None], exact: bool, seconds: float
) -> Comparison:
    """Compare two problems with their completed goals, which are `exact` if that is all that the goals imply."""
    sides = [_Side(domain, problem, goal) for problem, goal in zip(problems, goals, strict=True)]
    if len(sides[0].objects) != len(sides[1].objects):
        counts = f"{len(sides[0].objects)} and {len(sides[1].objects)}"
        return Comparison(Verdict.DIFFERENT, f"the numbers of objects differ: {counts}")
    work = Work(seconds=seconds)
    first, second = (side.structure(side.initial + side.wanted) for side in sides)
    whole = are_isomorphic(first, second, work)
    if whole:
        return Comparison(Verdict.SAME, "equal up to the names of objects")
    first, second = (side.structure(side.initial) for side in sides)
    initial = are_isomorphic(first, second, work)
    if initial is False:
        return _witnessed("the initial states differ", sides, "initial", work)
    if whole is None or initial is None:
        return Comparison(Verdict.UNDECIDED, "the objects are too similar to be paired")
    if goals[0] is None or goals[1] is None:
        return Comparison(Verdict.UNDECIDED, "goals with or and exists that are not written alike")
    differ = _witnessed("the goals differ" if exact else "the goals are written differently", sides, "wanted", work)
    return differ if exact else replace(differ, verdict=Verdict.UNDECIDED)


def _by_states(domain: Domain, problems: Sequence[Problem], undecided: Comparison, seconds: float) -> Comparison:
    """Compare two problems with equal initial states by the states that they reach, where these can be looked at."""
    systems = []
    for problem in problems:
        work = Work(seconds=seconds)
        systems.append(transitions(domain, problem, most=_MOST_FACTS, work=work, facts=_MOST_FACTS))
        if not systems[-1].whole:
            return replace(undecided, reason=f"{undecided.reason}, and there are too many states to look at")
    if len({bool(system.goals) for system in systems}) > 1:
        which = "first" if systems[0].goals else "second"
        reason = f"only the goal of the {which} problem can be reached"
        return replace(undecided, verdict=Verdict.DIFFERENT, reason=reason)
    if not systems[0].goals:
        return replace(undecided, reason=f"{undecided.reason}, and no state reaches either of them")
    written = [_literals(domain, problem) for problem in problems]
    derived = [frozenset(item for item in literals or () if item[0].predicate in domain.rules) for literals in written]
    implied = [_implied(system) | more for system, more in zip(systems, derived, strict=True)]
    completed = [None if one is None else goal for goal, one in zip(implied, written, strict=True)]
    return _compared(domain, problems, completed, not any(derived), seconds)


def _differ(reason: str, left: Iterable[Relation], right: Iterable[Relation]) -> Comparison:
    """A difference, shown by what only one side has."""
    only_left, only_right = (tuple(sorted(map(_text, side))[:_MOST_WITNESSES]) for side in (left, right))
    return Comparison(Verdict.DIFFERENT, reason, only_left, only_right)


def _witnessed(reason: str, sides: Sequence[_Side], part: str, work: Work) -> Comparison:
    """A difference in the initial states or the goals, shown by the fewest relations without which they are the same.

    If the objects of both sides have the same names, relations are compared by these; else they are removed one after
    the other, until the sides are isomorphic.
    """
    left, right = ([*getattr(side, part)] for side in sides)
    if sides[0].objects == sides[1].objects:
        written = [side.written if part == "wanted" else getattr(side, part) for side in sides]
        only = [
            [relation for relation in relations if relation not in other]
            for relations, other in zip(written, ({*right}, {*left}), strict=True)
        ]
        if not any(only) and part == "wanted" and {*sides[0].initial} != {*sides[1].initial}:
            return _witnessed(f"{reason} together with the initial states", sides, "initial", work)
        return _differ(reason, *(only if any(only) else ({*left} - {*right}, {*right} - {*left})))
    structures = sides[0].structure(left), sides[1].structure(right)
    suspects = _suspects(*structures), _suspects(*structures[::-1])
    if len(left) > len(right):
        pairs: Iterable[tuple[Relation | None, Relation | None]] = ((relation, None) for relation in suspects[0])
    elif len(left) < len(right):
        pairs = ((None, relation) for relation in suspects[1])
    else:
        pairs = itertools.product(*suspects)
    for gone in itertools.islice(pairs, _MOST_REMOVALS):
        rest = [[item for item in side if item is not one] for side, one in zip((left, right), gone, strict=True)]
        if are_isomorphic(sides[0].structure(rest[0]), sides[1].structure(rest[1]), work):
            return _differ(reason, *([] if one is None else [one] for one in gone))
    return _differ(reason, *suspects)


def _suspects(structure: Structure, other: Structure) -> list[Relation]:
    """The relations between objects that no objects of the other side are like, looking at their relations only."""
    kinds = _kinds(structure), _kinds(other)
    theirs = Counter(_shape(relation, kinds[1]) for relation in other.relations)
    suspects = []
    for relation in structure.relations:
        shape = _shape(relation, kinds[0])
        if theirs[shape] > 0:
            theirs[shape] -= 1
        else:
            suspects.append(relation)
    return suspects


def _kinds(structure: Structure) -> dict[str, tuple[object, ...]]:
    seen: dict[str, Counter[object]] = defaultdict(Counter)
    for label, args in structure.relations:
        for place, arg in enumerate(args):
            seen[arg][label, place] += 1
    return {name: (colour, frozenset(seen[name].items())) for name, colour in structure.colours.items()}


def _shape(relation: Relation, kinds: dict[str, tuple[object, ...]]) -> object:
    label, args = relation
    return label, tuple(kinds.get(arg, arg) for arg in args)


def _text(relation: Relation) -> str:
    label, args = relation
    kind, _, rest = label.partition(" ")
    if kind == "goal":
        predicate, _, value = rest.rpartition(" ")
        atom = str(Atom(predicate, args))
        return atom if value == "True" else f"(not {atom})"
    if kind == "=":
        name, _, value = rest.rpartition(" ")
        return f"(= {Atom(name, args)} {value})"
    return str(Atom(label, args))


class _Side:
    """One of two problems as labelled tuples."""

    def __init__(self, domain: Domain, problem: Problem, goal: Literals | None) -> None:
        constants = {constant.name for constant in domain.constants}
        self.objects = {obj.name: obj.type for obj in problem.objects if obj.name not in constants}
        self.constants = constants
        self.initial: list[Relation] = [(fact.predicate, fact.args) for fact in problem.sorted_facts()]
        for term, amount in sorted(values_of(problem).items(), key=str):
            if term != TOTAL_COST:
                shown = amount if counts_cost(problem) else "known"
                self.initial.append((f"= {term.head} {shown}", tuple(map(str, term.parts or ()))))
        names = {*self.objects, *constants}
        self.wanted = list(_formula(problem.goal, names)) if goal is None else _goal_relations(goal)
        written = _literals(domain, problem)
        self.written = self.wanted if written is None else _goal_relations(written)

    def structure(self, relations: Iterable[Relation]) -> Structure:
        """The objects with some of their relations. Constants keep their names."""
        colours = dict(self.objects) | {name: f"constant {name}" for name in self.constants}
        return Structure(colours, list(relations))


def _goal_relations(literals: Iterable[tuple[Atom, bool]]) -> list[Relation]:
    ordered = sorted(literals, key=lambda literal: (literal[0].sort_key, literal[1]))
    return [(f"goal {atom.predicate} {value}", atom.args) for atom, value in ordered]


def _formula(condition: Formula, names: set[str]) -> Iterator[Relation]:
    """A condition that is not a conjunction, as one tuple of the objects that it names: equal if written equally."""
    mentioned = tuple(dict.fromkeys(name for name in arguments_in(condition) if name in names))
    shape = str(Renaming({name: f"#{number}" for number, name in enumerate(mentioned)}).formula(condition))
    yield shape, mentioned


# goals


Literals = frozenset[tuple[Atom, bool]]
"""Atoms, each with whether it is true."""


def _completed_goals(domain: Domain, problems: Sequence[Problem], work: Work) -> tuple[Sequence[Literals | None], bool]:
    """The goals with what they imply because facts exclude each other, and whether that is all that they imply.

    None for a goal that is not a conjunction of literals.
    """
    goals, exact = [], True
    for problem in problems:
        literals = _literals(domain, problem)
        goal, total = (None, False) if literals is None else _completed(domain, problem, literals, work)
        goals.append(goal)
        exact &= total and not any(atom.predicate in domain.rules for atom, _ in literals or ())
    return goals, exact


def _completed(domain: Domain, problem: Problem, literals: Literals, work: Work) -> tuple[Literals, bool]:
    """The literals with what they imply because facts exclude each other, and whether that is everything."""
    static = {predicate.name for predicate in domain.predicates} - {*domain.rules} - _changed(domain)
    wanted = {
        (atom, value)
        for atom, value in literals
        if atom.predicate not in static or (atom in problem.facts) is not value
    }
    completion = Completion(domain, problem, (atom for atom, value in wanted if value), work)
    false = {(atom, value) for atom, value in wanted if not value and not completion.is_excluded(atom)}
    return frozenset({*((atom, True) for atom in completion.true), *false}), completion.is_total


def _literals(domain: Domain, problem: Problem) -> Literals | None:
    """The literals of a goal, with `forall` written out."""
    world = World(domain, problem)
    literals: set[tuple[Atom, bool]] = set()
    waiting: list[Formula] = [problem.goal]
    while waiting:
        for part in conjuncts(waiting.pop()):
            match part:
                case Atom():
                    literals.add((part, True))
                case Not(part=Atom() as atom):
                    literals.add((atom, False))
                case Forall() if world.cases(part) <= _MOST_CASES:
                    waiting += [Renaming(case).formula(part.part) for case in world.bindings(part.variables, {})]
                case _:
                    return None
    return frozenset(literals)


def _implied(system: Transitions) -> Literals:
    """What is true, and what is false, in every state that reaches the goal, of all that ever changes."""
    always, ever = frozenset.intersection(*system.states), frozenset.union(*system.states)
    reached = [system.states[number] for number in sorted(system.goals)]
    true, some = frozenset.intersection(*reached), frozenset.union(*reached)
    return frozenset({*((atom, True) for atom in true - always), *((atom, False) for atom in ever - some)})


def _changed(domain: Domain) -> set[str]:
    return {atom.predicate for action in domain.actions for atom, _ in changed_atoms(action.effect)}


# domains


def compare_domains(left: Domain, right: Domain) -> Comparison:
    """Compare two domains up to the names of their types, predicates, constants, actions, functions and variables.

    Conjuncts, disjuncts and declarations may be in any order. Domains that say the same in other words are undecided.
    """
    shapes = [Counter(len(action.parameters) for action in domain.actions) for domain in (left, right)]
    if shapes[0] != shapes[1]:
        heads = [tuple(sorted(_head(action) for action in domain.actions)) for domain in (left, right)]
        reason = "the numbers of actions, or of their parameters, differ"
        return Comparison(Verdict.DIFFERENT, reason, heads[0][:_MOST_WITNESSES], heads[1][:_MOST_WITNESSES])
    if left == right:
        return Comparison(Verdict.SAME, "equal up to names and order")
    try:
        if are_isomorphic(_DomainStructure(left).structure, _DomainStructure(right).structure, Work(seconds=SECONDS)):
            return Comparison(Verdict.SAME, "equal up to names and order")
    except TooManyCasesError:
        return Comparison(Verdict.UNDECIDED, f"the domains are too large to be compared within {SECONDS:g} s")
    return Comparison(Verdict.UNDECIDED, "the domains are not written alike; whether they mean the same is not known")


def _head(action: Action) -> str:
    return str(Atom(action.name, tuple(parameter.name for parameter in action.parameters)))


class _DomainStructure:
    """A domain as a labelled structure: a name for each declaration, variable and part of a condition."""

    def __init__(self, domain: Domain) -> None:
        self.structure = Structure({}, [])
        self._numbers = itertools.count()
        for kind in domain.types:
            self.structure.colours[f"type {kind}"] = "type" if kind != ANY_TYPE else ANY_TYPE
        for supertype in domain.supertypes:
            self._relate("is", f"type {supertype.name}", *self._types(supertype.type))
        for constant in domain.constants:
            self._named("constant", constant)
        for predicate in domain.predicates:
            self._head(f"predicate {predicate.name}", predicate.parameters)
        for function in domain.functions:
            self._head(f"function {function.name}", function.parameters)
        for action in domain.actions:
            scope = self._head(f"action {action.name}", action.parameters)
            self._relate("precondition", f"action {action.name}", self._formula(action.precondition, scope))
            self._relate("effect", f"action {action.name}", self._formula(action.effect, scope))
        for rule in domain.derived:
            own = self._node("rule")
            scope = self._head(own, rule.predicate.parameters)
            self._relate("defines", own, f"predicate {rule.predicate.name}", self._formula(rule.condition, scope))

    def _relate(self, label: str, *names: str) -> None:
        self.structure.relations.append((label, names))

    def _node(self, colour: str) -> str:
        name = f"node {next(self._numbers)}"
        self.structure.colours[name] = colour
        return name

    def _types(self, kind: str) -> list[str]:
        return sorted(f"type {one}" for one in either(kind))

    def _named(self, colour: str, name: TypedName) -> str:
        """A new name for a variable or constant, with its type."""
        node = f"constant {name.name}" if colour == "constant" else self._node(colour)
        self.structure.colours[node] = colour
        for kind in self._types(name.type):
            self._relate("of type", node, kind)
        return node

    def _head(self, own: str, parameters: Iterable[TypedName]) -> dict[str, str]:
        """A declaration with parameters; returns the names of these."""
        self.structure.colours.setdefault(own, own.partition(" ")[0])
        scope = {}
        for place, parameter in enumerate(parameters):
            scope[parameter.name] = self._named("variable", parameter)
            self._relate(f"parameter {place}", own, scope[parameter.name])
        return scope

    def _formula(self, formula: Formula, scope: dict[str, str]) -> str:
        """A part of a condition or an effect; returns its name."""
        match formula:
            case And(parts=(single,)):
                return self._formula(single, scope)
            case Atom():
                node = self._node("atom")
                names = (self._name(arg, scope) for arg in formula.args)
                self._relate("atom", node, f"predicate {formula.predicate}", *names)
            case Equal():
                node = self._node("=")
                for name in (formula.left, formula.right):
                    self._relate("equal", node, self._name(name, scope))
            case Change():
                node = self._node(f"{formula.operator} {formula.value if formula.value.parts is None else ''}")
                if formula.value.parts is not None:
                    terms = (self._name(str(part), scope) for part in formula.value.parts)
                    self._relate("by", node, f"function {formula.value.head}", *terms)
            case Exists() | Forall():
                node = self._node(word_of(formula))
                inner = {variable.name: self._named("variable", variable) for variable in formula.variables}
                for variable in inner.values():
                    self._relate("binds", node, variable)
                self._relate("of", node, self._formula(formula.part, {**scope, **inner}))
            case _:
                node = self._node(word_of(formula))
                for place, part in enumerate(conjuncts(formula) if isinstance(formula, And) else parts_of(formula)):
                    ordered = isinstance(formula, Imply | When)
                    self._relate(f"part {place}" if ordered else "part", node, self._formula(part, scope))
        return node

    def _name(self, name: str, scope: dict[str, str]) -> str:
        return scope.get(name) or f"constant {name}"
