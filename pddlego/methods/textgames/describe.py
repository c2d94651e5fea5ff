"""What is said of the events that only text games have."""

from __future__ import annotations

from collections.abc import Mapping

from pddlego.display.description import Describe, Description, Line, change_lines, changes
from pddlego.display.glyphs import Glyphs
from pddlego.events import Event
from pddlego.methods.textgames.events import Observed, Planned, Resumed
from pddlego.methods.textgames.screen.panels import status_of
from pddlego.util.text import one_line


def _observed(event: Observed, glyphs: Glyphs) -> Description:
    style = "yellow" if event.refused else ""
    command = f"{event.command} {glyphs.arrow} " if event.command is not None else ""
    brief = [Line(f"{event.step:>3}  {command}{one_line(event.read or event.text, 2000)}", style)]
    if event.surprise:
        brief.append(Line(f"     ! {event.surprise}", "yellow"))
    title = "the game begins" if event.command is None else event.command
    remark = "refused" if event.refused else event.surprise
    body = (Line(event.text), *([Line(remark)] if remark else []))
    return Description("observed", Line(f"{event.step}. {title}"), tuple(brief), body)


def _planned(event: Planned, glyphs: Glyphs) -> Description:
    tried = (Line(f"{rung.name}: {status_of(rung)}") for rung in event.tried)
    steps = (Line(f"{step.action}  {step.command}") for step in event.plan)
    if event.rung is None:
        return Description("planned", Line("no goal has a plan"), (), (*tried, *steps))
    title = f"plan for '{event.rung}'"
    commands = ", ".join(step.command or step.action for step in event.plan)
    return Description("planned", Line(title), (Line(f"     {title}: {commands}", "green"),), (*tried, *steps))


def _resumed(event: Resumed, glyphs: Glyphs) -> Description:
    brief = [Line(f"     goes on after step {event.step} of {event.source}", "cyan")]
    if event.corrected is not None:
        corrected = changes(event.added, event.removed, glyphs) or "nothing"
        brief.append(Line(f"     corrected by a person: {corrected}", "cyan"))
    title = Line(f"resumed after step {event.step} of {event.source}")
    return Description("accepted", title, tuple(brief), change_lines(event.added, event.removed, glyphs))


DESCRIBED: Mapping[type[Event], Describe] = {Observed: _observed, Planned: _planned, Resumed: _resumed}
"""Every event that a text game adds, with what is said of it."""
