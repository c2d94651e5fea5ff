"""Tabs with the requests, answers and events of a step, and properties of a step, for the browser and HTML pages."""

from __future__ import annotations

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.description import describe, wrong_parts
from pddlego.display.screens import Screen, Tab
from pddlego.episode.events import Answered, Asked, Event, Judged, Rejected, Retrying
from pddlego.episode.trace import Step, Trace
from pddlego.util.text import clean, shown_command


def tabs_of(screen: Screen, trace: Trace) -> list[Tab]:
    """The tabs of each step of an episode: those of its method, then requests, answers and events."""
    return [
        *(tab for tab in screen.tabs if tab.fits(trace)),
        Tab("request", lambda step, glyphs: _described(step, (Asked, Retrying), glyphs)),
        Tab("answer", answer_lines),
        Tab("events", lambda step, glyphs: _described(step, (Event,), glyphs)),
    ]


def _described(step: Step, kinds: tuple[type[Event], ...], glyphs: Glyphs) -> list[Text]:
    """The title and the body of each event of these classes in a step."""
    lines: list[Text] = []
    for event in step.events:
        if isinstance(event, kinds):
            description = describe(event, glyphs)
            body = (line for line in description.body if line.text != description.title.text)
            lines += [Text(clean(line.text), line.style) for line in (description.title, *body) if line.text]
    return lines or [Text("nothing in this step", "dim")]


def answer_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    """The answers of a step with their reasoning. The wrong parts of a rejected answer are highlighted."""
    lines: list[Text] = []
    attempts = {id(call.verdict): call for call in step.calls}  # the last answer of each
    rejected = {call.number: call.verdict for call in attempts.values() if isinstance(call.verdict, Rejected)}
    for event in step.events:
        if isinstance(event, (Answered, Rejected, Judged)):
            description = describe(event, glyphs)
            event_lines = [Text(clean(line.text), line.style) for line in (description.title, *description.body)]
            if isinstance(event, Answered) and event.call in rejected:
                for line in event_lines[1:]:
                    line.highlight_words(wrong_parts(rejected[event.call]), "bold red reverse")
            lines += event_lines
    return lines or [Text("no answer in this step", "dim")]


def derived_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    """The checks of a step: what is true, and what the model got wrong."""
    described = (describe(event, glyphs) for event in step.events if event.derived)
    lines = [Text(clean(line.text), line.style) for about in described for line in (about.title, *about.body)]
    return lines or [Text("no facts were checked in this step", "dim")]


def command_of(step: Step) -> str:
    """The command of a step, or `start` for the first step, which has no command."""
    return clean(shown_command(step.command))


def is_rejected(step: Step) -> bool:
    """Whether an answer of the step was rejected."""
    return any(isinstance(event, Rejected) for event in step.events)


def is_surprise(step: Step) -> bool:
    """Whether the game refused the command of the step, or responded otherwise than the plan predicts."""
    return any(getattr(event, "refused", False) or getattr(event, "mismatch", "") for event in step.events)
