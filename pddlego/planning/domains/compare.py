"""Compares two domains by what their actions do: the same, different in a state that shows it, or undecided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TypeAlias, TypeVar

from pddlego.pddl import Domain, Problem
from pddlego.pddl.conditions import TRUE, Formula, Renaming
from pddlego.pddl.domain import Action, DurativeAction, Function, Predicate, Rule
from pddlego.pddl.numbers import TOTAL_COST
from pddlego.planning.compare import CONSTRAINTS, Comparison, ComparisonVerdict, named_alike
from pddlego.planning.domains.structure import equal_up_to_names
from pddlego.util.text import count

_Signed: TypeAlias = Predicate | Function | Action
_Head = TypeVar("_Head", Predicate, Function)
_Schema = TypeVar("_Schema", Action, DurativeAction)

SECONDS = 10.0
"""The time limit of a comparison."""


def compare_domains(
    left: Domain,
    right: Domain,
    problem: Problem | None = None,
    *,
    assumed: Sequence[Formula] = (),
    seconds: float = SECONDS,
) -> Comparison:
    """Compare two domains, in about `seconds`.

    They are the same if they are equal up to names and order, or if each action is possible in the same states and has
    the same effects there. What has the same name in both corresponds, and so do names that are left over where only
    one of each domain has the same parameters. Each domain gets the types that only the other one has. The states are
    all those that the `assumed` conditions allow and, with a `problem` of the left domain, those that its invariants
    allow.

    Without the package z3-solver, only domains that are equal up to names and order are decided.
    """
    renamed, pairs = _with_names_of(left, right)
    return replace(_compared(left, right, renamed, problem, assumed, seconds), renamed=pairs)


def _compared(
    left: Domain,
    right: Domain,
    renamed: Domain,
    problem: Problem | None,
    assumed: Sequence[Formula],
    seconds: float,
) -> Comparison:
    """Compare two domains, of which the second one is also given with the first one's names."""
    if not {left.constraints, right.constraints} <= {TRUE} and left != right:
        return Comparison(ComparisonVerdict.UNDECIDED, CONSTRAINTS)
    if equal_up_to_names(left, right, seconds / 4):
        return Comparison(ComparisonVerdict.SAME, "equal up to names and order")
    left, renamed = _with_types_of(left, renamed), _with_types_of(renamed, left)
    if unlike := _declared_otherwise(left, renamed):
        return Comparison(ComparisonVerdict.DIFFERENT, unlike)
    if find_spec("z3") is None:
        reason = "the domains are not written alike; the extra 'compare' decides whether they mean the same"
        return Comparison(ComparisonVerdict.UNDECIDED, reason)
    from pddlego.planning.domains.differences import decide_domains

    return decide_domains(left, renamed, problem, assumed, seconds * 3 / 4)


def _with_types_of(domain: Domain, other: Domain) -> Domain:
    """The domain with the types that only the other one has, so that states may have objects of them."""
    missing = tuple(one for one in other.supertypes if one.name not in domain.types)
    return replace(domain, supertypes=(*domain.supertypes, *missing))


def _declared_otherwise(left: Domain, right: Domain) -> str:
    """How the domains declare a thing of the same name in other ways, so that a file of one is no file of the other."""
    kinds = [kind for kind in left.types if kind in right.types]

    def places(domain: Domain, one: _Signed) -> list[list[str]]:
        return [[kind for kind in kinds if domain.is_a(kind, parameter.type)] for parameter in one.parameters]

    for word, mine, yours in (
        ("predicate", left.predicates, right.predicates),
        ("function", left.functions, right.functions),
    ):
        others = {one.name: places(right, one) for one in yours}
        for one in mine:
            if one.name in others and places(left, one) != others[one.name]:
                return f"{word} {one.name} has other parameters, or other types of them"
    types = {constant.name: constant.type for constant in right.constants}
    for constant in left.constants:
        if types.get(constant.name, constant.type) != constant.type:
            return f"constant {constant.name} has another type"
    counts = {action.name: len(action.parameters) for action in (*right.actions, *right.durative)}
    for action in (*left.actions, *left.durative):
        if counts.get(action.name, len(action.parameters)) != len(action.parameters):
            numbers = count(len(action.parameters), "parameter"), counts[action.name]
            return f"action {action.name} has {numbers[0]} in the first domain and {numbers[1]} in the second"
    return ""


def _with_names_of(left: Domain, right: Domain) -> tuple[Domain, tuple[tuple[str, str, str], ...]]:
    """The right domain with the left one's names for its types, predicates, functions, constants and actions.

    Also the names that differ: what is named, the left name, and the right one.
    """
    ancestors = [{kind: len(above) for kind, above in domain.types.items()} for domain in (left, right)]
    types = Renaming(types=_paired(*ancestors))

    def signatures(of: Callable[[Domain], Iterable[_Signed]]) -> dict[str, str]:
        mine = {one.name: tuple(parameter.type for parameter in one.parameters) for one in of(left)}
        yours = {one.name: tuple(name.type for name in types.typed(one.parameters)) for one in of(right)}
        return _paired(mine, yours)

    names = _paired(*({one.name: one.type for one in types.typed(domain.constants)} for domain in (left, right)))
    predicates, functions = signatures(lambda domain: domain.predicates), signatures(lambda domain: domain.functions)
    actions = signatures(lambda domain: domain.actions) | signatures(lambda domain: domain.durative)
    spelt = {action.name: named_alike(left, action.name) for action in right.schemas}
    actions |= {name: other for name, other in spelt.items() if other}
    words = {"type": types.types, "constant": names}
    words |= {"predicate": predicates, "function": functions, "action": actions}
    pairs = tuple((word, ours, theirs) for word, by in words.items() for theirs, ours in by.items() if ours != theirs)
    return _renamed(right, Renaming(names, predicates | functions, types.types), actions), pairs


def _paired(left: Mapping[str, Hashable], right: Mapping[str, Hashable]) -> dict[str, str]:
    """The left name for each right one that only the right side has, where only one of each side has its signature."""
    alone: dict[Hashable, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, (own, other) in enumerate(((left, right), (right, left))):
        for name, signature in own.items():
            if name not in (*other, TOTAL_COST.head):
                alone[signature][side].append(name)
    return {theirs[0]: ours[0] for ours, theirs in alone.values() if len(ours) == len(theirs) == 1}


def _renamed(domain: Domain, names: Renaming, actions: Mapping[str, str]) -> Domain:
    def action(one: _Schema) -> _Schema:
        condition, effect = names.formula(one.precondition), names.formula(one.effect)
        return replace(
            one,
            name=actions.get(one.name, one.name),
            parameters=names.typed(one.parameters),
            precondition=condition,
            effect=effect,
        )

    def rule(one: Rule) -> Rule:
        return replace(one, predicate=head(one.predicate), condition=names.formula(one.condition))

    def head(one: _Head) -> _Head:
        return replace(one, name=names.predicates.get(one.name, one.name), parameters=names.typed(one.parameters))

    kinds = Renaming(names=names.types, types=names.types)
    return replace(
        domain,
        supertypes=kinds.typed(domain.supertypes),
        constants=names.typed(domain.constants),
        predicates=tuple(map(head, domain.predicates)),
        functions=tuple(map(head, domain.functions)),
        actions=tuple(map(action, domain.actions)),
        derived=tuple(map(rule, domain.derived)),
        durative=tuple(replace(action(one), duration=names.formula(one.duration)) for one in domain.durative),
        constraints=names.formula(domain.constraints),
    )
