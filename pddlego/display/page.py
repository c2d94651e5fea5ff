"""A self-contained HTML file with a table of episodes, and with each episode step by step."""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
from markupsafe import Markup

from pddlego.display.columns import EPISODE_COLUMNS, RUN_COLUMNS, ListColumn, R
from pddlego.display.console import UNICODE
from pddlego.display.elements import Element, Texts, static_html
from pddlego.display.opened import OVERVIEW, WHY, ShownEpisode
from pddlego.display.screens import Drawing, Tab, result_line, usage_line
from pddlego.display.steps import command_of, is_rejected, is_surprise
from pddlego.episode.events import Accepted, Outcome
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

    A live page reads the steps when the episode is opened, and again when the `version` changes. `text` is the step
    that is shown first, for browsers without scripts.
    """

    key: str
    ending: str
    data: str = ""
    version: str = ""
    text: str = ""


@dataclass(frozen=True)
class ListedEpisode:
    """An episode in the table. `page` is None if only its row is written."""

    status: EpisodeStatus
    page: EpisodePage | None = None


def episode_page(key: str, episode: ShownEpisode, index: int | None = None) -> EpisodePage:
    """The page of an episode, which opens at its end; a lost one opens on `WHY`, at its decisive step.

    `key` is its anchor. With the `index` of a step, the page opens there.
    """
    cause = episode.explanation.cause
    ending = result_line(episode.trace).plain + (f"; cause: {cause}" if cause is not None else "")
    opens = {} if index is None else {"opens": index}
    data = EpisodeData(episode)
    return EpisodePage(key, ending, _packed(data.value() | opens), text=data.text(index))


def _packed(value: Mapping[str, object]) -> str:
    packed = zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 6)
    return base64.b64encode(packed).decode()


StepPane = tuple[str, Drawing, int | None]
"""A pane of a list of steps: its title, its content, and its column on the page if it has one."""


@dataclass(frozen=True)
class ListedStep:
    """A step of a list: its command, the panes of each tab, the `marks` and the colour (`phase`) of the time line."""

    command: str
    tabs: Sequence[Sequence[StepPane]]
    marks: Sequence[str] = ()
    phase: str = ""


def render_steps(title: str, tabs: Sequence[str], steps: Iterable[ListedStep], opens: int = 0) -> str:
    """The HTML file of one list of steps, which opens at the step with this index."""
    texts = Texts()
    shown: list[dict[str, Any]] = [
        {
            "step": number,
            "command": clean(step.command),
            "panes": [[texts.element(name, drawing, column=at) for name, drawing, at in panes] for panes in step.tabs],
            "marks": [*step.marks],
            "phase": clean(step.phase),
        }
        for number, step in enumerate(steps)
    ]
    value = {"tabs": [*tabs], "lines": texts.all, "steps": shown, "opens": opens, "tab": tabs[0]}
    about = {"about": clean(title), "title": clean(title), "group": "", "version": ""}
    index = {"noun": "plans", "columns": [], "rows": [], "episodes": {"plan": about}, "start": ["plan"]}
    page = EpisodePage("plan", "", _packed(value), text=static_html(shown[opens]["panes"], texts.all))
    return render_index("page.html.j2", index, pages=[page], title=title, single=True)


class EpisodeData:
    """The steps of an episode as a JSON value. Each distinct text is stored once; panes refer to it by number."""

    def __init__(self, episode: ShownEpisode) -> None:
        self._episode = episode
        self._texts = Texts()
        self._steps: list[dict[str, Any]] = []
        self._made: tuple[object, ...] | None = None

    def value(self) -> dict[str, Any]:
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
            "lines": self._texts.all,
            "steps": self._steps,
            "opens": decisive if decisive is not None else len(self._steps) - 1,
            "tab": WHY if episode.is_lost else OVERVIEW,
        }

    def text(self, index: int | None = None) -> str:
        """The step at an index, or else the one that the page opens, as HTML that needs no script."""
        value = self.value()
        number = value["opens"] if index is None else index
        tabs = [value["tabs"].index(name) for name in dict.fromkeys((value["tab"], OVERVIEW))]
        step = value["steps"][number] if value["steps"] else {"panes": []}
        return static_html([step["panes"][tab] for tab in tabs if step["panes"]], value["lines"])

    def _step(self, step: Step, tabs: Sequence[Tab], is_decisive: bool) -> dict[str, Any]:
        episode = self._episode
        cause, errors = episode.explanation.cause, episode.explanation.errors
        marks = {
            "cause": is_decisive and cause is not None and cause.step == step.number,
            "rejected answer": is_rejected(step),
            "surprise": is_surprise(step),
            "lasting error": any(error.step == step.number for error in errors),
            "accepted answer": any(isinstance(event, Accepted) and event.source == "model" for event in step.events),
            "request": bool(step.calls),
        }
        return {
            "step": step.number,
            "command": command_of(step),
            "usage": usage_line(step.after, step.after.seconds, UNICODE),
            "marks": [name for name, holds in marks.items() if holds],
            "phase": clean(episode.screen.phase(step.after)),
            "failure": episode.is_failure(step),
            "panes": [self._overview(step), *([self._tab(tab, step)] for tab in tabs), self._why(step)],
        }

    def _overview(self, step: Step) -> list[Element]:
        columns = self._episode.screen.on_page(step.after, UNICODE)
        return [
            self._texts.element(*pane.on_page(), column=column, fixed=pane.page_columns)
            for column, panes in enumerate(columns)
            for pane in panes
        ]

    def _tab(self, tab: Tab, step: Step) -> Element:
        if tab.drawing is not None:
            return self._texts.element(tab.name, tab.drawing(step, UNICODE))
        lines = tab.lines(step, UNICODE)
        columns = max((line.cell_len for line in lines), default=0) if tab.picture else None
        return self._texts.element(tab.name, Drawing((), lines), fixed=columns)

    def _why(self, step: Step) -> list[Element]:
        why = self._episode.why(step)
        parts = (("why", why.head), ("", why.answer), ("", why.truth))
        return [self._texts.element(title, Drawing((), lines)) for title, lines in parts]


def render(
    template: str, listed: Iterable[ListedEpisode], *loaders: jinja2.BaseLoader, start: bool = True, **values: Any
) -> str:
    """The HTML file. `template` is `page.html.j2`, or a template of the `loaders` that extends it.

    With `start`, the page opens at its episode if there is only one, or at its two episodes of the same game and seed.
    """
    all_listed = list(listed)
    pages = [episode.page for episode in all_listed if episode.page is not None]
    return render_index(template, episode_index(all_listed, start), *loaders, pages=pages, **values)


def render_index(template: str, index: Mapping[str, Any], *loaders: jinja2.BaseLoader, **values: Any) -> str:
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
    text = Markup(json.dumps(index, separators=(",", ":")).replace("<", "\\u003c"))
    titles = {key: about["title"] for key, about in index["episodes"].items()}
    common = {"index": text, "titles": titles, "pages": [], "nonce": "", "live": False, "single": False}
    return environment.get_template(template).render(common | values)


def episode_index(listed: Sequence[ListedEpisode], start: bool) -> dict[str, Any]:
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


def run_index(runs: Iterable[tuple[RunRow, str]]) -> dict[str, Any]:
    """The table of runs as a JSON value; with each run comes the address of its page."""
    listed = list(runs)
    rows = ({"key": address, "href": address, "group": "", "counts": _counts(run)} for run, address in listed)
    return {
        "noun": "runs",
        **_table(RUN_COLUMNS, [run for run, _ in listed], rows),
        "episodes": {},
        "start": [],
    }


def _counts(run: RunRow) -> tuple[int, int, int]:
    """The numbers of won, lost and open episodes."""
    return run.won, run.played - run.won, max(0, run.cells - run.played)


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
