"""The limits of programs and heuristics: their time, memory and number."""

from __future__ import annotations

from dataclasses import replace

from pddlego.episode.budget import Budget
from pddlego.methods.base import Variant
from pddlego.methods.programs.options import NO_VARIANTS, ProgramOptions
from pddlego.sandbox import SandboxLimits
from pddlego.sandbox.result import PATIENCE


def task_limits(options: ProgramOptions, evaluating: bool) -> SandboxLimits:
    """The limits of a program for one task."""
    seconds = options.eval_timeout if evaluating and options.eval_timeout is not None else options.task_timeout
    return SandboxLimits(seconds=seconds, memory=options.task_memory, patience=options.patience or PATIENCE)


_TRAINING_SECONDS = 10.0
"""The time of a heuristic for a training task."""

_PAPER_SECONDS = 300.0
"""The time of a heuristic for any task in the paper."""

_PROPERTY_SECONDS = 30.0
"""The time to test the property of a direct heuristic on a training task."""


def heuristic_limits(options: ProgramOptions, evaluating: bool, direct: bool = False) -> SandboxLimits:
    """The limits of the search that a heuristic guides, for one task."""
    own = options.eval_timeout if evaluating else options.training_timeout
    default = options.task_timeout if evaluating else _TRAINING_SECONDS
    if direct and not evaluating:
        default = _PROPERTY_SECONDS
    elif options.parity == "paper":
        default = _PAPER_SECONDS
    seconds = own or default
    return SandboxLimits(seconds=seconds, memory=options.task_memory, patience=options.patience or PATIENCE)


def candidates_of(options: ProgramOptions, direct: bool = False) -> int:
    """The number of heuristics that the model writes."""
    return options.candidates or (10 if direct else 25 if options.parity == "paper" else 5)


def first_programs(options: ProgramOptions, variant: Variant) -> int:
    """The number of first programs that the model writes."""
    if NO_VARIANTS in variant.without:
        return 1
    return options.programs or (3 if options.strategy == "pseudocode" else 1)


def strategy_rounds(options: ProgramOptions) -> int:
    """The maximum number of corrections of a strategy."""
    return 5 if options.strategy_rounds is None else options.strategy_rounds


def limits_within(budget: Budget, limits: SandboxLimits) -> tuple[SandboxLimits, bool]:
    """The limits of a task, and whether the time that is left for the episode shortens them."""
    left = budget.seconds_left
    if left is None or left >= limits.seconds:
        return limits, False
    return replace(limits, seconds=left, patience=1.0), True
