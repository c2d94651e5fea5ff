"""From a plan to commands, and what the game made of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from pddlego.methods.textgames.events import Planned, PlannedStep
from pddlego.methods.textgames.settings import GameSetting
from pddlego.pddl import Atom, Problem
from pddlego.planning import LadderResult, PlanStep, validate


@dataclass(frozen=True)
class Intention:
    """A command to send; if a planner chose it, with the plan's step and what that is expected to change.

    `after` are the facts that are true after it, if all goes as planned. `by_rule`: a fixed rule asks for it.
    """

    command: str
    step: PlanStep | None = None
    planned: PlannedStep | None = None
    after: frozenset[Atom] | None = None
    by_rule: bool = False


def intended(setting: GameSetting, problem: Problem, ladder: LadderResult) -> tuple[tuple[Intention, ...], Planned]:
    """The commands of the plan that the ladder gave, up to the first step without one; and all of it as an event."""
    steps = ladder.plan.steps if ladder.plan else ()
    states = validate(setting.domain, problem, ladder.plan).states if ladder.plan else ()
    intentions = []
    for step, (before, after) in zip(steps, pairwise(states), strict=True):  # every plan was executed to its end
        added, removed = (tuple(sorted(map(str, facts))) for facts in (after - before, before - after))
        planned = PlannedStep(str(step), setting.command(step, problem), added, removed)
        intentions.append(Intention(planned.command, step, planned, after))
    shown = tuple(each.planned for each in intentions if each.planned)
    said = next((number for number, each in enumerate(intentions) if not each.command), len(intentions))
    return tuple(intentions[:said]), Planned(ladder.tried, ladder.rung, shown)


def unforeseen(intention: Intention, difference: str, refused: bool) -> str:
    """For the model: what a step was to change, and what came of it instead; empty where all went as planned."""
    planned = intention.planned
    if planned is None or not (difference or refused):
        return ""
    changes = [f"make {each} true" for each in planned.added] + [f"make {each} false" for each in planned.removed]
    told = f"{planned.action} was to {', '.join(changes) or 'change nothing'}"
    return f"{told}; {'the game refused the command' if refused else difference}."
