"""Panels that say everything about one step: the problem's difference, the whole ladder, the request and its answer."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Group
from rich.panel import Panel
from rich.text import Text

from pddlego.display.frames import Frame
from pddlego.display.panels import status_of
from pddlego.display.text import Glyphs, clean
from pddlego.display.view import View
from pddlego.events import Answered, Asked, Formalized, Judged, Planned, Rejected, Retrying
from pddlego.pddl import PddlSyntaxError, Problem, parse_problem
from pddlego.pddl.problem import rename


def problem_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    """The problem before and after the step in one list: what was removed, what was added, and what stayed.

    What only got another name stands above and counts as what stayed.
    """
    renamed = _renamed(frame)
    before, after = rename(_problem(frame.before), dict(renamed)), _problem(frame.after)
    lines = [Text(clean(f"{old} {glyphs.arrow} {new}"), "cyan") for old, new in renamed]
    if lines:
        lines.append(Text())
    for title, old, new in (
        ("objects", before.sorted_objects(), after.sorted_objects()),
        ("facts", before.sorted_facts(), after.sorted_facts()),
    ):
        lines.append(Text(title, "bold"))
        kept = {str(each) for each in old} & {str(each) for each in new}
        lines += [Text(f"{glyphs.removed} {clean(str(each))}", "red") for each in old if str(each) not in kept]
        lines += [
            Text(f"{glyphs.added} {clean(str(each))}", "green") if str(each) not in kept else Text(f"  {each}")
            for each in new
        ]
    return lines


def ladder_lines_in_full(frame: Frame, glyphs: Glyphs) -> Iterator[Text]:
    """Every rung that was tried in this step with what came of it and why, then the plan with what it expects."""
    planned = [each for each in frame.events if isinstance(each, Planned)]
    if not planned:
        yield Text("nothing was planned in this step", "dim")
        if frame.after.plan:
            yield Text(f"the plan for '{clean(frame.after.rung or '')}' goes on:", "dim")
            yield from _plan(frame.after, glyphs)
        return
    for number, each in enumerate(planned):
        if number:
            yield Text()
        for rung in each.tried:
            mark = (glyphs.done, "green") if rung.name == each.rung else (glyphs.failed, "yellow")
            line = Text(f"{mark[0]} {clean(rung.name)}", f"bold {mark[1]}")
            line.append(f"  {status_of(rung)}, {rung.seconds * 1000:.0f} ms", "dim")
            yield line
            if rung.message:
                yield Text(f"    {clean(rung.message)}", "dim")
        for name in frame.after.goals[len(each.tried) :]:
            yield Text(f"  {clean(name)}", "dim").append("  not tried")
    yield Text()
    yield from _plan(frame.after, glyphs)


def request_lines(frame: Frame, glyphs: Glyphs) -> Iterator[Text]:
    """The exact requests and answers of the step, with what became of them."""
    number = 0
    for event in frame.events:
        if isinstance(event, Asked):
            number += 1
            yield Text(f"request {event.call}: {event.purpose}, {event.characters:,} characters", "bold cyan")
            for message in event.messages:
                yield Text(clean(message.role), "bold")
                yield from (Text(f"  {line}") for line in clean(message.content).split("\n"))
        elif isinstance(event, Answered):
            tokens = f"{event.tokens_in:,} tokens in, {event.tokens_out:,} out, " if event.tokens_in else ""
            when = "from the cache" if event.from_cache else f"{event.seconds:.1f} s"
            yield Text(f"answer {event.call}: {tokens}{when}, {event.finish}", "bold cyan")
            if event.reasoning:
                yield Text("thought", "bold")
                yield from (Text(f"  {line}", "dim") for line in clean(event.reasoning).split("\n"))
                yield Text("said", "bold")
            yield from (Text(f"  {line}") for line in clean(event.text).split("\n"))
        elif isinstance(event, Retrying):
            told = f"try {event.tries} of {event.most} failed: {clean(event.why)} (the next after {event.wait:.0f} s)"
            yield Text(told, "yellow")
        elif isinstance(event, Rejected):
            yield Text(f"{glyphs.failed} rejected: {event.category}: {clean(event.message)}", "bold red")
            yield from (Text(f"  {clean(each)}", "red") for each in event.evidence)
        elif isinstance(event, Judged):
            yield Text(f"{event.what} {event.verdict} by a person", "bold")
            yield from (Text(f"  {line}") for line in clean(event.text).split("\n"))
    if not number:
        yield Text("no request in this step", "dim")


def text_panel(lines: list[Text], title: str, width: int, height: int, scroll: int = 0) -> Panel:
    """Lines in a panel of exactly this size, wrapped, from line `scroll` on; says how far it is when not all fit."""
    room, inner = max(1, height - 2), max(1, width - 4)
    rows = wrapped(lines, inner)
    first = max(0, min(scroll, len(rows) - room))
    shown = rows[first : first + room]
    part = f"{first + 1}-{first + len(shown)} of {len(rows)}" if len(rows) > room else None
    return Panel(Group(*shown), title=title, subtitle=part, width=width, height=height, border_style="dim")


def wrapped(lines: list[Text], width: int) -> list[Text]:
    """Lines as rows of at most `width` cells. Long ones are broken anywhere, so that nothing is hidden."""
    rows: list[Text] = []
    for line in lines:
        whole = line.copy()
        whole.no_wrap = True
        rows += whole.divide(_cuts(whole.plain, width))
    return rows


def _cuts(text: str, width: int) -> list[int]:
    """Where a text is to be cut, so that every piece fits."""
    if text.isascii():
        return list(range(width, len(text), width))
    cuts, used = [], 0
    for place, letter in enumerate(text):
        size = cell_len(letter)
        if used and used + size > width:
            cuts.append(place)
            used = 0
        used += size
    return cuts


def _plan(view: View, glyphs: Glyphs) -> Iterator[Text]:
    if not view.plan:
        yield Text("no plan", "red")
        return
    title = f"plan: {len(view.plan)} step{'' if len(view.plan) == 1 else 's'}"
    yield Text(title, "bold")
    for number, step in enumerate(view.plan):
        mark = glyphs.done if number < view.executed else glyphs.used if number == view.executed else " "
        line = Text(f"{mark} {clean(step.action)}", "dim" if number < view.executed else "")
        line.append(f"  {clean(step.command) or '(not sayable yet)'}", "cyan")
        yield line
        changes = [f"{glyphs.added} {each}" for each in step.added]
        changes += [f"{glyphs.removed} {each}" for each in step.removed]
        yield Text(f"    {clean('  '.join(changes))}", "dim")
    if view.surprise:
        yield Text(f"! {clean(view.surprise)}", "yellow")


def _problem(view: View) -> Problem:
    try:
        return parse_problem(view.problem)
    except PddlSyntaxError:
        return Problem("none", "none")


def _renamed(frame: Frame) -> list[tuple[str, str]]:
    return [pair for each in frame.events if isinstance(each, Formalized) for pair in each.renamed]
