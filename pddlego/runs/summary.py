"""What is kept of an episode for tables: one line of JSON, folded from its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pydantic import TypeAdapter
from pydantic_core import from_json

from pddlego.episode.events import Accepted, Cause, Ended, Outcome, Rejected, Usage
from pddlego.episode.trace import Trace
from pddlego.errors import message_of
from pddlego.runs.cells import Cell

RESERVED = frozenset(
    {
        *("game", "mode", "model", "seed", "repeat", "outcome", "score"),
        *("calls", "characters", "tokens_in", "tokens_out", "tokens_cached", "from_cache"),
    }
)
"""Columns that the table of episodes has for every method. A method cannot measure a number with such a name."""


@dataclass(frozen=True)
class Measures:
    """Numbers by name, each a column of tables, and counts of what happened: by kind, in several groups.

    `series` are points for figures, each an x and a y, by the name of the figure. `first_error` says what the model got
    wrong first and did not correct, where the method can check that; empty if nothing.
    """

    numbers: Mapping[str, int | float] = field(default_factory=dict)
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    series: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    first_error: str = ""


LOST_TO_ERRORS = frozenset({Outcome.MODEL_ERROR, Outcome.CRASHED})
"""Outcomes that say nothing about the method: given apart, and played again when an evaluation is continued."""

UNMEASURED = "unmeasured"
"""The group of counts that says why a method measured nothing: its own fault."""

REJECTED, LINES, DEFECTS = "rejected", "lines", "defects"
"""What is counted in episodes of every method: unusable answers by category, lines of edits by what became of them,
defects by kind."""

Measure = Callable[[Trace], Measures]
"""What a method measures of an episode."""


@dataclass(frozen=True)
class Summary:
    """The result of one attempt at an episode. `attempt` counts from 1.

    `measures` contains the numbers of the method and the counts that all methods have. `cause` says which budget was
    spent, if one was. `digest` is a digest of the journal.
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

    @property
    def won(self) -> bool:
        return self.outcome is Outcome.WON

    @property
    def played(self) -> bool:
        """Whether the episode has a result: it was not interrupted or stopped by the budget of the evaluation."""
        if self.outcome is Outcome.BUDGET:
            return self.cause != "evaluation"
        return self.outcome is not Outcome.INTERRUPTED

    @property
    def counts(self) -> bool:
        """Whether the result says something about the method: the episode was played and not lost to an endpoint or
        game-engine error."""
        return self.played and self.outcome not in LOST_TO_ERRORS

    def counts_of(self, group: str) -> Mapping[str, int]:
        """The counts of a group; empty if nothing was counted."""
        return self.measures.counts.get(group, {})


def summarize(cell: Cell, attempt: int, trace: Trace, measure: Measure) -> Summary:
    """The result of an attempt. One without its last event was interrupted by the end of the process."""
    rejected, lines, defects = Counter[str](), Counter[str](), Counter[str]()
    answered: list[Accepted | Rejected] = [*trace.all(Rejected), *trace.all(Accepted)]
    for event in answered:
        lines.update(line.kind.value for line in event.lines)
        defects.update(event.kinds)
    rejected.update(event.feedback.category for event in trace.all(Rejected))
    ended = trace.ended or Ended(Outcome.INTERRUPTED, "the process ended", 0.0, trace.usage)
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
    )


def _measured(measure: Measure, trace: Trace) -> Measures:
    """What was measured; what is wrong with the method's own code, where it cannot."""
    try:
        measured = measure(trace)
        for name, number in measured.numbers.items():
            if name in RESERVED:
                raise ValueError(f"measured '{name}', and every table has a column of that name")
            if not isinstance(number, (int, float)):
                raise TypeError(f"measured {name} = {number!r:.60}")
        return measured
    except Exception as error:  # noqa: BLE001 -- the episode's border: what was played and paid for is a result
        return Measures(counts={UNMEASURED: {f"{type(error).__name__}: {message_of(error):.80}": 1}})


def dump_summary(summary: Summary) -> str:
    """The summary as a line of JSON."""
    return _adapter().dump_json(summary).decode() + "\n"


def load_summary(line: str | bytes) -> Summary:
    """Raises `ValueError` if the line holds none."""
    return _adapter().validate_python(from_json(line, allow_inf_nan=False))


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Summary]:
    return TypeAdapter(Summary)
