"""A domain and a problem file together: every repair in its order, and the files written again."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from enum import Enum

from pddlego.pddl.check import check_domain, check_reading
from pddlego.pddl.conditions import ANY_TYPE, TRUE, TypedName, read_typed_list
from pddlego.pddl.domain import DECLARATIONS, FIELDS_OF, Domain, parse_domain
from pddlego.pddl.foreign import CALCULATIONS
from pddlego.pddl.names import is_name
from pddlego.pddl.portable import (
    checked_domain,
    is_numeric_problem,
    is_portable,
    is_sound_problem,
    problem_refusals,
)
from pddlego.pddl.problem import PROBLEM_SECTIONS, Problem, read_problem
from pddlego.pddl.rules import Defect, Level, PddlSyntaxError, Position
from pddlego.pddl.sexpr import Sexpr, show
from pddlego.pddl.tolerant import by_use, structure
from pddlego.pddl.tolerant.layout import EditedText, Section, same_or
from pddlego.pddl.tolerant.lexical import Note, RepairSubject, read_define
from pddlego.pddl.tolerant.parts import Parts, Slot, is_in_order

_OF_PROBLEM = (":domain", ":objects", ":init", ":goal")

_MAX_TEXT = 1_000_000
"""The maximum length of a file to repair, five times the maximum length of an answer."""


class RepairKind(str, Enum):
    """The subject of a repair: characters, the arrangement, or a declaration that the uses of a name imply."""

    LEXICAL = "lexical"
    STRUCTURAL = "structural"
    DECLARED = "declared by use"


@dataclass(frozen=True)
class Repair:
    kind: RepairKind
    what: str
    of: RepairSubject = ""

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.what}"


@dataclass(frozen=True)
class Repaired:
    """A domain and a problem file after all repairs, as texts for the strict reader; unchanged without repairs.

    `declared` are the objects that were declared because of their use. `drafts` map positions to the original texts.
    """

    domain: str
    problem: str
    repairs: tuple[Repair, ...] = ()
    declared: tuple[str, ...] = ()
    drafts: tuple[EditedText, EditedText] | None = None

    def domain_place(self, place: Position) -> Position:
        """The position in the original domain file of a position in the repaired file."""
        return self.drafts[0].original_place(place) if self.drafts else place

    def problem_place(self, place: Position) -> Position:
        """The position in the original problem file of a position in the repaired file."""
        return self.drafts[1].original_place(place) if self.drafts else place


def repair(domain: str, problem: str, level: Level = Level.CLASSICAL, moves: bool = True) -> Repaired:
    """Repair a domain and a problem file as far as this needs no guess. Total: any two texts give a result.

    Files in which `pddlego check` finds no error are left as they are. If a text is empty, only the other one is
    repaired. Texts of more than `_MAX_TEXT` characters stay as they are, because they are not PDDL files. For `level`
    see `check`. Unless it `moves` them, sections of a domain stay in the problem.
    """
    if max(len(domain), len(problem)) > _MAX_TEXT or _is_sound(domain, problem, level):
        return Repaired(domain, problem)
    repairs: dict[Repair, None] = {}

    def noting(kind: RepairKind) -> Note:
        return lambda what, of="": repairs.update({Repair(kind, what, of): None})

    lexical = noting(RepairKind.LEXICAL)
    files = [read_define(text, kind, lexical) for text, kind in ((domain, "domain"), (problem, "problem"))]
    both = all(file.define is not None for file in files)
    reader = _Reader(noting(RepairKind.STRUCTURAL), both, level >= Level.NUMBERS, moves)
    reader.read(files[0].parts, files[1].parts)
    parts = reader.parts
    declared: tuple[str, ...] = ()
    if not reader.is_foreign:  # a declaration or a use may be in what is not read
        declared = by_use.declare(parts, noting(RepairKind.DECLARED), level >= Level.NUMBERS)
    if not repairs:
        return Repaired(domain, problem)
    # A text without any file is left unchanged, so that the check reports it.
    first = files[0].rewritten(parts.domain_sections()) if files[0].define is not None else EditedText.of(domain)
    second = files[1].rewritten(parts.problem_sections()) if files[1].define is not None else EditedText.of(problem)
    return Repaired(first.text, second.text, tuple(repairs), declared, (first, second))


def _is_sound(domain: str, problem: str, level: Level) -> bool:
    """Whether `pddlego check` finds no error in the files that are not empty, and other planners read them."""
    reading = read_problem(problem)
    if not domain.strip():
        refusals = problem_refusals(reading, level, is_numeric_problem(reading.problem))
        return not reading.missing and is_portable((*reading.defects, *refusals))
    checked = checked_domain(domain, level, numeric_task=is_numeric_problem(reading.problem))
    read = checked.domain
    if read is None or not is_portable(checked.defects):
        return False
    return not problem.strip() or is_sound_problem(read, reading, level)


def repair_problem(domain: str, problem: str, level: Level = Level.CLASSICAL, moves: bool = True) -> Repaired:
    """Repair a problem file of a domain that is sound and stays as it is.

    Sections of a domain are left out of the problem, or stay there unless it `moves` them.
    """
    repaired = repair(domain, problem, level, moves)
    own = repair(domain, "", level).repairs  # repairs of the domain alone are not repairs of the problem
    repairs = tuple(repair for repair in repaired.repairs if repair not in own) if repaired.problem != problem else ()
    if not repairs:
        return Repaired(domain, problem)
    return replace(repaired, domain=domain, repairs=repairs)


class _Reader:
    """Collects sections, each in the file where it belongs. Without `both` files, sections stay in their file.

    Forms of other languages for `numbers` and time are replaced. `is_foreign`: a file has sections, or keywords in
    them, that are unknown or misplaced; these stay as they are.
    """

    def __init__(self, note: Note, both: bool, numbers: bool, moves: bool = True) -> None:
        self.parts = Parts()
        self.domain_goals: list[Slot] = []
        self.note, self.both, self.numbers, self.moves = note, both, numbers, moves
        self.is_foreign = False
        self._types: set[str] = set()
        self._placed: set[tuple[bool, str]] = set()
        self._goals: set[tuple[bool, Section]] = set()

    def read(self, domain: Section, problem: Section) -> None:
        functions = set(CALCULATIONS)
        for part in (*domain, *problem):
            if structure.head(part) == ":types":
                self._types.update(map(show, part))
        for in_domain, sections in ((True, domain), (False, problem)):
            if self.numbers:
                sections = tuple(structure.as_durative(part, self.note) for part in sections)
            own = list(structure.sections(sections, self._types, self.note))
            functions |= {part[:1] for section in own if section[0] == ":functions" for part in section[1:]}
            foreign = [not self.numbers or structure.is_foreign(section, self._types) for section in own]
            pairs = zip(own, foreign, strict=True)
            own = [one if stays else structure.with_numbers(one, functions, self.note) for one, stays in pairs]
            kinds = [str(section[0]) for section in own if in_domain or section[0] not in DECLARATIONS[1:]]
            if not is_in_order(kinds, in_domain):
                self.note("sections found in another order than planners read")
            for section in own:
                self._take(section, in_domain)
        if self.domain_goals and self.parts.goals:
            self.note("the goal in the domain file gave way to that of the problem")
        elif self.domain_goals:
            self.parts.in_problem += self.domain_goals
        self._drop_repeated()

    def _take(self, section: Section, in_domain: bool) -> None:
        name, parts, moves = str(section[0]), self.parts, self.both and self.moves
        slots = parts.in_domain if in_domain else parts.in_problem
        is_other = name == ":domain" and parts.problem_domain not in (None, *map(show, section[1:]))
        is_action = name in FIELDS_OF and not structure.has_fields_alone(section)
        if name == structure.STRAY or is_other or is_action or structure.is_foreign(section, self._types):
            self.is_foreign = True
            slots.append(Slot(structure.STRAY, section if name == structure.STRAY else (structure.STRAY, section)))
        elif name in _OF_PROBLEM and (self.both or not in_domain):
            self._problem_section(section, in_domain)
        # A problem may have requirements, too.
        elif name in structure.DOMAIN_SECTIONS and (in_domain or (moves and name != ":requirements")):
            if not in_domain:
                self.note(f"section {name} of the domain found in the problem file")
            self._domain_section(name, section)
        else:
            if name == "domain":
                parts.name = show(section[1]) if len(section) > 1 else "unnamed"
            self.is_foreign |= name not in (("domain",) if in_domain else PROBLEM_SECTIONS)
            slots.append(Slot(name, section))

    def _problem_section(self, section: Section, in_domain: bool) -> None:
        parts, name, rest = self.parts, str(section[0]), section[1:]
        slots = parts.in_problem
        if in_domain:
            self.note(f"section {name} of the problem found in the domain file")
        if name == ":goal":
            self._goal(section, in_domain)
            return
        if name == ":objects" and in_domain:
            # Actions may name constants only; everywhere else a constant is as good as an object.
            self._names(":constants", parts.constants, rest)
            name, slots = ":constants", parts.in_domain
        elif name == ":objects":
            self._objects(rest)
        elif name == ":init":
            parts.init = (*(parts.init or ()), *structure.facts(rest, self.note))
        elif len(rest) == 1:  # several names stay: the check reports them
            parts.problem_domain = show(rest[0])
        self._add(slots, Slot(name, section))

    def _add(self, slots: list[Slot], slot: Slot) -> None:
        """Add the slot of a section that a file has only once."""
        place = (slots is self.parts.in_domain, slot.kind)
        if place in self._placed:
            self.note(f"section {slot.kind} found twice")
        self._placed.add(place)
        slots.append(slot)

    def _goal(self, section: Section, in_domain: bool) -> None:
        """Add a goal. Two different goals both stay, and the check reports them."""
        conditions = tuple(structure.joined(part, self.note) for part in section[1:])
        if conditions == ((),):
            self.note("the goal was empty")
            conditions = (("and",),)
        if len(conditions) > 1:
            self.note("conditions found side by side in the goal")
            words = all(isinstance(condition, str) for condition in conditions)
            conditions = (conditions if words else ("and", *conditions),)
        goals = self.domain_goals if in_domain else self.parts.in_problem
        slot = Slot(":goal", same_or(section, (":goal", *conditions)))
        if (in_domain, slot.section) in self._goals:
            self.note("the goal found twice")
        else:
            goals.append(slot)
        self._goals.add((in_domain, slot.section))

    def _objects(self, rest: Section) -> None:
        """Add objects. A group such as `(kitchen location)` may be a name and its type: it stays for the check."""
        parts = self.parts
        types = {type_name.name for type_name in parts.types} | {type_name.type for type_name in parts.types}

        def is_unclear(part: Sexpr) -> bool:
            return isinstance(part, tuple) and "-" not in part and not types.isdisjoint(part[1:])

        parts.unread_objects += tuple(filter(is_unclear, rest))
        parts.objects = parts.objects or []
        self._names(":objects", parts.objects, tuple(itertools.filterfalse(is_unclear, rest)))

    def _names(self, kind: str, names: list[TypedName], rest: Section) -> None:
        """Add the names of a typed list to those of its kind."""
        words = structure.flat_list(rest, self.note)
        self.parts.add_words(kind, words)
        names += read_typed_list(words)[0]

    def _domain_section(self, name: str, section: Section) -> None:
        rest, parts = section[1:], self.parts
        if name == ":requirements":
            parts.requirements += map(show, rest)
        elif name == ":types":
            self._names(name, parts.types, rest)
        elif name == ":constants":
            self._names(name, parts.constants, rest)
        elif name == ":predicates":
            parts.predicates += self._predicates(rest)
        elif name == ":functions":
            parts.functions = structure.joined_lists((parts.functions, rest))
        if name in (*FIELDS_OF, ":derived"):
            parts.in_domain.append(Slot(name, section))
        else:
            self._add(parts.in_domain, Slot(name, section))

    def _predicates(self, rest: Section) -> Section:
        """The predicates, with parentheses around bare names of predicates without arguments."""
        words = [part for part in rest if isinstance(part, str)]
        predicates = tuple(
            same_or(part, (part[0], *structure.flat_list(part[1:], self.note)))
            if isinstance(part, tuple) and part
            else part
            for part in rest
        )
        if not words or not all(map(is_name, words)):
            return predicates
        self.note("a predicate found without parentheses")
        return tuple((part,) if isinstance(part, str) else part for part in predicates)

    def _drop_repeated(self) -> None:
        parts = self.parts
        self._drop_own_subtypes()
        once = list(dict.fromkeys(parts.constants))
        if len(once) < len(parts.constants):
            self.note("something found twice among the constants")
            parts.constants = once
        seen: set[Section] = set()
        kept: list[Slot] = []
        for slot in parts.in_domain:
            if slot.kind != ":action" or slot.section not in seen:
                kept.append(slot)
            if slot.kind == ":action":
                seen.add(slot.section)
        if len(kept) < len(parts.in_domain):
            self.note("an action is defined twice in the same words")
            parts.in_domain = kept
        if parts.objects is not None:
            self._drop_repeated_objects(parts.objects)

    def _drop_own_subtypes(self) -> None:
        """Turn `room - room` into a type `room`. `a room - room` stays, because the parent of `a` may be missing."""
        parts = self.parts
        words = parts.words.get(":types", ())
        ends = [number for number, word in enumerate(words) if word == "-"]
        alone = {show(words[end - 1]) for begin, end in zip((-2, *ends), ends, strict=False) if end - begin == 3}
        selves = {name.name: None for name in parts.types if name.name == name.type != ANY_TYPE and name.name in alone}
        if selves:
            self.note(f"type {', '.join(selves)} was its own subtype")
            kept = [name for name in parts.types if not (name.name == name.type and name.name in selves)]
            declared = {other.name for other in kept}
            parts.types = [*kept, *(TypedName(name) for name in selves if name not in declared)]

    def _drop_repeated_objects(self, objects: list[TypedName]) -> None:
        parts = self.parts
        kinds = {obj.name: obj.type for obj in objects if obj.type != ANY_TYPE}
        typed = [
            replace(constant, type=kinds.get(constant.name, ANY_TYPE))
            for constant in parts.constants
            if constant.type == ANY_TYPE
        ]
        if any(constant.type != ANY_TYPE for constant in typed):
            self.note("constants without a type were declared with one among the objects")
            parts.constants = [*typed, *(constant for constant in parts.constants if constant.type != ANY_TYPE)]
        constants = {constant.name: constant.type for constant in parts.constants}
        once = list(dict.fromkeys(objects))
        fits = [obj for obj in once if constants.get(obj.name) not in (obj.type, *([ANY_TYPE] * bool(kinds)))]
        fits = [obj for obj in fits if obj.type != ANY_TYPE or not (obj.name in constants or obj.name in kinds)]
        if len(fits) < len(objects):
            self.note("an object found twice, or was a constant already")
        parts.objects = fits
        self._of_both_types(fits)

    def _of_both_types(self, objects: list[TypedName]) -> None:
        """Give an object that is declared with two types a new common subtype of both."""
        parts = self.parts
        kinds: dict[str, list[str]] = {}
        for obj in objects:
            kinds.setdefault(obj.name, []).append(obj.type)
        joint = {name: "-and-".join(sorted(several)) for name, several in kinds.items() if len(several) > 1}
        declared = {type_name.name for type_name in parts.types}
        for name, both in joint.items():
            self.note(f"{name} has the types {' and '.join(kinds[name])}, and is of both")
            if both not in declared:
                declared.add(both)
                parts.types += [TypedName(both, kind) for kind in sorted(kinds[name])]
        if joint:
            single = [obj for obj in parts.objects or () if obj.name not in joint]
            parts.objects = [*single, *(TypedName(name, both) for name, both in joint.items())]


@dataclass(frozen=True)
class PairReading:
    """The result of reading a domain and a problem. `domain` is None if its text cannot be read.

    `in_domain` are the blocking defects of the domain, and `in_problem` those of the problem, which is not checked
    without a domain. The pair can be planned with if there is a domain and no defect.
    """

    files: Repaired
    domain: Domain | None
    problem: Problem
    in_domain: tuple[Defect, ...] = ()
    in_problem: tuple[Defect, ...] = ()

    @property
    def defects(self) -> tuple[Defect, ...]:
        """All blocking defects, those of the domain first."""
        return self.in_domain + self.in_problem


def read_pair(domain: str, problem: str, goal_needed: bool = True, level: Level = Level.CLASSICAL) -> PairReading:
    """Read a domain and a problem. Total: any two texts give a reading.

    Unless `goal_needed`, the goal is ignored, and a missing goal is not a defect. For `level` see `check`.
    """
    files = repair(domain, problem, level)
    reading = read_problem(files.problem)
    if not goal_needed:
        missing = tuple(name for name in reading.missing if name != ":goal")
        reading = replace(reading, problem=reading.problem.with_goal(TRUE), missing=missing)
    try:
        value = parse_domain(files.domain)
    except PddlSyntaxError as error:
        return PairReading(files, None, reading.problem, error.defects)
    in_problem = tuple(defect for defect in check_reading(value, reading, level) if defect.blocking)
    return PairReading(files, value, reading.problem, check_domain(value, level), in_problem)
