"""Descriptions of events, shared by the lines on a pipe, the view of requests, and the pages of a report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pddlego.display.console import Glyphs
from pddlego.episode.events import (
    Accepted,
    Answered,
    Asked,
    Event,
    Isolated,
    Judged,
    Rejected,
    Retrying,
    Started,
    Unknown,
    step_of,
)
from pddlego.models.base import label
from pddlego.util.text import clean, count, one_line

MARKED = frozenset({"matched nothing", "refused", "merged"})
"""What a person should see of the lines of an edit."""


@dataclass(frozen=True)
class Line:
    """A line with the style of its text, as rich names styles."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Description:
    """An event in words: `brief` is for a pipe, `title` and `body` for a page.

    `kind` is the style of the event on a page (observed, answered, rejected, accepted, planned); an event
    without one is not on the page.
    """

    kind: str
    title: Line
    brief: tuple[Line, ...] = ()
    body: tuple[Line, ...] = ()


def in_one_line(kind: str, text: str, style: str = "") -> Description:
    """An event of which one line says everything."""
    line = Line(text, style)
    return Description(kind, line, (line,))


NOTHING = Description("", Line(""))


class MethodEvent(Event):
    """An event of one method, which describes itself.

    `sentence` is a format string over its fields, such as `{step:>3}  {command}`, and `style` the style of its line. An
    event that needs more than one line or style overrides `describe`.
    """

    sentence: ClassVar[str] = ""
    style: ClassVar[str] = ""

    def describe(self, glyphs: Glyphs) -> Description:
        """The event in words. All texts of the event are clean."""
        kind = "" if step_of(self) is None else "observed"
        return in_one_line(kind, self.sentence.format_map(vars(self)), self.style)


def describe(event: Event, glyphs: Glyphs) -> Description:
    """An event in words. All texts of the event are clean. A bug in a method's own description becomes one line."""
    common = COMMON.get(type(event))
    try:
        if common is not None:
            return common(event, glyphs)
        description = event.describe(glyphs) if isinstance(event, MethodEvent) else NOTHING
        if not isinstance(description, Description):
            raise TypeError(f"{description!r:.60} is not a description")
        return description
    except Exception as error:  # noqa: BLE001 -- a method's bug must not hide the other events
        return in_one_line(
            "rejected", f"{event.type}: cannot be described ({type(error).__name__}: {error!s:.80})", "dim"
        )


def change_lines(added: Iterable[str], removed: Iterable[str], glyphs: Glyphs) -> tuple[Line, ...]:
    """What came and what went, a line each."""
    came = (Line(f"{glyphs.added} {fact}", "green") for fact in added)
    return (*came, *(Line(f"{glyphs.removed} {fact}", "red") for fact in removed))


def changes(added: Iterable[str], removed: Iterable[str], glyphs: Glyphs) -> str:
    """The same on one line; empty where nothing changed."""
    return "  ".join(line.text for line in change_lines(added, removed, glyphs))


def _started(event: Started, glyphs: Glyphs) -> Description:
    most = event.limits.steps
    parts = [*([] if event.seed is None else [f"seed {event.seed}"]), event.mode, label(event.model)]
    parts += [f"at most {count(most, 'step')}"] if most is not None else []
    return in_one_line("", f"{event.title}: {', '.join(parts)}", "bold")


def _asked(event: Asked, glyphs: Glyphs) -> Description:
    title = Line(f"request {event.call}: {event.purpose}, {event.characters:,} characters", "bold cyan")
    body: list[Line] = []
    for message in event.messages:
        body += [Line(message.role, "bold"), *_indented(message.content)]
    return Description("", title, (), tuple(body))


def _answered(event: Answered, glyphs: Glyphs) -> Description:
    answer = event.completion
    reasoned = f" ({answer.tokens_reasoning:,} of reasoning)" if answer.tokens_reasoning else ""
    tokens = f"{answer.tokens_in:,} tokens in, {answer.tokens_out:,} out{reasoned}, " if answer.tokens_in else ""
    when = "from the cache" if answer.from_cache else f"{answer.seconds:.1f} s"
    title = Line(f"answer {event.call}: {tokens}{when}, {answer.finish}", "bold cyan")
    brief = (Line(f"     answer {event.call}: {tokens}{when}", "dim"),) if tokens and not answer.from_cache else ()
    noted = (Line(f"NOTE: {answer.note}", "yellow"),) if answer.note else ()
    thought = (Line("thought", "bold"), *_indented(answer.reasoning, "dim"), Line("said", "bold"))
    return Description(
        "answered", title, brief, (*noted, *(thought if answer.reasoning else ()), *_indented(answer.text))
    )


def _isolated(event: Isolated, glyphs: Glyphs) -> Description:
    layers = ", ".join(event.layers) or "none"
    brief = () if event.isolation == "required" else (Line(f"     isolation {event.isolation}: {layers}", "yellow"),)
    return Description("", Line(f"sandbox: isolation {event.isolation}, layers {layers}", "dim"), brief)


def _retrying(event: Retrying, glyphs: Glyphs) -> Description:
    trouble = event.trouble
    tried = f"try {trouble.tries} of {trouble.most}"
    brief = f"     ! {one_line(trouble.reason, 200)}: {tried}, the next in {trouble.seconds:.0f} s"
    title = Line(f"{tried} failed: {trouble.reason} (the next after {trouble.seconds:.0f} s)", "yellow")
    return Description("rejected", title, (Line(brief, "yellow"),))


def _accepted(event: Accepted, glyphs: Glyphs) -> Description:
    renamed = [f"{old} {glyphs.arrow} {new}" for old, new in event.renamed]
    changed = "  ".join(filter(None, [*renamed, changes(event.added, event.removed, glyphs)]))
    marked = (line for line in event.lines if line.kind.value in MARKED)
    marks = (Line(f"     ! {line.where} {line.line}: {line.kind.value}", "yellow") for line in marked)
    title = Line(f"the {event.kind} changed" if event.added or event.removed else "nothing changed")
    body = change_lines(event.added, event.removed, glyphs)
    return Description("accepted", title, (Line(f"     {changed or 'no change'}", "dim"), *marks), body)


def _rejected(event: Rejected, glyphs: Glyphs) -> Description:
    feedback = event.feedback
    brief = Line(f"     {glyphs.failed} {event.counted} rejected: {feedback.message}", "red")
    title = Line(f"{glyphs.failed} rejected: {feedback.category}: {feedback.message}", "bold red")
    evidence = tuple(Line(f"  {line}", "red") for line in feedback.evidence)
    return Description("rejected", title, (brief, *(Line(f"     {line.text}", "red") for line in evidence)), evidence)


def blamed(event: Rejected) -> tuple[str, ...]:
    """What was wrong in the text of a rejected answer: lines that cannot be applied, facts that are named."""
    lines = [entry.line for entry in event.lines if entry.kind.value in ("refused", "matched nothing")]
    heads = (line.partition(": ")[0] for line in event.feedback.evidence)
    texts = [part for line in (*lines, *heads) for part in line.split(" -> ")]
    return tuple(dict.fromkeys(clean(text) for text in texts if re.fullmatch(r"\([^()]+\)|\S+ - \S+", text)))


def _judged(event: Judged, glyphs: Glyphs) -> Description:
    text = one_line("; ".join(event.text.splitlines()), 200)
    title = f"{event.what} {event.decision} by a person"
    brief = Line(f"     {title}{': ' if text else ''}{text}", "cyan")
    return Description("answered", Line(title, "bold"), (brief,), _indented(event.text))


def _unknown(event: Unknown, glyphs: Glyphs) -> Description:
    return in_one_line("", f"     {event.name}: of a method that is not installed", "dim")


def _indented(text: str, style: str = "") -> tuple[Line, ...]:
    return tuple(Line(f"  {line}", style) for line in text.split("\n"))


COMMON: Mapping[type[Event], Callable[[Any, Glyphs], Description]] = {
    Started: _started,
    Asked: _asked,
    Answered: _answered,
    Retrying: _retrying,
    Accepted: _accepted,
    Rejected: _rejected,
    Judged: _judged,
    Isolated: _isolated,
    Unknown: _unknown,
}
"""What is said of events that every method has; how one ended needs all of it, and is said by `heading`."""
