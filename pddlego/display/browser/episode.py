"""The screen of an episode: the list of its steps, and the screen and tabs of the current step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static, TabbedContent, TabPane
from textual.widgets.option_list import Option

from pddlego.display.browser.screen import BrowserScreen, KeysFooter
from pddlego.display.console import Glyphs
from pddlego.display.opened import OVERVIEW, WHY, OpenEpisode, Sources, Why
from pddlego.display.screens import MIN_WIDTH, Canvas, is_large, title_line
from pddlego.display.steps import command_of, is_rejected, is_surprise
from pddlego.episode.trace import Step, first_difference
from pddlego.errors import PddlegoError
from pddlego.util.text import clean


class Picture(Widget):
    """The overview tab: a renderable that `draw` makes for the width and height of the widget."""

    DEFAULT_CSS = "Picture { height: 1fr; width: 1fr; }"

    def __init__(self, draw: Callable[[int, int], RenderableType]) -> None:
        super().__init__()
        self._draw = draw

    def render(self) -> RenderableType:
        return self._draw(self.size.width, self.size.height)


class EpisodeView(Vertical):
    """One episode: the list of its steps on the left, the tabs of the current step on the right."""

    DEFAULT_CSS = """
    EpisodeView { width: 1fr; }
    EpisodeView.second { border-left: solid $secondary; }
    EpisodeView > Static { height: 1; padding: 0 1; }
    EpisodeView OptionList, EpisodeView OptionList:focus { width: 34; height: 1fr; border: none; padding: 0; }
    EpisodeView TabbedContent { width: 1fr; height: 1fr; }
    EpisodeView TabPane { padding: 0; }
    EpisodeView.narrow OptionList { display: none; }
    """

    class Begun(Message):
        """A running episode has begun, and its method can check facts while it runs."""

        def __init__(self, view: EpisodeView) -> None:
            super().__init__()
            self.view = view

    def __init__(
        self, episode: OpenEpisode, *, step: int | None = None, at_end: bool = False, names_run: bool = False
    ) -> None:
        super().__init__()
        self.episode, self._names_run = episode, names_run
        self.is_following = step is None and (at_end or episode.trace.ended is None)
        last = max(0, len(episode.steps) - 1)
        numbers = [shown.number for shown in episode.steps]
        self.step_index = last if self.is_following else numbers.index(step) if step in numbers else 0
        self.search_text = ""
        self.difference: int | None = None
        self._has_begun = False

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        with Horizontal():
            yield OptionList()
            with TabbedContent():
                with TabPane(OVERVIEW, id=OVERVIEW):
                    yield Picture(self._draw)
                for name in (*(tab.name for tab in self.episode.tabs()), WHY):
                    with TabPane(name, id=name), VerticalScroll():
                        yield Static(classes="lines")

    def on_mount(self) -> None:
        self.update()
        self.set_interval(0.5, self.poll)

    def update(self) -> None:
        """Update the list of steps, and show the current step."""
        trace = self.episode.trace
        if not self._has_begun and trace.started is not None:
            self._has_begun = True
            if trace.ended is None and self.episode.screen.checks_running(trace) and self.episode.checks is None:
                self.post_message(self.Begun(self))
        self._list_steps()
        self.show(len(self.episode.steps) - 1 if self.is_following else self.step_index)

    def on_resize(self) -> None:
        self.set_class(self.size.width < _MIN_WIDTH_WITH_LIST, "narrow")
        self.call_after_refresh(self._fill)  # a map is drawn for the new width

    def poll(self) -> None:
        """Show new events of an episode that is being played."""
        begun = bool(self.episode.steps)
        if self.episode.poll():
            if not begun and self.episode.steps:  # the tabs depend on the method, which the first event names
                self.refresh(recompose=True)
                self.call_after_refresh(self.update)
            else:
                self.update()
        elif self.is_following and self.episode.wait_seconds:
            self.query_one(Picture).refresh()

    @property
    def step(self) -> Step | None:
        steps = self.episode.steps
        return steps[min(self.step_index, len(steps) - 1)] if steps else None

    @property
    def tab(self) -> str:
        """The name of the active tab."""
        return self.query_one(TabbedContent).active

    def show(self, number: int) -> None:
        """Show the step with this index."""
        steps = self.episode.steps
        self.step_index = max(0, min(number, len(steps) - 1))
        step = self.step
        if step is None:
            self.query_one("#title", Static).update(Text(self.episode.fault or "The episode has not begun.", "dim"))
            return
        title = Text(f"step {step.number} of {steps[-1].number}  ", "bold cyan", no_wrap=True, overflow="ellipsis")
        if self._names_run:
            title.append(f"{clean(self.episode.path.parent.parent.name)}  ", "bold")
        if self.difference is not None:
            differs = f"first difference: step {steps[min(self.difference, len(steps) - 1)].number}  "
            title.append(differs, "bold magenta")
        canvas = Canvas(max(1, self.size.width - 2 - title.cell_len), 1, step.after.seconds, self._glyphs)
        about = "" if self.tab == OVERVIEW else title_line(step.after, canvas).plain
        title.append(self.episode.fault or about)
        self.query_one("#title", Static).update(title)
        with self.prevent(OptionList.OptionHighlighted):
            self.query_one(OptionList).highlighted = self.step_index
        self._fill()

    @property
    def _glyphs(self) -> Glyphs:
        return self.episode.sources.glyphs

    def _list_steps(self) -> None:
        listed = self.query_one(OptionList)
        texts = [self._step_line(step) for step in self.episode.steps]
        with self.prevent(OptionList.OptionHighlighted):
            old_count = listed.option_count
            for number in range(max(0, old_count - 1), old_count):  # the last listed step may have new events
                listed.replace_option_prompt_at_index(number, texts[number])
            listed.add_options([Option(text) for text in texts[old_count:]])

    def _step_line(self, step: Step) -> Text:
        glyphs = self._glyphs
        line = Text(f"{step.number:>3} ", "bold", no_wrap=True, overflow="ellipsis")
        line.append(glyphs.failed if is_rejected(step) else " ", "red")
        line.append("!" if is_surprise(step) else " ", "yellow")
        line.append(f" {command_of(step)}")
        line.truncate(_STEP_WIDTH, overflow="ellipsis")
        return line

    def _fill(self) -> None:
        """Fill the active tab."""
        step = self.step
        if step is None:
            return
        name = self.tab
        if name == OVERVIEW:
            self.query_one(Picture).refresh()
            return
        if name == WHY:
            self.query_one(f"#{name} .lines", Static).update(_drawn(self.episode.why(step)))
            return
        lines = Text("\n").join(self.lines(name, step))
        if self.search_text:
            lines.highlight_words([self.search_text], "bold black on yellow", case_sensitive=False)
        self.query_one(f"#{name} .lines", Static).update(lines)

    def lines(self, name: str, step: Step) -> Sequence[Text]:
        """The lines of a tab about a step."""
        for tab in self.episode.tabs():
            if tab.name == name:
                return tab.picture(step, self._glyphs, self._columns) if tab.picture else tab.lines(step, self._glyphs)
        return []

    @property
    def _columns(self) -> int:
        """The width of a tab without its scroll bar."""
        return max(20, self.query_one(TabbedContent).size.width - 2)

    def _draw(self, width: int, height: int) -> RenderableType:
        step = self.step
        if step is None or self.has_class("narrow") != (self.size.width < _MIN_WIDTH_WITH_LIST):
            return Text()  # the widths are not known yet
        if not is_large(width, height):
            return Text("Make the terminal larger for the picture, or choose another tab.", "dim")
        last = self.step_index == len(self.episode.steps) - 1
        now = step.after.seconds + (self.episode.wait_seconds if last else 0.0)
        return self.episode.screen.draw(step.after, Canvas(width, height, now, self._glyphs))

    def find(self, matches: Callable[[Step], bool]) -> bool:
        """Show the next step for which `matches` is true, with wrap-around. Returns whether there is one."""
        steps = self.episode.steps
        order = [*range(self.step_index + 1, len(steps)), *range(min(self.step_index + 1, len(steps)))]
        index = next((number for number in order if matches(steps[number])), None)
        if index is not None:
            self.is_following = False
            self.show(index)
        return index is not None

    def search(self, again: bool) -> bool:
        """Show the next tab that contains the search text, with wrap-around. Returns whether there is one.

        The search begins at the active tab of the current step, or with `again` after it.
        """
        if not self.episode.steps:
            return False
        names = [tab.name for tab in self.episode.tabs()]
        places = [(number, name) for number in range(len(self.episode.steps)) for name in names]
        here = places.index((self.step_index, self.tab if self.tab in names else names[0])) + again
        for number, name in (*places[here:], *places[:here]):
            if self._row_of_match(name, number) is not None:
                self.go_to(number, name)
                return True
        return False

    def go_to(self, number: int, name: str) -> None:
        """Show a tab of a step, scrolled to the search text."""
        self.is_following = False
        if self.query(f"TabPane#{name}"):
            self.query_one(TabbedContent).active = name
        self.show(number)
        row = self._row_of_match(name, number)
        if row is not None:
            self.query_one(f"#{name} VerticalScroll", VerticalScroll).scroll_to(y=row, animate=False)

    def _row_of_match(self, name: str, number: int) -> int | None:
        """The first row of a tab, with long lines wrapped, that contains the search text; None without one."""
        row = 0
        for line in self.lines(name, self.episode.steps[number]):
            if self.search_text.lower() in line.plain.lower():
                return row
            row += max(1, -(-line.cell_len // self._columns))
        return None

    @on(TabbedContent.TabActivated)
    def _activated(self) -> None:
        self.show(self.step_index)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        self.is_following = False
        self.show(event.option_index)


def _drawn(why: Why) -> RenderableType:
    """The text of the tab, with the answer and the truth side by side."""
    sides = Table.grid(padding=(0, 2), expand=True)
    sides.add_column(ratio=1)
    sides.add_column(ratio=1)
    sides.add_row(*(Text("\n").join(side) for side in (why.answer, why.truth)))
    return Group(*why.head, Text(), sides)


_STEP_WIDTH = 32
"""The maximum number of characters of a step in the list."""

_MIN_WIDTH_WITH_LIST = 110
"""The width from which the list of steps is shown."""


class EpisodeScreen(BrowserScreen):
    """One episode, or two side by side; keys move both."""

    AUTO_FOCUS = "OptionList"
    DEFAULT_CSS = """
    EpisodeScreen Input, EpisodeScreen Input:focus { display: none; height: 1; border: none; }
    EpisodeScreen.searching Input, EpisodeScreen.searching Input:focus { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "step(-1)", "Step", key_display="←→"),
        Binding("right,l", "step(1)", "Next step", show=False),
        Binding("home", "end(0)", "First step", show=False, priority=True),
        Binding("end", "end(1)", "Last step", show=False, priority=True),
        Binding("tab", "tab(1)", "Next tab, or 1 to 9", priority=True, show=False),
        Binding("shift+tab", "tab(-1)", "Tab before", priority=True, show=False),
        *(Binding(str(number), f"nth_tab({number})", f"Tab {number}", show=False) for number in range(1, 10)),
        Binding("n", "next", "Next failure"),
        Binding("t", "truth", "Check facts"),
        Binding("a", "answer", "Answer"),
        Binding("slash", "search", "Search (n: next match)"),
        Binding("r", "rejected", "Rejected"),
        Binding("x", "surprise", "Surprise"),
        Binding("d", "difference", "First difference", show=False),
    ]

    def __init__(self, episodes: Sequence[OpenEpisode], step: int | None = None, *, at_end: bool = False) -> None:
        super().__init__()
        self._episodes, self._step, self._at_end = episodes, step, at_end
        self._opened_at: tuple[str, int | None] = (OVERVIEW, None)  # None: the last step
        self._has_key = False  # whether a key was pressed

    @classmethod
    def of(
        cls, journals: Sequence[Path], sources: Sources, step: int | None = None, *, at_end: bool = False
    ) -> EpisodeScreen:
        """The screen with the episodes of these journals, `at_end` at the last step of ended ones."""
        return cls([OpenEpisode(journal, sources) for journal in journals], step, at_end=at_end)

    def compose(self) -> ComposeResult:
        with Horizontal():
            several = len({episode.path.parent for episode in self._episodes}) > 1
            for number, episode in enumerate(self._episodes):
                view = EpisodeView(episode, step=self._step, at_end=self._at_end, names_run=several)
                view.set_class(number > 0, "second")
                yield view
        yield Input(placeholder="search")
        yield KeysFooter()

    @property
    def views(self) -> list[EpisodeView]:
        return list(self.query(EpisodeView))

    @property
    def is_untouched(self) -> bool:
        """Whether the user has chosen neither another tab nor another step, and does not type."""
        view = self.views[0]
        place = (view.tab, None if view.is_following else view.step_index)
        return place == self._opened_at and not self.has_class("searching")

    def on_mount(self) -> None:
        for view in self.views if len(self._episodes) > 1 else ():
            if view.episode.is_lost:
                self._explain(view)
        if len(self._episodes) > 1:
            different = first_difference(*(episode.steps for episode in self._episodes[:2]))
            for view in self.views:
                view.difference = different
            if all(view.episode.trace.ended is not None for view in self.views):
                self.call_after_refresh(self.action_difference)
            if self.app.size.width // len(self._episodes) < MIN_WIDTH:  # the overview has no room
                self.call_after_refresh(self._activate, self._names()[1])
        elif self._step is None and self.views[0].episode.is_lost:
            self.call_after_refresh(self._open_at_failure)

    def _open_at_failure(self) -> None:
        """Show why the episode was lost, at once with what is known, and again with checks of facts."""
        (view,) = self.views
        view.is_following = False
        self._show_decisive(view)
        self._activate(WHY)
        self._explain(view, jumps=True)

    def on_key(self) -> None:
        self._has_key = True

    def _show_decisive(self, view: EpisodeView) -> None:
        view.show(view.episode.decisive_index)
        self._opened_at = WHY, view.step_index

    def action_step(self, by: int) -> None:
        """Show the step that is `by` steps further."""
        for view in self.views:
            view.is_following = view.is_following and by > 0
            view.show(view.step_index + by)

    def action_end(self, end: int) -> None:
        """Show the first step, or the last one. The last step follows an episode that is being played."""
        for view in self.views:
            view.is_following = bool(end) and view.episode.trace.ended is None
            view.show(len(view.episode.steps) - 1 if end else 0)

    def action_tab(self, by: int) -> None:
        """Show the tab that is `by` tabs further."""
        names = self._names()
        self._activate(names[(names.index(self.views[0].tab) + by) % len(names)])

    def action_nth_tab(self, number: int) -> None:
        """Show a tab by its number."""
        self._activate(*self._names()[number - 1 : number])

    def _names(self) -> list[str]:
        return [OVERVIEW, *(tab.name for tab in self.views[0].episode.tabs()), WHY]

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
        """Show the next step in which the game responded otherwise than planned."""
        self._find(is_surprise, "The game answered as planned in every step.")

    def _find(self, matches: Callable[[Step], bool], message: str) -> None:
        results = [view.find(matches) for view in self.views]
        if not any(results):
            self.notify(message)

    def action_difference(self) -> None:
        """Show the first step at which the two episodes differ."""
        if self.views[0].difference is None:
            self.notify("No difference: the commands are the same." if len(self.views) > 1 else "There is one episode.")
        for view in self.views:
            if view.difference is not None:
                view.is_following = False
                view.show(view.difference)

    def action_truth(self) -> None:
        """Add checks of the model's facts to the episodes."""
        for view in self.views:
            if view.episode.trace.ended is None:
                self.check_running(view)
            else:
                self._explain(view)

    @work(thread=True)
    def check_running(self, view: EpisodeView, quiet: bool = False) -> None:
        """Add checks to a running episode, or remove them. If `quiet`, a failure is not reported."""
        checks, episode = None, view.episode
        try:
            checks = episode.sources.checker(episode.path) if episode.checks is None else None
        except PddlegoError as error:
            if not quiet:
                self.app.call_from_thread(self.notify, clean(error.sentence), severity="warning", markup=False)
            return
        self.app.call_from_thread(episode.check, checks)
        self.app.call_from_thread(view.update)

    @work(thread=True)
    def _explain(self, view: EpisodeView, jumps: bool = False) -> None:
        """Check the facts of an episode. If `jumps`, show its decisive step then, unless the user has pressed a key."""
        view.episode.is_being_checked = True
        self.app.call_from_thread(view.update)
        try:
            explanation = view.episode.sources.explain(view.episode.path)
        except PddlegoError as error:
            view.episode.is_being_checked = False
            self.app.call_from_thread(view.update)
            self.app.call_from_thread(self.notify, clean(error.sentence), severity="warning", markup=False)
            return
        if self._has_key and not jumps and not any(event.derived for event, _ in explanation.timed):
            self.app.call_from_thread(self.notify, "No facts were checked.")
        self.app.call_from_thread(view.episode.use_checked, explanation)
        self.app.call_from_thread(view.update)
        if jumps and self.is_untouched and not self._has_key:
            self.app.call_from_thread(self._show_decisive, view)

    @on(EpisodeView.Begun)
    def _begun(self, event: EpisodeView.Begun) -> None:
        self.check_running(event.view, quiet=True)

    def action_next(self) -> None:
        """Show the next match of the search, or without a search the next failure."""
        if self.views[0].search_text:
            self._search(again=True)
            return
        results = [view.find(view.episode.is_failure) for view in self.views]
        if not any(results):
            self.notify("No step has a rejected answer, a surprise or a lasting error.")

    def action_search(self) -> None:
        """Open the input field of the search."""
        self.add_class("searching")
        self.query_one(Input).focus()

    def _search(self, again: bool) -> None:
        """Show the next match of the first episode that has one, and the same step and tab of the other episode."""
        if not self.views[0].search_text:
            return
        matching = next((view for view in self.views if view.search(again)), None)
        if matching is None:
            self.notify(f"Not found: {self.views[0].search_text}", markup=False)
            return
        for view in self.views:
            if view is not matching:
                view.go_to(matching.step_index, matching.tab)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        for view in self.views:
            view.search_text = event.value
        self.close_input()
        self._search(again=False)

    def close_input(self) -> bool:
        searching = self.has_class("searching")
        self.remove_class("searching")
        self.views[0].query_one(OptionList).focus()
        return searching
