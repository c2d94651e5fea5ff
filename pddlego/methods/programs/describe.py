"""What is said of the events of generalized planning."""

from __future__ import annotations

from collections.abc import Mapping

from pddlego.display.description import Describe, Description, Line
from pddlego.display.glyphs import Glyphs
from pddlego.events import Event
from pddlego.methods.programs.events import Began, Evaluated, Ran, Written
from pddlego.util.text import count


def _began(event: Began, glyphs: Glyphs) -> Description:
    sizes = f"{count(len(event.training), 'training task')}, {count(len(event.evaluation), 'evaluation task')}"
    return Description("", Line(f"     domain {event.domain}: {sizes}", "dim"))


def _written(event: Written, glyphs: Glyphs) -> Description:
    lines = event.code.splitlines()
    title = Line(f"{event.step:>3}  {event.command}: {count(len(lines), 'line')}", "bold")
    return Description("observed", title, (title,), tuple(Line(f"{glyphs.added} {line}", "green") for line in lines))


def _ran(event: Ran, glyphs: Glyphs) -> Description:
    mark, style = (glyphs.done, "green") if event.solved else (glyphs.failed, "red")
    took = f"{event.length} steps, " if event.solved else ""
    text = f"     {mark} {event.task} ({event.size} objects): {event.kind}, {took}{event.seconds:.2f} s"
    line = Line(text, style)
    detail = (Line(f"       {event.message}", style),) if event.message else ()
    brief = () if event.solved or event.split == "evaluation" else (line,)
    return Description("planned", line, brief, detail)


def _evaluated(event: Evaluated, glyphs: Glyphs) -> Description:
    style = "bold green" if event.solved == event.total else "bold yellow" if event.solved else "bold red"
    line = Line(f"{event.step:>3}  {event.command} tasks solved", style)
    return Description("observed", line, (line,) if event.final else ())


DESCRIBED: Mapping[type[Event], Describe] = {Began: _began, Written: _written, Ran: _ran, Evaluated: _evaluated}
"""Every event of generalized planning, with what is said of it."""
