"""A domain and a problem file together: every repair in its order, and the files written again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from pddlego.pddl.check import check_domain, check_reading
from pddlego.pddl.conditions import ANY_TYPE, TRUE, TypedName
from pddlego.pddl.domain import Domain, parse_domain
from pddlego.pddl.problem import Problem, read_problem
from pddlego.pddl.rules import Defect, PddlSyntaxError
from pddlego.pddl.sexpr import Sexpr, show
from pddlego.pddl.tolerant import by_use, declare, structure
from pddlego.pddl.tolerant.lexical import Note, read_file
from pddlego.pddl.tolerant.structure import PROBLEM_SECTIONS, Parts, Section

_MAX_TEXT = 1_000_000
"""Characters of a file that is repaired; the longest answer that is read has a fifth of it."""


class RepairKind(str, Enum):
    """What a repair concerns: the letters, the arrangement, or a declaration that only its use makes."""

    LEXICAL = "lexical"
    STRUCTURAL = "structural"
    DECLARED = "declared by use"


@dataclass(frozen=True)
class Repair:
    """One repair."""

    kind: RepairKind
    what: str

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.what}"


@dataclass(frozen=True)
class Repaired:
    """A domain and a problem file after all repairs, as texts for the strict reader. Without repairs: as they were.

    `declared` are the objects that only their use declares.
    """

    domain: str
    problem: str
    repairs: tuple[Repair, ...] = ()
    declared: tuple[str, ...] = ()


def repair(domain: str, problem: str) -> Repaired:
    """Repair a domain and a problem file as far as nothing has to be guessed. Total: any two texts give a result.

    Texts of more than `_MAX_TEXT` characters stay as they are: they are not problem files.
    """
    if max(len(domain), len(problem)) > _MAX_TEXT:
        return Repaired(domain, problem)
    repairs: dict[Repair, None] = {}

    def noting(kind: RepairKind) -> Note:
        return lambda what: repairs.update({Repair(kind, what): None})

    lexical = noting(RepairKind.LEXICAL)
    read = read_file(domain, "domain", lexical), read_file(problem, "problem", lexical)
    reader = _Reader(noting(RepairKind.STRUCTURAL))
    reader.read(*read)
    parts = reader.parts
    declared = by_use.declare(parts, noting(RepairKind.DECLARED))
    if not repairs:
        return Repaired(domain, problem)
    # A text without any file is left unchanged, so that the check reports it.
    return Repaired(
        parts.domain_text() if read[0] else domain,
        parts.problem_text() if read[1] else problem,
        tuple(repairs),
        declared,
    )


def repair_problem(domain: str, problem: str) -> Repaired:
    """Repair a problem file of a domain that is sound and stays as it is."""
    repaired = repair(domain, problem)
    own = repair(domain, "").repairs  # what is said of the domain alone is not the model's doing
    repairs = tuple(repair for repair in repaired.repairs if repair not in own) if repaired.problem != problem else ()
    return Repaired(domain, repaired.problem if repairs else problem, repairs, repaired.declared if repairs else ())


class _Reader:
    """Takes sections in, each where it belongs."""

    def __init__(self, arranged: Note) -> None:
        self.parts = Parts()
        self.domain_goals: list[Section] = []
        self.arranged = arranged

    def read(self, domain: list[Sexpr], problem: list[Sexpr]) -> None:
        for in_domain, sections in ((True, domain), (False, problem)):
            for section in structure.sections(sections, self.arranged):
                self._take(section, in_domain)
        if self.domain_goals and self.parts.goals:
            self.arranged("the goal in the domain file gave way to that of the problem")
        self.parts.goals = self.parts.goals or self.domain_goals
        self._drop_repeated()

    def _take(self, section: Section, in_domain: bool) -> None:
        name, rest = str(section[0]), section[1:]
        if name == "domain":
            self.parts.name = show(rest[0]) if rest else "unnamed"
        elif name == "problem":
            self.parts.problem_name = show(rest[0]) if rest else "unnamed"
        elif name in PROBLEM_SECTIONS:
            self._problem_section(name, rest, in_domain)
        elif not in_domain and name not in structure.DOMAIN_SECTIONS:
            self.parts.problem_others.append(section)
        else:
            if not in_domain and name != ":requirements":
                self.arranged(f"section {name} of the domain stood in the problem file")
            self._domain_section(name, section)

    def _problem_section(self, name: str, rest: Section, in_domain: bool) -> None:
        parts = self.parts
        if in_domain:
            self.arranged(f"section {name} of the problem stood in the domain file")
        if name == ":domain":
            parts.asked_domain = show(rest[0]) if rest else parts.name
        elif name == ":objects" and in_domain:
            # What the domain's actions may name must be constants; elsewhere they are as good as objects.
            parts.constants += declare.typed(self._flat(rest))
        elif name == ":objects":
            self._objects(rest)
        elif name == ":init":
            parts.init = structure.facts((*(parts.init or ()), *rest), self.arranged)
        else:
            self._goal(rest, in_domain)

    def _goal(self, rest: Section, in_domain: bool) -> None:
        """A goal. Two that differ both stay, for the check to say so."""
        conditions = tuple(structure.joined(part, self.arranged) for part in rest)
        goals = self.domain_goals if in_domain else self.parts.goals
        if conditions in goals:
            self.arranged("the goal stood twice")
        else:
            goals.append(conditions)

    def _objects(self, rest: Section) -> None:
        """Objects; a group that may be a name and its type, as `(kitchen location)`, stays for the check to ask."""
        types = {type_name.name for type_name in self.parts.types} | {type_name.type for type_name in self.parts.types}
        unclear = tuple(part for part in rest if isinstance(part, tuple) and "-" not in part and types & set(part[1:]))
        clear = tuple(part for part in rest if part not in unclear)
        self.parts.unread_objects += unclear
        self.parts.objects = (self.parts.objects or []) + declare.typed(self._flat(clear))

    def _flat(self, rest: Section) -> Section:
        return structure.flat_list(rest, self.arranged)

    def _domain_section(self, name: str, section: Section) -> None:
        rest, parts = section[1:], self.parts
        if name == ":requirements":
            parts.requirements += [
                show(requirement) for requirement in rest if show(requirement) not in parts.requirements
            ]
        elif name == ":types":
            parts.types += declare.typed(self._flat(rest))
        elif name == ":constants":
            parts.constants += declare.typed(self._flat(rest))
        elif name == ":predicates":
            parts.predicates += [predicate if isinstance(predicate, tuple) else (predicate,) for predicate in rest]
        elif name == ":action":
            parts.actions.append(section)
        else:
            parts.others.append(section)

    def _drop_repeated(self) -> None:
        parts = self.parts
        kept = [
            type_name for type_name in parts.types if type_name.name != type_name.type or type_name.name == ANY_TYPE
        ]
        selves = [
            type_name.name
            for type_name in parts.types
            if type_name.name == type_name.type and type_name.name != ANY_TYPE
        ]
        if selves:
            self.arranged(f"type {', '.join(selves)} was its own subtype")
        parts.types = [
            *kept,
            *(TypedName(type_name) for type_name in selves if type_name not in {one.name for one in kept}),
        ]
        for name in ("types", "constants", "predicates", "actions", "others"):
            parts_listed = getattr(parts, name)
            once = list(dict.fromkeys(parts_listed))
            if len(once) < len(parts_listed):
                self.arranged(f"something stood twice among the {name}")
                setattr(parts, name, once)
        if parts.objects is not None:
            self._drop_repeated_objects(parts.objects)

    def _drop_repeated_objects(self, objects: list[TypedName]) -> None:
        parts = self.parts
        kinds = {obj.name: obj.type for obj in objects if obj.type != ANY_TYPE}
        typed = [
            replace(constant, type=kinds.get(constant.name, ANY_TYPE))
            for constant in parts.constants
            if constant.type == ANY_TYPE
        ]
        if any(constant.type != ANY_TYPE for constant in typed):
            self.arranged("constants without a type were declared with one among the objects")
            parts.constants = [*typed, *(constant for constant in parts.constants if constant.type != ANY_TYPE)]
        constants = {constant.name: constant.type for constant in parts.constants}
        once = list(dict.fromkeys(objects))
        fits = [obj for obj in once if constants.get(obj.name) not in (obj.type, *([ANY_TYPE] * bool(kinds)))]
        fits = [obj for obj in fits if obj.type != ANY_TYPE or obj.name not in {*constants, *kinds}]
        if len(fits) < len(objects):
            self.arranged("an object stood twice, or was a constant already")
        parts.objects = fits
        self._of_both_types(fits)

    def _of_both_types(self, objects: list[TypedName]) -> None:
        """An object that is declared with two types is of both."""
        parts = self.parts
        kinds: dict[str, list[str]] = {}
        for obj in objects:
            kinds.setdefault(obj.name, []).append(obj.type)
        for name, several in kinds.items():
            if len(several) > 1:
                both = "-and-".join(sorted(several))
                self.arranged(f"{name} has the types {' and '.join(several)}, and is of both")
                if both not in {type_name.name for type_name in parts.types}:
                    parts.types += [TypedName(both, kind) for kind in sorted(several)]
                parts.objects = [obj for obj in parts.objects or () if obj.name != name] + [TypedName(name, both)]


@dataclass(frozen=True)
class PairReading:
    """What could be read. `domain` and `problem` are values as far as the texts are files; the pair can be planned with
    if there is a domain and no defect.

    `in_domain` are the defects of the domain, `in_problem` those of the problem, blocking ones only; without a domain
    nothing is said of the problem.
    """

    files: Repaired
    domain: Domain | None
    problem: Problem
    in_domain: tuple[Defect, ...] = ()
    in_problem: tuple[Defect, ...] = ()

    @property
    def defects(self) -> tuple[Defect, ...]:
        """All that stops planning, the domain's first."""
        return self.in_domain + self.in_problem


def read_pair(domain: str, problem: str, goal_needed: bool = True) -> PairReading:
    """Read a domain and a problem. Total: any two texts give a reading.

    Where no `goal` is `needed` a problem without one is not a defect.
    """
    files = repair(domain, problem)
    reading = read_problem(files.problem)
    if not goal_needed:
        missing = tuple(name for name in reading.missing if name != ":goal")
        reading = replace(reading, problem=reading.problem.with_goal(TRUE), missing=missing)
    try:
        value = parse_domain(files.domain)
    except PddlSyntaxError as error:
        return PairReading(files, None, reading.problem, error.defects)
    in_problem = tuple(defect for defect in check_reading(value, reading) if defect.blocking)
    return PairReading(files, value, reading.problem, check_domain(value), in_problem)
