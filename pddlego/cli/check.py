"""`pddlego check`: finds defects in PDDL files and plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pddlego.cli.printing import Line, end, finding_lines, print_result
from pddlego.cli.validate import DomainFile
from pddlego.util.text import clean, count

if TYPE_CHECKING:
    from pddlego.tools import CheckedFiles, Finding

ProblemFile = Annotated[Path | None, typer.Argument(metavar="[PROBLEM]", help="A problem file of that domain.")]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="A plan, or the output of a planner.")]
CheckFormat = Annotated[
    Literal["text", "json", "gcc"],
    typer.Option("--format", help="text, json, or gcc (one line per defect)."),
]


def command(domain: DomainFile, problem: ProblemFile = None, plan: PlanFile = None, form: CheckFormat = "text") -> None:
    """Find defects in a domain, a problem or a plan: where, why, and what to do.

    Exit code: 0 no defects (warnings are allowed), 1 defects, 2 wrong usage.
    """
    from pddlego import tools

    checked = tools.check_files(domain, problem, plan)
    result = checked.result
    files = {"domain": domain, "problem": problem, "plan": plan}
    if form == "gcc":
        for finding in checked.findings:
            typer.echo(clean(_gcc_line(finding, files[finding.file])))
    else:
        print_result(result, form, _lines(checked, files))
    end(result.ok)


def _gcc_line(finding: Finding, path: Path | None) -> str:
    """The line that editors read: place, severity, message and rule."""
    message = " ".join(clean(f"{finding.message.rstrip('.')}. {finding.advice}").split())
    return f"{path}:{finding.line}:{finding.column}: {finding.severity}: {message} [{finding.rule}]"


def _lines(checked: CheckedFiles, files: Mapping[str, Path | None]) -> Iterator[Line]:
    from pddlego.pddl.check import MAX_DEFECTS

    for finding in checked.findings:
        yield from finding_lines(finding, files[finding.file])
    errors = sum(finding.severity == "error" for finding in checked.findings)
    if errors >= MAX_DEFECTS:
        yield f"Only the first {MAX_DEFECTS} errors of a file are reported.", "dim"
    for part, description in () if errors else _described(checked):
        warnings = sum(finding.file == part for finding in checked.findings)
        state = f"no errors, {count(warnings, 'warning')}" if warnings else "no defects"
        yield f"{files[part]}: {description}: {state}", "green"


def _described(checked: CheckedFiles) -> Iterator[tuple[str, str]]:
    domain, problem, plan = checked.domain, checked.problem, checked.plan
    if domain is not None:
        yield "domain", f"a domain of {count(len(domain.schemas), 'action')}"
    if problem is not None:
        yield "problem", f"a problem of {count(len(problem.objects), 'object')}, {count(len(problem.facts), 'fact')}"
    if plan is not None:
        cost = "" if checked.cost is None else f" and cost {checked.cost}"
        yield "plan", f"a plan of {count(len(plan), 'step')}{cost} that reaches the goal"
