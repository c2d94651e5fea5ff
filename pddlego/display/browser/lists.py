"""The screens with the list of run folders, and with the list of the episodes of a run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.worker import get_current_worker

from pddlego.display.browser.episode import EpisodeScreen
from pddlego.display.browser.screen import BrowserScreen, KeysFooter
from pddlego.display.browser.table import FilteredTable, Rows
from pddlego.display.columns import (
    EPISODE_COLUMNS,
    RUN_COLUMNS,
    episode_summary,
    run_summary,
)
from pddlego.display.opened import Sources
from pddlego.errors import PddlegoError, UsageError
from pddlego.runs.listing import EpisodeList, EpisodeStatus, RunRow, list_runs


def _is_running(episode: EpisodeStatus) -> bool:
    """Whether an episode has no outcome yet, so that its state depends on the time."""
    return episode.outcome is None


class ListScreen(BrowserScreen):
    """A table that fills the screen."""

    AUTO_FOCUS = "Rows"

    def compose(self) -> ComposeResult:
        yield self.make_table()
        yield KeysFooter()

    def make_table(self) -> FilteredTable[Any]:
        raise NotImplementedError

    def open(self, key: str) -> None:
        """Open the row with this key."""
        raise NotImplementedError

    @on(Rows.Opened)
    def _opened(self, event: Rows.Opened) -> None:
        self.open(event.key)

    def close_input(self) -> bool:
        return self.query_one(FilteredTable).clear_filter()


class RunsScreen(ListScreen):
    """The run folders in `root`."""

    def __init__(self, root: Path, sources: Sources) -> None:
        super().__init__()
        self._root, self._sources = root, sources
        self._runs: dict[str, RunRow] = {}

    def make_table(self) -> FilteredTable[RunRow]:
        return FilteredTable(RUN_COLUMNS, "when", descending=True, name_of=lambda run: run.name)

    def on_screen_resume(self) -> None:
        self._read()

    @work(thread=True, exclusive=True)
    def _read(self) -> None:
        """Read the run folders in a thread. While the list gets longer, show it after every 20 folders."""
        worker, runs = get_current_worker(), dict[str, RunRow]()
        for number, run in enumerate(list_runs(self._root), start=1):
            if worker.is_cancelled:
                return
            runs[str(run.path)] = run
            if number % 20 == 0 and len(runs) > len(self._runs):
                self.app.call_from_thread(self._show, dict(runs))
        self.app.call_from_thread(self._show, runs)

    def _show(self, runs: dict[str, RunRow]) -> None:
        self._runs = runs
        self.query_one(FilteredTable).show(runs, f"{self._root}: {run_summary(runs.values())}")

    def open(self, key: str) -> None:
        self.app.push_screen(EpisodesScreen(EpisodeList(Path(key)), self._sources))


class EpisodesScreen(ListScreen):
    """The episodes of a run, updated every second: all, or those of the `journals`.

    If it `watches`, the only episode of a run is opened at once, and ended episodes at their last step.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark", "Mark"),
        Binding("c", "compare", "Compare"),
    ]

    def __init__(
        self, episodes: EpisodeList, sources: Sources, journals: Iterable[Path] = (), *, watches: bool = False
    ) -> None:
        super().__init__()
        self._list, self._sources, self._watches = episodes, sources, watches
        self._only: tuple[Path, EpisodeScreen] | None = None  # the run whose only episode was opened
        self._names = {journal.name for journal in journals}
        self._marked: str | None = None
        self._explained: tuple[Path, int] | None = None
        self._checking = ""

    def make_table(self) -> FilteredTable[EpisodeStatus]:
        return FilteredTable(EPISODE_COLUMNS, "changed", descending=True, changes=_is_running)

    def on_mount(self) -> None:
        self.set_interval(1.0, self._poll)

    def on_screen_resume(self) -> None:
        self._poll(first=True)

    def _poll(self, first: bool = False) -> None:
        if not self.is_current:
            return
        new, names = self._list.poll(), self._names
        episodes = {name: status for name, status in self._list.episodes.items() if not names or name in names}
        running = any(map(_is_running, episodes.values()))
        if new or first or running or self._checking:
            summary = f"{episode_summary(episodes.values())}{self._checking}  {self._list.run}"
            self.query_one(FilteredTable).show(episodes, summary)
        ended = sum(episode.outcome is not None for episode in episodes.values())
        active = any(episode.state(time.time()) == "running" for episode in episodes.values())
        if ended and not active and self._explained != (self._list.run, ended):
            self._explained = self._list.run, ended
            self._find_causes(self._list.run)
        if self._watches:
            self._open_only()

    def _open_only(self) -> None:
        """Open the only episode of a run once; in place of that of an older run, unless the user has moved in it."""
        run, opened = self._list.run, self._only
        if opened is not None and opened[0] == run:
            return
        if opened is not None and opened[1].is_active:
            if opened[1].is_untouched:
                opened[1].dismiss()  # this screen is resumed, and looks again
        elif self.is_active and (only := self._list.only) is not None:
            self._only = run, self._show([only])

    @work(thread=True, exclusive=True)
    def _find_causes(self, run: Path) -> None:
        """Find the causes of losses in a thread, and show them in the table."""
        worker = get_current_worker()

        def checked(number: int, total: int) -> None:
            self._checking = f", checking facts: {number} of {total}"
            if worker.is_cancelled:
                raise UsageError("The checks were cancelled", "The screen was closed.", "Open it again.")

        try:
            causes = self._sources.causes(run, checked)
        except PddlegoError:  # the table is shown without causes
            causes = {}
        self._checking = ""
        if run == self._list.run:
            self.app.call_from_thread(self._list.set_causes, causes)
            self.app.call_from_thread(self._poll, True)

    def open(self, key: str) -> None:
        self._show([self._list.episodes[key].path])

    def _show(self, journals: Sequence[Path]) -> EpisodeScreen:
        screen = EpisodeScreen.of(journals, self._sources, at_end=self._watches)
        self.app.push_screen(screen)
        return screen

    def action_mark(self) -> None:
        """Remember the current episode for a comparison."""
        self._marked = self.query_one(Rows).current_key
        if self._marked is not None:
            self.notify(f"Marked {Path(self._marked).stem}. Press c on another episode to compare them.", markup=False)

    def action_compare(self) -> None:
        """Show the marked episode and the current one side by side."""
        current = self.query_one(Rows).current_key
        if self._marked is None or current is None or self._marked == current:
            self.notify("Mark one episode with Space, and press c on another one.", severity="warning")
            return
        self._show([self._list.episodes[key].path for key in (self._marked, current)])
