"""Lists that say everything about one step: the problem's difference, the whole ladder."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from pddlego.display.frames import Frame
from pddlego.display.glyphs import Glyphs
from pddlego.events import Accepted, Rejected
from pddlego.methods.textgames.events import Planned
from pddlego.methods.textgames.screen.panels import domain_lines_of, status_of
from pddlego.methods.textgames.screen.view import GameView, problem_of
from pddlego.pddl.problem import rename
from pddlego.util.text import clean, count


def problem_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    """The problem before and after the step in one list: what was removed, what was added, and what stayed.

    What only got another name stands above and counts as what stayed.
    """
    renamed = _renamed(frame)
    before, after = rename(problem_of(frame.before), dict(renamed)), problem_of(frame.after)
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


def domain_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    """The domain before and after the step in one list, part by part, and why answers were rejected."""
    before, after = domain_lines_of(frame.before), domain_lines_of(frame.after)
    lines = [Text(f"{glyphs.removed} {clean(each)}", "red") for each in before if each not in after]
    for each in after:
        new = each not in before
        lines.append(Text(f"{glyphs.added if new else ' '} {clean(each)}", "green" if new else ""))
    rejected = [event for event in frame.events if isinstance(event, Rejected)]
    for event in rejected:
        lines += [Text(), Text(clean(f"{glyphs.failed} {event.feedback.message}"), "red")]
        lines += [Text(f"  {clean(each)}", "red") for each in event.feedback.evidence]
    return lines or [Text("nothing is written yet", "dim")]


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


def _plan(view: GameView, glyphs: Glyphs) -> Iterator[Text]:
    if not view.plan:
        yield Text("no plan", "red")
        return
    yield Text(f"plan: {count(len(view.plan), 'step')}", "bold")
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


def _renamed(frame: Frame) -> list[tuple[str, str]]:
    return [pair for each in frame.events if isinstance(each, Accepted) for pair in each.renamed]
