"""Stores and run folders as tests need them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pddlego.episode.events import Event, Limits
from pddlego.episode.trace import Trace
from pddlego.evaluation.config import Config, LimitOptions
from pddlego.evaluation.replay import Recorded, load_recorded
from pddlego.evaluation.runner import Executor, Player
from pddlego.evaluation.setup import SettingUse, Setup
from pddlego.methods.registry import make_codec, measuring_of
from pddlego.methods.textgames.options import TextGameOptions
from pddlego.methods.textgames.settings import GameSetting
from pddlego.runs.cells import Cell, Matrix
from pddlego.runs.folders import find_journal, fresh_folder
from pddlego.runs.journal import follow, read_journal
from pddlego.runs.store import Recorder, Store


def open_store(path: Path, configuration: Mapping[str, Any], about: Mapping[str, Any] | None = None) -> Store:
    return Store(
        path,
        configuration,
        codec=make_codec(),
        measure_of=lambda cell: measuring_of(cell.setting, cell.mode).measured,
        about=about,
    )


def executor(player: Player) -> Executor:
    """Plays cells here; there is nothing elsewhere to break off."""
    return Executor(player, lambda: None)


def read(path: Path) -> Trace:
    return read_journal(path, make_codec())


def kept(
    root: Path, setting: GameSetting, seed: int, mode: str, events: Iterable[Event], *, retries: int = 5, **about: Any
) -> Recorded:
    """A text game that is recorded in a new run folder while it is played, and read back."""
    cell = Cell(setting.name, mode, "none" if mode == "human" else "reader", seed)
    options = Setup(
        Config(limits=LimitOptions(retries=retries)),
        matrix=Matrix({setting.name: (seed,)}, (mode,), (cell.model,)),
        played={(setting.name, mode): SettingUse("textgames", TextGameOptions.model_validate({}), setting)},
        limits=Limits(None),
    )
    path = fresh_folder(root, cell.label)
    with open_store(path, options.configuration(), about) as store:
        recorder = Recorder(cell, store)
        follow(events, [recorder.keep])
        recorder.close()
        recorder.record()
    return load_recorded(find_journal(path))
