"""The problem: typed objects, facts and a goal, as an immutable value with one canonical text.

`parse_problem(str(problem)) == problem` for every problem whose names are PDDL names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from pddlego.pddl.names import natural
from pddlego.pddl.rules import NUMBERS
from pddlego.pddl.sexpr import PddlSyntaxError, Sexpr, read_sexprs, show

ANY_TYPE = "object"


@dataclass(frozen=True)
class TypedName:
    """A name with its type: an object, a constant or a parameter. A type may read `(either a b)`."""

    name: str
    type: str = ANY_TYPE

    def __str__(self) -> str:
        return f"{self.name} - {self.type}"


@dataclass(frozen=True)
class Atom:
    """A fact: a predicate and its arguments, in lower case."""

    predicate: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return show((self.predicate, *self.args))

    @property
    def sort_key(self) -> tuple[object, ...]:
        return (self.predicate, tuple(natural(arg) for arg in self.args))


@dataclass(frozen=True)
class Problem:
    """What is known (`objects`, `facts`) and what is wanted (`goal`, a condition). Sets, so order never matters."""

    name: str
    domain: str
    objects: frozenset[TypedName] = frozenset()
    facts: frozenset[Atom] = frozenset()
    goal: Sexpr = ("and",)

    def with_goal(self, goal: Sexpr) -> Problem:
        """The same knowledge with another goal."""
        return replace(self, goal=goal)

    def sorted_objects(self) -> list[TypedName]:
        return sorted(self.objects, key=lambda each: (each.type, natural(each.name)))

    def sorted_facts(self) -> list[Atom]:
        return sorted(self.facts, key=lambda each: each.sort_key)

    def as_sexpr(self) -> tuple[Sexpr, ...]:
        """The problem as one expression, in canonical order."""
        listed: list[Sexpr] = []
        for each in self.sorted_objects():
            listed += [each.name, "-", each.type]
        facts: list[Sexpr] = [(each.predicate, *each.args) for each in self.sorted_facts()]
        return (
            "define",
            ("problem", self.name),
            (":domain", self.domain),
            (":objects", *listed),
            (":init", *facts),
            (":goal", self.goal),
        )

    def __str__(self) -> str:
        """Canonical text: objects grouped by type, one fact a line, both sorted."""
        objects = [
            "    " + " ".join(each.name for each in group) + f" - {kind}"
            for kind, group in groupby(self.sorted_objects(), key=lambda each: each.type)
        ]
        facts = [f"    {each}" for each in self.sorted_facts()]
        lines = [f"(define (problem {self.name})", f"  (:domain {self.domain})"]
        lines += ["  (:objects", *objects, "  )", "  (:init", *facts, "  )", f"  (:goal {show(self.goal)})", ")"]
        return "\n".join(lines)


def without(problem: Problem, constants: Iterable[TypedName]) -> Problem:
    """The problem without objects that are constants of the domain: declared twice, some readers refuse them."""
    names = {each.name for each in constants}
    return replace(problem, objects=frozenset(each for each in problem.objects if each.name not in names))


def rename(problem: Problem, names: Mapping[str, str]) -> Problem:
    """The problem with every object that is a key of `names` renamed, all at once, in objects, facts and goal."""
    return Problem(
        problem.name,
        problem.domain,
        frozenset(TypedName(names.get(each.name, each.name), each.type) for each in problem.objects),
        frozenset(rename_atom(each, names) for each in problem.facts),
        _rename_arguments(problem.goal, names),
    )


def rename_atom(atom: Atom, names: Mapping[str, str]) -> Atom:
    """The fact with its arguments renamed."""
    return Atom(atom.predicate, tuple(names.get(arg, arg) for arg in atom.args))


@dataclass(frozen=True)
class ProblemReading:
    """A text read as a problem: the problem as far as it could be made out, and what the value cannot hold."""

    problem: Problem
    faults: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    negated: tuple[Atom, ...] = ()


def parse_problem(text: str) -> Problem:
    """Read one problem file strictly.

    Raises `PddlSyntaxError` with all faults if the text is not one whole, balanced `(define (problem …) …)` with
    objects, facts and goal. Meaning (types, arities, declarations) is `check`'s business.
    """
    reading = read_problem(text)
    faults = [*reading.faults, *(f"section {name} is missing" for name in reading.missing)]
    faults += [f"object {name} is declared twice" for name in reading.duplicates]
    faults += [f"(not {atom}) in :init: leave it out, what is not listed is false" for atom in reading.negated]
    if faults:
        raise PddlSyntaxError(faults)
    return reading.problem


def read_problem(text: str) -> ProblemReading:
    """Read a problem file as far as it goes. Total: any text gives a reading, faults and all."""
    sexprs = read_sexprs(text)
    faults = list(sexprs.faults)
    blocks = [each for each in sexprs.expressions if isinstance(each, tuple)]
    if any(isinstance(each, str) for each in sexprs.expressions):
        faults.append("text stands outside the parentheses of (define …): give nothing but the problem file")
    found = next((each for each in blocks if each and each[0] == "define"), None)
    if found is None:
        faults.append("no (define (problem …) …) was found")
        return ProblemReading(Problem("unknown", "unknown"), tuple(faults), missing=(":objects", ":init", ":goal"))
    if len(blocks) > 1:
        faults.append("more than one expression: give exactly one (define (problem …) …)")
    if is_define(found, "domain"):
        faults.append("the file defines a domain, not a problem; give the problem file in its place")
        return ProblemReading(Problem("unknown", "unknown"), tuple(faults))
    return _read_define(found[1:], faults)


def is_define(expression: tuple[Sexpr, ...], kind: str) -> bool:
    """Whether the expression begins as `(define (KIND …)`."""
    head = expression[1] if len(expression) > 1 else ()
    return isinstance(head, tuple) and head[:1] == (kind,)


def _read_define(parts: tuple[Sexpr, ...], faults: list[str]) -> ProblemReading:
    sections: dict[str, tuple[Sexpr, ...]] = {}
    numbers: list[str] = []
    for part in parts:
        if not isinstance(part, tuple) or not part or not isinstance(part[0], str):
            faults.append(f"'{_short(part)}' is no section of a problem")
        elif part[0] in sections:
            faults.append(f"section {part[0]} appears twice: write it once")
        elif part[0] in ("problem", ":domain", ":objects", ":init", ":goal", ":requirements"):
            sections[part[0]] = part[1:]
        elif part[0] == ":metric":
            numbers.append(_short(part))
        else:
            known = ":domain, :objects, :init and :goal"
            faults.append(f"section {part[0][:60]} is not supported in a problem; its sections are {known}")
    missing = tuple(name for name in (":domain", ":objects", ":init", ":goal") if name not in sections)
    objects = list(read_typed_list(sections.get(":objects", ()), faults))
    counts = Counter(objects)
    init = sections.get(":init", ())
    numbers += [_short(item) for item in init if is_numeric(item)]
    if numbers:
        faults.append(f"{' and '.join(numbers[:2])}: {NUMBERS}")
    facts, negated = _read_facts([item for item in init if not is_numeric(item)], faults)
    problem = Problem(
        _word(sections.get("problem", ()), "unnamed"),
        _word(sections.get(":domain", ()), "unknown"),
        frozenset(objects),
        frozenset(facts),
        _read_goal(sections.get(":goal"), faults),
    )
    duplicates = tuple(each.name for each, count in counts.items() if count > 1)
    return ProblemReading(problem, tuple(faults), missing, duplicates, tuple(negated))


def read_typed_list(items: Iterable[Sexpr], faults: list[str]) -> Iterator[TypedName]:
    """Read `a b - t c` as PDDL means it: names up to a `-` have the type after it, the rest have `object`."""
    waiting: list[str] = []
    parts = iter(items)
    for part in parts:
        if part == "-":
            kind = next(parts, None)
            if kind is None:
                faults.append(f"the type is missing after '{' '.join(waiting)} -'")
                continue
            for name in waiting:
                yield TypedName(name, show(kind))
            waiting = []
        elif isinstance(part, str):
            waiting.append(part)
        else:
            faults.append(f"'{_short(part)}' stands in a list of typed names: write NAME - TYPE without parentheses")
    for name in waiting:
        yield TypedName(name)


def read_atom(expression: Sexpr) -> Atom | None:
    """The atom that the expression is, or None: a non-empty list of words that is no connective."""
    if not isinstance(expression, tuple) or not expression or not all(isinstance(each, str) for each in expression):
        return None
    head, *args = (str(each) for each in expression)
    return None if head in ("and", "or", "not", "=", "exists", "forall", "imply", "when") else Atom(head, tuple(args))


def is_numeric(expression: Sexpr) -> bool:
    """Whether the expression compares or sets numbers; `(= a b)` compares two objects."""
    if not isinstance(expression, tuple) or not expression or expression[0] not in ("=", "<", ">", "<=", ">="):
        return False
    return any(isinstance(part, tuple) for part in expression[1:])


def _read_facts(items: Iterable[Sexpr], faults: list[str]) -> tuple[list[Atom], list[Atom]]:
    facts: list[Atom] = []
    negated: list[Atom] = []
    for item in items:
        atom = read_atom(item)
        if atom is not None:
            facts.append(atom)
            continue
        inner = read_atom(item[1]) if isinstance(item, tuple) and len(item) == 2 and item[0] == "not" else None
        if inner is not None:
            negated.append(inner)
        else:
            faults.append(f"'{_short(item)}' in :init is no fact: write (predicate object …)")
    return facts, negated


def _read_goal(section: tuple[Sexpr, ...] | None, faults: list[str]) -> Sexpr:
    if section is None:
        return ("and",)
    if len(section) != 1 or not isinstance(section[0], tuple):
        faults.append("the goal must be exactly one condition, as (:goal (and …))")
        return ("and", *(each for each in section if isinstance(each, tuple)))
    return section[0]


def _word(section: tuple[Sexpr, ...], default: str) -> str:
    return section[0] if section and isinstance(section[0], str) else default


def _short(expression: Sexpr) -> str:
    text = show(expression)
    return text if len(text) <= 60 else text[:57] + "…"


def _rename_arguments(condition: Sexpr, names: Mapping[str, str]) -> Sexpr:
    """Rename objects in a condition, leaving predicate names (which stand first) alone."""
    if isinstance(condition, str) or not condition:
        return condition
    return (
        condition[0],
        *(names.get(part, part) if isinstance(part, str) else _rename_arguments(part, names) for part in condition[1:]),
    )


MOST = 10
"""Objects of a type, and atoms of a predicate, that are listed (Silver et al., 2024)."""

INDENT = "    "


def abbreviated(problem: Problem) -> str:
    """The problem with at most `MOST` objects of each type and atoms of each predicate, in alphabetical order.

    Where something is left out stands `...`.
    """
    objects = sorted(problem.objects, key=lambda each: (each.type, each.name))
    typed = any(each.type != ANY_TYPE for each in objects)
    listed = [(each.type, f"{each.name} - {each.type}" if typed else each.name) for each in objects]
    facts = sorted((fact.predicate, str(fact)) for fact in problem.facts)
    goal = problem.goal
    wanted = list(goal[1:]) if isinstance(goal, tuple) and goal[:1] == ("and",) else [goal]
    parts = sorted((show(part[0]) if part else "", show(part)) for part in wanted)
    lines = [f"(define (problem {problem.name}) (:domain {problem.domain})"]
    lines += ["  (:objects", *_some(listed), "  )", "  (:init", *_some(facts), "  )"]
    lines += ["  (:goal (and", *_some(parts), "  ))", ")"]
    return "\n".join(lines)


def _some(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The first lines of each kind."""
    for _, group in groupby(entries, key=lambda entry: entry[0]):
        lines = [line for _, line in group]
        yield from (INDENT + line for line in lines[:MOST])
        if len(lines) > MOST:
            yield f"{INDENT}..."
