"""What is said of the events of builders."""

from __future__ import annotations

from collections.abc import Mapping

from pddlego.display.description import Describe, Description, Line
from pddlego.display.glyphs import Glyphs
from pddlego.events import Event
from pddlego.methods.builders.events import Concluded, Found, Tried
from pddlego.planning import PlanStatus
from pddlego.util.text import count


def _found(event: Found, glyphs: Glyphs) -> Description:
    mark, style = (glyphs.done, "green") if event.fine else (glyphs.failed, "yellow")
    said = (
        "nothing is wrong" if event.fine and event.by == "checks" else "nothing to do" if event.fine else "to be mended"
    )
    brief = [Line(f"     {mark} {event.by}: {said}", style)]
    lines = tuple(Line(f"       {line}", style) for line in event.lines)
    return Description("", brief[0], (*brief, *(() if event.fine else lines)), lines)


def _tried(event: Tried, glyphs: Glyphs) -> Description:
    solved = event.status in (PlanStatus.SOLVED, PlanStatus.ALREADY_TRUE)
    said = f"plan of {count(len(event.plan), 'step')}" if event.plan else event.status.value
    line = Line(f"     {glyphs.done if solved else glyphs.failed} planner: {said}", "green" if solved else "yellow")
    why = (Line(event.message, "yellow"),) if event.message else ()
    return Description("planned", line, (line,), (*why, *(Line(step) for step in event.plan)))


def _concluded(event: Concluded, glyphs: Glyphs) -> Description:
    marks = {True: glyphs.done, False: glyphs.failed, None: "?"}
    named = {"read": event.read, "valid": event.valid, "solvable": event.solvable, "plan works": event.plan_valid}
    named["equivalent to gold"] = event.equivalent
    line = Line("     " + "  ".join(f"{marks[value]} {name}" for name, value in named.items()), "bold")
    return Description("", line, (line,))


DESCRIBED: Mapping[type[Event], Describe] = {Found: _found, Tried: _tried, Concluded: _concluded}
"""Every event that builders add, with what is said of it."""
