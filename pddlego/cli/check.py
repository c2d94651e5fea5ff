"""`pddlego check`: what is wrong with PDDL files and plans."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import pddlego
from pddlego.cli import exits
from pddlego.util.files import read_text
from pddlego.util.text import clean, count

if TYPE_CHECKING:
    from rich.console import Console

    from pddlego.tools import CheckResult, Finding

DomainFile = Annotated[Path, typer.Argument(metavar="DOMAIN", help="A PDDL domain file.")]
ProblemFile = Annotated[Path | None, typer.Argument(metavar="[PROBLEM]", help="A problem file of that domain.")]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="A plan, or the output of a planner.")]
Format = Annotated[Literal["text", "json"], typer.Option("--format", help="How findings are written.")]


_WIDTH = 100
"""Characters of a line of a file that are shown."""


def command(domain: DomainFile, problem: ProblemFile = None, plan: PlanFile = None, form: Format = "text") -> None:
    """Find defects in a domain, a problem or a plan: where, why, and what to do.

    Exit code: 0 no defects (warnings are allowed), 1 defects, 2 wrong usage.
    """
    files = {"domain": domain, "problem": problem, "plan": plan}
    texts = {part: f"{read_text(path)}\n" for part, path in files.items() if path is not None}
    result = pddlego.check(texts["domain"], texts.get("problem"), texts.get("plan"))
    if form == "json":
        typer.echo(json.dumps(dataclasses.asdict(result), indent=2, ensure_ascii=False))
    else:
        _show(result, files, texts)
    raise typer.Exit(exits.WON if result.ok else exits.NOT_WON)


def _show(result: CheckResult, files: dict[str, Path | None], texts: dict[str, str]) -> None:
    from rich.console import Console

    from pddlego.pddl.check import MAX_DEFECTS

    console = Console(soft_wrap=True, emoji=False)
    for finding in result.findings:
        show_finding(console, finding, str(files[finding.file]))
    errors = sum(finding.severity == "error" for finding in result.findings)
    if errors >= MAX_DEFECTS:
        console.print(f"Only the first {MAX_DEFECTS} errors of a file are reported.", style="dim")
    if result.ok:
        for part in texts:
            warnings = sum(finding.file == part for finding in result.findings)
            state = f"no errors, {count(warnings, 'warning')}" if warnings else "no defects"
            line = f"{files[part]}: {_described(part, texts, result.cost)}: {state}"
            console.print(clean(line), style="green", markup=False, highlight=False)


def show_finding(console: Console, finding: Finding, path: str) -> None:
    """Print a finding: its place and rule, the line of the file with a caret, why, and what to do."""
    style = "yellow" if finding.severity == "warning" else "bold red"
    head = f"{path}:{finding.line}:{finding.column}: {finding.severity}: {finding.rule}"
    console.print(clean(head), style=style, markup=False, highlight=False)
    if finding.source:
        start = max(0, finding.column - _WIDTH // 2) if len(finding.source) > _WIDTH else 0
        before = clean(finding.source[start : finding.column - 1])
        console.print(f"  {clean(finding.source[start : start + _WIDTH])}", markup=False, highlight=False, style="dim")
        console.print(f"  {' ' * len(before)}^", markup=False, highlight=False, style=style)
    for label, text in (("  why: ", finding.message), ("  do:  ", finding.advice)):
        first, *others = clean(text).splitlines() or [""]
        console.print(f"{label}{first}", markup=False, highlight=False)
        for line in others:
            console.print(f"{' ' * len(label)}{line}", markup=False, highlight=False)


def _described(part: str, texts: dict[str, str], cost: float | None) -> str:
    from pddlego.pddl.problem import read_problem
    from pddlego.planning.plan_text import read_plan

    domain = pddlego.parse_domain(texts["domain"])
    if part == "domain":
        return f"a domain of {count(len(domain.actions), 'action')}"
    problem = read_problem(texts["problem"]).problem
    if part == "problem":
        return f"a problem of {count(len(problem.objects), 'object')}, {count(len(problem.facts), 'fact')}"
    plan = read_plan(texts["plan"], domain, problem).plan
    return f"a plan of {count(len(plan), 'step')} and cost {cost} that reaches the goal"
