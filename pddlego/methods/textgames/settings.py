"""A playable setting: what `envs/NAME.toml` says, checked, as one immutable value.

Everything that makes a game this game (parameters, limits, domain, goals, commands, what is read of an observation)
is data; adding a game is adding files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, InstanceOf, model_validator

from pddlego.errors import EngineError, SettingError
from pddlego.methods import base
from pddlego.methods.setting_files import SettingHead
from pddlego.methods.textgames.games import missing_for, packages_of
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.pddl import Formula
from pddlego.planning import Planner, PlanStatus, Rung

Offset = Annotated[int, Field(ge=-1, le=1)]


def _regex(text: str) -> str:
    """The text. Raises `ValueError` if it is not a regular expression."""
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"'{text}' is not a regular expression ({error})") from error
    return text


def _command(text: str) -> str:
    """The command, or nothing. Raises `ValueError` if it cannot be sent."""
    if not text.isprintable() or text != text.strip():
        raise ValueError(f"{text!r} is not a command: one line without blanks at its ends")
    if re.search(r"[{}]", re.sub(r"\{\w+\}", "", text)):
        raise ValueError(f"'{text}' has a brace that belongs to no {{name}}")
    return text


Regex = Annotated[str, AfterValidator(_regex)]
Command = Annotated[str, AfterValidator(_command)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Parameter(_Strict):
    """A parameter of the game: its value and what it means. A number has bounds; a text is one of its `choices`."""

    value: int | str
    min: int = 0
    max: int = 0
    choices: tuple[str, ...] = ()
    about: str = ""

    @property
    def range(self) -> str:
        """The values that it can have."""
        return " or ".join(choice or '""' for choice in self.choices) if self.choices else f"{self.min}-{self.max}"

    @property
    def allowed(self) -> str:
        """The values that it can have, as a sentence names them."""
        return self.range if self.choices else f"from {self.min} to {self.max}"

    def read(self, text: str) -> Parameter:
        """The parameter with the value that is written so. Raises `ValueError` for one that it cannot have."""
        value: int | str = text if self.choices else int(text)
        if value not in (self.choices or range(self.min, self.max + 1)):
            raise ValueError(f"{text} is not {self.allowed}")
        return self.model_copy(update={"value": value})


class FixedRule(_Strict):
    """Wherever the regular expression `when` matches an answer of the game, the command is sent.

    `{group}` in the command is what the group of that name matched. `once`: the same command is never sent again.
    `ablated`: only where the ladder of ours is taken out.
    """

    when: Regex = Field(min_length=1)
    command: Command = Field(min_length=1)
    once: bool = False
    ablated: bool = False


class ReadingRule(_Strict):
    """What one sentence of a game means, for the built-in reader: a rule that is data.

    Wherever the regular expression `text` matches an answer (and `command` the command before it, and `task` the task,
    if they are not empty), the facts `forget` go (a `*` stands for any one object), then `objects` and the facts `add`
    come. `{group}` is what the group of that name matched, as a PDDL name; if that is not a name, the rule does not
    apply.
    """

    text: Regex = Field(min_length=1)
    command: Regex = ""
    task: Regex = ""
    forget: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    add: tuple[str, ...] = ()


class FactRule(_Strict):
    """What facts of a game are in the setting's domain, for `--truth` where the engine reports its facts.

    `when` are facts of the game with variables, such as `link ?a ?d ?b`: a predicate and names without blanks. If all
    are true, and the regular expressions `text` and `task` match the answer and the task (their groups are variables,
    too), the facts `add` are true. With `stays` they remain so. `known` says when the player can know them, as in
    `ClaimTable`; without it, the condition of the claim counts.
    """

    when: tuple[Annotated[str, Field(pattern=r"^[^\s(){},]+( [^\s(){},]+)*$")], ...] = ()
    text: Regex = ""
    task: Regex = ""
    add: tuple[str, ...] = Field(min_length=1)
    stays: bool = False
    known: str = ""


class Protocol(_Strict):
    """How the paper's scripts play where pddlego deviates.

    `without` are parts that no mode has here (`options.ABLATIONS`). A question has so many `attempts`; None: as many as
    the evaluation says. One that `ignores_unmatched` takes edits without asking what became of their lines, where their
    reading is strict. `one_message`: what is fixed and what is new stand in one message of the user.
    """

    without: tuple[Literal["feedback", "tolerance", "replanning", "remedies", "check"], ...] = ()
    attempts: int | None = Field(default=None, ge=1, le=1000)
    ignores_unmatched: bool = False
    one_message: bool = False


class MapRule(_Strict):
    """Which predicates draw the map: rooms, where the agent is, exits `(p from to direction)`, closed doors, things.

    `holding` is the one for what the agent has in hand; it and `things` may be empty. `needed` are the things of a
    recipe, `wanted` is `(p thing preparation)` for what is to be done to them, and `done` the same for what was done;
    without `needed` there is no recipe. `directions` are places on a grid (x to the right, y down): only steps to a
    neighbour are allowed, which keeps the picture small.
    """

    room: str
    here: str
    visited: str
    exit: str
    closed: str
    things: str
    directions: dict[str, tuple[Offset, Offset]]
    holding: str = ""
    needed: str = ""
    wanted: str = ""
    done: str = ""


def parse_range(text: object) -> range:
    """`10-59` as a range that holds both ends; `7` alone. Raises `ValueError` otherwise."""
    match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", text) if isinstance(text, str) else None
    if not match:
        raise ValueError(f"'{text}' is not a range of seeds: write FIRST-LAST")
    first, last = int(match.group(1)), int(match.group(2) or match.group(1))
    if last < first:
        raise ValueError(f"'{text}' is not a range of seeds: the last is before the first")
    return range(first, last + 1)


Seeds = Annotated[InstanceOf[range], BeforeValidator(parse_range)]


def _fits(patterns: tuple[str, ...], text: str) -> bool:
    return any(re.search(pattern, text) for pattern in patterns)


class GameTable(_Strict):
    """Which game an engine plays: its name and the fold of its variations, and what it answers if nothing happened."""

    engine: str
    name: str
    fold: str
    max_steps: int = Field(gt=0)
    refused: tuple[Regex, ...] = ()
    folds: dict[str, Seeds]

    @model_validator(mode="after")
    def _has_its_fold(self) -> GameTable:
        if self.fold not in self.folds:
            raise ValueError(f"'{self.fold}' is not one of {', '.join(self.folds)}")
        return self

    def is_refused(self, text: str) -> bool:
        """Whether the game answered that nothing happened."""
        return _fits(self.refused, text)


class Observing(_Strict):
    """What is read of the game's answers. `drop` and `keep` are patterns; `look` is a command."""

    drop: tuple[Regex, ...] = ()
    keep: tuple[Regex, ...] = ()
    score: bool = False
    look: Command = ""

    def read(self, text: str) -> str:
        """What the formalizer reads of an observation: whole sentences, without those that are dropped."""
        lines = []
        for line in text.split("\n"):
            sentences = [sentence.strip() for sentence in re.split(r"(?<=\.)\s+", line)]
            kept = [
                sentence
                for sentence in sentences
                if sentence and (_fits(self.keep, sentence) or not _fits(self.drop, sentence))
            ]
            if kept:
                lines.append(" ".join(kept))
        return "\n".join(lines)


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
    command: Command
    where: str = ""
    expect: Regex = ""


class InvariantTable(_Strict):
    about: str
    once: str = ""
    never: list[str] = []
    names: str = ""
    unless: str = ""


class ClaimTable(_Strict):
    """When a fact of a predicate can be known to be true or false: a condition on what was observed so far.

    Its variables are the predicate's parameters, as the domain names them. Without one it can always be known. An
    `opinion` can never be, such as where a thing is likely to be. `symmetric`: one fact says it for both ways.
    """

    known: str = ""
    opinion: bool = False
    symmetric: bool = False


class PromptsTable(_Strict):
    folder: str
    reader: str = ""
    recipe: tuple[Regex, ...] = ()
    hidden: tuple[Regex, ...] = ()


class SettingFile(SettingHead):
    """A whole file."""

    title: str
    baseline: str = ""
    game: GameTable
    seeds: dict[str, Seeds] = Field(default_factory=dict)
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    observation: Observing = Observing()
    planning: PlanningTable
    ladder: list[RungTable] = Field(min_length=1)
    actions: dict[str, ActionTable]
    prompts: PromptsTable
    reading: list[ReadingRule] = Field(default_factory=list)
    rule: list[FixedRule] = Field(default_factory=list)
    protocol: Protocol = Protocol()
    invariant: list[InvariantTable] = Field(default_factory=list)
    map: MapRule | None = None
    claims: dict[str, ClaimTable] = Field(default_factory=dict)
    facts: dict[str, FactRule] = Field(default_factory=dict)


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


@dataclass(frozen=True)
class EndpointAsking:
    """How a model is asked: the folder of prompts, patterns of commands that are not shown, the paper's protocol."""

    prompts: str = ""
    hidden: tuple[str, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)

    def shown(self, commands: tuple[str, ...]) -> tuple[str, ...]:
        """Of valid commands those that a model may choose from."""
        return tuple(command for command in commands if not _fits(self.hidden, command))


@dataclass(frozen=True)
class ReaderRules:
    """What the built-in reader reads by: rules of ours by their `name`, or `rules` that are data.

    Where a model writes the domain, `reference` is what the files say, for the reader's answer and never for a prompt.
    """

    name: str = ""
    rules: tuple[ReadingRule, ...] = ()
    reference: Knowledge | None = None


@dataclass(frozen=True)
class ClaimRule:
    """What a `ClaimTable` says, with its condition read: None for one that can always be known."""

    known: Formula | None = None
    opinion: bool = False
    symmetric: bool = False


@dataclass(frozen=True)
class FactReading:
    """A rule for the game's facts, with its condition read: None without one."""

    rule: FactRule
    known: Formula | None = None


@dataclass(frozen=True)
class Fixed:
    """Commands that are sent because the game said something: rules that are data, and a script by its name."""

    rules: tuple[FixedRule, ...] = ()
    script: str = ""


@dataclass(frozen=True)
class GameSetting(base.Setting):
    """One playable setting: what its file says, checked. `start` is what is known before the first observation."""

    max_steps: int
    game: GameTable
    parameters: Mapping[str, Parameter]
    start: Knowledge
    observing: Observing = field(default_factory=Observing)
    asking: EndpointAsking = field(default_factory=EndpointAsking)
    reader: ReaderRules = ReaderRules()
    fixed: Fixed = Fixed()
    map: MapRule | None = None
    claims: Mapping[str, ClaimRule] = field(default_factory=dict)
    facts: tuple[FactReading, ...] = ()
    removable: Removable = Removable()

    @property
    def packages(self) -> tuple[str, ...]:
        return packages_of(self.game.engine)

    @property
    def missing(self) -> str:
        return missing_for(self.game.engine)

    def check(self, planner: Planner) -> None:
        """Raises `SettingError` if the planner cannot plan for a goal of the ladder: no model could fix that."""
        for rung in self.start.ladder:
            result = planner.solve(self.start.domain, self.start.problem.with_goal(rung.goal), rung.search)
            if result.status is PlanStatus.INVALID:
                reason = f"Goal '{rung.name}': {result.message}."
                raise SettingError(f"{self.name} cannot be planned for", reason, "Fix the domain or the goal.")
            if result.status is PlanStatus.CRASHED:
                raise EngineError("The planner does not work", f"{result.message}.", "Run 'pddlego doctor'.")

    def resolved(self) -> dict[str, Any]:
        searches = {rung.name: str(rung.search) for rung in self.start.ladder}
        parameters = {name: str(read.value) for name, read in self.parameters.items()}
        return {
            "parameters": parameters,
            "fold": self.game.fold,
            "max_steps": self.max_steps,
            "search": None,
            "searches": searches,
        }
