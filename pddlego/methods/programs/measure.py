"""What tables and figures say of generalized planning: those of the paper (Silver et al., 2024)."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from pddlego.episode.events import Outcome, Rejected
from pddlego.episode.trace import Trace
from pddlego.methods.base import Column, CountTable, Figure, Measuring, PublishedShares
from pddlego.methods.programs.events import Began, Evaluated, ProgramWritten, Ran
from pddlego.methods.programs.options import PROGRAM
from pddlego.methods.setting_files import published
from pddlego.runs.summary import Measures

_RUN_TIME, _CURVE = "run time", "debug rounds"

SYNTAX = frozenset({"operator syntax", "output not a plan"})
"""What the paper counts together as plan syntax."""

DOMAINS = ("delivery", "ferry", "forest", "gripper", "heavy", "miconic", "spanner")
"""The settings of the paper's domains."""

_MOST_ROUNDS = 4
"""Debug rounds of the paper's figure 3."""


def measure(trace: Trace) -> Measures:
    """Answers with a program, whether the training tasks were solved, errors by kind, and run time by size.

    `used_tasks` are the training tasks that the model saw: the two of the prompt, and those on which a
    program failed.
    """
    ran, written = trace.all(Ran), trace.all(ProgramWritten)
    final = trace.last(Evaluated, where=lambda event: event.final)
    judged = final.answer if final is not None else len(written)
    evaluated = [event for event in ran if event.split == "evaluation" and event.answer == judged]
    failed = [event for event in ran if event.split == "training" and not event.solved]
    trained = [event for event in ran if event.split == "training"]
    last = {event.number: event for event in trained}
    began = trace.last(Began)
    training_count = len(began.training) if began is not None else 0
    numbers: dict[str, int | float] = {
        "answers": len(written),
        "trained": int(0 < len(last) == training_count and all(event.solved for event in last.values())),
        "evaluated": len(evaluated),
        "timeouts": sum(event.kind == "timeout" for event in evaluated),
        "used_tasks": len({0, 1} | {event.number for event in failed}) if written else 0,
    }
    solved = [event for event in evaluated if event.solved]
    if solved:
        numbers["task_seconds"] = statistics.median(event.seconds for event in solved)
        numbers["plan_length"] = statistics.mean(event.length for event in solved)
    won = trace.ended is not None and trace.ended.outcome is Outcome.WON
    categories = [event.feedback.category for event in trace.all(Rejected)]
    errors = Counter("plan syntax" if category in SYNTAX else category for category in categories)
    return Measures(
        numbers,
        {
            "errors": errors,
            "errors solved" if won else "errors unsolved": errors,
            "lost": Counter(e.kind for e in evaluated if not e.solved),
        },
        {_RUN_TIME: tuple((float(event.size), event.seconds) for event in solved), _CURVE: _curve(trace)},
        first_error="" if won else _first_error(ran, judged),
    )


def _first_error(ran: Sequence[Ran], answer: int) -> str:
    """The first task, of training before those of evaluation, that the last program fails, and why."""
    failed = [event for event in ran if event.answer == answer and not event.solved]
    if not failed:
        return ""
    first = min(failed, key=lambda event: (event.split == "evaluation", event.number))
    return f"{first.split} task {first.number + 1} ({first.task}): {first.kind}: {first.message or 'no reason given'}"


def _curve(trace: Trace) -> tuple[tuple[float, float], ...]:
    """The share solved with at most so many debug rounds, where the program was evaluated after each."""
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
    shares = (
        ("python exception", exception),
        ("plan semantics", semantics),
        ("plan syntax", syntax),
        ("timeout", timeout),
    )
    return PublishedShares("gpt-4", PROGRAM, DOMAINS, shares)


MEASURING = Measuring(
    of=measure,
    columns=(
        Column("answers", blank_zero=True),
        Column("trained"),
        Column("timeouts", blank_zero=True),
        Column("task_seconds", over="all", digits=3, timed=True),
        Column("plan_length", over="all", digits=1, shown=False),
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
    ),
    figures=(
        Figure(_RUN_TIME, "Run time against size", "objects", "seconds", combined="median", logarithmic=True),
        Figure(_CURVE, "Share solved against debug rounds", "debug rounds allowed", "share solved"),
    ),
    published=published,
)
