"""`pddlego simulate`: executes a plan and prints the states, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pddlego.cli.printing import Format, Line, end, print_result, say
from pddlego.cli.validate import DomainFile, PlanFile, ProblemFile
from pddlego.util.files import write_whole
from pddlego.util.text import count

if TYPE_CHECKING:
    from pddlego.tools import SimulationResult

Html = Annotated[Path | None, typer.Option("--html", help="File for a page that steps through the states.")]


def command(domain: DomainFile, problem: ProblemFile, plan: PlanFile, html: Html = None, form: Format = "text") -> None:
    """Execute a plan, and print what each step makes true (+) and false (-), numbers included.

    Exit code: 0 the goal is reached, 1 it is not, or a step is not possible, 2 wrong usage.
    """
    from pddlego import tools

    result = tools.simulate(domain, problem, plan)
    if html is not None:
        write_page(result, html, plan.name)
    print_result(result, form, _lines(result))
    end(not result.fault and result.states[-1].goal_reached)


def write_page(result: SimulationResult, file: Path, title: str) -> None:
    """Write the page of a simulation, and say so."""
    from pddlego.display.plan_page import plan_page

    write_whole(file, plan_page(result, title))
    say(f"{count(len(result.states), 'state')}, written to {file}")


def _lines(result: SimulationResult) -> Iterator[Line]:
    for state in result.states:
        cost = "" if state.cost is None else f"  cost {state.cost}"
        yield f"{state.step}  {state.action or 'the initial state'}{cost if state.step else ''}", "bold"
        yield from ((f"   + {fact}", "green") for fact in (state.added if state.step else state.facts))
        yield from ((f"   - {fact}", "red") for fact in state.deleted)
    if result.fault:
        yield f"Not possible: {result.fault}", "bold red"
        yield f"  do:  {result.advice}", ""
    reached = result.states[-1].goal_reached
    yield f"The goal is {'reached' if reached else 'not reached'}.", ""
    if not reached:
        actions = count(len(result.applicable), "action")
        yield f"Possible here: {actions} (pddlego applicable DOMAIN PROBLEM --plan PLAN)", "dim"
