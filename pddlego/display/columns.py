"""The columns of the tables of runs and of episodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pddlego.display.screens import OUTCOME_STYLE
from pddlego.episode.events import Outcome
from pddlego.runs.folders import last_journals
from pddlego.runs.listing import EpisodeStatus, RunRow
from pddlego.util.text import both_ends, clean, count, is_alike, left_out, money

R = TypeVar("R")


@dataclass(frozen=True)
class ListColumn(Generic[R]):
    """A column: its name, the text and the style of a row, the maximum `width`, and whether texts are aligned right.

    If space is short, a column with `narrow` is reduced to that width. A `key` identifies the row: printed lists never
    shorten or drop it. A `sentence` is cut at its end, other text in the middle.
    """

    name: str
    text: Callable[[R], str]
    style: Callable[[R], str] = lambda row: ""
    width: int = 24
    right: bool = False
    narrow: int | None = None
    key: bool = False
    sentence: bool = False

    def cut(self, text: str, width: int) -> str:
        """The text in at most `width` characters."""
        is_cut = self.sentence and len(text) > width
        return f"{text[: max(0, width - 1)]}…" if is_cut else both_ends(text, width)


def widths_of(columns: Sequence[ListColumn[R]], needed: Sequence[int], room: int, gap: int) -> list[int]:
    """The widths of columns for texts of the `needed` widths. The widest are narrowed until the first have `room`."""
    most = (max(column.width, len(column.name) + 2) for column in columns)
    widths = list(map(min, needed, most))
    while sum(widths[:_VISIBLE_COLUMNS]) + gap * (_VISIBLE_COLUMNS - 1) > room:
        can_shrink = [index for index, column in enumerate(columns) if column.narrow and widths[index] > column.narrow]
        if not can_shrink:
            break
        widths[max(can_shrink, key=widths.__getitem__)] -= 1
    return widths


_VISIBLE_COLUMNS = 7
"""The number of columns of a list that are visible at 80 columns."""


_RUN_STYLES = {"running": "cyan", "failed": "red", "unfinished": "yellow"}

RUN_COLUMNS: tuple[ListColumn[RunRow], ...] = (
    ListColumn("when", lambda run: run.when.strftime("%y-%m-%d %H:%M") if run.when else "", width=14),
    ListColumn("won", lambda run: f"{run.won}/{run.played}", right=True),
    ListColumn("state", lambda run: run.state, lambda run: _RUN_STYLES.get(run.state, ""), width=10),
    ListColumn("game", lambda run: run.games, width=40, narrow=8),
    ListColumn("mode", lambda run: run.modes, width=30, narrow=8, key=True),
    ListColumn("model", lambda run: run.models, width=24, narrow=8),
    ListColumn("cells", lambda run: f"{run.cells} ({run.again} again)" if run.again else str(run.cells), right=True),
    ListColumn("cost", lambda run: money(run.cost) if run.cost else "", right=True),
    ListColumn("note", lambda run: run.note, width=60, narrow=20, sentence=True),
    ListColumn("run", lambda run: run.name, width=60, key=True),
)


def _state_style(episode: EpisodeStatus) -> str:
    if episode.outcome is not None:
        return OUTCOME_STYLE.get(episode.outcome, "red")
    return "cyan" if episode.state(time.time()) == "running" else "yellow"


EPISODE_COLUMNS: tuple[ListColumn[EpisodeStatus], ...] = (
    ListColumn("state", lambda episode: episode.state(time.time()), _state_style, width=14),
    ListColumn("game", lambda episode: episode.setting, width=20, key=True),
    ListColumn("mode", lambda episode: episode.mode, width=16, key=True),
    ListColumn("seed", lambda episode: str(episode.seed), right=True, key=True),
    ListColumn(
        "step",
        lambda episode: str(episode.step) + (f"/{episode.most}" if episode.most and not episode.outcome else ""),
        right=True,
    ),
    ListColumn(
        "cause", lambda episode: str(episode.cause or ""), lambda episode: "magenta", width=50, narrow=20, sentence=True
    ),
    ListColumn("model", lambda episode: episode.model, width=30),
    ListColumn("calls", lambda episode: "" if episode.calls is None else str(episode.calls), right=True),
    ListColumn("time", lambda episode: f"{episode.seconds:.1f}" if episode.seconds else "", right=True),
    ListColumn("cost", lambda episode: money(episode.cost) if episode.cost else "", right=True),
    ListColumn("changed", lambda row: time.strftime("%m-%d %H:%M:%S", time.localtime(row.modified_at)), width=14),
    ListColumn("last command", lambda episode: "" if episode.outcome else episode.command, width=30),
)


def run_summary(runs: Iterable[RunRow]) -> str:
    """A summary such as `3 runs, 1 running`."""
    all_runs = list(runs)
    running = sum(run.state == "running" for run in all_runs)
    return ", ".join([count(len(all_runs), "run"), *([f"{running} running"] if running else [])])


def episode_summary(episodes: Iterable[EpisodeStatus]) -> str:
    """A summary such as `12 episodes (15 attempts), 9 ended, 8 won`: only the last attempt at each episode counts."""
    attempts = {episode.path: episode.outcome for episode in episodes}
    outcomes = [attempts[path] for path in last_journals(attempts)]
    number = count(len(outcomes), "episode") + (f" ({len(attempts)} attempts)" if len(attempts) > len(outcomes) else "")
    return f"{number}, {sum(map(bool, outcomes))} ended, {outcomes.count(Outcome.WON)} won"


def plain_table(columns: Iterable[ListColumn[R]], rows: Iterable[R], total_width: int) -> RenderableType:
    """A table of the rows in `total_width` characters, without the columns that are empty in every row.

    If the table is too wide, constant columns are dropped first, then the last ones. Key columns stay.
    """
    all_rows = list(rows)
    texts = {column: [clean(column.text(row)) for row in all_rows] for column in columns}
    widths = {column: max(map(len, (column.name, *cells))) for column, cells in texts.items() if any(cells)}
    least = {column: size if column.key else min(size, column.narrow or size) for column, size in widths.items()}
    constant = [column for column in widths if is_alike(texts[column])]
    constant_last = [*(column for column in widths if column not in constant), *constant]
    may_drop = [column for column in constant_last if not column.key]
    dropped = list[ListColumn[R]]()
    while may_drop and _total(least[column] for column in widths) > total_width:
        dropped.insert(0, may_drop.pop())
        del widths[dropped[0]]
    while _total(widths.values()) > total_width:
        can_shrink = [column for column in widths if widths[column] > least[column]]
        if not can_shrink:
            break
        widths[max(can_shrink, key=widths.__getitem__)] -= 1
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in widths:
        table.add_column(column.name, justify="right" if column.right else "left", no_wrap=True, overflow="fold")
    for number in range(len(all_rows)):
        table.add_row(*(Text(column.cut(texts[column][number], width)) for column, width in widths.items()))
    same = [(column.name, texts[column][0]) for column in dropped if column in constant]
    lines = left_out(same, [column.name for column in dropped if column not in constant])
    return Group(table, *(Text(line, "dim") for line in lines))


def _total(widths: Iterable[int]) -> int:
    """The width of a table with two blanks between its columns."""
    return sum(width + 2 for width in widths) - 2
