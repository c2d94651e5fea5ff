"""What is wrong with what a domain declares: names, types, constants, predicates, and the heads of actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pddlego.pddl.domain import Domain, either, heads_of, reachable, undeclared_types, wrong_heads
from pddlego.pddl.names import is_name, nearest
from pddlego.pddl.problem import ANY_TYPE
from pddlego.pddl.rules import Defect, DefectKind, remark

RESERVED = frozenset(("and", "or", "not", "imply", "exists", "forall", "when", "either", "define", "problem", "domain"))
"""Words of PDDL that stand where a name may stand, so that nothing can be called so."""


def declaration_defects(domain: Domain) -> Iterator[Defect]:
    """What makes planning impossible. Total."""
    for what, name in _names(domain):
        if not is_name(name.removeprefix("?") if what.endswith("parameter") else name):
            message = f"{what} {name}: a PDDL name is a letter followed by letters, digits, - or _"
            yield Defect(DefectKind.BAD_NAME, name, f"{message}; rename it")
        elif name in RESERVED:
            yield Defect(DefectKind.RESERVED_WORD, name, f"{what} {name}: that is a word of PDDL; rename it")
    for where, kind in undeclared_types(domain):
        message = f"{where}: type {kind} is not declared; add it to (:types …)"
        yield Defect(DefectKind.UNDECLARED_TYPE, where, message)
    for defect_kind, fault in wrong_heads(domain):
        yield Defect(defect_kind, fault.partition(":")[0], f"{fault}; add it to (:predicates …) as it is defined")
    yield from _cycles(domain)
    yield from _constants(domain)
    for name in _twice(each.name for each in domain.actions):
        yield Defect(DefectKind.DUPLICATE_ACTION, name, f"action {name} is defined twice; rename or remove one")
    arities = _arities(domain)
    for name in _twice(each.name for each in domain.predicates):
        if len(arities[name]) > 1:
            message = f"predicate {name} is declared with two numbers of arguments; rename or remove one"
            yield Defect(DefectKind.DUPLICATE_PREDICATE, name, message)
    for where, parameters in heads_of(domain):
        for name in _twice(each.name for each in parameters):
            yield Defect(DefectKind.DUPLICATE_PARAMETER, where, f"{where}: parameter {name} stands twice; rename one")
        for each in parameters:
            if not each.name.startswith("?"):
                message = f"{where}: parameter {each.name} is no variable; write ?{each.name}"
                yield Defect(DefectKind.PARAMETER_NAME, where, message)


def declaration_remarks(domain: Domain) -> Iterator[Defect]:
    """What is most likely a mistake, though planning is possible. Total."""
    below = sorted({each for each in domain.supertypes if each[1] != ANY_TYPE})  # object is above all of them anyway
    for name in _twice(name for name, _ in below):
        parents = [parent for each, parent in below if each == name]
        message = f"type {name} stands below {' and '.join(parents)}; keep one unless it is of both"
        yield remark(DefectKind.DUPLICATE_TYPE, name, message)
    for name, _ in (each for each, times in Counter(domain.supertypes).items() if times > 1):
        yield remark(DefectKind.DUPLICATE_TYPE, name, f"type {name} is declared twice; once is enough")
    declared = {name for name, _ in domain.supertypes} | {ANY_TYPE}
    for above in sorted({each for _, parent in domain.supertypes for each in either(parent)} - declared):
        close = nearest(above, declared)  # that it stands behind a - declares it, unless it is a slip of the pen
        if close is not None:
            message = f"type {above} has types below it and is not declared itself; did you mean {close}?"
            yield remark(DefectKind.UNDECLARED_SUPERTYPE, above, message)
    arities = _arities(domain)
    for name in _twice(each.name for each in domain.predicates):
        if len(arities[name]) == 1:
            message = f"predicate {name} is declared twice; keep one"
            yield remark(DefectKind.DUPLICATE_PREDICATE, name, message)
    for each, times in Counter(domain.constants).items():
        if times > 1:
            message = f"constant {each.name} is declared twice; once is enough"
            yield remark(DefectKind.DUPLICATE_CONSTANT, each.name, message)
    if not domain.actions:
        yield remark(DefectKind.NO_ACTIONS, domain.name, "the domain has no action; add what can be done")


def _names(domain: Domain) -> Iterator[tuple[str, str]]:
    """Every name that the domain gives, once, and to what."""
    found = [("type", name) for name, _ in domain.supertypes]
    found += [("constant", each.name) for each in domain.constants]
    found += [("predicate", each.name) for each in domain.predicates]
    found += [("action", each.name) for each in domain.actions]
    found += [(f"{where}, parameter", each.name) for where, parameters in heads_of(domain) for each in parameters]
    yield from dict.fromkeys(found)


def _cycles(domain: Domain) -> Iterator[Defect]:
    parents: dict[str, set[str]] = {}
    for name, parent in domain.supertypes:
        parents.setdefault(name, set()).update(set(either(parent)) - {ANY_TYPE})
    for name in parents:
        above = reachable(parents[name], parents)
        if name in above or (name == ANY_TYPE and above):
            message = f"type {name} is its own ancestor, over {', '.join(sorted(above))}"
            message += "; give one of them another parent"
            yield Defect(DefectKind.TYPE_CYCLE, name, message)


def _constants(domain: Domain) -> Iterator[Defect]:
    types: dict[str, set[str]] = {}
    for each in domain.constants:
        types.setdefault(each.name, set()).add(each.type)
    for name, kinds in types.items():
        if len(kinds) > 1:
            message = f"constant {name} has two types, {' and '.join(sorted(kinds))}; give it one"
            yield Defect(DefectKind.TWO_TYPES, name, message)


def _arities(domain: Domain) -> dict[str, set[int]]:
    """The numbers of arguments that each predicate is declared with."""
    found: dict[str, set[int]] = {}
    for each in domain.predicates:
        found.setdefault(each.name, set()).add(len(each.parameters))
    return found


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]
