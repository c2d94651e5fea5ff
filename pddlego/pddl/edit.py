"""Edits of problems and domains: values, how they are applied, their JSON form, and the edit between two values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from pydantic import Field, ValidationError, ValidationInfo, field_validator

from pddlego.pddl.conditions import (
    ANY_TYPE,
    Atom,
    Compare,
    Renaming,
    TypedName,
    arguments_in,
    read_atom,
    read_condition,
    read_typed_list,
)
from pddlego.pddl.domain import Action, Domain, DurativeAction
from pddlego.pddl.nearly_json import EditSyntaxError, Form, last_object, unique_keys, without_remarks
from pddlego.pddl.problem import Problem, rename
from pddlego.pddl.sexpr import Sexpr, read_sexprs, show
from pddlego.util.text import Shown, reason_of


@dataclass(frozen=True)
class SectionEdit:
    """The changes of one section, as lines of text. A line that is replaced by None is deleted."""

    add: tuple[str, ...] = ()
    replace: tuple[tuple[str, str | None], ...] = ()
    delete: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edit(Shown):
    """An edit of a problem (paper, Appendix B). The empty edit changes nothing and is valid.

    `look` are places or conditions beside it, for which the next plan is to be made; the problem does not have them.
    `ignored` are the keys of remarks that were left out.
    """

    objects: SectionEdit = SectionEdit()
    init: SectionEdit = SectionEdit()
    look: tuple[str, ...] = ()
    ignored: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        """A line for each change: `+` added, `-` deleted, `->` replaced."""
        lines: list[str] = []
        for section in (self.objects, self.init):
            lines += [f"+ {line}" for line in section.add]
            lines += [f"- {line}" for line in section.delete]
            lines += [f"- {old}" if new is None else f"{old} -> {new}" for old, new in section.replace]
        return "\n".join(lines)


class EntryKind(str, Enum):
    """The effect of one line of an edit."""

    APPLIED = "applied"
    RENAMED = "renamed"
    MERGED = "merged"
    ALREADY = "already there"
    TOLERATED = "tolerated"
    UNMATCHED = "matched nothing"
    REFUSED = "refused"


@dataclass(frozen=True)
class Entry:
    """One line of an edit, its section and operation (`init.add`), its effect, and a reason if the effect needs one."""

    kind: EntryKind
    where: str
    line: str
    note: str = ""

    def __str__(self) -> str:
        return f"{self.where} {self.line}: {self.kind.value}" + (f" ({self.note})" if self.note else "")


@dataclass(frozen=True)
class EditReport:
    """The problem after an edit, and the entries for its lines in the order of application.

    `renamed` lists (old, new) names of objects that were renamed or merged.
    """

    problem: Problem
    entries: tuple[Entry, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()

    def of(self, *kinds: EntryKind) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.kind in kinds)

    @property
    def unmatched(self) -> tuple[Entry, ...]:
        """Lines about parts that the problem does not have. They have no effect, and the model reads them."""
        return self.of(EntryKind.UNMATCHED)

    @property
    def refused(self) -> tuple[Entry, ...]:
        """Lines that could not be read or would have made the problem inconsistent."""
        return self.of(EntryKind.REFUSED)


Fitting = Callable[[Atom], tuple[Atom, str]]
"""Corrects a fact of an edit. Returns it with a note about what was wrong; empty if it is unchanged."""


def apply_edit(
    problem: Problem, edit: Edit, constants: Iterable[TypedName] = (), fitting: Fitting = lambda atom: (atom, "")
) -> EditReport:
    """Apply `edit` to `problem`; `constants` are the domain's objects, which exist without being declared.

    `fitting` corrects each fact before it is applied; a corrected fact counts as tolerated.
    """
    bench = _Bench(problem, constants, fitting)
    bench.rename(edit.objects.replace, edit.objects.add)
    bench.delete_objects(edit.objects.delete)
    for line in edit.init.delete:
        bench.delete_fact("init.delete", line)
    for old, new in edit.init.replace:
        bench.replace_fact(old, new)
    bench.check_merged()
    for line in edit.objects.add:
        bench.add_objects(line)
    for line in edit.init.add:
        bench.add_facts(line)
    return EditReport(bench.problem(), tuple(bench.entries), tuple(bench.applied_names.items()))


_RENAME = "objects.replace"

MAX_LINE = 200
"""The maximum length of a line in an entry."""


class _Bench:
    """The state of a problem during one call of `apply_edit`."""

    def __init__(self, problem: Problem, constants: Iterable[TypedName], fitting: Fitting) -> None:
        self.before, self.fitting = problem, fitting
        self.constants = {constant.name: constant.type for constant in constants}
        self.objects = {obj.name: obj.type for obj in problem.sorted_objects()}
        # second declarations of objects, with another type
        self.twins = {obj for obj in problem.objects if self.objects[obj.name] != obj.type}
        self.facts = set(problem.facts)
        self.values = set(problem.values)
        self.goal = problem.goal
        # old names that other lines of the edit may still use, with the new names
        self.renamed: dict[str, str] = {}
        self.applied_names: dict[str, str] = {}
        self.removed: set[Atom] = set()
        # facts that name two merged objects, under the new names and under the old ones
        self.merged: dict[Atom, Atom] = {}
        self.entries: list[Entry] = []

    def problem(self) -> Problem:
        objects = {TypedName(name, kind) for name, kind in self.objects.items()} | self.twins
        facts, values = frozenset(self.facts), frozenset(self.values)
        return replace(self.before, objects=frozenset(objects), facts=facts, values=values, goal=self.goal)

    def note(self, kind: EntryKind, where: str, line: str, note: str = "") -> None:
        shown = line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} …"  # one line may have an entry for each name
        self.entries.append(Entry(kind, where, shown, note))

    # (1) rename

    def rename(self, pairs: Iterable[tuple[str, str | None]], added: Iterable[str]) -> None:
        renames: list[tuple[TypedName, TypedName, str]] = []
        done: dict[str, str] = {}
        for old_line, new_line in pairs:
            line = f"{old_line} -> {new_line}"
            old, new = self._typed(old_line), self._typed(new_line or "")
            if _is_nothing(new_line) and len(old) == 1:
                self.delete_objects([old_line], _RENAME)
            elif len(old) != 1 or len(new) != 1:
                self.note(EntryKind.REFUSED, _RENAME, line, "write one 'name - type' on each side")
            elif old[0].name in self.constants:
                self.note(EntryKind.REFUSED, _RENAME, line, f"{old[0].name} belongs to the domain and keeps its name")
            elif old[0].name in self.objects:
                renames.append((old[0], new[0], line))
            elif new[0].name in self.objects or new[0].name in self.constants:
                self.note(EntryKind.ALREADY, _RENAME, line, f"unknown object {old[0].name}")
                done[old[0].name] = new[0].name
            else:
                self.note(EntryKind.UNMATCHED, _RENAME, line, f"unknown object {old[0].name}")
        self._rename_all(renames)
        declared = {name.name for line in added for name in self._typed(line)}
        # An old name that another object has now means that object.
        taken = declared | set(self.applied_names.values())
        self.renamed = {old: new for old, new in (self.applied_names | done).items() if old not in taken}

    def _rename_all(self, renames: list[tuple[TypedName, TypedName, str]]) -> None:
        """Rename all at once, so that two objects may swap their names."""
        names = {old.name: new.name for old, new, _ in renames if old.name in self.objects}
        staying = {name: kind for name, kind in self.objects.items() if name not in names}
        taken = set(staying) | set(self.constants)
        for old, new, line in renames:
            if old.name not in names:
                self.note(EntryKind.UNMATCHED, _RENAME, line, f"{old.name} is deleted by the same edit")
            elif old.name == new.name and new.type in (ANY_TYPE, self.objects[old.name]):
                self.note(EntryKind.ALREADY, _RENAME, line, "the name stays")
            elif old.name == new.name:
                self.note(EntryKind.APPLIED, _RENAME, line, f"it was a {self.objects[old.name]}")
            elif new.name in taken:
                self.note(EntryKind.MERGED, _RENAME, line, f"{new.name} exists: the two become one")
            else:
                self.note(EntryKind.RENAMED, _RENAME, line)
            taken.add(new.name)
        for old, new, _ in renames:
            if old.name in names and new.name not in self.constants:
                kind = self.objects[old.name] if new.type == ANY_TYPE else new.type
                staying.setdefault(new.name, kind)
        self.objects = staying
        self.twins = {twin for twin in self.twins if self.objects.get(twin.name, twin.type) != twin.type}
        moved = rename(replace(self.before, facts=frozenset(self.facts)), Renaming(names))
        own, self.values = self.before, set(moved.values)
        self.before = replace(moved, objects=own.objects, facts=own.facts, goal=own.goal, values=own.values)
        self.merged = {Renaming(names).atom(fact): fact for fact in self.facts if _merged(fact, names)}
        self.facts, self.goal = set(moved.facts), moved.goal
        self.applied_names = {old: new for old, new in names.items() if old != new}

    def check_merged(self) -> None:
        """Refuse to merge two objects that one fact names, unless the edit deletes that fact."""
        for after, before in sorted(self.merged.items(), key=lambda pair: pair[1].sort_key):
            if after in self.facts:
                reason = f"the problem has {before}, which names both: delete that fact, or keep them apart"
                names = _merged(before, self.applied_names) or ()
                self.note(EntryKind.REFUSED, _RENAME, " -> ".join(names), reason)

    # (2) delete

    def delete_objects(self, lines: Iterable[str], where: str = "objects.delete") -> None:
        for line in lines:
            typed = self._typed(line)
            if not typed:
                self.note(EntryKind.REFUSED, where, line, "write 'name - type'")
            for obj in typed:
                name = self.renamed.get(obj.name, obj.name)
                if name not in self.objects:
                    gone = obj.name in self.renamed.values()
                    self.note(EntryKind.ALREADY if gone else EntryKind.UNMATCHED, where, line, f"no object {name}")
                elif name != obj.name:
                    self.note(EntryKind.TOLERATED, where, line, f"it was renamed to {name}, which stays")
                else:
                    self._drop_object(name, where, line)

    def _drop_object(self, name: str, where: str, line: str) -> None:
        del self.objects[name]
        self.twins = {twin for twin in self.twins if twin.name != name}
        about = sorted((fact for fact in self.facts if name in fact.args), key=lambda fact: fact.sort_key)
        self.facts -= set(about)
        self.values = {value for value in self.values if name not in arguments_in(value)}
        self.removed |= set(about)
        facts = " ".join(str(fact) for fact in about)
        self.note(EntryKind.APPLIED, where, line, f"with it: {facts}" if about else "")

    def delete_fact(self, where: str, line: str) -> None:
        for value in (values := self._numbers(line)):
            there = value in self.values
            self.values.discard(value)
            note = "" if there else "the problem has no such number"
            self.note(EntryKind.APPLIED if there else EntryKind.UNMATCHED, where, str(value), note)
        for atom, wrong in [] if values else self._atoms(where, line):
            fact = self._find(atom)
            if fact is None and not {atom, self._current(atom)}.isdisjoint(self.removed):
                self.note(EntryKind.ALREADY, where, str(atom), "it was deleted by the same edit")
            elif fact is None:
                self.note(EntryKind.UNMATCHED, where, str(atom), "the problem has no such fact")
            else:
                self.facts.discard(fact)
                self.removed.add(fact)
                note = wrong or ("" if fact == atom else f"as {fact}")
                self.note(EntryKind.TOLERATED if wrong else EntryKind.APPLIED, where, str(atom), note)

    # (3) replace

    def replace_fact(self, old_line: str, new_line: str | None) -> None:
        where = "init.replace"
        if _is_nothing(new_line):
            self.delete_fact(where, old_line)
            return
        if len(numbers := self._numbers(new_line or "")) == 1 and self._numbers(old_line):
            if not self.values.isdisjoint(self._numbers(old_line)):
                self.values -= {*self._numbers(old_line)}
                self._assign(where, numbers[0])
            else:
                self.delete_fact(where, old_line)
            return
        old, new = self._atoms(where, old_line), self._atoms(where, new_line or "")
        if len(old) != 1 or len(new) != 1:
            if old and new:
                self.note(EntryKind.REFUSED, where, f"{old_line} -> {new_line}", "write one fact on each side")
            return
        before, after = old[0][0], self._current(new[0][0])
        if self._refuse_merged(where, new[0][0]):
            return
        line = f"{before} -> {new[0][0]}"
        fact = self._find(before)
        if fact is None:
            self._replace_missing(before, after, line)
        elif fact == after:
            self.note(EntryKind.ALREADY, where, line, "nothing changes")
        else:
            self.facts.discard(fact)
            self.removed.add(fact)
            self.facts.add(after)
            wrong = old[0][1] or new[0][1]
            self.note(EntryKind.TOLERATED if wrong else EntryKind.APPLIED, where, line, wrong)

    def _replace_missing(self, before: Atom, after: Atom, line: str) -> None:
        where = "init.replace"
        if after in self.facts:
            self.note(EntryKind.ALREADY, where, line, f"{after} is there")
        elif before in self.removed or self._current(before) in self.removed:
            self.facts.add(after)
            self.note(EntryKind.TOLERATED, where, line, f"{before} was deleted by the same edit")
        else:
            self.note(EntryKind.UNMATCHED, where, line, f"the problem has no {before}; {after} was not added")

    # (4) add

    def add_objects(self, line: str) -> None:
        where = "objects.add"
        typed = self._typed(line)
        if not typed:
            self.note(EntryKind.REFUSED, where, line, "write 'name - type'")
        for obj in typed:
            known = self.constants.get(obj.name, self.objects.get(obj.name))
            if known is None:
                self.objects[obj.name] = obj.type
                self.note(EntryKind.APPLIED, where, str(obj))
            elif known == obj.type or obj.type == ANY_TYPE:
                self.note(EntryKind.ALREADY, where, str(obj))
            else:
                self.note(EntryKind.REFUSED, where, str(obj), f"{obj.name} is a {known}; give it one type")

    def add_facts(self, line: str) -> None:
        where = "init.add"
        if values := self._numbers(line):
            for value in values:
                self._assign(where, value)
            return
        for written, tolerated in self._atoms(where, line, negation=True):
            atom = self._current(written)
            if self._refuse_merged(where, written):
                continue
            if atom in self.facts:
                self.note(EntryKind.ALREADY, where, str(written))
                continue
            self.facts.add(atom)
            note = tolerated or ("" if atom == written else f"as {atom}")
            self.note(EntryKind.TOLERATED if note else EntryKind.APPLIED, where, str(written), note)

    def _assign(self, where: str, value: Compare) -> None:
        """Give a number its value; another value is replaced, as a number has one."""
        before = sorted(str(other.right) for other in self.values if other.left == value.left)
        self.values = {other for other in self.values if other.left != value.left} | {value}
        kind = (
            EntryKind.ALREADY if before == [str(value.right)] else EntryKind.TOLERATED if before else EntryKind.APPLIED
        )
        self.note(kind, where, str(value), f"it was {before[0]}" if kind is EntryKind.TOLERATED else "")

    # reading the lines

    def _numbers(self, line: str) -> list[Compare]:
        """The numbers of a line such as (= (fuel t1) 3), under the new names; empty for a line of facts."""
        reading = read_sexprs(line) if "=" in line else None
        read = [read_condition(part) for part in reading.expressions] if reading and not reading.defects else []
        values = [part for part in read if isinstance(part, Compare) and part.operator == "="]
        renaming = Renaming(self.renamed)
        return [replace(value, left=renaming.term(value.left)) for value in values] if len(values) == len(read) else []

    def _current(self, atom: Atom) -> Atom:
        return Renaming(self.renamed).atom(atom)

    def _refuse_merged(self, where: str, written: Atom) -> bool:
        """Refuse a fact that names a merged object by its old and its new name; return whether it was refused."""
        names = _merged(written, self.renamed)
        if names is None:
            return False
        old, new = names
        reason = f"the same edit makes {old} and {new} one, and this names both: use one name, or keep them apart"
        self.note(EntryKind.REFUSED, where, str(written), reason)
        return True

    def _find(self, atom: Atom) -> Atom | None:
        """The fact that matches `atom` under the new names, else under the old names; None without one."""
        current = self._current(atom)
        if current in self.facts:
            return current
        return atom if atom in self.facts else None

    def _typed(self, line: str) -> list[TypedName]:
        reading = read_sexprs(line)
        parts: tuple[Sexpr, ...] = reading.expressions
        if len(parts) == 1 and isinstance(parts[0], tuple):
            parts = parts[0]
        typed, defects = read_typed_list(parts)
        return [] if reading.defects or defects else list(typed)

    def _atoms(self, where: str, line: str, negation: bool = False) -> list[tuple[Atom, str]]:
        """The facts in a line, each with a note on a tolerated slip. With `negation`, facts under a `not` are
        deleted."""
        reading = read_sexprs(line)
        parts: tuple[Sexpr, ...] = reading.expressions
        note = "a parenthesis was missing" if reading.defects else ""
        if parts and all(isinstance(part, str) for part in parts):
            parts, note = (tuple(parts),), "it stood without parentheses"
        atoms: list[tuple[Atom, str]] = []
        negated: list[str] = []
        for part in parts:
            atom = read_atom(part)
            if atom is not None:
                fitted, wrong = self.fitting(atom)
                atoms.append((fitted, note or wrong))
            elif negation and isinstance(part, tuple) and len(part) == 2 and part[0] == "not":
                negated.append(show(part[1]))
            else:
                atoms, negated = [], []
                break
        for fact in negated:
            self.delete_fact(where, fact)
        if not atoms and not negated:
            self.note(EntryKind.REFUSED, where, line, "it is not a fact: write (predicate object …)")
        return atoms


def _merged(atom: Atom, names: Mapping[str, str]) -> tuple[str, str] | None:
    """The old and the new name of an argument that the new names make equal to another argument; None without one."""
    renamed = [names.get(arg, arg) for arg in set(atom.args)]
    return next(((arg, names[arg]) for arg in atom.args if arg in names and renamed.count(names[arg]) > 1), None)


def _is_nothing(line: str | None) -> bool:
    """Whether a new line means deletion: None, an empty text, `null` or `none`."""
    return line is None or line.strip().lower() in ("", "null", "none")


# differences


@dataclass(frozen=True)
class Diff:
    """The added and removed lines; a changed part is in both."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def diff(before: Problem, after: Problem, renamed: Mapping[str, str] | None = None) -> Diff:
    """The difference of two problems; goals are not compared, because the goal ladder changes them.

    With `renamed` (old name: new name), parts in which only names changed count as unchanged.
    """
    edit = edit_between(rename(before, Renaming(renamed)) if renamed else before, after)
    return Diff((*edit.objects.add, *edit.init.add), (*edit.objects.delete, *edit.init.delete))


def edit_between(before: Problem, after: Problem) -> Edit:
    """The edit that turns `before` into `after` by additions and deletions, without renaming."""
    added_objects = tuple(str(obj) for obj in after.sorted_objects() if obj not in before.objects)
    removed_objects = tuple(str(obj) for obj in before.sorted_objects() if obj not in after.objects)
    added_facts = [str(fact) for fact in sorted(after.facts - before.facts, key=lambda fact: fact.sort_key)]
    removed_facts = [str(fact) for fact in sorted(before.facts - after.facts, key=lambda fact: fact.sort_key)]
    added_facts += sorted(map(str, after.values - before.values))
    removed_facts += sorted(map(str, before.values - after.values))
    init = SectionEdit(tuple(added_facts), (), tuple(removed_facts))
    return Edit(SectionEdit(added_objects, (), removed_objects), init)


# JSON


class SectionModel(Form):
    """The JSON border: empty and missing parts are allowed, a single line stands for a list of one."""

    add: list[str] = Field(default=[])
    replace: dict[str, str | None] = Field(default={})
    delete: list[str] = Field(default=[])

    @field_validator("add", "delete", mode="before")
    @classmethod
    def _lines(cls, value: Any) -> Any:
        if value is None or value == {}:
            return []
        return [value] if isinstance(value, str) else value

    @field_validator("replace", mode="before")
    @classmethod
    def _pairs(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, list):
            pairs = [without_remarks(pair, ("old", "new"), info.context) for pair in value]
            if all(map(_is_pair, pairs)):
                return unique_keys([(pair["old"], pair["new"]) for pair in pairs])
        return {} if value is None else value

    def as_value(self, line: Callable[[str], str] = str) -> SectionEdit:
        """The changes of the section; `line` rewrites each line."""
        pairs = ((line(old), None if new is None else line(new)) for old, new in self.replace.items())
        return SectionEdit(tuple(map(line, self.add)), tuple(pairs), tuple(map(line, self.delete)))


def edit_of(objects: SectionModel, init: SectionModel) -> Edit:
    """The edit of a problem, without line breaks inside its lines."""
    return Edit(objects.as_value(_one_line), init.as_value(_one_line))


def _one_line(text: str) -> str:
    """The line without line breaks, unless it holds a comment, which ends at a line break."""
    return text if ";" in text else re.sub(r"\s*\n\s*", " ", text)


SECTION_KEYS = ("add", "replace", "delete", "old", "new")
"""The keys of a section of an edit, and of a pair to replace."""


def _is_pair(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"old", "new"} and isinstance(value["old"], str)


class _EditModel(Form):
    objects: SectionModel = SectionModel()
    init: SectionModel = SectionModel()

    @field_validator("objects", "init", mode="before")
    @classmethod
    def _section(cls, value: Any) -> Any:
        return {} if value is None or value == [] else value


_LINES = {"type": "array", "items": {"type": "string"}}
_PAIR = {
    "type": "object",
    "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
    "required": ["old", "new"],
    "additionalProperties": False,
}
_SECTION = {
    "type": "object",
    "properties": {"add": _LINES, "replace": {"type": "array", "items": _PAIR}, "delete": _LINES},
    "required": ["add", "replace", "delete"],
    "additionalProperties": False,
}
EDIT_SCHEMA: Mapping[str, Any] = {
    "$defs": {"part": _SECTION},
    "type": "object",
    "properties": {name: {"$ref": "#/$defs/part"} for name in ("objects", "init")},
    "required": ["objects", "init"],
    "additionalProperties": False,
}
"""The JSON schema of an edit, for endpoints with structured output. It is written by hand to be short.

It follows the rules of strict structured output: no free map, every property required. The paper's form, a map from old
to new lines, is read as well.
"""

LOOK_SCHEMA = {**EDIT_SCHEMA, "properties": {**EDIT_SCHEMA["properties"], "look": _LINES}}
LOOK_SCHEMA["required"] = list(LOOK_SCHEMA["properties"])
"""The schema of an edit with `look`."""


def parse_edit(text: str) -> Edit:
    """Read the last edit in `text`; text around it is ignored, and JSON with slips is repaired.

    Raises `EditSyntaxError` if there is no edit, or if its keys or values are not those of an edit.
    """
    return read_edit(text)[0]


def read_edit(text: str, tolerant: bool = True, look: bool = False) -> tuple[Edit, tuple[str, ...]]:
    """The edit in `text`, and the repairs of its JSON. Unless `tolerant`, the text must contain nothing but the edit.

    The edit may have the key `look` if that is set. Raises `EditSyntaxError`.
    """
    found = last_object(text, ("objects", "init"), SECTION_KEYS, tolerant)
    if found.rest and not tolerant:
        raise EditSyntaxError(NOT_ALONE)
    ignored: list[str] = []
    looked = found.value.pop("look", None) if look else None
    places = looked if isinstance(looked, list) else [looked] if looked else []
    try:
        model = _EditModel.model_validate(found.value, context=ignored if tolerant else None)
    except ValidationError as error:
        text = "; ".join(_fault(one) for one in error.errors()[:10])
        raise EditSyntaxError(f"the JSON is not an edit: {text}") from error
    edit = replace(edit_of(model.objects, model.init), look=tuple(map(str, places)), ignored=tuple(ignored))
    return edit, found.repairs


NOT_ALONE = "there is text around the JSON object: answer with the object and nothing else"
"""The error of an answer with more than an edit, if it is read strictly."""


def _fault(error: Any) -> str:
    """The message about an error of pydantic: its location in the JSON, the reason, and the value."""
    where = ".".join(str(step)[:_MAX_SHOWN] for step in error["loc"])
    if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
        return f'{where} is outside of "objects" and "init": {_brief(error["input"])}'
    return f"{where}: {reason_of(error)}: {_brief(error['input'])}"


def _brief(value: Any) -> str:
    return json.dumps(value)[:_MAX_SHOWN]


_MAX_SHOWN = 100
"""Characters of a key or a value in a message."""

SECTIONS = ("types", "constants", "predicates", "rules", "actions")
"""The sections of a domain that an edit may change, in the order of the file."""

Lines = dict[str, str]
"""The lines of a section of a domain by their keys, usually the names that they declare."""


DomainEdit = Mapping[str, SectionEdit]
"""The changes of each section of a domain. Sections without an entry stay as they are.

A type or a constant is a line `NAME - TYPE`, a predicate `(NAME ?x - TYPE …)`, a rule `(:derived (NAME …) …)`, an
action `(:action NAME …)`. The name alone is enough for a line to replace or delete.
"""


@dataclass(frozen=True)
class DomainEditReport:
    """The text of a domain after an edit, which may have defects, and the entries for the lines of the edit."""

    text: str
    entries: tuple[Entry, ...]


def sections_of(domain: Domain) -> dict[str, Lines]:
    """The lines of a domain by section."""
    rules = [f"(:derived {rule.predicate} {rule.condition})" for rule in domain.derived]
    return {
        "types": {str(supertype): str(supertype) for supertype in domain.supertypes},
        "constants": {constant.name: str(constant) for constant in domain.constants},
        "predicates": {predicate.name: str(predicate) for predicate in domain.predicates},
        "functions": {function.name: str(function) for function in domain.functions},
        "rules": {rule: rule for rule in rules},
        "actions": {action.name: _action_text(action) for action in (*domain.actions, *domain.durative)},
    }


def _action_text(action: Action) -> str:
    """An action as PDDL, a line for each of its parts."""
    parameters = " ".join(map(str, action.parameters))
    if isinstance(action, DurativeAction):
        head = f"(:durative-action {action.name}\n    :parameters ({parameters})\n    :duration {action.duration}"
        return f"{head}\n    :condition {action.precondition}\n    :effect {action.effect})"
    return (
        f"(:action {action.name}\n    :parameters ({parameters})\n    :precondition {action.precondition}\n"
        f"    :effect {action.effect})"
    )


def domain_text(name: str, requirements: tuple[str, ...], sections: Mapping[str, Lines]) -> str:
    """The text of a domain file with these lines, which may end in comments. Sections without lines are left out."""
    parts = [f"(:requirements {' '.join(requirements)})"] if requirements else []
    for section in ("types", "constants", "predicates", "functions"):
        lines = "\n    ".join(sections.get(section, {}).values())
        end = "\n  " if ";" in lines else ""  # a comment must not hide the parenthesis
        parts += [f"(:{section}\n    {lines}{end})"] if lines else []
    parts += [*sections.get("rules", {}).values(), *sections.get("actions", {}).values()]
    return "\n  ".join([f"(define (domain {name})", *parts]) + ")"


def domain_parts(domain: Domain) -> dict[str, str]:
    """A line for each declaration, rule and action of a domain, by kind and name."""
    parts = {f"type {supertype.name}": f"type {supertype}" for supertype in domain.supertypes}
    parts |= {f"constant {constant.name}": f"constant {constant}" for constant in domain.constants}
    parts |= {f"predicate {predicate.name}": f"predicate {predicate}" for predicate in domain.predicates}
    parts |= {f"function {function.name}": f"function {function}" for function in domain.functions}
    rules = [f"rule {rule.predicate} if {rule.condition}" for rule in domain.derived]
    parts |= dict(zip(rules, rules, strict=True))
    for action in (*domain.actions, *domain.durative):
        head = " ".join((action.name, *(f"{parameter.name} - {parameter.type}" for parameter in action.parameters)))
        lasts = f" lasts {action.duration}" if isinstance(action, DurativeAction) else ""
        parts[f"action {action.name}"] = f"action ({head}){lasts} needs {action.precondition} changes {action.effect}"
    return parts


def domain_diff(before: Domain, after: Domain) -> Diff:
    """The lines to add to `before`, and to remove from it, to get `after` (see `domain_parts`)."""
    old, new = domain_parts(before), domain_parts(after)
    added = tuple(line for name, line in new.items() if old.get(name) != line)
    return Diff(added, tuple(line for name, line in old.items() if new.get(name) != line))


def domain_edit_between(before: Domain, after: Domain) -> DomainEdit:
    """The edit that turns `before` into `after`, except for names, requirements and functions."""
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


def as_lines(edit: Mapping[str, SectionEdit]) -> Mapping[str, object]:
    """The sections of an edit as JSON values."""
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

    Total: a line that matches nothing of the domain or cannot be read changes nothing, and its entry says so.
    """
    sections, entries = sections_of(domain), list[Entry]()

    def note(kind: EntryKind, where: str, line: str, reason: str = "") -> None:
        entries.append(Entry(kind, where, line, reason))

    for section in SECTIONS:
        changes, lines = edit.get(section, SectionEdit()), sections[section]
        for old in (*changes.delete, *(old for old, new in changes.replace if new is None)):
            keys = _keys_of(section, old, lines)
            note(EntryKind.APPLIED if keys else EntryKind.UNMATCHED, f"domain.{section}.delete", old)
            for key in keys:
                del lines[key]
        for old, new in changes.replace:
            if new is not None:
                _replace(section, lines, old, new, note)
        for line in changes.add:
            definitions = dict(_read(section, line))
            if not definitions:
                note(EntryKind.REFUSED, f"domain.{section}.add", line, f"it is not a line of {section}")
            for key, text in definitions.items():
                same = lines.get(key)
                kind = EntryKind.APPLIED if same is None else EntryKind.ALREADY if same == text else EntryKind.REFUSED
                reason = f"there is one called {key}: replace it" if kind is EntryKind.REFUSED else ""
                note(kind, f"domain.{section}.add", line, reason)
                lines.setdefault(key, text)
    name, requirements = domain.name if domain.text else "game", domain.requirements or (":adl",)
    return DomainEditReport(domain_text(name, requirements, sections), tuple(entries))


def _replace(section: str, lines: Lines, old: str, new: str, note: Callable[..., None]) -> None:
    where, keys, definitions = f"domain.{section}.replace", _keys_of(section, old, lines), dict(_read(section, new))
    if not definitions:
        note(EntryKind.REFUSED, where, new, f"it is not a line of {section}")
        return
    note(EntryKind.APPLIED if keys else EntryKind.UNMATCHED, where, old)
    if not keys:
        return
    kept = {key: line for key, line in lines.items() if key not in definitions}
    lines.clear()
    for key, line in kept.items():
        lines.update(definitions if key == keys[0] else {} if key in keys else {key: line})
    lines.update(definitions)


def _keys_of(section: str, line: str, lines: Lines) -> list[str]:
    """The keys of the lines that a name or a line refers to."""
    word = line.strip().lower()
    if word in lines:
        return [word]
    named = [key for key in lines if section == "types" and key.split(" - ")[0] == word]
    named += [key for key in lines if section == "rules" and re.match(rf"\(:derived \({re.escape(word)}[ )]", key)]
    return named or [key for key, _ in _read(section, line) if key in lines]


def _read(section: str, line: str) -> Iterator[tuple[str, str]]:
    """The key and the text of each definition in a line; nothing if the line cannot be read."""
    reading = read_sexprs(line)
    if reading.defects:
        return
    if section in ("types", "constants"):
        for entry in read_typed_list(reading.expressions)[0]:
            yield (str(entry) if section == "types" else entry.name), str(entry)
        return
    for expression in reading.expressions:
        key = _key(section, expression)
        if key is not None:
            yield key, show(expression)


def _key(section: str, expression: Sexpr) -> str | None:
    """The name of a predicate or an action, or the whole rule (several may have one name); None for other lines."""
    match section, expression:
        case "actions", (":action", str(name), *_):
            return name
        case "rules", (":derived", (str(), *_), _):
            return show(expression)
        case "predicates", (str(name), *_) if not name.startswith(":"):
            return name
    return None
