"""Shows a running evaluation: a table of configurations and running episodes, or a line for each result."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import rich.console
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from pddlego.episode.events import Ended, Event, Retrying, Streamed, step_of
from pddlego.evaluation.runner import Begun, Happened, Progress, Stopping, WorkerDone
from pddlego.evaluation.statistics import wilson
from pddlego.evaluation.table import name_columns
from pddlego.methods.registry import measuring_of
from pddlego.runs.cells import Cell
from pddlego.runs.summary import Summary
from pddlego.util.limits import Clock, Heartbeat
from pddlego.util.text import clean, count, one_line

_MOST_IN_FLIGHT = 8
"""Maximum number of running episodes that are listed."""


@dataclass
class EvaluationState:
    """The state of a running evaluation: results, running episodes with their states, and new results (`fresh`).

    An episode that was interrupted or stopped by the budget of the evaluation has no result. `arriving` has the times
    on the `clock` at which the first part of an answer was received that has not ended.
    """

    cells: Sequence[Cell]
    results: dict[Cell, Summary] = field(default_factory=dict)
    in_flight: dict[Cell, str] = field(default_factory=dict)
    fresh: int = 0
    stopping: Stopping | None = None
    arriving: dict[Cell, float] = field(default_factory=dict)
    clock: Clock = time.monotonic

    def update(self, progress: Progress) -> None:
        if isinstance(progress, Stopping):
            self.stopping = progress
        elif isinstance(progress, Begun):
            self.in_flight[progress.cell] = "begins"
        elif isinstance(progress, WorkerDone):
            self._leave(progress.summary.cell)
            if progress.summary.played:
                self.results[progress.summary.cell] = progress.summary
                self.fresh += 1
        elif isinstance(progress.event, Ended):  # perhaps without a result
            self._leave(progress.cell)
        elif isinstance(progress.event, Streamed):
            self.arriving.setdefault(progress.cell, self.clock())
        else:
            self._note(progress.cell, progress.event)

    def _note(self, cell: Cell, event: Event) -> None:
        self.arriving.pop(cell, None)
        if isinstance(event, Retrying):
            self.in_flight[cell] = trouble(event)
        elif (step := step_of(event)) is not None:
            self.in_flight[cell] = f"step {step}"

    def _leave(self, cell: Cell) -> None:
        self.in_flight.pop(cell, None)
        self.arriving.pop(cell, None)

    @property
    def running(self) -> list[tuple[Cell, str]]:
        """The running episodes, with their step or failure, and the seconds since an answer began to arrive."""
        now, arriving = self.clock(), self.arriving.copy()  # a copy, because another thread may draw
        ages = {cell: f", an answer has been arriving for {now - since:.0f} s" for cell, since in arriving.items()}
        return [(cell, f"{what}{ages.get(cell, '')}") for cell, what in sorted(self.in_flight.items())]


class LiveProgress:
    """A table on a terminal, drawn four times per second. `spent` returns the line about requests and cost."""

    def __init__(self, console: rich.console.Console, state: EvaluationState, spent: Callable[[], str]) -> None:
        self.state = state
        self._spent = spent
        self._began = time.monotonic()
        self._live = Live(console=console, get_renderable=self._table, refresh_per_second=4, vertical_overflow="crop")

    def __enter__(self) -> LiveProgress:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.state.in_flight.clear()
        self._live.stop()

    def show(self, progress: Progress) -> None:
        self.state.update(progress)
        if isinstance(progress, Stopping):
            self._live.refresh()  # so that the user sees at once that the interrupt has been noticed

    def _table(self) -> RenderableType:
        return progress_table(self.state, time.monotonic() - self._began, self._spent())


class LineProgress:
    """A line for each result, for pipes and logs."""

    def __init__(self, console: rich.console.Console, state: EvaluationState) -> None:
        self.state = state
        self._console = console
        self._heartbeat = Heartbeat(self._report)

    def __enter__(self) -> LineProgress:
        self._heartbeat.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._heartbeat.__exit__()

    def _report(self, seconds: float) -> None:
        flying = count(len(self.state.in_flight), "episode")
        now, since = self.state.clock(), tuple(self.state.arriving.values())
        arriving = f", {count(len(since), 'answer')} arriving for up to {now - min(since):.0f} s" if since else ""
        self._say(f"{self._place()} {seconds:.0f} s, {flying} running{arriving}", "dim")

    def _place(self) -> str:
        return f"[{len(self.state.results)}/{len(self.state.cells)}]"

    def show(self, progress: Progress) -> None:
        self.state.update(progress)
        if isinstance(progress, Happened) and isinstance(progress.event, Retrying):
            self._say(f"  {_cell_line(progress.cell)}: {trouble(progress.event)}", "yellow")
        elif isinstance(progress, Stopping):
            self._say(waiting_line(progress, self.state), "yellow")
        elif isinstance(progress, WorkerDone):
            self._say(f"{self._place()} {episode_line(progress.summary)}")

    def _say(self, line: str, style: str = "") -> None:
        self._heartbeat.beat()
        text = one_line(f"{time.strftime('%H:%M:%S')} {line}", _LINE_WIDTH)
        self._console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


_LINE_WIDTH = 400
"""The maximum number of characters of a line about an episode."""


def waiting_line(stopping: Stopping, state: EvaluationState) -> str:
    """The effect of an interrupt, and the running episodes."""
    flying = count(len(state.in_flight), "episode")
    if stopping.broken_off:
        return f"Interrupted: stopping {flying}."
    if not state.in_flight:
        return "Interrupted: no further episode starts."
    shown = [f"{_cell_line(cell)} ({what})" for cell, what in state.running[:3]]
    more = f" and {len(state.in_flight) - 3} more" if len(state.in_flight) > 3 else ""
    return f"Interrupted: waiting for {flying}, {', '.join(shown)}{more}. Press Ctrl-C again to stop them now."


def trouble(event: Retrying) -> str:
    """`try 2 of 6 failed (429: slow down), the next in 4 s`."""
    notice = event.trouble
    return clean(
        f"try {notice.tries} of {notice.most} failed ({notice.reason[:100]}), the next in {notice.seconds:.0f} s"
    )


def _cell_line(cell: Cell) -> str:
    """`coin edit reader seed 12`, with the repeat if there are several."""
    again = f" repeat {cell.repeat}" if cell.repeat > 1 else ""
    return clean(f"{cell.setting} {cell.mode} {cell.model} seed {cell.seed}{again}")


def episode_line(summary: Summary) -> str:
    """`coin edit reader seed 12: won in 21 steps`."""
    message = f" ({summary.message})" if summary.message else ""
    score = "" if summary.won else f", score {summary.score:.2f}"
    steps = f" in {count(summary.usage.steps, 'step')}" if "steps" in summary.measures.numbers else ""
    return clean(f"{_cell_line(summary.cell)}: {summary.outcome.value}{steps}{score}{message}")


def progress_table(state: EvaluationState, seconds: float, spent: str) -> RenderableType:
    """The table of configurations, the running episodes, and the rest."""
    table = name_columns()
    compared = _compared(state)
    for name in ("done", "won", "95 %", *([compared] if compared else []), "errors"):
        table.add_column(name, justify="right", no_wrap=True)
    for configuration in dict.fromkeys(cell.configuration for cell in state.cells):
        table.add_row(*(Text(part) for part in _row(state, configuration, compared)))
    parts: list[RenderableType] = [table, _flight(state), Text(_foot(state, seconds, spent), style="dim")]
    if state.stopping is not None and state.in_flight:
        parts.append(Text(waiting_line(state.stopping, state), "yellow"))
    return Group(*parts)


def _compared(state: EvaluationState) -> str:
    """The number by which the methods are compared, if it is the same for all."""
    pairs = {(cell.setting, cell.mode) for cell in state.cells}
    names = {measuring_of(*pair).compared for pair in pairs} - {""}
    return names.pop() if len(names) == 1 else ""


def _row(state: EvaluationState, configuration: tuple[str, str, str], compared: str) -> list[str]:
    planned = sum(cell.configuration == configuration for cell in state.cells)
    played = [summary for summary in state.results.values() if summary.cell.configuration == configuration]
    won = [summary for summary in played if summary.won]
    interval = wilson(len(won), len(played))
    shown = [clean(name) for name in configuration]
    shown += [f"{len(played)}/{planned}", f"{100 * len(won) / len(played):.0f}%" if played else "-"]
    shown += [interval.percent if played else "-"]
    if compared:
        numbers = [summary.measures.numbers.get(compared, 0) for summary in won]
        shown.append(f"{sum(numbers) / len(numbers):.1f}" if numbers else "-")
    return [*shown, str(sum(not summary.counts for summary in played) or "")]


def _flight(state: EvaluationState) -> Text:
    lines = [f"  {_cell_line(cell)}: {what}" for cell, what in state.running]
    more = len(lines) - _MOST_IN_FLIGHT
    if more > 0:
        lines = [*lines[:_MOST_IN_FLIGHT], f"  and {more} more"]
    return Text(clean("\n".join(["", *lines]) if lines else ""), no_wrap=True, overflow="ellipsis")


def _foot(state: EvaluationState, seconds: float, spent: str) -> str:
    done, planned = len(state.results), len(state.cells)
    left = planned - done
    parts = [f"{done} of {count(planned, 'episode')}", _clock(seconds)]
    if state.fresh and left:
        parts.append(f"about {_clock(left * seconds / state.fresh)} to go")
    return " · ".join([*parts, *([spent] if spent else [])])


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
