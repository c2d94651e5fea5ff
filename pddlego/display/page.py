"""A self-contained HTML file with a table of episodes, and with each episode step by step."""

from __future__ import annotations

import base64
import io
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import jinja2
import rich.console
from markupsafe import Markup
from rich.segment import Segment
from rich.text import Text

from pddlego.display.columns import EPISODE_COLUMNS, RUN_COLUMNS, ListColumn, R
from pddlego.display.console import UNICODE
from pddlego.display.opened import OVERVIEW, WHY, ShownEpisode
from pddlego.display.screens import Canvas, Screen, Tab, result_line
from pddlego.display.steps import command_of, is_rejected, is_surprise
from pddlego.episode.events import Outcome
from pddlego.episode.trace import Step
from pddlego.runs.cells import NO_MODEL
from pddlego.runs.folders import journal_parts, last_journals
from pddlego.runs.listing import EpisodeStatus, RunRow
from pddlego.util.text import clean, slug


def _attempt(episode: EpisodeStatus) -> str:
    """The number of an attempt after the first one, which has no number."""
    attempt = journal_parts(episode.path)[1]
    return str(attempt) if attempt > 1 else ""


_ATTEMPT = ListColumn("attempt", _attempt, right=True)
_COLUMNS = tuple(
    column
    for listed in EPISODE_COLUMNS
    if listed.name not in ("changed", "last command")
    for column in ((listed, _ATTEMPT) if listed.name == "seed" else (listed,))
)


@dataclass(frozen=True)
class EpisodePage:
    """An episode on the page: its anchor, its result, and its steps as compressed JSON in base64.

    A live page reads the steps when the episode is opened, and again when the `version` changes.
    """

    key: str
    ending: str
    data: str = ""
    version: str = ""


@dataclass(frozen=True)
class ListedEpisode:
    """An episode in the table. `page` is None if only its row is written."""

    status: EpisodeStatus
    page: EpisodePage | None = None


def episode_page(key: str, episode: ShownEpisode, index: int | None = None) -> EpisodePage:
    """The page of an episode; a lost one opens on `WHY`, at its decisive step. `key` is its anchor.

    With the `index` of a step, the page opens there.
    """
    cause = episode.explanation.cause
    ending = result_line(episode.trace).plain + (f"; cause: {cause}" if cause is not None else "")
    opens = {} if index is None else {"opens": index}
    return EpisodePage(key, ending, _packed(EpisodeData(episode).value() | opens))


def _packed(value: Mapping[str, object]) -> str:
    packed = zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 6)
    return base64.b64encode(packed).decode()


_StyledLines = Sequence[tuple[str, str]]
"""Texts, each with its style."""


def render_steps(title: str, tabs: Sequence[str], steps: Iterable[tuple[int, str, Sequence[_StyledLines]]]) -> str:
    """The HTML file of one list of steps: each with its number, its command, and the lines of each tab."""
    numbers: dict[str, int] = {}
    shown = [
        {
            "step": number,
            "command": clean(command),
            "lines": [[numbers.setdefault(_styled(*line), len(numbers)) for line in lines] for lines in parts],
        }
        for number, command, parts in steps
    ]
    value = {"tabs": [*tabs], "pictures": [], "lines": list(numbers), "steps": shown, "opens": 0, "tab": tabs[0]}
    about = {"about": clean(title), "title": clean(title), "group": "", "version": ""}
    index = {"noun": "plans", "columns": [], "rows": [], "episodes": {"plan": about}, "start": ["plan"]}
    return render_index(
        "page.html.j2", index, pages=[EpisodePage("plan", "", _packed(value))], title=title, single=True
    )


class EpisodeData:
    """The steps of an episode as a JSON value. Each distinct line is stored once; steps refer to it by number."""

    def __init__(self, episode: ShownEpisode) -> None:
        self._episode = episode
        self._numbers: dict[str, int] = {}
        self._steps: list[dict[str, object]] = []
        self._made: tuple[object, ...] | None = None

    def value(self) -> dict[str, object]:
        """The value. While the episode is being played, a later call adds steps, and makes the last one again."""
        episode, tabs = self._episode, self._episode.tabs()
        trace, names = episode.trace, [OVERVIEW, *(tab.name for tab in tabs), WHY]
        made = trace, len(trace), names, episode.is_being_checked, episode.explanation.cause
        if self._made != made:  # there are new events, or the same ones with checks
            only_last = trace.ended is None and self._made is not None and names == self._made[2]
            del self._steps[-1 if only_last else 0 :]
            self._made = made
        decisive = episode.decisive_index if episode.is_lost else None
        for number in range(len(self._steps), len(episode.steps)):
            self._steps.append(self._step(episode.steps[number], tabs, number == decisive))
        return {
            "tabs": names,
            "pictures": [OVERVIEW, *(tab.name for tab in tabs if tab.picture)],
            "lines": list(self._numbers),
            "steps": self._steps,
            "opens": decisive if decisive is not None else 0 if episode.trace.ended else len(self._steps) - 1,
            "tab": WHY if episode.is_lost else OVERVIEW,
        }

    def _step(self, step: Step, tabs: Sequence[Tab], is_decisive: bool) -> dict[str, object]:
        episode = self._episode
        why, cause = episode.why(step), episode.explanation.cause
        return {
            "step": step.number,
            "command": command_of(step),
            "rejected": is_rejected(step),
            "surprise": is_surprise(step),
            "failure": episode.is_failure(step),
            "decisive": is_decisive and cause is not None and cause.step == step.number,
            "lines": [
                self._numbered(_picture(episode.screen, step)),
                *(self._numbered(map(_html, tab.lines(step, UNICODE))) for tab in tabs),
                [self._numbered(map(_html, part)) for part in (why.head, why.answer, why.truth)],
            ],
        }

    def _numbered(self, lines: Iterable[str]) -> list[int]:
        return [self._numbers.setdefault(line, len(self._numbers)) for line in lines]


_PICTURE_SIZE = (80, 44)
"""The columns and lines of the overview: as many columns as a phone can show."""


def _picture(screen: Screen, step: Step) -> list[str]:
    """The screen after a step as lines of HTML."""
    drawn = screen.draw(step.after, Canvas(*_PICTURE_SIZE, step.after.seconds, UNICODE))
    rows = _CONSOLE.render_lines(drawn, _CONSOLE.options.update(width=_PICTURE_SIZE[0], height=None), pad=False)
    return [
        "".join(_styled(segment.text, str(segment.style or "")) for segment in Segment.simplify(row)) for row in rows
    ]


_CONSOLE = rich.console.Console(file=io.StringIO(), color_system=None)


def _html(line: Text) -> str:
    """A line as HTML, with the names of its styles as classes."""
    if not line.spans:
        return _styled(line.plain, str(line.style))
    return "".join(_styled(segment.text, str(segment.style or "")) for segment in line.render(_CONSOLE, end=""))


def _styled(text: str, style: str) -> str:
    shown = escape(clean(text), quote=False)
    return f'<span class="{escape(style)}">{shown}</span>' if style and style != "none" else shown


def render(
    template: str, listed: Iterable[ListedEpisode], *loaders: jinja2.BaseLoader, start: bool = True, **values: Any
) -> str:
    """The HTML file. `template` is `page.html.j2`, or a template of the `loaders` that extends it.

    With `start`, the page opens at its episode if there is only one, or at its two episodes of the same game and seed.
    """
    all_listed = list(listed)
    pages = [episode.page for episode in all_listed if episode.page is not None]
    return render_index(template, episode_index(all_listed, start), *loaders, pages=pages, **values)


def render_index(template: str, index: Mapping[str, object], *loaders: jinja2.BaseLoader, **values: Any) -> str:
    """The HTML file with this index. `nonce` is that of its Content-Security-Policy; `live` pages read data again.

    A page of a `single` list of steps has no table, and no buttons for what only episodes have.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([*loaders, jinja2.PackageLoader("pddlego.display", ".")]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: clean(value) if type(value) is str else value,  # `Markup` is cleaned by its maker
    )
    environment.filters["slug"] = slug
    # "<" could begin the end tag of the script element that contains the text.
    text = json.dumps(index, separators=(",", ":")).replace("<", "\\u003c")
    return environment.get_template(template).render(
        {"index": Markup(text), "pages": [], "nonce": "", "live": False, "single": False, **values}
    )


def episode_index(listed: Sequence[ListedEpisode], start: bool) -> dict[str, object]:
    """The table of episodes as a JSON value: lost episodes by their causes, and modes without a model last."""
    pages = [episode.page for episode in listed if episode.page is not None]
    paths = {episode.status.path for episode in listed}
    several = len({path.parent for path in paths}) > 1
    belong_together = len(listed) in (1, 2) and len(set(map(_group, listed))) == 1
    sizes = Counter(_ending(episode.status) for episode in listed)
    in_order = sorted(listed, key=lambda each: (_order(each.status, sizes), _ending(each.status)))
    return {
        "noun": "attempts" if len(last_journals(paths)) < len(paths) else "episodes",
        **_table(_COLUMNS, [episode.status for episode in in_order], map(_row, in_order)),
        "episodes": {
            episode.page.key: {
                "about": (about := _about(episode.status, several)),
                "title": about + (clean(f": {episode.page.ending}") if episode.page.ending else ""),
                "group": _group(episode),
                "version": episode.page.version,
            }
            for episode in listed
            if episode.page is not None
        },
        "start": [page.key for page in pages] if start and belong_together else [],
    }


def run_index(runs: Iterable[tuple[RunRow, str]]) -> dict[str, object]:
    """The table of runs as a JSON value; with each run comes the address of its page."""
    listed = list(runs)
    rows = ({"key": address, "href": address, "group": ""} for _, address in listed)
    return {
        "noun": "runs",
        **_table(RUN_COLUMNS, [run for run, _ in listed], rows),
        "episodes": {},
        "start": [],
    }


def _ending(status: EpisodeStatus) -> str:
    """The heading under which the table lists an episode."""
    if status.outcome is None:
        return "not ended"
    without = ", no model" if status.model == NO_MODEL else ""
    if status.outcome is Outcome.WON:
        return f"won{without}"
    if status.cause is not None:
        return f"lost{without}: {status.cause.kind}"
    if status.outcome in _NO_LOSSES:
        return f"{status.outcome.value}{without}"
    return f"lost{without or ': no known cause'}"


_NO_LOSSES = (Outcome.MODEL_ERROR, Outcome.BUDGET, Outcome.INTERRUPTED, Outcome.CRASHED)
"""Endings that say nothing about the game."""


def _order(status: EpisodeStatus, sizes: Mapping[str, int]) -> tuple[bool, int, int]:
    """The place of a heading: running episodes, frequent causes first, losses without one, wins; no model last."""
    known = status.cause is not None
    phase = 0 if status.outcome is None else 3 if status.outcome is Outcome.WON else 1 if known else 2
    return status.model == NO_MODEL, phase, -sizes[_ending(status)]


def _about(status: EpisodeStatus, names_run: bool) -> str:
    run = f"{status.path.parent.parent.name}: " if names_run else ""
    return clean(f"{run}{status.setting} {status.mode} {status.model} seed {status.seed}")


def _group(episode: ListedEpisode) -> str:
    """The game and the seed. Episodes with the same ones can be shown side by side."""
    return f"{episode.status.setting} {episode.status.seed}"


def _row(episode: ListedEpisode) -> dict[str, object]:
    key = episode.page.key if episode.page is not None else None
    return {"key": key, "group": clean(_ending(episode.status))}


def _table(
    columns: Sequence[ListColumn[R]], items: Sequence[R], rows: Iterable[Mapping[str, object]]
) -> dict[str, object]:
    """The columns, without those that are empty in every row, and the rows with their cells."""
    texts = [[clean(column.text(item)) for item in items] for column in columns]
    shown = [place for place, column in enumerate(texts) if any(column)]
    return {
        "columns": [{"name": columns[place].name, "right": columns[place].right} for place in shown],
        "rows": [
            {
                **row,
                "cells": [texts[place][number] for place in shown],
                "styles": [columns[place].style(items[number]) for place in shown],
            }
            for number, row in enumerate(rows)
        ],
    }
