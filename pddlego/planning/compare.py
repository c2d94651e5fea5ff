"""Compares problems and tasks, each up to renaming.

Problems of one domain are compared as in Planetarium (Zuo et al., 2024), for any domain: goals are completed by the
literals that are true in every state that reaches them, and the facts of both problems are compared as labelled graphs.
Tasks of different domains are compared by their transition systems.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom, Domain, Problem, same_name
from pddlego.pddl.conditions import (
    ARITHMETIC,
    TRUE,
    Compare,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Renaming,
    Term,
    arguments_in,
    changed_atoms,
    conjuncts,
    number,
    walk,
    with_parts,
)
from pddlego.pddl.costs import counts_cost, needs_numbers, values_of
from pddlego.pddl.implied import ImpliedFacts
from pddlego.pddl.numbers import MIRRORED, TOTAL_COST
from pddlego.planning.world import Transitions, World, transitions
from pddlego.util.limits import Work

_SECONDS = 10.0
"""The time limit of a comparison."""

_MOST_FACTS = 4_000_000
"""The maximum number of facts in all explored states together, about 300 MB."""

_MOST_CASES = 2_000
"""The maximum number of cases of a `forall` that is written out."""

_MOST_REMOVALS = 100
"""The maximum number of facts that are removed, one at a time, to find the one that makes the difference."""

_MOST_STEPS = 20_000_000
"""The default limit of an isomorphism test, in names per round of refinement: some seconds."""

Relation = tuple[str, tuple[str, ...]]
"""A labelled tuple of names, such as a fact."""

_Node = tuple[int, str]
"""A name in one of two structures."""

_Literals = frozenset[tuple[Atom, bool]]
"""Atoms, each with whether it is true."""


class ComparisonVerdict(str, Enum):
    """How two problems compare."""

    SAME = "same"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Comparison:
    """The verdict on two problems or domains.

    `only_left` and `only_right` show the difference: facts, numbers, parts of goals or objects of one side. `witnesses`
    show that domains differ; `invariants` are the conditions under which they are the same. `renamed` are the names of
    domains that were taken for the same thing although they differ: what is named, its name in the left domain, and in
    the right one. `note` is a warning for the user; it does not change the verdict.
    """

    verdict: ComparisonVerdict
    reason: str
    only_left: tuple[str, ...] = ()
    only_right: tuple[str, ...] = ()
    note: str = ""
    witnesses: tuple[Witness, ...] = ()
    invariants: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Witness:
    """A state in which two domains differ, with what is tried there, and what it changes in each domain.

    `action` is a step, or a derived fact. Of a durative action, `moment` is what is tried: its start, its end, or all
    of it (the time between). A side is None where the step is impossible, or the fact is false. `plan` leads to a
    state with these facts from the initial state of a problem; None: no such plan is known.
    """

    action: str
    moment: str
    objects: tuple[str, ...]
    facts: tuple[str, ...]
    left: tuple[str, ...] | None
    right: tuple[str, ...] | None
    plan: tuple[str, ...] | None = None


CONSTRAINTS = "constraints and preferences are compared as they are written"


def compare_problems(domain: Domain, left: Problem, right: Problem, *, seconds: float = _SECONDS) -> Comparison:
    """Compare two problems without blocking defects, in about `seconds`."""
    constrained = (left.constraints, right.constraints) != (TRUE, TRUE) or left.preferences or right.preferences
    if constrained and left != right:
        return Comparison(ComparisonVerdict.UNDECIDED, CONSTRAINTS)
    if counts_cost(left) != counts_cost(right):
        return Comparison(ComparisonVerdict.DIFFERENT, "only one of the problems minimizes costs")
    problems = (left, right)
    metrics = [_metric_relations(domain, problem) for problem in problems]
    if {label for label, _ in metrics[0]} != {label for label, _ in metrics[1]}:
        return _different_metrics(left, right)
    try:
        result = _compare_sides(
            domain, problems, *_completed_goals(domain, problems, Work(seconds=seconds / 4)), seconds / 4
        )
        if result.verdict is ComparisonVerdict.UNDECIDED and result.reason != _METRICS:
            result = _by_states(domain, problems, result, seconds / 4)
    except TooManyCasesError:
        result = Comparison(
            ComparisonVerdict.UNDECIDED, f"the problems are too large to be compared within {seconds:g} s"
        )
    if left.domain != right.domain:
        note = f"the problems name different domains, {left.domain} and {right.domain}"
        return replace(result, note=note)
    return result


_METRICS = "the metrics are not written alike"


def _different_metrics(left: Problem, right: Problem) -> Comparison:
    """The comparison of problems whose metrics are not written alike: two expressions may still have one value."""
    first, second = left.metric, right.metric
    shown = [(str(metric),) if metric else () for metric in (first, second)]
    undecided = first and second and first.term != second.term and {first.term.head, second.term.head} & {*ARITHMETIC}
    verdict = ComparisonVerdict.UNDECIDED if undecided else ComparisonVerdict.DIFFERENT
    return Comparison(verdict, _METRICS if undecided else "the metrics differ", shown[0], shown[1])


def _compare_sides(
    domain: Domain, problems: Sequence[Problem], goals: Sequence[_Literals | None], exact: bool, seconds: float
) -> Comparison:
    """Compare two problems with their completed goals, which are `exact` if the goals imply no other facts."""
    sides = [_Side(domain, problem, goal) for problem, goal in zip(problems, goals, strict=True)]
    kinds = [Counter(side.objects.values()) for side in sides]
    if kinds[0] != kinds[1]:
        counts = [len(side.objects) for side in sides]
        numbers = f"the numbers of objects differ: {counts[0]} and {counts[1]}"
        left, right = ({f"{name} - {kind}" for name, kind in side.objects.items()} for side in sides)
        shown = _unshared(left, right) if 2 * len(left & right) >= min(len(left), len(right)) else ((), ())
        reason = numbers if counts[0] != counts[1] else "the types of the objects differ"
        return Comparison(ComparisonVerdict.DIFFERENT, reason, *shown)
    work = Work(seconds=seconds)
    first, second = (side.structure(side.initial + side.metric + side.wanted) for side in sides)
    alike = are_isomorphic(first, second, work)
    if alike:
        return Comparison(ComparisonVerdict.SAME, "equal up to the names of objects")
    first, second = (side.structure(side.initial) for side in sides)
    initial = are_isomorphic(first, second, work)
    if initial is False:
        return _witnessed("the initial states differ", sides, "initial", work)
    if alike is None or initial is None:
        return Comparison(ComparisonVerdict.UNDECIDED, "the objects are too similar to be paired")
    first, second = (side.structure(side.initial + side.metric) for side in sides)
    if are_isomorphic(first, second, work) is False:
        return _different_metrics(*problems)
    if goals[0] is None or goals[1] is None:
        return Comparison(
            ComparisonVerdict.UNDECIDED,
            "goals with conditions such as or, exists or numbers, which are not written alike",
        )
    differ = _witnessed("the goals differ" if exact else "the goals are written differently", sides, "wanted", work)
    return differ if exact else replace(differ, verdict=ComparisonVerdict.UNDECIDED)


def _by_states(domain: Domain, problems: Sequence[Problem], undecided: Comparison, seconds: float) -> Comparison:
    """Compare two problems with equal initial states by the states in which their goals are true."""
    systems = []
    for problem in problems:
        work = Work(seconds=seconds)
        systems.append(transitions(domain, problem, most=_MOST_FACTS, work=work, facts=_MOST_FACTS))
        if not systems[-1].complete:
            return replace(undecided, reason=f"{undecided.reason}, and there are too many states to look at")
    if len({bool(system.goals) for system in systems}) > 1:
        which = "first" if systems[0].goals else "second"
        reason = f"only the goal of the {which} problem can be reached"
        return replace(undecided, verdict=ComparisonVerdict.DIFFERENT, reason=reason)
    if not systems[0].goals:
        return replace(undecided, reason=f"{undecided.reason}, and no state reaches either of them")
    starts = [(problem.objects, problem.facts, problem.values) for problem in problems]
    if starts[0] == starts[1] and all(needs_numbers(domain, problem) is not None for problem in problems):
        reached = [{system.states[number] for number in system.goals} for system in systems]
        if reached[0] == reached[1]:
            return Comparison(ComparisonVerdict.SAME, "the goals are true in the same reachable states")
        reason = "the goals are true in other reachable states"
        return replace(undecided, verdict=ComparisonVerdict.DIFFERENT, reason=reason)
    written = [_literals(domain, problem) for problem in problems]
    derived = [frozenset(item for item in literals or () if item[0].predicate in domain.rules) for literals in written]
    implied = [_implied(system) | more for system, more in zip(systems, derived, strict=True)]
    completed = [None if one is None else goal for goal, one in zip(implied, written, strict=True)]
    return _compare_sides(domain, problems, completed, not any(derived), seconds)


def _unshared(left: Set[str], right: Set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The texts that only `left` has, and those that only `right` has; values of functions are last."""
    only_left, only_right = (
        tuple(sorted(one, key=lambda text: (text[:2] == "(=", text))) for one in (left - right, right - left)
    )
    return only_left, only_right


def _differ(reason: str, left: Iterable[Relation], right: Iterable[Relation]) -> Comparison:
    """Return a difference with the relations that only one side has."""
    only_left, only_right = _unshared({*map(_text, left)}, {*map(_text, right)})
    return Comparison(ComparisonVerdict.DIFFERENT, reason, only_left, only_right)


def _witnessed(reason: str, sides: Sequence[_Side], part: str, work: Work) -> Comparison:
    """A difference in the initial states or the goals, with the relations that show it.

    If the objects of both sides have the same names, these are the relations that only one side has; else relations are
    removed, one at a time, until the sides are isomorphic.
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
    """Return the relations whose objects have no counterparts in the other structure, judged by their own relations."""
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

    def __init__(self, domain: Domain, problem: Problem, goal: _Literals | None) -> None:
        constants = {constant.name for constant in domain.constants}
        self.objects = {obj.name: obj.type for obj in problem.objects if obj.name not in constants}
        self.constants = constants
        self.initial: list[Relation] = [(fact.predicate, fact.args) for fact in problem.sorted_facts()]
        for term, amount in sorted(values_of(problem).items(), key=str):
            if term != TOTAL_COST or amount:
                self.initial.append((f"= {term.head} {amount}", tuple(map(str, term.parts or ()))))
        self.metric = _metric_relations(domain, problem)
        names = {*self.objects, *constants}
        self.wanted = _written_goal(problem.goal, names) if goal is None else _goal_relations(goal)
        written = _literals(domain, problem)
        self.written = self.wanted if written is None else _goal_relations(written)

    def structure(self, relations: Iterable[Relation]) -> Structure:
        """Return the objects with some of their relations. Constants keep their names."""
        colours = dict(self.objects) | {name: f"constant {name}" for name in self.constants}
        return Structure(colours, list(relations))


def _goal_relations(literals: Iterable[tuple[Atom, bool]]) -> list[Relation]:
    ordered = sorted(literals, key=lambda literal: (literal[0].sort_key, literal[1]))
    return [(f"goal {atom.predicate} {value}", atom.args) for atom, value in ordered]


def _written_goal(goal: Formula, names: set[str]) -> list[Relation]:
    """A goal that is not a conjunction of literals, as relations. Conjuncts of a numeric goal may be in any order."""
    is_numeric = any(isinstance(node, Compare) for node, _ in walk(goal))
    parts = dict.fromkeys(conjuncts(goal)) if is_numeric else (goal,)
    return [relation for part in parts for relation in _formula(part, names)]


def _metric_relations(domain: Domain, problem: Problem) -> list[Relation]:
    """The metric of a numeric task as one relation over its objects."""
    if problem.metric is None or needs_numbers(domain, problem) is None:
        return []
    names = {obj.name for obj in (*domain.constants, *problem.objects)}
    comparison = Compare(problem.metric.direction, problem.metric.term, Term("0"))
    return list(_formula(comparison, names))


def _formula(condition: Formula, names: set[str]) -> Iterator[Relation]:
    """A condition that is not a conjunction, as one relation over its objects. Equal texts give equal relations."""
    condition = ordered(condition)
    mentioned = tuple(dict.fromkeys(name for name in arguments_in(condition) if name in names))
    shape = str(Renaming({name: f"#{number}" for number, name in enumerate(mentioned)}).formula(condition))
    yield shape, mentioned


def ordered(formula: Formula) -> Formula:
    """The formula with comparisons written in one way: `(>= (f) 3)` as `(<= 3 (f))`."""
    if not isinstance(formula, Compare):
        return with_parts(formula, ordered)
    sign, sides = formula.operator, [_ordered_term(formula.left), _ordered_term(formula.right)]
    if sign in (">", ">="):
        return Compare(MIRRORED[sign], *reversed(sides))
    return Compare(sign, *(sorted(sides, key=_without_names) if sign == "=" else sides))


def _ordered_term(term: Term) -> Term:
    value = number(term.head) if term.parts is None else None
    if term.parts is None or term.head not in ARITHMETIC:
        return term if value is None else Term(str(value))
    parts = map(_ordered_term, term.parts)
    return Term(term.head, tuple(sorted(parts, key=_without_names) if term.head in "+*" else parts))


def _without_names(term: Term) -> str:
    """An order of numeric expressions that does not depend on the names of objects."""
    return f"{term.head} {' '.join(map(_without_names, term.parts or ()))}" if term.head in ARITHMETIC else term.head


# goals


def _completed_goals(
    domain: Domain, problems: Sequence[Problem], work: Work
) -> tuple[Sequence[_Literals | None], bool]:
    """Return the goals with all literals that exclusive facts imply, and whether the goals imply no other literals.

    A goal that is not a conjunction of literals is None.
    """
    changed = {atom.predicate for action in domain.actions for atom, _ in changed_atoms(action.effect)}
    static = {predicate.name for predicate in domain.predicates} - {*domain.rules} - changed
    goals: list[_Literals | None] = []
    exact = True
    for problem in problems:
        literals = _literals(domain, problem)
        if literals is None:
            goals.append(None)
            exact = False
            continue
        wanted = {
            (atom, value)
            for atom, value in literals
            if atom.predicate not in static or (atom in problem.facts) is not value
        }
        completion = ImpliedFacts(domain, problem, (atom for atom, value in wanted if value), work)
        false = {(atom, value) for atom, value in wanted if not value and not completion.is_excluded(atom)}
        goals.append(frozenset({*((atom, True) for atom in completion.true), *false}))
        exact &= completion.is_total and not any(atom.predicate in domain.rules for atom, _ in literals)
    return goals, exact


def _literals(domain: Domain, problem: Problem) -> _Literals | None:
    """The literals of a goal, with `forall` written out; None if the goal does not mean a conjunction of literals."""
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
                case Not(part=Not(part=inner)):
                    waiting.append(inner)
                case Not(part=Or(parts=parts)):
                    waiting += [Not(part) for part in parts]
                case Not(part=Imply(condition=condition, consequence=consequence)):
                    waiting += [condition, Not(consequence)]
                case Not(part=Exists(variables=variables, part=inner)):
                    waiting.append(Forall(variables, Not(inner)))
                case Forall() if world.cases(part) <= _MOST_CASES:
                    waiting += [Renaming(case).formula(part.part) for case in world.bindings(part.variables, {})]
                case _:
                    return None
    return frozenset(literals)


def _implied(system: Transitions) -> _Literals:
    """The literals that are true in all goal states, without atoms whose value never changes."""
    states = [frozenset(state.facts) for state in system.states]
    always, ever = frozenset.intersection(*states), frozenset.union(*states)
    reached = [states[number] for number in sorted(system.goals)]
    true, some = frozenset.intersection(*reached), frozenset.union(*reached)
    return frozenset({*((atom, True) for atom in true - always), *((atom, False) for atom in ever - some)})


# tasks


Equivalence = Literal["same", "different", "no reachable goal", "too large"]
"""How two tasks compare. No reachable goal: their transitions are equal, but neither reaches a goal."""


def equivalence(left: tuple[Domain, Problem], right: tuple[Domain, Problem], most: int = 2_000) -> Equivalence:
    """Compare two small tasks, of up to `most` states each, up to renaming.

    States are compared by the actions that are applicable and the states that these lead to, not by their facts: the
    domains may have different predicates. Steps that change nothing count.
    """
    one, other = transitions(*left, most=most), transitions(*right, most=most)
    if not (one.complete and other.complete):
        larger, smaller = (other, one) if one.complete else (one, other)
        return "different" if smaller.complete and len(larger.states) > len(smaller.states) else "too large"
    same: Equivalence = "same" if one.goals else "no reachable goal"
    if _same_by_names(one, other):
        return same
    try:
        isomorphic = are_isomorphic(_structure(one), _structure(other))
    except TooManyCasesError:
        return "too large"
    if isomorphic is None:
        return "too large"
    return same if isomorphic else "different"


def _same_by_names(one: Transitions, other: Transitions) -> bool:
    """Whether two transition systems are equal when steps with the same action and objects correspond."""
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
    """A transition system as a labelled structure: the initial state, goal states and transitions, without facts."""
    colours = {str(number): f"{number == 0} {number in transitions.goals}" for number in range(len(transitions.states))}
    times = Counter((str(start), str(end)) for start, _, end in transitions.edges)
    return Structure(colours, [(f"{number} steps", pair) for pair, number in times.items()])


def named_alike(domain: Domain, name: str) -> str | None:
    """The action of a domain with this name, or with another spelling of it: `pick-up` and `pick_up`."""
    names = [action.name for action in (*domain.actions, *domain.durative)]
    return name if name in names else next((other for other in names if same_name(other, name)), None)


# labelled structures


@dataclass(frozen=True)
class Structure:
    """Names with colours, and labelled tuples of names. A name without a colour is a constant."""

    colours: dict[str, str]
    relations: list[Relation]


def are_isomorphic(left: Structure, right: Structure, work: Work | None = None) -> bool | None:
    """Whether two structures are equal up to renaming of their coloured names; None if this could not be decided.

    Colours are refined until they are stable (1-dimensional Weisfeiler-Leman); then names of equal colour are paired
    one by one. If no pair fits, the structures differ, unless an earlier pair may be the reason. Raises
    `TooManyCasesError` if the test takes more than `work`.
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


class _Refinement:
    """Two structures side by side; a node is a side and a name."""

    def __init__(self, work: Work, *sides: Structure) -> None:
        self.work = work
        self.sides = sides
        self.nodes = [(side, name) for side, structure in enumerate(sides) for name in structure.colours]
        first: dict[str, int] = {}
        self.colours: dict[_Node, int] = {}
        self.around: dict[_Node, list[tuple[str, int, tuple[_Node | str, ...]]]] = defaultdict(list)
        for side, structure in enumerate(sides):
            for name, colour in structure.colours.items():
                self.colours[side, name] = first.setdefault(colour, len(first))
            for label, args in structure.relations:
                nodes = tuple((side, arg) if arg in structure.colours else arg for arg in args)
                for place, node in enumerate(nodes):
                    if not isinstance(node, str):
                        self.around[node].append((label, place, nodes))
        self.next = len(first)

    def refine(self, dirty: Iterable[_Node]) -> bool:
        """Refine the colours around some nodes until they are stable; False if the sides differ in a colour."""
        waiting = set(dirty)
        while waiting:
            classes = self._classes()
            keys: dict[_Node, tuple[object, ...]] = {node: self._key(node) for node in waiting}
            changed: set[_Node] = set()
            for colour in {self.colours[node] for node in waiting}:
                members = classes[colour]
                groups: dict[object, list[_Node]] = defaultdict(list)
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

    def _classes(self) -> dict[int, list[_Node]]:
        """Return the nodes of each colour."""
        self.work.spend(len(self.colours))
        classes: dict[int, list[_Node]] = defaultdict(list)
        for node, colour in self.colours.items():
            classes[colour].append(node)
        return classes

    def _neighbours(self, node: _Node) -> set[_Node]:
        return {other for _, _, nodes in self.around[node] for other in nodes if not isinstance(other, str)}

    def _key(self, node: _Node) -> tuple[object, ...]:
        """The relations of a node, with the colours of the other nodes in them."""
        colours = self.colours
        seen = [
            (label, place, tuple(other if isinstance(other, str) else colours[other] for other in nodes))
            for label, place, nodes in self.around[node]
        ]
        return tuple(sorted(seen))

    def smallest_class(self) -> list[_Node] | None:
        """The smallest class of nodes with one colour that has at least two nodes on each side; None without one."""
        return min((nodes for nodes in self._classes().values() if len(nodes) > 2), key=len, default=None)

    def pair(self, first: _Node, second: _Node) -> bool:
        """Give two nodes a colour of their own, and refine; False if the sides then differ."""
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
