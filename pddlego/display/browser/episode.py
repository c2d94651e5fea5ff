"""An episode step by step: what happened, what the model was asked and answered, and what it made of that."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer, Input, OptionList, Static, TabbedContent, TabPane
from textual.widgets.option_list import Option

from pddlego.display.console import Glyphs
from pddlego.display.description import Describer, blamed
from pddlego.display.frames import Frame, Timeline
from pddlego.display.screens import Renderer, RendererOf, Tab, header, is_large, whole
from pddlego.episode.events import Answered, Asked, Event, Judged, Rejected, Retrying, Started
from pddlego.errors import JournalError, PddlegoError
from pddlego.runs.journal import Codec
from pddlego.runs.tail import JournalTail
from pddlego.util.text import clean

Timed = tuple[Event, float]
"""An event, and the seconds since the episode began."""


@dataclass(frozen=True)
class Sources:
    """What the browser shows episodes with. `check` adds what is true of a recorded episode's facts."""

    codec: Codec
    renderer_of: RendererOf
    glyphs: Glyphs
    check: Callable[[Path], Sequence[Timed]]


class OpenEpisode:
    """An episode whose journal is read whole, and followed while it grows."""

    def __init__(self, path: Path, sources: Sources) -> None:
        self.path, self.sources = path, sources
        self.fault = ""
        self.checked = False
        self._tail = JournalTail(path, sources.codec)
        self._read_at = time.monotonic()
        self._load(())
        self.poll()

    def _load(self, timed: Iterable[Timed]) -> None:
        events = list(timed)
        method = next((event.played_by for event, _ in events if isinstance(event, Started)), "")
        self.renderer: Renderer = self.sources.renderer_of(method)
        self.film: Timeline = self.renderer.film()
        self.film.add(events)

    @property
    def frames(self) -> list[Frame]:
        return self.film.frames

    @property
    def waited(self) -> float:
        """Seconds since the last event that was read, while a request is open."""
        return time.monotonic() - self._read_at if self.film.view.request is not None else 0.0

    def poll(self) -> bool:
        """Whether anything is new. A damaged line ends what is shown of the episode."""
        if self.fault or self.film.view.ended is not None:
            return False
        try:
            events = list(self._tail.poll())
        except JournalError as error:
            self.fault = error.sentence
            return True
        if not events:
            return False
        self._read_at = time.monotonic()
        if not self.frames:
            self._load(events)
        else:
            self.film.add(events)
        return True

    def check(self) -> None:
        """Show what is true of the facts. Raises `PddlegoError` if that cannot be found out."""
        self._load(self.sources.check(self.path))
        self.checked = True

    def tabs(self) -> list[Tab]:
        """What there is to see of a step besides the picture."""
        describe = self.renderer.describe
        own = [tab for tab in self.renderer.screen.tabs if tab.fits(self.film.view)]
        return [
            *own,
            Tab("request", lambda frame, glyphs: _described(frame, (Asked, Retrying), describe, glyphs)),
            Tab("answer", lambda frame, glyphs: answer_lines(frame, describe, glyphs)),
            Tab("events", lambda frame, glyphs: _described(frame, (Event,), describe, glyphs)),
        ]


def _described(frame: Frame, kinds: tuple[type[Event], ...], describe: Describer, glyphs: Glyphs) -> list[Text]:
    """The events of these kinds in a step, in full."""
    lines: list[Text] = []
    for event in frame.events:
        if isinstance(event, kinds):
            description = describe(event, glyphs)
            shown = (description.title, *(line for line in description.body if line.text != description.title.text))
            lines += [Text(clean(line.text), line.style) for line in shown if line.text]
    return lines or [Text("nothing in this step", "dim")]


def answer_lines(frame: Frame, describe: Describer, glyphs: Glyphs) -> list[Text]:
    """The answers of a step with their reasoning; what was wrong in a rejected one is marked."""
    lines: list[Text] = []
    answer: list[Text] = []
    for event in frame.events:
        if isinstance(event, (Answered, Rejected, Judged)):
            description = describe(event, glyphs)
            shown = [Text(clean(line.text), line.style) for line in (description.title, *description.body)]
            if isinstance(event, Rejected):
                for line in answer:
                    line.highlight_words(blamed(event), "bold red reverse")
            answer = shown[1:] if isinstance(event, Answered) else answer
            lines += shown
    return lines or [Text("no answer in this step", "dim")]


def is_rejected(frame: Frame) -> bool:
    """Whether an answer was rejected in a step."""
    return any(isinstance(event, Rejected) for event in frame.events)


def is_surprise(frame: Frame) -> bool:
    """Whether the response was a refusal, or another one than the plan expected."""
    return any(getattr(event, "refused", False) or getattr(event, "mismatch", "") for event in frame.events)


def first_difference(left: Sequence[Frame], right: Sequence[Frame]) -> int | None:
    """The number of the first frame at which two episodes differ in what was done; None if they do not."""
    for number, (one, other) in enumerate(zip(left, right, strict=False)):
        if getattr(one.done, "command", None) != getattr(other.done, "command", None):
            return number
    return min(len(left), len(right)) if len(left) != len(right) else None


class Picture(Widget):
    """The screen of `play` at a step, as large as there is room."""

    DEFAULT_CSS = "Picture { height: 1fr; width: 1fr; }"

    def __init__(self, draw: Callable[[int, int], RenderableType]) -> None:
        super().__init__()
        self._draw = draw

    def render(self) -> RenderableType:
        return self._draw(self.size.width, self.size.height)


class EpisodeView(Vertical):
    """One episode: its steps on the left, what there is to see of one on the right."""

    DEFAULT_CSS = """
    EpisodeView { width: 1fr; }
    EpisodeView > Static { height: 1; padding: 0 1; }
    EpisodeView OptionList, EpisodeView OptionList:focus { width: 34; height: 1fr; border: none; padding: 0; }
    EpisodeView TabbedContent { width: 1fr; height: 1fr; }
    EpisodeView TabPane { padding: 0; }
    EpisodeView.narrow OptionList { display: none; }
    """

    def __init__(self, episode: OpenEpisode, *, step: int | None = None) -> None:
        super().__init__()
        self.episode = episode
        self.following = step is None and episode.film.view.ended is None
        last = max(0, len(episode.frames) - 1)
        found = None if step is None else episode.film.at(step)
        self.number = last if self.following else 0 if found is None else found
        self.words = ""
        self.different: int | None = None

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        with Horizontal():
            yield OptionList()
            with TabbedContent():
                with TabPane("overview", id="overview"):
                    yield Picture(self._draw)
                for tab in self.episode.tabs():
                    with TabPane(tab.name, id=tab.name), VerticalScroll():
                        yield Static(classes="lines")

    def on_mount(self) -> None:
        self._list_steps()
        self.show(self.number)
        self.set_interval(0.5, self.poll)

    def on_resize(self) -> None:
        self.set_class(self.size.width < _WITH_STEPS, "narrow")

    def poll(self) -> None:
        """Follow an episode that is being played."""
        if self.episode.poll():
            self._list_steps()
            self.show(len(self.episode.frames) - 1 if self.following else self.number)
        elif self.following and self.episode.waited:
            self.query_one(Picture).refresh()

    @property
    def frame(self) -> Frame | None:
        frames = self.episode.frames
        return frames[min(self.number, len(frames) - 1)] if frames else None

    @property
    def tab(self) -> str:
        """The name of the tab that is shown."""
        return self.query_one(TabbedContent).active

    def show(self, number: int) -> None:
        """Show a step, by its number among the frames."""
        frames = self.episode.frames
        self.number = max(0, min(number, len(frames) - 1))
        frame = self.frame
        if frame is None:
            self.query_one("#title", Static).update(Text(self.episode.fault or "The episode has not begun.", "dim"))
            return
        title = Text(f"step {frame.step} of {frames[-1].step}  ", "bold cyan", no_wrap=True, overflow="ellipsis")
        if self.different is not None:
            differs = f"first difference: step {frames[min(self.different, len(frames) - 1)].step}  "
            title.append(differs, "bold magenta")
        about = "" if self.tab == "overview" else header(frame.after, frame.after.seconds, self._glyphs, 400).plain
        title.append(self.episode.fault or about)
        self.query_one("#title", Static).update(title)
        steps = self.query_one(OptionList)
        with self.prevent(OptionList.OptionHighlighted):
            steps.highlighted = self.number
        self._fill()

    @property
    def _glyphs(self) -> Glyphs:
        return self.episode.sources.glyphs

    def _list_steps(self) -> None:
        steps = self.query_one(OptionList)
        frames = self.episode.frames
        texts = [self._step(number, frame) for number, frame in enumerate(frames)]
        with self.prevent(OptionList.OptionHighlighted):
            known = steps.option_count
            for number in range(max(0, known - 1), known):  # the last one may have got more events
                steps.replace_option_prompt_at_index(number, texts[number])
            steps.add_options([Option(text) for text in texts[known:]])

    def _step(self, number: int, frame: Frame) -> Text:
        glyphs = self._glyphs
        line = Text(f"{frame.step:>3} ", "bold", no_wrap=True, overflow="ellipsis")
        line.append(glyphs.failed if is_rejected(frame) else " ", "red")
        line.append("!" if is_surprise(frame) else " ", "yellow")
        line.append(" " + clean(str(getattr(frame.done, "command", None) or "start")))
        return line

    def _fill(self) -> None:
        """Fill the tab that is shown."""
        frame = self.frame
        if frame is None:
            return
        name = self.tab
        if name == "overview":
            self.query_one(Picture).refresh()
            return
        lines = Text("\n").join(self.lines(name, frame))
        if self.words:
            lines.highlight_words([self.words], "bold black on yellow", case_sensitive=False)
        self.query_one(f"#{name} .lines", Static).update(lines)

    def lines(self, name: str, frame: Frame) -> Sequence[Text]:
        """What a tab shows of a step."""
        return next((tab.lines(frame, self._glyphs) for tab in self.episode.tabs() if tab.name == name), [])

    def _draw(self, width: int, height: int) -> RenderableType:
        frame = self.frame
        if frame is None or not is_large(width, height):
            return Text(
                "" if frame is None else "Make the terminal larger for the picture, or choose another tab.", "dim"
            )
        last = self.number == len(self.episode.frames) - 1
        now = frame.after.seconds + (self.episode.waited if last else 0.0)
        return whole(self.episode.renderer.screen, frame.after, width, height, now, self._glyphs)

    def find(self, wanted: Callable[[Frame], bool]) -> bool:
        """Show the next step that is wanted, from the beginning again after the last. Whether there is one."""
        frames = self.episode.frames
        order = [*range(self.number + 1, len(frames)), *range(self.number + 1)]
        found = next((number for number in order if wanted(frames[number])), None)
        if found is not None:
            self.following = False
            self.show(found)
        return found is not None

    def search(self) -> bool:
        """Show the next place with the words, in this tab or else in another one. Whether there is one."""
        word, frames = self.words.lower(), self.episode.frames
        names = [tab.name for tab in self.episode.tabs()]
        current = names.index(self.tab) if self.tab in names else -1
        for number in [*range(self.number, len(frames)), *range(self.number)]:
            for place, name in enumerate(names):
                if number == self.number and place <= current:
                    continue
                if any(word in line.plain.lower() for line in self.lines(name, frames[number])):
                    self.query_one(TabbedContent).active = name
                    self.show(number)
                    return True
        return False

    @on(TabbedContent.TabActivated)
    def _activated(self) -> None:
        self.show(self.number)

    @on(OptionList.OptionHighlighted)
    def _chosen(self, event: OptionList.OptionHighlighted) -> None:
        self.following = False
        self.show(event.option_index)


_WITH_STEPS = 110
"""Columns from which the list of steps has room beside the rest."""


class EpisodeScreen(Screen[None]):
    """One episode, or two of them side by side. Keys move both."""

    AUTO_FOCUS = "OptionList"
    DEFAULT_CSS = """
    EpisodeScreen Input { display: none; dock: bottom; height: 1; border: none; }
    EpisodeScreen.searching Input { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "Step", key_display="←→"),
        Binding("right,l", "step(1)", "Next step", show=False),
        Binding("home", "end(0)", "First step", show=False),
        Binding("end", "end(1)", "Last step", show=False),
        Binding("tab", "tab(1)", "Tab", priority=True, show=False),
        Binding("shift+tab", "tab(-1)", "Tab before", priority=True, show=False),
        *(Binding(str(number), f"nth_tab({number})", f"Tab {number}", show=False) for number in range(1, 10)),
        Binding("a", "answer", "Answer"),
        Binding("r", "rejected", "Rejected"),
        Binding("x", "surprise", "Surprise"),
        Binding("t", "truth", "Truth"),
        Binding("d", "difference", "First difference", show=False),
        Binding("slash", "search", "Search"),
        Binding("n", "again", "Next match", show=False),
        Binding("escape", "back", "Back"),
        Binding("q", "app.quit", "Quit"),
        Binding("question_mark", "app.help", "Keys"),
    ]

    def __init__(self, episodes: Sequence[OpenEpisode], step: int | None = None) -> None:
        super().__init__()
        self._episodes, self._step = episodes, step

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield from (EpisodeView(episode, step=self._step) for episode in self._episodes)
        yield Input(placeholder="search")
        yield Footer()

    @property
    def views(self) -> list[EpisodeView]:
        return list(self.query(EpisodeView))

    def on_mount(self) -> None:
        if len(self._episodes) > 1:
            different = first_difference(*(episode.frames for episode in self._episodes[:2]))
            for view in self.views:
                view.different = different
            self.call_after_refresh(self.action_difference)

    def action_step(self, by: int) -> None:
        """Show the next step, or the one before."""
        for view in self.views:
            view.following = view.following and by > 0
            view.show(view.number + by)

    def action_end(self, end: int) -> None:
        """Show the first or the last step, which is followed while the episode is played."""
        for view in self.views:
            view.following = bool(end) and view.episode.film.view.ended is None
            view.show(len(view.episode.frames) - 1 if end else 0)

    def action_tab(self, by: int) -> None:
        """Show the next tab."""
        names = self._names()
        self._activate(names[(names.index(self.views[0].tab) + by) % len(names)])

    def action_nth_tab(self, number: int) -> None:
        """Show a tab by its number."""
        self._activate(*self._names()[number - 1 : number])

    def _names(self) -> list[str]:
        return ["overview", *(tab.name for tab in self.views[0].episode.tabs())]

    def _activate(self, *names: str) -> None:
        for view in self.views:
            tabs = view.query_one(TabbedContent)
            for name in names:
                if tabs.query(f"#{name}"):
                    tabs.active = name

    def action_answer(self) -> None:
        """Show the answers of the step."""
        self._activate("answer")

    def action_rejected(self) -> None:
        """Show the next step with a rejected answer."""
        self._find(is_rejected, "No answer was rejected.")

    def action_surprise(self) -> None:
        """Show the next step in which the game answered otherwise than planned."""
        self._find(is_surprise, "The game answered as planned in every step.")

    def _find(self, wanted: Callable[[Frame], bool], nothing: str) -> None:
        found = [view.find(wanted) for view in self.views]
        if not any(found):
            self.notify(nothing)

    def action_difference(self) -> None:
        """Show the first step at which two episodes differ."""
        for view in self.views:
            if view.different is not None:
                view.show(view.different)

    def action_truth(self) -> None:
        """Show what is true of the model's facts."""
        for view in self.views:
            try:
                view.episode.check()
            except PddlegoError as error:
                self.notify(clean(error.sentence), severity="warning", markup=False)
                continue
            view.show(view.number)

    def action_search(self) -> None:
        """Type what to look for."""
        self.add_class("searching")
        self.query_one(Input).focus()

    def action_again(self) -> None:
        """Show the next match."""
        found = [view.search() for view in self.views if view.words]
        if found and not any(found):
            self.notify(f"Not found: {self.views[0].words}", markup=False)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        for view in self.views:
            view.words = event.value
        self._leave_search()
        self.action_again()

    def _leave_search(self) -> None:
        self.remove_class("searching")
        self.views[0].query_one(OptionList).focus()

    def action_back(self) -> None:
        """Leave the search, else the episode."""
        if self.has_class("searching"):
            self._leave_search()
        elif len(self.app.screen_stack) > 2:  # the first one is empty
            self.dismiss()
        else:
            self.app.exit()
