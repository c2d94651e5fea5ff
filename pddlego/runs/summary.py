"""The result of an episode for tables: a summary of its events, stored as one line of JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import from_json

from pddlego.episode.events import Accepted, Cause, Ended, Outcome, Rejected, Usage
from pddlego.episode.trace import Trace
from pddlego.errors import ReservedNameError
from pddlego.runs.cells import Cell
from pddlego.util.unexpected import located


@dataclass(frozen=True, slots=True)
class LastingError:
    """An error of the model that it did not correct before the episode ended.

    Tables count errors by their `kind`, such as `missing at`. `text` is the whole error, and `step` the step after
    which it was made; None if the method has no steps. An error is `fatal` if the episode ended with it, so that no
    other error needs to be looked for.
    """

    kind: str
    text: str
    step: int | None = None
    fatal: bool = False

    def __str__(self) -> str:
        return self.text if self.step is None else f"{self.text} after step {self.step}"


@dataclass(frozen=True, slots=True)
class Measures:
    """The measured values of an episode.

    `numbers` are columns of tables, by name. `counts` are numbers of occurrences: by group, then by kind. `series` are
    points (x, y) of figures, by the name of the figure. `errors` are the lasting errors of the model, the first one of
    each kind: a fatal one first, then by age; empty if the model made none or the method cannot check it. `ending` is
    what ended an episode that was not won; it is the cause of a loss without an error that explains it.
    """

    numbers: Mapping[str, int | float] = field(default_factory=dict)
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    series: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    errors: tuple[LastingError, ...] = ()
    ending: LastingError | None = None

    @property
    def first_error(self) -> str:
        """The first of the lasting errors as text; empty without one."""
        return str(self.errors[0]) if self.errors else ""


def unusable_answer(rejected: Rejected, step: int | None = None) -> LastingError:
    """The error of an episode that ended because this answer could not be used."""
    feedback = rejected.feedback
    kind = f"unusable answer ({feedback.category})"
    reason = feedback.evidence[0] if feedback.evidence else feedback.message
    return LastingError(kind, f"{kind}: {reason}" if step is None else kind, step, fatal=True)


LOST_TO_ERRORS = frozenset({Outcome.MODEL_ERROR, Outcome.CRASHED})
"""Outcomes that do not assess the method: they are reported separately, and a continued evaluation plays such cells
again."""

UNMEASURED = "unmeasured"
"""The group of counts with the exception of a method whose measure failed."""

REJECTED, LINES, DEFECTS = "rejected", "lines", "defects"
"""Groups of counts that every method has: rejected answers by category, lines of edits by their effect, and defects by
kind."""

GAME_FILE = "file"
"""The key in `Started.details` of the file that the game was read from: its `path` and `sha256`."""

ENGINE = "engine"
"""The key in `Started.details` of the packages that ran the game, with their versions: `textworld 1.7.1`."""

Measure = Callable[[Trace], Measures]
"""A function of a method that measures an episode."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of one attempt at an episode. `attempt` counts from 1.

    `measures` contains the measures of the method and the counts that every method has. `cause` is that of
    `Ended`. `digest` is a digest of the journal. `game_file` has the `path` and the `sha256` of the
    file that the game was read from; it is empty for a generated game. `engine` names the packages that ran the game,
    with their versions.
    """

    cell: Cell
    attempt: int
    outcome: Outcome
    message: str = ""
    score: float = 0.0
    usage: Usage = field(default_factory=Usage)
    measures: Measures = field(default_factory=Measures)
    cause: Cause = ""
    digest: str = ""
    game_file: Mapping[str, Any] = field(default_factory=dict)
    engine: str = ""

    @property
    def won(self) -> bool:
        return self.outcome is Outcome.WON

    @property
    def played(self) -> bool:
        """Whether the episode has a result: it was not interrupted or stopped by the budget of the evaluation."""
        return assesses(self) or self.outcome in LOST_TO_ERRORS

    @property
    def counts(self) -> bool:
        """Whether the result assesses the method: see `assesses`."""
        return assesses(self)

    def counts_of(self, group: str) -> Mapping[str, int]:
        """The counts of a group; empty if nothing was counted."""
        return self.measures.counts.get(group, {})


def assesses(ended: Summary | Ended) -> bool:
    """Whether the end of an episode assesses the method: only then does a loss have a cause.

    False after an interrupt, a model error, a crash, or the end of the evaluation's budget.
    """
    if ended.outcome in LOST_TO_ERRORS or ended.outcome is Outcome.INTERRUPTED:
        return False
    return ended.outcome is not Outcome.BUDGET or ended.cause != "evaluation"


def summarize(cell: Cell, attempt: int, trace: Trace, measure: Measure) -> Summary:
    """The result of an attempt. An attempt without `Ended` was interrupted by the end of the process."""
    rejected, lines, defects = Counter[str](), Counter[str](), Counter[str]()
    answered: list[Accepted | Rejected] = [*trace.all(Rejected), *trace.all(Accepted)]
    for event in answered:
        lines.update(line.kind.value for line in event.lines)
        defects.update(event.kinds)
    rejected.update(event.feedback.category for event in trace.all(Rejected))
    ended = trace.ended or Ended(Outcome.INTERRUPTED, "the process ended", 0.0, trace.usage)
    details = trace.started.details if trace.started is not None else {}
    file = details.get(GAME_FILE)
    measured = _measured(measure, trace)
    groups = {**measured.counts, REJECTED: rejected, LINES: lines, DEFECTS: defects}
    return Summary(
        cell=cell,
        attempt=attempt,
        outcome=ended.outcome,
        message=ended.message,
        score=ended.score,
        usage=ended.usage,
        measures=replace(measured, counts={name: dict(sorted(counts.items())) for name, counts in groups.items()}),
        cause=ended.cause,
        game_file=file if isinstance(file, Mapping) else {},
        engine=str(details.get(ENGINE) or ""),
    )


def _measured(measure: Measure, trace: Trace) -> Measures:
    """The measures of the method; if its `measure` fails, the exception as a count in the group `UNMEASURED`.

    Raises `ReservedNameError`.
    """
    try:
        return measure(trace)
    except ReservedNameError:
        raise
    except Exception as error:  # noqa: BLE001 -- a bug in a measure must not discard an episode that was paid for
        return Measures(counts={UNMEASURED: {f"{located(error):.160}": 1}})


def dump_summary(summary: Summary) -> str:
    """The summary as a line of JSON."""
    return _adapter().dump_json(summary).decode() + "\n"


def load_summary(line: str | bytes) -> Summary:
    """The summary in a line of JSON. Raises `ValueError` for any other line."""
    return _adapter().validate_python(from_json(line, allow_inf_nan=False))


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Summary]:
    return TypeAdapter(Summary)
