"""What there is to see of a step of an episode, as lines: for the browser and for pages."""

from __future__ import annotations

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.description import blamed, describe
from pddlego.display.screens import Screen, Tab
from pddlego.episode.events import Answered, Asked, Event, Judged, Rejected, Retrying
from pddlego.episode.trace import Step, Trace
from pddlego.util.text import clean


def tabs_of(screen: Screen, trace: Trace) -> list[Tab]:
    """The tabs of each step of an episode: those of its method, then requests, answers and events."""
    return [
        *(tab for tab in screen.tabs if tab.fits(trace)),
        Tab("request", lambda step, glyphs: _described(step, (Asked, Retrying), glyphs)),
        Tab("answer", answer_lines),
        Tab("events", lambda step, glyphs: _described(step, (Event,), glyphs)),
    ]


def _described(step: Step, kinds: tuple[type[Event], ...], glyphs: Glyphs) -> list[Text]:
    """The events of these kinds in a step, in full."""
    lines: list[Text] = []
    for event in step.events:
        if isinstance(event, kinds):
            description = describe(event, glyphs)
            shown = (description.title, *(line for line in description.body if line.text != description.title.text))
            lines += [Text(clean(line.text), line.style) for line in shown if line.text]
    return lines or [Text("nothing in this step", "dim")]


def answer_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    """The answers of a step with their reasoning; what was wrong in a rejected one is marked."""
    lines: list[Text] = []
    answer: list[Text] = []
    for event in step.events:
        if isinstance(event, (Answered, Rejected, Judged)):
            description = describe(event, glyphs)
            shown = [Text(clean(line.text), line.style) for line in (description.title, *description.body)]
            if isinstance(event, Rejected):
                for line in answer:
                    line.highlight_words(blamed(event), "bold red reverse")
            answer = shown[1:] if isinstance(event, Answered) else answer
            lines += shown
    return lines or [Text("no answer in this step", "dim")]


def command_of(step: Step) -> str:
    """What was done in a step; `start` where nothing was."""
    return clean(str(step.command or "start"))


def is_rejected(step: Step) -> bool:
    """Whether an answer was rejected in a step."""
    return any(isinstance(event, Rejected) for event in step.events)


def is_surprise(step: Step) -> bool:
    """Whether the response was a refusal, or another one than the plan expected."""
    return any(getattr(event, "refused", False) or getattr(event, "mismatch", "") for event in step.events)
