"""A report as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import jinja2
from markupsafe import Markup

from pddlego.display.page import EpisodePage, ListedEpisode, episode_page, render
from pddlego.errors import JournalError
from pddlego.methods.registry import make_codec, screen_of
from pddlego.report.build import Report
from pddlego.report.formats import NOTE, tables
from pddlego.report.optima import Optima
from pddlego.report.plots import anchor, draw
from pddlego.runs.cells import Cell
from pddlego.runs.folders import EPISODES
from pddlego.runs.journal import read_journal
from pddlego.runs.listing import EpisodeStatus, costs_of
from pddlego.runs.store import journal_name
from pddlego.runs.summary import Summary


def html(report: Report, folders: Sequence[Path], most_pages: int, optima: Optima | None = None) -> str:
    """The whole file. At most `most_pages` episodes get a page of their own, those that were not won first.

    With `optima` the steps are also shown against the full-information optimum.
    """
    paged = {
        result.cell for result in sorted(report.results, key=lambda result: (result.won, result.cell))[:most_pages]
    }
    listed = list(_listed(report.results, folders, paged))
    anchors = {episode.page.key for episode in listed if episode.page is not None}
    return render(
        "report.html.j2",
        listed,
        jinja2.PackageLoader("pddlego.report", "."),
        start=False,
        title="pddlego report",
        report=report,
        notes=[NOTE, *report.notes],
        tables=tables(report),
        plots=[(plot.title, Markup(plot.svg())) for plot in draw(report, anchors, optima or {})],
    )


def _listed(results: Sequence[Summary], folders: Sequence[Path], paged: set[Cell]) -> Iterator[ListedEpisode]:
    """Every episode with what it has cost, and a page if it is one of those `paged` and its journal is there."""
    costs = {folder: costs_of(folder) for folder in folders}
    for result in results:
        name = journal_name(result.cell, result.attempt)
        folder = next((folder for folder in reversed(folders) if (folder / EPISODES / name).is_file()), None)
        cost = costs[folder].get(result.cell.label, 0.0) if folder is not None else 0.0
        journal = (folder or Path()) / EPISODES / name
        status = EpisodeStatus(journal).with_result(result, cost)
        if folder is None or result.cell not in paged:
            yield ListedEpisode(status)
            continue
        try:
            yield ListedEpisode(status, _page(result, journal))
        except JournalError:
            yield ListedEpisode(replace(status, damaged=True))


def _page(summary: Summary, journal: Path) -> EpisodePage:
    """The page of an episode. Raises `JournalError`."""
    read = read_journal(journal, make_codec())
    return episode_page(anchor(summary), read.timed, screen_of(read.started.played_by if read.started else ""))
