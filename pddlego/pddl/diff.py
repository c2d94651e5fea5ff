"""What changed between two problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pddlego.pddl.conditions import Renaming
from pddlego.pddl.domain import Domain
from pddlego.pddl.edit import Edit, SectionEdit
from pddlego.pddl.problem import Problem, rename


@dataclass(frozen=True)
class Diff:
    """What came and what went, one line each; a part that was changed is in both."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def diff(before: Problem, after: Problem, renamed: Mapping[str, str] | None = None) -> Diff:
    """The difference of two problems; goals are not compared, because the goal ladder changes them.

    With `renamed` (old name: new name) what only got another name counts as unchanged.
    """
    edit = edit_between(rename(before, Renaming(renamed)) if renamed else before, after)
    return Diff((*edit.objects.add, *edit.init.add), (*edit.objects.delete, *edit.init.delete))


def edit_between(before: Problem, after: Problem) -> Edit:
    """The edit that makes `before` into `after`, without renaming: what is new is added, what is gone deleted."""
    added_objects = tuple(str(obj) for obj in after.sorted_objects() if obj not in before.objects)
    removed_objects = tuple(str(obj) for obj in before.sorted_objects() if obj not in after.objects)
    added_facts = tuple(str(fact) for fact in after.sorted_facts() if fact not in before.facts)
    removed_facts = tuple(str(fact) for fact in before.sorted_facts() if fact not in after.facts)
    return Edit(SectionEdit(added_objects, (), removed_objects), SectionEdit(added_facts, (), removed_facts))


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


def domain_diff(before: Domain, after: Domain) -> Diff:
    """What must be added to `before` and removed from it to get `after`."""
    old, new = domain_parts(before), domain_parts(after)
    added = tuple(line for name, line in new.items() if old.get(name) != line)
    return Diff(added, tuple(line for name, line in old.items() if new.get(name) != line))
