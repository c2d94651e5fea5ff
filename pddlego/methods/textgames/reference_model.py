"""From a model's name to the reader, with or without noise."""

from __future__ import annotations

from pddlego.errors import UsageError
from pddlego.methods.base import BuiltIn, parse_variant, whole
from pddlego.methods.textgames.loading import without_parts
from pddlego.methods.textgames.options import MODES
from pddlego.methods.textgames.reader.model import ReaderModel, can_answer
from pddlego.methods.textgames.reader.noise import ALL, NoisyReader
from pddlego.methods.textgames.settings import GameSetting
from pddlego.runs.cells import Cell


def builtin_model(name: str, cell: Cell, setting: GameSetting | None) -> ReaderModel | None:
    """The built-in reader of that name; None for another name. Raises `UsageError` if it cannot play the cell."""
    if setting is not None:
        without_parts(setting, parse_variant(cell.mode, MODES).without)
    built_in = BuiltIn.parse(name, ALL)
    if built_in is None:
        return None
    model = ReaderModel()
    if built_in.rate is not None:
        model = NoisyReader(built_in.rate, built_in.seed, built_in.kinds or ALL, cell.model_seed)
    if setting is not None:
        check_reader(setting, cell.mode)
    return model


def can_read(setting: GameSetting) -> bool:
    """Whether the built-in reader can read what the game says."""
    return not can_answer(setting.reader.name, bool(setting.reader.rules), "edit")


def check_reader(setting: GameSetting, mode: str) -> None:
    """Raises `UsageError` if the built-in reader cannot play the setting in this mode."""
    reason = can_answer(setting.reader.name, bool(setting.reader.rules), whole(mode))
    if reason:
        raise UsageError(f"The built-in reader cannot play {setting.name} in mode {mode}", *reason)
