"""A method as a shell: what it needs is imported when it is used, because its name alone must cost nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pydantic import BaseModel

from pddlego.display.description import Describe
from pddlego.display.screens import Screen
from pddlego.events import Event
from pddlego.methods.base import Measuring, Mode, Setting, Tools, WorstCase
from pddlego.models import Model
from pddlego.runs.cells import Cell


@dataclass(frozen=True)
class LazyMethod:
    """The `Method` of a package of ours, whose modules hold its parts under the names that stand here:

    `options.OPTIONS`, `loading.load`, `loading.worst_case`, `measure.MEASURING`, `describe.DESCRIBED`, `play.play`,
    `screen.SCREEN`, and `stand_in` of the module `stand_ins`.
    """

    name: str
    modes: tuple[Mode, ...]
    package: str
    stand_ins: str = "reference_model"

    def _part(self, module: str, name: str) -> Any:
        return getattr(import_module(f"{self.package}.{module}"), name)

    @property
    def options(self) -> type[BaseModel]:
        found: type[BaseModel] = self._part("options", "OPTIONS")
        return found

    @property
    def measuring(self) -> Measuring:
        found: Measuring = self._part("measure", "MEASURING")
        return found

    @property
    def events(self) -> Mapping[type[Event], Describe]:
        found: Mapping[type[Event], Describe] = self._part("describe", "DESCRIBED")
        return found

    def load(self, name: str, options: Any) -> Setting:
        found: Setting = self._part("loading", "load")(name, options)
        return found

    def stand_in(self, name: str, cell: Cell, setting: Any) -> Model | None:
        found: Model | None = self._part(self.stand_ins, "stand_in")(name, cell, setting)
        return found

    def worst_case(self, setting: Any, mode: str, options: Any, retries: int) -> WorstCase:
        found: WorstCase = self._part("loading", "worst_case")(setting, mode, options, retries)
        return found

    def run(self, cell: Cell, setting: Any, options: Any, tools: Tools) -> Iterator[Event]:
        found: Iterator[Event] = self._part("play", "play")(cell, setting, options, tools)
        return found

    def screen(self) -> Screen[Any] | None:
        found: Screen[Any] | None = self._part("screen", "SCREEN")()
        return found
