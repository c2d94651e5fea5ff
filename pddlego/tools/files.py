"""The files that the functions for PDDL take: each is its text, its path, or the value that was read from it.

A text is a path if it is one word that ends in `.pddl` or `.plan`, or names an existing file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TypeAlias

from pddlego.errors import UsageError
from pddlego.pddl import Domain, Problem
from pddlego.pddl.check import check_domain, check_reading
from pddlego.pddl.domain import DomainReading, read_domain
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import Level
from pddlego.planning import Plan
from pddlego.planning.result import TOO_DEEP
from pddlego.tools.results import Part
from pddlego.util.files import read_text
from pddlego.util.text import one_line

if TYPE_CHECKING:
    from pddlego.planning.plan_text import PlanReading

DomainFile: TypeAlias = "str | Path | Domain"
ProblemFile: TypeAlias = "str | Path | Problem"
PlanFile: TypeAlias = "str | Path | Plan | Sequence[str]"


def content_of(file: object, read: Callable[[Path], str] = read_text) -> str:
    """The text of a file. Raises `UsageError` if it cannot be read."""
    if isinstance(file, (Domain, Problem)):
        return _written(file)
    if is_path(file):
        return read(Path(str(file)))
    if isinstance(file, (list, tuple)):
        return "\n".join(map(str, file))
    if not isinstance(file, (str, Plan)):
        reason = f"It is of the type {type(file).__name__}."
        raise UsageError("A file is not a text, a path or a value", reason, "Pass the text, or the path as a Path.")
    return str(file)


def is_path(file: object) -> bool:
    """Whether a value is a path: a `Path`, a name like `a.pddl` or `a.plan`, or the name of a file that exists."""
    if isinstance(file, Path) or not isinstance(file, str):
        return isinstance(file, Path)
    if not file.strip() or {"(", "\n", "\0"} & {*file}:
        return False
    if file.lower().endswith((".pddl", ".plan")) and len(file.split()) == 1:
        return True
    try:
        return Path(file).is_file()
    except (OSError, ValueError):  # too long for a name, or not writable as one
        return False


def _written(value: Domain | Problem) -> str:
    """The text that a domain was read from, or the text that a value made in Python is written as.

    Raises `UsageError` if that is read as another value.
    """
    if isinstance(value, Domain) and value.text and read_domain(value.text).domain == value:
        return value.text
    text = str(value)
    reading = read_domain(text) if isinstance(value, Domain) else read_problem(text)
    read = reading.domain if isinstance(reading, DomainReading) else reading.problem
    if read != value and not any(defect.blocking for defect in reading.defects):
        part = "domain" if isinstance(value, Domain) else "problem"
        todo = "Write names in lower case and without blanks, parts as tuples, and sets as frozensets."
        raise UsageError(f"The {part} cannot be written as PDDL", "Its text is read as another value.", todo)
    return text


def read_domain_file(file: DomainFile, level: Level = Level.CLASSICAL) -> Domain:
    """A domain without errors. Raises `UsageError`. For `level` see `pddl.check`."""
    reading = read_domain(content_of(file))
    domain, wrong = reading.domain, [defect.message for defect in reading.defects if defect.blocking]
    if wrong:
        raise invalid("domain", file, wrong)
    errors = [defect.message for defect in check_domain(domain, level) if defect.blocking]
    if errors:
        always = [defect.message for defect in check_domain(domain, Level.TIME) if defect.blocking]
        raise invalid("domain", file, always or errors, None if always else level)
    return domain


def read_problem_file(
    domain: Domain, file: ProblemFile, level: Level = Level.CLASSICAL, domain_file: DomainFile = ""
) -> Problem:
    """A problem of a domain without errors. Raises `UsageError`, whose advice names the `domain_file`.

    For `level` see `pddl.check`.
    """
    reading = read_problem(content_of(file))
    errors = [defect.message for defect in check_reading(domain, reading, level) if defect.blocking]
    if errors:
        always = [defect.message for defect in check_reading(domain, reading, Level.TIME) if defect.blocking]
        raise invalid("problem", file, always or errors, None if always else level, (domain_file,))
    return reading.problem


def read_plan_file(domain: Domain, problem: Problem, file: PlanFile) -> PlanReading:
    """The plan in a file, and the positions of its steps. Raises `PddlSyntaxError`."""
    from pddlego.planning.plan_text import PlanReading, read_plan

    if isinstance(file, Plan):
        return PlanReading(file, tuple((number, 1) for number in range(1, len(file) + 1)))
    return read_plan(content_of(file), domain, problem)


_MOST_NAMED = 3
"""The maximum number of errors that a message lists."""


def invalid(
    part: Part, file: object, errors: Sequence[str], level: Level | None = None, before: Sequence[object] = ()
) -> UsageError:
    """The error for a file with errors. With a `level`, it is valid, but has what is beyond that level.

    `before` are the files that it depends on.
    """
    name = str(file) if is_path(file) else f"The {part}"
    if level is not None:
        what = "time or constraints" if level is Level.NUMBERS else "numbers, time or constraints"
        todo = "Use solve (planner auto), check or validate, or a file without them."
        return UsageError(f"{name} has {what}, which are not possible here", f"{errors[0]}.", todo)
    if isinstance(file, str) and file.strip() and not {"(", "\n"} & {*file} and not is_path(file):
        reason = f"'{one_line(file, 60)}' was read as PDDL text: it does not end with .pddl, and no such file exists."
        return UsageError(f"{name} is not valid", reason, "Name a file that exists.")
    what = f"{name} is not {f'a valid {part}' if is_path(file) else 'valid'}"
    more = f" (and {len(errors) - _MOST_NAMED} more)" if len(errors) > _MOST_NAMED else ""
    reason = f"{'; '.join(errors[:_MOST_NAMED])}{more}."
    words = zip(("DOMAIN", "PROBLEM", "--plan PLAN"), (*before, file), strict=False)
    names = ("--plan " * (word[0] == "-") + quote(str(path)) if is_path(path) else word for word, path in words)
    return UsageError(what, reason, f"See: pddlego check {' '.join(names)}.")


@contextlib.contextmanager
def limited_depth() -> Iterator[None]:
    """Raise `UsageError` for files that are nested more deeply than Python's stack allows."""
    try:
        yield
    except RecursionError as error:
        raise UsageError("The files are too deep", f"{TOO_DEEP}.", "Simplify them.") from error
