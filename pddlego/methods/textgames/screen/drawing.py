"""The map of a text game as an SVG picture for pages, from the same geometry as the map in letters."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from pddlego.display.shapes import BOX, LETTERS, PITCH, box, group, opening, text
from pddlego.episode.events import Accepted
from pddlego.methods.textgames.events import GameRead, Observed, Planned, PlannedStep, Resumed
from pddlego.methods.textgames.screen.map import DrawnHouse, DrawnRoom, window, words_of
from pddlego.methods.textgames.screen.view import GameView
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import from_name, same_name
from pddlego.util.text import clean, count

_GAP = 24
"""The pixels between the grid and the rooms without a place on it."""

_MOST, _LISTED, _COLUMNS = 12, 48, 4
"""How many columns and rows of the grid, and how many rooms without a place on it, are drawn; columns of the latter."""


@dataclass(frozen=True)
class _Journey:
    """The step `since` which each fact is known, the rooms on the `way` so far, and those on the way `ahead`."""

    since: Mapping[str, int]
    way: Sequence[str]
    ahead: Sequence[str]


def map_parts(view: GameView, house: DrawnHouse, rule: MapRule) -> list[str]:
    """The parts of the picture, most of which are the same in the next step. Texts of the game are escaped."""
    journey, (middles, drawn) = _journey(view, rule), _placed(house)
    if not drawn:
        return []
    facts = _facts_of(journey.since, view.errors, middles)
    return [
        opening(middles.values(), f"map of {count(len(drawn), 'place')}"),
        _route("way", "the way so far", journey.way if rule.exit else journey.way[-2:], middles),
        *_exits(house, middles),
        _route("ahead", "the way of the plan", journey.ahead and [*journey.way[-1:], *journey.ahead], middles),
        *_errors(view.errors, rule, middles),
        *(_room(room, middles[room.name], facts[room.name], room.name in journey.ahead[-1:]) for room in drawn),
        "</svg>",
    ]


def hidden_rooms(house: DrawnHouse) -> int:
    """The number of rooms for which the picture has no room."""
    return len(house.rooms) + len(house.elsewhere) - len(_placed(house)[1])


def _journey(view: GameView, rule: MapRule) -> _Journey:
    since, way, number, plan = dict[str, int](), list[str](), 0, list[PlannedStep]()
    for event in view.trace.events:
        if isinstance(event, Planned):
            plan = [*event.plan]
            continue
        if isinstance(event, Accepted) and event.kind == "problem":
            names = dict(event.renamed)
            since = {_renamed(fact, names): step for fact, step in since.items()} if names else since
            way = [names.get(room, room) for room in way]
            facts = _facts_in(event.text)
        elif isinstance(event, (Resumed, GameRead)):
            facts = _facts_in(event.problem if isinstance(event, GameRead) else event.corrected or event.before)
        elif isinstance(event, Observed) and not event.free:
            number = event.step
            done = plan.pop(0) if plan and same_name(plan[0].command, event.command or "") else None
            if done is None or event.mismatch or event.refused:
                continue
            facts = (set(since) - {*done.removed}) | {*done.added}
        else:
            continue
        since = {fact: since.get(fact, number) for fact in sorted(facts)}
        way += [room for room in _rooms_in(since, rule) if room not in way[-1:]]
    rest = () if view.mismatch else view.planned.plan[view.executed :]
    return _Journey(since, way, [room for step in rest for room in _rooms_in(step.added, rule)])


def _facts_in(problem: str) -> set[str]:
    """The lines of a printed problem that may be facts."""
    return {line.strip() for line in problem.splitlines() if line.startswith("    (")}


def _rooms_in(facts: Iterable[str], rule: MapRule) -> list[str]:
    """The rooms that the facts say the agent is in."""
    return [words_of(fact)[0] for fact in facts if fact.startswith(f"({rule.here} ") and words_of(fact)]


def _renamed(fact: str, names: Mapping[str, str]) -> str:
    return re.sub(r"[^\s()]+", lambda word: names.get(word[0], word[0]), fact) if names else fact


def _placed(house: DrawnHouse) -> tuple[Mapping[str, tuple[int, int]], Sequence[DrawnRoom]]:
    """The middles of the rooms that are drawn, and these rooms. Those without a place on the grid are below it."""
    columns, rows = window(house, 8 * _MOST - 3, 2 * _MOST)
    across, down = PITCH
    middles = {room.name: (x * across, y * down) for (x, y), room in house.rooms.items() if x in columns and y in rows}
    listed = sorted(house.elsewhere, key=lambda room: not room.here)[:_LISTED]
    left, top = (columns[0] * across, (rows[-1] + 1) * down + _GAP) if middles else (0, 0)
    for number, room in enumerate(room for room in house.elsewhere if room in listed):
        middles[room.name] = (left + number % _COLUMNS * across, top + number // _COLUMNS * down)
    return middles, [room for room in (*house.rooms.values(), *house.elsewhere) if room.name in middles]


def _facts_of(since: Mapping[str, int], errors: Mapping[str, str], rooms: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """The errors and the facts about each room, with the steps since which these are known."""
    about: dict[str, list[str]] = {room: [] for room in rooms}
    lines = [(fact, f"{verdict}: {fact}") for fact, verdict in errors.items()]
    lines += [(fact, f"{fact} since step {step}") for fact, step in since.items() if fact not in errors]
    for fact, line in lines:
        for room in dict.fromkeys(words_of(fact)):
            if room in about:
                about[room].append(line)
    return about


def _exits(house: DrawnHouse, middles: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """The exits between neighbours as lines with their doors, and the others as curves."""
    for places, closed in house.exits.items():
        first, second = (house.rooms[place].name for place in places)
        if first in middles and second in middles:
            title = f"{from_name(first)} to {from_name(second)}{': a closed door' if closed else ''}"
            (x, y), (u, v) = middles[first], middles[second]
            door = f'<path class="door" d="{_bar((x + u) // 2, (y + v) // 2, y == v)}"/>' if closed else ""
            yield group("exit", title, f'<path d="M{x} {y}L{u} {v}"/>{door}')
    for first, second in house.far:
        if first in middles and second in middles:
            (x, y), (u, v) = middles[first], middles[second]
            bend = f"{(x + u) // 2 + (v - y) // 4} {(y + v) // 2 + (x - u) // 4}"
            title = f"{from_name(first)} to {from_name(second)}, which are not side by side here"
            yield group("exit far", title, f'<path d="M{x} {y}Q{bend} {u} {v}"/>')


def _bar(x: int, y: int, upright: bool) -> str:
    """A bar across a way: a closed door."""
    return f"M{x} {y - 9}V{y + 9}" if upright else f"M{x - 9} {y}H{x + 9}"


def _errors(errors: Mapping[str, str], rule: MapRule, middles: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """Wrong and missing exits between rooms of the picture."""
    for fact, verdict in errors.items():
        ends = [middles[word] for word in words_of(fact)[:2] if word in middles]
        if rule.exit and fact.startswith(f"({rule.exit} ") and len(ends) == 2:
            (x, y), (u, v) = ends
            sign = text("+" if verdict == "missing" else "×", (2 * x + u) // 3 + 8, (2 * y + v) // 3 - 6, "sign")
            yield group(f"error {escape(verdict)}", f"{verdict}: {fact}", f'<path d="M{x} {y}L{u} {v}"/>{sign}')


def _route(kind: str, title: str, rooms: Sequence[str], middles: Mapping[str, tuple[int, int]]) -> str:
    points = [middles[room] for room in rooms if room in middles]
    path = "L".join(f"{x} {y}" for x, y in points)
    return group(kind, title, f'<path d="M{path}"/>') if len(points) > 1 else ""


def _room(room: DrawnRoom, middle: tuple[int, int], facts: Sequence[str], goal: bool) -> str:
    """A room with its name and things, and with all that is known about it as its text alternative."""
    x, y = middle[0] - BOX[0] // 2, middle[1] - BOX[1] // 2
    states = {"here": room.here, "new": not room.visited, "doubtful": room.doubtful, "goal": goal}
    words = {"here": "the agent is here", "new": "unexplored", "doubtful": "not right", "goal": "the plan leads here"}
    kinds = [name for name, holds in states.items() if holds]
    name = clean(from_name(room.name))
    title = "\n".join((", ".join((name, *(words[kind] for kind in kinds))), *facts))
    lines = textwrap.wrap(name, LETTERS, max_lines=2, placeholder="…") or ["?"]
    things = [clean(from_name(thing)) for thing in room.things]
    label = f"◆ {things[0]}" if len(things) == 1 else f"◆ {count(len(things), 'thing')}"
    rows = [(line, "name") for line in lines] + ([(label, "thing")] if things else [])
    right, bottom = x + BOX[0] - 9, y + BOX[1] - 5
    signs = {"here": ("●", x + 8, y + 10), "new": ("?", right, y + 14), "goal": ("▶", x + 8, y + 10)}
    signs["doubtful"] = "!", right, bottom
    marks = "".join(text(*signs[kind], f"mark {kind}") for kind in kinds)
    return box(kinds, title, rows, middle, marks)
