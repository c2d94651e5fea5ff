"""Conditions with several disjunctions, rewritten for mimir 0.13, which loses some of them.

A derived fact stands for each disjunction, so that no condition has more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pddlego.pddl import Domain
from pddlego.pddl.conditions import (
    And,
    Atom,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Scope,
    TypedName,
    When,
    arguments_in,
    parts_of,
    scope_of,
)
from pddlego.pddl.domain import Action, Predicate, Rule
from pddlego.planning.unconstrained import fresh_names


def with_single_disjunctions(domain: Domain) -> Domain:
    """The domain with derived facts in place of the disjunctions of conditions that have several.

    No `when` is inside another one, as `in_plain_pddl` writes them. Returns the same domain if nothing has to change.
    """
    rewriting = _Rewriting(fresh_names(domain.predicates_by_name))
    actions = tuple(map(rewriting.action, domain.actions))
    rules = [
        replace(rule, condition=rewriting.condition(rule.condition, scope_of(rule.predicate.parameters)))
        for rule in domain.derived
    ]
    added = rewriting.rules
    if not added:
        return domain
    predicates = (*domain.predicates, *(rule.predicate for rule in added))
    return replace(domain, predicates=predicates, actions=actions, derived=(*rules, *added))


class _Rewriting:
    """Collects the `rules` of the facts that stand for disjunctions."""

    def __init__(self, names: Iterator[str]) -> None:
        self._names = names
        self.rules: list[Rule] = []

    def action(self, action: Action) -> Action:
        scope = scope_of(action.parameters)
        condition, effect = self.condition(action.precondition, scope), self._effect(action.effect, scope)
        return replace(action, precondition=condition, effect=effect)

    def condition(self, formula: Formula, scope: Scope) -> Formula:
        """A condition with at most one disjunction."""
        return self._rewritten(formula, scope, False, ()) if disjunctions(formula) > 1 else formula

    def _effect(self, effect: Formula, scope: Scope) -> Formula:
        match effect:
            case When():
                return replace(effect, condition=self.condition(effect.condition, scope))
            case And():
                return replace(effect, parts=tuple(self._effect(part, scope) for part in effect.parts))
            case Forall():
                return replace(effect, part=self._effect(effect.part, {**scope, **scope_of(effect.variables)}))
        return effect

    def _rewritten(self, formula: Formula, scope: Scope, negated: bool, given: tuple[Atom, ...]) -> Formula:
        """A formula, or its negation, with facts in place of disjunctions and negations before atoms only.

        It is equal where the `given` atoms, which are required beside it, are true.
        """
        match formula:
            case Not():
                return self._rewritten(formula.part, scope, not negated, given)
            case Imply():
                return self._rewritten(Or((Not(formula.condition), formula.consequence)), scope, negated, given)
            case And() | Or():
                is_and = isinstance(formula, Or) == negated
                if is_and:
                    given += tuple(_literals(formula, negated))
                parts = tuple(self._rewritten(part, scope, negated, given) for part in formula.parts)
                if is_and:
                    return And(parts)
                return parts[0] if len(parts) == 1 else self._derived(Or(parts), scope, given)
            case Forall() | Exists():
                bound = scope_of(formula.variables)
                known = tuple(atom for atom in given if bound.keys().isdisjoint(atom.args))
                part = self._rewritten(formula.part, {**scope, **bound}, negated, known)
                quantifier = Forall if isinstance(formula, Exists) == negated else Exists
                return quantifier(formula.variables, part)
        return Not(formula) if negated else formula

    def _derived(self, formula: Formula, scope: Scope, given: Sequence[Atom]) -> Formula:
        """A fact that is true when the formula and the given atoms over its variables are.

        Without these atoms, mimir would derive it for all objects.
        """
        named = {*arguments_in(formula)}
        free = {name: kind for name, kind in scope.items() if name in named}
        needed = [atom for atom in given if all(arg in free or not arg.startswith("?") for arg in atom.args)]
        predicate = Predicate(next(self._names), tuple(TypedName(name, kind) for name, kind in free.items()))
        self.rules.append(Rule(predicate, And((*needed, formula)) if needed else formula))
        return Atom(predicate.name, tuple(free))


def _literals(formula: And | Or, negated: bool) -> Iterator[Atom]:
    """The atoms that a conjunction requires, or the negation of a disjunction of negated atoms."""
    for part in formula.parts:
        atom = part.part if negated and isinstance(part, Not) else None if negated else part
        if isinstance(atom, Atom):
            yield atom


def disjunctions(condition: Formula, negated: bool = False) -> int:
    """The number of disjunctions that a condition has if it is written with negations before atoms only."""
    match condition:
        case Not(part=part):
            return disjunctions(part, not negated)
        case Imply(condition=if_, consequence=then):
            return (not negated) + disjunctions(if_, not negated) + disjunctions(then, negated)
        case And() | Or():
            splits = isinstance(condition, Or) != negated and len(condition.parts) > 1
            return splits + sum(disjunctions(part, negated) for part in condition.parts)
    return sum(disjunctions(part, negated) for part in parts_of(condition))
