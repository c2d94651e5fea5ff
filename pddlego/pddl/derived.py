"""Derived predicates written out: a domain and a goal of the same meaning without them, for engines that lack them."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pddlego.pddl.conditions import (
    And,
    Atom,
    Equal,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Renaming,
    TypedName,
    When,
    atoms_of,
    parts_of,
    with_parts,
)
from pddlego.pddl.domain import Domain, Rule, circles_of


def recursive_predicate(domain: Domain) -> str | None:
    """A derived predicate that is defined by itself, directly or through others; None without one."""
    return next(iter(circles(domain)), None)


def unstratified_predicate(domain: Domain) -> str | None:
    """A derived predicate that is defined by its own negation, directly or through others; None without one.

    Without one every derived fact is either true or false in each state.
    """
    circle = circles(domain)
    for rule in domain.derived:
        own = circle.get(rule.predicate.name, frozenset())
        if any(atom.predicate in own for atom, positive in _signed_atoms(rule.condition, True) if not positive):
            return rule.predicate.name
    return None


def _signed_atoms(condition: Formula, positive: bool) -> Iterator[tuple[Atom, bool]]:
    """The atoms of a condition, each with whether it helps to make the condition true."""
    match condition:
        case Atom():
            yield condition, positive
        case Not():
            yield from _signed_atoms(condition.part, not positive)
        case Imply():
            yield from _signed_atoms(condition.condition, not positive)
            yield from _signed_atoms(condition.consequence, positive)
        case _:
            for part in parts_of(condition):
                yield from _signed_atoms(part, positive)


def circles(domain: Domain) -> dict[str, frozenset[str]]:
    """Every derived predicate that is defined by itself, with all predicates of its circle."""
    uses: dict[str, set[str]] = defaultdict(set)
    for rule in domain.derived:
        uses[rule.predicate.name].update(atom.predicate for atom in atoms_of(rule.condition))
    return circles_of(uses)


def write_out(domain: Domain, goal: Formula) -> tuple[Domain, Formula]:
    """The domain and the goal with every derived atom replaced by its definition.

    Raises `ValueError` for a recursive definition, which cannot be written out.
    """
    circle = recursive_predicate(domain)
    if circle is not None:
        raise ValueError(f"the derived predicate {circle} is recursive")
    if not domain.derived:
        return domain, goal
    writer = _Writer(domain, goal)
    actions = tuple(
        replace(action, precondition=writer.condition(action.precondition, {}), effect=writer.effect(action.effect))
        for action in domain.actions
    )
    without = replace(
        domain,
        requirements=tuple(
            requirement
            for requirement in domain.requirements
            if requirement not in (":derived-predicates", ":domain-axioms")
        ),
        predicates=tuple(predicate for predicate in domain.predicates if predicate.name not in domain.rules),
        actions=actions,
        derived=(),
    )
    return replace(without, text=str(without)), writer.condition(goal, {})


class _Writer:
    """Replaces derived atoms. Bound variables of a definition get fresh names, so that none is captured."""

    def __init__(self, domain: Domain, goal: Formula) -> None:
        self.domain = domain
        used = set(re.findall(r"\?[^\s()]+", f"{domain} {goal}"))
        self.fresh = (name for number in itertools.count(1) if (name := f"?v{number}") not in used)

    def effect(self, effect: Formula) -> Formula:
        if isinstance(effect, When):
            return replace(effect, condition=self.condition(effect.condition, {}), effect=self.effect(effect.effect))
        return with_parts(effect, self.effect)

    def condition(self, condition: Formula, names: Mapping[str, str]) -> Formula:
        """The condition with `names` in place of its variables and definitions in place of derived atoms."""
        if isinstance(condition, Exists | Forall) and names:
            fresh = {variable.name: next(self.fresh) for variable in condition.variables}
            names = {**names, **fresh}
            variables = Renaming(fresh).typed(condition.variables)
            return replace(condition, variables=variables, part=self.condition(condition.part, names))
        if isinstance(condition, Atom) and condition.predicate in self.domain.rules:
            ways = tuple(
                self._way(rule, Renaming(names).atom(condition)) for rule in self.domain.rules[condition.predicate]
            )
            return ways[0] if len(ways) == 1 else Or(ways)
        if isinstance(condition, Atom | Equal):
            return Renaming(names).formula(condition)
        return with_parts(condition, lambda part: self.condition(part, names))

    def _way(self, rule: Rule, atom: Atom) -> Formula:
        """One rule for the arguments of an atom; it applies only to arguments of the types that it names."""
        parameters = rule.predicate.parameters
        names = {parameter.name: arg for parameter, arg in zip(parameters, atom.args, strict=True)}
        declared = self.domain.predicates_by_name[atom.predicate].parameters
        guards: list[Formula] = []
        for parameter, general, arg in zip(parameters, declared, atom.args, strict=True):
            if not self.domain.is_a(general.type, parameter.type):
                variable = next(self.fresh)
                guards.append(Exists((TypedName(variable, parameter.type),), Equal(variable, arg)))
        written = self.condition(rule.condition, names)
        return And((*guards, written)) if guards else written
