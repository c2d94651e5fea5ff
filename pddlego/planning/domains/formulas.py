"""Conditions and effects of two domains as formulas of the solver Z3, over states of any objects.

A state is a structure of first-order logic: a sort of objects, each of one declared type, a relation for each predicate
and a partial function for each number. What no structure satisfies is true of no state, however many objects there are.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import z3

from pddlego.pddl.conditions import (
    ARITHMETIC,
    And,
    Atom,
    Change,
    Compare,
    Equal,
    Exists,
    Forall,
    Formula,
    Imply,
    Not,
    Or,
    Term,
    TypedName,
    When,
    arguments_in,
    atoms_of,
    number,
    walk,
)
from pddlego.pddl.domain import Action, Domain
from pddlego.pddl.numbers import ADDITIVE, TOTAL_COST

Expression: TypeAlias = Any
"""A formula or a term of Z3, which has no types for mypy."""

Names = Mapping[str, Expression]
"""The variables and other names at a point of a formula, with their objects or numbers."""


_MEMORY = 2048
"""The memory of a solver, in MB."""


def solver(seconds: float) -> z3.Solver:
    """A solver that answers `unknown` after some seconds, or where it needs too much memory."""
    made = z3.Solver()
    made.set("timeout", max(1, int(1000 * seconds)))
    made.set("max_memory", _MEMORY)
    return made


class NotExpressibleError(Exception):
    """A part of a domain has no formula here. The argument says what."""


@dataclass(frozen=True)
class NumberChange:
    """A change of a number, with the condition under which it happens, its arguments and its value."""

    operator: str
    function: str
    condition: Expression
    arguments: tuple[Expression, ...]
    value: Expression
    is_defined: Expression


class Formulas:
    """The formulas of two domains, over one state.

    Predicates, functions and constants with the same name are the same; objects have types that both domains declare.
    With `whole_numbers` all numbers of a state are integers, which makes states that are easy to read.
    """

    def __init__(self, left: Domain, right: Domain, whole_numbers: bool = False) -> None:
        self.domains = (left, right)
        self.objects = z3.DeclareSort("Object")
        self._numbers = z3.IntSort() if whole_numbers else z3.RealSort()
        self.types = [kind for kind in left.types if kind in right.types]
        self.constants = {one.name: z3.Const(one.name, self.objects) for d in self.domains for one in d.constants}
        self.shared = _derived_alike(left, right)
        self._fresh = itertools.count()

    # what is true of every state

    def axioms(self, formulas: Sequence[Formula]) -> Iterator[Expression]:
        """What is true in every state, as far as some conditions and effects depend on it: types, and definitions."""
        thing = z3.Const("thing", self.objects)
        kinds = [self.is_declared(thing, kind) for kind in self.types]
        if len(kinds) > 1:
            pairs = itertools.combinations(kinds, 2)
            exclusive = [z3.Not(z3.And(*pair)) for pair in pairs]
            yield z3.ForAll([thing], z3.And(z3.Or(*kinds), *exclusive))
        derived, predicates = self.used(formulas)
        constants = self.relevant(formulas)
        yield from (
            self.is_a(constants[constant.name], constant.type, side)
            for side, domain in enumerate(self.domains)
            for constant in domain.constants
            if constant.name in constants
        )
        if len(constants) > 1:
            yield z3.Distinct(*constants.values())
        yield from self._typed_facts(predicates)
        for side, domain in enumerate(self.domains):
            own = (name for name in domain.rules if name in derived and not (side and name in self.shared))
            yield from (self._definition(name, side) for name in own)

    def used(self, formulas: Sequence[Formula]) -> tuple[set[str], set[str]]:
        """The derived and the other predicates on which conditions and effects depend."""
        rules = [rule for domain in self.domains for rule in domain.derived]
        found: set[str] = set()
        waiting = list(formulas)
        while waiting:
            new = {atom.predicate for formula in waiting for atom in atoms_of(formula)} - found
            found |= new
            waiting = [rule.condition for rule in rules if rule.predicate.name in new]
        basic = {one.name for domain in self.domains for one in domain.predicates if one.name not in domain.rules}
        return found & {rule.predicate.name for rule in rules}, found & basic

    def relevant(self, formulas: Sequence[Formula]) -> dict[str, Expression]:
        """The constants on which conditions and effects depend: all, where something is said of all objects."""
        derived, _ = self.used(formulas)
        rules = [rule for domain in self.domains for rule in domain.derived if rule.predicate.name in derived]
        every = [*formulas, *(rule.condition for rule in rules)]
        if any(isinstance(node, Exists | Forall) for formula in every for node, _ in walk(formula)):
            return self.constants
        named = {name for formula in every for name in arguments_in(formula)}
        return {name: constant for name, constant in self.constants.items() if name in named}

    def _typed_facts(self, predicates: Collection[str]) -> Iterator[Expression]:
        """That the arguments of facts have the declared types."""
        for side, domain in enumerate(self.domains):
            for predicate in domain.predicates:
                if predicate.name not in predicates or predicate.name in domain.rules:
                    continue
                places = self.variables(len(predicate.parameters))
                pairs = zip(places, predicate.parameters, strict=True)
                types = z3.simplify(z3.And(*(self.is_a(place, one.type, side) for place, one in pairs)))
                if not z3.is_true(types):
                    yield z3.ForAll(places, z3.Implies(self.relation(predicate.name, places, side), types))

    def _definition(self, name: str, side: int) -> Expression:
        """A derived predicate and its rules: equal, or, for a recursive one, at least what one application gives."""
        domain = self.domains[side]
        rules = domain.rules[name]
        places = self.variables(len(rules[0].predicate.parameters))
        bodies = []
        for rule in rules:
            parameters = rule.predicate.parameters
            names = {parameter.name: place for parameter, place in zip(parameters, places, strict=True)}
            types = [self.is_a(names[parameter.name], parameter.type, side) for parameter in parameters]
            bodies.append(z3.And(*types, self.holds(rule.condition, names, side)))
        head, body = self.relation(name, places, side), z3.Or(*bodies)
        formula = z3.Implies(body, head) if name in domain.circles else head == body
        return z3.ForAll(places, formula) if places else formula

    # objects, facts and numbers

    def variables(self, count: int) -> list[Expression]:
        """New names for objects."""
        return [z3.Const(f"x{next(self._fresh)}", self.objects) for _ in range(count)]

    def is_declared(self, thing: Expression, kind: str) -> Expression:
        """That an object is declared with exactly this type."""
        return z3.Function(f"type {kind}", self.objects, z3.BoolSort())(thing)

    def is_a(self, thing: Expression, kind: str, side: int) -> Expression:
        """That an object is of a type, or of one below it."""
        kinds = [one for one in self.types if self.domains[side].is_a(one, kind)]
        return (
            z3.BoolVal(True) if len(kinds) == len(self.types) else z3.Or(*(self.is_declared(thing, k) for k in kinds))
        )

    def relation(self, name: str, arguments: Sequence[Expression], side: int) -> Expression:
        """That a fact is true. A predicate that only one of the domains derives is another one in each of them."""
        if name in self.domains[side].rules and name not in self.shared:
            name = f"{name} of {side}"
        return z3.Function(name, *([self.objects] * len(arguments)), z3.BoolSort())(*arguments)

    def amount(self, name: str, arguments: Sequence[Expression]) -> Expression:
        """The value of a number, if it has one."""
        value = z3.Function(f"number {name}", *([self.objects] * len(arguments)), self._numbers)(*arguments)
        return z3.ToReal(value) if self._numbers == z3.IntSort() else value

    def has_amount(self, name: str, arguments: Sequence[Expression]) -> Expression:
        """That a number has a value."""
        if name == TOTAL_COST.head:
            return z3.BoolVal(True)
        return z3.Function(f"defined {name}", *([self.objects] * len(arguments)), z3.BoolSort())(*arguments)

    def _thing(self, name: str, names: Names) -> Expression:
        return names[name] if name in names else self.constants.setdefault(name, z3.Const(name, self.objects))

    # conditions

    def holds(self, condition: Formula, names: Names, side: int, wanted: bool = True) -> Expression:
        """That a condition is true in the state, or false if that is `wanted`: `World.holds` as a formula."""
        match condition:
            case Atom():
                fact = self.relation(condition.predicate, [self._thing(arg, names) for arg in condition.args], side)
                return fact if wanted else z3.Not(fact)
            case And() | Or():
                parts = [self.holds(part, names, side, wanted) for part in condition.parts]
                return z3.Or(*parts) if isinstance(condition, Or) is wanted else z3.And(*parts)
            case Not():
                return self.holds(condition.part, names, side, not wanted)
            case Imply(premise, consequence):
                parts = [self.holds(premise, names, side, not wanted), self.holds(consequence, names, side, wanted)]
                return z3.Or(*parts) if wanted else z3.And(*parts)
            case Exists() | Forall():
                return self._quantified(condition, names, side, wanted)
            case Equal():
                same = self._thing(condition.left, names) == self._thing(condition.right, names)
                return same if wanted else z3.Not(same)
            case Compare():
                (left, has_left), (right, has_right) = (
                    self._value(t, names) for t in (condition.left, condition.right)
                )
                true = _COMPARED[condition.operator](left, right)
                return z3.And(has_left, has_right, true if wanted else z3.Not(true))
        raise NotExpressibleError(str(condition))

    def _quantified(self, condition: Exists | Forall, names: Names, side: int, wanted: bool) -> Expression:
        things = self.variables(len(condition.variables))
        inner = {**names, **{one.name: thing for one, thing in zip(condition.variables, things, strict=True)}}
        types = z3.And(*(self.is_a(inner[one.name], one.type, side) for one in condition.variables))
        part = self.holds(condition.part, inner, side, wanted)
        if not things:
            return part
        if isinstance(condition, Exists) is wanted:
            return z3.Exists(things, z3.And(types, part))
        return z3.ForAll(things, z3.Implies(types, part))

    def _value(self, term: Term, names: Names) -> tuple[Expression, Expression]:
        """A numeric expression, and that it has a value."""
        if term.parts is None:
            value = number(term.head)
            if value is None and term.head not in names:
                raise NotExpressibleError(str(term))
            return (names[term.head] if value is None else z3.RealVal(value)), z3.BoolVal(True)
        if term.head not in ARITHMETIC:
            arguments = [self._thing(part.head, names) for part in term.parts]
            return self.amount(term.head, arguments), self.has_amount(term.head, arguments)
        parts = [self._value(part, names) for part in term.parts]
        values, defined = [value for value, _ in parts], [is_defined for _, is_defined in parts]
        if len(values) == 1:
            return -values[0], defined[0]
        if term.head == "/":
            defined.append(values[1] != 0)
        return reduce(_CALCULATED[term.head], values), z3.And(*defined)

    # actions

    def is_possible(self, action: Action, names: Names, side: int) -> Expression:
        """That an action is applicable: its types, its condition, and what its changes of numbers need."""
        types = [self.is_a(names[one.name], one.type, side) for one in action.parameters]
        changes = list(self.changes(action.effect, names, side))
        needed = []
        for change in changes:
            needs = [change.is_defined]
            if change.operator != "assign":
                needs.append(self.has_amount(change.function, change.arguments))
            if change.operator == "scale-down":
                needs.append(change.value != 0)
            needed.append(z3.Implies(change.condition, z3.And(*needs)))
        for one, other in itertools.combinations(changes, 2):
            if one.function == other.function and not {one.operator, other.operator} <= ADDITIVE:
                both = (one.condition, other.condition, _equal(one.arguments, other.arguments))
                needed.append(z3.Not(z3.And(*both)))
        return z3.And(*types, self.holds(action.precondition, names, side), *needed)

    def becomes(self, action: Action, names: Names, side: int, fact: tuple[str, Sequence[Expression]]) -> Expression:
        """That a fact is true after an action."""
        predicate, arguments = fact
        conditions: dict[bool, list[Expression]] = {True: [], False: []}
        for atom, value, condition, things, inner in self._assignments(
            action.effect, names, side, z3.BoolVal(True), ()
        ):
            if atom.predicate == predicate:
                own = _equal([self._thing(arg, inner) for arg in atom.args], arguments)
                case = z3.And(condition, own)
                conditions[value].append(z3.Exists(list(things), case) if things else case)
        before = self.relation(predicate, arguments, side)
        return z3.Or(*conditions[True], z3.And(before, *map(z3.Not, conditions[False])))

    def _assignments(
        self, effect: Formula, names: Names, side: int, condition: Expression, things: tuple[Expression, ...]
    ) -> Iterator[tuple[Atom, bool, Expression, tuple[Expression, ...], Names]]:
        """The atoms that an effect changes: each with its value, when it does, for which objects, and its names."""
        match effect:
            case Atom():
                yield effect, True, condition, things, names
            case Not(part=Atom() as atom):
                yield atom, False, condition, things, names
            case And():
                for part in effect.parts:
                    yield from self._assignments(part, names, side, condition, things)
            case When():
                own = z3.And(condition, self.holds(effect.condition, names, side))
                yield from self._assignments(effect.effect, names, side, own, things)
            case Forall():
                inner, types, more = self._for_all(effect.variables, names, side)
                yield from self._assignments(effect.part, inner, side, z3.And(condition, types), (*things, *more))

    def _for_all(
        self, variables: Sequence[TypedName], names: Names, side: int
    ) -> tuple[Names, Expression, list[Expression]]:
        things = self.variables(len(variables))
        inner = {**names, **{one.name: thing for one, thing in zip(variables, things, strict=True)}}
        return inner, z3.And(*(self.is_a(inner[one.name], one.type, side) for one in variables)), things

    def changes(
        self, effect: Formula, names: Names, side: int, condition: Expression | None = None
    ) -> Iterator[NumberChange]:
        """The changes of numbers in an effect. Raises `NotExpressibleError` for those that happen for all objects."""
        condition = z3.BoolVal(True) if condition is None else condition
        match effect:
            case Change():
                arguments = tuple(self._thing(part.head, names) for part in effect.fluent.parts or ())
                value, is_defined = self._value(effect.value, names)
                yield NumberChange(effect.operator, effect.fluent.head, condition, arguments, value, is_defined)
            case And():
                for part in effect.parts:
                    yield from self.changes(part, names, side, condition)
            case When():
                own = z3.And(condition, self.holds(effect.condition, names, side))
                yield from self.changes(effect.effect, names, side, own)
            case Forall() if any(isinstance(part, Change) for part, _ in walk(effect)):
                raise NotExpressibleError(str(effect))

    def counts(self, action: Action, names: Names, side: int, function: str, arguments: Sequence[Expression]) -> Any:
        """The value of a number after an action, and that it has one."""
        value, is_defined = self.amount(function, arguments), self.has_amount(function, arguments)
        for change in self.changes(action.effect, names, side):
            if change.function == function:
                hit = z3.And(change.condition, _equal(change.arguments, arguments))
                value = z3.If(hit, _CHANGED[change.operator](value, change.value), value)
                is_defined = z3.Or(is_defined, hit)
        return value, is_defined


_COMPARED: Mapping[str, Any] = {
    "=": lambda left, right: left == right,
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
}

_CALCULATED: Mapping[str, Any] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
}

_CHANGED: Mapping[str, Any] = {
    "assign": lambda old, value: value,
    "increase": _CALCULATED["+"],
    "decrease": _CALCULATED["-"],
    "scale-up": _CALCULATED["*"],
    "scale-down": _CALCULATED["/"],
}


def _equal(left: Sequence[Expression], right: Sequence[Expression]) -> Expression:
    return z3.And(*(one == other for one, other in zip(left, right, strict=True)))


def _derived_alike(left: Domain, right: Domain) -> set[str]:
    """The derived predicates that both domains define by the same rules, over the same types and predicates."""
    if left.types != right.types:
        return set()
    alike = {name for name, rules in left.rules.items() if {*map(str, rules)} == {*map(str, right.rules.get(name, ()))}}
    uses = {name: {atom.predicate for rule in left.rules[name] for atom in atoms_of(rule.condition)} for name in alike}
    derived = {*left.rules, *right.rules}
    while unlike := {name for name in alike if not uses[name] & derived <= alike}:
        alike -= unlike
    return alike
