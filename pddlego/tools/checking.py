"""`check`: the errors and warnings in a domain, a problem and a plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

from pddlego.errors import UsageError
from pddlego.pddl import Defect, DefectKind, Domain, PddlSyntaxError, Problem
from pddlego.pddl.check import check_reading
from pddlego.pddl.domain import MAX_TYPES, DomainReading
from pddlego.pddl.portable import as_errors, checked_domain, is_numeric_problem
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import Level, Position
from pddlego.pddl.sexpr import LINE_BREAK
from pddlego.planning import Plan
from pddlego.planning import validate as validate_plan
from pddlego.planning.checked import checked_problem
from pddlego.planning.validation.cost import plan_cost
from pddlego.tools.files import DomainFile, PlanFile, ProblemFile, content_of, is_path, limited_depth, read_plan_file
from pddlego.tools.findings import fault_advice, fault_text, findings_in, not_checked, quoting, rule_of
from pddlego.tools.results import CheckedFiles, CheckResult, Finding, Part, Severity
from pddlego.util.files import read_source
from pddlego.util.text import capitalized


def check(domain: DomainFile, problem: ProblemFile | None = None, plan: PlanFile | None = None) -> CheckResult:
    """Find the errors and warnings in a domain, a problem of the domain and a plan for the problem.

    The problem is checked as far as errors of the domain allow, and the plan if the problem has no errors. Raises
    `UsageError` for a path that cannot be read, and for a plan without a problem.
    """
    return check_files(domain, problem, plan).result


def check_files(domain: DomainFile, problem: ProblemFile | None = None, plan: PlanFile | None = None) -> CheckedFiles:
    """Check files like `check`, and return the values of the files without errors, too."""
    if plan is not None and problem is None:
        raise UsageError("A plan needs a problem", "A plan is for one problem.", "Name domain and problem.")
    paths = {
        part: str(file) for part, file in zip(get_args(Part), (domain, problem, plan), strict=True) if is_path(file)
    }
    checked = _checked_files(domain, problem, plan)
    named = tuple(replace(finding, path=paths.get(finding.file, "")) for finding in checked.findings)
    return replace(checked, findings=named)


def _checked_files(domain: DomainFile, problem: ProblemFile | None, plan: PlanFile | None) -> CheckedFiles:
    sources = content_of(domain, read_source), None if problem is None else content_of(problem, read_source)
    texts = *sources, "" if plan is None else content_of(plan)
    with limited_depth():
        checked = _checked_texts(texts[0], texts[1])
        if plan is None:
            return checked
        if checked.domain is None or checked.problem is None:
            finding = not_checked("plan", "problem" if checked.domain else "domain")
            return replace(checked, findings=(*checked.findings, finding))
        findings, sound = _checked_plan(checked.domain, checked.problem, plan, texts[2])
        cost = None if sound is None else plan_cost(checked.domain, checked.problem, sound)
        return replace(checked, findings=(*checked.findings, *findings), plan=sound, cost=cost)


def _checked_texts(domain: str, problem: str | None) -> CheckedFiles:
    reading = read_problem(problem or "")
    checked = checked_domain(domain, Level.TIME, numeric_task=is_numeric_problem(reading.problem))
    in_domain = tuple(findings_in("domain", checked.defects, domain))
    if problem is None:
        return CheckedFiles(in_domain, checked.domain)
    readable, task = checked.domain or _readable(checked.reading), None
    defects: Iterable[Defect]
    if checked.domain is not None:
        in_problem = checked_problem(checked.domain, reading, Level.TIME)
        task, defects = in_problem.problem, in_problem.defects
    elif readable is not None:
        found = check_reading(readable, reading, Level.TIME)
        types = [(DefectKind.UNDECLARED_TYPE, defect.word) for defect in checked.defects]
        errors = (defect for defect in as_errors(reading.plain, found) if defect.blocking)
        defects = [defect for defect in errors if (defect.kind, defect.word) not in types]
    else:
        defects = [*reading.defects, *reading.missing_sections()]
    return CheckedFiles((*in_domain, *findings_in("problem", defects, problem)), checked.domain, task)


def _readable(reading: DomainReading) -> Domain | None:
    """The domain of a reading, which may have errors; None with syntax errors or too many types."""
    unreadable = any(defect.blocking for defect in reading.defects) or len(reading.domain.supertypes) > MAX_TYPES
    return None if unreadable else reading.domain


def _checked_plan(domain: Domain, problem: Problem, file: PlanFile, text: str) -> tuple[list[Finding], Plan | None]:
    """The findings in a plan, and the plan if it works."""
    lines, findings = LINE_BREAK.split(text), list[Finding]()

    def add(place: Position | None, rule: str, message: str, advice: str, severity: Severity = "error") -> None:
        findings.append(quoting(Finding("plan", 1, 1, severity, rule, message, advice=advice), lines, place))

    try:
        reading = read_plan_file(domain, problem, file)
    except PddlSyntaxError as error:
        for defect in error.defects:
            add(defect.place, defect.kind.id, defect.fault, capitalized(f"{defect.advice}."))
        return findings, None
    fault = validate_plan(domain, problem, reading.plan)
    if fault is not None:
        place = reading.places[-1 if fault.time is None else fault.time] if reading.places else None
        remedy = fault_advice(fault) or "Use an action and objects that are declared."
        add(place, rule_of(fault), fault_text(fault), remedy)
    if reading.note:
        one_plan = "Write one plan, without other text, if more of the lines were meant as steps of it."
        add(None, "skipped-text", reading.note, one_plan, "warning")
    return findings, reading.plan if fault is None else None
