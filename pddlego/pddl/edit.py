"""PDDL-edit: the paper's JSON edit of a problem, applied to atoms instead of lines.

The order is fixed: (1) rename objects, (2) delete, (3) replace facts, (4) add. Renaming comes first, so that the rest
of an edit may use the old or the new name; it works on whole names, so `loc1` never touches `loc10`. Renaming onto an
object that exists merges the two: a loop of the map has closed. Deleting an object deletes the facts about it.

`apply_edit` is pure and total: it returns the new problem with a report of what every line of the edit did. Nothing
fails silently; what is harmless is done and noted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pddlego.pddl.edit_values import Edit, EditReport, Entry, EntryKind
from pddlego.pddl.problem import ANY_TYPE, Atom, Problem, TypedName, read_atom, read_typed_list, rename, rename_atom
from pddlego.pddl.sexpr import read_sexprs, show


def apply_edit(problem: Problem, edit: Edit, constants: Iterable[TypedName] = ()) -> EditReport:
    """Apply `edit` to `problem`; `constants` are the domain's objects, which exist without being declared."""
    bench = _Bench(problem, constants)
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
    return EditReport(bench.problem(), tuple(bench.entries), tuple(bench.carried.items()))


RENAME = "objects.replace"

MAX_LINE = 200
"""Characters of a line of an edit that its entries show."""


class _Bench:
    """The problem while it is edited. Lives for one call of `apply_edit`."""

    def __init__(self, problem: Problem, constants: Iterable[TypedName]) -> None:
        self.before = problem
        self.constants = {each.name: each.type for each in constants}
        self.objects = {each.name: each.type for each in problem.sorted_objects()}
        self.twins = {each for each in problem.objects if self.objects[each.name] != each.type}
        self.facts = set(problem.facts)
        self.goal = problem.goal
        self.renamed: dict[str, str] = {}
        self.carried: dict[str, str] = {}
        self.removed: set[Atom] = set()
        self.merged: dict[Atom, Atom] = {}
        self.entries: list[Entry] = []

    def problem(self) -> Problem:
        objects = {TypedName(name, kind) for name, kind in self.objects.items()} | self.twins
        return Problem(self.before.name, self.before.domain, frozenset(objects), frozenset(self.facts), self.goal)

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
                self.delete_objects([old_line], RENAME)
            elif len(old) != 1 or len(new) != 1:
                self.note(EntryKind.REFUSED, RENAME, line, "write one 'name - type' on each side")
            elif old[0].name in self.constants:
                self.note(EntryKind.REFUSED, RENAME, line, f"{old[0].name} belongs to the domain and keeps its name")
            elif old[0].name in self.objects:
                renames.append((old[0], new[0], line))
            elif new[0].name in self.objects or new[0].name in self.constants:
                self.note(EntryKind.ALREADY, RENAME, line, f"there is no object {old[0].name}")
                done[old[0].name] = new[0].name
            else:
                self.note(EntryKind.UNMATCHED, RENAME, line, f"there is no object {old[0].name}")
        self._carry(renames)
        declared = {each.name for line in added for each in self._typed(line)}
        # A name that was given away and taken again means its new owner.
        taken = declared | set(self.carried.values())
        self.renamed = {old: new for old, new in (self.carried | done).items() if old not in taken}

    def _carry(self, renames: list[tuple[TypedName, TypedName, str]]) -> None:
        """Rename all at once, so that two objects may swap their names."""
        names = {old.name: new.name for old, new, _ in renames if old.name in self.objects}
        staying = {name: kind for name, kind in self.objects.items() if name not in names}
        taken = set(staying) | set(self.constants)
        for old, new, line in renames:
            if old.name not in names:
                self.note(EntryKind.UNMATCHED, RENAME, line, f"{old.name} is deleted by the same edit")
            elif old.name == new.name and new.type in (ANY_TYPE, self.objects[old.name]):
                self.note(EntryKind.ALREADY, RENAME, line, "the name stays")
            elif old.name == new.name:
                self.note(EntryKind.APPLIED, RENAME, line, f"it was a {self.objects[old.name]}")
            elif new.name in taken:
                self.note(EntryKind.MERGED, RENAME, line, f"{new.name} exists: the two become one")
            else:
                self.note(EntryKind.RENAMED, RENAME, line)
            taken.add(new.name)
        for old, new, _ in renames:
            if old.name in names and new.name not in self.constants:
                kind = self.objects[old.name] if new.type == ANY_TYPE else new.type
                staying.setdefault(new.name, kind)
        self.objects = staying
        self.twins = {each for each in self.twins if self.objects.get(each.name, each.type) != each.type}
        moved = rename(replace(self.before, facts=frozenset(self.facts)), names)
        self.merged = {rename_atom(each, names): each for each in self.facts if _merges(each, names)}
        self.facts, self.goal = set(moved.facts), moved.goal
        self.carried = {old: new for old, new in names.items() if old != new}

    def check_merged(self) -> None:
        """Refuse to make one of two objects that stand in one fact, unless the edit takes that fact back."""
        for after, before in sorted(self.merged.items(), key=lambda pair: pair[1].sort_key):
            if after in self.facts:
                why = f"the problem has {before}, which names both: delete that fact, or keep them apart"
                names = next(pair for pair in self.carried.items() if pair[0] in before.args)
                self.note(EntryKind.REFUSED, RENAME, " -> ".join(names), why)

    # (2) delete

    def delete_objects(self, lines: Iterable[str], where: str = "objects.delete") -> None:
        for line in lines:
            typed = self._typed(line)
            if not typed:
                self.note(EntryKind.REFUSED, where, line, "write 'name - type'")
            for each in typed:
                name = self.renamed.get(each.name, each.name)
                if name not in self.objects:
                    gone = each.name in self.renamed.values()
                    self.note(EntryKind.ALREADY if gone else EntryKind.UNMATCHED, where, line, f"no object {name}")
                elif name != each.name:
                    self.note(EntryKind.TOLERATED, where, line, f"it was renamed to {name}, which stays")
                else:
                    self._drop_object(name, where, line)

    def _drop_object(self, name: str, where: str, line: str) -> None:
        del self.objects[name]
        self.twins = {each for each in self.twins if each.name != name}
        about = sorted((each for each in self.facts if name in each.args), key=lambda each: each.sort_key)
        self.facts -= set(about)
        self.removed |= set(about)
        listed = " ".join(str(each) for each in about)
        self.note(EntryKind.APPLIED, where, line, f"with it: {listed}" if about else "")

    def delete_fact(self, where: str, line: str) -> None:
        for atom, _ in self._atoms(where, line):
            found = self._find(atom)
            if found is None:
                self.note(EntryKind.UNMATCHED, where, str(atom), "the problem has no such fact")
            else:
                self.facts.discard(found)
                self.removed.add(found)
                self.note(EntryKind.APPLIED, where, str(atom), "" if found == atom else f"as {found}")

    # (3) replace

    def replace_fact(self, old_line: str, new_line: str | None) -> None:
        where = "init.replace"
        if _is_nothing(new_line):
            self.delete_fact(where, old_line)
            return
        old, new = self._atoms(where, old_line), self._atoms(where, new_line or "")
        if len(old) != 1 or len(new) != 1:
            if old and new:
                self.note(EntryKind.REFUSED, where, f"{old_line} -> {new_line}", "write one fact on each side")
            return
        before, after = old[0][0], self._current(new[0][0])
        if self._names_both(where, new[0][0]):
            return
        line = f"{before} -> {new[0][0]}"
        found = self._find(before)
        if found is None:
            self._replace_missing(before, after, line)
        elif found == after:
            self.note(EntryKind.ALREADY, where, line, "nothing changes")
        else:
            self.facts.discard(found)
            self.removed.add(found)
            self.facts.add(after)
            self.note(EntryKind.APPLIED, where, line)

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
        for each in typed:
            known = self.constants.get(each.name, self.objects.get(each.name))
            if known is None:
                self.objects[each.name] = each.type
                self.note(EntryKind.APPLIED, where, str(each))
            elif known == each.type or each.type == ANY_TYPE:
                self.note(EntryKind.ALREADY, where, str(each))
            else:
                self.note(EntryKind.REFUSED, where, str(each), f"{each.name} is a {known}; give it one type")

    def add_facts(self, line: str) -> None:
        where = "init.add"
        for written, tolerated in self._atoms(where, line, negation=True):
            atom = self._current(written)
            if self._names_both(where, written):
                continue
            if atom in self.facts:
                self.note(EntryKind.ALREADY, where, str(written))
                continue
            self.facts.add(atom)
            note = tolerated or ("" if atom == written else f"as {atom}")
            self.note(EntryKind.TOLERATED if note else EntryKind.APPLIED, where, str(written), note)

    # reading the lines

    def _current(self, atom: Atom) -> Atom:
        return rename_atom(atom, self.renamed)

    def _names_both(self, where: str, written: Atom) -> bool:
        """Whether a line names an object by its old and its new name, which would make it a fact about one thing."""
        if not _merges(written, self.renamed):
            return False
        old, new = next(pair for pair in self.renamed.items() if pair[0] in written.args)
        why = f"the same edit makes {old} and {new} one, and this names both: use one name, or keep them apart"
        self.note(EntryKind.REFUSED, where, str(written), why)
        return True

    def _find(self, atom: Atom) -> Atom | None:
        """The fact that `atom` means, under the new names or the old ones."""
        current = self._current(atom)
        if current in self.facts:
            return current
        return atom if atom in self.facts else None

    def _typed(self, line: str) -> list[TypedName]:
        reading = read_sexprs(line)
        if reading.faults:
            return []
        faults: list[str] = []
        parts = reading.expressions
        if len(parts) == 1 and isinstance(parts[0], tuple):
            parts = parts[0]
        typed = list(read_typed_list(parts, faults))
        return [] if faults else typed

    def _atoms(self, where: str, line: str, negation: bool = False) -> list[tuple[Atom, str]]:
        """The facts that a line states, each with a note on what was tolerated; an unreadable line is refused."""
        reading = read_sexprs(line)
        parts = reading.expressions
        note = "a parenthesis was missing" if reading.faults else ""
        if parts and all(isinstance(part, str) for part in parts):
            parts, note = (tuple(parts),), "it stood without parentheses"
        found: list[tuple[Atom, str]] = []
        negated: list[str] = []
        for part in parts:
            atom = read_atom(part)
            if atom is not None:
                found.append((atom, note))
            elif negation and isinstance(part, tuple) and len(part) == 2 and part[0] == "not":
                negated.append(show(part[1]))
            else:
                found, negated = [], []
                break
        for fact in negated:
            self.delete_fact(where, fact)
        if not found and not negated:
            self.note(EntryKind.REFUSED, where, line, "it is no fact: write (predicate object …)")
        return found


def _merges(atom: Atom, names: Mapping[str, str]) -> bool:
    """Whether arguments of the fact that differ become the same under other names."""
    return len(set(rename_atom(atom, names).args)) < len(set(atom.args))


def _is_nothing(line: str | None) -> bool:
    """Whether a line stands for deleting: null, the word for it, or nothing at all."""
    return line is None or line.strip().lower() in ("", "null", "none")
