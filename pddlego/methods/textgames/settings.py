"""A playable setting: what `envs/NAME.toml` says, checked, as one immutable value.

Everything that makes a game this game (parameters, limits, domain, goals, commands, what is read of an observation)
is data; adding a game is adding files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pddlego.errors import EngineError, SettingError
from pddlego.methods import base
from pddlego.methods.setting_files import SettingHead
from pddlego.pddl import Atom, Domain, Problem, TypedName, from_name
from pddlego.pddl.exclusive import Invariant
from pddlego.planning import Planner, PlanStatus, PlanStep, Rung
from pddlego.util.text import filled, names_in

Offset = Annotated[int, Field(ge=-1, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Parameter(_Strict):
    """A parameter of the game: its value, the bounds it must keep, and what it means."""

    value: int
    min: int
    max: int
    about: str = ""


class FixedRule(_Strict):
    """Wherever the regular expression `when` matches an answer of the game, the command is sent.

    `{group}` in the command is what the group of that name matched. `once`: the same command is never sent again.
    `ablated`: only where the ladder of ours is taken out.
    """

    when: str
    command: str
    once: bool = False
    ablated: bool = False


class ReadingRule(_Strict):
    """What one sentence of a game means, for the built-in reader: a rule that is data.

    Wherever the regular expression `text` matches an answer (and `command`, if it is not empty, the command before it),
    the facts `forget` go (a `*` stands for any one object), then `objects` and the facts `add` come. `{group}` is what
    the group of that name matched, as a PDDL name; where that is none, the rule does not apply.
    """

    text: str
    command: str = ""
    forget: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    add: tuple[str, ...] = ()


class Protocol(_Strict):
    """How episodes are played where the paper's scripts do it otherwise than we do.

    `without` are parts that no mode has here (`modes.ABLATIONS`). A question has so many `attempts`; None: as many as
    the evaluation says. One that `ignores_unmatched` takes edits without asking what became of their lines, where their
    reading is strict. `one_message`: what is fixed and what is new stand in one message of the user.
    """

    without: tuple[Literal["feedback", "tolerance", "replanning", "remedies", "check"], ...] = ()
    attempts: int | None = Field(default=None, ge=1, le=1000)
    ignores_unmatched: bool = False
    one_message: bool = False


class MapRule(_Strict):
    """Which predicates draw the map: rooms, where the agent is, exits `(p from to direction)`, closed doors, things.

    `holding` is the one for what the agent has in hand; it and `things` are empty where there are none. `directions`
    are places on a grid (x to the right, y down): further than to the next one they would draw a picture of nothing.
    """

    room: str
    here: str
    visited: str
    exit: str
    closed: str
    things: str
    directions: dict[str, tuple[Offset, Offset]]
    holding: str = ""


class GameTable(_Strict):
    engine: str
    name: str
    fold: str
    max_steps: int = Field(gt=0)
    refused: tuple[str, ...] = ()
    folds: dict[str, str]


class ObservationTable(_Strict):
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    score: bool = False
    look: str = ""


class PlanningTable(_Strict):
    domain: str
    problem: str | None = None
    only_planned: tuple[str, ...] = ()
    placeholder: str = Field("", pattern=r"^([a-z][a-z_-]*)?$")
    script: Literal["", "paper-cooking"] = ""


class RungTable(_Strict):
    name: str
    goal: str
    search: str = "bfs"
    ablated: bool = False


class ActionTable(_Strict):
    command: str
    where: str = ""
    expect: str = ""


class InvariantTable(_Strict):
    about: str
    once: str = ""
    never: list[str] = []
    names: str = ""
    unless: str = ""


class PromptsTable(_Strict):
    folder: str
    reader: str = ""
    recipe: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


class SettingFile(SettingHead):
    """A whole file."""

    title: str
    baseline: str = ""
    game: GameTable
    seeds: dict[str, str] = Field(default_factory=dict)
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    observation: ObservationTable = ObservationTable()
    planning: PlanningTable
    ladder: list[RungTable] = Field(min_length=1)
    actions: dict[str, ActionTable]
    prompts: PromptsTable
    reading: list[ReadingRule] = Field(default_factory=list)
    rule: list[FixedRule] = Field(default_factory=list)
    protocol: Protocol = Protocol()
    invariant: list[InvariantTable] = Field(default_factory=list)
    map: MapRule | None = None


@dataclass(frozen=True)
class ActionRule:
    """How a PDDL action is said in the game, and what the game answers if the plan is right (a regular expression).

    An empty command means that it is not known yet how to say it: a plan is carried out up to such a step. `where` is a
    fact of the problem in which values of the command are looked up that are no parameters of the action. `parameters`
    are what the command calls the action's parameters, in order, where the domain may call them otherwise.
    """

    command: str
    expect: str
    where: Atom | None = None
    parameters: tuple[TypedName, ...] | None = None


@dataclass(frozen=True)
class Removable:
    """What `-no-ladder`, `-no-domain`, `-no-prompts` and `-no-recipe` leave, or put in place.

    `ladder` and `rules` are what is played without the ladder of ours; `baseline` is the setting whose domain and
    prompts take the place of ours; `recipe` are patterns of commands that are not shown. Empty where there is nothing.
    """

    ladder: tuple[Rung, ...] = ()
    rules: tuple[FixedRule, ...] = ()
    baseline: GameSetting | None = None
    recipe: tuple[str, ...] = ()


def _fits(patterns: tuple[str, ...], text: str) -> bool:
    return any(re.search(pattern, text) for pattern in patterns)


def _looked_up(where: Atom, given: Mapping[str, str], problem: Problem) -> Mapping[str, str]:
    """The values of the variables of `where` in the first fact that fits; none where no fact does."""
    for fact in problem.sorted_facts():
        if fact.predicate == where.predicate and len(fact.args) == len(where.args):
            found = dict(zip(where.args, fact.args, strict=True))
            if all(given.get(name, value) == value for name, value in found.items() if name.startswith("?")):
                return found
    return {}


@dataclass(frozen=True)
class GameSetting(base.Setting):
    """One playable setting with its domain, starting problem and goal ladder.

    `placeholder` is what names of rooms begin with that were not seen yet (`loc`: loc1, loc2, …), empty for none. Where
    a model writes the domain, `reference` is the setting as its files say it (for stand-ins, never for a prompt), and
    the ladder is the model's unless the setting `keeps_goals`; `begun_with` is the text of a domain written before.
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
    reader: str = ""
    rules: tuple[FixedRule, ...] = ()
    script: str = ""
    hidden: tuple[str, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)
    removable: Removable = Removable()
    keeps_goals: bool = False
    reference: GameSetting | None = None
    begun_with: str = ""

    def command(self, step: PlanStep, problem: Problem) -> str:
        """The game command of a plan step, empty if it has none yet.

        What the command says beyond the action's parameters is looked up in the problem: where no fact gives it, the
        command has a hole. A `KeyError` cannot happen: every action has a checked template, and one that a model wrote
        was checked to be the game's, or to have a command.
        """
        rule, given = self.actions[step.action], self.given(step)
        values = {**(_looked_up(rule.where, given, problem) if rule.where else {}), **given}
        words = {name.lstrip("?"): from_name(value) for name, value in values.items()}
        said = filled(rule.command, dict.fromkeys(names_in(rule.command), "") | words)
        return said if rule.where is None else " ".join(said.split())

    def given(self, step: PlanStep) -> dict[str, str]:
        """What each parameter of a step stands for, by the name that its command has for it."""
        own = self.actions[step.action].parameters
        parameters = self.domain.actions_by_name[step.action].parameters if own is None else own
        return {each.name: arg for each, arg in zip(parameters, step.args, strict=True)}

    def shown(self, commands: tuple[str, ...]) -> tuple[str, ...]:
        """Of valid commands those that a model may choose from."""
        return tuple(each for each in commands if not _fits(self.hidden, each))

    def read(self, text: str) -> str:
        """What the formalizer reads of an observation: whole sentences, without those that are dropped."""
        lines = []
        for line in text.split("\n"):
            sentences = [each.strip() for each in re.split(r"(?<=\.)\s+", line)]
            kept = [each for each in sentences if each and (_fits(self.keep, each) or not _fits(self.drop, each))]
            if kept:
                lines.append(" ".join(kept))
        return "\n".join(lines)

    def is_refused(self, text: str) -> bool:
        """Whether the game answered that nothing happened."""
        return _fits(self.refused, text)

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
            "reading": [each.model_dump() for each in self.reading],
            "invariants": [each.about for each in self.invariants],
            "ladder": [{"name": each.name, "goal": str(each.goal), "search": str(each.search)} for each in self.ladder],
            "map": self.map.model_dump() if self.map else None,
        }

    def resolved(self) -> dict[str, Any]:
        searches = {rung.name: str(rung.search) for rung in self.ladder}
        return {"fold": self.fold, "max_steps": self.max_steps, "search": None, "searches": searches}
