"""What is kept of an episode for tables: one line of JSON, folded from its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pydantic import TypeAdapter
from pydantic_core import from_json

from pddlego.evaluation.cells import Cell
from pddlego.events import (
    Answered,
    Asked,
    Cause,
    EpisodeEnded,
    Event,
    Formalized,
    Observed,
    Outcome,
    Planned,
    Rejected,
    Tally,
)

LOST_TO_ERRORS = frozenset({Outcome.MODEL_ERROR, Outcome.CRASHED})
"""Outcomes that say nothing about the method: given apart, and played again when an evaluation is continued."""

OF_ALL = "budget of"
"""What stands in the message of an old record whose budget was that of the whole evaluation: it names no cause."""


@dataclass(frozen=True)
class Summary:
    """One attempt at a cell, which ended with `outcome`. `attempt` counts from 1.

    `rungs` counts the plans made for each goal of the ladder, `rejected` the unusable answers by category, `lines` the
    lines of edits by what became of them, `surprises` the answers of the game that no plan expected, `defects` what the
    check found, by kind, `cause` says which budget was spent. `digest` is that of the journal's bytes at the end.
    """

    cell: Cell
    attempt: int
    outcome: Outcome
    message: str = ""
    score: float = 0.0
    tally: Tally = field(default_factory=Tally)
    rungs: Mapping[str, int] = field(default_factory=dict)
    rejected: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    surprises: int = 0
    defects: Mapping[str, int] = field(default_factory=dict)
    cause: Cause = ""
    digest: str = ""

    @property
    def won(self) -> bool:
        return self.outcome is Outcome.WON

    @property
    def played(self) -> bool:
        """Whether it has an outcome of its own: it was neither interrupted nor stopped by the budget of all."""
        if self.outcome is Outcome.BUDGET:
            return not (self.cause == "evaluation" or (not self.cause and OF_ALL in self.message))
        return self.outcome is not Outcome.INTERRUPTED

    @property
    def counts(self) -> bool:
        """Whether it is a result of the method: played, and not lost to an error of the endpoint or the engine."""
        return self.played and self.outcome not in LOST_TO_ERRORS


def summarize(cell: Cell, attempt: int, events: Iterable[Event]) -> Summary:
    """Fold the events of an attempt. One without its last event was interrupted by the end of the process."""
    rungs: Counter[str] = Counter()
    rejected: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    defects: Counter[str] = Counter()
    surprises = 0
    ended: EpisodeEnded | None = None
    used = Tally()
    for event in events:
        if isinstance(event, Planned) and event.rung is not None:
            rungs[event.rung] += 1
        elif isinstance(event, Rejected):
            rejected[event.category] += 1
            lines.update(each.kind for each in event.lines)
            defects.update(event.kinds)
        elif isinstance(event, Formalized):
            lines.update(each.kind for each in event.lines)
            defects.update(event.kinds)
        elif isinstance(event, Observed):
            surprises += bool(event.surprise)
            used = replace(used, steps=event.step, refused=used.refused + event.refused)
        elif isinstance(event, Asked):
            used = replace(used, calls=event.call, characters=used.characters + event.characters)
        elif isinstance(event, Answered):
            used = _with_answer(used, event)
        elif isinstance(event, EpisodeEnded):
            ended = event
    ended = ended or EpisodeEnded(Outcome.INTERRUPTED, "the process ended", 0.0, used)
    return Summary(
        cell,
        attempt,
        ended.outcome,
        ended.message,
        ended.score,
        ended.tally,
        dict(sorted(rungs.items())),
        dict(sorted(rejected.items())),
        dict(sorted(lines.items())),
        surprises,
        dict(sorted(defects.items())),
        ended.cause,
    )


def _with_answer(used: Tally, event: Answered) -> Tally:
    return replace(
        used,
        tokens_in=used.tokens_in + event.tokens_in,
        tokens_out=used.tokens_out + event.tokens_out,
        tokens_cached=used.tokens_cached + event.tokens_cached,
        model_seconds=used.model_seconds + event.seconds,
        from_cache=used.from_cache + event.from_cache,
    )


def dump_summary(summary: Summary) -> str:
    """The summary as a line of JSON."""
    return _adapter().dump_json(summary).decode() + "\n"


def load_summary(line: str | bytes) -> Summary:
    """Raises `ValueError` if the line holds none."""
    return _adapter().validate_python(from_json(line, allow_inf_nan=False))


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Summary]:
    return TypeAdapter(Summary)
