"""Facts that the initial state of a problem may lack, judged by its other facts, and numbers that may be wrong."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import Term, changed_atoms, conjuncts, required_atoms
from pddlego.pddl.implied import breaks_order
from pddlego.planning.checked import cases_of
from pddlego.planning.unread import read_functions
from pddlego.planning.world import World

_MOST_OF_ONE = 2_000
"""Maximum number of facts with a new object at one place of a predicate."""


@dataclass(frozen=True)
class ChangedProblem:
    """A change in words, and the changed problem. `less` are smaller changes, the smallest first.

    Of several changes with one `head` that give a plan, one is enough. It is the predicate or function, or empty for
    all predicates of which no fact can become true.
    """

    head: str
    words: str
    problem: Problem
    less: tuple[ChangedProblem, ...] = ()


def changed_problems(
    domain: Domain, problem: Problem, most: int, numbers_first: bool = False
) -> Iterator[ChangedProblem]:
    """The problem with an object of a type without objects; with a fact that looks forgotten; then with a new number.

    At most `most` facts are tried, the likeliest first: reverses of others, if other facts of the predicate have one;
    those with an object that no fact of the predicate has at this place, where others of its type are; and those of a
    predicate that an action needs, and of which no fact can become true. Few objects are tried, with narrower types.
    With `numbers_first`, numbers come before objects and facts.
    """
    scores: dict[Atom, float] = {}
    world, never = World(domain, problem), _never_true(domain, problem)
    if numbers_first:
        yield from _changed_numbers(problem, world)
    empty = {one.type: None for action in domain.schemas for one in action.parameters if not world.of_type(one.type)}
    wider = ((obj, kind) for kind in empty for obj in problem.sorted_objects() if domain.is_a(kind, obj.type))
    for obj, kind in itertools.islice(wider, most // 20):
        new = replace(obj, type=kind)
        changed = replace(problem, objects=problem.objects - {obj} | {new})
        yield ChangedProblem(f"- {kind}", f"with {new} in :objects", changed)
    facts = defaultdict[str, set[tuple[str, ...]]](set, {name: set() for name in never})
    for fact in problem.facts:
        facts[fact.predicate].add(fact.args)
    for name, known in facts.items():
        kinds = [parameter.type for parameter in domain.predicates_by_name[name].parameters]
        for args, score in _like(known, [world.of_type(kind) for kind in kinds]):
            atom = Atom(name, args)
            scores[atom] = max(score, scores.get(atom, 0.0))
    fluent = {atom.predicate for action in domain.schemas for atom, _ in changed_atoms(action.effect)}
    wanted = {*conjuncts(problem.goal)}
    for atom in sorted(scores.keys() - wanted, key=lambda atom: (-scores[atom], str(atom)))[:most]:
        if atom.predicate in fluent or not breaks_order(atom, problem.facts):
            head = "" if atom.predicate in never else atom.predicate
            yield ChangedProblem(head, f"with {atom} in :init", replace(problem, facts=problem.facts | {atom}))
    if not numbers_first:
        yield from _changed_numbers(problem, world)


def _changed_numbers(problem: Problem, world: World) -> Iterator[ChangedProblem]:
    """The problem with a larger or smaller number of those that conditions read: first those that actions change."""
    read = read_functions(world.domain, problem)
    values = [value for value in problem.values if value.left.head in read]
    values.sort(key=lambda value: (value.left.head not in world.changing, str(value)))
    for larger in (True, False) if world.is_numeric else ():
        for value in values:
            size = int(abs(world.values[value.left]))
            numbers = [factor * (1 + size) for factor in (2, 10, 100, 1_000)] if larger else [size // 2, 0]
            others = problem.values - {value}
            *less, greatest = (
                ChangedProblem(new.left.head, f"with {new} in :init", replace(problem, values=others | {new}))
                for new in (replace(value, right=Term(str(number))) for number in numbers)
            )
            yield replace(greatest, less=tuple(less))


def _never_true(domain: Domain, problem: Problem) -> set[str]:
    """The predicates that actions need and of which no fact can become true, whatever the objects are.

    An action is possible here if `:init` or effects of possible actions have a fact of each predicate that it needs.
    The time is linear in the size of the domain.
    """
    there = {*domain.rules, *(fact.predicate for fact in problem.facts)}
    cases = [case for one in domain.schemas for case in cases_of(one)]
    effects = [one.effect for one in cases] + [later.part for later in problem.later]
    needs = [{atom.predicate for atom in required_atoms(one.precondition)} - there for one in cases]
    users = defaultdict[str, list[int]](list)
    for number, needed in enumerate(needs):
        for name in needed:
            users[name].append(number)
    possible = [number for number in range(len(effects)) if number >= len(needs) or not needs[number]]
    for number in possible:  # grows
        for name in {atom.predicate for atom, value in changed_atoms(effects[number]) if value} - there:
            there.add(name)
            for user in users[name]:
                needs[user].remove(name)
                if not needs[user]:
                    possible.append(user)
    return {name for needed in needs for name in needed if name in domain.predicates_by_name}


def _like(known: set[tuple[str, ...]], objects: list[list[str]]) -> Iterator[tuple[tuple[str, ...], float]]:
    """New arguments for a predicate with the `known` ones, each with a score; `objects` are those of each place."""
    if not known:
        yield from ((args, 1 / (1 + len(args))) for args in itertools.islice(itertools.product(*objects), _MOST_OF_ONE))
        return
    for one, other in itertools.combinations(range(len(objects)), 2):
        reverse = {args: _swapped(args, one, other) for args in known if args[one] != args[other]}
        alone = {new for new in reverse.values() if new not in known}
        if len(alone) < len(reverse):
            yield from ((new, 2.0 - len(alone) / len(reverse)) for new in alone)
    used = [{args[place] for args in known} for place in range(len(objects))]
    new = [[name for name in names if name not in used[place]] for place, names in enumerate(objects)]
    # If each object is in one fact at most, as a thing is in one place, no second fact is proposed for it. A single
    # known fact shows this only of its first argument, which usually is the thing.
    once = [len(names) == len(known) and (place == 0 or len(known) > 1) for place, names in enumerate(used)]
    free = [new[place] if once[place] else names for place, names in enumerate(objects)]
    for first in range(len(objects)):
        every = itertools.product(*free[:first], new[first], *free[first + 1 :])
        for args in itertools.islice(every, _MOST_OF_ONE):
            places = [place for place, name in enumerate(args) if name not in used[place]]
            if len({*args}) == len(args):
                yield args, sum(len(used[place]) / len(objects[place]) for place in places) / len(objects)


def _swapped(args: tuple[str, ...], one: int, other: int) -> tuple[str, ...]:
    swapped = [*args]
    swapped[one], swapped[other] = args[other], args[one]
    return tuple(swapped)
