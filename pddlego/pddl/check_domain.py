"""What is wrong with the conditions and effects of a domain's actions, each with its place and what to do about it.

The structure of the file, and types that are not declared, are `parse_domain`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator

from pddlego.pddl.check import Defect, DefectKind
from pddlego.pddl.domain import Domain
from pddlego.pddl.names import nearest
from pddlego.pddl.problem import TypedName, read_typed_list
from pddlego.pddl.sexpr import Sexpr, show

ARGUMENTS = {"not": 1, "imply": 2, "when": 2, "exists": 2, "forall": 2}
"""How many parts stand behind a word."""

IN_CONDITIONS = frozenset({"and", "or", "not", "imply", "exists", "forall", "="})
IN_EFFECTS = frozenset({"and", "not", "when", "forall"})


def check_domain(domain: Domain) -> tuple[Defect, ...]:
    """All defects of the actions and derived predicates. Total."""
    checker = _DomainChecker(domain)
    found: list[Defect] = []
    for action in domain.actions:
        where = f"action {action.name}"
        found += checker.condition(action.precondition, f"{where}, precondition", _names(action.parameters))
        found += checker.effect(action.effect, f"{where}, effect", _names(action.parameters))
    for predicate, condition in domain.derived:
        found += checker.condition(condition, f"derived predicate {predicate.name}", _names(predicate.parameters))
    return tuple(found)


class _DomainChecker:
    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.constants = {each.name for each in domain.constants}

    def condition(self, part: Sexpr, where: str, bound: frozenset[str]) -> Iterator[Defect]:
        """The defects of a condition."""
        if part in ((), ("and",)):
            return
        head = self._head(part)
        if head not in IN_CONDITIONS:
            yield from self._atom(part, where, bound, "when" if head == "when" else "")
        elif head == "=":
            yield from self._arguments(part, where, bound)
        elif head in ("exists", "forall"):
            yield from self._quantified(part, where, bound, self.condition)
        else:
            yield from self._parts(part, where)
            for each in part[1:]:
                yield from self.condition(each, where, bound)

    def effect(self, part: Sexpr, where: str, bound: frozenset[str]) -> Iterator[Defect]:
        """The defects of an effect."""
        if part in ((), ("and",)):
            return
        head = self._head(part)
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
                yield from self._atom(each, where, bound, self._head(each) if self._head(each) in IN_CONDITIONS else "")
        else:
            yield from self._atom(part, where, bound, head if head in IN_CONDITIONS else "")

    def _head(self, part: Sexpr) -> str:
        return part[0] if isinstance(part, tuple) and part and isinstance(part[0], str) else ""

    def _parts(self, part: Sexpr, where: str) -> Iterator[Defect]:
        wanted = ARGUMENTS.get(self._head(part))
        if wanted is not None and len(part) - 1 != wanted:
            yield self._defect(DefectKind.SYNTAX, where, f"{show(part)}: '{part[0]}' takes {wanted} part(s)")

    def _quantified(self, part: Sexpr, where: str, bound: frozenset[str], inner: object) -> Iterator[Defect]:
        if len(part) != 3 or not isinstance(part[1], tuple):
            yield self._defect(DefectKind.SYNTAX, where, f"{show(part)}: write ({part[0]} (?x - type) (…))")
            return
        variables = tuple(read_typed_list(part[1], []))
        assert callable(inner)
        yield from inner(part[2], where, bound | _names(variables))

    def _atom(self, part: Sexpr, where: str, bound: frozenset[str], misplaced: str) -> Iterator[Defect]:
        """The defects of a literal. `misplaced` is a word that cannot stand there."""
        if misplaced:
            kind = "an effect" if where.endswith("effect") else "a condition"
            message = f"{show(part)}: '{misplaced}' cannot stand in {kind}; write the literals that hold in every case"
            yield self._defect(DefectKind.SYNTAX, where, message)
            return
        name = self._head(part)
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
        yield from self._arguments(part, where, bound)

    def _arguments(self, part: Sexpr, where: str, bound: frozenset[str]) -> Iterator[Defect]:
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


def _names(parameters: tuple[TypedName, ...]) -> frozenset[str]:
    return frozenset(each.name for each in parameters)
