"""An episode cut into steps: what was observed, what was made of it, and what the screen showed then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pddlego.display.view import View, cleaned, fold
from pddlego.events import Event, Observed

Told = tuple[Event, float]
"""An event with the seconds since the start."""


@dataclass(frozen=True)
class Frame:
    """One step: `before` is the view when the game had answered, `after` when the agent had decided what to do."""

    step: int
    events: tuple[Event, ...]
    before: View
    after: View


@dataclass
class Film:
    """The frames of an episode, which may still be growing."""

    frames: list[Frame] = field(default_factory=list)
    view: View = field(default_factory=View)

    def add(self, told: Iterable[Told]) -> bool:
        """Take in what happened since. Whether anything did."""
        grown = False
        for event, seconds in told:
            grown = True
            event = cleaned(event)
            before = self.view
            self.view = fold(self.view, event, seconds)
            begins = not self.frames or (isinstance(event, Observed) and event.command is not None and not event.free)
            if begins:
                step = event.step if isinstance(event, Observed) else 0
                self.frames.append(Frame(step, (event,), before if step == 0 else self.view, self.view))
            else:
                last = self.frames[-1]
                self.frames[-1] = Frame(last.step, (*last.events, event), last.before, self.view)
        return grown

    def at(self, step: int) -> int | None:
        """The number of the frame of a step."""
        return next((number for number, each in enumerate(self.frames) if each.step == step), None)
