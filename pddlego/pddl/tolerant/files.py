"""A domain and a problem file together: every repair in its order, and the files written again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from pddlego.pddl.problem import ANY_TYPE, TypedName
from pddlego.pddl.sexpr import Sexpr, show
from pddlego.pddl.tolerant import declare, structure
from pddlego.pddl.tolerant.lexical import Note, read_file
from pddlego.pddl.tolerant.structure import PROBLEM_SECTIONS, Section

MAX_TEXT = 1_000_000
"""Characters of a file that is repaired; the longest answer that is read has a fifth of it."""


class RepairKind(str, Enum):
    """What a repair concerns: the letters, the arrangement, or a declaration that only its use makes."""

    LEXICAL = "lexical"
    STRUCTURAL = "structural"
    DECLARED = "declared by use"


@dataclass(frozen=True)
class Repair:
    """One thing that was mended."""

    kind: RepairKind
    what: str

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.what}"


@dataclass(frozen=True)
class Repaired:
    """A domain and a problem file after all repairs, as texts for the strict reader. Without repairs: as they were."""

    domain: str
    problem: str
    repairs: tuple[Repair, ...] = ()


def repair(domain: str, problem: str) -> Repaired:
    """Repair a domain and a problem file as far as nothing has to be guessed. Total: any two texts give a result.

    Texts of more than `MAX_TEXT` characters stay as they are: they are nobody's problem files.
    """
    if max(len(domain), len(problem)) > MAX_TEXT:
        return Repaired(domain, problem)
    repairs: dict[Repair, None] = {}

    def noting(kind: RepairKind) -> Note:
        return lambda what: repairs.update({Repair(kind, what): None})

    files = _Files(noting(RepairKind.STRUCTURAL), noting(RepairKind.DECLARED))
    lexical = noting(RepairKind.LEXICAL)
    parts = read_file(domain, "domain", lexical), read_file(problem, "problem", lexical)
    files.read(*parts)
    files.declare()
    if not repairs:
        return Repaired(domain, problem)
    # Where there is no file at all, the text stays as it is for the check to say so.
    return Repaired(
        files.domain_text() if parts[0] else domain, files.problem_text() if parts[1] else problem, tuple(repairs)
    )


def repair_problem(domain: str, problem: str) -> Repaired:
    """Repair a problem file of a domain that is sound and stays as it is."""
    found = repair(domain, problem)
    own = repair(domain, "").repairs  # what is said of the domain alone is not the model's doing
    repairs = tuple(each for each in found.repairs if each not in own) if found.problem != problem else ()
    return Repaired(domain, found.problem if repairs else problem, repairs)


@dataclass
class _Files:
    """Both files as sections, while they are repaired."""

    arranged: Note
    declared: Note
    name: str = "unnamed"
    problem_name: str = "unnamed"
    asked_domain: str | None = None
    requirements: list[str] = field(default_factory=list)
    types: list[TypedName] = field(default_factory=list)
    constants: list[TypedName] = field(default_factory=list)
    predicates: list[Section] = field(default_factory=list)
    actions: list[Section] = field(default_factory=list)
    others: list[Section] = field(default_factory=list)
    objects: list[TypedName] | None = None
    init: Section | None = None
    goal: Section | None = None

    def read(self, domain: list[Sexpr], problem: list[Sexpr]) -> None:
        for in_domain, parts in ((True, domain), (False, problem)):
            for section in structure.sections(parts, self.arranged):
                self._take(section, in_domain)
        self._drop_repeated()

    def _take(self, section: Section, in_domain: bool) -> None:
        name, rest = str(section[0]), section[1:]
        if name in ("domain", "problem"):
            self._named(name, rest)
        elif name in PROBLEM_SECTIONS:
            self._problem_section(name, rest, in_domain)
        else:
            if not in_domain and name in structure.DOMAIN_SECTIONS and name != ":requirements":
                self.arranged(f"section {name} of the domain stood in the problem file")
            self._domain_section(name, section)

    def _named(self, kind: str, rest: Section) -> None:
        name = show(rest[0]) if rest else "unnamed"
        if kind == "domain":
            self.name = name
        else:
            self.problem_name = name

    def _problem_section(self, name: str, rest: Section, in_domain: bool) -> None:
        if in_domain:
            self.arranged(f"section {name} of the problem stood in the domain file")
        if name == ":domain":
            self.asked_domain = show(rest[0]) if rest else self.name
        elif name == ":objects" and in_domain:
            # What the domain's actions may name must be constants; elsewhere they are as good as objects.
            self.constants += declare.typed(structure.flat_list(rest, self.arranged))
        elif name == ":objects":
            self.objects = (self.objects or []) + declare.typed(structure.flat_list(rest, self.arranged))
        elif name == ":init":
            self.init = structure.facts((*(self.init or ()), *rest), self.arranged)
        elif not in_domain or self.goal is None:
            self.goal = tuple(structure.joined(each, self.arranged) for each in rest)

    def _domain_section(self, name: str, section: Section) -> None:
        rest = section[1:]
        if name == ":requirements":
            self.requirements += [show(each) for each in rest if show(each) not in self.requirements]
        elif name == ":types":
            self.types += declare.typed(structure.flat_list(rest, self.arranged))
        elif name == ":constants":
            self.constants += declare.typed(structure.flat_list(rest, self.arranged))
        elif name == ":predicates":
            self.predicates += [each if isinstance(each, tuple) else (each,) for each in rest]
        elif name == ":action":
            self.actions.append(section)
        else:
            self.others.append(section)

    def _drop_repeated(self) -> None:
        kept = [each for each in self.types if each.name != each.type or each.name == ANY_TYPE]
        selves = [each.name for each in self.types if each.name == each.type and each.name != ANY_TYPE]
        if selves:
            self.arranged(f"type {', '.join(selves)} was its own subtype")
        self.types = [*kept, *(TypedName(each) for each in selves if each not in {one.name for one in kept})]
        for name in ("types", "constants", "predicates", "actions", "others"):
            listed = getattr(self, name)
            once = list(dict.fromkeys(listed))
            if len(once) < len(listed):
                self.arranged(f"something stood twice among the {name}")
                setattr(self, name, once)
        if self.objects is not None:
            self._drop_repeated_objects(self.objects)

    def _drop_repeated_objects(self, objects: list[TypedName]) -> None:
        kinds = {each.name: each.type for each in objects if each.type != ANY_TYPE}
        typed = [replace(each, type=kinds.get(each.name, ANY_TYPE)) for each in self.constants if each.type == ANY_TYPE]
        if any(each.type != ANY_TYPE for each in typed):
            self.arranged("constants without a type were declared with one among the objects")
            self.constants = [*typed, *(each for each in self.constants if each.type != ANY_TYPE)]
        constants = {each.name: each.type for each in self.constants}
        once = list(dict.fromkeys(objects))
        fits = [each for each in once if constants.get(each.name) not in (each.type, *([ANY_TYPE] * bool(kinds)))]
        fits = [each for each in fits if each.type != ANY_TYPE or each.name not in {*constants, *kinds}]
        if len(fits) < len(objects):
            self.arranged("an object stood twice, or was a constant already")
        self.objects = fits
        self._of_both_types(fits)

    def _of_both_types(self, objects: list[TypedName]) -> None:
        """An object that is declared with two types is of both."""
        kinds: dict[str, list[str]] = {}
        for each in objects:
            kinds.setdefault(each.name, []).append(each.type)
        for name, several in kinds.items():
            if len(several) > 1:
                both = "-and-".join(sorted(several))
                self.arranged(f"{name} has the types {' and '.join(several)}, and is of both")
                if both not in {each.name for each in self.types}:
                    self.types += [TypedName(both, each) for each in sorted(several)]
                self.objects = [each for each in self.objects or () if each.name != name] + [TypedName(name, both)]

    # what only its use declares

    def declare(self) -> None:
        self._declare_types()
        self._move_constants()
        self._declare_predicates()
        self._declare_objects()
        self._declare_flags()
        if self.asked_domain is None:
            self.declared(f"the problem is of the domain {self.name}")
            self.asked_domain = self.name

    def _declare_types(self) -> None:
        used = [each.type for each in (*self.constants, *(self.objects or ()))]
        for predicate in self.predicates:
            used += [each.type for each in declare.typed(predicate[1:])]
        for action in self.actions:
            parameters = declare.fields(action).get(":parameters", ())
            used += [each.type for each in declare.typed(parameters if isinstance(parameters, tuple) else ())]
        known = {each.name for each in self.types} | {each.type for each in self.types}
        for name in declare.missing_types(used, known):
            self.declared(f"{name} is a type")
            self.types.append(TypedName(name))

    def _move_constants(self) -> None:
        """Objects that actions name must be constants."""
        named = {word for action in self.actions for atom, _ in declare.atoms_of(action) for word in atom[1:]}
        moved = [each for each in self.objects or () if each.name in named]
        for each in moved:
            self.declared(f"{each.name} is a constant: an action names it")
        self.constants += moved
        if moved and self.objects is not None:
            self.objects = [each for each in self.objects if each not in moved]

    def _declare_predicates(self) -> None:
        known = {show(each[0]): None for each in self.predicates if each}
        heads = (each[1] for each in self.others if each[0] == ":derived" and len(each) > 1)
        known |= {show(each[0]): None for each in heads if isinstance(each, tuple) and each}
        kinds = {each.name: each.type for each in (*self.constants, *(self.objects or ()))}
        uses = [use for action in self.actions for use in declare.atoms_of(action)]
        for name, types in declare.used_predicates(iter(uses), known, kinds.get).items():
            self.declared(f"{name} is a predicate")
            arguments = (word for place, each in enumerate(types) for word in (f"?x{place + 1}", "-", each))
            self.predicates.append((name, *arguments))

    def _declare_objects(self) -> None:
        parameters = {
            show(each[0]): tuple(one.type for one in declare.typed(each[1:])) for each in self.predicates if each
        }
        uses = [tuple(map(show, each)) for each in self.init or () if isinstance(each, tuple) and each]
        uses += [atom for each in self.goal or () for atom, _ in declare.atoms(each, {})]
        if self.types:
            self._type_by_use(uses, parameters)
        known = [each.name for each in (*self.constants, *(self.objects or ()))]
        for name, kind in declare.used_objects(uses, known, parameters).items():
            self.declared(f"{name} is a {kind}")
            self.objects = [*(self.objects or ()), TypedName(name, kind)]
        if self.objects is None and self.init is not None:
            self.declared("there are no objects but the constants")
            self.objects = []

    def _type_by_use(self, uses: list[tuple[str, ...]], parameters: Mapping[str, tuple[str, ...]]) -> None:
        """Objects that were declared without a type, in a domain with types."""
        told = {each.name for each in (*self.constants, *(self.objects or ())) if each.type != ANY_TYPE}
        found = declare.used_objects(uses, told, parameters)

        def retyped(listed: list[TypedName]) -> list[TypedName]:
            return [replace(each, type=found.get(each.name, each.type)) for each in listed if each.name not in told] + [
                each for each in listed if each.name in told
            ]

        for each in (*self.constants, *(self.objects or ())):
            if each.name in found and found[each.name] != each.type:
                self.declared(f"{each.name} is a {found[each.name]}")
        self.constants = retyped(self.constants)
        self.objects = None if self.objects is None else retyped(self.objects)

    def _declare_flags(self) -> None:
        unknown = [each for each in self.requirements if each not in declare.KNOWN]
        if unknown:
            self.declared(f"requirements {' '.join(unknown)} are of no use here")
            self.requirements = [each for each in self.requirements if each in declare.KNOWN]
        goal = self.goal[0] if self.goal else ()
        needed = declare.flags_needed(self.actions, goal, bool(self.types))
        missing = sorted(needed - declare.flags_given(self.requirements))
        if missing:
            self.declared(f"requirements {' '.join(missing)}")
            self.requirements += missing

    # written again

    def domain_text(self) -> str:
        parts: list[Section] = [("domain", self.name)]
        lists: list[tuple[str, Iterable[Sexpr]]] = [
            (":requirements", self.requirements),
            (":types", declare.untyped(self.types)),
            (":constants", declare.untyped(self.constants)),
            (":predicates", self.predicates),
        ]
        parts += [(name, *items) for name, items in lists if tuple(items)]
        return _written([*parts, *self.others, *self.actions])

    def problem_text(self) -> str:
        parts: list[Section] = [("problem", self.problem_name), (":domain", self.asked_domain or self.name)]
        if self.objects is not None:
            parts.append((":objects", *declare.untyped(self.objects)))
        if self.init is not None:
            parts.append((":init", *self.init))
        if self.goal is not None:
            parts.append((":goal", *self.goal))
        return _written(parts)


def _written(parts: Iterable[Section]) -> str:
    return "(define\n" + "\n".join(f"  {show(each)}" for each in parts) + "\n)"
