"""The pages of `pddlego view`: the runs in a folder, and their episodes, also while they are played. Read-only."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from urllib.parse import quote

from pddlego.display.opened import Explanation, OpenEpisode, Sources
from pddlego.display.page import EpisodeData, EpisodePage, ListedEpisode, episode_index, render_index, run_index
from pddlego.errors import PddlegoError
from pddlego.runs.folders import EPISODES
from pddlego.runs.listing import EpisodeList, EpisodeStatus, is_run, run_folders, run_row, state_of_folder
from pddlego.runs.summary import LastingError
from pddlego.util.private_server import WebPage

MOST_IN_PAGE = 30_000_000
"""The largest journal, in bytes, that is shown. The data of a page are several times as large as the journal."""

_MOST_OPEN, _MOST_ROWS = 16, 10_000
"""How many runs, and how many episodes, stay open: more than one person looks at. How many rows of runs are kept."""


class _LiveEpisode(OpenEpisode):
    """An episode, its data, and the `checked` facts of a lost one, which are None until they are checked."""

    def __init__(self, path: Path, sources: Sources) -> None:
        super().__init__(path, sources)
        self.data = EpisodeData(self)
        self.waits = False
        self.checked: Explanation | None = None


class LivePages:
    """The pages of the run folders in `root`, or of `root` itself. No journal outside of `root` is shown."""

    def __init__(self, root: Path, sources: Sources) -> None:
        self._root, self._sources = root.resolve(), sources
        self._base = self._root.parent if is_run(self._root) else self._root
        self._row = lru_cache(_MOST_ROWS)(lambda run, state: run_row(run, self._base))
        self._list_of = lru_cache(_MOST_OPEN)(EpisodeList)
        self._open = lru_cache(_MOST_OPEN)(lambda path: _LiveEpisode(path, sources))
        self._checked: dict[Path, tuple[int, LastingError | None]] = {}  # the number of checks, and the cause
        self._to_check: SimpleQueue[_LiveEpisode] = SimpleQueue()
        threading.Thread(target=self._check, daemon=True).start()

    def answer(self, path: str, query: Mapping[str, str]) -> WebPage:
        """The list of runs for an empty path, else a run; with `index` or `episode` in the query its data as JSON."""
        if not path:
            return self._page("", self._run_index(), query)
        run = self._folders().get(path.removesuffix("/"))
        if run is None:
            return _missing("There is no such run.")
        episodes = self._list(run)
        if "episode" in query:
            status = episodes.episodes.get(query["episode"])
            return _missing("There is no such episode.") if status is None else self._episode(status)
        return self._page(self._name(run), self._index(episodes), query)

    def _page(self, title: str, index: Mapping[str, Any], query: Mapping[str, str]) -> WebPage:
        if "index" in query:
            return _json(index)
        nonce = secrets.token_urlsafe(16)
        text = render_index("page.html.j2", index, title=title, live=True, nonce=nonce)
        return WebPage(text, "text/html", nonce=nonce)

    def _name(self, run: Path) -> str:
        return str(run.relative_to(self._base))

    def _folders(self) -> dict[str, Path]:
        """The run folders by their names, without those that a link leads out of the folder for."""
        folders = [self._root] if self._base != self._root else run_folders(self._root)
        inside = (run for run in folders if self._is_inside(run) and self._is_inside(run / EPISODES))
        return {self._name(run): run for run in inside}

    def _is_inside(self, path: Path) -> bool:
        with suppress(OSError, RuntimeError):  # RuntimeError: a circle of links
            return path.resolve().is_relative_to(self._root)
        return False

    def _run_index(self) -> dict[str, Any]:
        """The table of runs. A folder is read again only if it has changed."""
        addresses = {run: f"{quote(name, safe='', errors='surrogateescape')}/" for name, run in self._folders().items()}
        return run_index((self._row(run, state_of_folder(run)), address) for run, address in addresses.items())

    def _list(self, run: Path) -> EpisodeList:
        """The episodes of a run, with the causes that are known without checks."""
        episodes = self._list_of(run)
        if episodes.poll():
            with suppress(PddlegoError):
                episodes.set_causes(self._sources.causes(run, None))
        return episodes

    def _index(self, episodes: EpisodeList) -> dict[str, Any]:
        listed = list[ListedEpisode]()
        for name, status in episodes.episodes.items():
            checks, found = self._checked.get(status.path, (0, None))
            cause = status.cause or found
            outcome = status.outcome.value if status.outcome is not None else "not ended"
            ending = f"{outcome}; cause: {cause}" if cause is not None else outcome
            page = EpisodePage(name, ending, version=f"{status.read} {checks} {ending}")
            listed.append(ListedEpisode(replace(status, cause=cause), page))
        return episode_index(listed, start=False)

    def _episode(self, status: EpisodeStatus) -> WebPage:
        """The steps of an episode as JSON. The facts of a lost one are checked meanwhile, and shown later."""
        path = status.path
        if not self._is_inside(path):
            return _missing("There is no such episode.")
        if path.is_file() and path.stat().st_size > MOST_IN_PAGE:
            return _missing(f"The journal has more than {MOST_IN_PAGE:,} bytes. Use: pddlego show {path}")
        episode = self._open(path)
        episode.poll()
        if not episode.steps:
            return _missing(episode.fault or "The episode has not begun.")
        if episode.is_lost and not episode.waits:
            episode.waits = episode.is_being_checked = True
            self._to_check.put(episode)
        if episode.checked is not None and episode.checked is not episode.explanation:
            episode.use_checked(episode.checked)
        if status.cause is not None and status.cause != episode.explanation.cause:
            episode.explanation = episode.checked = replace(episode.explanation, cause=status.cause)
        return _json(episode.data.value())

    def _check(self) -> None:
        """Check the facts of one episode after the other, as long as the process lives."""
        while True:
            episode = self._to_check.get()
            cause = None
            try:
                episode.checked = self._sources.explain(episode.path)
                cause = episode.checked.cause
            except Exception:  # noqa: BLE001 -- it is shown without checks, and the others must still be checked
                episode.is_being_checked = False
            self._checked[episode.path] = self._checked.get(episode.path, (0, None))[0] + 1, cause


def _json(value: Mapping[str, object]) -> WebPage:
    return WebPage(json.dumps(value, separators=(",", ":")), "application/json")


def _missing(text: str) -> WebPage:
    return WebPage(f"{text}\n", status=HTTPStatus.NOT_FOUND)
