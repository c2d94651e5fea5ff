"""`pddlego simulate`: executes a plan and prints the states, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pddlego.cli.printing import Format, Line, check_target, end, print_result, say
from pddlego.cli.validate import DomainFile, PlanFile, ProblemFile
from pddlego.util.files import write_whole
from pddlego.util.text import count

if TYPE_CHECKING:
    from pddlego.tools import SimulatedState, SimulationResult

Html = Annotated[Path | None, typer.Option("--html", help="File for a page that steps through the states.")]

PAGE = (".html", ".htm")
"""The endings of a page."""

_START = "the initial state"
_REACHED = {True: "reached", False: "not reached"}


def command(domain: DomainFile, problem: ProblemFile, plan: PlanFile, html: Html = None, form: Format = "text") -> None:
    """Execute a plan, and print what each step makes true (+) and false (-), numbers included.

    Exit code: 0 the goal is reached, 1 it is not, or a step is not possible, 2 wrong usage.
    """
    from pddlego import tools

    check_target("--html", html, PAGE, (domain, problem, plan))
    result = tools.simulate(domain, problem, plan)
    if html is not None:
        write_plan_page(result, html, plan.name)
    print_result(result, form, _lines(result))
    end(not result.fault and result.states[-1].goal_reached)


def write_plan_page(result: SimulationResult, file: Path, title: str) -> None:
    """Write an HTML file that steps through the states: what changes, the cost so far, and the whole state."""
    from pddlego.display.page import render_steps

    last = result.states[-1]
    ending = f"not possible: {result.fault}" if result.fault else f"the goal is {_REACHED[last.goal_reached]}"
    steps = ((state.step, state.action or _START, [_changes(state), _facts(state)]) for state in result.states)
    write_whole(file, render_steps(f"{title}: {count(last.step, 'step')}, {ending}", ["changes", "state"], steps))
    say(f"{count(len(result.states), 'state')}, written to {file}")


def _changes(state: SimulatedState) -> list[Line]:
    lines = [(f"+ {fact}", "green") for fact in state.added] + [(f"- {fact}", "red") for fact in state.deleted]
    cost = [] if state.cost is None else [(f"cost so far: {state.cost}", "")]
    goal = [("the goal is reached", "bold")] if state.goal_reached else []
    return [*(lines or [("nothing changes", "dim")]), *cost, *goal]


def _facts(state: SimulatedState) -> list[Line]:
    return [(fact, "green" if fact in state.added else "") for fact in state.facts]


def _lines(result: SimulationResult) -> Iterator[Line]:
    for state in result.states:
        cost = "" if state.cost is None else f"  cost {state.cost}"
        yield f"{state.step}  {state.action or _START}{cost if state.step else ''}", "bold"
        yield from ((f"   + {fact}", "green") for fact in (state.added if state.step else state.facts))
        yield from ((f"   - {fact}", "red") for fact in state.deleted)
    if result.fault:
        yield f"Not possible: {result.fault}", "bold red"
        yield f"  do:  {result.advice or 'Correct this step.'}", ""
    is_reached = result.states[-1].goal_reached
    yield f"The goal is {_REACHED[is_reached]}.", ""
    if not is_reached:
        actions = count(len(result.applicable), "action")
        yield f"Possible here: {actions} (pddlego applicable DOMAIN PROBLEM --plan PLAN)", "dim"
