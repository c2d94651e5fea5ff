"""The form of `envs/NAME.toml`: one class for each table. See docs/formats.md."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

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


class SettingFile(_Strict):
    """A whole file. Many fields, because it is one for each table."""

    title: str
    about: str = ""
    baseline: str = ""
    game: GameTable
    seeds: dict[str, str] = {}
    parameters: dict[str, Parameter] = {}
    observation: ObservationTable = ObservationTable()
    planning: PlanningTable
    ladder: list[RungTable] = Field(min_length=1)
    actions: dict[str, ActionTable]
    prompts: PromptsTable
    reading: list[ReadingRule] = []
    rule: list[FixedRule] = []
    protocol: Protocol = Protocol()
    invariant: list[InvariantTable] = []
    map: MapRule | None = None
