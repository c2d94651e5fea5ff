"""The language of learned conditions: what an action may need, over its parameters and the constants."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping

from pddlego.pddl import Atom, Domain
from pddlego.pddl.conditions import Equal, Forall, Formula, Imply, Not, Or, TypedName, scope_of
from pddlego.pddl.domain import Action


def atoms_over(domain: Domain, names: Mapping[str, str]) -> Iterator[Atom]:
    """All atoms over names of these types, as far as the types of the predicates allow."""
    for predicate in domain.predicates:
        choices = (
            [name for name, kind in names.items() if overlap(domain, kind, parameter.type)]
            for parameter in predicate.parameters
        )
        yield from (Atom(predicate.name, args) for args in itertools.product(*choices))


def overlap(domain: Domain, one: str, other: str) -> bool:
    """Whether an object may be of both types."""
    return domain.is_a(one, other) or domain.is_a(other, one)


def names_over(domain: Domain, action: Action) -> dict[str, str]:
    """The names that the conditions and effects of an action may use, with their types."""
    return {name.name: name.type for name in (*domain.constants, *action.parameters)}


def conditions_of(domain: Domain, action: Action) -> list[Formula]:
    """What an action may need, with the weaker of two conditions after the stronger one.

    That a fact is true, or false; that a parameter is the same object as another one or a constant, or not; that one of
    two facts is true which differ in the order of their arguments, such as a door that is stated in one direction; and
    that all objects which a fact relates to parameters have another fact:
    `(forall (?o - order) (imply (includes ?o ?p) (started ?o)))`. An action without parameters may also need that all
    objects with one fact have another: `(forall (?o - order) (imply (started ?o) (shipped ?o)))`.
    """
    atoms = list(atoms_over(domain, names_over(domain, action)))
    pairs = [*itertools.combinations(action.parameters, 2), *itertools.product(action.parameters, domain.constants)]
    equal = [Equal(one.name, other.name) for one, other in pairs if overlap(domain, one.type, other.type)]
    conditions: list[Formula] = [*atoms, *equal, *map(Not, atoms), *map(Not, equal)]
    in_any_order: dict[tuple[str, ...], list[Atom]] = defaultdict(list)
    for atom in atoms:
        key = (atom.predicate, *sorted(atom.args))
        in_any_order[key].append(atom)
    for alike in in_any_order.values():
        conditions += map(Or, itertools.combinations(alike, 2))
    return [*conditions, *(_quantified(domain, action) if action.parameters else _of_everything(domain))]


def _of_everything(domain: Domain) -> Iterator[Forall]:
    """The conditions of all objects that one fact is about."""
    for predicate in domain.predicates:
        kinds = enumerate((parameter.type for parameter in predicate.parameters), start=1)
        variables = tuple(TypedName(f"?any{number}", kind) for number, kind in kinds)
        premise = Atom(predicate.name, tuple(variable.name for variable in variables))
        for atom in atoms_over(domain, scope_of(variables)) if predicate.name not in domain.rules else ():
            if atom.args and atom != premise:
                yield Forall(variables, Imply(premise, atom))


def _quantified(domain: Domain, action: Action) -> Iterator[Forall]:
    """The conditions of all objects that one fact relates to a parameter."""
    parameters = scope_of(action.parameters)
    variable = "?any" + "_" * (max(map(len, parameters), default=0) if "?any" in parameters else 0)
    for kind in dict.fromkeys(parameter.type for predicate in domain.predicates for parameter in predicate.parameters):
        over = atoms_over(domain, {**parameters, variable: kind})
        about = [atom for atom in over if atom.args.count(variable) == 1 and atom.predicate not in domain.rules]
        for one, other in itertools.permutations(about, 2):
            place = one.args.index(variable)
            is_own = domain.predicates_by_name[one.predicate].parameters[place].type == kind
            if is_own and len(one.args) > 1 and set(other.args) <= set(one.args):
                yield Forall((TypedName(variable, kind),), Imply(one, other))


def weakest(conditions: list[Formula]) -> list[Formula]:
    """The conditions whose disjunction means the same as that of all: one that implies another is left out."""
    wide = {part for one in conditions if isinstance(one, Or) for part in one.parts}
    return [one for one in conditions if one not in wide]


def strongest(conditions: list[Formula]) -> list[Formula]:
    """The conditions whose conjunction means the same as that of all: one that another implies is left out."""
    known = set(conditions)
    return [one for one in conditions if not (isinstance(one, Or) and known.intersection(one.parts))]
