"""Steps through an episode by key: forwards, backwards, and into every detail of a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from rich.console import Group, RenderableType
from rich.text import Text

from pddlego.display.details import ladder_lines_in_full, problem_lines, request_lines, text_panel, wrapped
from pddlego.display.frames import Film, Frame
from pddlego.display.panels import header, result_line
from pddlego.display.screen import screen
from pddlego.display.text import Glyphs, clean

TABS = ("overview", "problem", "ladder", "request")

KEYS = (("←→", "step"), ("tab", "view"), ("↑↓", "scroll"), ("q", "quit"))
"""Keys with what they do, as shown."""

ASCII_KEYS = {"←→": "left/right", "↑↓": "up/down"}


@dataclass(frozen=True)
class Place:
    """Where somebody is in an episode: the number of the frame, the view of it, how far it is scrolled.

    `following` means that the newest frame is shown, whatever its number.
    """

    frame: int = 0
    tab: int = 0
    scroll: int = 0
    following: bool = False


def moved(place: Place, key: str, frames: int, page: int = 10) -> Place:
    """The place after a key."""
    last = max(0, frames - 1)
    current = last if place.following else place.frame
    if key in ("right", "l", "n", "space"):
        return replace(place, frame=min(last, current + 1), scroll=0, following=place.following and current == last)
    if key in ("left", "h", "p", "backspace"):
        return replace(place, frame=max(0, current - 1), scroll=0, following=False)
    if key == "home":
        return replace(place, frame=0, scroll=0, following=False)
    if key == "end":
        return replace(place, frame=last, scroll=0)
    if key in ("tab", "backtab"):
        step = 1 if key == "tab" else -1
        return replace(place, tab=(place.tab + step) % len(TABS), scroll=0)
    if key in ("1", "2", "3", "4"):
        return replace(place, tab=int(key) - 1, scroll=0)
    scrolls = {"down": 1, "j": 1, "up": -1, "k": -1, "pagedown": page, "pageup": -page}
    if key in scrolls:
        return replace(place, scroll=max(0, place.scroll + scrolls[key]))
    return place


def keys_line(keys: tuple[tuple[str, str], ...], glyphs: Glyphs) -> Text:
    """The keys, on one line."""
    line = Text(no_wrap=True, overflow="ellipsis")
    for key, what in keys:
        shown = key if glyphs.across == "─" else ASCII_KEYS.get(key, key)
        line.append(f" {shown} ", "reverse").append(f" {what}  ", "dim")
    return line


def tabs_line(tab: int) -> Text:
    """The views of a step, with the one that is shown."""
    line = Text(no_wrap=True, overflow="ellipsis")
    for number, name in enumerate(TABS):
        line.append(f"{number + 1} {name}", "bold underline" if number == tab else "dim").append("   ")
    return line


def frame_picture(
    frame: Frame, tab: int, scroll: int, width: int, height: int, glyphs: Glyphs, now: float | None = None
) -> RenderableType:
    """One view of a step, at most `height` lines high: a pure function of the folded events and of what time it is.

    Without `now` it is the time of the step's last event.
    """
    view = frame.after
    now = view.seconds if now is None else now
    if TABS[tab] == "overview":
        return screen(view, width, height, now, glyphs)
    title = {"problem": "problem: before and after this step", "ladder": "goal ladder and plan", "request": "requests"}
    body = text_panel(_lines(frame, tab, glyphs), title[TABS[tab]], width, height - 3, scroll)
    return Group(header(view, now, glyphs, width), _said(frame, glyphs), body, result_line(view))


def _lines(frame: Frame, tab: int, glyphs: Glyphs) -> list[Text]:
    """What a view of a step lists; the overview lists nothing."""
    lists: dict[str, Callable[[], list[Text]]] = {
        "problem": lambda: problem_lines(frame, glyphs),
        "ladder": lambda: list(ladder_lines_in_full(frame, glyphs)),
        "request": lambda: list(request_lines(frame, glyphs)),
    }
    return lists[TABS[tab]]() if TABS[tab] in lists else []


def furthest(frame: Frame, tab: int, width: int, height: int, glyphs: Glyphs) -> int:
    """How far a view of this size can be scrolled."""
    return max(0, len(wrapped(_lines(frame, tab, glyphs), width - 4)) - (height - 5))


def _said(frame: Frame, glyphs: Glyphs) -> Text:
    """The command of a step and what the game answered, on one line."""
    event = frame.after.log[-1] if frame.after.log else None
    if event is None:
        return Text()
    command = f"{clean(event.command)} {glyphs.arrow} " if event.command is not None else ""
    said = " ".join(clean(event.read or event.text).split())
    line = Text(f"{event.step:>2} {command}{said}", "yellow" if event.refused else "")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


@dataclass
class Show:
    """`pddlego show`: an `App` over the frames of an episode. `poll` looks for more of them.

    `waited` says how many seconds ago the last event was, for the clock of an episode that is under way.
    """

    film: Film
    glyphs: Glyphs
    place: Place = field(default_factory=Place)
    poll: Callable[[], bool] = lambda: False
    waited: Callable[[], float] = lambda: 0.0
    keys: tuple[tuple[str, str], ...] = KEYS

    def picture(self, width: int, height: int) -> RenderableType:
        if not self.film.frames:
            return Text("The episode has not begun.", "dim")
        last = len(self.film.frames) - 1
        number = last if self.place.following else min(self.place.frame, last)
        frame = self.film.frames[number]
        head = tabs_line(self.place.tab).append(f"step {frame.step} of {self.film.frames[last].step}", "bold cyan")
        most = furthest(frame, self.place.tab, width, height - 2, self.glyphs)
        self.place = replace(self.place, scroll=min(self.place.scroll, most))
        under_way = number == last and bool(frame.after.asking) and frame.after.ended is None
        now = frame.after.seconds + (self.waited() if under_way else 0.0)
        body = frame_picture(frame, self.place.tab, self.place.scroll, width, height - 2, self.glyphs, now)
        return Group(head, body, keys_line(self.keys, self.glyphs))

    def press(self, key: str) -> bool:
        self.place = moved(self.place, key, len(self.film.frames))
        return key not in ("q", "escape")

    def tick(self) -> bool:
        return self.poll()
