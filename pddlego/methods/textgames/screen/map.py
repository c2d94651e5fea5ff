"""Draws the map of the known rooms from the facts of the problem, with the predicates of the setting's map rule."""

from __future__ import annotations

import textwrap
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.text import Text

from pddlego.display.console import Glyphs
from pddlego.methods.textgames.settings import MapRule
from pddlego.pddl import Atom, Problem, from_name
from pddlego.util.text import clean, natural

GridPlace = tuple[int, int]


@dataclass(frozen=True)
class DrawnRoom:
    """A room of the map with the things in it. `doubtful`: a fact about the room is not right."""

    name: str
    here: bool
    visited: bool
    things: tuple[str, ...] = ()
    doubtful: bool = False


@dataclass(frozen=True)
class DrawnHouse:
    """Rooms on a grid (x to the right, y down), exits between them (True: a closed door), and things in hand (`held`).

    `elsewhere` are the rooms without a place on the grid, and `far` the exits between rooms that are not neighbours on
    it, which only pictures show.
    """

    rooms: Mapping[GridPlace, DrawnRoom]
    exits: Mapping[tuple[GridPlace, GridPlace], bool]
    elsewhere: tuple[DrawnRoom, ...] = ()
    held: tuple[str, ...] = ()
    far: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Ingredient:
    """A thing of the recipe with its place (empty: not found yet). Finished preparations are True."""

    name: str
    held: bool
    place: str
    preparations: Mapping[str, bool]

    @property
    def ready(self) -> bool:
        return self.held and all(self.preparations.values())


def recipe_of(problem: Problem, rule: MapRule) -> list[Ingredient]:
    """The known ingredients of the recipe with their states."""
    facts = problem.sorted_facts()
    held = {fact.args[0] for fact in facts if fact.predicate == rule.holding and fact.args}
    places = {fact.args[0]: fact.args[1] for fact in facts if fact.predicate == rule.things and len(fact.args) == 2}
    done = {fact.args for fact in facts if fact.predicate == rule.done}
    wanted: dict[str, dict[str, bool]] = {}
    for fact in facts:
        if rule.wanted and fact.predicate == rule.wanted and len(fact.args) == 2:
            wanted.setdefault(fact.args[0], {})[fact.args[1]] = fact.args in done
    needed = [fact.args[0] for fact in facts if rule.needed and fact.predicate == rule.needed and fact.args]
    return [Ingredient(name, name in held, places.get(name, ""), wanted.get(name, {})) for name in needed]


def words_of(fact: str) -> list[str]:
    """The arguments of a fact."""
    return fact.strip("()").split()[1:]


def house_of(problem: Problem, rule: MapRule, doubtful: Collection[str] = ()) -> DrawnHouse:
    """Place the known rooms on a grid, and mark the `doubtful` ones."""
    rooms = {name: replace(room, doubtful=name in doubtful) for name, room in _rooms(problem, rule).items()}
    exits = [fact for fact in problem.sorted_facts() if fact.predicate == rule.exit and len(fact.args) == 3]
    closed = {frozenset(fact.args) for fact in problem.facts if fact.predicate == rule.closed}
    places = _place(rooms, exits, rule.directions) if rule.exit else {}
    placed = {places[name]: room for name, room in rooms.items() if name in places}
    drawn, far = dict[tuple[GridPlace, GridPlace], bool](), dict[tuple[str, str], None]()
    for exit_ in exits:
        start, end = (places.get(name) for name in exit_.args[:2])
        if start is not None and end is not None and abs(start[0] - end[0]) + abs(start[1] - end[1]) == 1:
            drawn[min(start, end), max(start, end)] = frozenset(exit_.args[:2]) in closed
        elif rule.exit:
            far[min(exit_.args[:2]), max(exit_.args[:2])] = None
    held = tuple(fact.args[0] for fact in problem.sorted_facts() if fact.predicate == rule.holding and fact.args)
    elsewhere = tuple(room for name, room in rooms.items() if name not in places)
    return DrawnHouse(placed, drawn, elsewhere, held, tuple(far))


def draw_map(house: DrawnHouse, width: int, height: int, glyphs: Glyphs) -> Text:
    """The map as text of at most `width` x `height`; only the part around the agent if the whole map does not fit."""
    if not house.rooms:
        return _list(house, width, height, glyphs)
    return _Drawing(house, width, height, glyphs).picture()


def fits(house: DrawnHouse, width: int, height: int, glyphs: Glyphs) -> bool:
    """Whether `draw_map` shows every room."""
    if not house.rooms:
        lines = _lines(house, width, glyphs)
        return len(lines) <= height and all(line.cell_len <= width for line in lines)
    columns, rows = window(house, width, height)
    return all(x in columns and y in rows for x, y in house.rooms)


def _lines(house: DrawnHouse, width: int, glyphs: Glyphs) -> list[Text]:
    """Rooms without a grid: a line for the agent's room and for each room with things, and the names of the others."""
    lines, others = list[Text](), {True: list[str](), False: list[str]()}
    for room in sorted(house.elsewhere, key=lambda room: not room.here):
        if room.here or room.things:
            style = "bold reverse" if room.here else _style(room)
            things = ", ".join(clean(from_name(thing)) for thing in room.things)
            lines.append(
                Text.assemble((_label(replace(room, things=()), glyphs), style), f": {things}" if things else "")
            )
        else:
            others[room.visited].append(clean(from_name(room.name)))
    titles = (("nothing seen there", others[True]), (f"{glyphs.unknown} unexplored", others[False]))
    wrapped = (textwrap.wrap(f"{title}: {', '.join(names)}", max(10, width)) for title, names in titles if names)
    return [*lines, *(Text(line) for part in wrapped for line in part)]


def _list(house: DrawnHouse, width: int, height: int, glyphs: Glyphs) -> Text:
    lines = _lines(house, width, glyphs) or [Text("nothing is known yet")]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return Text("\n", no_wrap=True).join(lines[:height])


def _rooms(problem: Problem, rule: MapRule) -> dict[str, DrawnRoom]:
    def args_of(predicate: str) -> list[tuple[str, ...]]:
        return [fact.args for fact in problem.sorted_facts() if fact.predicate == predicate]

    here = {args[0] for args in args_of(rule.here) if args}
    visited = {args[0] for args in args_of(rule.visited) if args}
    things: dict[str, list[str]] = {}
    for args in args_of(rule.things):
        if len(args) == 2:
            things.setdefault(args[1], []).append(args[0])
    # A room may be a constant of the domain: then it is not an object of the problem.
    known = {obj.name for obj in problem.objects if obj.type == rule.room}
    names = sorted(known | here | visited | {room for args in args_of(rule.exit) for room in args[:2]}, key=natural)
    return {name: DrawnRoom(name, name in here, name in visited, tuple(things.get(name, ()))) for name in names}


def _place(
    rooms: Mapping[str, DrawnRoom], exits: Iterable[Atom], directions: Mapping[str, GridPlace]
) -> dict[str, GridPlace]:
    """The places of rooms on the grid, found breadth-first along the exits. The first room at a place keeps it.

    The search starts at the room with most exits, so that the map does not jump when the agent moves. If the rooms do
    not fit on a grid and the agent's room gets no place, the search starts at the agent's room instead.
    """
    around: dict[str, list[tuple[str, str]]] = {}
    for fact in exits:
        around.setdefault(fact.args[0], []).append((fact.args[1], fact.args[2]))
    if not rooms:
        return {}
    places = _walked(max(rooms, key=lambda name: (len(around.get(name, ())), name)), rooms, around, directions)
    here = next((name for name, room in rooms.items() if room.here), None)
    return places if here is None or here in places else _walked(here, rooms, around, directions)


def _walked(
    start: str,
    rooms: Collection[str],
    around: Mapping[str, Sequence[tuple[str, str]]],
    directions: Mapping[str, GridPlace],
) -> dict[str, GridPlace]:
    places: dict[str, GridPlace] = {start: (0, 0)}
    taken = {(0, 0)}
    waiting = deque([start])
    while waiting:
        name = waiting.popleft()
        x, y = places[name]
        for other, direction in around.get(name, ()):
            dx, dy = directions.get(direction, (0, 0))
            place = (x + dx, y + dy)
            if other not in places and place not in taken and other in rooms:
                places[other] = place
                taken.add(place)
                waiting.append(other)
    return places


def _label(room: DrawnRoom, glyphs: Glyphs, name: str | None = None) -> str:
    shown = clean(from_name(room.name)) if name is None else name
    mark = glyphs.here + " " if room.here else ""
    tail = (" " + glyphs.thing if room.things else "") + ("" if room.visited else " " + glyphs.unknown)
    return mark + shown + tail


def _around(low: int, high: int, here: int, most: int) -> list[int]:
    """At most `most` successive numbers from `low` to `high`, with `here` as near to the middle as possible."""
    while high - low + 1 > most:
        if here - low > high - here:
            low += 1
        else:
            high -= 1
    return list(range(low, high + 1))


def window(house: DrawnHouse, width: int, height: int) -> tuple[list[int], list[int]]:
    """The columns and rows of the grid that are shown."""
    if not house.rooms:
        return [], []
    lines = height - bool(house.elsewhere)
    xs, ys = {x for x, _ in house.rooms}, {y for _, y in house.rooms}
    here = next((place for place, room in house.rooms.items() if room.here), (0, 0))
    columns = _around(min(xs), max(xs), here[0], max(1, (width + 3) // 8))
    return columns, _around(min(ys), max(ys), here[1], max(1, (lines + 1) // 2))


def _style(room: DrawnRoom) -> str:
    if room.doubtful:
        return "bold magenta"
    return "bold yellow" if room.things else ""


class _Drawing:
    """A drawing of a house: cells of equal width, links between them, and gaps between the rows that fit the height."""

    def __init__(self, house: DrawnHouse, width: int, height: int, glyphs: Glyphs) -> None:
        self.house, self.glyphs = house, glyphs
        lines = height - bool(house.elsewhere)
        self.columns, self.rows = window(house, width, height)
        longest = max(len(_label(room, glyphs)) for room in house.rooms.values())
        self.cell = max(5, min(longest, (width + 3) // len(self.columns) - 3))
        spare = width - len(self.columns) * self.cell
        self.link = max(3, min(17, spare // max(1, len(self.columns) - 1)) // 2 * 2 - 1)
        self.gap = next((gap for gap in (5, 3) if len(self.rows) * (gap + 1) - gap <= lines), 1)

    def picture(self) -> Text:
        lines: list[Text] = []
        for y in self.rows:
            lines.append(self._row(y))
            if y != self.rows[-1]:
                lines += [self._between(y, middle=number == self.gap // 2) for number in range(self.gap)]
        if self.house.elsewhere:
            names = ", ".join(clean(from_name(room.name)) for room in self.house.elsewhere)
            lines.append(Text(f"elsewhere: {names}"))
        return Text("\n", no_wrap=True).join(lines)

    def _row(self, y: int) -> Text:
        line = Text()
        for x in self.columns:
            room = self.house.rooms.get((x, y))
            west, east = ((x - 1, y), (x, y)) in self.house.exits, ((x, y), (x + 1, y)) in self.house.exits
            line.append_text(self._room(room, west, east) if room else Text(" " * self.cell))
            if x != self.columns[-1]:
                line.append_text(self._link(self.house.exits.get(((x, y), (x + 1, y)))))
        line.rstrip()
        return line

    def _room(self, room: DrawnRoom, west: bool, east: bool) -> Text:
        label = _label(room, self.glyphs)
        if len(label) > self.cell:
            # The name is shortened, because the glyphs after it matter more than its end.
            name = clean(from_name(room.name))
            label = _label(room, self.glyphs, name[: max(1, self.cell - (len(label) - len(name)) - 1)] + "…")[
                : self.cell
            ]
        style = "bold reverse" if room.here else _style(room)
        before = (self.cell - len(label)) // 2
        after = self.cell - len(label) - before
        line = Text()
        line.append(self._filled(before, west, inner_first=False))
        line.append(label, style=style)
        line.append(self._filled(after, east, inner_first=True))
        return line

    def _filled(self, width: int, exit_: bool, inner_first: bool) -> str:
        """The space beside a name, drawn as a way if there is an exit, except for one blank next to the name."""
        if not exit_ or width == 0:
            return " " * width
        way = self.glyphs.across * (width - 1)
        return " " + way if inner_first else way + " "

    def _link(self, closed: bool | None) -> Text:
        if closed is None:
            return Text(" " * self.link)
        side = self.glyphs.across * (self.link // 2)
        middle = self.glyphs.across_door if closed else self.glyphs.across
        return Text.assemble(side, (middle, "red" if closed else ""), side)

    def _between(self, y: int, middle: bool) -> Text:
        line = Text()
        for x in self.columns:
            closed = self.house.exits.get(((x, y), (x, y + 1)))
            door = bool(closed) and middle
            sign = " " if closed is None else self.glyphs.down_door if door else self.glyphs.down
            before = (self.cell - 1) // 2
            line.append(" " * before)
            line.append(sign, style="red" if door else "")
            line.append(" " * (self.cell - 1 - before + (self.link if x != self.columns[-1] else 0)))
        line.rstrip()
        return line
