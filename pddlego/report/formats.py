"""A report as text, Markdown, CSV, JSON, HTML and LaTeX."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import starmap
from pathlib import Path
from types import MappingProxyType

import jinja2
from markupsafe import Markup, escape
from pydantic_core import to_jsonable_python
from rich.text import Text

from pddlego.display.console import UNICODE, Console
from pddlego.display.opened import Explanation, ShownEpisode
from pddlego.display.page import EpisodePage, ListedEpisode, episode_page, render
from pddlego.errors import JournalError, PddlegoError
from pddlego.evaluation.progress import episode_line
from pddlego.evaluation.replay import SettingLoader, load_recorded
from pddlego.evaluation.table import Measured, Row, result_table, results_table
from pddlego.evaluation.truth import Progress
from pddlego.methods.registry import make_codec, screen_of
from pddlego.report.build import Report
from pddlego.report.plots import INSTALL_MATPLOTLIB, anchor, can_draw, draw
from pddlego.report.tables import Table, cause_table, print_table, success, with_note
from pddlego.runs.cells import Cell
from pddlego.runs.folders import EPISODES
from pddlego.runs.journal import read_journal
from pddlego.runs.listing import EpisodeStatus, costs_of
from pddlego.runs.store import journal_name
from pddlego.runs.summary import LastingError, Summary
from pddlego.util.text import clean, markdown_cell, one_line, slug

NOTE = (
    "Success, as the game reports it, over all episodes, with Wilson's interval (95 %). The score, from 0 to 1, "
    "is the game's too, and its mean is over all episodes. Steps, or what else methods are compared by, are the mean "
    "over the episodes that were won; every command that was sent counts, refused ones too."
)


def markdown(report: Report) -> str:
    """The whole report as Markdown."""
    parts = ["# Report", NOTE, *map(markdown_cell, report.notes)]
    for table in report.tables:
        parts += [f"## {markdown_cell(table.title)}", table.markdown()]
    return "\n\n".join(parts) + "\n"


def as_csv(report: Report) -> str:
    """The result table: a line for each episode, with the options of the run if they are not the default."""
    return result_table(report.results, {"options": report.options} if report.options else {})


def as_json(report: Report) -> str:
    """The whole report as JSON."""
    value = {
        "sources": report.sources,
        "notes": report.notes,
        "rows": [_row(row) for row in report.rows],
        "comparisons": [asdict(comparison) for comparison in report.comparisons],
        "figures": report.figures,
        "episodes": report.results,
    }
    # JSON has no infinity: an interval without bounds becomes null.
    return json.dumps(to_jsonable_python(value, inf_nan_mode="null"), indent=1) + "\n"


def _row(row: Row) -> dict[str, object]:
    """A row as a JSON object: its values, and the means of the common numbers and of the method's numbers."""
    values: dict[str, object] = {}
    for name, value in vars(row).items():
        values |= _means(value) if isinstance(value, Mapping) else {name: value}
    return values | {"success": row.success}


def _means(numbers: Mapping[str, Measured]) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for name, number in numbers.items():
        means[name] = number.mean
        if number.column.median:
            means[f"median_{name}"] = number.median
    return means


def html(report: Report, progress: Progress = lambda done, total: None, most_pages: int = 200) -> str:
    """The whole report as one self-contained HTML file.

    At most `most_pages` episodes have a page of their own; those that were not won come first. `progress` is called
    after each page.
    """
    paged = {
        result.cell for result in sorted(report.results, key=lambda result: (result.won, result.cell))[:most_pages]
    }
    listed = list(_listed(report, paged, progress))
    first = [table for table in (success(report.rows), cause_table(report.causes)) if table.body]
    anchors = {episode.page.key for episode in listed if episode.page is not None}
    return render(
        "report.html.j2",
        listed,
        jinja2.PackageLoader("pddlego.report", "."),
        start=False,
        title="pddlego report",
        report=report,
        notes=[NOTE, *report.notes, *([] if can_draw() else [f"This page has no figures. {INSTALL_MATPLOTLIB}"])],
        names=("game", "mode", "model", "outcome", "trouble", "goal", "error"),
        first=first,
        tables=[table for table in report.tables if table.body and table not in first],
        plots=[(plot.title, Markup(plot.svg())) for plot in draw(report, anchors)],
    )


def _listed(report: Report, paged: set[Cell], progress: Progress) -> Iterator[ListedEpisode]:
    """Every episode with its cost, and with its page if its cell is in `paged` and its journal exists."""
    folders, loader = [Path(source) for source in report.sources], SettingLoader()
    costs, done = {folder: costs_of(folder) for folder in folders}, 0
    for result in report.results:
        name = journal_name(result.cell, result.attempt)
        folder = next((folder for folder in reversed(folders) if (folder / EPISODES / name).is_file()), None)
        cost = costs[folder].get(result.cell.label, 0.0) if folder is not None else 0.0
        journal = (folder or Path()) / EPISODES / name
        status = replace(EpisodeStatus(journal).with_result(result, cost), cause=report.causes.error_of(result))
        if folder is None or result.cell not in paged:
            yield ListedEpisode(status)
            continue
        try:
            yield ListedEpisode(status, _page(result, journal, report.causes.error_of(result), loader))
        except JournalError:
            yield ListedEpisode(replace(status, damaged=True))
        done += 1
        progress(done, len(paged))


def _page(summary: Summary, journal: Path, cause: LastingError | None, loader: SettingLoader) -> EpisodePage:
    """The page of an episode, with checks of facts if possible, opened at its cause. Raises `JournalError`."""
    read = read_journal(journal, make_codec())
    if cause is not None and cause.step is not None:
        with contextlib.suppress(PddlegoError):
            read = load_recorded(journal, loader=loader).checked()
    explanation = Explanation(read.timed, cause, summary.measures.errors)
    return episode_page(anchor(summary), ShownEpisode(explanation, screen_of, UNICODE))


def latex(report: Report, figures: Mapping[str, str] = MappingProxyType({})) -> str:
    """Every table for LaTeX, with booktabs, and the `figures`: titles by the names of their PDF files."""
    notes, packages = _comments((NOTE, *report.notes)), r"% \usepackage{booktabs,graphicx}"
    tables = (latex_table(table.noted(report.options)) for table in report.tables)
    drawn = ((name, with_note(title, report.options)) for name, title in figures.items())
    return "\n\n".join([packages, *notes, *tables, *starmap(_tex_figure, drawn)]) + "\n"


def _comments(notes: Iterable[str]) -> list[str]:
    return [f"% {line}" for note in notes for line in note.splitlines()]


def _tex_figure(name: str, title: str) -> str:
    label = Path(name).stem
    lines = (r"\begin{figure}", r"\centering", rf"\includegraphics[width=\linewidth]{{{name}}}")
    return "\n".join((*lines, rf"\caption{{{_tex(title)}}}", rf"\label{{fig:{label}}}", r"\end{figure}"))


def latex_table(table: Table) -> str:
    """A table for LaTeX, with booktabs, a caption and a label; the best values are bold.

    One that is too wide or too long for a page becomes several, which all have the columns with names.
    """
    label = slug(re.split(r" in %|,", re.sub(r"\(.*?\)", "", table.title))[0])
    parts = table.short().parts(_TEX_WIDTH, _TEX_ROWS)
    labels = [label if number == 1 else f"{label}-{number}" for number in range(1, len(parts) + 1)]
    return "\n\n".join(map(_tex_table, parts, labels))


_TEX_WIDTH, _TEX_ROWS = 80, 40
"""Characters, with two for the space beside each column, and rows that a page of a usual LaTeX class has room for."""


def _tex_table(short: Table, label: str) -> str:
    title, head, body, bold = short
    columns = "".join("r" if numeric else "l" for numeric in short.is_numeric)
    rows = [
        _tex_row(
            rf"\textbf{{{_tex(cell)}}}" if (number, place) in bold else _tex(cell) for place, cell in enumerate(row)
        )
        for number, row in enumerate(body)
    ]
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_tex(title)}}}",
        rf"\label{{tab:{label}}}",
    ]
    lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _tex_row(map(_tex, head)), r"\midrule", *rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"])


def _tex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_TEX |= {sign: f"\\{sign}" for sign in "&%$#_{}"}
_TEX |= {"\N{EN DASH}": "--", "\N{MINUS SIGN}": "$-$", "<": "$<$", ">": "$>$", "…": r"\ldots{}"}


def _tex(text: str) -> str:
    """The text for LaTeX; a hyphen between two numbers becomes an en dash, one before a number a minus sign, and two
    (of a flag) stay two."""
    plain = re.sub(r"(?<=\d)-(?=\d)", "\N{EN DASH}", clean(text))
    plain = re.sub(r"(?<![\w.])-(?=\d)", "\N{MINUS SIGN}", plain)
    return "".join(_TEX.get(letter, letter) for letter in re.sub("-(?=-)", "\0", plain)).replace("\0", "-{}")


def one_table(table: Table, to: str, notes: Sequence[str] = (), options: str = "") -> str:
    """A single table in the format of this name, with notes; CSV has no place for them, but a column for `options`."""
    if to == "csv":
        same = [options] * len(table.body)
        return (table.with_column("options", same) if options else table).csv()
    if to == "json":
        noted = {"notes": notes} if notes else {}
        return json.dumps({"title": table.title, "head": table.head, "rows": table.body, **noted}, indent=1) + "\n"
    if to == "latex":
        return "\n".join([*_comments(notes), latex_table(table.noted(options))]) + "\n"
    short = table.short()
    if to == "text":
        file = io.StringIO()
        print_table(Console(file=file), table)
        return file.getvalue() + "".join(f"{clean(note)}\n" for note in notes)
    if to == "markdown":
        return "\n\n".join((markdown_cell(short.title), short.markdown(), *map(markdown_cell, notes))) + "\n"
    return f"<h2>{escape(short.title)}</h2>\n{short.html()}\n" + "".join(f"<p>{escape(note)}</p>\n" for note in notes)


def as_text(report: Report) -> str:
    """The report as it is printed on a terminal, without colours."""
    file = io.StringIO()
    print_report(Console(file=file), report)
    return file.getvalue()


def print_report(console: Console, report: Report) -> None:
    """Print the report on a terminal."""
    console.print(f"From {', '.join(report.sources)}", style="dim", highlight=False, soft_wrap=True)
    if report.rows:
        for table in (success(report.rows), *report.compared):
            print_table(console, table)
        console.print(Text("All numbers", "bold"))
        console.print(results_table(report.rows, console.width), highlight=False)
    for note in report.notes:
        console.print(note, style="dim", highlight=False)
    console.print()
    _lost(console, report)
    for table in (*report.analyses, *report.counts):
        print_table(console, table)


def _lost(console: Console, report: Report) -> None:
    """The errors that lasted, and the first episodes that were not won, each with its cause."""
    errors = cause_table(report.causes)
    if errors.body:
        print_table(console, errors)
    lost = [summary for summary in report.played if not summary.won]
    if lost:
        console.print(Text("Episodes that were not won", "bold"))
        for summary in lost[:_LOST]:
            cause = report.causes.of(summary)
            line = f"{episode_line(replace(summary, message=''))}; cause: {cause}" if cause else episode_line(summary)
            console.print(one_line(line, max(_LOST_WIDTH, console.width)), highlight=False, markup=False)
        if len(lost) > _LOST:
            run = shlex.quote(report.sources[0]) if len(report.sources) == 1 else "RUN"
            more = f"… {len(lost) - _LOST} more: pddlego show {run} --only lost"
            console.print(more, style="dim", highlight=False, markup=False, soft_wrap=True)
        console.print()


_LOST = 10
"""The number of lost episodes that are listed."""

_LOST_WIDTH = 160
"""The number of characters of a lost episode that are printed also on a narrow terminal."""

FORMATS: Mapping[str, Callable[[Report], str]] = {
    "text": as_text,
    "markdown": markdown,
    "csv": as_csv,
    "json": as_json,
    "latex": latex,
}
"""The formats of a report, except HTML, which has options."""
