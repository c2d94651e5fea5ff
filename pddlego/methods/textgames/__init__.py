"""Text games (the paper PDDLEGO): an agent keeps a PDDL problem of what it has seen, and plans with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pddlego.methods.base import Measuring, Mode, Tools, WorstCase
from pddlego.methods.textgames.modes import MODES

if TYPE_CHECKING:
    from pddlego.display.description import Describe
    from pddlego.events import Event
    from pddlego.methods.textgames.options import TextGameOptions
    from pddlego.methods.textgames.screen import GameScreen
    from pddlego.methods.textgames.settings import GameSetting
    from pddlego.models import Model
    from pddlego.runs.cells import Cell


class TextGames:
    """The `Method`. What it needs is imported when it is used: its name alone must cost nothing."""

    name = "textgames"
    modes: tuple[Mode, ...] = MODES

    @property
    def options(self) -> type[TextGameOptions]:
        from pddlego.methods.textgames.options import TextGameOptions

        return TextGameOptions

    @property
    def measuring(self) -> Measuring:
        from pddlego.methods.textgames.measure import MEASURING

        return MEASURING

    @property
    def events(self) -> Mapping[type[Event], Describe]:
        from pddlego.methods.textgames.describe import DESCRIBED

        return DESCRIBED

    def load(self, name: str, options: TextGameOptions) -> GameSetting:
        from pddlego.methods.textgames.options import load

        return load(name, options)

    def stand_in(self, name: str, cell: Cell, setting: GameSetting | None) -> Model | None:
        from pddlego.methods.textgames.reader.make import stand_in

        return stand_in(name, cell, setting)

    def worst_case(self, setting: GameSetting, mode: str, options: TextGameOptions, retries: int) -> WorstCase:
        from pddlego.methods.textgames.options import worst_case

        return worst_case(setting, mode, retries)

    def run(self, cell: Cell, setting: GameSetting, options: TextGameOptions, tools: Tools) -> Iterator[Event]:
        from pddlego.methods.textgames.play import play

        return play(cell, setting, options, tools)

    def screen(self) -> GameScreen:
        from pddlego.methods.textgames.screen import GameScreen

        return GameScreen()


METHOD = TextGames()
