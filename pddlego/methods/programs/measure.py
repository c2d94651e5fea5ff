"""The measures of generalized planning, with the tables and figures of the papers about programs and heuristics."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pddlego.episode.events import Outcome, Rejected
from pddlego.episode.trace import Trace
from pddlego.methods.base import Column, CountTable, Figure, Measuring, Published, PublishedShares
from pddlego.methods.programs.events import Began, Chosen, Evaluated, ProgramWritten, Ran, Sampled
from pddlego.methods.programs.options import HEURISTIC, PLAN, PROGRAM, SHOWN
from pddlego.methods.programs.records.published import coverage
from pddlego.methods.setting_files import published
from pddlego.runs.summary import LastingError, Measures
from pddlego.util.text import count

_RUN_TIME, _CURVE = "run time", "debug rounds"
_COVERAGE, _CACTUS, _EXPANDED = "coverage", "cactus", "expansions"

_SYNTAX = frozenset({"operator syntax", "output not a plan"})
"""The kinds of failure that the paper counts together, as plan syntax."""

DOMAINS = ("delivery", "ferry", "forest", "gripper", "heavy", "miconic", "spanner")
"""The settings of the paper's domains."""

_MOST_ROUNDS = 4
"""Debug rounds of the paper's figure 3."""


def measure(trace: Trace) -> Measures:
    """The number of answers, whether the training tasks were solved, errors by kind, and run time by size.

    `used_tasks` counts the training tasks that the model saw: two in the prompt, and those that a program failed.
    """
    ran, written, began = trace.all(Ran), trace.all(ProgramWritten), trace.last(Began)
    final = trace.last(Evaluated, where=lambda event: event.final)
    judged = final.answer if final is not None else len(written)
    evaluated = [event for event in ran if event.split == "evaluation" and event.answer == judged]
    trained = [event for event in ran if event.split == "training"]
    solved_last = {event.number: event.solved for event in trained if event.answer == judged}
    is_trained = began is not None and 0 < len(solved_last) == len(began.training) and all(solved_last.values())
    numbers: dict[str, int | float] = {
        "answers": len(written),
        "trained": int(is_trained),
        "evaluated": len(evaluated),
        "timeouts": sum(event.kind == "timeout" for event in evaluated),
    }
    if written and began is not None and trace.last(Chosen) is None:
        shown = range(min(SHOWN, len(began.training)))
        numbers["used_tasks"] = len({*shown, *(event.number for event in trained if not event.solved)})
    solved = [event for event in evaluated if event.solved]
    if solved:
        numbers["task_seconds"] = statistics.median(event.seconds for event in solved)
        numbers["plan_length"] = statistics.mean(event.length for event in solved)
        if any(event.expanded for event in solved):
            numbers["expanded"] = statistics.median(event.expanded for event in solved)
    won = trace.ended is not None and trace.ended.outcome is Outcome.WON
    categories = [event.feedback.category for event in trace.all(Rejected)]
    errors = Counter("plan syntax" if category in _SYNTAX else category for category in categories)
    return Measures(
        numbers,
        {
            "errors": errors,
            "errors solved" if won else "errors unsolved": errors,
            "lost": Counter(event.kind for event in evaluated if not event.solved),
            "candidates": Counter(event.failure for event in trace.all(Sampled) if not event.solved),
            "used": Counter([count(int(numbers["used_tasks"]), "task")] if won and "used_tasks" in numbers else []),
            "generalized": Counter([_generalized(is_trained, len(solved), len(evaluated))] if evaluated else []),
        },
        {
            _RUN_TIME: tuple((float(event.size), event.seconds) for event in solved),
            _EXPANDED: tuple((float(event.size), float(event.expanded)) for event in solved if event.expanded),
            _COVERAGE: tuple((_bin(event.size), float(event.solved)) for event in evaluated),
            _CACTUS: tuple(
                (float(number), seconds)
                for number, seconds in enumerate(sorted(event.seconds for event in solved), start=1)
            ),
            _CURVE: _curve(trace),
        },
        () if won else tuple(_first_error(ran, judged)),
    )


def _bin(size: int) -> float:
    """The beginning of the bin of a size: 1, 2, 5, 10, 20, 50, …"""
    unit = 10.0 ** math.floor(math.log10(max(1, size)))
    return max(factor * unit for factor in (1, 2, 5) if factor * unit <= max(1, size))


def _generalized(trained: bool, solved: int, evaluated: int) -> str:
    """Whether a program solves the training tasks, and how many of the evaluation tasks (all or nothing?)."""
    share = "all" if solved == evaluated else "some" if solved else "no"
    return f"training tasks {'solved' if trained else 'not solved'}, {share} evaluation tasks"


def _first_error(ran: Sequence[Ran], answer: int) -> Iterator[LastingError]:
    """The first task that the last program fails, and why; training tasks come before evaluation tasks."""
    failed = [event for event in ran if event.answer == answer and not event.solved]
    for first in sorted(failed, key=lambda event: (event.split == "evaluation", event.number))[:1]:
        where = f"{first.split} task {first.number + 1} ({first.task})"
        text = f"{where}: {first.kind}: {first.message or 'no reason given'}"
        yield LastingError(f"{first.kind} in {first.split}", text)


def _curve(trace: Trace) -> tuple[tuple[float, float], ...]:
    """The share of tasks solved by number of debug rounds; empty unless the program was evaluated after each."""
    began = trace.last(Began)
    if began is None or not began.curve:
        return ()
    shares = {event.answer - 1: event.solved / event.total for event in trace.all(Evaluated) if event.answer}
    if not shares:
        return ()
    last = max(shares)
    points = {**shares, **dict.fromkeys(range(last, _MOST_ROUNDS + 1), shares[last])}
    return tuple((float(rounds), share) for rounds, share in sorted(points.items()))


def _shares(exception: float, semantics: float, syntax: float, timeout: float) -> PublishedShares:
    """A column of the paper's table 2, in per cent. It counts a time-out twice: as one, and as an exception."""
    shares = {
        "python exception": exception,
        "plan semantics": semantics,
        "plan syntax": syntax,
        "timeout": timeout,
    }
    return PublishedShares("gpt-4", PROGRAM, DOMAINS, shares)


def _published(name: str, options: Mapping[str, Any], seeds: Collection[int]) -> Published:
    """The figures of the papers. Those of heuristics are about tasks that a user provides, under the paper's limits."""
    figures = published(name, options, seeds)
    if options.get("strategy"):  # the first paper's programs were written from strategies in words
        figures = {model: {m: mean for m, mean in means.items() if m != PROGRAM} for model, means in figures.items()}
    if options.get("tasks") and options.get("parity") == "paper":
        covered = coverage(name, options.get("baseline"))
        return {model: {**figures.get(model, {}), **covered.get(model, {})} for model in {**figures, **covered}}
    return {
        model: {mode: value for mode, value in modes.items() if mode not in (HEURISTIC, PLAN)}
        for model, modes in figures.items()
    }


MEASURING = Measuring(
    of=measure,
    columns=(
        Column("answers", blank_zero=True),
        Column("trained"),
        Column("timeouts", blank_zero=True),
        Column("task_seconds", over="all", digits=3, listed=False),
        Column("plan_length", over="all", digits=1, shown=False),
        Column("expanded", over="all", digits=0, shown=False),
        Column("used_tasks", shown=False),
        Column("evaluated", shown=False),
    ),
    counts=(
        CountTable("errors", "Errors in training", "error", _shares(40.0, 34.0, 13.0, 13.0)),
        CountTable(
            "errors solved",
            "Errors in training, where all evaluation tasks were solved",
            "error",
            _shares(28.9, 44.7, 18.4, 8.0),
        ),
        CountTable(
            "errors unsolved",
            "Errors in training, where not all were solved",
            "error",
            _shares(42.5, 31.4, 11.7, 14.4),
        ),
        CountTable("lost", "Why evaluation tasks were not solved", "error"),
        CountTable("candidates", "Heuristics that solve no training task", "error"),
        CountTable("used", "Training tasks used in episodes that solved everything", "used"),
        CountTable("generalized", "Whether programs generalize", "result"),
    ),
    figures=(
        Figure(_RUN_TIME, "Run time against size", "objects", "seconds", combined="median", logarithmic=True),
        Figure(_EXPANDED, "Expanded states against size", "objects", "states", combined="median", logarithmic=True),
        Figure(_COVERAGE, "Share solved against size", "objects (from 1, 2, 5, 10, 20, 50, …)", "share solved"),
        Figure(_CACTUS, "Time for each number of solved tasks", "solved tasks", "seconds", logarithmic=True),
        Figure(_CURVE, "Share solved against debug rounds", "debug rounds allowed", "share solved"),
    ),
    published=_published,
    restarts=True,
)
