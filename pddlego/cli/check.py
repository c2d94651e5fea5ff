"""`pddlego check`: what is wrong with PDDL files and plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pddlego.errors import UsageError
from pddlego.pddl import Defect, DefectKind, Domain, PddlSyntaxError, Problem
from pddlego.pddl.check import MAX_DEFECTS
from pddlego.planning.solve import checked_domain, checked_problem
from pddlego.planning.validate import PlanFault, parse_plan, validate
from pddlego.util.files import read_text
from pddlego.util.text import clean, count

DomainFile = Annotated[Path, typer.Argument(metavar="DOMAIN", help="A PDDL domain file.")]
ProblemFile = Annotated[Path | None, typer.Argument(metavar="[PROBLEM]", help="A problem file of that domain.")]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="A plan: (action object …), one per line.")]


def command(domain: DomainFile, problem: ProblemFile = None, plan: PlanFile = None) -> None:
    """Find defects in a domain, a problem or a plan, and print three lines for each.

    Exit code: 0 no defects (warnings are allowed), 1 defects, 2 wrong usage.
    """
    raise typer.Exit(_check(domain, problem, plan))


_TODO = {
    DefectKind.SYNTAX: "Fix the text there.",
    DefectKind.MISSING_SECTION: "Add the section.",
    DefectKind.DUPLICATE_OBJECT: "Remove one of the two; planning is possible all the same.",
    DefectKind.DOMAIN_NAME: "Write the same name in both; planning is possible all the same.",
}
"""Advice for defects whose message does not contain it."""


@dataclass(frozen=True)
class FileFinding:
    """A defect: position (`FILE:LINE:COLUMN`), rule, reason, and advice. A `warning` does not fail the check."""

    place: str
    rule: str
    reason: str
    todo: str
    warning: bool = False


def _check(domain_file: Path, problem_file: Path | None, plan_file: Path | None) -> int:
    """Print the defects. Exit code 0 without defects, otherwise 1. Raises `UsageError`."""
    if plan_file is not None and problem_file is None:
        raise UsageError("--plan needs a problem", "A plan is for one problem.", "Name DOMAIN and PROBLEM.")
    console = Console(soft_wrap=True, emoji=False)
    findings: list[FileFinding] = []
    good: list[str] = []
    checked = checked_domain(read_text(domain_file))
    findings += [_of_defect(domain_file, defect) for defect in checked.defects]
    if checked.domain is not None:
        good.append(f"{domain_file}: a domain of {count(len(checked.domain.actions), 'action')}")
        if problem_file is not None:
            findings += _problem(checked.domain, problem_file, plan_file, good)
    elif problem_file is not None:
        findings.append(_not_checked(problem_file, domain_file))
    for finding in findings:
        severity, style = ("warning", "yellow") if finding.warning else ("error", "bold red")
        head = f"{finding.place}: {severity}: {finding.rule}"
        for label, text in (("", head), ("  why: ", finding.reason), ("  do:  ", finding.todo)):
            lines = clean(text).splitlines() or [""]
            console.print(f"{label}{lines[0]}", style="" if label else style, markup=False, highlight=False)
            for line in lines[1:]:
                console.print(f"{' ' * len(label)}{line}", markup=False, highlight=False)
    if sum(not finding.warning for finding in findings) >= MAX_DEFECTS:
        console.print(f"Only the first {MAX_DEFECTS} errors of a file are reported.", style="dim")
    if all(finding.warning for finding in findings):
        for line in good:
            console.print(clean(line), style="green", markup=False, highlight=False)
        return 0
    return 1


def _problem(domain: Domain, problem_file: Path, plan_file: Path | None, good: list[str]) -> Iterator[FileFinding]:
    """The defects of a problem, and of a plan if one is given."""
    checked = checked_problem(domain, read_text(problem_file))
    yield from (_of_defect(problem_file, defect) for defect in checked.defects)
    problem = checked.problem
    if problem is None:
        if plan_file is not None:
            yield _not_checked(plan_file, problem_file)
        return
    sizes = f"{count(len(problem.objects), 'object')}, {count(len(problem.facts), 'fact')}"
    good.append(f"{problem_file}: a problem of {sizes}")
    if plan_file is not None:
        yield from _plan(domain, problem, plan_file, good)


def _plan(domain: Domain, problem: Problem, plan_file: Path, good: list[str]) -> Iterator[FileFinding]:
    text = read_text(plan_file)
    try:
        plan = parse_plan(text)
    except PddlSyntaxError as error:
        for defect in error.defects:
            line, column = defect.place or (1, 1)
            todo = "Write one action a line, each in parentheses."
            yield FileFinding(f"{plan_file}:{line}:{column}", "syntax", defect.message, todo)
        return
    fault = validate(domain, problem, plan)
    if fault is not None:
        lines = enumerate((line.partition(";")[0] for line in text.splitlines()), start=1)
        places = [f"{number}:{len(line) - len(line.lstrip()) + 1}" for number, line in lines if line.strip()]
        yield _of_fault(plan_file, fault, (places or ["1:1"])[-1 if fault.time is None else fault.time])
    good.append(f"{plan_file}: a plan of {count(len(plan), 'step')} that reaches the goal")


def _not_checked(file: Path, cause: Path) -> FileFinding:
    return FileFinding(f"{file}:1:1", "not-checked", f"it depends on {cause}, which has defects", f"Fix {cause} first.")


def _of_defect(file: Path, defect: Defect) -> FileFinding:
    """A defect as three lines. Most messages end with what to do, after a semicolon."""
    reason, semicolon, todo = defect.message.rpartition("; ")
    if not semicolon:
        reason, todo = defect.message, _TODO.get(defect.kind, "Fix it there.")
    todo = todo[:1].upper() + todo[1:]
    line, column = defect.place or (1, 1)
    return FileFinding(f"{file}:{line}:{column}", defect.kind.id, reason, todo, not defect.blocking)


def _of_fault(file: Path, fault: PlanFault, place: str) -> FileFinding:
    where = f"step {fault.time}" if fault.time is not None else "at the end"
    todo = fault.advice or "Use an action and objects that are declared."
    return FileFinding(f"{file}:{place}", f"{fault.kind.value}, {where}", fault.what, todo)
