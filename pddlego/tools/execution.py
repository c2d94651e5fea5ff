"""`validate`: whether a plan works."""

from __future__ import annotations

from pddlego.errors import PddlegoError
from pddlego.pddl import DefectKind, PddlSyntaxError
from pddlego.pddl.rules import Level
from pddlego.planning.validation import followed
from pddlego.planning.validation.cost import plan_cost
from pddlego.planning.validation.fault import FaultKind
from pddlego.planning.validation.preferences import preference_verdicts
from pddlego.tools.files import (
    DomainFile,
    PlanFile,
    ProblemFile,
    limited_depth,
    read_domain_file,
    read_plan_file,
    read_problem_file,
)
from pddlego.tools.findings import fault_advice, fault_text, rule_of
from pddlego.tools.results import ValidationResult
from pddlego.util.text import capitalized


def validate(domain: DomainFile, problem: ProblemFile, plan: PlanFile) -> ValidationResult:
    """Execute a plan, and report its fault or its cost. A text that cannot be read is not a valid plan.

    Raises `UsageError` for an invalid domain or problem, and for a path that cannot be read; `PddlegoError` if a step
    has more cases than can be evaluated.
    """
    value = read_domain_file(domain, Level.TIME)
    task = read_problem_file(value, problem, Level.TIME, domain)
    try:
        reading = read_plan_file(value, task, plan)
    except PddlSyntaxError as error:
        more = f" (and {len(error.faults) - 1} more)" if len(error.faults) > 1 else ""
        first = error.defects[0]
        message, advice = f"the plan cannot be read: {first.fault}{more}", capitalized(f"{first.advice}.")
        return ValidationResult(False, rule=DefectKind.SYNTAX.id, message=message, advice=advice)
    with limited_depth():
        fault, monitor = followed(value, task, reading.plan)
    if fault is None:
        verdicts = preference_verdicts(task, monitor)
        return ValidationResult(True, plan_cost(value, task, reading.plan), note=reading.note, preferences=verdicts)
    if fault.kind is FaultKind.TOO_LARGE:
        advice = "Use fewer variables or fewer objects."
        raise PddlegoError("The plan cannot be judged", f"{fault_text(fault)}.", advice)
    return ValidationResult(
        False,
        step=None if fault.time is None else fault.time + 1,
        rule=rule_of(fault),
        message=fault_text(fault),
        advice=fault_advice(fault),
        note=reading.note,
    )
