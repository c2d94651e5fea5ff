"""The same task in fewer words: for planners that know no `(either …)` types and misread some effects."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from pddlego.pddl.conditions import (
    TRUE,
    And,
    Atom,
    Change,
    Exists,
    Forall,
    Formula,
    Imply,
    Renaming,
    Scope,
    TypedName,
    When,
    parts_of,
    scope_of,
    walk,
    with_parts,
)
from pddlego.pddl.domain import Action, Domain, Predicate, Rule, either, heads_of
from pddlego.pddl.problem import Problem


def plain(domain: Domain, problem: Problem) -> tuple[Domain, Problem]:
    """The task without `(either …)` types and with simple effects. Returns the same values if nothing has to change.

    Actions keep their names and parameters, so each plan of the result is a plan of the task. Neither domain nor
    problem may have blocking defects.
    """
    if any(_is_nested(action) for action in domain.actions):
        domain = replace(domain, actions=tuple(map(_with_simple_effect, domain.actions)))
        domain = replace(domain, text=str(domain))
    if not _has_either(domain, problem.goal):
        return domain, problem
    return _without_either(domain, problem)


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
    """The task with a static predicate for each `(either …)` type, which is true of the objects of its types."""
    used = {*domain.predicates_by_name, *domain.functions_by_name, *domain.types, *domain.rules}
    rewriter = _EitherRewriter(used)
    changed = replace(
        domain,
        predicates=tuple(replace(item, parameters=_untyped(item.parameters)) for item in domain.predicates),
        functions=tuple(replace(item, parameters=_untyped(item.parameters)) for item in domain.functions),
        actions=tuple(map(rewriter.action, domain.actions)),
        derived=tuple(map(rewriter.rule, domain.derived)),
    )
    goal = rewriter.condition(problem.goal)
    static = tuple(Predicate(name, (TypedName("?x"),)) for name in rewriter.names.values())
    changed = replace(changed, predicates=(*changed.predicates, *static))
    facts = {
        Atom(name, (thing.name,))
        for kind, name in rewriter.names.items()
        for thing in (*domain.constants, *problem.objects)
        if domain.is_a(thing.type, kind)
    }
    return replace(changed, text=str(changed)), replace(problem, facts=problem.facts | facts, goal=goal)


def _untyped(names: Iterable[TypedName]) -> tuple[TypedName, ...]:
    return tuple(TypedName(name.name) if _is_either(name) else name for name in names)


class _EitherRewriter:
    """Replaces `(either …)` types. `names` are the predicates in place of the types that were met."""

    def __init__(self, used: Collection[str]) -> None:
        self.used = used
        self.names: dict[str, str] = {}

    def action(self, action: Action) -> Action:
        return replace(
            action,
            parameters=_untyped(action.parameters),
            precondition=_guarded(self._guards(action.parameters), self.condition(action.precondition)),
            effect=self.effect(action.effect),
        )

    def rule(self, rule: Rule) -> Rule:
        parameters = rule.predicate.parameters
        head = replace(rule.predicate, parameters=_untyped(parameters))
        return Rule(head, _guarded(self._guards(parameters), self.condition(rule.condition)))

    def condition(self, condition: Formula) -> Formula:
        condition = with_parts(condition, self.condition)
        if not isinstance(condition, Exists | Forall) or not (guards := self._guards(condition.variables)):
            return condition
        variables = _untyped(condition.variables)
        if isinstance(condition, Exists):
            return replace(condition, variables=variables, part=And((*guards, condition.part)))
        return replace(condition, variables=variables, part=Imply(And(guards), condition.part))

    def effect(self, effect: Formula) -> Formula:
        if isinstance(effect, When):
            return replace(effect, condition=self.condition(effect.condition), effect=self.effect(effect.effect))
        effect = with_parts(effect, self.effect)
        if not isinstance(effect, Forall) or not (guards := self._guards(effect.variables)):
            return effect
        return replace(effect, variables=_untyped(effect.variables), part=When(And(guards), effect.part))

    def _guards(self, variables: Iterable[TypedName]) -> tuple[Atom, ...]:
        """What is true of the variables instead of their types."""
        return tuple(Atom(self._predicate(name.type), (name.name,)) for name in variables if _is_either(name))

    def _predicate(self, kind: str) -> str:
        if kind not in self.names:
            name = f"is-{'-or-'.join(either(kind))}"
            while name in self.used or name in self.names.values():
                name += "_"
            self.names[kind] = name
        return self.names[kind]


def _guarded(guards: tuple[Formula, ...], condition: Formula) -> Formula:
    return And((*guards, condition)) if guards else condition


# effects


def _is_nested(action: Action) -> bool:
    """Whether planners misread the effect: a cost alone, `forall` below `when`, or a variable that is bound twice."""
    if isinstance(action.effect, Change):
        return True
    return any(
        (isinstance(node, When) and any(isinstance(inner, Forall) for inner, _ in _effects(node.effect, {})))
        or (isinstance(node, Forall) and any(name.name in scope for name in node.variables))
        for node, scope in _effects(action.effect, scope_of(action.parameters))
    )


def _effects(effect: Formula, scope: Scope) -> Iterator[tuple[Formula, Scope]]:
    """An effect and those inside of it, without conditions, each with the variables that are bound there."""
    yield effect, scope
    if isinstance(effect, Forall):
        scope = {**scope, **scope_of(effect.variables)}
    for part in (effect.effect,) if isinstance(effect, When) else () if isinstance(effect, Atom) else parts_of(effect):
        yield from _effects(part, scope)


def _with_simple_effect(action: Action) -> Action:
    """The action with a conjunction of simple effects: `(forall (?x) (when CONDITION LITERAL))`."""
    used = set(re.findall(r"\?[^\s()]+", str(action)))
    fresh = (name for number in itertools.count(1) if (name := f"?e{number}") not in used)
    return replace(action, effect=And(tuple(_simple(action.effect, (), TRUE, {}, fresh))))


def _simple(
    effect: Formula,
    variables: tuple[TypedName, ...],
    condition: And,
    names: Mapping[str, str],
    fresh: Iterator[str],
) -> Iterator[Formula]:
    """The simple effects of an effect for all `variables` under a condition; `names` are the new names of variables."""
    match effect:
        case And():
            for part in effect.parts:
                yield from _simple(part, variables, condition, names, fresh)
        case Forall():
            own = {variable.name: next(fresh) for variable in effect.variables}
            bound = (*variables, *Renaming(own).typed(effect.variables))
            yield from _simple(effect.part, bound, condition, {**names, **own}, fresh)
        case When():
            both = And((*condition.parts, Renaming(names).formula(effect.condition)))
            yield from _simple(effect.effect, variables, both, names, fresh)
        case _:
            literal = Renaming(names).formula(effect)
            inner = When(condition, literal) if condition.parts else literal
            yield Forall(variables, inner) if variables else inner
