"""Descriptions of events in words, for lines on a pipe, and for tabs in the browser and on HTML pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

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
)
from pddlego.episode.trace import E, Trace
from pddlego.models.base import label
from pddlego.util.text import clean, count, one_line
from pddlego.util.unexpected import located

WARNING_KINDS = frozenset({"matched nothing", "refused", "merged"})
"""The kinds of lines of an edit that the user should see."""


@dataclass(frozen=True)
class Line:
    """A line of text with the name of a style of rich."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Description:
    """An event in words: `brief` is printed on a pipe, `title` and `body` are shown in tabs."""

    title: Line
    brief: tuple[Line, ...] = ()
    body: tuple[Line, ...] = ()


def in_one_line(text: str, style: str = "") -> Description:
    """A description that consists of one line."""
    line = Line(text, style)
    return Description(line, (line,))


NOTHING = Description(Line(""))


class MethodEvent(Event):
    """An event of one method. The default description is one line in `style`.

    `sentence` is the format string of the line, with the names of fields, such as `{step:>3}  {command}`. A subclass
    that needs several lines or styles overrides `describe`.
    """

    sentence: ClassVar[str] = ""
    style: ClassVar[str] = ""

    def describe(self, glyphs: Glyphs) -> Description:
        """The event in words. Its texts must not contain control characters."""
        return in_one_line(self.sentence.format_map(vars(self)), self.style)


def describe(event: Event, glyphs: Glyphs) -> Description:
    """An event in words, or the bug in its own `describe`. Its texts must not contain control characters."""
    common = _COMMON_DESCRIPTIONS.get(type(event))
    try:
        if common is not None:
            return common(event, glyphs)
        description = event.describe(glyphs) if isinstance(event, MethodEvent) else NOTHING
        if not isinstance(description, Description):
            raise TypeError(f"{description!r:.60} is not a description")
        return description
    except Exception as error:  # noqa: BLE001 -- a method's bug must not hide the other events
        return in_one_line(f"{event.type}: cannot be described ({located(error):.160})", "dim")


def with_words(event: E, trace: Trace) -> E:
    """The event with the model's words in place of an empty command, and beside a refused one that differs from them.

    Neither the event nor the trace may contain control characters.
    """
    command = getattr(event, "command", None)
    if command is None or (command and not getattr(event, "refused", False)):
        return event
    call = trace.call_before(event)
    words = one_line(call.completion.text, _WORDS) if call is not None else ""
    if call is None or (command and words == command):
        return event
    said = f'no command in: "{words}"' if words else "no command: the answer is empty"
    shown = f'{command} (answer: "{words}")' if command else f"({said})"
    return cast("E", replace(cast(Any, event), command=shown))


_WORDS = 100
"""Characters of an answer that are shown with a command."""


def change_lines(added: Iterable[str], removed: Iterable[str], glyphs: Glyphs) -> tuple[Line, ...]:
    """A line for each added and for each removed fact."""
    added_lines = (Line(f"{glyphs.added} {fact}", "green") for fact in added)
    return (*added_lines, *(Line(f"{glyphs.removed} {fact}", "red") for fact in removed))


def changes(added: Iterable[str], removed: Iterable[str], glyphs: Glyphs) -> str:
    """The added and removed facts on one line; empty without any."""
    return "  ".join(line.text for line in change_lines(added, removed, glyphs))


def _started(event: Started, glyphs: Glyphs) -> Description:
    most = event.limits.steps
    parts = [*([] if event.seed is None else [f"seed {event.seed}"]), event.mode, label(event.model)]
    parts += [f"at most {count(most, 'step')}"] if most is not None else []
    return in_one_line(f"{event.title}: {', '.join(parts)}", "bold")


def _asked(event: Asked, glyphs: Glyphs) -> Description:
    title = Line(f"request {event.call}: {event.purpose}, {event.characters:,} characters", "bold cyan")
    body: list[Line] = []
    for message in event.messages:
        body += [Line(message.role, "bold"), *_indented(message.content)]
    return Description(title, (), tuple(body))


def _answered(event: Answered, glyphs: Glyphs) -> Description:
    answer = event.completion
    reasoned = f" ({answer.tokens_reasoning:,} of reasoning)" if answer.tokens_reasoning else ""
    tokens = f"{answer.tokens_in:,} tokens in, {answer.tokens_out:,} out{reasoned}, " if answer.tokens_in else ""
    when = "from the cache" if answer.from_cache else f"{answer.seconds:.1f} s"
    ending = _ENDINGS.get(answer.finish, f", {answer.finish}")
    title = Line(f"answer {event.call}: {tokens}{when}{ending}", "bold cyan")
    brief = (Line(f"     answer {event.call}: {tokens}{when}", "dim"),) if tokens and not answer.from_cache else ()
    note = (Line(f"NOTE: {answer.note}", "yellow"),) if answer.note else ()
    reasoning = (Line("thought", "bold"), *_indented(answer.reasoning, "dim"), Line("said", "bold"))
    return Description(title, brief, (*note, *(reasoning if answer.reasoning else ()), *_indented(answer.text)))


_ENDINGS = {"stop": "", "length": ", cut off at its length"}


def _isolated(event: Isolated, glyphs: Glyphs) -> Description:
    layers = ", ".join(event.layers) or "none"
    brief = () if event.isolation == "required" else (Line(f"     isolation {event.isolation}: {layers}", "yellow"),)
    return Description(Line(f"sandbox: isolation {event.isolation}, layers {layers}", "dim"), brief)


def _retrying(event: Retrying, glyphs: Glyphs) -> Description:
    trouble = event.trouble
    tried = f"try {trouble.tries} of {trouble.most}"
    brief = f"     ! {one_line(trouble.reason, 200)}: {tried}, the next in {trouble.seconds:.0f} s"
    title = Line(f"{tried} failed: {trouble.reason} (the next after {trouble.seconds:.0f} s)", "yellow")
    return Description(title, (Line(brief, "yellow"),))


def _accepted(event: Accepted, glyphs: Glyphs) -> Description:
    renamed = [f"{old} {glyphs.arrow} {new}" for old, new in event.renamed]
    changed = "  ".join(filter(None, [*renamed, changes(event.added, event.removed, glyphs)]))
    changed = f"{event.kind}: {changed}" if changed and event.kind != "problem" else changed
    warnings = (
        Line(f"     ! {line.where} {line.line}: {line.kind.value}", "yellow")
        for line in event.lines
        if line.kind.value in WARNING_KINDS
    )
    title = Line(f"the {event.kind} changed" if event.added or event.removed else "nothing changed")
    body = change_lines(event.added, event.removed, glyphs)
    return Description(title, (Line(f"     {changed or 'no change'}", "dim"), *warnings), body)


def _rejected(event: Rejected, glyphs: Glyphs) -> Description:
    feedback = event.feedback
    brief = Line(f"     {glyphs.failed} {event.counted} rejected: {feedback.message}", "red")
    title = Line(f"{glyphs.failed} rejected: {feedback.category}: {feedback.message}", "bold red")
    evidence = tuple(Line(f"  {line}", "red") for line in feedback.evidence)
    return Description(title, (brief, *(Line(f"     {line.text}", "red") for line in evidence)), evidence)


def wrong_parts(event: Rejected) -> tuple[str, ...]:
    """The wrong parts of a rejected answer: lines that cannot be applied, and the parts that the feedback is about."""
    lines = [entry.line for entry in event.lines if entry.kind.value in ("refused", "matched nothing")]
    texts = [part for line in (*lines, *event.feedback.parts) for part in line.split(" -> ")]
    return tuple(dict.fromkeys(clean(text) for text in texts if re.fullmatch(r"\([^()]+\)|\S+ - \S+", text)))


def _judged(event: Judged, glyphs: Glyphs) -> Description:
    text = one_line("; ".join(event.text.splitlines()), 200)
    title = f"{event.what} {event.decision} by a person"
    brief = Line(f"     {title}{': ' if text else ''}{text}", "cyan")
    return Description(Line(title, "bold"), (brief,), _indented(event.text))


def _indented(text: str, style: str = "") -> tuple[Line, ...]:
    return tuple(Line(f"  {line}", style) for line in text.split("\n"))


_COMMON_DESCRIPTIONS: Mapping[type[Event], Callable[[Any, Glyphs], Description]] = {
    Started: _started,
    Asked: _asked,
    Answered: _answered,
    Retrying: _retrying,
    Accepted: _accepted,
    Rejected: _rejected,
    Judged: _judged,
    Isolated: _isolated,
    Unknown: lambda event, glyphs: in_one_line(f"     {event.name}: of a method that is not installed", "dim"),
}
"""The descriptions of events that all methods share. `Ended` is described by `result_line`, which needs the trace."""
