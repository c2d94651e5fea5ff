"""Conditions that are true in every state that a problem can reach, proved by induction over the actions."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Sequence

import z3

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.balance import exclusive
from pddlego.pddl.conditions import And, Equal, Forall, Formula, Imply, Not, TypedName
from pddlego.pddl.domain import Action, Predicate
from pddlego.planning.domains.formulas import Expression, Formulas, Names, NotExpressibleError, solver
from pddlego.planning.world import Simulator, World, transitions
from pddlego.util.limits import Clock, Work

_MAX_CANDIDATES = 2_000

_MAX_STATES = 200
"""The maximum number of reachable states that are explored. Candidates are tested on every tenth."""


def proved_invariants(
    domain: Domain, problem: Problem, *, seconds: float, clock: Clock = time.monotonic
) -> tuple[Formula, ...]:
    """Conditions without free variables that are true in each reachable state.

    None are found for tasks with time or derived predicates, nor if the time is up before a proof.

    Candidates: facts that exclude each other, symmetric predicates, and implications between two facts, or a fact and
    an equality.
    """
    ends = clock() + seconds
    if domain.durative or domain.derived or problem.later:
        return ()
    candidates = list(itertools.islice(_candidates(domain), _MAX_CANDIDATES))
    try:
        world = World(domain, problem, Work(seconds=seconds / 2))
        for state in transitions(domain, problem, _MAX_STATES, Work(seconds=seconds / 4)).states[::10]:
            simulator = Simulator(world, state)
            candidates = [candidate for candidate in candidates if not simulator.is_possible(*_violation(candidate))]
    except TooManyCasesError:
        return ()
    candidates = [candidate for candidate in candidates if not _is_valid(domain, candidate, ends - clock())]
    while candidates:
        broken = _broken(domain, candidates, ends, clock)
        if broken is None:
            return ()
        if not broken:
            return tuple(candidates)
        candidates = [candidate for candidate in candidates if candidate not in broken]
    return ()


def _violation(candidate: Formula) -> tuple[Formula, tuple[TypedName, ...]]:
    """A condition that is true where a candidate is not, and its variables."""
    variables, part = (candidate.variables, candidate.part) if isinstance(candidate, Forall) else ((), candidate)
    match part:
        case Imply(condition, consequence):
            return And((condition, Not(consequence))), variables
        case Not(part=inner):
            return inner, variables
    return Not(part), variables


def _candidates(domain: Domain) -> Iterator[Formula]:
    for group in exclusive(domain):
        for left, right in itertools.combinations_with_replacement(sorted(group), 2):
            yield from _at_most_one(domain, left, right)
    for predicate in domain.predicates:
        yield from _about_one(predicate)
    for first, second in itertools.permutations(domain.predicates, 2):
        yield from _implications(domain, first, second)


def _at_most_one(domain: Domain, left: tuple[str, int], right: tuple[str, int]) -> Iterator[Formula]:
    """The candidate that no object occurs in two facts at these arguments."""
    left_names, right_names = _renamed(domain, left, "a"), _renamed(domain, right, "b")
    both, names = And((_fact(left[0], left_names), _fact(right[0], right_names))), {*left_names, *right_names}
    pairs = zip(left_names, right_names, strict=False)
    equal = And(tuple(Equal(first.name, second.name) for first, second in pairs if first.name != second.name))
    if left != right:
        yield _for_all(names, Not(both))
    elif equal.parts:
        yield _for_all(names, Imply(both, equal))


def _renamed(domain: Domain, argument: tuple[str, int], letter: str) -> list[TypedName]:
    """The predicate's parameters: `?x` for the argument, other names for the rest."""
    parameters = domain.predicates_by_name[argument[0]].parameters
    names = ("?x" if number == argument[1] else f"?{letter}{number}" for number in range(len(parameters)))
    return [TypedName(name, parameter.type) for name, parameter in zip(names, parameters, strict=True)]


def _fact(predicate: str, variables: Sequence[TypedName]) -> Atom:
    return Atom(predicate, tuple(variable.name for variable in variables))


def _about_one(predicate: Predicate) -> Iterator[Formula]:
    """Candidates about one predicate: two arguments always differ, all pairs of different objects have the fact, or the
    predicate is symmetric.
    """
    names = _arguments(predicate)
    fact = _fact(predicate.name, names)
    for left, right in itertools.combinations(names, 2):
        if left.type == right.type:
            equal = Equal(left.name, right.name)
            yield _for_all(names, Imply(fact, Not(equal)))
            yield _for_all(names, Imply(Not(equal), fact))
            swapped = {left.name: right.name, right.name: left.name}
            args = tuple(swapped.get(name, name) for name in fact.args)
            yield _for_all(names, Imply(fact, Atom(fact.predicate, args)))


def _arguments(predicate: Predicate) -> list[TypedName]:
    return [TypedName(f"?x{number}", parameter.type) for number, parameter in enumerate(predicate.parameters)]


def _implications(domain: Domain, left: Predicate, right: Predicate) -> Iterator[Formula]:
    """Candidates that a fact implies, or excludes, another fact about some of its objects."""
    names = _arguments(left)
    fact = _fact(left.name, names)
    choices = [
        [name.name for name in names if domain.is_a(name.type, parameter.type)] for parameter in right.parameters
    ]
    for args in itertools.product(*choices):
        if len({*args}) == len(args):
            implied = Atom(right.name, args)
            yield _for_all(names, Imply(fact, implied))
            if left.name < right.name or len(args) < len(names):
                yield _for_all(names, Imply(fact, Not(implied)))


def _for_all(names: Iterable[TypedName], part: Formula) -> Formula:
    ordered = sorted({name.name: name for name in names}.values(), key=lambda name: name.name)
    return Forall(tuple(ordered), part) if ordered else part


class _After(Formulas):
    """The formulas of the state after an action."""

    def __init__(self, domain: Domain, action: Action, names: Names) -> None:
        super().__init__(domain, domain)
        self._before, self._action, self._names = Formulas(domain, domain), action, names

    def relation(self, name: str, arguments: Sequence[Expression], side: int) -> Expression:
        return self._before.becomes(self._action, self._names, 0, (name, arguments))


def _is_valid(domain: Domain, candidate: Formula, seconds: float) -> bool:
    """Whether the types alone make a condition true."""
    formulas, z3_solver = Formulas(domain, domain), solver(seconds)
    z3_solver.add(*formulas.axioms([candidate]), formulas.holds(candidate, {}, 0, False))
    return bool(z3_solver.check() == z3.unsat)


def _broken(domain: Domain, candidates: Sequence[Formula], ends: float, clock: Clock) -> list[Formula] | None:
    """The candidates that an action may make false in a state where all are true; None if Z3 does not decide."""
    formulas = Formulas(domain, domain)
    for action in domain.actions:
        z3_solver = solver(ends - clock())
        values = formulas.variables(len(action.parameters))
        names = {parameter.name: value for parameter, value in zip(action.parameters, values, strict=True)}
        after = _After(domain, action, names)
        try:
            possible = formulas.is_possible(action, names, 0)
        except NotExpressibleError:
            return None
        z3_solver.add(*formulas.axioms([*candidates, action.precondition, action.effect]), possible)
        z3_solver.add(*(formulas.holds(candidate, {}, 0) for candidate in candidates))
        broken = {z3.Bool(f"broken {number}"): candidate for number, candidate in enumerate(candidates)}
        z3_solver.add(
            *(flag == after.holds(candidate, {}, 0, False) for flag, candidate in broken.items()), z3.Or(*broken)
        )
        answer = z3_solver.check()
        if answer == z3.sat:
            model = z3_solver.model()
            return [candidate for flag, candidate in broken.items() if z3.is_true(model.eval(flag, True))]
        if answer != z3.unsat:
            return None
    return []
