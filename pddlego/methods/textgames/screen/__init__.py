"""The live picture of a text game: the map, the goal ladder, the plan, and what the model changed."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator

from rich.align import Align
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.description import MARKED
from pddlego.display.frames import Frame
from pddlego.display.screens import Tab, asking_lines, beside, fitted, word_lines
from pddlego.episode.events import Accepted, Rejected
from pddlego.methods.textgames.events import FactsChecked, Observed, Planned, status_of
from pddlego.methods.textgames.screen.map import DrawnHouse, draw, fits, house_of, recipe_of, words_of
from pddlego.methods.textgames.screen.reading import reading_lines
from pddlego.methods.textgames.screen.view import GameView, expected_problem, fold, problem_of
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import EntryKind, Problem, diff, from_name
from pddlego.pddl.conditions import Renaming
from pddlego.pddl.diff import domain_parts
from pddlego.pddl.domain import read_domain
from pddlego.pddl.problem import rename
from pddlego.util.text import clean, count, one_line


def map_panel(view: GameView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """The house as known so far, with a legend of the signs in use."""
    inner, lines = width - 4, height - 2
    if view.writes_domain and not view.has_map:
        return _domain_panel(view, width, height, glyphs)
    if view.map_rule is None or not (view.problem or view.arriving):
        body: RenderableType = Text("nothing is known yet" if view.map_rule else "no map", style="dim")
        return Panel(body, title="map", height=height, width=width, border_style="dim")
    house = _house(view, view.map_rule)
    below = _below_map(expected_problem(view), house, view.map_rule, inner, glyphs)[: max(0, lines - _LEAST_MAP)]
    lines -= len(below)
    picture = Align(draw(house, inner, lines, glyphs), "center", vertical="middle", height=lines)
    title = _map_title(view) + ("" if fits(house, inner, lines) else " (a part)")
    whole, subtitle = Group(picture, *below), _legend(view.map_rule, glyphs)
    return Panel(whole, title=title, subtitle=subtitle, height=height, width=width, border_style="dim")


def _house(view: GameView, rule: MapRule) -> DrawnHouse:
    return house_of(expected_problem(view), rule, {arg for fact in view.errors for arg in words_of(fact)})


def _map_title(view: GameView) -> str:
    title = "map as the built-in reader reads the game" if view.sketched else "map"
    return f"{title}: {count(len(view.errors), 'fact')} not right" if view.errors else title


def _legend(rule: MapRule, glyphs: Glyphs) -> Text:
    closed = from_name(rule.closed)
    text = f"{glyphs.here} here  {glyphs.unknown} unexplored  {glyphs.across_door} {closed}  {glyphs.thing} thing"
    return Text(clean(text))


_MAP_SIZE = (76, 25)
"""Columns and lines of the map in a list of lines."""

_TEXT_WIDTH = 50
"""Columns of what the game said below it: the page of a phone is as wide as its longest line."""


def _map_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    """The map after a step, what was seen where, and what the game said."""
    view, lines = frame.after, list[Text]()
    if view.map_rule is not None and view.problem:
        house = _house(view, view.map_rule)
        lines += [Text(_map_title(view), "bold")] if view.sketched or view.errors else []
        lines += [*draw(house, *_MAP_SIZE, glyphs).split("\n"), _legend(view.map_rule, glyphs)]
        lines += [*_below_map(expected_problem(view), house, view.map_rule, _MAP_SIZE[0], glyphs), Text()]
    for event in frame.events:
        if isinstance(event, Observed):
            lines += _answer(event, _TEXT_WIDTH, 1000, glyphs)
    return lines


_LEAST_MAP = 5
"""Lines of the map that stay, whatever is listed below it."""


def _below_map(problem: Problem, house: DrawnHouse, rule: MapRule, width: int, glyphs: Glyphs) -> list[Text]:
    """What the agent has in hand, the recipe as a checklist, and where things were seen; a line each."""
    lines = []
    if house.held:
        names = ", ".join(from_name(thing) for thing in house.held)
        lines.append(Text(one_line(clean(f"in hand: {names}"), width), "bold yellow", no_wrap=True))
    for item in recipe_of(problem, rule):
        where = "in hand" if item.held else f"in the {from_name(item.place)}" if item.place else "not found yet"
        parts = [f"{what} {glyphs.done if done else glyphs.dot}" for what, done in item.preparations.items()]
        text = f"{glyphs.done if item.ready else glyphs.dot} {from_name(item.name)}: {', '.join((where, *parts))}"
        style = "green" if item.ready else "" if item.held or item.place else "dim"
        lines.append(Text(one_line(clean(text), width), style, no_wrap=True))
    rooms = [room for room in (*house.rooms.values(), *house.elsewhere) if room.things]
    seen = "; ".join(
        f"{from_name(room.name)}: {', '.join([from_name(thing) for thing in room.things])}" for room in rooms
    )
    if seen:
        lines.append(Text(one_line(clean(seen), width), "dim", no_wrap=True))
    return lines


def changes_panel(view: GameView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """What the last answer changed in the problem; why it was rejected, if it was."""
    lines: list[Text] = []
    if view.arriving is not None:
        return _panel(_arriving_lines(view, glyphs)[-max(1, height - 2) :], "problem (streaming)", width, height)
    if view.rejected is not None:
        feedback = view.rejected.feedback
        lines.append(Text(f"{glyphs.failed} {view.rejected.counted} rejected: {feedback.category}", "red"))
        lines += [Text(clean(line), "red") for line in (feedback.message, *feedback.evidence)]
    else:
        lines += [_change(glyphs.added, f"domain: {change}", "bold green") for change in view.domain_change.added]
        lines += [_change(glyphs.removed, f"domain: {change}", "bold red") for change in view.domain_change.removed]
        lines += [Text(clean(f"{old} {glyphs.arrow} {new}"), "cyan") for old, new in view.change.renamed]
        lines += [_change(glyphs.added, change, "green") for change in view.change.added]
        lines += [_change(glyphs.removed, change, "red") for change in view.change.removed]
    marked = view.rejected.lines if view.rejected else view.change.lines
    for line in marked:
        if line.kind.value in MARKED:
            style = "yellow" if line.kind is EntryKind.MERGED else "bold yellow"
            lines.append(Text(clean(f"! {line.where} {line.line}: {line.kind.value}"), style))
    lines = [*_error_lines(view), *lines]
    if not lines:
        lines.append(Text("no change" if view.problem else "", "dim"))
    return _panel(lines, "problem: what changed", width, height)


def _arriving_lines(view: GameView, glyphs: Glyphs) -> list[Text]:
    """What the answer that is under way changes so far."""
    before = problem_of(view)
    changed = diff(before, view.arriving or before)
    lines = [_change(glyphs.removed, change, "red") for change in changed.removed]
    return [*lines, *(_change(glyphs.added, change, "green") for change in changed.added)]


def _words_panel(view: GameView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """The reasoning and the answer of the model as they are streamed."""
    parts = {"reasoning": view.request.thought, "answer": view.request.text} if view.request else {}
    counts = f" {glyphs.dot} ".join(f"{name} {len(text):,}" for name, text in parts.items() if text)
    return _panel(word_lines(view, width - 4, height - 2), f"{counts} chars" if counts else "", width, height)


def _goals_of(view: GameView) -> tuple[str, ...]:
    """The goals on the ladder: where the model writes them those of its last answer that were tried."""
    tried = tuple(rung.name for rung in view.tried)
    return tried if view.writes_domain and set(tried) - set(view.goals) else view.goals


def _ladder_lines(view: GameView, width: int, glyphs: Glyphs) -> list[Text]:
    """Every goal with what planning for it gave; the one in use is marked."""
    if not view.goals:
        return [Text("no goals: the model chooses commands", "dim")]
    tried = {rung.name: rung for rung in view.tried}
    lines: list[Text] = []
    for number, goal in enumerate(_goals_of(view), start=1):
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


def _plan_lines(view: GameView, height: int, glyphs: Glyphs) -> list[Text]:
    """The plan in PDDL with the executed part ticked off; of a long plan the part around the next step."""
    lines: list[Text] = []
    for number, step in enumerate(view.plan):
        if number < view.executed:
            lines.append(Text(f"{glyphs.done} {clean(step.action)}", "dim"))
        else:
            lines.append(Text(f"{glyphs.used if number == view.executed else ' '} {clean(step.action)}"))
    if view.mismatch:
        lines.append(Text(f"! {clean(view.mismatch)}", "yellow"))
    if not lines and view.tried:
        lines.append(Text("no plan", "red"))
    # What comes next matters more than what was done.
    first = max(0, min(view.executed - 1, len(lines) - height))
    return lines[first : first + height]


def ladder_panel(view: GameView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """The goal ladder in a panel of its own."""
    return _panel(_ladder_lines(view, width - 4, glyphs), "goal ladder", width, height)


def plan_panel(view: GameView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """The plan in a panel of its own; while an answer comes, that."""
    if speaks(view):
        return _words_panel(view, width, height, glyphs)
    return _panel(_plan_lines(view, height - 2, glyphs), _plan_title(view, glyphs), width, height)


def goal_panel(view: GameView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """Ladder and plan in one panel, for screens without room for two; while an answer is streamed, the answer."""
    if speaks(view):
        return _words_panel(view, width, height, glyphs)
    ladder = _ladder_lines(view, width - 4, glyphs)
    plan = _plan_lines(view, max(1, height - 2 - len(ladder)), glyphs)
    return _panel([*ladder, *plan], f"goals and {_plan_title(view, glyphs)}", width, height)


def _domain_panel(view: GameView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """The domain that the model has written so far, part by part, the new parts in green."""
    parts = _domain_lines_of(view)
    lines = [Text(clean(part), "green" if part in view.domain_change.added else "") for part in parts]
    title = f"domain {glyphs.dot} {len(parts)} parts" if parts else "domain"
    return _panel(lines or [Text("nothing is written yet", "dim")], title, width, height)


def _domain_lines_of(view: GameView) -> list[str]:
    """The parts of the domain, a line each; none for an invalid domain."""
    reading = read_domain(view.domain)
    invalid = any(defect.blocking for defect in reading.defects)
    return [] if invalid else list(domain_parts(reading.domain).values())


def problem_panel(view: GameView, width: int, height: int, glyphs: Glyphs) -> Panel:
    """All facts of the problem, the new ones in green."""
    added = set(view.change.added)
    if view.arriving is not None:
        added = {str(fact) for fact in view.arriving.sorted_facts()} - set(view.problem.split("\n    "))
    text = view.problem if view.arriving is None else str(view.arriving)
    facts = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    lines = [*_error_lines(view), *(Text(clean(fact), _fact_style(fact, added, view)) for fact in facts)]
    return _panel(lines, f"problem {glyphs.dot} {count(len(facts), 'line')}" if facts else "problem", width, height)


def _fact_style(fact: str, added: Collection[str], view: GameView) -> str:
    return "magenta" if fact in view.errors else "green" if fact in added else ""


def _error_lines(view: GameView) -> list[Text]:
    """What is not right about the facts."""
    return [Text(f"{verdict}: {clean(fact)}", "bold magenta") for fact, verdict in view.errors.items()]


def log_panel(view: GameView, width: int, height: int, now: float, glyphs: Glyphs) -> Panel:
    """The last commands and what the game answered, the newest at the bottom; as many in full as there is room."""
    inner, room = width - 4, max(1, height - 2)
    last = fitted([*_waiting_lines(view, now), *asking_lines(view, now)], inner, room)
    if speaks(view) and not view.goals:
        last += word_lines(view, inner, room // 2)
    spare = room - len(last)
    newest = list(reversed(view.log))[: max(0, spare)]
    whole = [len(_answer(event, inner, room, glyphs)) for event in newest]
    heights = [min(_LINES_OF_NEWEST, rows, spare) if number == 0 else 1 for number, rows in enumerate(whole)]
    while sum(heights) > spare:
        heights.pop()
    for number, rows in enumerate(whole[: len(heights)]):
        heights[number] += min(rows - heights[number], spare - sum(heights))
    shown = [_answer(event, inner, rows, glyphs) for event, rows in zip(newest, heights, strict=False)]
    lines = [line for answer in reversed(shown) for line in answer]
    return _panel([*lines, *last][-room:], "game", width, height)


_LINES_OF_NEWEST = 4
"""Lines that the newest answer has at least, before older answers get any."""


def speaks(view: GameView) -> bool:
    """Whether words of an answer are coming."""
    return view.request is not None and bool(view.request.text or view.request.thought)


def _waiting_lines(view: GameView, now: float) -> list[Text]:
    """What is waited for besides a model, when that takes a while."""
    passed = now - view.waiting_since
    return [Text(f"   {view.waiting} … {passed:.0f} s", "cyan")] if view.waiting and passed >= 1 else []


def _answer(event: Observed, width: int, height: int, glyphs: Glyphs) -> list[Text]:
    """A command with its answer, on at most `height` lines; the second and later ones are indented."""
    command = f"{event.step:>2} " + (f"{clean(event.command)} {glyphs.arrow} " if event.command is not None else "")
    text = " ".join(clean(event.read or event.text).split())
    rows = textwrap.wrap(command + text, width, subsequent_indent="   ", max_lines=height, placeholder="…") or [command]
    lines = [Text(row, "yellow" if event.refused else "") for row in rows]
    lines[0].stylize("bold", 0, min(len(command), len(rows[0])))
    return lines


def _plan_title(view: GameView, glyphs: Glyphs) -> str:
    return f"plan {glyphs.dot} {count(len(view.plan), 'step')}" if view.plan else "plan"


def _change(sign: str, fact: str, style: str) -> Text:
    return Text(f"{sign} {clean(fact)}", style)


def _panel(lines: list[Text], title: str, width: int, height: int) -> Panel:
    rows = fitted(lines, width - 4, max(1, height - 2))
    body = Text("\n", no_wrap=True, overflow="ellipsis").join(rows)
    return Panel(body, title=title, height=height, width=width, border_style="dim")


def _problem_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    """The problem before and after the step in one list: what was removed, what was added, and what stayed.

    Renamed parts are shown above, and count as unchanged.
    """
    if not frame.after.problem:
        return [Text("no problem is known", "dim")]
    renamed = _renamed(frame)
    before, after = rename(problem_of(frame.before), Renaming(dict(renamed))), problem_of(frame.after)
    lines = [Text(clean(f"{old} {glyphs.arrow} {new}"), "cyan") for old, new in renamed]
    if lines:
        lines.append(Text())
    for title, old, new in (
        ("objects", before.sorted_objects(), after.sorted_objects()),
        ("facts", before.sorted_facts(), after.sorted_facts()),
    ):
        lines.append(Text(title, "bold"))
        kept = {str(planned) for planned in old} & {str(planned) for planned in new}
        lines += [Text(f"{glyphs.removed} {clean(str(planned))}", "red") for planned in old if str(planned) not in kept]
        for planned in new:
            fact = str(planned)
            sign = glyphs.added if fact not in kept else " "
            style = "magenta" if fact in frame.after.errors else "green" if fact not in kept else ""
            lines.append(Text(f"{sign} {clean(fact)}", style))
    return [*_checked_lines(frame), *lines]


def _checked_lines(frame: Frame) -> list[Text]:
    """What is true of the facts of the step's problem, and of rejected answers."""
    lines: list[Text] = []
    for event in frame.events:
        if isinstance(event, FactsChecked):
            title = "rejected answer" if event.rejected else "facts checked"
            lines.append(
                Text(f"{title}: {sum(event.right.values())} right, {len(event.unknown)} not known yet", "bold")
            )
            lines += [
                Text(f"  {error.verdict} since step {error.since}: {clean(error.fact)}", "bold magenta")
                for error in event.errors
            ]
    return [*lines, Text()] if lines else []


def _domain_lines(frame: Frame, glyphs: Glyphs) -> list[Text]:
    """The domain before and after the step in one list, part by part, and why answers were rejected."""
    before, after = _domain_lines_of(frame.before), _domain_lines_of(frame.after)
    lines = [Text(f"{glyphs.removed} {clean(line)}", "red") for line in before if line not in after]
    for line in after:
        new = line not in before
        lines.append(Text(f"{glyphs.added if new else ' '} {clean(line)}", "green" if new else ""))
    rejected = [event for event in frame.events if isinstance(event, Rejected)]
    for event in rejected:
        lines += [Text(), Text(clean(f"{glyphs.failed} {event.feedback.message}"), "red")]
        lines += [Text(f"  {clean(line)}", "red") for line in event.feedback.evidence]
    return lines or [Text("nothing is written yet", "dim")]


def _ladder_lines_in_full(frame: Frame, glyphs: Glyphs) -> Iterator[Text]:
    """Every rung that was tried in this step with what came of it and why, then the plan with what it expects."""
    planned = [event for event in frame.events if isinstance(event, Planned)]
    if not planned:
        yield Text("nothing was planned in this step", "dim")
        if frame.after.plan:
            yield Text(f"the plan for '{clean(frame.after.rung or '')}' goes on:", "dim")
            yield from _plan(frame.after, glyphs)
        return
    for number, event in enumerate(planned):
        if number:
            yield Text()
        for rung in event.tried:
            mark = (glyphs.done, "green") if rung.name == event.rung else (glyphs.failed, "yellow")
            line = Text(f"{mark[0]} {clean(rung.name)}", f"bold {mark[1]}")
            line.append(f"  {status_of(rung)}, {rung.seconds * 1000:.0f} ms", "dim")
            yield line
            if rung.message:
                yield Text(f"    {clean(rung.message)}", "dim")
        for name in frame.after.goals[len(event.tried) :]:
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
        changes = [f"{glyphs.added} {change}" for change in step.added]
        changes += [f"{glyphs.removed} {change}" for change in step.removed]
        yield Text(f"    {clean('  '.join(changes))}", "dim")
    if view.mismatch:
        yield Text(f"! {clean(view.mismatch)}", "yellow")


def _renamed(frame: Frame) -> list[tuple[str, str]]:
    return [pair for event in frame.events if isinstance(event, Accepted) for pair in event.renamed]


WIDE, _VERY_WIDE = 110, 170


SHORT = 5
"""Lines that the map and the goals have at least while a question takes the rest."""


def body(view: GameView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
    """Everything about the episode, exactly `width` wide and at most `height` lines high."""
    if not view.goals:
        draw_all = _scene if view.sketched else log_panel
        return draw_all(view, width, height, now, glyphs)
    if width >= _VERY_WIDE:
        left, middle = width * 45 // 100, width * 27 // 100
        return beside(
            _scene(view, left, height, now, glyphs),
            _thoughts(view, middle, height, glyphs),
            _files(view, width - left - middle, height, glyphs),
        )
    if width >= WIDE:
        left = width * 6 // 10
        return beside(_scene(view, left, height, now, glyphs), _thoughts(view, width - left, height, glyphs))
    log = max(5, height // 5)
    middle = max(SHORT, min(max(len(_goals_of(view)) + 4, height // 3), height - log - SHORT))
    left = width // 2
    return Group(
        map_panel(view, width, height - middle - log, glyphs),
        beside(goal_panel(view, left, middle, glyphs), changes_panel(view, width - left, middle, glyphs)),
        log_panel(view, width, log, now, glyphs),
    )


def _scene(view: GameView, width: int, height: int, now: float, glyphs: Glyphs) -> RenderableType:
    """What the game is: the map and the last answers."""
    log = max(8, height // 3)
    upper = map_panel(view, width, height - log, glyphs)
    return Group(upper, log_panel(view, width, log, now, glyphs))


def _thoughts(view: GameView, width: int, height: int, glyphs: Glyphs) -> RenderableType:
    """What the agent makes of it: goals, plan, and what it learned."""
    ladder = len(_goals_of(view)) + 2
    plan = max(5, height // 3 if speaks(view) else min(len(view.plan) + 2, height // 3))
    return Group(
        ladder_panel(view, width, ladder, glyphs),
        plan_panel(view, width, plan, glyphs),
        changes_panel(view, width, height - ladder - plan, glyphs),
    )


def _files(view: GameView, width: int, height: int, glyphs: Glyphs) -> RenderableType:
    """The problem, and the domain where the model writes it and the map does not stand in its place."""
    if not (view.writes_domain and view.has_map):
        return problem_panel(view, width, height, glyphs)
    upper = height // 2
    lower = problem_panel(view, width, height - upper, glyphs)
    return Group(_domain_panel(view, width, upper, glyphs), lower)


class GameScreen:
    """A `Screen`."""

    start = GameView()
    tabs = (
        Tab("map", _map_lines, lambda view: view.has_map, drawn=True),
        Tab("reading", reading_lines),
        Tab("problem", _problem_lines),
        Tab("domain", _domain_lines, lambda view: view.writes_domain),
        Tab("ladder", lambda frame, glyphs: list(_ladder_lines_in_full(frame, glyphs)), lambda view: bool(view.goals)),
    )

    fold = staticmethod(fold)
    body = staticmethod(body)
    latest = staticmethod(log_panel)


SCREEN = GameScreen
