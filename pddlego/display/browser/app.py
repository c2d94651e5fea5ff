"""The browser: a stack of screens, of which the first is what a command asked for."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from pddlego.display.browser.episode import EpisodeScreen, OpenEpisode, Sources
from pddlego.display.browser.lists import EpisodesScreen, RunsScreen
from pddlego.runs.listing import EpisodeList

_INTERRUPTED = 130
"""The exit code after a signal."""


class Browser(App[None]):
    """Shows run folders, the episodes of one, or an episode."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "quit", "Quit", show=False, priority=True)]
    TITLE = "pddlego"

    def __init__(self, sources: Sources) -> None:
        super().__init__()
        self._sources = sources
        self._first: Callable[[], Screen[None]] | None = None

    def at_runs(self, root: Path) -> Browser:
        """Begin with all run folders."""
        self._first = lambda: RunsScreen(root, lambda run: EpisodesScreen(EpisodeList(run), self.episode))
        return self

    def at_run(self, run: Path, newest: Callable[[], Path] | None = None, words: str = "") -> Browser:
        """Begin with the episodes of a run that have these words, and go on to the `newest` one when all have ended."""
        self._first = lambda: EpisodesScreen(EpisodeList(run, newest), self.episode, words)
        return self

    def at_episodes(self, journals: Sequence[Path], step: int | None = None) -> Browser:
        """Begin with an episode, or two side by side."""
        self._first = lambda: self.episode(journals, step)
        return self

    def on_mount(self) -> None:
        for name in ("SIGTERM", "SIGHUP"):
            with contextlib.suppress(AttributeError, NotImplementedError):  # a system without them
                number = getattr(signal, name)
                asyncio.get_running_loop().add_signal_handler(number, self.exit, None, _INTERRUPTED)
        if self._first is not None:
            self.push_screen(self._first())

    def episode(self, journals: Sequence[Path], step: int | None = None) -> Screen[None]:
        """The screen of one episode, or two."""
        return EpisodeScreen([OpenEpisode(journal, self._sources) for journal in journals], step)
