"""A report as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from pddlego.display.map import draw, house_of
from pddlego.display.panels import status_of
from pddlego.display.progress import result_line
from pddlego.display.text import UNICODE, clean
from pddlego.errors import JournalError
from pddlego.evaluation.store import journal_name
from pddlego.evaluation.summary import Summary
from pddlego.evaluation.table import Row
from pddlego.events import (
    Answered,
    EpisodeStarted,
    Event,
    Formalized,
    Judged,
    Observed,
    Planned,
    Rejected,
    Resumed,
    Retrying,
)
from pddlego.journal import EPISODES, read_episode
from pddlego.pddl import PddlSyntaxError, parse_problem
from pddlego.report import svg
from pddlego.report.build import Report
from pddlego.report.formats import NOTE, counts, details, success
from pddlego.report.optima import Optima

MAP_SIZE = (76, 25)
"""Characters and lines of an episode's map."""


@dataclass(frozen=True)
class Moment:
    """Something that happened in an episode: a headline, and the lines below it. `kind` chooses the style."""

    kind: str
    headline: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """An episode with everything that happened in it."""

    anchor: str
    title: str
    map: str
    moments: tuple[Moment, ...]


def html(report: Report, folders: Sequence[Path], most_pages: int, optima: Optima | None = None) -> str:
    """The whole file. At most `most_pages` episodes get a page of their own, those that were not won first.

    With `optima` the steps are also shown against the full-information optimum.
    """
    chosen = sorted(report.results, key=lambda each: (each.won, each.cell))[:most_pages]
    pages = [page for each in sorted(chosen, key=lambda each: each.cell) for page in _page(each, folders)]
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
        tables=_tables(report),
        plots=[(title, Markup(drawn)) for title, drawn in _plots(report, anchors, optima or {})],
        episodes=[(anchor(each) if anchor(each) in anchors else "", result_line(each)) for each in report.results],
        pages=pages,
    )


def anchor(summary: Summary) -> str:
    """The anchor of an episode's page."""
    return f"episode-{summary.cell.label}"


def _tables(report: Report) -> list[tuple[str, list[str], list[list[str]]]]:
    found = [("Success", *success(report)), ("All numbers", *details(report))]
    return found + [(title, *counts(counted, what)) for title, what, counted in report.sections]


def _plots(report: Report, anchors: set[str], optima: Optima) -> Iterator[tuple[str, str]]:
    rows = report.rows
    colours = svg.colours_of(f"{mode} {model}" for model, mode in report.methods)
    shown = [
        svg.Bar(
            f"{each.setting} {each.mode} {each.model}",
            each.success,
            each.interval.low,
            each.interval.high,
            f"{each.won} of {each.episodes}, 95 %: {each.interval.low:.0%} to {each.interval.high:.0%}",
            colours[f"{each.mode} {each.model}"],
        )
        for each in rows
    ]
    yield "Success with 95 % intervals", svg.intervals(shown)
    for game in report.games:
        mine = [each for each in report.played if each.cell.setting == game]
        points = [_point(each, each.cell.seed, anchors) for each in mine]
        yield f"{game}: steps by seed", svg.scatter(points, "seed", "steps", colours)
        known = [(each, optima[game, each.cell.seed]) for each in mine if (game, each.cell.seed) in optima]
        if known:
            line = [
                svg.Point("as good as can be", best, best, True, f"{best} steps")
                for best in sorted({best for _, best in known})
            ]
            against = [*line, *(_point(each, best, anchors) for each, best in known)]
            title = f"{game}: steps against the full-information optimum"
            yield title, svg.scatter(against, "steps of who knows everything", "steps", colours)
    spent = [
        (f"{each.setting} {each.mode} {each.model}", _tokens_a_step(report, each), colours[f"{each.mode} {each.model}"])
        for each in rows
        if each.tokens
    ]
    if spent:
        yield "Tokens a step", svg.bars(spent, "tokens")


def _point(summary: Summary, x: float, anchors: set[str]) -> svg.Point:
    series = f"{summary.cell.mode} {summary.cell.model}"
    link = anchor(summary) if anchor(summary) in anchors else ""
    return svg.Point(series, x, summary.tally.steps, summary.won, result_line(summary), link)


def _tokens_a_step(report: Report, row: Row) -> float:
    mine = [each.tally for each in report.played if each.cell.configuration == (row.setting, row.mode, row.model)]
    steps = sum(each.steps for each in mine)
    return sum(each.tokens_in + each.tokens_out for each in mine) / max(1, steps)


def _page(summary: Summary, folders: Sequence[Path]) -> Iterator[Page]:
    """The page of an episode whose journal is there."""
    for folder in reversed(folders):
        journal = folder / EPISODES / journal_name(summary.cell, summary.attempt)
        if journal.is_file():
            try:
                events = read_episode(journal).events
            except JournalError as error:
                yield Page(anchor(summary), result_line(summary), "", (Moment("rejected", clean(error.sentence)),))
                return
            yield Page(anchor(summary), result_line(summary), _map(events), tuple(_moments(events)))
            return


def _map(events: Sequence[Event]) -> str:
    """The map as known at the end."""
    started = next((each for each in events if isinstance(each, EpisodeStarted)), None)
    last = next((each for each in reversed(events) if isinstance(each, Formalized)), None)
    if started is None or started.map is None or last is None:
        return ""
    try:
        house = house_of(parse_problem(last.problem), started.map)
    except PddlSyntaxError:
        return ""
    return draw(house, *MAP_SIZE, UNICODE).plain


def _moments(events: Sequence[Event]) -> Iterator[Moment]:
    for event in events:
        if isinstance(event, Observed):
            command = "the game begins" if event.command is None else clean(event.command)
            remark = "refused" if event.refused else event.surprise
            lines = (clean(event.text), *([clean(remark)] if remark else []))
            yield Moment("observed", f"{event.step}. {command}", lines)
        elif isinstance(event, Answered):
            kept = " (from the cache)" if event.from_cache else ""
            thought = (f"thought: {clean(event.reasoning)}",) if event.reasoning else ()
            yield Moment("answered", f"answer {event.call}{kept}", (*thought, clean(event.text)))
        elif isinstance(event, Retrying):
            yield Moment("rejected", clean(f"try {event.tries} of {event.most} failed: {event.why}"))
        elif isinstance(event, Rejected):
            yield Moment("rejected", clean(f"rejected: {event.message}"), tuple(map(clean, event.evidence)))
        elif isinstance(event, Formalized):
            lines = (*(f"+ {each}" for each in event.added), *(f"- {each}" for each in event.removed))
            yield Moment("formalized", "the problem changed" if lines else "nothing changed", tuple(map(clean, lines)))
        elif isinstance(event, Resumed):
            lines = (*(f"+ {each}" for each in event.added), *(f"- {each}" for each in event.removed))
            yield Moment(
                "formalized", clean(f"resumed after step {event.step} of {event.source}"), tuple(map(clean, lines))
            )
        elif isinstance(event, Judged):
            yield Moment("answered", f"{event.what}: {event.verdict} by a person", (clean(event.text),))
        elif isinstance(event, Planned):
            tried = (f"{each.name}: {status_of(each)}" for each in event.tried)
            steps = (f"{each.action}  {each.command}" for each in event.plan)
            headline = f"plan for '{event.rung}'" if event.rung else "no goal has a plan"
            yield Moment("planned", clean(headline), tuple(map(clean, (*tried, *steps))))
