"""Plays a cell of generalized planning, for the first time or again."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from pddlego.episode.budget import Budget
from pddlego.episode.events import Event, Isolated
from pddlego.episode.lifecycle import played
from pddlego.methods.base import Tools, parse_variant, started
from pddlego.methods.programs.baselines import Baseline
from pddlego.methods.programs.episode import ProgramDialogue, ProgramTask
from pddlego.methods.programs.events import Began
from pddlego.methods.programs.loading import ProgramSetting
from pddlego.methods.programs.options import MODES, NO_NAMES, PLAN, PROGRAM, ProgramOptions
from pddlego.runs.cells import Cell
from pddlego.sandbox import Sandbox


def play(cell: Cell, setting: ProgramSetting, options: ProgramOptions, tools: Tools) -> Iterator[Event]:
    """Every event of the episode."""
    budget = Budget(replace(tools.limits, steps=None))
    return played(_episode(cell, setting, options, tools, budget), budget)


def _episode(
    cell: Cell, setting: ProgramSetting, options: ProgramOptions, tools: Tools, budget: Budget
) -> Generator[Event, None, None]:
    variant = parse_variant(cell.mode, MODES)
    yield started(cell, setting, tools, budget.limits, "programs")
    if NO_NAMES in variant.without:
        task = ProgramTask(*setting.nameless(cell.seed))
    else:
        task = ProgramTask(setting.text, setting.domain, setting.tasks(cell.seed))
    training, evaluation = (
        tuple(task.name for task in tasks) for tasks in (task.tasks.training, task.tasks.evaluation)
    )
    yield Began(task.domain.name, training, evaluation, options.curve)
    if variant.mode.name == PROGRAM:
        with Sandbox(options.isolation) as sandbox:
            yield Isolated(options.isolation, sandbox.layers())
            yield from ProgramDialogue(task, variant, options, tools, budget, sandbox).run()
    baseline = Baseline(task.domain, task.tasks, options, tools, budget)
    if variant.mode.name == PLAN:
        yield from baseline.plan()
    yield from baseline.walk(f"{cell.setting}/{cell.seed}")
