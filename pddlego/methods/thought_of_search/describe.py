"""What is said of the events of Thought of Search."""

from __future__ import annotations

from collections.abc import Mapping

from pddlego.display.description import Describe, Description, Line
from pddlego.display.glyphs import Glyphs
from pddlego.events import Event
from pddlego.methods.thought_of_search.events import Attempted, Coded, Finished, Prepared, Searching, Tested
from pddlego.util.text import count


def _prepared(event: Prepared, glyphs: Glyphs) -> Description:
    tests = (
        f"{count(event.goal, 'goal test')}, {count(event.soundness, 'search')}, {count(event.completeness, 'state')}"
    )
    return Description(
        "", Line(f"     tests: {tests} with known successors; {count(event.instances, 'instance')}", "dim")
    )


def _coded(event: Coded, glyphs: Glyphs) -> Description:
    lines = event.code.splitlines()
    title = Line(f"{event.step:>3}  {event.command}: {count(len(lines), 'line') if lines else 'no function'}", "bold")
    return Description("observed", title, (title,), tuple(Line(f"{glyphs.added} {line}", "green") for line in lines))


def _tested(event: Tested, glyphs: Glyphs) -> Description:
    mark, style = (glyphs.done, "green") if event.passed else (glyphs.failed, "red")
    expanded = f", {count(event.expansions, 'state')} expanded" if event.expansions else ""
    line = Line(f"     {mark} {event.stage} test {event.number + 1}: {event.kind}{expanded}", style)
    detail = (Line(f"       {event.message}", style),) if event.message else ()
    return Description("planned", line, () if event.passed else (line,), detail)


def _searching(event: Searching, glyphs: Glyphs) -> Description:
    return Description("", Line(f"     {event.instance}: {count(event.expansions, 'state')} expanded", "dim"))


def _attempted(event: Attempted, glyphs: Glyphs) -> Description:
    mark, style = (glyphs.done, "green") if event.solved else (glyphs.failed, "red")
    took = f"{count(event.length, 'step')}, " if event.solved and event.length else ""
    said = f"{event.kind}, {took}{count(event.expansions, 'state')} expanded, {event.seconds:.2f} s"
    line = Line(f"     {mark} instance {event.instance}: {said}", style)
    detail = (Line(f"       {event.message}", style),) if event.message else ()
    return Description("planned", line, () if event.solved else (line,), detail)


def _finished(event: Finished, glyphs: Glyphs) -> Description:
    style = "bold green" if event.solved == event.total else "bold yellow" if event.solved else "bold red"
    rate = f", {event.expansions / event.seconds:,.0f} a second" if event.seconds > 0 else ""
    said = f"{event.command} instances solved, {count(event.expansions, 'state')} expanded{rate}"
    line = Line(f"{event.step:>3}  {said}", style)
    return Description("observed", line, (line,))


DESCRIBED: Mapping[type[Event], Describe] = {
    Prepared: _prepared,
    Coded: _coded,
    Tested: _tested,
    Searching: _searching,
    Attempted: _attempted,
    Finished: _finished,
}
"""Every event of Thought of Search, with what is said of it."""
