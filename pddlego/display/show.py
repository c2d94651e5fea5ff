"""Steps through an episode by key: forwards, backwards, and into every detail of a step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from rich.console import Group, RenderableType
from rich.text import Text

from pddlego.display.app import MOVES
from pddlego.display.console import Glyphs
from pddlego.display.description import Describer, blamed
from pddlego.display.frames import Frame, Timeline
from pddlego.display.screens import Renderer, Size, Tab, header, result_rows, text_panel, whole, wrapped
from pddlego.display.view import View
from pddlego.episode.events import Answered, Asked, Event, Judged, Rejected, Retrying
from pddlego.util.text import clean

_CONVERSATION: tuple[type[Event], ...] = (Asked, Answered, Retrying, Rejected, Judged)
"""What is said between us, a model and a person."""

KEYS = (("←→", "step"), ("tab", "view"), ("↑↓", "scroll"), ("q", "quit"))
"""Keys with what they do, as shown."""

_ASCII_KEYS = {"←→": "left/right", "↑↓": "up/down"}


@dataclass(frozen=True)
class ShownPlace:
    """The position of a viewer in an episode: the number of the frame, the view of it, how far it is scrolled.

    `following` means that the newest frame is shown, whatever its number.
    """

    frame: int = 0
    tab: int = 0
    scroll: int = 0
    following: bool = False


def moved(place: ShownPlace, key: str, frames: int, tabs: int) -> ShownPlace:
    """The place after a key, in an episode with so many frames and views of each."""
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
        return replace(place, tab=(place.tab + step) % tabs, scroll=0)
    if key.isdigit() and 0 < int(key) <= tabs:
        return replace(place, tab=int(key) - 1, scroll=0)
    return replace(place, scroll=max(0, place.scroll + MOVES.get(key, 0)))


def keys_line(keys: tuple[tuple[str, str], ...], glyphs: Glyphs) -> Text:
    """The keys, on one line."""
    line = Text(no_wrap=True, overflow="ellipsis")
    for key, what in keys:
        shown = key if glyphs.across == "─" else _ASCII_KEYS.get(key, key)
        line.append(f" {shown} ", "reverse").append(f" {what}  ", "dim")
    return line


def _tabs_of(picture: Renderer, view: View) -> tuple[Tab | None, ...]:
    """The views of a step of an episode: the picture first, which lists nothing; the requests last."""
    requests = Tab("request", "requests", lambda frame, glyphs: request_lines(frame, picture.describe, glyphs))
    return (None, *(tab for tab in picture.screen.tabs if tab.fits(view)), requests)


def _tabs_line(tabs: tuple[Tab | None, ...], chosen: int) -> Text:
    """The views of a step, with the one that is shown."""
    line = Text(no_wrap=True, overflow="ellipsis")
    for number, tab in enumerate(tabs):
        name = tab.name if tab else "overview"
        line.append(f"{number + 1} {name}", "bold underline" if number == chosen else "dim").append("   ")
    return line


def frame_picture(
    picture: Renderer, frame: Frame, place: ShownPlace, size: Size, glyphs: Glyphs, now: float | None = None
) -> RenderableType:
    """One view of a step, at most so high: a pure function of the folded events and of what time it is.

    Without `now` it is the time of the step's last event.
    """
    view = frame.after
    now = view.seconds if now is None else now
    tab = _tabs_of(picture, frame.after)[place.tab]
    if tab is None:
        return whole(picture.screen, view, size.width, size.height, now, glyphs)
    result = result_rows(view, size.width)
    height = size.height - 2 - len(result)
    body = text_panel(list(tab.lines(frame, glyphs)), tab.title, size.width, height, place.scroll)
    return Group(header(view, now, glyphs, size.width), _done(picture, frame, glyphs), body, *result)


def request_lines(frame: Frame, describe: Describer, glyphs: Glyphs) -> list[Text]:
    """The exact requests and answers of the step, with what became of them."""
    lines: list[Text] = []
    answer: list[Text] = []
    for event in frame.events:
        if isinstance(event, _CONVERSATION):
            description = describe(event, glyphs)
            shown = [Text(clean(line.text), line.style) for line in (description.title, *description.body)]
            if isinstance(event, Rejected):
                _mark(answer, blamed(event))
            answer = shown[1:] if isinstance(event, Answered) else answer
            lines += shown
    return lines or [Text("no request in this step", "dim")]


def _mark(answer: Sequence[Text], blamed: Collection[str]) -> None:
    """Mark in an answer that was rejected what was wrong in it."""
    for line in answer:
        for text in blamed:
            start = line.plain.find(text)
            if start >= 0:
                line.stylize("bold red reverse", start, start + len(text))


def furthest(picture: Renderer, frame: Frame, place: ShownPlace, size: Size, glyphs: Glyphs) -> int:
    """How far a view of this size can be scrolled."""
    tab = _tabs_of(picture, frame.after)[place.tab]
    lines = list(tab.lines(frame, glyphs)) if tab else []
    room = size.height - 4 - len(result_rows(frame.after, size.width))
    return max(0, len(wrapped(lines, size.width - 4)) - room)


def _done(picture: Renderer, frame: Frame, glyphs: Glyphs) -> Text:
    """What was done in a step, on one line."""
    brief = picture.describe(frame.done, glyphs).brief if frame.done else ()
    line = Text(" ".join(clean(brief[0].text).split()) if brief else "", brief[0].style if brief else "")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


@dataclass
class Show:
    """`pddlego show`: an `App` over the frames of an episode. `poll` looks for more of them.

    `waited` says how many seconds ago the last event was, for the clock of an episode that is under way.
    """

    film: Timeline
    shown: Renderer
    glyphs: Glyphs
    place: ShownPlace = field(default_factory=ShownPlace)
    poll: Callable[[], bool] = lambda: False
    waited: Callable[[], float] = lambda: 0.0
    keys: tuple[tuple[str, str], ...] = KEYS

    def picture(self, width: int, height: int) -> RenderableType:
        if not self.film.frames:
            return Text("The episode has not begun.", "dim")
        last = len(self.film.frames) - 1
        number = last if self.place.following else min(self.place.frame, last)
        frame = self.film.frames[number]
        tabs, size = _tabs_of(self.shown, frame.after), Size(width, height - 2)
        head = _tabs_line(tabs, self.place.tab)
        head.append(f"step {frame.step} of {self.film.frames[last].step}", "bold cyan")
        most = furthest(self.shown, frame, self.place, size, self.glyphs)
        self.place = replace(self.place, scroll=min(self.place.scroll, most))
        under_way = number == last and frame.after.request is not None
        now = frame.after.seconds + (self.waited() if under_way else 0.0)
        body = frame_picture(self.shown, frame, self.place, size, self.glyphs, now)
        return Group(head, body, keys_line(self.keys, self.glyphs))

    def press(self, key: str) -> bool:
        self.place = moved(self.place, key, len(self.film.frames), len(_tabs_of(self.shown, self.film.view)))
        return key not in ("q", "escape")

    def tick(self) -> bool:
        return self.poll()
