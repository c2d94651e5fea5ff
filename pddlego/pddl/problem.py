"""The problem: typed objects, facts and a goal, as an immutable value with one canonical text.

`parse_problem(str(problem)) == problem` for every problem whose names are PDDL names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import groupby
from typing import cast

from pddlego.pddl.conditions import (
    ANY_TYPE,
    TRUE,
    And,
    Atom,
    Compare,
    Formula,
    Located,
    Not,
    Preference,
    Renaming,
    Term,
    TypedName,
    Unreadable,
    conjuncts,
    in_short,
    read_atom,
    read_condition,
    read_number,
    read_typed_list,
    with_functions,
)
from pddlego.pddl.constraints import read_constraints
from pddlego.pddl.foreign import init_form, joined_infix, operator_first, without_foreign
from pddlego.pddl.names import is_name, spelt
from pddlego.pddl.numbers import written_out
from pddlego.pddl.parentheses import unbalanced
from pddlego.pddl.preferences import is_goal, split_goal, split_preferences, with_preferences
from pddlego.pddl.rules import Defect, DefectKind, PddlSyntaxError, Where, not_supported, syntax_defect, warning
from pddlego.pddl.sexpr import MAX_NUMBER, NUMBER, Sexpr, place_at, place_of, placed, read_sexprs, show
from pddlego.util.text import Shown, count, natural, nearest


@dataclass(frozen=True)
class Metric(Located):
    """The quality measure of plans: `minimize` or `maximize` a numeric expression."""

    direction: str
    term: Term

    @property
    def best(self) -> str:
        """What the value of the best plan is: `minimal` or `maximal`."""
        return f"{self.direction.removesuffix('ize')}al"

    def __str__(self) -> str:
        return f"(:metric {self.direction} {self.term})"


@dataclass(frozen=True)
class Later(Located):
    """A timed initial literal: at `time` a fact becomes true or false, or a number gets a value."""

    time: Decimal
    part: Formula

    def __str__(self) -> str:
        return f"(at {self.time:f} {self.part})"


@dataclass(frozen=True, repr=False)
class Problem(Shown):
    """A PDDL problem: `objects` and `facts` are sets, and `goal` is a condition.

    `preferences` are those of its goal and its constraints; those about the last state are printed in the goal.
    `values` are the numbers that `:init` assigns, such as `(= (total-cost) 0)` and `(= (distance a b) 7)`.
    `requirements` are those of its file; they are not printed.
    """

    name: str
    domain: str
    objects: frozenset[TypedName] = frozenset()
    facts: frozenset[Atom] = frozenset()
    goal: Formula = TRUE
    values: frozenset[Compare] = frozenset()
    metric: Metric | None = None
    later: frozenset[Later] = frozenset()
    constraints: Formula = TRUE
    preferences: tuple[Preference, ...] = ()
    requirements: tuple[str, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        numbers = f", {count(len(self.values), 'number')}" if self.values else ""
        return f"<Problem {self.name}: {count(len(self.objects), 'object')}, {count(len(self.facts), 'fact')}{numbers}>"

    def with_goal(self, goal: Formula) -> Problem:
        """The same problem with a different goal."""
        return replace(self, goal=goal)

    def sorted_objects(self) -> list[TypedName]:
        return sorted(self.objects, key=lambda obj: (obj.type, natural(obj.name)))

    def sorted_facts(self) -> list[Atom]:
        return sorted(self.facts, key=lambda fact: fact.sort_key)

    def init_lines(self) -> tuple[str, ...]:
        """The facts and then the numbers of `:init`, each sorted."""
        return (*map(str, self.sorted_facts()), *sorted(map(str, self.values)))

    def sorted_later(self) -> list[Later]:
        return sorted(self.later, key=lambda literal: (literal.time, str(literal.part)))

    def __str__(self) -> str:
        """Canonical text: objects grouped by type, one fact a line, both sorted."""
        objects = [
            "    " + " ".join(obj.name for obj in group) + f" - {kind}"
            for kind, group in groupby(self.sorted_objects(), key=lambda obj: obj.type)
        ]
        init = [f"    {line}" for line in (*self.init_lines(), *self.sorted_later())]
        lines = [f"(define (problem {self.name})", f"  (:domain {self.domain})"]
        goal, constraints = with_preferences(self.goal, self.constraints, self.preferences)
        lines += ["  (:objects", *objects, "  )", "  (:init", *init, "  )", f"  (:goal {goal})"]
        lines += [f"  (:constraints {constraints})"] if constraints != TRUE else []
        lines += [f"  {self.metric}"] if self.metric else []
        return "\n".join([*lines, ")"])


def without(problem: Problem, constants: Iterable[TypedName]) -> Problem:
    """The problem without objects that are also constants of the domain, which some planners refuse."""
    names = {constant.name for constant in constants}
    return replace(problem, objects=frozenset(obj for obj in problem.objects if obj.name not in names))


def rename(problem: Problem, renaming: Renaming) -> Problem:
    """The problem with new names for objects, types and predicates, all changed at once."""
    return replace(
        problem,
        objects=frozenset(renaming.typed(problem.objects)),
        facts=frozenset(map(renaming.atom, problem.facts)),
        goal=renaming.formula(problem.goal),
        values=frozenset(Compare(value.operator, renaming.term(value.left), value.right) for value in problem.values),
        metric=replace(problem.metric, term=renaming.term(problem.metric.term)) if problem.metric else None,
        later=frozenset(Later(literal.time, renaming.formula(literal.part)) for literal in problem.later),
        constraints=renaming.formula(problem.constraints),
        preferences=tuple(cast(Preference, renaming.formula(own)) for own in problem.preferences),
    )


@dataclass(frozen=True)
class ProblemReading:
    """The result of reading a problem file: the readable part as a problem, and the defects of the text.

    `missing` are the missing sections. `slips` are repeated objects, and negated facts and wrong times of `:init`:
    `parse_problem` refuses all of them, though some do not prevent planning. `source` is the expression `(define …)`,
    empty without one. If the file cannot be read without the wrong parentheses of an `unbalanced` text, `source` is
    empty, and they are the only defects, because other ones may follow from them. `plain` is the text that was read
    (see `without_foreign`).
    """

    problem: Problem
    defects: tuple[Defect, ...] = ()
    missing: tuple[str, ...] = ()
    slips: tuple[Defect, ...] = ()
    source: tuple[Sexpr, ...] = ()
    unbalanced: bool = False
    plain: str = ""

    def all_defects(self) -> tuple[Defect, ...]:
        """The defects of the text, its missing sections, and its slips."""
        return (*self.defects, *self.missing_sections(), *self.slips)

    def missing_sections(self) -> Iterator[Defect]:
        for section in self.missing:
            fault, advice = f"section {section} is missing", f"add ({section} …)"
            yield Defect(DefectKind.MISSING_SECTION, section, fault, advice, None)


def parse_problem(text: str) -> Problem:
    """Read one problem file strictly; `check` compares the problem with a domain.

    Raises `PddlSyntaxError` with all defects if the text is not exactly one complete `(define (problem …) …)`.
    """
    reading = read_problem(text)
    defects = [defect for defect in reading.all_defects() if defect.blocking or defect in reading.slips]
    if defects:
        raise PddlSyntaxError(defects)
    return reading.problem


def read_problem(text: str) -> ProblemReading:
    """Read a problem file as far as possible. Total: any text gives a reading."""
    plain, foreign = without_foreign(text)
    reading = _read_text(plain)
    parentheses, fixed = unbalanced(plain) if _is_wrong(reading) else ((), "")
    again = _read_text(fixed) if parentheses else reading
    if parentheses and not _is_wrong(again):
        return replace(again, defects=(*foreign, *parentheses, *again.defects), unbalanced=True, plain=plain)
    if parentheses and plain.count("(") != plain.count(")"):
        return ProblemReading(again.problem, (*foreign, *parentheses), unbalanced=True, plain=plain)
    return replace(reading, defects=(*foreign, *reading.defects), plain=plain)


def _is_wrong(reading: ProblemReading) -> bool:
    return bool(reading.missing) or any(defect.blocking for defect in reading.defects)


def _read_text(text: str) -> ProblemReading:
    sexprs = read_sexprs(text)
    defects = [*sexprs.defects, *sexprs.warnings]
    blocks = [expression for expression in sexprs.expressions if isinstance(expression, tuple)]
    word = next((place for expression, place in placed(sexprs.expressions) if isinstance(expression, str)), None)
    if word is not None:
        fault = "there is text outside the parentheses of (define …)"
        defects.append(syntax_defect(fault, "give nothing but the problem file", word))
    define = next((block for block in blocks if block and block[0] == "define"), None)
    nothing = Problem("unknown", "unknown")
    if define is None:
        if misspelt := misspelt_define(sexprs.expressions):
            return ProblemReading(nothing, (misspelt,))
        defects.append(syntax_defect("no (define (problem …) …) was found", "begin the file with it", (1, 1)))
        return ProblemReading(nothing, tuple(defects), missing=(":init", ":goal"))
    if len(blocks) > 1:
        second = next(block for block in blocks if block is not define)
        fault, advice = "more than one expression", "give exactly one (define (problem …) …)"
        if is_define(second, "domain") or is_define(define, "domain"):
            fault, advice = "the file holds a domain and a problem", "write each into a file of its own"
        defects.append(syntax_defect(fault, advice, place_of(second)))
    if is_define(define, "domain"):
        if len(blocks) == 1:
            fault, advice = "the file defines a domain, not a problem", "give the problem file in its place"
            defects.append(syntax_defect(fault, advice, place_of(define)))
        return ProblemReading(nothing, tuple(defects))
    return _read_define(define, defects)


PROBLEM_SECTIONS = ("problem", ":domain", ":requirements", ":objects", ":init", ":goal", ":constraints", ":metric")
"""The sections of a problem, in the order that most planners demand."""


_NOT_CLASSICAL = {
    ":length": "bounds on the length of plans",
    ":htn": "task networks of hierarchical planning",
}
"""Sections outside classical planning, with the names of their features."""


_MOST_BOUND = 100_000
"""The maximum number of variables of all preferences: those of a `forall` count for each preference in it."""


def is_define(expression: tuple[Sexpr, ...], kind: str) -> bool:
    """Whether the expression begins as `(define (KIND …)`."""
    head = expression[1] if len(expression) > 1 else ()
    return isinstance(head, tuple) and head[:1] == (kind,)


def misspelt_define(expressions: tuple[Sexpr, ...]) -> Defect | None:
    """The defect of a file whose only list begins with a word like `define`; None for other files."""
    head = expressions[0][:1] if len(expressions) == 1 and isinstance(expressions[0], tuple) else ()
    word = head[0] if head and isinstance(head[0], str) and nearest(head[0], ("define",)) else "define"
    if word == "define":
        return None
    return syntax_defect(f"a file does not begin with '{word}'", "did you mean define?", (1, 1), word, "define")


def is_one_word(parts: tuple[Sexpr, ...]) -> bool:
    """Whether the parts are a single word."""
    return len(parts) == 1 and isinstance(parts[0], str)


def _read_define(define: tuple[Sexpr, ...], defects: list[Defect]) -> ProblemReading:
    sections: dict[str, tuple[Sexpr, ...]] = {}
    for part, place in placed(define, 1):
        if not isinstance(part, tuple) or not part or not isinstance(part[0], str):
            fault = f"'{in_short(part)}' is not a section of a problem"
            defects.append(syntax_defect(fault, "remove it, or put it into a section", place))
        elif part[0] in sections:
            defects.append(syntax_defect(f"section {part[0]} appears twice", "write it once", place))
        elif part[0] in PROBLEM_SECTIONS:
            sections[part[0]] = part
        elif part[0] in _NOT_CLASSICAL:
            what = f"{_NOT_CLASSICAL[part[0]]} (section {part[0]}) are not supported"
            defects.append(not_supported(what, "", place, word=part[0]))
        else:
            meant = spelt(part[0], PROBLEM_SECTIONS)
            advice = f"did you mean {meant}?" if meant else "its sections are :domain, :objects, :init and :goal"
            fault = f"section {part[0][:60]} is not supported in a problem"
            defects.append(syntax_defect(fault, advice, place, part[0], meant))
    for name in ("problem", ":domain"):
        if name in sections and not is_one_word(sections[name][1:]):
            fault, advice = f"'{in_short(sections[name])}' is not one name", f"write ({name} NAME)"
            defects.append(syntax_defect(fault, advice, place_of(sections[name])))
    needed = (":domain", ":init") if any(defect.word == ":htn" for defect in defects) else (":domain", ":init", ":goal")
    missing = tuple(name for name in needed if name not in sections)
    objects, wrong = read_typed_list(sections.get(":objects", ()), start=1)
    defects += wrong
    wrong_times: list[Defect] = []
    facts, values, negated, later = _read_init(
        sections.get(":init", ()), defects, wrong_times, {obj.name for obj in objects}
    )
    functions = {value.left.head for value in values if not value.left.parts} - {obj.name for obj in objects}
    goal, of_goal = split_goal(with_functions(_read_goal(sections.get(":goal"), defects), functions))
    constraints = with_functions(read_constraints(sections.get(":constraints"), defects), functions)
    constraints, of_states = split_preferences(constraints)
    metric = _read_metric(sections.get(":metric"), defects)
    preferences = sorted((*of_goal, *of_states), key=is_goal, reverse=True)
    if (bound := sum(len(own.variables) for own in preferences)) > _MOST_BOUND:
        fault = f"the preferences have {bound:,} variables, and at most {_MOST_BOUND:,} are planned with"
        defects.append(Defect(DefectKind.TOO_LARGE, "preferences", fault, "", preferences[0].place))
        preferences, metric = [], None  # which counts them
    problem = Problem(
        _word(sections.get("problem", ()), "unnamed"),
        _word(sections.get(":domain", ()), "unknown"),
        frozenset(objects),
        frozenset(facts),
        goal=goal,
        values=frozenset(values),
        metric=metric,
        later=frozenset(later),
        constraints=constraints,
        preferences=tuple(preferences),
        requirements=tuple(map(show, sections.get(":requirements", ())[1:])),
    )
    slips = (*wrong_times, *_repeated(objects), *(_negated(atom, atom in problem.facts) for atom in negated))
    return ProblemReading(problem, tuple(defects), missing, slips, define)


def _repeated(objects: Iterable[TypedName]) -> Iterator[Defect]:
    seen = Counter[TypedName]()
    for obj in objects:
        seen[obj] += 1
        if seen[obj] == 2:
            fault = f"object {obj.name} is declared twice: once is enough"
            yield warning(DefectKind.DUPLICATE_OBJECT, obj.name, fault, "", obj.place)


def _negated(atom: Atom, listed: bool) -> Defect:
    fault, advice = f"(not {atom}) in :init", "leave it out, what is not listed is false"
    if listed:
        fault, advice = f"{atom} is both listed and negated in :init", "keep one of the two"
    return Defect(DefectKind.NEGATED_INIT, str(atom), fault, advice, atom.place, blocking=listed)


def _read_init(
    section: tuple[Sexpr, ...], defects: list[Defect], wrong_times: list[Defect], objects: Collection[str]
) -> tuple[list[Atom], list[Compare], list[Atom], list[Later]]:
    """The facts of `:init`, the numbers that it assigns, the negated facts, and the timed literals."""
    facts: list[Atom] = []
    values: list[Compare] = []
    negated: list[Atom] = []
    later: list[Later] = []
    for item, index in joined_infix(section, True, 1):
        match _read_later(item, objects) or read_atom(item) or read_condition(item):
            case Later() as literal:
                later.append(literal)
            case Defect() as wrong:
                wrong_times.append(wrong)
            case Atom() as atom:
                facts.append(atom)
            case Not(part=Atom() as atom):
                negated.append(atom)
            case Compare("=") as value:
                values.append(value)
            case Compare() | Unreadable() if form := init_form(item):
                fault = f"'{in_short(item)}' in :init is not a fact"
                defects.append(syntax_defect(fault, f"write {show(form)}", place_at(section, index)))
            case Unreadable(kind=DefectKind.NOT_SUPPORTED, reason=reason) as other:
                defect = not_supported(reason.fault, reason.advice, other.place)
                defects.append(replace(defect, where=Where(":init"), part=other.text))
            case Unreadable(reason=reason, is_form=True) as other:
                defect = syntax_defect(*reason[:2], other.place, meant=reason.meant)
                defects.append(replace(defect, where=Where(":init"), part=other.text))
            case And() as several:
                defects.append(syntax_defect("'and' in :init", "write the facts side by side", several.place))
                facts += [part for part in conjuncts(several) if isinstance(part, Atom)]
            case _:
                form = "(= (function …) NUMBER)" if item[:1] == ("=",) else "(predicate object …)"
                fault = f"'{in_short(item)}' in :init is not a fact"
                defects.append(syntax_defect(fault, f"write {form}", place_at(section, index)))
    return facts, values, negated, later


def _read_later(item: Sexpr, objects: Collection[str]) -> Later | Defect | None:
    """The timed literal `(at TIME LITERAL)`, or what is wrong with it; None for any other expression."""
    if len(item) < 3 or item[0] != "at" or not isinstance(item[-1], tuple):
        return None
    time, literal = item[1], item[-1]
    if time in objects:
        form = f"{show(item[:-1])} {show(literal)}"
        return syntax_defect(f"{in_short(item)}: a parenthesis is missing", f"write {form}", place_of(item))
    inner = read_condition(("=", *literal[1:]) if literal[:1] == ("assign",) else literal)  # as unified-planning has it
    if isinstance(time, str) and NUMBER.match(time):
        match inner:
            case Atom() | Not(part=Atom()) | Compare("=", right=Term(parts=None)) if len(item) == 3:
                return Later(Decimal(time[:MAX_NUMBER]), inner, place=place_of(item))
            case Unreadable():
                return None
        fault = f"{in_short(item)} is not a timed literal"
        advice = "write (at TIME LITERAL) for each one, as in (at 5 (open))"
        if (number := init_form(item[-1])) and len(item) == 3:
            fault, advice = f"{in_short(item)}: the function comes first", f"write {show(('at', time, number))}"
        return syntax_defect(fault, advice, place_of(item))
    remedy = written_out(time) if isinstance(time, str) else ""
    advice = f"write {remedy or 'a number from 0, as in (at 5 (open))'}"
    return syntax_defect(f"{in_short(item)}: {in_short(time)} is not a time", advice, place_of(item))


_WAYS = ("minimize", "maximize")
"""The directions of a metric."""


def _read_metric(section: tuple[Sexpr, ...] | None, defects: list[Defect]) -> Metric | None:
    if section is None:
        return None
    is_infix = any(operator_first(part) != part for part in section[1:])
    if len(section) != 3 or section[1] not in _WAYS or is_infix:
        form = show(meant_metric(section))
        fault = f"'{in_short(section)}' is not a metric"
        defects.append(syntax_defect(fault, f"write {form}", place_of(section), meant=form))
        return None
    return Metric(str(section[1]), read_number(section[2]), place=place_of(section))


def meant_metric(section: tuple[Sexpr, ...]) -> tuple[Sexpr, ...]:
    """A metric with its direction, its operators first, and its function in parentheses, as they are probably meant."""
    words = [part for part in section[1:] if isinstance(part, str)]
    directions = [*filter(None, map(_direction, words))]
    infix = operator_first(section[2:])
    if len(section) > 3 and directions and infix != section[2:]:
        return (":metric", directions[0], infix)
    terms: list[Sexpr] = [operator_first(part) for part in section[1:] if isinstance(part, tuple)]
    terms += [(word,) if is_name(word) else word for word in words if not _direction(word)]
    return (":metric", *(directions or ["minimize"])[:1], *(terms or [("total-cost",)])[:1])


def _direction(word: str) -> str:
    """The direction of a metric that a word means; empty for other words."""
    short = {way[:3]: way for way in _WAYS}
    return short.get(word.lstrip(":")[:3]) or nearest(word, _WAYS) or ""


def _read_goal(section: tuple[Sexpr, ...] | None, defects: list[Defect]) -> Formula:
    if section is None:
        return TRUE
    if len(section) != 2 or not isinstance(section[1], tuple):
        fault, advice = (
            "the goal must be exactly one condition, as (:goal (and …))",
            "put all conditions into one (and …)",
        )
        if section[1:] and all(isinstance(part, str) for part in section[1:]):
            advice = f"write (:goal {in_short(section[1:])})"
        defects.append(syntax_defect(fault, advice, place_of(section)))
        return And(tuple(read_condition(part) for part in section[1:] if isinstance(part, tuple)))
    return read_condition(section[1])


def _word(section: tuple[Sexpr, ...], default: str) -> str:
    return section[1] if len(section) > 1 and isinstance(section[1], str) else default


_MOST = 10
"""The maximum number of objects of a type, and of atoms of a predicate, that are listed (Silver et al., 2024)."""

_INDENT = "    "


def abbreviated(problem: Problem, numbers: bool = False) -> str:
    """The problem with at most `_MOST` objects of each type and atoms of each predicate, in alphabetical order.

    `...` marks omitted lines. With `numbers`, it has the metric, and at most `_MOST` numbers of each function.
    """
    objects = sorted(problem.objects, key=lambda obj: (obj.type, obj.name))
    typed = any(obj.type != ANY_TYPE for obj in objects)
    rows = [(obj.type, f"{obj.name} - {obj.type}" if typed else obj.name) for obj in objects]
    facts = sorted((fact.predicate, str(fact)) for fact in problem.facts)
    values = sorted((value.left.head, str(value)) for value in problem.values) if numbers else ()
    wanted = problem.goal.parts if isinstance(problem.goal, And) else (problem.goal,)
    parts = sorted((str(part).strip("()").split(" ")[0], str(part)) for part in wanted)
    lines = [f"(define (problem {problem.name}) (:domain {problem.domain})"]
    lines += ["  (:objects", *_some(rows), "  )", "  (:init", *_some(facts), *_some(values), "  )"]
    lines += ["  (:goal (and", *_some(parts), "  ))"]
    lines += [f"  {problem.metric}"] if numbers and problem.metric else []
    return "\n".join([*lines, ")"])


def _some(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The first `_MOST` lines of each kind; `...` marks more."""
    for _, group in groupby(entries, key=lambda entry: entry[0]):
        lines = [line for _, line in group]
        yield from (_INDENT + line for line in lines[:_MOST])
        if len(lines) > _MOST:
            yield f"{_INDENT}..."
