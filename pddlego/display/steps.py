"""Tabs with the requests, answers and events of a step, and properties of a step, for the browser and HTML pages."""

from __future__ import annotations

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.description import describe, with_words, wrong_parts
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
    lines = [line for event in step.events if isinstance(event, kinds) for line in full_lines(event, step, glyphs)]
    return lines or [Text("nothing in this step", "dim")]


def full_lines(event: Event, step: Step, glyphs: Glyphs) -> list[Text]:
    """The title and the body of an event of a step. The wrong parts of a rejected answer are highlighted."""
    description = describe(with_words(event, step.after), glyphs)
    body = (line for line in description.body if line.text != description.title.text)
    lines = [Text(clean(line.text), line.style) for line in (description.title, *body) if line.text]
    if isinstance(event, Answered):
        attempts = {id(call.verdict): call for call in step.calls}  # the last answer of each
        rejected = {call.number: call.verdict for call in attempts.values() if isinstance(call.verdict, Rejected)}
        for line in lines[1:] if event.call in rejected else ():
            line.highlight_words(wrong_parts(rejected[event.call]), "bold red reverse")
    return lines


def answer_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    """The answers of a step with their reasoning. The wrong parts of a rejected answer are highlighted."""
    kinds = (Answered, Rejected, Judged)
    lines = [line for event in step.events if isinstance(event, kinds) for line in full_lines(event, step, glyphs)]
    return lines or [Text("no answer in this step", "dim")]


def derived_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    """The checks of a step: what is true, and what the model got wrong. Empty without checks; equal ones are one."""
    described = dict.fromkeys(describe(event, glyphs) for event in step.events if event.derived)
    lines = (line for about in described for line in (about.title, *about.body) if line.text)
    return [Text(clean(line.text), line.style) for line in lines]


def command_of(step: Step) -> str:
    """The command of a step, or the model's words if it is empty; `start` for the first step, which has no command."""
    done = step.done and with_words(step.done, step.after)
    return clean(shown_command(getattr(done, "command", None)))


def is_rejected(step: Step) -> bool:
    """Whether an answer of the step was rejected."""
    return any(isinstance(event, Rejected) for event in step.events)


def is_refused(step: Step) -> bool:
    """Whether the game refused a command of the step."""
    return any(getattr(event, "refused", False) for event in step.events)


def is_surprise(step: Step) -> bool:
    """Whether the game refused the command of the step, was lost by it, or did not respond as the plan predicts."""
    lost = getattr(step.done, "lost", False)
    return lost or is_refused(step) or any(getattr(event, "mismatch", "") for event in step.events)
