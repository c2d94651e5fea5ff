"""`repair`: files that a model wrote as strict PDDL."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pddlego.pddl import Domain
from pddlego.pddl.portable import checked_domain, is_numeric_problem, problem_refusals
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import Level
from pddlego.planning.checked import checked_problem
from pddlego.tools.files import DomainFile, content_of, read_domain_file
from pddlego.tools.findings import findings_in, not_checked
from pddlego.tools.results import Finding, RepairResult, is_sound
from pddlego.util.files import read_source

if TYPE_CHECKING:
    from pddlego.pddl.tolerant.files import Repair, Repaired


def repair(text: str | Path, domain: DomainFile | None = None) -> RepairResult:
    """Repair a domain or a problem by a model, or an answer with both, as far as this needs no guess.

    A text without errors stays as it is. With the `domain` of a problem, which is not changed, more can be repaired and
    checked; `repair_files` repairs both. Raises `UsageError` for a path that cannot be read, or a `domain` that is not
    valid.
    """
    from pddlego.pddl.tolerant.files import repair as repair_pair
    from pddlego.pddl.tolerant.files import repair_problem
    from pddlego.util.answers import spoken

    content = content_of(text, read_source)
    if domain is not None:
        value = read_domain_file(domain, Level.TIME)
        repaired = repair_problem(value.text or value.canonical, content, Level.TIME, moves=False)
        in_domain = ("predicate", "type")  # declarations in the domain, which stays as it is
        repairs = tuple(entry for entry in repaired.repairs if entry.of not in in_domain)
        return _repaired_problem(replace(repaired, repairs=repairs), value, content)
    with_domain = re.search(r"\(\s*define\s*\(\s*domain\b", spoken(content), re.IGNORECASE) is not None
    with_problem = is_problem(spoken(content))
    if with_domain and with_problem:
        first, second = _repaired_pair(content, content)
        both = f"{first.text.rstrip()}\n\n{second.text}"
        return RepairResult(first.ok and second.ok, both, first.repairs, (*first.findings, *second.findings))
    if with_problem:
        return _repaired_problem(repair_pair("", content, Level.TIME), None, content)
    return _repaired_domain(repair_pair(content, "", Level.TIME), content)[0]


def is_problem(text: str) -> bool:
    """Whether a text is meant as a problem rather than as a domain."""
    return re.search(r"\(\s*problem\b", text, re.IGNORECASE) is not None


def repair_files(domain: str | Path, problem: str | Path) -> tuple[RepairResult, RepairResult]:
    """Repair a domain and a problem that a model wrote together: misplaced parts are moved to the other file."""
    return _repaired_pair(content_of(domain, read_source), content_of(problem, read_source))


def _repaired_pair(domain: str, problem: str) -> tuple[RepairResult, RepairResult]:
    from pddlego.pddl.tolerant.files import repair as repair_pair

    repaired = repair_pair(domain, problem, Level.TIME)
    first, value = _repaired_domain(repaired, domain)
    if value is None:
        return first, RepairResult(False, repaired.problem, (), (not_checked("problem", "domain"),))
    return first, _repaired_problem(replace(repaired, repairs=()), value, problem)


def _repaired_domain(repaired: Repaired, source: str) -> tuple[RepairResult, Domain | None]:
    numeric = is_numeric_problem(read_problem(repaired.problem).problem)
    checked = checked_domain(repaired.domain, Level.TIME, numeric_task=numeric)
    findings = tuple(findings_in("domain", checked.defects, source, repaired.domain_place))
    return _repair_result(repaired.domain, repaired.repairs, findings), checked.domain


def _repaired_problem(repaired: Repaired, domain: Domain | None, source: str) -> RepairResult:
    if domain is not None:
        defects = checked_problem(domain, repaired.problem, Level.TIME).defects
    else:
        reading = read_problem(repaired.problem)
        defects = (
            *reading.defects,
            *problem_refusals(reading, Level.TIME, is_numeric_problem(reading.problem)),
            *reading.missing_sections(),
        )
    findings = tuple(findings_in("problem", defects, source, repaired.problem_place))
    return _repair_result(repaired.problem, repaired.repairs, findings)


def _repair_result(text: str, repairs: tuple[Repair, ...], findings: tuple[Finding, ...]) -> RepairResult:
    return RepairResult(is_sound(findings), text, tuple(map(str, repairs)), findings)
