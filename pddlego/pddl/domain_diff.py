"""What differs between two domains, part by part."""

from __future__ import annotations

from dataclasses import dataclass

from pddlego.pddl.domain import Domain
from pddlego.pddl.sexpr import show


@dataclass(frozen=True)
class DomainDiff:
    """Parts that came and parts that went, one line each; an action that was changed is in both."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def domain_parts(domain: Domain) -> dict[str, str]:
    """Every part of a domain by what it is, with the line that says it."""
    parts = {f"type {name}": f"type {name} - {parent}" for name, parent in domain.supertypes}
    parts |= {f"constant {each.name}": f"constant {each}" for each in domain.constants}
    parts |= {f"predicate {each.name}": f"predicate {each}" for each in domain.predicates}
    rules = [f"rule {head} if {show(condition)}" for head, condition in domain.derived]
    parts |= dict(zip(rules, rules, strict=True))
    for action in domain.actions:
        head = " ".join((action.name, *(f"{each.name} - {each.type}" for each in action.parameters)))
        needs, changes = show(action.precondition), show(action.effect)
        parts[f"action {action.name}"] = f"action ({head}) needs {needs} changes {changes}"
    return parts


def domain_diff(before: Domain, after: Domain) -> DomainDiff:
    """What must be added to `before` and removed from it to get `after`."""
    old, new = domain_parts(before), domain_parts(after)
    added = tuple(line for name, line in new.items() if old.get(name) != line)
    return DomainDiff(added, tuple(line for name, line in old.items() if new.get(name) != line))
