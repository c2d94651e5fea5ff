"""The form of `envs/NAME.toml`: one class for each table. See docs/formats.md."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class GameTable(_Strict):
    engine: str
    name: str
    fold: str
    max_steps: int = Field(gt=0)
    refused: list[str] = []
    folds: dict[str, str]


class ObservationTable(_Strict):
    drop: list[str] = []
    keep: list[str] = []
    score: bool = False
    look: str = ""


class PlanningTable(_Strict):
    domain: str
    problem: str | None = None
    only_planned: list[str] = []
    placeholder: str = Field("", pattern=r"^([a-z][a-z_-]*)?$")
    script: Literal["", "paper-cooking"] = ""


class RungTable(_Strict):
    name: str
    goal: str
    search: str = "bfs"
    ablated: bool = False


class RuleTable(_Strict):
    when: str
    command: str
    once: bool = False
    ablated: bool = False


class ProtocolTable(_Strict):
    without: list[Literal["feedback", "tolerance", "replanning", "remedies", "check"]] = []
    attempts: int | None = Field(None, ge=1, le=1000)
    ignores_unmatched: bool = False
    one_message: bool = False


class ActionTable(_Strict):
    command: str
    where: str = ""
    expect: str = ""


class ReadingTable(_Strict):
    text: str
    command: str = ""
    forget: list[str] = []
    objects: list[str] = []
    add: list[str] = []


class InvariantTable(_Strict):
    about: str
    once: str = ""
    never: list[str] = []
    names: str = ""
    unless: str = ""


class PromptsTable(_Strict):
    folder: str
    reader: str = ""
    recipe: list[str] = []
    hidden: list[str] = []


class ParameterTable(_Strict):
    value: int
    min: int
    max: int
    about: str = ""


class MapTable(_Strict):
    room: str
    here: str
    visited: str
    exit: str
    closed: str
    things: str
    holding: str = ""
    directions: dict[str, tuple[int, int]]


class SettingFile(_Strict):
    """A whole file. Many fields, because it is one for each table."""

    title: str
    about: str = ""
    baseline: str = ""
    game: GameTable
    seeds: dict[str, str] = {}
    parameters: dict[str, ParameterTable] = {}
    observation: ObservationTable = ObservationTable()
    planning: PlanningTable
    ladder: list[RungTable] = Field(min_length=1)
    actions: dict[str, ActionTable]
    prompts: PromptsTable
    reading: list[ReadingTable] = []
    rule: list[RuleTable] = []
    protocol: ProtocolTable = ProtocolTable(attempts=None)
    invariant: list[InvariantTable] = []
    map: MapTable | None = None
