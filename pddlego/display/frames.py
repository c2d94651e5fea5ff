"""An episode cut into steps: what happened in each, and what the screen showed before and after."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from pddlego.display.view import cleaned
from pddlego.episode.events import Event, step_of

Fold = Callable[[Any, Event, float], Any]
"""The view after an event, which happened so many seconds after the start."""


@dataclass(frozen=True)
class Frame:
    """One step: `before` is the view when the step was done, `after` when it was decided what to do next."""

    step: int
    events: tuple[Event, ...]
    before: Any
    after: Any

    @property
    def done(self) -> Event | None:
        """The event of the command of this step, if it has one."""
        return next((event for event in reversed(self.events) if hasattr(event, "command")), None)


@dataclass
class Timeline:
    """The frames of an episode, which may still be growing. `view` is the last one; `fold` makes the next."""

    view: Any
    fold: Fold
    frames: list[Frame] = field(default_factory=list)

    def add(self, timed: Iterable[tuple[Event, float]]) -> bool:
        """Take in what happened since. Whether anything did."""
        grown = False
        for event, seconds in timed:
            grown = True
            event = cleaned(event)
            before, step = self.view, step_of(event)
            self.view = self.fold(self.view, event, seconds)
            if not self.frames or (step is not None and step > self.frames[-1].step):
                self.frames.append(Frame(step or 0, (event,), self.view if step else before, self.view))
            else:
                last = self.frames[-1]
                self.frames[-1] = Frame(last.step, (*last.events, event), last.before, self.view)
        return grown

    def at(self, step: int) -> int | None:
        """The number of the frame of a step."""
        return next((number for number, frame in enumerate(self.frames) if frame.step == step), None)
