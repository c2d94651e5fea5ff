"""A domain as a labelled structure, in which neither names nor the order of parts matter."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from pddlego.errors import TooManyCasesError
from pddlego.pddl import Atom, Domain
from pddlego.pddl.conditions import (
    ANY_TYPE,
    ARITHMETIC,
    And,
    AtTime,
    Change,
    Compare,
    Equal,
    Exists,
    Forall,
    Formula,
    Imply,
    Term,
    TypedName,
    When,
    conjuncts,
    number,
    parts_of,
    word_of,
)
from pddlego.pddl.domain import DurativeAction, either
from pddlego.pddl.numbers import TOTAL_COST
from pddlego.planning.compare import Structure, are_isomorphic, ordered
from pddlego.util.limits import Work


def domain_structure(domain: Domain) -> Structure:
    """The structure of a domain: isomorphic structures are domains that are equal up to names and order."""
    return _Builder(domain).structure


def equal_up_to_names(left: Domain, right: Domain, seconds: float = 10.0) -> bool | None:
    """Whether two domains are equal up to names and order; None if this takes longer."""
    try:
        return left == right or are_isomorphic(domain_structure(left), domain_structure(right), Work(seconds=seconds))
    except TooManyCasesError:
        return None


class _Builder:
    """A domain as a labelled structure: a name for each declaration, variable and part of a condition."""

    def __init__(self, domain: Domain) -> None:
        self.structure = Structure({}, [])
        self._numbers = itertools.count()
        for kind in domain.types:
            self.structure.colours[f"type {kind}"] = "type" if kind != ANY_TYPE else ANY_TYPE
        for supertype in domain.supertypes:
            self._relate("is", f"type {supertype.name}", *self._types(supertype.type))
        for constant in domain.constants:
            self._named("constant", constant)
        for predicate in domain.predicates:
            self._head(f"predicate {predicate.name}", predicate.parameters)
        if TOTAL_COST.head in domain.functions_by_name:  # a name with a meaning
            self.structure.colours[f"function {TOTAL_COST.head}"] = TOTAL_COST.head
        for function in domain.functions:
            self._head(f"function {function.name}", function.parameters)
        for action in (*domain.actions, *domain.durative):
            scope = self._head(f"action {action.name}", action.parameters)
            self._relate("precondition", f"action {action.name}", self._formula(action.precondition, scope))
            self._relate("effect", f"action {action.name}", self._formula(action.effect, scope))
            if isinstance(action, DurativeAction):
                self._relate("duration", f"action {action.name}", self._formula(action.duration, scope))
        for rule in domain.derived:
            own = self._node("rule")
            scope = self._head(own, rule.predicate.parameters)
            self._relate("defines", own, f"predicate {rule.predicate.name}", self._formula(rule.condition, scope))

    def _relate(self, label: str, *names: str) -> None:
        self.structure.relations.append((label, names))

    def _node(self, colour: str) -> str:
        name = f"node {next(self._numbers)}"
        self.structure.colours[name] = colour
        return name

    def _types(self, kind: str) -> list[str]:
        return sorted(f"type {one}" for one in either(kind))

    def _named(self, colour: str, name: TypedName) -> str:
        """Add a node for a variable or a constant of a type, and return the node."""
        node = f"constant {name.name}" if colour == "constant" else self._node(colour)
        self.structure.colours[node] = colour
        for kind in self._types(name.type):
            self._relate("of type", node, kind)
        return node

    def _head(self, own: str, parameters: Iterable[TypedName]) -> dict[str, str]:
        """Add a node for a declaration, with its parameters; return the nodes of the parameters by their names."""
        self.structure.colours.setdefault(own, own.partition(" ")[0])
        scope = {}
        for place, parameter in enumerate(parameters):
            scope[parameter.name] = self._named("variable", parameter)
            self._relate(f"parameter {place}", own, scope[parameter.name])
        return scope

    def _formula(self, formula: Formula, scope: dict[str, str]) -> str:
        """Add a node for a condition, an effect or a part of one, and return the node."""
        match formula:
            case And(parts=(single,)):
                return self._formula(single, scope)
            case Atom():
                node = self._node("atom")
                names = (self._name(arg, scope) for arg in formula.args)
                self._relate("atom", node, f"predicate {formula.predicate}", *names)
            case Equal():
                node = self._node("=")
                for name in (formula.left, formula.right):
                    self._relate("equal", node, self._name(name, scope))
            case Compare(">" | ">="):
                return self._formula(ordered(formula), scope)
            case Change() | Compare():
                node = self._node(formula.operator)
                left = formula.fluent if isinstance(formula, Change) else formula.left
                right = formula.value if isinstance(formula, Change) else formula.right
                sides = self._term(left, scope), self._term(right, scope)
                self._relate("numbers", node, *sides)
                if formula.operator == "=":
                    self._relate("numbers", node, *reversed(sides))
            case Exists() | Forall():
                node = self._node(word_of(formula))
                inner = {variable.name: self._named("variable", variable) for variable in formula.variables}
                for variable in inner.values():
                    self._relate("binds", node, variable)
                self._relate("of", node, self._formula(formula.part, {**scope, **inner}))
            case AtTime():
                node = self._node(f"at {formula.time}")
                self._relate("of", node, self._formula(formula.part, scope))
            case _:
                node = self._node(word_of(formula))
                for place, part in enumerate(conjuncts(formula) if isinstance(formula, And) else parts_of(formula)):
                    is_ordered = isinstance(formula, Imply | When)
                    self._relate(f"part {place}" if is_ordered else "part", node, self._formula(part, scope))
        return node

    def _term(self, term: Term, scope: dict[str, str]) -> str:
        """Add a node for a numeric expression, and return the node. The operands of `+` and `*` are in any order."""
        if term.parts is None:
            return self._node(f"number {number(term.head)}")
        node = self._node(term.head if term.head in ARITHMETIC else "value")
        if term.head not in ARITHMETIC:
            self._relate("value", node, f"function {term.head}", *(self._name(str(part), scope) for part in term.parts))
            return node
        for place, part in enumerate(term.parts):
            self._relate("operand" if term.head in "+*" else f"operand {place}", node, self._term(part, scope))
        return node

    def _name(self, name: str, scope: dict[str, str]) -> str:
        return scope.get(name) or f"constant {name}"
