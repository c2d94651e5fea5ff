"""The domain: types, constants, predicates and actions, as a value, with the text it was read from."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from pddlego.pddl.problem import ANY_TYPE, Atom, TypedName, is_define, read_atom, read_typed_list
from pddlego.pddl.rules import NUMBERS, DefectKind
from pddlego.pddl.sexpr import PddlSyntaxError, Sexpr, read_sexprs, show


@dataclass(frozen=True)
class Predicate:
    """A predicate and the typed parameters it takes. `meaning` is the comment behind it in its file."""

    name: str
    parameters: tuple[TypedName, ...]
    meaning: str = field(default="", compare=False)

    def __str__(self) -> str:
        return "(" + " ".join([self.name, *(f"{each.name} - {each.type}" for each in self.parameters)]) + ")"


@dataclass(frozen=True)
class Action:
    """An action schema. Parameters keep their `?`; precondition and effect are expressions."""

    name: str
    parameters: tuple[TypedName, ...]
    precondition: Sexpr
    effect: Sexpr


@dataclass(frozen=True)
class Domain:
    """A PDDL domain. `supertypes` lists (type, parent) as declared; `text` is the file without comments."""

    name: str
    requirements: tuple[str, ...]
    supertypes: tuple[tuple[str, str], ...]
    constants: tuple[TypedName, ...]
    predicates: tuple[Predicate, ...]
    actions: tuple[Action, ...]
    derived: tuple[tuple[Predicate, Sexpr], ...]
    text: str

    @cached_property
    def types(self) -> dict[str, frozenset[str]]:
        """Every type with itself and all its ancestors."""
        parents: dict[str, set[str]] = {ANY_TYPE: set()}
        for name, parent in self.supertypes:
            parents.setdefault(name, set()).add(parent)
            parents.setdefault(parent, set())
        return {name: frozenset(reachable([name], parents)) | {ANY_TYPE} for name in parents}

    @cached_property
    def predicates_by_name(self) -> dict[str, Predicate]:
        return {each.name: each for each in self.predicates}

    @cached_property
    def actions_by_name(self) -> dict[str, Action]:
        return {each.name: each for each in self.actions}

    @cached_property
    def rules(self) -> dict[str, list[tuple[tuple[TypedName, ...], Sexpr]]]:
        """The parameters and the condition of every rule, by the predicate that follows from it."""
        found: dict[str, list[tuple[tuple[TypedName, ...], Sexpr]]] = {}
        for predicate, condition in self.derived:
            found.setdefault(predicate.name, []).append((predicate.parameters, condition))
        return found

    def atom(self, text: str) -> Atom | None:
        """The atom in a text, of a predicate of the domain with as many arguments; None if it is none."""
        reading = read_sexprs(text)
        atom = read_atom(reading.expressions[0]) if len(reading.expressions) == 1 and not reading.faults else None
        predicate = self.predicates_by_name.get(atom.predicate) if atom else None
        return atom if atom and predicate and len(predicate.parameters) == len(atom.args) else None

    def is_a(self, kind: str, wanted: str) -> bool:
        """Whether an object of type `kind` may stand where `wanted` is asked for (`(either a b)` asks for one of)."""

        def fits(one: str) -> bool:
            own = self.types.get(one, frozenset({one, ANY_TYPE}))
            return any(each in own for each in either(wanted))

        return all(fits(one) for one in either(kind))


MAX_TYPES = 1_000
"""Types of a domain; the largest of a competition has some dozens."""


def too_many_types(domain: Domain) -> str:
    """What is said of a domain with more types than anybody plans with."""
    return f"the domain has {len(domain.supertypes):,} types, and at most {MAX_TYPES:,} are planned with"


def either(kind: str) -> tuple[str, ...]:
    """The types that a type expression allows: `(either a b)` allows a and b."""
    return tuple(kind.strip("()").split()[1:]) if kind.startswith("(either ") else (kind,)


@dataclass(frozen=True)
class DomainReading:
    """A text read as a domain: the domain as far as it could be made out, and the faults of the text."""

    domain: Domain
    faults: tuple[str, ...] = ()


def parse_domain(text: str) -> Domain:
    """Read one domain file. Raises `PddlSyntaxError` with every fault of its structure and every undeclared type.

    Conditions and effects are kept as expressions; the planner's translator checks them when it grounds.
    """
    reading = read_domain(text)
    if len(reading.domain.supertypes) > MAX_TYPES:
        raise PddlSyntaxError([too_many_types(reading.domain)])
    faults = [*reading.faults]
    faults += [f"{where}: type {kind} is not declared" for where, kind in undeclared_types(reading.domain)]
    faults += [fault for _, fault in wrong_heads(reading.domain)]
    if faults:
        raise PddlSyntaxError(faults)
    return reading.domain


def read_domain(text: str) -> DomainReading:
    """Read a domain file as far as it goes. Total: any text gives a reading, faults and all."""
    sexprs = read_sexprs(text)
    faults = list(sexprs.faults)
    found = [each for each in sexprs.expressions if isinstance(each, tuple) and each and each[0] == "define"]
    reader = _DomainReader(faults)
    if len(found) != 1 or len(sexprs.expressions) != 1:
        faults.append("a domain file is exactly one (define (domain …) …)")
    elif is_define(found[0], "problem"):
        faults.append("the file defines a problem, not a domain; give the domain file in its place")
    else:
        for part in found[0][1:]:
            reader.section(part)
        meanings = _meanings(text)
        reader.predicates = [replace(each, meaning=meanings.get(each.name, "")) for each in reader.predicates]
        text = _without_comments(text)
    return DomainReading(reader.domain(text), tuple(faults))


class _DomainReader:
    """Collects the sections of a domain; faults go to the list it was given."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        self.name = "unnamed"
        self.requirements: tuple[str, ...] = ()
        self.types: list[TypedName] = []
        self.constants: list[TypedName] = []
        self.predicates: list[Predicate] = []
        self.actions: list[Action] = []
        self.derived: list[tuple[Predicate, Sexpr]] = []

    def section(self, part: Sexpr) -> None:
        if not isinstance(part, tuple) or not part:
            self.faults.append(f"'{show(part)}' is no section of a domain")
            return
        head, rest = part[0], part[1:]
        if head == "domain":
            self.name = str(rest[0]) if rest else "unnamed"
        elif head == ":requirements":
            self.requirements = tuple(str(each) for each in rest)
        elif head == ":types":
            self.types += read_typed_list(rest, self.faults)
        elif head == ":constants":
            self.constants += read_typed_list(rest, self.faults)
        elif head == ":predicates":
            self.predicates += [self._predicate(each) for each in rest]
        elif head == ":action":
            self._action(rest)
        elif head == ":derived" and len(rest) == 2:
            self.derived.append((self._predicate(rest[0]), rest[1]))
        else:
            self.faults.append(_unknown_section(show(head)))

    def _predicate(self, part: Sexpr) -> Predicate:
        if not isinstance(part, tuple) or not part or not isinstance(part[0], str):
            self.faults.append(f"'{show(part)}' is no predicate: write (name ?x - type …)")
            return Predicate(show(part), ())
        return Predicate(part[0], tuple(read_typed_list(part[1:], self.faults)))

    def _action(self, rest: tuple[Sexpr, ...]) -> None:
        name = str(rest[0]) if rest else "unnamed"
        fields: dict[str, Sexpr] = {}
        for key, value in zip(rest[1::2], rest[2::2], strict=False):
            fields[show(key)] = value
        unknown = sorted(set(fields) - {":parameters", ":precondition", ":effect"})
        if unknown or len(rest) % 2 == 0 or ":effect" not in fields:
            self.faults.append(f"action {name}: write :parameters (…) :precondition (…) :effect (…), each once")
            return
        parameters = fields.get(":parameters", ())
        typed = tuple(read_typed_list(parameters if isinstance(parameters, tuple) else (parameters,), self.faults))
        self.actions.append(Action(name, typed, fields.get(":precondition", ("and",)), fields[":effect"]))

    def domain(self, text: str) -> Domain:
        return Domain(
            name=self.name,
            requirements=self.requirements,
            supertypes=tuple((each.name, each.type) for each in self.types),
            constants=tuple(self.constants),
            predicates=tuple(self.predicates),
            actions=tuple(self.actions),
            derived=tuple(self.derived),
            text=text,
        )


def _meanings(text: str) -> dict[str, str]:
    """The comment behind each predicate that stands with it on a line of its own."""
    section = re.search(r"\(\s*:predicates\b.*?(?=\(\s*:|\Z)", text, re.DOTALL | re.IGNORECASE)
    found: dict[str, str] = {}
    for line in (section.group() if section else "").splitlines():
        declared, _, comment = line.partition(";")
        names = re.findall(r"\(\s*([^\s():]+)", declared)
        if len(names) == 1 and comment.strip("; \t"):
            found[names[0].lower()] = comment.strip("; \t")
    return found


def _unknown_section(name: str) -> str:
    if name == "define":
        return "a second (define …) stands inside the domain: a parenthesis before it is not closed"
    if name == ":functions":
        return f"section {name}: {NUMBERS}"
    known = ":requirements, :types, :constants, :predicates, :action and :derived"
    return f"section {name[:60]} is not supported in a domain; its sections are {known}"


def heads_of(domain: Domain) -> Iterator[tuple[str, tuple[TypedName, ...]]]:
    """Everything that has parameters, and them."""
    yield from ((f"predicate {each.name}", each.parameters) for each in domain.predicates)
    yield from ((f"action {each.name}", each.parameters) for each in domain.actions)
    yield from ((f"derived predicate {each.name}", each.parameters) for each, _ in domain.derived)


def undeclared_types(domain: Domain) -> Iterator[tuple[str, str]]:
    """Places and types that are not declared, which the translator does not notice: it takes such a type for one
    without objects."""
    for where, names in (("constants", domain.constants), *heads_of(domain)):
        for each in names:
            for kind in either(each.type):
                if kind not in domain.types:
                    yield where, kind


def wrong_heads(domain: Domain) -> Iterator[tuple[DefectKind, str]]:
    """Derived predicates that are not declared as they are defined, which crashes the translator."""
    for head, _ in domain.derived:
        declared = domain.predicates_by_name.get(head.name)
        if declared is None:
            fault = f"derived predicate {head.name}: it is not among the predicates"
            yield DefectKind.UNDECLARED_PREDICATE, fault
        elif len(declared.parameters) != len(head.parameters):
            fault = f"derived predicate {head.name}: it is declared with {len(declared.parameters)} argument(s)"
            yield DefectKind.ARITY, fault


def reachable(start: Iterable[str], edges: Mapping[str, set[str]]) -> set[str]:
    """The nodes of a graph that can be reached from some of them, and these."""
    seen: set[str] = set()
    waiting = [*start]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += edges.get(node, ())
    return seen


def _without_comments(text: str) -> str:
    lines = (line.partition(";")[0].rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def outline(domain: Domain, without: Collection[str] = ()) -> str:
    """The domain in a few lines: one for its types, one for its constants, one for each predicate.

    Left out are derived predicates and those whose names are in `without`: no problem states them.
    """
    hidden = {*domain.rules, *without}
    types = [TypedName(name, parent) for name, parent in domain.supertypes]
    lines = [f"Domain: {domain.name}"]
    lines += [f"Types: {_listed(types)}"] if types else []
    lines += [f"Constants: {_listed(domain.constants)}"] if domain.constants else []
    lines.append("Predicates:")
    lines += [_line(predicate) for predicate in domain.predicates if predicate.name not in hidden]
    return "\n".join(lines)


def _line(predicate: Predicate) -> str:
    return f"{_signature(predicate)} {predicate.meaning}".rstrip()


def _signature(predicate: Predicate) -> str:
    parameters = " ".join(_typed(predicate.parameters))
    return f"({predicate.name} {parameters})" if parameters else f"({predicate.name})"


def _listed(names: Iterable[TypedName]) -> str:
    """`a b - type; c - other`, in the order of the types."""
    by_type: dict[str, list[str]] = {}
    for each in names:
        by_type.setdefault(each.type, []).append(each.name)
    return "; ".join(" ".join(listed) + ("" if kind == ANY_TYPE else f" - {kind}") for kind, listed in by_type.items())


def _typed(parameters: tuple[TypedName, ...]) -> Iterator[str]:
    """The parameters, with their type behind the last of a row of one type."""
    for number, each in enumerate(parameters):
        following = parameters[number + 1].type if number + 1 < len(parameters) else None
        yield each.name if following == each.type or each.type == ANY_TYPE else f"{each.name} - {each.type}"
