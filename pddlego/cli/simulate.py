"""`pddlego simulate`: executes a plan and prints the states, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pddlego.cli.printing import REACHED, START, Format, Line, check_target, end, print_result
from pddlego.cli.validate import DomainFile, PlanFile, ProblemFile
from pddlego.util.text import count

if TYPE_CHECKING:
    from pddlego.tools import SimulationResult

Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="FILE.html for a page that steps through the states.")
]

PAGE = (".html", ".htm")
"""The endings of a page."""


def command(
    domain: DomainFile, problem: ProblemFile, plan: PlanFile, output: Output = None, form: Format = "text"
) -> None:
    """Execute a plan, and print what each step makes true (+) and false (-), numbers included.

    Exit code: 0 the goal is reached, 1 it is not, or a step is not possible, 2 wrong usage.
    """
    from pddlego import tools
    from pddlego.pddl.rules import Level

    check_target(output, PAGE, (domain, problem, plan))
    if output is None:
        result = tools.simulate(domain, problem, plan)
    else:
        from pddlego.cli.plan_page import write_plan_page

        parsed = tools.read_domain_file(domain, Level.NUMBERS)
        task = tools.read_problem_file(parsed, problem, Level.NUMBERS, domain)
        result = tools.simulate(parsed, task, plan)
        write_plan_page(result, parsed, task, output, plan.name)
    print_result(result, form, _lines(result))
    end(not result.fault and result.states[-1].goal_reached)


def _lines(result: SimulationResult) -> Iterator[Line]:
    for state in result.states:
        cost = "" if state.cost is None else f"  cost {state.cost}"
        yield f"{state.step}  {state.action or START}{cost if state.step else ''}", "bold"
        yield from ((f"   + {fact}", "green") for fact in (state.added if state.step else state.facts))
        yield from ((f"   - {fact}", "red") for fact in state.deleted)
    if result.fault:
        yield f"Not possible: {result.fault}", "bold red"
        yield f"  do:  {result.advice or 'Correct this step.'}", ""
    is_reached = result.states[-1].goal_reached
    yield f"The goal is {REACHED[is_reached]}.", ""
    yield from ((str(verdict), "") for verdict in result.preferences)
    if not is_reached:
        actions = count(len(result.applicable), "action")
        yield f"Possible here: {actions} (pddlego applicable DOMAIN PROBLEM --plan PLAN)", "dim"
