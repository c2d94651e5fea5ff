"""What is wrong with a domain: its declarations, and the conditions and effects of its actions, each with its place
and what to do about it. What is wrong with its text is `read_domain`'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pddlego.pddl.check import some_defects
from pddlego.pddl.check_declarations import declaration_defects
from pddlego.pddl.derived import recursive_predicate
from pddlego.pddl.domain import MAX_TYPES, Domain, Predicate, either, too_many_types
from pddlego.pddl.names import nearest
from pddlego.pddl.problem import ANY_TYPE, TypedName, is_numeric, read_typed_list
from pddlego.pddl.rules import NUMBERS, Defect, DefectKind
from pddlego.pddl.sexpr import Sexpr, show

ARGUMENTS = {"not": 1, "imply": 2, "when": 2, "exists": 2, "forall": 2}
"""How many parts stand behind a word."""

IN_CONDITIONS = frozenset({"and", "or", "not", "imply", "exists", "forall", "="})

NUMERIC_EFFECTS = frozenset(("increase", "decrease", "assign", "scale-up", "scale-down"))
"""Effects that change numbers, where no predicate has the name."""

Scope = Mapping[str, str]
"""The variables that are bound somewhere, with their types."""

Inner = Callable[[Sexpr, str, Scope], Iterator[Defect]]
"""The check of what stands inside of a quantifier."""


def check_domain(domain: Domain) -> tuple[Defect, ...]:
    """What makes planning impossible, or means another thing than it says, at most `MAX_DEFECTS`. Total."""
    return some_defects(_domain_defects(domain))


def _domain_defects(domain: Domain) -> Iterator[Defect]:
    if len(domain.supertypes) > MAX_TYPES:
        yield Defect(DefectKind.TOO_LARGE, "types", too_many_types(domain))
        return
    checker = _DomainChecker(domain)
    yield from declaration_defects(domain)
    for action in domain.actions:
        where = f"action {action.name}"
        yield from checker.condition(action.precondition, f"{where}, precondition", _scope(action.parameters))
        yield from checker.effect(action.effect, f"{where}, effect", _scope(action.parameters))
    for predicate, condition in domain.derived:
        where = f"derived predicate {predicate.name}"
        yield from checker.condition(condition, where, _scope(predicate.parameters))
    circle = recursive_predicate(domain)
    if circle is not None:
        message = f"derived predicate {circle} is recursive, which is not supported: it follows from itself"
        message += "; write it without"
        yield Defect(DefectKind.RECURSIVE, circle, message)


class _DomainChecker:
    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.constants = {each.name: each.type for each in domain.constants}

    def condition(self, part: Sexpr, where: str, bound: Scope) -> Iterator[Defect]:
        """The defects of a condition."""
        if part in ((), ("and",)):
            return
        head = _head(part)
        if is_numeric(part):
            yield self._defect(DefectKind.NOT_SUPPORTED, where, f"{show(part)}: {NUMBERS}")
        elif head not in IN_CONDITIONS:
            yield from self._atom(part, where, bound, "when" if head == "when" else "")
        elif head == "=":
            yield from self._arguments(part, where, bound)
        elif head in ("exists", "forall"):
            yield from self._quantified(part, where, bound, self.condition)
        else:
            yield from self._parts(part, where)
            for each in part[1:]:
                yield from self.condition(each, where, bound)

    def effect(self, part: Sexpr, where: str, bound: Scope) -> Iterator[Defect]:
        """The defects of an effect."""
        if part in ((), ("and",)):
            return
        head = _head(part)
        if head == "forall":
            yield from self._quantified(part, where, bound, self.effect)
        elif head == "when":
            yield from self._parts(part, where)
            if len(part) == 3:
                yield from self.condition(part[1], where, bound)
                yield from self.effect(part[2], where, bound)
        elif head == "and":
            for each in part[1:]:
                yield from self.effect(each, where, bound)
        elif head == "not":
            yield from self._parts(part, where)
            for each in part[1:]:
                yield from self._atom(each, where, bound, _head(each) if _head(each) in IN_CONDITIONS else "")
        elif head in NUMERIC_EFFECTS and head not in self.domain.predicates_by_name:
            yield self._defect(DefectKind.NOT_SUPPORTED, where, f"{show(part)}: {NUMBERS}")
        else:
            yield from self._atom(part, where, bound, head if head in IN_CONDITIONS else "")

    def _parts(self, part: Sexpr, where: str) -> Iterator[Defect]:
        wanted = ARGUMENTS.get(_head(part))
        if wanted is not None and len(part) - 1 != wanted:
            yield self._defect(DefectKind.SYNTAX, where, f"{show(part)}: '{part[0]}' takes {wanted} part(s)")

    def _quantified(self, part: Sexpr, where: str, bound: Scope, inner: Inner) -> Iterator[Defect]:
        if len(part) != 3 or not isinstance(part[1], tuple):
            yield self._defect(DefectKind.SYNTAX, where, f"{show(part)}: write ({part[0]} (?x - type) (…))")
            return
        variables = tuple(read_typed_list(part[1], []))
        for each in variables:
            for kind in either(each.type):
                if kind not in self.domain.types:
                    message = f"{show(part)}: type {kind} is not declared; add it to (:types …)"
                    yield self._defect(DefectKind.UNDECLARED_TYPE, where, message)
        yield from inner(part[2], where, {**bound, **_scope(variables)})

    def _atom(self, part: Sexpr, where: str, bound: Scope, misplaced: str) -> Iterator[Defect]:
        """The defects of a literal. `misplaced` is a word that cannot stand there."""
        if misplaced:
            kind = "an effect" if where.endswith("effect") else "a condition"
            message = f"{show(part)}: '{misplaced}' cannot stand in {kind}; write the literals that hold in every case"
            yield self._defect(DefectKind.MISPLACED, where, message)
            return
        name = _head(part)
        if not name:
            yield self._defect(DefectKind.SYNTAX, where, f"{show(part)} is no condition: write (predicate ?x …)")
            return
        predicate = self.domain.predicates_by_name.get(name)
        if predicate is None:
            close = nearest(name, self.domain.predicates_by_name)
            hint = f"did you mean {close}? Else add it" if close else "add it"
            message = f"{show(part)}: predicate {name} is not declared; {hint} to (:predicates …)"
            yield self._defect(DefectKind.UNDECLARED_PREDICATE, where, message)
        elif len(part) - 1 != len(predicate.parameters):
            message = f"{show(part)}: {name} takes {len(predicate.parameters)} argument(s), as in {predicate}"
            yield self._defect(DefectKind.ARITY, where, message)
        else:
            yield from self._types(part, predicate, where, bound)
        if where.endswith("effect") and name in self.domain.rules:
            message = f"{show(part)}: {name} follows by rule; change what the rule asks for"
            yield self._defect(DefectKind.DERIVED_EFFECT, where, message)
        yield from self._arguments(part, where, bound)

    def _types(self, part: Sexpr, predicate: Predicate, where: str, bound: Scope) -> Iterator[Defect]:
        """Arguments that can never be of the type that the predicate takes."""
        for given, wanted in zip(part[1:], predicate.parameters, strict=True):
            kind = bound.get(given, self.constants.get(given)) if isinstance(given, str) else None
            if kind is not None and not self._overlap(kind, wanted.type):
                message = f"{show(part)}: {given} is a {kind}, and {predicate.name} takes a {wanted.type} there"
                yield self._defect(DefectKind.ARGUMENT_TYPE, where, message)

    def _overlap(self, kind: str, wanted: str) -> bool:
        """Whether some object can be of both types, as far as is declared."""
        known = self.domain.types
        if any(each not in known for each in (*either(kind), *either(wanted))):
            return True  # what is not declared is told elsewhere
        below = {each for each in known if any(one in known[each] for one in either(wanted))}
        return any(one in known[each] for each in below for one in either(kind)) or ANY_TYPE in either(kind)

    def _arguments(self, part: Sexpr, where: str, bound: Scope) -> Iterator[Defect]:
        for each in part[1:]:
            if not isinstance(each, str):
                why = "stands where a variable or an object must; there are no functions here: make it a parameter"
                yield self._defect(DefectKind.SYNTAX, where, f"{show(part)}: {show(each)} {why}")
            elif each.startswith("?") and each not in bound:
                message = f"{show(part)}: variable {each} is no parameter; add '{each} - TYPE' to :parameters"
                yield self._defect(DefectKind.VARIABLE, where, message)
            elif not each.startswith("?") and each not in self.constants:
                message = f"{show(part)}: {each} is no constant of the domain; add it to (:constants …)"
                yield self._defect(DefectKind.UNDECLARED_OBJECT, where, message)

    def _defect(self, kind: DefectKind, where: str, message: str) -> Defect:
        return Defect(kind, where, f"{where}: {message}")


def _head(part: Sexpr) -> str:
    return part[0] if isinstance(part, tuple) and part and isinstance(part[0], str) else ""


def _scope(parameters: tuple[TypedName, ...]) -> Scope:
    return {each.name: each.type for each in parameters}
