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

    A column with `narrow` is shortened to this width, if need be, so that the first columns are visible. A `key` says
    which row it is: a printed list has it as a whole. A `sentence` is cut at its end, other texts in the middle.
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
    widths = [min(own, max(column.width, len(column.name) + 2)) for column, own in zip(columns, needed, strict=True)]
    while sum(widths[:_FIRST]) + gap * (_FIRST - 1) > room:
        can_shrink = [place for place, column in enumerate(columns) if column.narrow and widths[place] > column.narrow]
        if not can_shrink:
            break
        widths[max(can_shrink, key=widths.__getitem__)] -= 1
    return widths


_FIRST = 7
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


def plain_table(columns: Iterable[ListColumn[R]], rows: Iterable[R], width: int) -> RenderableType:
    """A table of the rows in `width` characters, without the columns that are empty in every row.

    If it has no room, columns that are alike in all rows are left out first, then the last ones; keys stay.
    """
    all_rows = list(rows)
    texts = {column: [clean(column.text(row)) for row in all_rows] for column in columns}
    shown = {column: max(len(cell) for cell in (column.name, *cells)) for column, cells in texts.items() if any(cells)}
    least = {column: own if column.key else min(own, column.narrow or own) for column, own in shown.items()}
    alike = [column for column in shown if is_alike(texts[column]) and not column.key]
    last = [column for column in shown if column not in alike and not column.key]
    left = list[ListColumn[R]]()
    while (alike or last) and sum(least[column] + 2 for column in shown) - 2 > width:
        left.insert(0, alike.pop() if alike else last.pop())
        del shown[left[0]]
    while sum(own + 2 for own in shown.values()) - 2 > width and shown != {column: least[column] for column in shown}:
        shown[max(shown, key=lambda column: (shown[column] > least[column], shown[column]))] -= 1
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in shown:
        table.add_column(column.name, justify="right" if column.right else "left", no_wrap=True, overflow="fold")
    for number in range(len(all_rows)):
        table.add_row(*(Text(column.cut(texts[column][number], own)) for column, own in shown.items()))
    same = [(column.name, texts[column][0]) for column in left if is_alike(texts[column])]
    lines = left_out(same, [column.name for column in left if not is_alike(texts[column])])
    return Group(table, *(Text(line, "dim") for line in lines))
