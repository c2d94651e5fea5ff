"""Plays a cell of generalized planning, for the first time or again."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from pddlego.episode.budget import Meter
from pddlego.episode.events import Event, Isolated
from pddlego.episode.lifecycle import played
from pddlego.methods.base import Tools, parse_variant, started
from pddlego.methods.programs.baselines import Baseline
from pddlego.methods.programs.episode import Conversation, Given
from pddlego.methods.programs.events import Began
from pddlego.methods.programs.loading import ProgramSetting
from pddlego.methods.programs.options import MODES, NO_NAMES, PLAN, PROGRAM, ProgramOptions
from pddlego.runs.cells import Cell
from pddlego.sandbox import Sandbox


def play(cell: Cell, setting: ProgramSetting, options: ProgramOptions, tools: Tools) -> Iterator[Event]:
    """Every event of the episode."""
    meter = Meter(replace(tools.limits, steps=None))
    return played(_episode(cell, setting, options, tools, meter), meter)


def _episode(
    cell: Cell, setting: ProgramSetting, options: ProgramOptions, tools: Tools, meter: Meter
) -> Generator[Event, None, None]:
    variant = parse_variant(cell.mode, MODES)
    yield started(cell, setting, tools, meter.limits, "programs")
    if NO_NAMES in variant.without:
        given = Given(*setting.nameless(cell.seed))
    else:
        given = Given(setting.text, setting.domain, setting.tasks(cell.seed))
    training, evaluation = (
        tuple(task.name for task in tasks) for tasks in (given.tasks.training, given.tasks.evaluation)
    )
    yield Began(given.domain.name, training, evaluation, options.curve)
    if variant.mode.name == PROGRAM:
        with Sandbox(options.isolation) as sandbox:
            yield Isolated(options.isolation, sandbox.layers())
            yield from Conversation(given, variant, options, tools, meter, sandbox).run()
    baseline = Baseline(given.domain, given.tasks, options, tools, meter)
    if variant.mode.name == PLAN:
        yield from baseline.plan()
    yield from baseline.walk(f"{cell.setting}/{cell.seed}")
