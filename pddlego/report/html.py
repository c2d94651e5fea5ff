"""A report as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from pddlego.display.console import UNICODE
from pddlego.display.description import Description, Line
from pddlego.display.view import cleaned
from pddlego.errors import JournalError
from pddlego.evaluation.progress import result_line
from pddlego.methods.registry import make_codec, renderer_of
from pddlego.report.build import Report
from pddlego.report.formats import NOTE, tables
from pddlego.report.optima import Optima
from pddlego.report.plots import anchor, draw
from pddlego.runs.folders import EPISODES
from pddlego.runs.journal import read_journal
from pddlego.runs.store import journal_name
from pddlego.runs.summary import Summary
from pddlego.util.text import clean


@dataclass(frozen=True)
class Page:
    """An episode with everything that happened in it."""

    anchor: str
    title: str
    map: str
    moments: tuple[Description, ...]


def html(report: Report, folders: Sequence[Path], most_pages: int, optima: Optima | None = None) -> str:
    """The whole file. At most `most_pages` episodes get a page of their own, those that were not won first.

    With `optima` the steps are also shown against the full-information optimum.
    """
    chosen = sorted(report.results, key=lambda result: (result.won, result.cell))[:most_pages]
    pages = [page for result in sorted(chosen, key=lambda result: result.cell) for page in _page(result, folders)]
    anchors = {page.anchor for page in pages}
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pddlego.report", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: clean(value) if type(value) is str else value,  # drawings are Markup, and clean
    )
    return environment.get_template("page.html.j2").render(
        report=report,
        notes=[NOTE, *report.notes],
        tables=tables(report),
        plots=[(plot.title, Markup(plot.svg())) for plot in draw(report, anchors, optima or {})],
        episodes=[
            (anchor(result) if anchor(result) in anchors else "", result_line(result)) for result in report.results
        ],
        pages=pages,
    )


def _page(summary: Summary, folders: Sequence[Path]) -> Iterator[Page]:
    """The page of an episode whose journal is there."""
    for folder in reversed(folders):
        journal = folder / EPISODES / journal_name(summary.cell, summary.attempt)
        if journal.is_file():
            try:
                read = read_journal(journal, make_codec())
            except JournalError as error:
                damage = Description("rejected", Line(clean(error.sentence)))
                yield Page(anchor(summary), result_line(summary), "", (damage,))
                return
            picture = renderer_of(read.started.played_by if read.started else "")
            film = picture.film()
            film.add(read.timed)
            moments = (picture.describe(cleaned(event), UNICODE) for event in read.events)
            shown = tuple(moment for moment in moments if moment.kind)
            yield Page(anchor(summary), result_line(summary), picture.screen.final_text(film.view), shown)
            return
