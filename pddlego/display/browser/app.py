"""The application, and its first screens for the commands."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from pddlego.display.browser.episode import EpisodeScreen, Sources
from pddlego.display.browser.lists import EpisodesScreen, RunsScreen
from pddlego.runs.listing import EpisodeList

_INTERRUPTED = 130
"""The exit code after a signal."""


class Browser(App[None]):
    """The browser. `first` makes the first screen."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "quit", "Quit", show=False, priority=True)]
    TITLE = "pddlego"

    def __init__(self, first: Callable[[], Screen[None]]) -> None:
        super().__init__()
        self._first = first

    def on_mount(self) -> None:
        for name in ("SIGTERM", "SIGHUP"):
            with contextlib.suppress(AttributeError, NotImplementedError):  # a system without them
                number = getattr(signal, name)
                asyncio.get_running_loop().add_signal_handler(number, self.exit, None, _INTERRUPTED)
        self.push_screen(self._first())


def at_runs(root: Path, sources: Sources) -> Browser:
    """The browser with the list of run folders."""
    return Browser(lambda: RunsScreen(root, sources))


def at_run(
    run: Path, sources: Sources, newest: Callable[[], Path] | None = None, journals: Iterable[Path] = ()
) -> Browser:
    """The browser with the episodes of a run: all, or those of the `journals`.

    `newest` returns the run folder to show when all episodes of the run have ended.
    """
    return Browser(lambda: EpisodesScreen(EpisodeList(run, newest), sources, journals))


def at_episodes(journals: Sequence[Path], sources: Sources, step: int | None = None) -> Browser:
    """The browser with one episode, or two side by side, at a step."""
    return Browser(lambda: EpisodeScreen.of(journals, sources, step))
