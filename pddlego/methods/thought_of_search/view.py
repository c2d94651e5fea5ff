"""What is on screen of Thought of Search, as a value folded from events and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pddlego.display.view import View, cleaned, fold_common
from pddlego.events import Event
from pddlego.methods.thought_of_search.events import (
    Attempted,
    Coded,
    Finished,
    Prepared,
    Searching,
    Stage,
    Tested,
)
from pddlego.methods.thought_of_search.space import Which

STAGES: tuple[Stage, ...] = ("goal", "soundness", "completeness")

TESTED_BY: Mapping[Which, tuple[Stage, ...]] = {
    "goal": ("goal", "soundness", "completeness"),
    "successors": ("soundness", "completeness"),
}
"""The tests that are made again after a new answer for a function."""


@dataclass(frozen=True)
class Function:
    """A function as it is, and as it was before the last answer."""

    text: str = ""
    before: str = ""
    answers: int = 0


@dataclass(frozen=True)
class SearchView(View):
    """The state of one episode as far as it is shown.

    `functions` are both; `turn` is the one that was written last. `marks` are the kinds of the tests of each stage that
    were made since. `evaluated_at` is when the first instance was tried. Many fields, because it is everything that any
    panel may show.
    """

    prepared: Prepared | None = None
    functions: Mapping[Which, Function] = field(default_factory=dict)
    turn: Which = "successors"
    marks: Mapping[Stage, tuple[str, ...]] = field(default_factory=dict)
    searching: Searching | None = None
    tried: int = 0
    solved: int = 0
    expansions: int = 0
    search_seconds: float = 0.0
    last: Attempted | None = None
    evaluated_at: float = 0.0
    finished: Finished | None = None

    @property
    def left(self) -> float | None:
        """An estimate of the seconds until all instances are tried; None where nothing can be said."""
        if self.prepared is None or not self.tried or self.finished is not None:
            return None
        return (self.seconds - self.evaluated_at) / self.tried * (self.prepared.instances - self.tried)


def fold(view: SearchView, event: Event, seconds: float) -> SearchView:
    """The view after `event`, which happened `seconds` after the start."""
    event = cleaned(event)
    view = fold_common(view, event, seconds)
    if isinstance(event, Prepared):
        return replace(view, prepared=event, evaluated_at=seconds)
    if isinstance(event, Coded):
        old = view.functions.get(event.which, Function())
        function = Function(event.code or old.text, old.text, event.answer)
        marks = {stage: kinds for stage, kinds in view.marks.items() if stage not in TESTED_BY[event.which]}
        functions = {**view.functions, event.which: function}
        return replace(view, functions=functions, turn=event.which, marks=marks, searching=None)
    if isinstance(event, Tested):
        kinds = (*view.marks.get(event.stage, ())[: event.number], event.kind)
        return replace(view, marks={**view.marks, event.stage: kinds}, searching=None, evaluated_at=seconds)
    if isinstance(event, Searching):
        return replace(view, searching=event)
    if isinstance(event, Attempted):
        return replace(
            view,
            tried=view.tried + 1,
            solved=view.solved + event.solved,
            expansions=view.expansions + event.expansions,
            search_seconds=view.search_seconds + event.seconds,
            last=event,
            searching=None,
            rejected=None,
        )
    if isinstance(event, Finished):
        return replace(view, finished=event)
    return view
