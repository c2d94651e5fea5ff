"""A playable setting: what `envs/NAME.toml` says, checked, as one immutable value.

Everything that makes a game this game (parameters, limits, domain, goals, commands, what is read of an observation)
is data; adding a game is adding files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pddlego.errors import EngineError, SettingError
from pddlego.methods import base
from pddlego.methods.textgames.situation import ReadingRule
from pddlego.pddl import Domain, Problem, from_name
from pddlego.pddl.invariants import Invariant
from pddlego.pddl.sexpr import show
from pddlego.planning import Planner, PlanStatus, PlanStep, Rung


@dataclass(frozen=True)
class Parameter:
    """A parameter of the game: its value, the bounds it must keep, and what it means."""

    value: int
    min: int
    max: int
    about: str = ""


@dataclass(frozen=True)
class ActionRule:
    """How a PDDL action is said in the game, and what the game answers if the plan is right (a regular expression).

    An empty command means that it is not known yet how to say it: a plan is carried out up to such a step.
    """

    command: str
    expect: str


@dataclass(frozen=True)
class MapRule:
    """Which predicates draw the map: rooms, where the agent is, exits `(p from to direction)`, closed doors, things.

    `holding` is the one for what the agent has in hand, empty where there is none.
    """

    room: str
    here: str
    visited: str
    exit: str
    closed: str
    things: str
    directions: Mapping[str, tuple[int, int]]
    holding: str = ""


@dataclass(frozen=True)
class GameSetting(base.Setting):
    """One playable setting with its domain, starting problem and goal ladder.

    `placeholder` is what names of rooms begin with that were not seen yet (`loc`: loc1, loc2, …), empty for none.
    Many fields, because it is one for each thing that a file may say.
    """

    max_steps: int
    engine: str
    game: str
    fold: str
    refused: tuple[str, ...]
    folds: Mapping[str, range]
    parameters: Mapping[str, Parameter]
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    score: bool
    look: str
    domain: Domain
    start: Problem
    ladder: tuple[Rung, ...]
    actions: Mapping[str, ActionRule]
    prompts: str
    only_planned: tuple[str, ...] = ()
    placeholder: str = ""
    reading: tuple[ReadingRule, ...] = ()
    map: MapRule | None = None
    overrides: Mapping[str, str] = field(default_factory=dict)
    invariants: tuple[Invariant, ...] = ()

    def command(self, step: PlanStep) -> str:
        """The game command of a plan step, empty if it has none yet.

        A `KeyError` cannot happen: every action has a checked template.
        """
        parameters = self.domain.actions_by_name[step.action].parameters
        values = {each.name.lstrip("?"): from_name(arg) for each, arg in zip(parameters, step.args, strict=True)}
        return re.sub(r"\{(\w+)\}", lambda match: values[match.group(1)], self.actions[step.action].command)

    def read(self, text: str) -> str:
        """What the formalizer reads of an observation: whole sentences, without those that are dropped."""
        lines = []
        for line in text.split("\n"):
            sentences = [each.strip() for each in re.split(r"(?<=\.)\s+", line)]
            kept = [each for each in sentences if each and not self._is_dropped(each)]
            if kept:
                lines.append(" ".join(kept))
        return "\n".join(lines)

    def is_refused(self, text: str) -> bool:
        """Whether the game answered that nothing happened."""
        return any(re.search(pattern, text) for pattern in self.refused)

    def check(self, planner: Planner) -> None:
        """Raises `SettingError` if the planner cannot plan for a goal of the ladder: no model could mend that."""
        for rung in self.ladder:
            result = planner.solve(self.domain, self.start.with_goal(rung.goal), rung.search)
            if result.status is PlanStatus.INVALID:
                why = f"Goal '{rung.name}': {result.message}."
                raise SettingError(f"{self.name} cannot be planned for", why, "Mend the domain or the goal.")
            if result.status is PlanStatus.CRASHED:
                raise EngineError("The planner does not work", f"{result.message}.", "Run 'pddlego doctor'.")

    def manifest(self) -> dict[str, Any]:
        """What a run folder records of the setting: plain JSON values."""
        return {
            "name": self.name,
            "engine": self.engine,
            "game": self.game,
            "fold": self.fold,
            "max_steps": self.max_steps,
            "parameters": {name: each.value for name, each in self.parameters.items()},
            "overrides": dict(self.overrides),
            "observation": {"drop": self.drop, "keep": self.keep, "score": self.score, "look": self.look},
            "domain": self.domain.name,
            "only_planned": self.only_planned,
            "reading": [asdict(each) for each in self.reading],
            "invariants": [each.about for each in self.invariants],
            "ladder": [
                {"name": each.name, "goal": show(each.goal), "search": str(each.search)} for each in self.ladder
            ],
            "map": asdict(self.map) if self.map else None,
        }

    def resolved(self) -> dict[str, Any]:
        searches = {rung.name: str(rung.search) for rung in self.ladder}
        return {"fold": self.fold, "max_steps": self.max_steps, "search": None, "searches": searches}

    def _is_dropped(self, sentence: str) -> bool:
        if any(re.search(pattern, sentence) for pattern in self.keep):
            return False
        return any(re.search(pattern, sentence) for pattern in self.drop)
