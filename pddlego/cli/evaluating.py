"""Runs an evaluation from the command line: progress, interrupts, results, exit code."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from pddlego.cli import exits
from pddlego.cli.exits import INTERRUPTS, handle, handle_sigterm, ignore_interrupts, ignores_keys
from pddlego.display.console import Console
from pddlego.evaluation.assemble import Running, evaluating
from pddlego.evaluation.changed_options import options_line
from pddlego.evaluation.config import Resolved
from pddlego.evaluation.estimate import check_local_files, estimates, speed_of_local, time_note, upper_bound_table
from pddlego.evaluation.prepare import make_setup
from pddlego.evaluation.progress import EvaluationState, LineProgress, LiveProgress
from pddlego.evaluation.runner import Stop, WorkerDone
from pddlego.evaluation.setup import run_path
from pddlego.evaluation.table import played_of, results_table, rows, spent_elsewhere
from pddlego.models.base import notes
from pddlego.models.speed import Speed
from pddlego.report.trackers import WAIT, Tracking, check_tracker
from pddlego.runs.summary import UNMEASURED, Summary
from pddlego.util.guard import Guard, Interrupts
from pddlego.util.text import count, money, one_line


def play_missing(resolved: Resolved, dry_run: bool, tracker: str | None = None) -> int:
    """Play the episodes that have no result yet, or only print the estimated costs. Returns the exit code."""
    handle_sigterm()
    if tracker:
        check_tracker(tracker)
    setup = make_setup(resolved, sends=not dry_run)
    console = Console()
    if dry_run:
        check_local_files(setup)

        @cache
        def speed_of(name: str) -> Speed | None:
            Console(stderr=True).print(f"Measuring the speed of {name} …", style="dim", soft_wrap=True)
            return speed_of_local(name, setup)

        cases = estimates(setup, speed_of)
        every = len(setup.cells())
        _print_finished(console, every - sum(case.episodes for case in cases), every, run_path(setup))
        console.print(upper_bound_table(cases, console.width))
        if note := time_note(cases, setup.workers):
            console.print(note, style="dim", soft_wrap=True)
        return exits.WON
    if ignores_keys():
        text = f"Ctrl-C (SIGINT) is ignored here. 'kill {os.getpid()}' ends the evaluation at once."
        console.print(text, style="yellow", soft_wrap=True)
    path = run_path(setup)
    with evaluating(setup, path.absolute() if tracker else path) as running:  # a tracker may change the folder
        for warning in running.warnings:
            console.print(warning, style="yellow", soft_wrap=True)
        for note in setup.notes:
            console.print(note, style="dim", soft_wrap=True)
        _print_finished(console, len(running.known), len(running.cells), path)
        tracking = _tracking(console, tracker, path, running) if tracker else None
        run_evaluation(console, running, tracking.add if tracking else None)
    _show_results(console, running, path)
    if tracking:
        tracking.close(1.0 if running.evaluation.stopped is Stop.ABORTED else WAIT)
    console.print(f"Saved in {path}", style="dim", soft_wrap=True)
    return report_missing_results(console, running)


def _print_finished(console: Console, finished: int, every: int, path: Path) -> None:
    if finished:
        console.print(f"{finished} of {every} episodes are finished already in {path}", style="dim", soft_wrap=True)


def _tracking(console: Console, tracker: str, path: Path, running: Running) -> Tracking:
    """The tracker, with the rows of the episodes that are finished already."""

    def warn(text: str) -> None:
        console.print(text, style="yellow", soft_wrap=True)

    tracking = Tracking(tracker, path, running.prices, warn)
    for summary in running.known.values():
        tracking.add(summary)
    return tracking


def _show_results(console: Console, running: Running, path: Path) -> None:
    results = running.results
    table = rows(results, running.prices, running.attempts, running.entries if running.prices else ())
    if table:
        console.print(results_table(table, console.width))
    incomplete = played_of(results, running.cells)
    elsewhere = spent_elsewhere(table, running.entries if running.prices else ())
    options = options_line([path], dict.fromkeys(row.mode for row in table))
    for note in (
        *(f"{text}." for text in (options, incomplete) if text),
        elsewhere,
        *notes({run_result.cell.model for run_result in results}),
        *sorted({f"Not measured: {fault}." for result in results for fault in result.counts_of(UNMEASURED)}),
    ):
        if note:
            console.print(note, style="dim", soft_wrap=True)


def _spent(running: Running) -> str:
    load = running.load()
    spent = load.spent
    if not spent.calls:
        return ""
    cost = f", cost {money(spent.cost)}" if running.prices else ", cost n/a"
    in_flight = f" ({load.in_flight} in flight)" if load.in_flight else ""
    return f"{count(spent.calls, 'request')}{in_flight}, {count(spent.tokens or 0, 'token')}{cost}"


def run_evaluation(console: Console, running: Running, on_episode: Callable[[Summary], None] | None = None) -> None:
    """Run the evaluation, show its progress, and call `on_episode` with each new result.

    The first interrupt drains the evaluation, the second aborts it.
    Signals that follow at once are the same interrupt: a wrapper may repeat that of the terminal. If Ctrl-C is ignored,
    the first `kill` aborts it. If the process does not end soon after that, it is killed.
    When this function returns, interrupts are ignored.
    """
    evaluation, aborts_first = running.evaluation, ignores_keys()
    guard, interrupts = Guard(INTERRUPTS, 1 if aborts_first else 2), Interrupts()
    state = EvaluationState(running.cells, dict(running.known))
    is_live = console.is_terminal and not console.is_dumb_terminal
    display = LiveProgress(console, state, lambda: _spent(running)) if is_live else LineProgress(console, state)

    def interrupted(number: int, frame: object) -> None:
        if not interrupts.is_new(number):
            return
        exits.silence_gone_terminals()
        if aborts_first or evaluation.draining:
            guard.arm()
            evaluation.abort()
        else:
            evaluation.drain()

    handle(INTERRUPTS, interrupted)
    try:
        with display:
            for update in evaluation.run():
                if on_episode is not None and isinstance(update, WorkerDone):
                    on_episode(update.summary)
                try:
                    display.show(update)
                except OSError as error:
                    if isinstance(error, BrokenPipeError):
                        exits.silence_output()
                    elif error.errno != errno.EIO or not exits.silence_gone_terminals():
                        raise
                    evaluation.drain()
    finally:
        ignore_interrupts()  # while the results are written and printed
        guard.close()


_LONGEST_REASON = 200
"""The maximum number of characters of an error that the last line quotes."""


def report_missing_results(console: Console, running: Running) -> int:
    """Print how many episodes have no result, and return the exit code.

    Raises the error that stopped the evaluation, such as `JournalError` if results could not be written.
    """
    evaluation, planned = running.evaluation, len(running.cells)
    good = sum(result.counts for result in running.results)
    if evaluation.fault is not None:
        raise evaluation.fault
    if good == planned:
        return exits.WON
    errors = [f"errors: {result.message}" for result in running.results if not result.counts and result.message]
    reason = evaluation.stopped.value if evaluation.stopped else one_line((*errors, "errors")[0], _LONGEST_REASON)
    how = " with a higher limit (--max-calls, --max-tokens, --max-cost)" if evaluation.stopped is Stop.BUDGET else ""
    text = (
        f"{planned - good} of {planned} episodes have no result ({reason}). Run the same command again{how} to resume."
    )
    console.print(text, style="yellow", soft_wrap=True)
    return exits.INTERRUPTED if evaluation.stopped in (Stop.DRAINED, Stop.ABORTED) else exits.BROKEN
