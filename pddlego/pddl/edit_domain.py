"""Edits of domains: what comes, what is replaced and what goes, section by section."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pddlego.pddl.domain import Action, Domain
from pddlego.pddl.edit_values import Entry, EntryKind, SectionEdit
from pddlego.pddl.problem import read_typed_list
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show

SECTIONS = ("types", "constants", "predicates", "rules", "actions")
"""The parts of a domain that an edit may change, in the order in which they are written."""

Lines = dict[str, str]
"""The lines of a section, by what they are about."""


DomainEdit = Mapping[str, SectionEdit]
"""The changes of each section; one that is not there does not change.

A type or a constant is a line `NAME - TYPE`, a predicate `(NAME ?x - TYPE …)`, a rule `(:derived (NAME …) …)`, an
action `(:action NAME …)`. What is replaced or deleted may be said by its name alone.
"""


@dataclass(frozen=True)
class DomainEditReport:
    """The text of the domain after an edit, which may hold defects, and what became of every line."""

    text: str
    entries: tuple[Entry, ...]


def sections_of(domain: Domain) -> dict[str, Lines]:
    """The lines of a domain by section."""
    rules = [f"(:derived {head} {show(condition)})" for head, condition in domain.derived]
    return {
        "types": {f"{name} - {parent}": f"{name} - {parent}" for name, parent in domain.supertypes},
        "constants": {each.name: str(each) for each in domain.constants},
        "predicates": {each.name: str(each) for each in domain.predicates},
        "rules": {rule: rule for rule in rules},
        "actions": {each.name: action_text(each) for each in domain.actions},
    }


def action_text(action: Action) -> str:
    """An action as PDDL, a line for each of its parts."""
    parameters = " ".join(map(str, action.parameters))
    return (
        f"(:action {action.name}\n    :parameters ({parameters})\n    :precondition {show(action.precondition)}\n"
        f"    :effect {show(action.effect)})"
    )


def domain_text(name: str, requirements: tuple[str, ...], sections: Mapping[str, Lines]) -> str:
    """A domain file of these lines; sections without lines are left out."""
    parts = [f"(:requirements {' '.join(requirements)})"] if requirements else []
    for section in ("types", "constants", "predicates", "functions"):
        lines = "\n    ".join(sections.get(section, {}).values())
        parts += [f"(:{section}\n    {lines})"] if lines else []
    parts += [*sections.get("rules", {}).values(), *sections.get("actions", {}).values()]
    return "\n  ".join([f"(define (domain {name})", *parts]) + ")"


def domain_edit_between(before: Domain, after: Domain) -> DomainEdit:
    """The edit that makes `after` of `before`, but for names and requirements."""
    changes: dict[str, SectionEdit] = {}
    old, new = sections_of(before), sections_of(after)
    for section in SECTIONS:
        was, now = old[section], new[section]
        replaced = tuple((name, now[name]) for name in was if name in now and now[name] != was[name])
        added = tuple(line for name, line in now.items() if name not in was)
        edit = SectionEdit(added, replaced, tuple(name for name in was if name not in now))
        if added or replaced or edit.delete:
            changes[section] = edit
    return changes


def as_lines(edit: DomainEdit) -> Mapping[str, object]:
    """An edit of a domain as JSON values."""
    return {
        name: {
            "add": list(section.add),
            "replace": [{"old": old, "new": new} for old, new in section.replace],
            "delete": list(section.delete),
        }
        for name, section in edit.items()
    }


def apply_domain_edit(domain: Domain, edit: DomainEdit) -> DomainEditReport:
    """Apply an edit: deletions first, then replacements, then additions. A domain without a text is called `game`.

    Total: a line that names nothing of the domain, or that cannot be read, changes nothing and says so.
    """
    sections, entries = sections_of(domain), list[Entry]()

    def note(kind: EntryKind, where: str, line: str, why: str = "") -> None:
        entries.append(Entry(kind, where, line, why))

    for section in SECTIONS:
        changes, lines = edit.get(section, SectionEdit()), sections[section]
        for old in (*changes.delete, *(old for old, new in changes.replace if new is None)):
            keys = _known(section, old, lines)
            note(EntryKind.APPLIED if keys else EntryKind.UNMATCHED, f"domain.{section}.delete", old)
            for key in keys:
                del lines[key]
        for old, new in changes.replace:
            if new is not None:
                _replace(section, lines, old, new, note)
        for line in changes.add:
            found = dict(_read(section, line))
            if not found:
                note(EntryKind.REFUSED, f"domain.{section}.add", line, f"it is no line of {section}")
            for key, text in found.items():
                same = lines.get(key)
                kind = EntryKind.APPLIED if same is None else EntryKind.ALREADY if same == text else EntryKind.REFUSED
                why = f"there is one called {key}: replace it" if kind is EntryKind.REFUSED else ""
                note(kind, f"domain.{section}.add", line, why)
                lines.setdefault(key, text)
    name, requirements = domain.name if domain.text else "game", domain.requirements or (":adl",)
    return DomainEditReport(domain_text(name, requirements, sections), tuple(entries))


def _replace(section: str, lines: Lines, old: str, new: str, note: Callable[..., None]) -> None:
    where, keys, found = f"domain.{section}.replace", _known(section, old, lines), dict(_read(section, new))
    if not found:
        note(EntryKind.REFUSED, where, new, f"it is no line of {section}")
        return
    note(EntryKind.APPLIED if keys else EntryKind.UNMATCHED, where, old)
    if not keys:
        return
    kept = {key: line for key, line in lines.items() if key not in found}
    lines.clear()
    for key, line in kept.items():
        lines.update(found if key == keys[0] else {} if key in keys else {key: line})
    lines.update(found)


def _known(section: str, line: str, lines: Lines) -> list[str]:
    """The keys of the lines that a line or a name means."""
    word = line.strip().lower()
    if word in lines:
        return [word]
    named = [key for key in lines if section == "types" and key.split(" - ")[0] == word]
    named += [key for key in lines if section == "rules" and re.match(rf"\(:derived \({re.escape(word)}[ )]", key)]
    return named or [key for key, _ in _read(section, line) if key in lines]


def _read(section: str, line: str) -> Iterator[tuple[str, str]]:
    """What a line says: the key and the text of each of its parts; nothing where it cannot be read."""
    reading = read_sexprs(line)
    if reading.faults:
        return
    if section in ("types", "constants"):
        for each in read_typed_list(reading.expressions, []):
            yield (str(each) if section == "types" else each.name), str(each)
        return
    for expression in reading.expressions:
        key = _key(section, expression)
        if key is not None:
            yield key, show(expression)


def _key(section: str, expression: Sexpr) -> str | None:
    """The name of a predicate or an action, or the whole rule (several may have one name); None for what is none."""
    match section, expression:
        case "actions", (":action", str(name), *_):
            return name
        case "rules", (":derived", (str(), *_), _):
            return show(expression)
        case "predicates", (str(name), *_) if not name.startswith(":"):
            return name
    return None
