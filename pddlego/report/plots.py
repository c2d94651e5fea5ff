"""The figures of a report, drawn by matplotlib: as SVG in the page, and as PDF files for a paper.

Methods differ by colour, marker and dashes, so that a figure can be read in greyscale.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pddlego.methods.registry import measuring_of
from pddlego.report.build import Report
from pddlego.report.figures import DrawnFigure, method_label
from pddlego.report.tables import Method, Table, methods_of, short_labels
from pddlego.runs.summary import Summary
from pddlego.util.text import clean, slug

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#56b4e9", "#e69f00", "#999933")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", "p", ">")
_DASHES = ("-", "--", "-.", ":")
"""11 markers have no divisor in common with 8 colours or 4 dashes: 44 methods differ in greyscale, 88 in colour."""

_SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "pddlego", "font.size": 9, "pdf.fonttype": 42}
"""Settings of matplotlib: text stays text in SVG, and equal reports give identical files."""

_WIDTH, _HEIGHT = 5.2, 3.2
"""Inches of a figure."""


@dataclass(frozen=True)
class Style:
    """How a method is drawn, and what it is called in a legend."""

    label: str
    colour: str
    marker: str
    dashes: str


@dataclass(frozen=True)
class Plot:
    """A figure with its title. `name` is that of its file."""

    name: str
    title: str
    figure: Figure

    def svg(self) -> str:
        """The figure as an element of a page."""
        text = io.StringIO()
        _save(self.figure, text, "svg", dict.fromkeys(("Date", "Creator", "Format", "Type")))
        element = text.getvalue().partition("<svg")[2]
        return "<svg" + re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", element)

    def write(self, folder: Path) -> Path:
        """Write the figure as a PDF file."""
        path = folder / f"{self.name}.pdf"
        _save(self.figure, path, "pdf", {"CreationDate": None})
        return path


def _save(figure: Figure, target: Path | io.StringIO, to: str, metadata: dict[str, None]) -> None:
    import matplotlib

    with matplotlib.rc_context(_SETTINGS), warnings.catch_warnings():
        # SVG holds the text, whatever the font; where PDF has a box for a letter, docs/evaluating.md says why.
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from")
        figure.savefig(target, format=to, metadata=metadata, bbox_inches="tight")


INSTALL_MATPLOTLIB = "Install matplotlib: pip install '.[figures]'."


def can_draw() -> bool:
    """True if matplotlib, the extra `figures`, is installed."""
    return find_spec("matplotlib") is not None


def draw(report: Report, anchors: set[str]) -> Iterator[Plot]:
    """Every figure: success, the compared number by seed, and what methods measure.

    Points lead to the page of their episode if that is among the `anchors`. Without matplotlib there are no figures.
    """
    if not can_draw():
        return
    styles = styles_of(methods_of(report.rows))
    yield _success(report, styles)
    for game in dict.fromkeys(row.setting for row in report.rows):
        modes = (row.mode for row in report.rows if row.setting == game)
        compared = next((name for mode in modes if (name := measuring_of(game, mode).compared)), "")
        mine = [result for result in report.played if result.cell.setting == game and compared]
        by_seed = [(float(result.cell.seed), result) for result in mine]
        if by_seed:
            title = f"{game}: {compared} by seed"
            yield _scatter(Plot(f"{game}-{compared}", title, _figure()), by_seed, ("seed", compared), styles, anchors)
    for drawn in report.figures:
        yield _lines(drawn, styles)
    for table in report.bars:
        yield _bars(table, styles)


def anchor(summary: Summary) -> str:
    """The anchor of an episode's page."""
    return f"episode-{summary.cell.label}"


def styles_of(methods: Sequence[Method]) -> dict[str, Style]:
    """The style of each method, by mode and model as text."""
    labels = short_labels(methods)
    styles = {}
    for number, (model, mode) in enumerate(methods):
        colour, marker = _COLOURS[number % len(_COLOURS)], _MARKERS[number % len(_MARKERS)]
        style = Style(labels[model, mode], colour, marker, _DASHES[number % len(_DASHES)])
        styles[method_label(mode, model)] = style
    return styles


def _figure() -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return figure


def _axes(plot: Plot) -> Axes:
    (axes,) = plot.figure.axes
    return axes


def _success(report: Report, styles: Mapping[str, Style]) -> Plot:
    """The success of each game with its intervals, grouped: the methods side by side in the order of the tables."""
    plot = Plot("success", "Success with 95 % intervals", _figure())
    games = list(dict.fromkeys(row.setting for row in report.rows))
    plot.figure.set_figwidth(max(_WIDTH, 1.2 + 0.16 * len(games) * (len(styles) + 1)))
    axes = _axes(plot)
    for number, (key, style) in enumerate(styles.items()):
        mine = [row for row in report.rows if method_label(row.mode, row.model) == key]
        sizes = sorted({row.episodes for row in mine}) if len({row.episodes for row in report.rows}) > 1 else []
        n = f" (n={'-'.join(map(str, sizes[:1] + sizes[1:][-1:]))})" if sizes else ""
        offset = min(0.14, 0.84 / len(styles)) * (number - (len(styles) - 1) / 2)  # all are within 0.42
        axes.errorbar(
            [games.index(row.setting) + offset for row in mine],
            [100 * row.success for row in mine],
            # An interval contains its success; rounding must not make a length negative.
            yerr=[
                [100 * max(0.0, row.success - row.interval.low) for row in mine],
                [100 * max(0.0, row.interval.high - row.success) for row in mine],
            ],
            color=style.colour,
            marker=style.marker,
            linestyle="none",
            label=style.label + n,
        )
    axes.set_xticks(range(len(games)), map(clean, games), rotation=30 if len(games) > 4 else 0)
    axes.grid(visible=False, axis="x")
    axes.set_xlim(-0.5, len(games) - 0.5)
    axes.set_ylim(-2, 104)
    axes.set_ylabel("success in %")
    _legend(plot)
    return plot


def _scatter(
    plot: Plot,
    points: Sequence[tuple[float, Summary]],
    names: tuple[str, str],
    styles: Mapping[str, Style],
    anchors: set[str],
) -> Plot:
    """A point for each episode, with a link to its page.

    Those that were not won are hollow, on a line above the others: their numbers do not compare.

    The points of each method are smaller than those of the one before, so that equal ones stay visible.
    """
    from matplotlib.ticker import MaxNLocator

    axes, name = _axes(plot), names[1]
    highest = max((result.measures.numbers.get(name, 0) for _, result in points if result.won), default=1)
    lost = 1.12 * max(1, highest)
    for number, (key, style) in enumerate(styles.items()):
        mine = [(x, result) for x, result in points if method_label(result.cell.mode, result.cell.model) == key]
        ys = [result.measures.numbers.get(name, 0) if result.won else lost for _, result in mine]
        drawn = axes.scatter(
            [x for x, _ in mine],
            ys,
            marker=style.marker,
            s=14 + 76 * (1 - number / len(styles)) ** 2,
            facecolors=[style.colour if result.won else "none" for _, result in mine],
            edgecolors=style.colour,
        )
        if mine:  # the legend shows a filled marker, whatever the first episode is
            axes.scatter([], [], marker=style.marker, color=style.colour, label=style.label)
        drawn.set_urls([f"#{quote(anchor(result))}" if anchor(result) in anchors else None for _, result in mine])
    if any(not result.won for _, result in points):
        axes.axhline(lost, color="#888888", linewidth=0.6, zorder=0)
        axes.scatter([], [], marker="o", facecolors="none", edgecolors="#444444", label="hollow: not won")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(names[0])
    axes.set_ylabel(name)
    _legend(plot)
    return plot


def _lines(drawn: DrawnFigure, styles: Mapping[str, Style]) -> Plot:
    """A line for each method with its standard errors; those drawn first are thicker, so that all stay visible."""
    from matplotlib.ticker import MaxNLocator

    plot = Plot(slug(drawn.figure.series), drawn.figure.title, _figure())
    axes = _axes(plot)
    for number, line in enumerate(drawn.lines):
        key = next((key for key in styles if line.label.endswith(key)), "")
        style = styles.get(key, Style("", "#000000", "o", "-"))
        label = clean(line.label.removesuffix(key)) + style.label
        width = 1.0 + 3.0 * (1 - number / len(drawn.lines)) ** 2
        axes.errorbar(
            [point.x for point in line.points],
            [point.y for point in line.points],
            yerr=[point.error for point in line.points],
            color=style.colour,
            marker=style.marker,
            markersize=4,
            linestyle=style.dashes,
            linewidth=width,
            capsize=2,
            label=label,
        )
    points = [point for line in drawn.lines for point in line.points]
    if all(point.x == round(point.x) for point in points):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if drawn.figure.logarithmic and any(point.x > 0 for point in points) and any(point.y > 0 for point in points):
        axes.set_xscale("log")
        axes.set_yscale("log")
    elif points and all(0 <= point.y <= 1 for point in points):
        axes.set_ylim(-0.02, 1.04)  # a share
    axes.set_xlabel(drawn.figure.x)
    axes.set_ylabel(drawn.figure.y)
    _legend(plot)
    return plot


_FILLS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999", "#000000", "#ffffff")
_HATCHES = ("", "//", "..", "xx", "\\\\", "--", "++", "oo", "", "**")
"""Colours and patterns of the kinds in bars."""


def _bars(table: Table, styles: Mapping[str, Style]) -> Plot:
    """A bar for each configuration, divided into its kinds, which differ by colour and pattern."""
    from matplotlib.ticker import MaxNLocator

    plot = Plot(slug(table.title), table.title, _figure())
    counts: dict[tuple[str, str, str], dict[str, int]] = {}
    for setting, mode, model, kind, number in table.body:
        counts.setdefault((setting, mode, model), {})[kind] = int(number)
    plot.figure.set_figheight(1.2 + 0.24 * len(counts))
    axes = _axes(plot)
    left = [0] * len(counts)
    for place, kind in enumerate(dict.fromkeys(row[3] for row in table.body)):
        widths = [kinds.get(kind, 0) for kinds in counts.values()]
        fill, hatch = _FILLS[place % len(_FILLS)], _HATCHES[place % len(_HATCHES)]
        axes.barh(range(len(counts)), widths, left=left, color=fill, hatch=hatch, edgecolor="black", label=clean(kind))
        left = [one + other for one, other in zip(left, widths, strict=True)]
    labels = [f"{clean(setting)} {styles[method_label(mode, model)].label}" for setting, mode, model in counts]
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("times")
    _legend(plot)
    return plot


def _legend(plot: Plot) -> None:
    """The legend below the axes, where it hides nothing."""
    handles, labels = _axes(plot).get_legend_handles_labels()
    if len(labels) > 1:
        letters = int(14 * plot.figure.get_figwidth())  # a marker and its margins are as wide as 11 of them
        columns = max(1, letters // max(len(label) + 11 for label in labels))
        more = max(0, -(-len(labels) // columns) - 2)  # rows for which the figure has no room
        plot.figure.set_figheight(plot.figure.get_figheight() + 0.2 * more)
        plot.figure.legend(handles, labels, loc="outside lower center", ncols=min(columns, len(labels)), frameon=False)
