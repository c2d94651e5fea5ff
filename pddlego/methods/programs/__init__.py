"""Generalized planning (Silver et al., 2024): a model writes a program that plans for every task of a domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pddlego.methods.base import Measuring, Mode, Tools, WorstCase
from pddlego.methods.programs.modes import MODES

if TYPE_CHECKING:
    from pddlego.display.description import Describe
    from pddlego.events import Event
    from pddlego.methods.programs.options import ProgramOptions, ProgramSetting
    from pddlego.methods.programs.screen import ProgramScreen
    from pddlego.models import Model
    from pddlego.runs.cells import Cell


class Programs:
    """The `Method`. What it needs is imported when it is used: its name alone must cost nothing."""

    name = "programs"
    modes: tuple[Mode, ...] = MODES

    @property
    def options(self) -> type[ProgramOptions]:
        from pddlego.methods.programs.options import ProgramOptions

        return ProgramOptions

    @property
    def measuring(self) -> Measuring:
        from pddlego.methods.programs.measure import MEASURING

        return MEASURING

    @property
    def events(self) -> Mapping[type[Event], Describe]:
        from pddlego.methods.programs.describe import DESCRIBED

        return DESCRIBED

    def load(self, name: str, options: ProgramOptions) -> ProgramSetting:
        from pddlego.methods.programs.options import load

        return load(name, options)

    def stand_in(self, name: str, cell: Cell, setting: ProgramSetting | None) -> Model | None:
        from pddlego.methods.programs.reference_model import stand_in

        return stand_in(name, cell, setting)

    def worst_case(self, setting: ProgramSetting, mode: str, options: ProgramOptions, retries: int) -> WorstCase:
        from pddlego.methods.programs.options import worst_case

        return worst_case(setting, mode, options)

    def run(self, cell: Cell, setting: ProgramSetting, options: ProgramOptions, tools: Tools) -> Iterator[Event]:
        from pddlego.methods.programs.play import play

        return play(cell, setting, options, tools)

    def screen(self) -> ProgramScreen:
        from pddlego.methods.programs.screen import ProgramScreen

        return ProgramScreen()


METHOD = Programs()
