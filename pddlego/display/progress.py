"""Shows an evaluation while it runs: a table of configurations and the episodes in flight, or a line a result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol

import rich.console
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pddlego.display.text import clean
from pddlego.evaluation.cells import Cell
from pddlego.evaluation.runner import Begun, Done, Happened, Progress
from pddlego.evaluation.statistics import wilson
from pddlego.evaluation.summary import Summary
from pddlego.events import Observed

MOST_IN_FLIGHT = 8
"""Episodes in flight that are listed; of more only the number is shown."""


@dataclass
class Standing:
    """What is known of an evaluation so far, folded from its progress."""

    cells: Sequence[Cell]
    results: dict[Cell, Summary] = field(default_factory=dict)
    in_flight: dict[Cell, str] = field(default_factory=dict)
    fresh: int = 0

    def take(self, told: Progress) -> None:
        if isinstance(told, Begun):
            self.in_flight[told.cell] = "begins"
        elif isinstance(told, Done):
            self.in_flight.pop(told.summary.cell, None)
            self.results[told.summary.cell] = told.summary
            self.fresh += 1
        elif isinstance(told, Happened) and isinstance(told.event, Observed):
            self.in_flight[told.cell] = f"step {told.event.step}"

    @property
    def done(self) -> int:
        return len(self.results)


class ProgressDisplay(Protocol):
    """Takes progress and shows it, between `__enter__` and `__exit__`."""

    def __enter__(self) -> ProgressDisplay: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, told: Progress) -> None: ...


class LiveProgress:
    """Drawn a few times a second on a terminal. `spent` is a line on what the budget has seen."""

    def __init__(self, console: rich.console.Console, standing: Standing, spent: Callable[[], str]) -> None:
        self.standing = standing
        self._spent = spent
        self._began = time.monotonic()
        self._live = Live(console=console, get_renderable=self._picture, refresh_per_second=4, vertical_overflow="crop")

    def __enter__(self) -> LiveProgress:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.standing.in_flight.clear()
        self._live.stop()

    def show(self, told: Progress) -> None:
        self.standing.take(told)

    def _picture(self) -> RenderableType:
        return picture(self.standing, time.monotonic() - self._began, self._spent())


class LineProgress:
    """A line for each result, for pipes and logs."""

    def __init__(self, console: rich.console.Console, standing: Standing) -> None:
        self.standing = standing
        self._console = console

    def __enter__(self) -> LineProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def show(self, told: Progress) -> None:
        self.standing.take(told)
        if isinstance(told, Done):
            place = f"[{self.standing.done}/{len(self.standing.cells)}]"
            self._console.print(f"{place} {result_line(told.summary)}", markup=False, highlight=False, soft_wrap=True)


def result_line(summary: Summary) -> str:
    """`coin edit reader seed 12: won in 21 steps`."""
    cell = summary.cell
    name = f"{cell.setting} {cell.mode} {cell.model} seed {cell.seed}"
    again = f" repeat {cell.repeat}" if cell.repeat > 1 else ""
    message = f" ({summary.message})" if summary.message else ""
    score = "" if summary.won else f", score {summary.score:.2f}"
    return clean(f"{name}{again}: {summary.outcome.value} in {summary.tally.steps} steps{score}{message}")


def picture(standing: Standing, seconds: float, spent: str) -> RenderableType:
    """The whole picture as a renderable: a row for each configuration, what is in flight, and what is left."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("game", "mode", "model"):
        table.add_column(name, overflow="ellipsis", no_wrap=True)
    for name in ("done", "won", "95 %", "steps", "errors"):
        table.add_column(name, justify="right", no_wrap=True)
    for configuration in dict.fromkeys(cell.configuration for cell in standing.cells):
        table.add_row(*(Text(each) for each in _row(standing, configuration)))
    return Group(table, _flight(standing), Text(_foot(standing, seconds, spent), style="dim"))


def _row(standing: Standing, configuration: tuple[str, str, str]) -> list[str]:
    planned = sum(cell.configuration == configuration for cell in standing.cells)
    mine = [each for each in standing.results.values() if each.cell.configuration == configuration]
    found = [each for each in mine if each.played]
    won = [each.tally.steps for each in found if each.won]
    interval = wilson(len(won), len(found))
    shown = [clean(each) for each in configuration]
    shown += [f"{len(found)}/{planned}", f"{100 * len(won) / len(found):.0f}%" if found else "-"]
    shown += [f"{100 * interval.low:.0f}-{100 * interval.high:.0f}" if found else "-"]
    shown += [f"{sum(won) / len(won):.1f}" if won else "-", str(sum(not each.counts for each in mine) or "")]
    return shown


def _flight(standing: Standing) -> Text:
    flying = sorted(standing.in_flight.items())
    lines = [f"  {cell.setting} {cell.mode} {cell.model} seed {cell.seed}: {what}" for cell, what in flying]
    more = len(lines) - MOST_IN_FLIGHT
    if more > 0:
        lines = [*lines[:MOST_IN_FLIGHT], f"  and {more} more"]
    return Text(clean("\n".join(["", *lines]) if lines else ""), no_wrap=True, overflow="ellipsis")


def _foot(standing: Standing, seconds: float, spent: str) -> str:
    left = len(standing.cells) - standing.done
    parts = [f"{standing.done} of {len(standing.cells)} episodes", _clock(seconds)]
    if standing.fresh and left:
        parts.append(f"about {_clock(left * seconds / standing.fresh)} to go")
    return " · ".join([*parts, *([spent] if spent else [])])


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
