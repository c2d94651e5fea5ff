"""The application, and its first screens for the commands."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from pddlego.display.browser.episode import EpisodeScreen
from pddlego.display.browser.lists import EpisodesScreen, RunsScreen
from pddlego.display.opened import Sources
from pddlego.runs.listing import EpisodeList

_INTERRUPTED = 130
"""The exit code after a signal."""

_TERMINATION = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Browser(App[None]):
    """The browser. `first` makes the first screen."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "quit", "Quit anywhere", show=False, priority=True)]
    TITLE = "pddlego"

    def __init__(self, first: Callable[[], Screen[None]]) -> None:
        super().__init__()
        self._first = first
        if is_light(os.environ.get("COLORFGBG", "")) and "TEXTUAL_THEME" not in os.environ:
            self.theme = "textual-light"

    def on_mount(self) -> None:
        for number in _TERMINATION:
            with contextlib.suppress(NotImplementedError):  # a system without them
                asyncio.get_running_loop().add_signal_handler(number, self._interrupted)
        self.push_screen(self._first())

    def _interrupted(self) -> None:
        """End the browser after a signal. Further signals are ignored, also while the terminal is restored."""
        for number in _TERMINATION:
            asyncio.get_running_loop().remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)
        self.exit(None, _INTERRUPTED)


def is_light(colors: str) -> bool:
    """Whether the last number of `COLORFGBG`, such as `0;15`, is that of a light background (7, 9 to 15)."""
    background = colors.rpartition(";")[2]
    return background in {"7", *map(str, range(9, 16))}


def at_runs(root: Path, sources: Sources) -> Browser:
    """The browser with the list of run folders."""
    return Browser(lambda: RunsScreen(root, sources))


def at_run(
    run: Path,
    sources: Sources,
    newest: Callable[[], Path] | None = None,
    journals: Iterable[Path] = (),
    watches: bool = False,
) -> Browser:
    """The browser with the episodes of a run: all, or those of the `journals`.

    `newest` returns the run folder to show when all episodes of the run have ended. If it `watches`, the only episode
    of a run is opened at once, and ended episodes at their last step.
    """
    return Browser(lambda: EpisodesScreen(EpisodeList(run, newest), sources, journals, watches=watches))


def at_episodes(journals: Sequence[Path], sources: Sources, step: int | None = None) -> Browser:
    """The browser with one episode, or two side by side, at a step."""
    return Browser(lambda: EpisodeScreen.of(journals, sources, step))
