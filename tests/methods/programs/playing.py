"""Plays generalized planning in tests: small tasks, scripted answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pddlego.episode.events import Ended, Event, Limits
from pddlego.methods.base import Tools
from pddlego.methods.programs import METHOD
from pddlego.methods.programs.options import ProgramOptions
from pddlego.methods.programs.setting import ProgramSetting, load
from pddlego.models import Model
from pddlego.models.base import ScriptedModel
from pddlego.planning import Planner
from pddlego.runs.cells import Cell
from tests.clock import unhurried
from tests.planners import kept_planner
from tests.scale import PATIENT

NOBODY = ScriptedModel(("",), "none")


def small(name: str, options: ProgramOptions | None = None, training: int = 3, evaluation: int = 4) -> ProgramSetting:
    """A setting with a few tasks."""
    setting = load(name, options or ProgramOptions())
    file = setting.file.model_copy(update={"training_tasks": training, "evaluation_tasks": evaluation})
    return replace(setting, file=file)


def events_of(
    setting: ProgramSetting,
    model: Model | tuple[str, ...] = NOBODY,
    mode: str = "program",
    options: ProgramOptions | None = None,
    planner: Planner | None = None,
    limits: Limits | None = None,
) -> list[Event]:
    """Everything that happens in an episode, where no time-out depends on how busy the machine is."""
    options = (options or ProgramOptions()).model_copy(update={"patience": PATIENT})
    asked: Model = ScriptedModel(model) if isinstance(model, tuple) else model
    own = planner or kept_planner(clock=unhurried)
    try:
        tools = Tools(model=asked, planner=own, limits=limits or Limits(None))
        return list(METHOD.run(Cell(setting.name, mode, asked.name, 0), setting, options, tools))
    finally:
        if planner is None:
            own.close()


def ending(events: Sequence[Event]) -> Ended:
    result = events[-1]
    assert isinstance(result, Ended)
    return result
