"""`pddlego eval` and `pddlego config`."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from pddlego.cli import exits
from pddlego.cli.interrupts import INTERRUPTS, handle, ignore_interrupts, ignores_keys, polite_kills
from pddlego.display.console import Console
from pddlego.evaluation.assemble import evaluating
from pddlego.evaluation.config import EvalConfig, Resolved, resolve
from pddlego.evaluation.estimate import estimates
from pddlego.evaluation.make import make_options
from pddlego.evaluation.options import EvaluationOptions
from pddlego.evaluation.progress import LineProgress, LiveProgress, ProgressDisplay, Standing
from pddlego.evaluation.results import results_table, worst_case_table
from pddlego.evaluation.runner import Evaluation, Stop
from pddlego.evaluation.table import played_of, rows, spent_elsewhere
from pddlego.models.credentials import without_credentials
from pddlego.models.limiter import SharedLimiter
from pddlego.models.remarks import remarks
from pddlego.util.text import clean


def run_config(flags: dict[str, Any], file: str | None) -> int:
    """Print each value and where it came from: the common ones, then those of each method."""
    resolved = resolve(flags, os.environ, Path(file) if file else None)
    table = Table("name", "value", "from", box=None, pad_edge=False)
    tables = {"": resolved.config, **{f"{name}.": options for name, options in resolved.options.items()}}
    for owner, options in tables.items():
        for name, value in options.model_dump().items():
            origin = resolved.origins.get(name, "default")
            shown = _shown(without_credentials(value) if name == "base_url" else value)
            style = "dim" if origin == "default" else "bold"
            table.add_row(f"{owner}{name}", Text(clean(shown)), Text(clean(origin), style))
    Console().print(table, highlight=False)
    return exits.WON


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={each}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)


def run_eval(flags: dict[str, Any], file: str | None, dry_run: bool) -> int:
    """Evaluate. Exit code: 0 every cell has a result, 3 some are lost to errors or the budget, 130 interrupted."""
    polite_kills()
    resolved = resolve(flags, os.environ, Path(file) if file else None)
    options = make_options(resolved, sends=not dry_run)
    console = Console()
    if dry_run:
        console.print(worst_case_table(estimates(options)), highlight=False)
        return exits.WON
    if ignores_keys():
        text = f"Ctrl-C (SIGINT) is ignored here. 'kill {os.getpid()}' ends the evaluation at once."
        console.print(text, style="yellow", highlight=False, soft_wrap=True)
    path = run_path(resolved.config, options)
    with evaluating(options, path, {"matrix": _matrix(resolved)}) as running:
        for remark in running.remarks:
            console.print(remark, style="yellow", soft_wrap=True)
        if running.known:
            text = f"{len(running.known)} of {len(running.cells)} episodes are finished already in {path}"
            console.print(text, style="dim", highlight=False, soft_wrap=True)
        _run(running.evaluation, _display(console, Standing(running.cells, dict(running.known)), running.limiter))
    mine = running.results
    table = rows(mine, running.prices, running.attempts, running.entries if running.prices else ())
    if table:
        console.print(results_table(table, console.width), highlight=False)
    incomplete = played_of(mine, running.cells)
    elsewhere = spent_elsewhere(table, running.entries if running.prices else ())
    for remark in (f"{incomplete}." if incomplete else "", elsewhere, *remarks({each.cell.model for each in mine})):
        if remark:
            console.print(remark, style="dim", highlight=False, soft_wrap=True)
    console.print(f"The run is kept in {path}", style="dim", highlight=False, soft_wrap=True)
    return _farewell(console, running.evaluation, sum(each.counts for each in mine), len(running.cells))


def run_path(config: EvalConfig, options: EvaluationOptions) -> Path:
    """The folder of the evaluation: as named, or the same for the same cells."""
    if config.run:
        return Path(config.runs) / config.run
    cells = json.dumps([each.label for each in options.cells()])
    digest = hashlib.sha256(cells.encode()).hexdigest()[:8]
    return Path(config.runs) / f"eval-{'+'.join(config.games)[:60]}-{digest}"


def _matrix(resolved: Resolved) -> dict[str, Any]:
    config = resolved.config
    return {name: getattr(config, name) for name in ("games", "modes", "ablate", "models", "seeds", "repeats", "cache")}


def _display(console: Console, standing: Standing, limiter: SharedLimiter) -> ProgressDisplay:
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveProgress(console, standing, lambda: _spent(limiter))
    return LineProgress(console, standing)


def _spent(limiter: SharedLimiter) -> str:
    spent = limiter.spent
    if not spent.calls:
        return ""
    cost = f", cost {spent.cost:.2f}" if limiter.has_prices else ", cost n/a"
    flying = f" ({limiter.in_flight} in flight)" if limiter.in_flight else ""
    return f"{spent.calls:.0f} requests{flying}, {spent.tokens:,.0f} tokens{cost}"


def _run(evaluation: Evaluation, display: ProgressDisplay) -> None:
    """Show the progress until the evaluation stops. The first interrupt drains it, the second aborts it.

    Where Ctrl-C is ignored the first one, a kill, aborts it.
    """
    at_once = ignores_keys()

    def interrupted(number: int, frame: object) -> None:
        (evaluation.abort if at_once or evaluation.draining else evaluation.drain)()

    handle(INTERRUPTS, interrupted)
    try:
        with display:
            for told in evaluation.run():
                try:
                    display.show(told)
                except BrokenPipeError:
                    exits.silence_output()
                    evaluation.drain()
    finally:
        ignore_interrupts()  # what is left is to write and print the results


def _farewell(console: Console, evaluation: Evaluation, good: int, planned: int) -> int:
    if evaluation.stopped is Stop.DISK and evaluation.fault is not None:
        raise evaluation.fault
    if good == planned:
        return exits.WON
    why = evaluation.stopped.value if evaluation.stopped else "errors"
    text = f"{planned - good} of {planned} episodes have no result ({why}). The same command again continues."
    console.print(text, style="yellow", highlight=False, soft_wrap=True)
    return exits.INTERRUPTED if evaluation.stopped in (Stop.DRAINED, Stop.ABORTED) else exits.BROKEN
