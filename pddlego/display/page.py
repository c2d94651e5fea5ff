"""A self-contained HTML file with a table of episodes, and with each episode step by step."""

from __future__ import annotations

import base64
import io
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import jinja2
import rich.console
from markupsafe import Markup
from rich.text import Text

from pddlego.display.columns import EPISODE_COLUMNS
from pddlego.display.console import UNICODE
from pddlego.display.rows import cleaned
from pddlego.display.screens import Screen, result_line
from pddlego.display.steps import command_of, is_rejected, is_surprise, tabs_of
from pddlego.episode.events import Outcome
from pddlego.episode.trace import TimedEvent, Trace
from pddlego.runs.listing import EpisodeStatus
from pddlego.runs.summary import LastingError
from pddlego.util.text import clean, slug

_COLUMNS = tuple(column for column in EPISODE_COLUMNS if column.name not in ("changed", "last command"))


@dataclass(frozen=True)
class EpisodePage:
    """An episode on the page: its anchor, its result, and its steps as compressed JSON in base64."""

    key: str
    ending: str
    data: str


@dataclass(frozen=True)
class ListedEpisode:
    """An episode in the table. `page` is None if only its row is written."""

    status: EpisodeStatus
    page: EpisodePage | None = None


def episode_page(
    key: str, timed: Iterable[TimedEvent], screen: Screen, cause: LastingError | None = None
) -> EpisodePage:
    """The page of the episode with these events; it opens at the step of the `cause` of a loss. `key` is its anchor."""
    trace = Trace((cleaned(event), seconds) for event, seconds in timed)
    tabs = tabs_of(screen, trace)
    numbers: dict[str, int] = {}  # each distinct line is stored once; steps refer to it by number
    steps = []
    for step in trace.steps:
        lines = [[numbers.setdefault(_html(line), len(numbers)) for line in tab.lines(step, UNICODE)] for tab in tabs]
        steps.append(
            {
                "step": step.number,
                "command": command_of(step),
                "rejected": is_rejected(step),
                "surprise": is_surprise(step),
                "decisive": cause is not None and step.number == cause.step,
                "lines": lines,
            }
        )
    value = {
        "tabs": [tab.name for tab in tabs],
        "pictures": [tab.name for tab in tabs if tab.is_picture],
        "lines": list(numbers),
        "steps": steps,
        "opens": _opens(steps, is_lost=trace.ended is not None and trace.ended.outcome is not Outcome.WON),
    }
    ending = result_line(trace).plain + (f"; cause: {cause}" if cause is not None else "")
    return EpisodePage(key, ending, _packed(value))


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
    value = {"tabs": [*tabs], "pictures": [], "lines": list(numbers), "steps": shown, "opens": 0}
    index = {"columns": [], "rows": [], "episodes": {"plan": {"title": clean(title), "group": ""}}, "start": ["plan"]}
    return _filled("page.html.j2", index, [EpisodePage("plan", "", _packed(value))], (), title=title, single=True)


def _opens(steps: Sequence[Mapping[str, Any]], is_lost: bool) -> int:
    """The index of the step at which an episode opens: that of its cause, else the last failure if it was lost."""
    decisive = [index for index, step in enumerate(steps) if step["decisive"]]
    failures = [index for index, step in enumerate(steps) if is_lost and (step["rejected"] or step["surprise"])]
    return decisive[0] if decisive else failures[-1] if failures else 0


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
    belong_together = len(all_listed) in (1, 2) and len(set(map(_group, all_listed))) == 1
    index = {
        "columns": [{"name": column.name, "right": column.right} for column in _COLUMNS],
        "rows": [_row(episode) for episode in all_listed],
        "episodes": {
            episode.page.key: {"title": _title(episode.status, episode.page), "group": _group(episode)}
            for episode in all_listed
            if episode.page is not None
        },
        "start": [page.key for page in pages] if start and belong_together else [],
    }
    return _filled(template, index, pages, loaders, single=False, **values)


def _filled(
    template: str,
    index: Mapping[str, object],
    pages: Sequence[EpisodePage],
    loaders: Sequence[jinja2.BaseLoader],
    **values: Any,
) -> str:
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([*loaders, jinja2.PackageLoader("pddlego.display", ".")]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: clean(value) if type(value) is str else value,  # `Markup` is cleaned by its maker
    )
    environment.filters["slug"] = slug
    # "<" could begin the end tag of the script element that contains the text.
    text = json.dumps(index, separators=(",", ":")).replace("<", "\\u003c")
    return environment.get_template(template).render(index=Markup(text), pages=pages, **values)


def _title(status: EpisodeStatus, page: EpisodePage) -> str:
    about = f"{status.setting} {status.mode} {status.model} seed {status.seed}"
    return clean(f"{about}: {page.ending}" if page.ending else about)


def _group(episode: ListedEpisode) -> str:
    """The game and the seed. Episodes with the same ones can be shown side by side."""
    return f"{episode.status.setting} {episode.status.seed}"


def _row(episode: ListedEpisode) -> dict[str, object]:
    return {
        "key": episode.page.key if episode.page is not None else None,
        "cells": [clean(column.text(episode.status)) for column in _COLUMNS],
        "styles": [column.style(episode.status) for column in _COLUMNS],
    }
