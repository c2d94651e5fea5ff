"""What there is to see of a step of an episode, as lines: for the browser and for pages."""

from __future__ import annotations

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.description import Describer, blamed
from pddlego.display.screens import Renderer, Tab
from pddlego.episode.events import Answered, Asked, Event, Judged, Rejected, Retrying
from pddlego.episode.trace import Step, Trace
from pddlego.util.text import clean


def tabs_of(renderer: Renderer, trace: Trace) -> list[Tab]:
    """The tabs of each step of an episode: those of its method, then requests, answers and events."""
    describe = renderer.describe
    return [
        *(tab for tab in renderer.screen.tabs if tab.fits(trace)),
        Tab("request", lambda step, glyphs: _described(step, (Asked, Retrying), describe, glyphs)),
        Tab("answer", lambda step, glyphs: answer_lines(step, describe, glyphs)),
        Tab("events", lambda step, glyphs: _described(step, (Event,), describe, glyphs)),
    ]


def _described(step: Step, kinds: tuple[type[Event], ...], describe: Describer, glyphs: Glyphs) -> list[Text]:
    """The events of these kinds in a step, in full."""
    lines: list[Text] = []
    for event in step.events:
        if isinstance(event, kinds):
            description = describe(event, glyphs)
            shown = (description.title, *(line for line in description.body if line.text != description.title.text))
            lines += [Text(clean(line.text), line.style) for line in shown if line.text]
    return lines or [Text("nothing in this step", "dim")]


def answer_lines(step: Step, describe: Describer, glyphs: Glyphs) -> list[Text]:
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
