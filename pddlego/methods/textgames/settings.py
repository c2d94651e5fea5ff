"""The settings of text games: the tables of `envs/NAME.toml`, and the immutable values that are built from them.

All properties of a game (parameters, limits, domain, goals, commands, and the parts of an observation that are read)
are data: a new game needs new files and no new code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, InstanceOf, model_validator

from pddlego.errors import EngineError, SettingError
from pddlego.methods import base
from pddlego.methods.setting_files import SettingHead
from pddlego.methods.textgames.games import GameSpec, files_of, missing_for, packages_of
from pddlego.methods.textgames.knowledge import Knowledge
from pddlego.methods.textgames.options import OFFERED
from pddlego.methods.textgames.reading.rules import ReadingRule, Regex
from pddlego.pddl import Formula
from pddlego.planning import Planner, PlanStatus, Rung
from pddlego.util.text import suggestion

Offset = Annotated[int, Field(ge=-1, le=1)]


def _command(text: str) -> str:
    """Return the command unchanged; it may be empty. Raises `ValueError` if it is not a valid template."""
    if not text.isprintable() or text != text.strip():
        raise ValueError(f"{text!r} is not a command: one line without blanks at its ends")
    if re.search(r"[{}]", re.sub(r"\{\w+\}", "", text)):
        raise ValueError(f"'{text}' has a brace that belongs to no {{name}}")
    return text


Command = Annotated[str, AfterValidator(_command)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Parameter(_Strict):
    """A parameter of the game, with its meaning in `about`.

    A number has bounds; a text is one of the `choices`, or any text without choices.
    """

    value: int | str
    min: int = 0
    max: int = 0
    choices: tuple[str, ...] = ()
    about: str = ""

    @property
    def range(self) -> str:
        """The allowed values, such as `0-10`."""
        if isinstance(self.value, str):
            return " or ".join(choice or '""' for choice in self.choices) or "any text"
        return f"{self.min}-{self.max}"

    @property
    def allowed(self) -> str:
        """The allowed values as part of a sentence, such as `from 0 to 10`."""
        return self.range if isinstance(self.value, str) else f"from {self.min} to {self.max}"

    def read(self, text: str) -> Parameter:
        """The parameter with the value of `text`. Raises `ValueError` if the value is not allowed."""
        is_text = isinstance(self.value, str)
        value: int | str = text if is_text else int(text)
        if value not in (self.choices or ((text,) if is_text else range(self.min, self.max + 1))):
            raise ValueError(f"{text} is not {self.allowed}")
        return self.model_copy(update={"value": value})


class FixedRule(_Strict):
    """A command that is sent whenever the regular expression `when` matches an observation.

    `{group}` in the command stands for the text of that group. `once`: the same command is never sent again.
    `ablated`: the rule applies only to variants without the setting's ladder. `question`: the observation is a question
    of the game and the command its answer, so the observation is not a mismatch with the plan.
    """

    when: Regex = Field(min_length=1)
    command: Command = Field(min_length=1)
    once: bool = False
    ablated: bool = False
    question: bool = False


class FactRule(_Strict):
    """A rule that translates facts of the game into facts of the setting's domain (`--truth`).

    `when` are patterns of the game's facts with variables, such as `link ?a ?d ?b`: a predicate and names without
    blanks. If all patterns match, and the regular expressions `text` and `task` match the observation and the task
    (their groups are variables as well), the facts `add` are true; with `stays` they remain true. `known` is the
    condition under which the player can know the facts, as in `ClaimTable`; if it is empty, that of the claim is used.
    """

    when: tuple[Annotated[str, Field(pattern=r"^[^\s(){},]+( [^\s(){},]+)*$")], ...] = ()
    text: Regex = ""
    task: Regex = ""
    add: tuple[str, ...] = Field(min_length=1)
    stays: bool = False
    known: str = ""


class Protocol(_Strict):
    """The behaviour of the paper's scripts where it differs from pddlego's.

    `without` are parts that are removed from every mode (`options.ABLATIONS`). `attempts` is the maximum number of
    answers to a question; None for the number that the evaluation sets. `ignores_unmatched`: strict reading accepts an
    edit with lines that match nothing. `plain_requests`: a request is one user message without a system message, and an
    edit is requested as any JSON object, without a schema; in mode `act`, each turn keeps its valid commands. `rounds`
    is the maximum number of plans, of any length.
    """

    without: tuple[Literal["feedback", "tolerance", "replanning", "remedies", "check"], ...] = ()
    attempts: int | None = Field(default=None, ge=1, le=1000)
    rounds: int | None = Field(default=None, ge=1)
    ignores_unmatched: bool = False
    plain_requests: bool = False

    @property
    def removed(self) -> tuple[str, ...]:
        """The parts that are removed from every mode: the paper's requests do not offer what pddlego's do."""
        return (*self.without, *(OFFERED if self.plain_requests else ()))


class MapRule(_Strict):
    """The type and the predicates from which the map is drawn.

    `room` is the type of rooms. Predicates: `here` for the agent's room, `visited` rooms, `exit` as `(p from to
    direction)`, `closed` for two rooms with a closed door, `things` as `(p thing room)`, and `holding` for the things
    in the agent's hand. A recipe has `needed` things; `wanted` and `done` are `(p thing preparation)` for required and
    finished preparations. `things`, `holding` and the predicates of the recipe may be empty. `directions` are offsets
    on a grid (x to the right, y down) of at most 1, which keeps the map small.
    Without `exit` the map is a list of rooms. `grid` is for reading rules: an exit to an unnamed room leads to
    the `named` room at its place of the grid, or with `all` also to the placeholder there.
    """

    room: str
    here: str
    visited: str
    exit: str = ""
    closed: str = ""
    things: str
    directions: dict[str, tuple[Offset, Offset]] = {}
    grid: Literal["", "named", "all"] = ""
    holding: str = ""
    needed: str = ""
    wanted: str = ""
    done: str = ""


def parse_range(text: object) -> range:
    """The range of `10-59`, which includes both ends, or of a single seed such as `7`. Raises `ValueError`."""
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
    """The game of an engine: its name, its folds of seeds, and patterns of its observations after refused commands."""

    engine: str
    name: str
    fold: str
    max_steps: int = Field(gt=0)
    refused: tuple[Regex, ...] = ()
    folds: dict[str, Seeds]

    @model_validator(mode="after")
    def _has_its_fold(self) -> GameTable:
        if self.fold not in self.folds:
            advice = suggestion(self.fold, self.folds, f"Its folds are: {', '.join(self.folds)}")
            raise ValueError(f"it has no fold '{self.fold}'. {advice}")
        return self

    def is_refused(self, text: str) -> bool:
        """Whether the observation says that the command had no effect."""
        return _fits(self.refused, text)


class Observing(_Strict):
    """The parts of observations that are read. Sentences that match `drop` are removed unless they match `keep`.

    With `score` the model also reads the score. `look` is the command to look around.
    """

    drop: tuple[Regex, ...] = ()
    keep: tuple[Regex, ...] = ()
    score: bool = False
    look: Command = ""

    def read(self, text: str) -> str:
        """The sentences of an observation that the model reads."""
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
    optional: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    placeholder: str = Field("", pattern=r"^([a-z][a-z_-]*)?$")
    sought: str = ""
    script: Literal["", "paper-cooking"] = ""


class RungTable(_Strict):
    name: str
    goal: str
    search: str = "bfs"
    ablated: bool = False
    explores: bool = False


class ActionTable(_Strict):
    command: Command
    where: str = ""
    expect: Regex = ""
    gains: bool = False


class InvariantTable(_Strict):
    about: str
    once: str = ""
    never: list[str] = []
    names: str = ""
    unless: str = ""
    both_ways: str = ""


class ClaimTable(_Strict):
    """How facts of a predicate are checked against the reference.

    `known` is a condition under which the player can know whether the fact is true. Its variables are the predicate's
    parameters in the domain; if it is empty, the fact can always be known. An `opinion` is never checked, such as where
    a thing is likely to be, and a `guess` only when it can be known. `symmetric`: a fact also holds with exchanged
    arguments.
    """

    known: str = ""
    opinion: bool = False
    guess: bool = False
    symmetric: bool = False


class PromptsTable(_Strict):
    folder: str
    reader: str = ""
    recipe: tuple[Regex, ...] = ()
    hidden: tuple[Regex, ...] = ()


def _by_number(tables: object) -> object:
    """Tables `[[reading]]` without names get their numbers as names."""
    return {str(number): table for number, table in enumerate(tables, 1)} if isinstance(tables, list) else tables


class SettingFile(SettingHead):
    """The tables of an `envs/NAME.toml`."""

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
    reading: Annotated[dict[str, ReadingRule], BeforeValidator(_by_number)] = Field(default_factory=dict)
    rule: list[FixedRule] = Field(default_factory=list)
    protocol: Protocol = Protocol()
    invariant: list[InvariantTable] = Field(default_factory=list)
    map: MapRule | None = None
    claims: dict[str, ClaimTable] = Field(default_factory=dict)
    facts: dict[str, FactRule] = Field(default_factory=dict)


@dataclass(frozen=True)
class Removable:
    """The replacements for the parts that `-no-ladder`, `-no-domain`, `-no-prompts` and `-no-recipe` remove.

    `ladder` replaces the setting's ladder, and `rules` are added to its fixed rules. `baseline` is the setting whose
    domain and prompts are used instead. `recipe` are patterns of commands that are hidden from the model. A part with
    an empty replacement cannot be removed.
    """

    ladder: tuple[Rung, ...] = ()
    rules: tuple[FixedRule, ...] = ()
    baseline: GameSetting | None = None
    recipe: tuple[str, ...] = ()


@dataclass(frozen=True)
class EndpointAsking:
    """The folder of the prompts, patterns of commands that are hidden from the model, and the paper's protocol.

    `rules`: requests for changes ask for rules that read later sentences, too.
    """

    prompts: str = ""
    hidden: tuple[str, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)
    rules: bool = False

    def shown(self, commands: tuple[str, ...]) -> tuple[str, ...]:
        """The commands that are not hidden from the model."""
        return tuple(command for command in commands if not _fits(self.hidden, command))


@dataclass(frozen=True)
class ReaderRules:
    """The rules of the built-in reader: the `name` of rules in code, or `rules` from the setting.

    `reference` is the knowledge of the setting's files in modes in which the model writes the domain: the reader
    answers with it, and no prompt shows it. Facts of `symmetric` predicates are stored once, `opinions` are predicates
    that no observation states, and `map` names the directions and their opposites. The `given` rules are those of
    `rules` with which the learn modes begin.
    """

    name: str = ""
    rules: tuple[ReadingRule, ...] = ()
    reference: Knowledge | None = None
    symmetric: frozenset[str] = frozenset()
    opinions: frozenset[str] = frozenset()
    map: MapRule | None = None
    given: tuple[ReadingRule, ...] = ()


@dataclass(frozen=True)
class ClaimRule:
    """A `ClaimTable` with the parsed condition; None if facts of the predicate can always be known."""

    known: Formula | None = None
    opinion: bool = False
    guess: bool = False
    symmetric: bool = False


@dataclass(frozen=True)
class FactReading:
    """A `FactRule` with its parsed condition; None without a condition."""

    rule: FactRule
    known: Formula | None = None


@dataclass(frozen=True)
class Fixed:
    """The sources of commands that are sent without a plan: rules, and the name of a script in code."""

    rules: tuple[FixedRule, ...] = ()
    script: str = ""


@dataclass(frozen=True)
class GameSetting(base.Setting):
    """A checked setting that can be played. `start` is the first knowledge, `constraint` what plans must keep."""

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
    constraint: str = ""

    @property
    def fold(self) -> str:
        return self.game.fold

    @property
    def packages(self) -> tuple[str, ...]:
        return packages_of(self.game.engine)

    @property
    def missing(self) -> str:
        return missing_for(self.game.engine)

    def game_files(self, seeds: Iterable[int]) -> Mapping[str, Mapping[str, str]]:
        """The files of its games (`base.Setting`). Raises `UsageError`."""
        return files_of(self.game.engine, self.spec(max(seeds, default=0)))

    def spec(self, seed: int, java: str | None = None) -> GameSpec:
        """What an engine needs to make the game of a seed."""
        values = {name: parameter.value for name, parameter in self.parameters.items()}
        return GameSpec(self.game.name, values, seed, self.game.fold, java)

    def check(self, planner: Planner) -> None:
        """Raise `SettingError` if the planner rejects a goal of the ladder: no answer of a model could fix that."""
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
