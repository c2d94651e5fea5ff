"""Rewrites a task without constructs that some planners refuse or misread, such as `(either …)` types.

`in_plain_pddl` is for all engines; `write_out` is for engines without derived predicates.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from pddlego.pddl.conditions import (
    ANY_TYPE,
    TRUE,
    And,
    Atom,
    Change,
    Equal,
    Exists,
    Forall,
    Formula,
    Imply,
    Or,
    Renaming,
    TypedName,
    When,
    parts_of,
    scope_of,
    walk,
    with_parts,
)
from pddlego.pddl.domain import Action, Domain, Function, Predicate, Rule, either, heads_of
from pddlego.pddl.problem import Problem

_T = TypeVar("_T")
_Head = TypeVar("_Head", Predicate, Function)


def in_plain_pddl(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """The task without `(either …)` types, nested effects, and repeated or missing declarations and bindings.

    It has no constant, such as `(or)`, below a quantifier over a type without objects either. Returns the same values
    if nothing has to change. Actions keep their names and parameters, so each plan of the result is a plan of the task.
    Neither domain nor problem may have blocking defects.
    """
    simpler = _simpler(domain)
    stated = problem if not _is_shadowed(problem.goal, ()) else problem.with_goal(_renamed(problem.goal, ()))
    if not domain.durative and _has_either(simpler, stated.goal):  # the planner for time knows `either`
        simpler, stated = _without_either(simpler, stated)
    if any(map(_has_quantified_constant, (*simpler.conditions(), stated.goal))):
        simpler, stated = _without_empty_types(simpler, stated)
    return (domain if simpler == domain else replace(simpler, text=str(simpler))), stated


@lru_cache(maxsize=8)
def _simpler(domain: Domain) -> Domain:
    """The domain without nested effects, and repeated or missing declarations and bindings."""
    declared = {supertype.name for supertype in domain.supertypes} | {ANY_TYPE}
    parents = dict.fromkeys(kind for supertype in domain.supertypes for kind in either(supertype.type))
    by_use = (TypedName(kind) for kind in parents if kind not in declared)  # planners know declared types only
    return replace(
        domain,
        supertypes=_once((*domain.supertypes, *by_use), str),
        constants=_once(domain.constants, str),
        predicates=tuple(map(_with_own_names, _once(domain.predicates, lambda predicate: predicate.name))),
        functions=tuple(map(_with_own_names, _once(domain.functions, lambda function: function.name))),
        actions=tuple(map(_plain_action, domain.actions)),
        derived=tuple(_plain_rule(domain, rule) for rule in domain.derived),
    )


def _once(items: tuple[_T, ...], key: Callable[[_T], str]) -> tuple[_T, ...]:
    """The last item with each key, which is also the declaration that checks use."""
    return tuple({key(item): item for item in items}.values())


def _with_own_names(head: _Head) -> _Head:
    """The declaration with different names for its parameters."""
    names = {parameter.name for parameter in head.parameters}
    if len(names) == len(head.parameters):
        return head
    parameters = (replace(parameter, name=f"?x{number}") for number, parameter in enumerate(head.parameters, start=1))
    return replace(head, parameters=tuple(parameters))


# (either …) types


def _has_either(domain: Domain, goal: Formula) -> bool:
    quantified = (
        node.variables
        for formula in (*domain.conditions(), goal)
        for node, _ in walk(formula)
        if isinstance(node, Exists | Forall)
    )
    heads = (parameters for _, parameters in heads_of(domain))
    return any(_is_either(name) for names in itertools.chain(heads, quantified) for name in names)


def _is_either(name: TypedName) -> bool:
    return name.type.startswith("(either ")


def _without_either(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """The task with a static predicate, true of the objects of the types, in place of each `(either …)` type."""
    rewriter = _EitherRewriter(domain)
    changed = replace(
        domain,
        predicates=tuple(replace(item, parameters=rewriter.typed(item.parameters)) for item in domain.predicates),
        functions=tuple(replace(item, parameters=rewriter.typed(item.parameters)) for item in domain.functions),
        actions=tuple(map(rewriter.action, domain.actions)),
        derived=tuple(map(rewriter.rule, domain.derived)),
    )
    goal = rewriter.condition(problem.goal)
    static = tuple(Predicate(name, (TypedName("?x"),)) for name in rewriter.names.values())
    facts = {
        Atom(name, (thing.name,))
        for kind, name in rewriter.names.items()
        for thing in (*domain.constants, *problem.objects)
        if domain.is_a(thing.type, kind)
    }
    changed = replace(changed, predicates=(*changed.predicates, *static))
    return changed, replace(problem, facts=problem.facts | facts, goal=goal)


class _EitherRewriter:
    """Replaces `(either …)` types by predicates. `names` maps each replaced type to its predicate."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.names: dict[str, str] = {}

    def action(self, action: Action) -> Action:
        return replace(
            action,
            parameters=self.typed(action.parameters),
            precondition=_guarded(self._guards(action.parameters), self.condition(action.precondition)),
            effect=self.effect(action.effect),
        )

    def rule(self, rule: Rule) -> Rule:
        parameters = rule.predicate.parameters
        head = replace(rule.predicate, parameters=self.typed(parameters))
        return Rule(head, _guarded(self._guards(parameters), self.condition(rule.condition)))

    def condition(self, condition: Formula) -> Formula:
        condition = with_parts(condition, self.condition)
        if not isinstance(condition, Exists | Forall):
            return condition
        guards, variables = self._guards(condition.variables), self.typed(condition.variables)
        part = condition.part
        if guards:
            part = And((*guards, part)) if isinstance(condition, Exists) else Imply(And(guards), part)
        return replace(condition, variables=variables, part=part)

    def effect(self, effect: Formula) -> Formula:
        if isinstance(effect, When):
            return replace(effect, condition=self.condition(effect.condition), effect=self.effect(effect.effect))
        effect = with_parts(effect, self.effect)
        if not isinstance(effect, Forall):
            return effect
        guards, variables = self._guards(effect.variables), self.typed(effect.variables)
        return replace(effect, variables=variables, part=When(And(guards), effect.part) if guards else effect.part)

    def typed(self, names: Iterable[TypedName]) -> tuple[TypedName, ...]:
        return tuple(replace(name, type=self._supertype(name.type)) if _is_either(name) else name for name in names)

    def _supertype(self, kind: str) -> str:
        """The narrowest common supertype of the types in `(either …)`."""
        types = self.domain.types
        common = frozenset.intersection(*(types.get(name, frozenset({ANY_TYPE})) for name in either(kind)))
        return max(common, key=lambda name: (len(types.get(name, ())), name))

    def _guards(self, variables: Iterable[TypedName]) -> tuple[Atom, ...]:
        """The atoms that restrict variables to their `(either …)` types."""
        return tuple(
            Atom(self._predicate(name.type), (name.name,))
            for name in variables
            if _is_either(name) and self._supertype(name.type) not in either(name.type)
        )

    def _predicate(self, kind: str) -> str:
        if kind not in self.names:
            name = f"is-{'-or-'.join(either(kind))}"
            domain = self.domain
            used = {*domain.predicates_by_name, *domain.functions_by_name, *domain.types, *self.names.values()}
            while name in used:
                name += "_"
            self.names[kind] = name
        return self.names[kind]


def _guarded(guards: tuple[Formula, ...], condition: Formula) -> Formula:
    return And((*guards, condition)) if guards else condition


# quantifiers over types without objects


def _has_quantified_constant(formula: Formula) -> bool:
    nodes = [node for node, _ in walk(formula)]
    is_constant = any(isinstance(node, And | Or) and not node.parts for node in nodes)
    return is_constant and any(isinstance(node, Exists | Forall) for node in nodes)


def _without_empty_types(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """The task without quantifiers over types that have no objects.

    Fast Downward's translator takes `(forall (?x - t) (or))` for `(or)`, and `(exists (?x - t) (and))` for `(and)`.
    """
    kinds = {thing.type for thing in (*domain.constants, *problem.objects)}

    def is_filled(variable: TypedName) -> bool:
        return any(domain.is_a(kind, variable.type) for kind in kinds)

    def decided(node: Formula) -> Formula:
        node = with_parts(node, decided)
        if not isinstance(node, Exists | Forall) or all(map(is_filled, node.variables)):
            return node
        return Or(()) if isinstance(node, Exists) else TRUE

    def decided_action(action: Action) -> Action:
        return replace(action, precondition=decided(action.precondition), effect=decided(action.effect))

    actions = tuple(map(decided_action, domain.actions))
    derived = tuple(replace(rule, condition=decided(rule.condition)) for rule in domain.derived)
    return replace(domain, actions=actions, derived=derived), problem.with_goal(decided(problem.goal))


# conditions and effects


def _plain_action(action: Action) -> Action:
    names = [parameter.name for parameter in action.parameters]
    nested = _is_nested(action.effect)
    if nested or _is_shadowed(action.precondition, names) or _is_shadowed(action.effect, names):
        precondition, effect = _renamed(action.precondition, names), _renamed(action.effect, names)
        effect = And(tuple(_simple(effect, (), TRUE))) if nested else effect
        return replace(action, precondition=precondition, effect=effect)
    return action


def _plain_rule(domain: Domain, rule: Rule) -> Rule:
    """The rule without variables that are bound twice, and without parameters of wider types than declared."""
    head = rule.predicate
    declared = domain.predicates_by_name[head.name].parameters
    kinds = [
        wanted.type if domain.is_a(wanted.type, own.type) else own.type
        for own, wanted in zip(head.parameters, declared, strict=True)
    ]
    parameters = tuple(replace(own, type=kind) for own, kind in zip(head.parameters, kinds, strict=True))
    names = [parameter.name for parameter in parameters]
    condition = _renamed(rule.condition, names) if _is_shadowed(rule.condition, names) else rule.condition
    return Rule(replace(head, parameters=parameters), condition)


def _is_shadowed(formula: Formula, names: Iterable[str]) -> bool:
    """Whether a variable is bound again where it is already bound."""
    return any(
        isinstance(node, Exists | Forall) and not scope.keys().isdisjoint(scope_of(node.variables))
        for node, scope in walk(formula, dict.fromkeys(names, ANY_TYPE))
    )


def _renamed(formula: Formula, names: Iterable[str]) -> Formula:
    """The formula with a unique name for each quantified variable."""
    fresh = _fresh_variables(f"{formula} {' '.join(names)}")

    def renamed(node: Formula) -> Formula:
        node = with_parts(node, renamed)
        if not isinstance(node, Exists | Forall):
            return node
        own = Renaming({variable.name: next(fresh) for variable in node.variables})
        return replace(node, variables=own.typed(node.variables), part=own.formula(node.part))

    return renamed(formula)


def _fresh_variables(text: str) -> Iterator[str]:
    """Names of variables that do not occur in a text."""
    used = {*re.findall(r"\?[^\s()]+", text)}
    return (name for number in itertools.count(1) if (name := f"?v{number}") not in used)


def _is_nested(effect: Formula) -> bool:
    """Whether planners misread an effect: a cost alone, `forall` below `when` or `forall`, or `when` below `when`."""
    misread: dict[type, tuple[type, ...]] = {When: (Forall, When), Forall: (Forall,)}
    return isinstance(effect, Change) or any(
        isinstance(inner, misread.get(type(node), ()))
        for node in _effects(effect)
        for part in _effects_in(node)
        for inner in _effects(part)
    )


def _effects(effect: Formula) -> Iterator[Formula]:
    """An effect and all effects inside it, without conditions."""
    yield effect
    for part in _effects_in(effect):
        yield from _effects(part)


def _effects_in(effect: Formula) -> tuple[Formula, ...]:
    return (effect.effect,) if isinstance(effect, When) else parts_of(effect)


def _simple(effect: Formula, variables: tuple[TypedName, ...], condition: And) -> Iterator[Formula]:
    """The literals of an effect, each as `(forall (variables) (when condition LITERAL))`."""
    match effect:
        case And():
            for part in effect.parts:
                yield from _simple(part, variables, condition)
        case Forall():
            yield from _simple(effect.part, (*variables, *effect.variables), condition)
        case When():
            yield from _simple(effect.effect, variables, And((*condition.parts, effect.condition)))
        case _:
            inner = When(condition, effect) if condition.parts else effect
            yield Forall(variables, inner) if variables else inner


# derived predicates


def write_out(domain: Domain, goal: Formula) -> tuple[Domain, Formula]:
    """The domain and the goal with every derived atom replaced by its definition.

    Raises `ValueError` for a recursive definition, which cannot be written out.
    """
    if domain.circles:
        raise ValueError(f"the derived predicate {next(iter(domain.circles))} is recursive")
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
    """Replaces derived atoms by their definitions, in which quantified variables get fresh names."""

    def __init__(self, domain: Domain, goal: Formula) -> None:
        self.domain = domain
        self.fresh = _fresh_variables(f"{domain} {goal}")

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
            definitions = tuple(
                self._definition(rule, Renaming(names).atom(condition))
                for rule in self.domain.rules[condition.predicate]
            )
            return definitions[0] if len(definitions) == 1 else Or(definitions)
        if isinstance(condition, Atom | Equal):
            return Renaming(names).formula(condition)
        return with_parts(condition, lambda part: self.condition(part, names))

    def _definition(self, rule: Rule, atom: Atom) -> Formula:
        """The condition of a rule for the arguments of an atom, with guards for the types of its parameters."""
        parameters = rule.predicate.parameters
        names = {parameter.name: arg for parameter, arg in zip(parameters, atom.args, strict=True)}
        declared = self.domain.predicates_by_name[atom.predicate].parameters
        guards: list[Formula] = []
        for parameter, general, arg in zip(parameters, declared, atom.args, strict=True):
            if not self.domain.is_a(general.type, parameter.type):
                variable = next(self.fresh)
                guards.append(Exists((TypedName(variable, parameter.type),), Equal(variable, arg)))
        return _guarded(tuple(guards), self.condition(rule.condition, names))
