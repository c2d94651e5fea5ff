"""A self-contained HTML file that steps through the states of a plan, with the page of the episodes."""

from __future__ import annotations

from rich.text import Text

from pddlego.display.page import render_steps
from pddlego.tools import SimulatedState, SimulationResult
from pddlego.util.text import count


def plan_page(result: SimulationResult, title: str) -> str:
    """The HTML file: for each step the facts that appear and disappear, the cost so far, and the whole state."""
    last = result.states[-1]
    ending = f"not possible: {result.fault}" if result.fault else "the goal is reached" if last.goal_reached else ""
    ending = ending or "the goal is not reached"
    steps = [
        (state.step, state.action or "the initial state", [_changes(state), _facts(state)]) for state in result.states
    ]
    return render_steps(f"{title}: {count(last.step, 'step')}, {ending}", ["changes", "state"], steps)


def _changes(state: SimulatedState) -> list[Text]:
    lines = [Text(f"+ {fact}", "green") for fact in state.added] + [Text(f"- {fact}", "red") for fact in state.deleted]
    cost = [] if state.cost is None else [Text(f"cost so far: {state.cost}")]
    goal = [Text("the goal is reached", "bold")] if state.goal_reached else []
    return [*(lines or [Text("nothing changes", "dim")]), Text(""), *cost, *goal]


def _facts(state: SimulatedState) -> list[Text]:
    return [Text(fact, "green" if fact in state.added else "") for fact in state.facts]
