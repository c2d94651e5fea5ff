"""What changed between two problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pddlego.pddl.conditions import Atom, Renaming, TypedName
from pddlego.pddl.domain import Domain
from pddlego.pddl.edit import Edit, SectionEdit
from pddlego.pddl.problem import Problem, rename


@dataclass(frozen=True)
class Diff:
    """Objects and facts that only the later (`added`) or only the earlier problem (`removed`) has, sorted."""

    added_objects: tuple[TypedName, ...]
    removed_objects: tuple[TypedName, ...]
    added_facts: tuple[Atom, ...]
    removed_facts: tuple[Atom, ...]

    def __bool__(self) -> bool:
        return bool(self.added_objects or self.removed_objects or self.added_facts or self.removed_facts)


def diff(before: Problem, after: Problem, renamed: Mapping[str, str] | None = None) -> Diff:
    """The difference of two problems; goals are not compared, because the goal ladder changes them.

    With `renamed` (old name: new name) what only got another name counts as unchanged.
    """
    if renamed:
        before = rename(before, Renaming(renamed))
    return Diff(
        tuple(obj for obj in after.sorted_objects() if obj not in before.objects),
        tuple(obj for obj in before.sorted_objects() if obj not in after.objects),
        tuple(fact for fact in after.sorted_facts() if fact not in before.facts),
        tuple(fact for fact in before.sorted_facts() if fact not in after.facts),
    )


def edit_between(before: Problem, after: Problem) -> Edit:
    """The edit that makes `before` into `after`, without renaming: what is new is added, what is gone deleted."""
    changed = diff(before, after)
    return Edit(
        SectionEdit(tuple(map(str, changed.added_objects)), (), tuple(map(str, changed.removed_objects))),
        SectionEdit(tuple(map(str, changed.added_facts)), (), tuple(map(str, changed.removed_facts))),
    )


@dataclass(frozen=True)
class DomainDiff:
    """Parts that came and parts that went, one line each; an action that was changed is in both."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def domain_parts(domain: Domain) -> dict[str, str]:
    """Every part of a domain by what it is, with the line that says it."""
    parts = {f"type {supertype.name}": f"type {supertype}" for supertype in domain.supertypes}
    parts |= {f"constant {constant.name}": f"constant {constant}" for constant in domain.constants}
    parts |= {f"predicate {predicate.name}": f"predicate {predicate}" for predicate in domain.predicates}
    parts |= {f"function {function.name}": f"function {function}" for function in domain.functions}
    rules = [f"rule {rule.predicate} if {rule.condition}" for rule in domain.derived]
    parts |= dict(zip(rules, rules, strict=True))
    for action in domain.actions:
        head = " ".join((action.name, *(f"{parameter.name} - {parameter.type}" for parameter in action.parameters)))
        parts[f"action {action.name}"] = f"action ({head}) needs {action.precondition} changes {action.effect}"
    return parts


def domain_diff(before: Domain, after: Domain) -> DomainDiff:
    """What must be added to `before` and removed from it to get `after`."""
    old, new = domain_parts(before), domain_parts(after)
    added = tuple(line for name, line in new.items() if old.get(name) != line)
    return DomainDiff(added, tuple(line for name, line in old.items() if new.get(name) != line))
