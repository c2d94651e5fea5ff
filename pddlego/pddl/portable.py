"""Errors for files that other planners refuse to read although their meaning is clear, such as sections out of order.

`pddlego check` reports these errors, so that Fast Downward's translator can read each file without errors as it is.
Planning ignores them: engines receive a text that we print.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pddlego.pddl.check import MAX_DEFECTS, check_domain, check_reading
from pddlego.pddl.costs import needs_numbers
from pddlego.pddl.domain import DECLARATIONS, FIELDS_OF, Domain, DomainReading, read_domain
from pddlego.pddl.lint import (
    CONSTRAINED,
    NUMERIC,
    PDDL_REQUIREMENTS,
    READ_REQUIREMENTS,
    TIMED,
    domain_warnings,
    problem_warnings,
)
from pddlego.pddl.names import is_name
from pddlego.pddl.problem import PROBLEM_SECTIONS, Problem, ProblemReading
from pddlego.pddl.rules import Defect, DefectKind, Level, Where, not_supported, syntax_defect, warning
from pddlego.pddl.sexpr import Sexpr, at_words, place_of, placed, show
from pddlego.util.text import count

_REFUSED = frozenset(
    (
        *(DefectKind.DUPLICATE_OBJECT, DefectKind.DUPLICATE_CONSTANT),
        *(DefectKind.DOMAIN_NAME, DefectKind.IGNORED_METRIC, DefectKind.UNKNOWN_REQUIREMENT, DefectKind.INVISIBLE),
    )
)
"""The kinds of warnings about files that other planners refuse: they count as errors."""

_REFUSED_BY_MOST = "and most planners refuse that"


@dataclass(frozen=True)
class CheckedDomain:
    """The domain of a text, and its defects; `domain` is None if the defects make planning impossible."""

    domain: Domain | None
    defects: tuple[Defect, ...]
    reading: DomainReading


def checked_domain(text: str, level: Level = Level.CLASSICAL, numeric_task: bool = False) -> CheckedDomain:
    """Check a domain: report syntax defects; without these, other errors; without errors, warnings. Total.

    For `level` see `check`. `numeric_task`: the problem needs numbers or time, even if the domain does not.
    """
    reading = read_domain(text)
    unreadable = tuple(defect for defect in reading.defects if defect.blocking)[:MAX_DEFECTS]
    numeric_task = numeric_task or bool(reading.domain.numeric_part or reading.domain.durative)
    refusals = itertools.islice(_domain_refusals(reading, level, numeric_task), MAX_DEFECTS)
    defects = as_errors(
        reading.plain, unreadable or (*reading.defects, *check_domain(reading.domain, level), *refusals)
    )
    if any(defect.blocking for defect in defects):
        return CheckedDomain(None, defects, reading)
    defects = as_errors(reading.plain, (*defects, *domain_warnings(reading.domain)))
    errors = tuple(defect for defect in defects if defect.blocking)
    domain, shown = (None, errors) if errors else (reading.domain, defects[:MAX_DEFECTS])
    return CheckedDomain(domain, shown, reading)


def is_sound_problem(domain: Domain, reading: ProblemReading, level: Level = Level.CLASSICAL) -> bool:
    """Whether a problem has no errors, and other planners read its file. For `level` see `check`."""
    refusals = problem_refusals(reading, level, needs_numbers(domain, reading.problem) is not None)
    if not is_portable((*check_reading(domain, reading, level), *refusals)):
        return False
    return is_portable(problem_warnings(domain, reading.problem, level))


def is_portable(defects: Iterable[Defect]) -> bool:
    """Whether other planners read a file with these defects."""
    refused = (DefectKind.UNUSED_REQUIREMENT, DefectKind.OBJECT_IS_CONSTANT, DefectKind.SYNTAX)
    return not any(_is_error(defect) or defect.kind in refused for defect in defects)


def is_numeric_problem(problem: Problem) -> bool:
    """Whether a problem needs numbers other than action costs, whatever its domain."""
    return needs_numbers(Domain(""), problem) is not None


def as_errors(plain: str, defects: Iterable[Defect]) -> tuple[Defect, ...]:
    """The defects with the positions of their words, as errors where other planners refuse the file.

    `plain` is the text that was read. A declaration that is missing is reported once, at the first use.
    """
    groups: dict[object, list[Defect]] = {}
    for number, defect in enumerate(at_words(plain, defects)):
        groups.setdefault(defect.missing or number, []).append(replace(defect, blocking=_is_error(defect)))
    return tuple(_as_one(*sorted(group, key=lambda defect: defect.place or (0, 0))) for group in groups.values())


def _as_one(first: Defect, *others: Defect) -> Defect:
    places = f" (and in {count(len(others), 'other place')})"
    return replace(first, fault=f"{first.fault}{places}") if others else first


def _is_error(defect: Defect) -> bool:
    return defect.blocking or defect.kind in _REFUSED


def _domain_refusals(reading: DomainReading, level: Level, numeric: bool) -> Iterator[Defect]:
    """The defects of a domain that can be read here but not by other planners. `numeric`: see `problem_refusals`."""
    yield from _head(reading.source, "domain", 1)
    seen: set[str] = set()
    for part, place in placed(reading.source, 2):
        name = part[0] if isinstance(part, tuple) and part else ""
        if name == "domain" or (name in seen and name in DECLARATIONS):
            yield syntax_defect(f"section {name} appears twice, {_REFUSED_BY_MOST}", "write it once", place)
        elif name in DECLARATIONS and (later := {*FIELDS_OF, ":derived"} & seen):
            fault = f"section {name} comes after {min(later)}, {_REFUSED_BY_MOST}"
            yield syntax_defect(fault, "write it before all actions and rules", place)
        elif name in FIELDS_OF:
            yield from _fields(part, FIELDS_OF[str(name)])
        if isinstance(name, str):
            seen.add(name)
    yield from _requirements(reading.source, level, numeric)
    yield from _empty_parts(reading.source)
    if level is Level.CLASSICAL or not numeric:
        yield from _bare_costs(reading.source)


def problem_refusals(reading: ProblemReading, level: Level, numeric: bool) -> Iterator[Defect]:
    """The defects of a problem that can be read here but not by other planners; empty for a text without a problem.

    `numeric`: the task has numbers or time.
    """
    if not reading.source:
        return
    yield from _head(reading.source, "problem", 1)
    yield from _head(reading.source, ":domain", 2)
    last = 0
    for part, place in placed(reading.source, 1):
        name = part[0] if isinstance(part, tuple) and part else ""
        if name not in PROBLEM_SECTIONS:
            continue
        rank = PROBLEM_SECTIONS.index(str(name))
        if rank < last and rank > 1:
            order = f"{', '.join(PROBLEM_SECTIONS[1:])} in this order"
            fault = f"section {name} comes after {PROBLEM_SECTIONS[last]}, {_REFUSED_BY_MOST}"
            yield syntax_defect(fault, f"write {order}", place)
        last = max(last, rank)
    yield from _requirements(reading.source, level, numeric)
    yield from _empty_parts(reading.source)
    if not numeric:
        yield from _bare_costs(reading.source)


def _head(define: tuple[Sexpr, ...], word: str, number: int) -> Iterator[Defect]:
    """The error if part `number` of a file is not `(word …)`, such as `(domain NAME)`."""
    head = define[number] if len(define) > number else ()
    if not isinstance(head, tuple) or head[:1] != (word,):
        begin = "(define (domain NAME) …" if word == "domain" else "(define (problem NAME) (:domain NAME) …"
        fault, advice = f"({word} …) is missing at the beginning", f"write {begin}"
        yield syntax_defect(fault, advice, place_of(head) or place_of(define))


def _fields(action: Sexpr, fields: Sequence[str]) -> Iterator[Defect]:
    ranks = [(fields.index(str(key)), place) for key, place in list(placed(action, 2))[::2] if key in fields]
    for (before, _), (rank, place) in itertools.pairwise(ranks):
        if rank < before:
            fault = f"{fields[rank]} comes after {fields[before]}, {_REFUSED_BY_MOST}"
            defect = syntax_defect(fault, f"write {', '.join(fields)} in this order", place)
            yield replace(defect, where=Where("action", show(action[1])))
            return


def _requirements(define: tuple[Sexpr, ...], level: Level, numeric: bool) -> Iterator[Defect]:
    """Defects for requirements of PDDL that other planners refuse; unknown requirements are not reported here.

    Those of numbers and time are read with a `numeric` task; in a classical one they are a warning, unless the caller
    has no numbers at all.
    """
    for part in define[1:]:
        if not isinstance(part, tuple) or part[:1] != (":requirements",):
            continue
        for word, place in placed(part, 1):
            if not isinstance(word, str) or word not in PDDL_REQUIREMENTS - READ_REQUIREMENTS:
                continue
            remedy = "write :action-costs if the domain has costs, else remove it"
            remedy = remedy if word in NUMERIC else "remove it"
            if level is Level.CLASSICAL or word not in NUMERIC | TIMED | CONSTRAINED:
                yield not_supported(f"requirement {word} is not supported", remedy, place)
            elif not numeric and word not in CONSTRAINED:
                fault, advice = f"requirement {word} is not used, and some planners refuse it", remedy
                yield warning(DefectKind.UNUSED_REQUIREMENT, word, fault, advice, place)


def _bare_costs(define: Sexpr) -> Iterator[Defect]:
    """Warnings about costs without parentheses, as in `(increase total-cost 1)` and `(:metric minimize total-cost)`."""
    for part in _lists(define):
        name = part[1 if part[0] == "increase" else 2] if len(part) == 3 and part[0] in ("increase", ":metric") else ""
        if isinstance(name, str) and is_name(name):
            fault, advice = f"{name} has no parentheses, and some planners refuse that", f"write ({name})"
            yield replace(warning(DefectKind.SYNTAX, name, fault, advice, place_of(part)), part=show(part)[:60])


def _lists(define: Sexpr) -> Iterator[tuple[Sexpr, ...]]:
    """All lists in a file, the outer ones first."""
    stack = [define]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            yield part
            stack += reversed(part)


def _empty_parts(define: Sexpr) -> Iterator[Defect]:
    """Errors for empty parentheses in place of a condition or an effect."""
    for part in _lists(define):
        inside = list(placed(part, 1))
        if part[:1] and part[0] in ("and", "or", "not", "imply", "when", ":goal"):
            empty = [place for child, place in inside if child == ()]
            if empty:
                fault = f"() is not a condition, {_REFUSED_BY_MOST}"
                defect = syntax_defect(fault, "write nothing, or (and) for what is always true", empty[0])
                yield replace(defect, part=show(part)[:60])
