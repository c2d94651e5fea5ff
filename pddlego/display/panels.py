"""Panels: pure functions from a view and a size to something that rich can print."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from pddlego.display.map import draw, fits, house_of
from pddlego.display.text import Glyphs, clean, one_line
from pddlego.display.view import MARKED, View, expected_problem
from pddlego.events import Observed, Outcome, TriedRung
from pddlego.pddl import from_name
from pddlego.planning.result import NOTHING_THERE
from pddlego.remarks import label

SHORTEST = 8
"""Characters of a model's name that are shown, whatever else has to go."""

_OUTCOME_STYLE = {Outcome.WON: "bold green", Outcome.INTERRUPTED: "yellow"}


def header(view: View, now: float, glyphs: Glyphs, width: int) -> Text:
    """What is played, and the meter: steps, calls, tokens, seconds. Of a long model's name there is what fits."""
    separator = f" {glyphs.dot} "
    about, used = f"{separator}seed {view.seed}{separator}{view.mode}{separator}", separator + meter(view, now, glyphs)
    room = width - cell_len(clean(view.title) + about + used)
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(clean(view.title), style="bold")
    line.append(about + one_line(label(view.model), max(SHORTEST, room)))
    line.append(used, style="cyan")
    return line


def meter(view: View, now: float, glyphs: Glyphs) -> str:
    """Steps, the score at the end, refused commands (if any), calls, tokens (if any) and seconds."""
    parts = [f"step {view.step}/{view.limits.steps}"]
    if view.ended is not None:
        parts.append(f"score {view.ended.score:.2f}")
    if view.refused:
        parts.append(f"{view.refused} refused")
    if view.mode != "random":
        kept = f" ({view.from_cache} from the cache)" if view.from_cache else ""
        parts.append(f"{view.calls} call{'' if view.calls == 1 else 's'}{kept}")
    if view.tokens:
        parts.append(f"{'~' if view.estimated else ''}{view.tokens:,} tokens")
    parts.append(f"{now:.1f} s")
    return f" {glyphs.dot} ".join(parts)


def map_panel(view: View, width: int, height: int, glyphs: Glyphs) -> Panel:
    """The house as known so far, with a legend of the signs in use."""
    inner, lines = width - 4, height - 2
    if view.map_rule is None or not view.problem:
        body: RenderableType = Text("nothing is known yet" if view.map_rule else "no map", style="dim")
        return Panel(body, title="map", height=height, width=width, border_style="dim")
    house = house_of(expected_problem(view), view.map_rule)
    held = [_held(house.held, inner)] if house.held else []
    lines -= len(held)
    picture = draw(house, inner, lines, glyphs)
    used = picture.plain.count("\n") + 1
    top = max(0, (lines - used) // 2)
    below = max(0, lines - used - top)
    closed = from_name(str(view.map_rule["closed"]))
    legend = f"{glyphs.here} here  {glyphs.unknown} unexplored  {glyphs.across_door} {closed}  {glyphs.thing} thing"
    # No blank line must be no line at all: in a table even an empty text without its end takes one.
    parts = [*([Text("\n" * (top - 1))] if top else []), _centred(picture, inner)]
    if held:
        parts += [*([Text("\n" * (below - 1))] if below else []), *held]
    body = Group(*parts)
    title = "map" if fits(house, inner, lines) else "map (a part)"
    return Panel(body, title=title, subtitle=Text(clean(legend)), height=height, width=width, border_style="dim")


def _held(things: tuple[str, ...], width: int) -> Text:
    """What the agent has in hand, on one line."""
    names = ", ".join(clean(from_name(each)) for each in things)
    return Text(one_line(f"in hand: {names}", width), "bold yellow", no_wrap=True)


def changes_panel(view: View, width: int, height: int, glyphs: Glyphs) -> Panel:
    """What the last answer changed in the problem; why it was rejected, if it was."""
    lines: list[Text] = []
    if view.rejected is not None:
        lines.append(
            Text(f"{glyphs.failed} answer {view.rejected.attempt + 1} rejected: {view.rejected.category}", "red")
        )
        lines += [Text(clean(each), "red") for each in (view.rejected.message, *view.rejected.evidence)]
    else:
        lines += [Text(clean(f"{old} {glyphs.arrow} {new}"), "cyan") for old, new in view.renamed]
        lines += [_change(glyphs.added, each, "green") for each in view.added]
        lines += [_change(glyphs.removed, each, "red") for each in view.removed]
    marked = view.rejected.lines if view.rejected else view.lines
    for line in marked:
        if line.kind in MARKED:
            style = "yellow" if line.kind == "merged" else "bold yellow"
            lines.append(Text(clean(f"! {line.where} {line.line}: {line.kind}"), style))
    if not lines:
        lines.append(Text("no change" if view.problem else "", "dim"))
    return _panel(lines, "problem: what changed", width, height)


def ladder_lines(view: View, width: int, glyphs: Glyphs) -> list[Text]:
    """Every goal with what planning for it gave; the one in use is marked."""
    if not view.goals:
        return [Text("no goals: the model chooses commands", "dim")]
    tried = {each.name: each for each in view.tried}
    lines: list[Text] = []
    for number, goal in enumerate(view.goals, start=1):
        result = tried.get(goal)
        if result is None:
            line, note = Text(f"  {number} {goal}", "dim"), ""
        elif goal == view.rung:
            line, note = Text(f"{glyphs.used} {number} {goal}", "bold green"), f" {result.seconds * 1000:.0f} ms"
        else:
            line, note = Text(f"{glyphs.failed} {number} {goal}"), f" {status_of(result)}"
        if line.cell_len + len(note) <= width:
            line.append(note, style="dim" if goal == view.rung else "yellow")
        lines.append(line)
    return lines


def status_of(tried: TriedRung) -> str:
    """What came of a goal; one that is true because nothing is there yet is called that."""
    return "nothing there yet" if tried.message == NOTHING_THERE else tried.status


def plan_lines(view: View, height: int, glyphs: Glyphs) -> list[Text]:
    """The plan in PDDL with the executed part ticked off; of a long plan the part around the next step."""
    lines: list[Text] = []
    for number, step in enumerate(view.plan):
        if number < view.executed:
            lines.append(Text(f"{glyphs.done} {clean(step.action)}", "dim"))
        else:
            lines.append(Text(f"{glyphs.used if number == view.executed else ' '} {clean(step.action)}"))
    if view.surprise:
        lines.append(Text(f"! {clean(view.surprise)}", "yellow"))
    if not lines and view.tried:
        lines.append(Text("no plan", "red"))
    # What comes next matters more than what was done.
    first = max(0, min(view.executed - 1, len(lines) - height))
    return lines[first : first + height]


def ladder_panel(view: View, width: int, height: int, glyphs: Glyphs) -> Panel:
    """The goal ladder in a panel of its own."""
    return _panel(ladder_lines(view, width - 4, glyphs), "goal ladder", width, height)


def plan_panel(view: View, width: int, height: int, glyphs: Glyphs) -> Panel:
    """The plan in a panel of its own."""
    return _panel(plan_lines(view, height - 2, glyphs), _plan_title(view, glyphs), width, height)


def goal_panel(view: View, width: int, height: int, glyphs: Glyphs) -> Panel:
    """Ladder and plan in one panel, where there is no room for two."""
    ladder = ladder_lines(view, width - 4, glyphs)
    plan = plan_lines(view, max(1, height - 2 - len(ladder)), glyphs)
    return _panel([*ladder, *plan], f"goals and {_plan_title(view, glyphs)}", width, height)


def problem_panel(view: View, width: int, height: int, glyphs: Glyphs) -> Panel:
    """All facts of the problem, the new ones in green."""
    added = set(view.added)
    facts = [line.strip() for line in view.problem.splitlines() if line.startswith("    ")]
    lines = [Text(clean(fact), "green" if fact in added else "") for fact in facts]
    return _panel(lines, f"problem {glyphs.dot} {len(facts)} lines" if facts else "problem", width, height)


def log_panel(view: View, width: int, height: int, now: float, glyphs: Glyphs) -> Panel:
    """The last commands and what the game answered, the newest at the bottom and in full."""
    inner, room = width - 4, max(1, height - 2)
    lines: list[Text] = []
    if view.asking and not view.ended:
        waited = max(0.0, now - view.asked_at)
        trouble = view.retrying
        if trouble is not None:
            left = max(0.0, trouble.wait - (now - view.tried_at))
            then = f"next try in {left:.0f} s" if left else "trying again"
            told = f"   {one_line(trouble.why, 60)} (try {trouble.tries} of {trouble.most}; {then})"
            lines.append(Text(told, "yellow"))
        lines.append(Text(f"   asking {clean(view.model)} ({view.asking}) … {waited:.0f} s", "cyan"))
    for event in reversed(view.log):
        if len(lines) >= room:
            break
        whole = event is view.log[-1]
        lines = [*_answer(event, inner, min(4, room - len(lines)) if whole else 1, glyphs), *lines]
    return _panel(lines[-room:], "game", width, height)


def _answer(event: Observed, width: int, height: int, glyphs: Glyphs) -> list[Text]:
    """A command with its answer, on at most `height` lines; the second and later ones are indented."""
    command = f"{event.step:>2} " + (f"{clean(event.command)} {glyphs.arrow} " if event.command is not None else "")
    said = " ".join(clean(event.read or event.text).split())
    rows = textwrap.wrap(command + said, width, subsequent_indent="   ", max_lines=height, placeholder="…") or [command]
    lines = [Text(row, "yellow" if event.refused else "") for row in rows]
    lines[0].stylize("bold", 0, min(len(command), len(rows[0])))
    return lines


def _plan_title(view: View, glyphs: Glyphs) -> str:
    steps = len(view.plan)
    return f"plan {glyphs.dot} {steps} step{'' if steps == 1 else 's'}" if steps else "plan"


def result_line(view: View) -> Text:
    """How the episode ended, on one line; empty while it runs."""
    if view.ended is None:
        return Text("")
    ended = view.ended
    steps = f"{ended.tally.steps} step{'' if ended.tally.steps == 1 else 's'}"
    style = _OUTCOME_STYLE.get(ended.outcome, "bold red")
    line = Text(f"{ended.outcome.value} after {steps}", style=style)
    if ended.message:
        line.append(f": {clean(' '.join(ended.message.split()))}", style="")
    return line


def _change(sign: str, fact: str, style: str) -> Text:
    return Text(f"{sign} {clean(fact)}", style)


def _panel(lines: list[Text], title: str, width: int, height: int) -> Panel:
    room = max(1, height - 2)
    shown = [_cropped(each, width - 4) for each in lines]
    if len(shown) > room > 1:
        hidden = len(shown) - room + 1
        shown = [*shown[: room - 1], Text(f"… {hidden} more", "dim")]
    return Panel(Group(*shown[:room]), title=title, height=height, width=width, border_style="dim")


def _cropped(line: Text, width: int) -> Text:
    cropped = line.copy()
    cropped.truncate(max(1, width), overflow="ellipsis")
    cropped.no_wrap = True
    return cropped


def _centred(picture: Text, width: int) -> Text:
    rows = picture.split("\n")
    longest = max(row.cell_len for row in rows)
    margin = " " * max(0, (width - longest) // 2)
    return Text("\n", no_wrap=True).join(Text(margin).append_text(row) for row in rows)
