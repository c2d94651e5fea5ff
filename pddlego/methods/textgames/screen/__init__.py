"""The screen of a text game: panes and tabs with the map, the goal ladder, the plan, and the changes by the model."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.display.description import WARNING_KINDS, with_words
from pddlego.display.rows import fitted
from pddlego.display.screens import Canvas, Drawing, Fit, Pane, PaneColumn, Screen, Tab, request_lines, streamed_lines
from pddlego.episode.events import Accepted, Rejected
from pddlego.episode.trace import Step, Trace
from pddlego.methods.base import parse_variant
from pddlego.methods.textgames.events import DONE, NOT_YET, FactsChecked, Observed, Planned, status_of
from pddlego.methods.textgames.options import MODES, PLANNING
from pddlego.methods.textgames.screen.actions import actions_lines, learns_actions
from pddlego.methods.textgames.screen.drawing import hidden_rooms, map_parts
from pddlego.methods.textgames.screen.map import DrawnHouse, draw_map, fits, house_of, recipe_of, words_of
from pddlego.methods.textgames.screen.reading import reading_lines
from pddlego.methods.textgames.screen.rules import has_rules, rules_lines, rules_pane
from pddlego.methods.textgames.screen.view import GameView, expected_problem, problem_of
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import EntryKind, Problem, diff, from_name
from pddlego.pddl.conditions import Renaming
from pddlego.pddl.domain import read_domain
from pddlego.pddl.edit import domain_parts
from pddlego.pddl.problem import rename
from pddlego.util.text import clean, count, one_line


def map_pane(view: GameView, glyphs: Glyphs, rows: int | None = None) -> Pane:
    """The map of the known rooms, with a legend of its glyphs."""
    rule = view.map_rule
    if view.writes_domain and not view.has_map:
        return domain_pane(view, glyphs, rows)
    if rule is None and has_rules(view.trace):
        return rules_pane(view.trace, glyphs, rows)
    if rule is None or not (view.problem or view.arriving):
        on_page = None if rule else lambda: Drawing((), ())  # a page has no pane without content
        return Pane("map", _fits([Text("nothing is known yet" if rule else "no map")]), rows, drawing=on_page)
    house, problem = _house(view, rule), expected_problem(view)

    def below(width: int, height: int) -> list[Text]:
        return _below_map(problem, house, rule, width, glyphs)[: max(0, height - _LEAST_MAP)]

    def picture(width: int, height: int) -> list[Text]:
        under = below(width, height)
        lines = height - len(under)
        drawn = list(draw_map(house, width, lines, glyphs).split("\n"))
        placed = _centered(drawn, width, lines) if rule.exit else [*drawn, *[Text()] * (lines - len(drawn))]
        return [*placed, *under]

    def title(width: int, height: int) -> str:
        is_whole = fits(house, width, height - len(below(width, height)), glyphs)
        return _map_title(view) + ("" if is_whole else " (a part)")

    legend = _legend(rule, glyphs)
    return Pane(title, picture, rows, subtitle=legend, drawing=lambda: _drawing(view, house, rule, glyphs))


def _drawing(view: GameView, house: DrawnHouse, rule: MapRule, glyphs: Glyphs) -> Drawing:
    """The map of a page: the picture, its legend, and the lines below it. Rooms without exits are also listed."""
    signs = ["● here", "? unexplored", "◆ thing", "▶ end of the plan"]
    signs += ["┃ closed door", "━ way so far"] if rule.exit else []
    legend = "  ".join(sign.replace(" ", "\u00a0") for sign in signs)
    lines = [Text(legend, "dim"), *_below_map(expected_problem(view), house, rule, _UNCUT, glyphs)]
    hidden = hidden_rooms(house)
    lines += [Text(f"{count(hidden, 'further room')}", "dim")] if hidden else []
    lines += [] if rule.exit else draw_map(house, _UNCUT, _UNCUT, glyphs).split("\n")
    return Drawing(map_parts(view, house, rule), lines)


def _centered(lines: Sequence[Text], width: int, height: int) -> list[Text]:
    """The lines in the middle of `height` lines of `width` columns."""
    margin = " " * max(0, (width - max((line.cell_len for line in lines), default=0)) // 2)
    above = max(0, (height - len(lines)) // 2)
    rows = [*[Text()] * above, *(Text(margin) + line for line in lines)]
    return [*rows, *[Text()] * max(0, height - len(rows))]


def _house(view: GameView, rule: MapRule) -> DrawnHouse:
    return house_of(expected_problem(view), rule, {arg for fact in view.errors for arg in words_of(fact)})


def _map_title(view: GameView) -> str:
    title = "map as the built-in reader reads the game" if view.sketched else "map"
    started = view.trace.last(Observed, where=lambda observed: bool(observed.task))
    if started is not None and view.map_rule is not None and not view.map_rule.exit:
        title = f"{title}: {clean(started.task)}"  # the list of all places leaves no room for the task below
    if view.errors:
        return f"{title}: {count(len(view.errors), 'fact')} not right"
    return title if view.checked is None else f"{title}: {view.checked.summary}"


def _legend(rule: MapRule, glyphs: Glyphs) -> Text:
    text = f"{glyphs.here} here  {glyphs.unknown} unexplored"
    if rule.exit:
        text += f"  {glyphs.across_door} {from_name(rule.closed)}  {glyphs.thing} thing"
    return Text(clean(text))


_UNCUT = 10_000
"""More columns and lines than a map has: a page wraps the lines."""

_MAP_SIZE = (76, 25)
"""Columns, where these are not known, and lines of the map in a list of lines."""

_TEXT_WIDTH = 50
"""Columns of the observations below the map: on a phone, the page is as wide as its longest line."""


def _map_lines(step: Step, glyphs: Glyphs, width: int = _MAP_SIZE[0]) -> list[Text]:
    """The map after a step, the places of things, and the step's observations."""
    view, lines = GameView(step.after), list[Text]()
    if view.map_rule is not None and view.problem:
        house = _house(view, view.map_rule)
        lines += [Text(_map_title(view), "bold")] if view.sketched or view.checked else []
        lines += [*draw_map(house, width, _MAP_SIZE[1], glyphs).split("\n"), _legend(view.map_rule, glyphs)]
        lines += [*_below_map(expected_problem(view), house, view.map_rule, width, glyphs), Text()]
    return [*lines, *_said(step, min(_TEXT_WIDTH, width), glyphs)]


def _said(step: Step, width: int, glyphs: Glyphs) -> list[Text]:
    """The observations of a step."""
    observed = (event for event in step.events if isinstance(event, Observed))
    return [line for event in observed for line in _answer(with_words(event, step.after), width, 1000, glyphs)]


def _map_on_page(step: Step, glyphs: Glyphs) -> Drawing:
    """The map after a step, and the step's observations."""
    view, said = GameView(step.after), _said(step, _UNCUT, glyphs)
    if view.map_rule is None or not view.problem:
        return Drawing((), said)
    drawing = _drawing(view, _house(view, view.map_rule), view.map_rule, glyphs)
    title = [Text(_map_title(view), "bold")] if view.sketched or view.checked else []
    return Drawing(drawing.parts, [*title, *drawing.lines, Text(), *said])


_LEAST_MAP = 5
"""Minimum number of lines of the map above the lists of things."""


def _below_map(problem: Problem, house: DrawnHouse, rule: MapRule, width: int, glyphs: Glyphs) -> list[Text]:
    """Lines with the things in hand, the recipe as a checklist, and the places of things."""
    lines = []
    if house.held:
        names = ", ".join(from_name(thing) for thing in house.held)
        lines.append(Text(one_line(clean(f"in hand: {names}"), width), "bold yellow", no_wrap=True))
    for item in recipe_of(problem, rule):
        where = "in hand" if item.held else f"in the {from_name(item.place)}" if item.place else "not found yet"
        parts = [f"{what} {glyphs.done if done else glyphs.dot}" for what, done in item.preparations.items()]
        text = f"{glyphs.done if item.ready else glyphs.dot} {from_name(item.name)}: {', '.join((where, *parts))}"
        style = "green" if item.ready else ""
        lines.append(Text(one_line(clean(text), width), style, no_wrap=True))
    rooms = [room for room in (*house.rooms.values(), *house.elsewhere) if room.things and rule.exit]
    seen = "; ".join(
        f"{from_name(room.name)}: {', '.join([from_name(thing) for thing in room.things])}" for room in rooms
    )
    if seen:
        lines.append(Text(one_line(clean(seen), width), no_wrap=True))
    return lines


def changes_pane(view: GameView, glyphs: Glyphs, rows: int | None = None) -> Pane:
    """The change of the problem by the last answer, or the reason why the answer was rejected."""
    lines: list[Text] = []
    if view.arriving is not None:
        arriving = _arriving_lines(view, glyphs)
        return Pane("problem (streaming)", lambda width, height: fitted(arriving[-height:], width, height), rows)
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
        if line.kind.value in WARNING_KINDS:
            style = "yellow" if line.kind is EntryKind.MERGED else "bold yellow"
            lines.append(Text(clean(f"! {line.where} {line.line}: {line.kind.value}"), style))
    lines = [*_error_lines(view), *lines]
    if not lines:
        lines.append(Text("no change" if view.problem else ""))
    return Pane("problem: what changed", _fits(lines), rows)


def _arriving_lines(view: GameView, glyphs: Glyphs) -> list[Text]:
    """The changes of the problem by the part of the answer that has been streamed."""
    before = problem_of(view)
    changed = diff(before, view.arriving or before)
    lines = [_change(glyphs.removed, change, "red") for change in changed.removed]
    return [*lines, *(_change(glyphs.added, change, "green") for change in changed.added)]


def words_pane(view: GameView, glyphs: Glyphs, rows: int | None = None) -> Pane:
    """The reasoning and the answer of the model as they are streamed."""
    request = view.trace.request
    parts = {"reasoning": request.reasoning, "answer": request.text} if request else {}
    counts = f" {glyphs.dot} ".join(f"{name} {len(text):,}" for name, text in parts.items() if text)
    title = f"{counts} chars" if counts else ""
    return Pane(title, lambda width, height: streamed_lines(view.trace, width, height), rows)


def _fits(lines: Sequence[Text]) -> Fit:
    """A function that fits the lines into the space of a pane."""
    return lambda width, height: fitted(lines, width, height)


def _goals_of(view: GameView) -> tuple[str, ...]:
    """The goals of the ladder. If the model writes the goals, those of its last answer that were tried."""
    tried = tuple(rung.name for rung in view.planned.tried)
    return tried if view.writes_domain and set(tried) - set(view.goals) else view.goals


def _ladder_lines(view: GameView, width: int, glyphs: Glyphs) -> list[Text]:
    """Every goal with the result of planning for it. The goal of the plan is marked."""
    if not view.goals:
        return [Text("no goals: the model chooses commands")]
    tried = {rung.name: rung for rung in view.planned.tried}
    lines: list[Text] = []
    for number, goal in enumerate(_goals_of(view), start=1):
        result = tried.get(goal)
        if result is None:
            line, note = Text(f"  {number} {goal}"), ""
        elif goal == view.planned.rung:
            line, note = Text(f"{glyphs.current} {number} {goal}", "bold green"), f" {result.seconds * 1000:.0f} ms"
        else:
            mark, style = _mark(status_of(result), glyphs)
            line, note = Text(f"{mark} {number} {goal}", style), f" {status_of(result)}"
        if line.cell_len + len(note) <= width:
            line.append(note)
        lines.append(line)
    return lines


def _mark(status: str, glyphs: Glyphs) -> tuple[str, str]:
    """The mark and the style of a goal without a plan: only a failure is red."""
    return {DONE: (glyphs.done, "green"), NOT_YET: (glyphs.dot, "")}.get(status, (glyphs.failed, "red"))


def _plan_lines(view: GameView, height: int, glyphs: Glyphs) -> list[Text]:
    """The plan in PDDL with marks at its executed steps. A long plan is cut to the part around the next step."""
    lines: list[Text] = []
    for number, step in enumerate(view.planned.plan):
        mark = glyphs.done if number < view.executed else glyphs.current if number == view.executed else " "
        lines.append(Text(f"{mark} {clean(step.action)}"))
    if view.mismatch:
        lines.append(Text(f"! {clean(view.mismatch)}", "yellow"))
    if not lines and view.planned.tried:
        lines.append(Text("no plan", "red"))
    # The next steps matter more than the executed ones.
    first = max(0, min(view.executed - 1, len(lines) - height))
    return lines[first : first + height]


def plan_pane(view: GameView, glyphs: Glyphs, rows: int) -> Pane:
    """The pane of the plan; while an answer is streamed, that of the answer."""
    if _is_streaming(view):
        return words_pane(view, glyphs, rows)

    def plan(width: int, height: int) -> list[Text]:
        return fitted(_plan_lines(view, height, glyphs), width, height)

    return Pane(_plan_title(view, glyphs), plan, rows)


def goal_pane(view: GameView, glyphs: Glyphs, rows: int) -> Pane:
    """The pane of ladder and plan, for small screens; while an answer is streamed, that of the answer."""
    if _is_streaming(view):
        return words_pane(view, glyphs, rows)

    def goals(width: int, height: int) -> list[Text]:
        ladder = _ladder_lines(view, width, glyphs)
        return fitted([*ladder, *_plan_lines(view, max(1, height - len(ladder)), glyphs)], width, height)

    return Pane(f"goals and {_plan_title(view, glyphs)}", goals, rows)


def domain_pane(view: GameView, glyphs: Glyphs, rows: int | None = None) -> Pane:
    """The pane of the model's own domain with a line for each part; new parts are green."""
    parts = _domain_parts(view)
    lines = [Text(clean(part), "green" if part in view.domain_change.added else "") for part in parts]
    title = f"domain {glyphs.dot} {count(len(parts), 'part')}" if parts else "domain"
    return Pane(title, _fits(lines or [Text("nothing is written yet")]), rows)


def _domain_parts(view: GameView) -> list[str]:
    """The parts of the domain, with a line for each; empty for an invalid domain."""
    reading = read_domain(view.domain)
    invalid = any(defect.blocking for defect in reading.defects)
    return [] if invalid else list(domain_parts(reading.domain).values())


def problem_pane(view: GameView, glyphs: Glyphs) -> Pane:
    """The pane of all facts of the problem; new facts are green."""
    added = set(view.change.added)
    if view.arriving is not None:
        added = {str(fact) for fact in view.arriving.sorted_facts()} - set(view.problem.split("\n    "))
    text = view.problem if view.arriving is None else str(view.arriving)
    facts = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    styles = ["magenta" if fact in view.errors else "green" if fact in added else "" for fact in facts]
    lines = [*_error_lines(view), *(Text(clean(fact), style) for fact, style in zip(facts, styles, strict=True))]
    return Pane(f"problem {glyphs.dot} {count(len(facts), 'line')}" if facts else "problem", _fits(lines))


def _error_lines(view: GameView) -> list[Text]:
    """The facts of the problem that are not right, with their verdicts."""
    return [Text(f"{verdict}: {clean(fact)}", "bold magenta") for fact, verdict in view.errors.items()]


def log_pane(view: GameView, canvas: Canvas, rows: int | None = None) -> Pane:
    """The pane of the last commands and observations, the newest at the bottom and as many in full as fit."""
    waiting = [*_waiting_lines(view, canvas.now), *request_lines(view.trace, canvas.now)]

    def log(width: int, height: int) -> list[Text]:
        last = fitted(waiting, width, height)
        if not view.goals:
            last += streamed_lines(view.trace, width, height // 2)
        spare = height - len(last)
        newest = [with_words(event, view.trace) for event in view.log[::-1][: max(0, spare)]]
        needed = [len(_answer(event, width, height, canvas.glyphs)) for event in newest]
        heights = [min(_LINES_OF_NEWEST, lines, spare) if number == 0 else 1 for number, lines in enumerate(needed)]
        while sum(heights) > spare:
            heights.pop()
        for number, lines in enumerate(needed[: len(heights)]):
            heights[number] += min(lines - heights[number], spare - sum(heights))
        shown = [_answer(event, width, own, canvas.glyphs) for event, own in zip(newest, heights, strict=False)]
        return fitted([*(line for answer in reversed(shown) for line in answer), *last][-height:], width, height)

    return Pane("game", log, rows, shows_latest=True, page_rows=_PAGE_ANSWERS)


_PAGE_ANSWERS = 12
"""The last commands with their observations that a page shows."""


_LINES_OF_NEWEST = 4
"""Lines of the newest observation that take precedence over older observations."""


def _is_streaming(view: GameView) -> bool:
    """Whether a part of the pending answer has been received."""
    request = view.trace.request
    return request is not None and bool(request.text or request.reasoning)


def _waiting_lines(view: GameView, now: float) -> list[Text]:
    """A line about a pending activity, except requests to a model, if it takes at least a second."""
    passed = now - view.trace.seconds
    return [Text(f"   {view.waiting} … {passed:.0f} s", "cyan")] if view.waiting and passed >= 1 else []


def _answer(event: Observed, width: int, height: int, glyphs: Glyphs) -> list[Text]:
    """A command with its observation on at most `height` lines; all lines but the first are indented."""
    command = f"{event.step:>2} " + (f"{clean(event.command)} {glyphs.arrow} " if event.command is not None else "")
    text = " ".join(clean(event.read or event.text).split())
    rows = textwrap.wrap(command + text, width, subsequent_indent="   ", max_lines=height, placeholder="…") or [command]
    lines = [Text(row, "yellow" if event.refused else "") for row in rows]
    lines[0].stylize("bold", 0, min(len(command), len(rows[0])))
    return lines


def _plan_title(view: GameView, glyphs: Glyphs) -> str:
    return f"plan {glyphs.dot} {count(len(view.planned.plan), 'step')}" if view.planned.plan else "plan"


def _change(sign: str, fact: str, style: str) -> Text:
    return Text(f"{sign} {clean(fact)}", style)


def _problem_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    """The problem before and after the step in one list, with marks at removed and added objects and facts.

    Renamed objects are listed first, and count as unchanged.
    """
    view = GameView(step.after)
    if not view.problem:
        return [Text("no problem is known")]
    renamed = [pair for event in step.events if isinstance(event, Accepted) for pair in event.renamed]
    before, after = rename(problem_of(GameView(step.before)), Renaming(dict(renamed))), problem_of(view)
    lines = [Text(clean(f"{old} {glyphs.arrow} {new}"), "cyan") for old, new in renamed]
    if lines:
        lines.append(Text())
    for title, old, new in (
        ("objects", before.sorted_objects(), after.sorted_objects()),
        ("facts", before.sorted_facts(), after.sorted_facts()),
    ):
        lines.append(Text(title, "bold"))
        old_lines, new_lines = [str(line) for line in old], [str(line) for line in new]
        unchanged = set(old_lines) & set(new_lines)
        lines += [_change(glyphs.removed, line, "red") for line in old_lines if line not in unchanged]
        for line in new_lines:
            sign = glyphs.added if line not in unchanged else " "
            style = "magenta" if line in view.errors else "green" if line not in unchanged else ""
            lines.append(_change(sign, line, style))
    return [*_checked_lines(step), *lines]


def _checked_lines(step: Step) -> list[Text]:
    """The checks of the facts of the step's problems, including those of rejected answers."""
    lines: list[Text] = []
    for event in step.events:
        if isinstance(event, FactsChecked) and not event.unread:
            title = "rejected answer" if event.rejected else "facts checked"
            lines.append(
                Text(f"{title}: {sum(event.right.values())} right, {len(event.unknown)} not known yet", "bold")
            )
            lines += [
                Text(f"  {error.verdict} since step {error.since}: {clean(error.fact)}", "bold magenta")
                for error in event.errors
            ]
    return [*lines, Text()] if lines else []


def _domain_lines(step: Step, glyphs: Glyphs) -> list[Text]:
    """The domain before and after the step in one list, and the reasons why answers were rejected."""
    before, after = _domain_parts(GameView(step.before)), _domain_parts(GameView(step.after))
    lines = [Text(f"{glyphs.removed} {clean(line)}", "red") for line in before if line not in after]
    for line in after:
        new = line not in before
        lines.append(Text(f"{glyphs.added if new else ' '} {clean(line)}", "green" if new else ""))
    rejected = [event for event in step.events if isinstance(event, Rejected)]
    for event in rejected:
        lines += [Text(), Text(clean(f"{glyphs.failed} {event.feedback.message}"), "red")]
        lines += [Text(f"  {clean(line)}", "red") for line in event.feedback.evidence]
    return lines or [Text("nothing is written yet")]


def _ladder_lines_in_full(step: Step, glyphs: Glyphs) -> Iterator[Text]:
    """The goals that were tried in this step, with results and reasons, and the plan with its expected effects."""
    planned, view = [event for event in step.events if isinstance(event, Planned)], GameView(step.after)
    if not planned:
        yield Text("nothing was planned in this step")
        if view.planned.plan:
            yield Text(f"the plan for '{clean(view.planned.rung or '')}' goes on:")
            yield from _plan(view, glyphs)
        return
    for number, event in enumerate(planned):
        if number:
            yield Text()
        for rung in event.tried:
            mark, style = (glyphs.done, "green") if rung.name == event.rung else _mark(status_of(rung), glyphs)
            line = Text(f"{mark} {clean(rung.name)}", f"bold {style}")
            line.append(f"  {status_of(rung)}, {rung.seconds * 1000:.0f} ms")
            yield line
            if rung.message:
                yield Text(f"    {clean(rung.message)}")
        for name in view.goals[len(event.tried) :]:
            yield Text(f"  {clean(name)}").append("  not tried")
    yield Text()
    yield from _plan(view, glyphs)


def _plan(view: GameView, glyphs: Glyphs) -> Iterator[Text]:
    if not view.planned.plan:
        yield Text("no plan", "red")
        return
    yield Text(f"plan: {count(len(view.planned.plan), 'step')}", "bold")
    for number, step in enumerate(view.planned.plan):
        mark = glyphs.done if number < view.executed else glyphs.current if number == view.executed else " "
        line = Text(f"{mark} {clean(step.action)}")
        line.append(f"  {clean(step.command) or '(not sayable yet)'}", "cyan")
        yield line
        changes = [f"{glyphs.added} {change}" for change in step.added]
        changes += [f"{glyphs.removed} {change}" for change in step.removed]
        yield Text(f"    {clean('  '.join(changes))}")
    if view.mismatch:
        yield Text(f"! {clean(view.mismatch)}", "yellow")


_VERY_WIDE = 170

_SHORT = 5
"""Minimum number of lines of the map and of the goals."""


def panes(trace: Trace, canvas: Canvas) -> list[PaneColumn]:
    """The columns of the screen: map and game, goals and plan, problem and domain. Small screens have fewer panes."""
    view, width, height, glyphs = GameView(trace), canvas.width, canvas.height, canvas.glyphs
    if not view.goals:
        return [_scene(view, canvas, None) if view.sketched else PaneColumn([log_pane(view, canvas)])]
    if width >= _VERY_WIDE:
        left = _scene(view, canvas, canvas.share(45))
        return [left, _thoughts(view, canvas, canvas.share(27)), _files(view, canvas)]
    if canvas.is_wide:
        return [_scene(view, canvas, canvas.share(60)), _thoughts(view, canvas, None)]
    log = max(5, height // 5)
    middle = max(_SHORT, min(max(len(_goals_of(view)) + 4, height // 3), height - log - _SHORT))
    goals, changes = goal_pane(view, glyphs, middle), changes_pane(view, glyphs, middle)
    return [PaneColumn([map_pane(view, glyphs), (goals, changes), log_pane(view, canvas, log)])]


def _scene(view: GameView, canvas: Canvas, width: int | None) -> PaneColumn:
    """The column of the game: the map and the last observations."""
    return PaneColumn([map_pane(view, canvas.glyphs), log_pane(view, canvas, max(8, canvas.height // 3))], width)


def _thoughts(view: GameView, canvas: Canvas, width: int | None) -> PaneColumn:
    """The column of the agent: goals, plan, and the changes by the last answer."""
    glyphs, third = canvas.glyphs, canvas.height // 3
    plan = max(5, third if _is_streaming(view) else min(len(view.planned.plan) + 2, third))

    def goals(width: int, height: int) -> list[Text]:
        return fitted(_ladder_lines(view, width, glyphs), width, height)

    ladder = Pane("goal ladder", goals, len(_goals_of(view)) + 2)
    rules = [rules_pane(view.trace, glyphs, third)] if view.map_rule and has_rules(view.trace) else []
    return PaneColumn([ladder, plan_pane(view, glyphs, plan), *rules, changes_pane(view, glyphs)], width)


def _files(view: GameView, canvas: Canvas) -> PaneColumn:
    """The column of the problem, with the model's own domain unless the domain is shown in place of the map."""
    problem = problem_pane(view, canvas.glyphs)
    if not (view.writes_domain and view.has_map):
        return PaneColumn([problem])
    return PaneColumn([domain_pane(view, canvas.glyphs, canvas.height // 2), problem])


SCREEN = Screen(
    panes,
    (
        Tab("map", _map_lines, lambda trace: GameView(trace).has_map, _map_lines, _map_on_page),
        Tab("reading", reading_lines),
        Tab("rules", rules_lines, has_rules),
        Tab("problem", _problem_lines),
        Tab("domain", _domain_lines, lambda trace: GameView(trace).writes_domain),
        Tab("actions", actions_lines, learns_actions),
        Tab(
            "ladder",
            lambda step, glyphs: list(_ladder_lines_in_full(step, glyphs)),
            lambda trace: bool(GameView(trace).goals),
        ),
    ),
    lambda trace: parse_variant(trace.begun.mode, MODES).mode.name not in (*PLANNING, "human"),
    lambda trace: GameView(trace).planned.rung or "",
)
