"""What there is to see of a step of an episode, as lines: for the browser and for pages."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.description import Describer, blamed
from pddlego.display.frames import Frame
from pddlego.display.screens import Renderer, Tab
from pddlego.display.view import View
from pddlego.episode.events import Answered, Asked, Event, Judged, Rejected, Retrying
from pddlego.util.text import clean


def tabs_of(renderer: Renderer, view: View) -> list[Tab]:
    """What there is to see of each step of an episode besides the picture; `view` is its last one."""
    describe = renderer.describe
    return [
        *(tab for tab in renderer.screen.tabs if tab.fits(view)),
        Tab("request", lambda frame, glyphs: _described(frame, (Asked, Retrying), describe, glyphs)),
        Tab("answer", lambda frame, glyphs: answer_lines(frame, describe, glyphs)),
        Tab("events", lambda frame, glyphs: _described(frame, (Event,), describe, glyphs)),
    ]


def _described(frame: Frame, kinds: tuple[type[Event], ...], describe: Describer, glyphs: Glyphs) -> list[Text]:
    """The events of these kinds in a step, in full."""
    lines: list[Text] = []
    for event in frame.events:
        if isinstance(event, kinds):
            description = describe(event, glyphs)
            shown = (description.title, *(line for line in description.body if line.text != description.title.text))
            lines += [Text(clean(line.text), line.style) for line in shown if line.text]
    return lines or [Text("nothing in this step", "dim")]


def answer_lines(frame: Frame, describe: Describer, glyphs: Glyphs) -> list[Text]:
    """The answers of a step with their reasoning; what was wrong in a rejected one is marked."""
    lines: list[Text] = []
    answer: list[Text] = []
    for event in frame.events:
        if isinstance(event, (Answered, Rejected, Judged)):
            description = describe(event, glyphs)
            shown = [Text(clean(line.text), line.style) for line in (description.title, *description.body)]
            if isinstance(event, Rejected):
                for line in answer:
                    line.highlight_words(blamed(event), "bold red reverse")
            answer = shown[1:] if isinstance(event, Answered) else answer
            lines += shown
    return lines or [Text("no answer in this step", "dim")]


def command_of(frame: Frame) -> str:
    """What was done in a step; `start` where nothing was."""
    return clean(str(getattr(frame.done, "command", None) or "start"))


def is_rejected(frame: Frame) -> bool:
    """Whether an answer was rejected in a step."""
    return any(isinstance(event, Rejected) for event in frame.events)


def is_surprise(frame: Frame) -> bool:
    """Whether the response was a refusal, or another one than the plan expected."""
    return any(getattr(event, "refused", False) or getattr(event, "mismatch", "") for event in frame.events)


def first_difference(left: Sequence[Frame], right: Sequence[Frame]) -> int | None:
    """The number of the first frame at which two episodes differ in what was done; None if they do not."""
    for number, (one, other) in enumerate(zip(left, right, strict=False)):
        if getattr(one.done, "command", None) != getattr(other.done, "command", None):
            return number
    return min(len(left), len(right)) if len(left) != len(right) else None
