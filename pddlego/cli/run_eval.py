"""`pddlego eval` and `pddlego config`."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from pddlego.cli.interrupts import INTERRUPTS, ignore_interrupts, polite_kills
from pddlego.cli.main import EXIT_BROKEN, EXIT_INTERRUPTED, EXIT_WON, silence_output
from pddlego.display.live import Console
from pddlego.display.progress import LineProgress, LiveProgress, ProgressDisplay, Standing
from pddlego.display.results import results_table, worst_case_table
from pddlego.display.text import clean
from pddlego.evaluation.config import EvalConfig, Resolved, resolve
from pddlego.evaluation.estimate import worst_cases
from pddlego.evaluation.make import make_options
from pddlego.evaluation.options import EvaluationOptions
from pddlego.evaluation.play import evaluating
from pddlego.evaluation.runner import Evaluation, Stop
from pddlego.evaluation.table import played_of, rows, spent_elsewhere
from pddlego.models.credentials import without_credentials
from pddlego.models.gate import SharedGate
from pddlego.remarks import remarks


def run_config(flags: dict[str, Any], file: str | None) -> int:
    """Print each value and where it came from."""
    resolved = resolve(flags, os.environ, Path(file) if file else None)
    table = Table("name", "value", "from", box=None, pad_edge=False)
    for name, value in resolved.config.model_dump().items():
        value = without_credentials(value) if name == "base_url" else value
        shown = ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
        origin = resolved.origins[name]
        table.add_row(name, Text(clean(shown)), Text(clean(origin), "dim" if origin == "default" else "bold"))
    Console().print(table, highlight=False)
    return EXIT_WON


def run_eval(flags: dict[str, Any], file: str | None, dry_run: bool) -> int:
    """Evaluate. Exit code: 0 every cell has a result, 3 some are lost to errors or the budget, 130 interrupted."""
    polite_kills()
    resolved = resolve(flags, os.environ, Path(file) if file else None)
    options = make_options(resolved.config, sends=not dry_run)
    console = Console()
    if dry_run:
        console.print(worst_case_table(worst_cases(options)), highlight=False)
        return EXIT_WON
    path = run_path(resolved.config, options)
    with evaluating(options, path, {"matrix": _matrix(resolved)}) as running:
        for remark in running.remarks:
            console.print(remark, style="yellow", soft_wrap=True)
        if running.known:
            text = f"{len(running.known)} of {len(running.cells)} episodes are finished already in {path}"
            console.print(text, style="dim", highlight=False, soft_wrap=True)
        _run(running.evaluation, _display(console, Standing(running.cells, dict(running.known)), running.gate))
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


def _display(console: Console, standing: Standing, gate: SharedGate) -> ProgressDisplay:
    if console.is_terminal and not console.is_dumb_terminal:
        return LiveProgress(console, standing, lambda: _spent(gate))
    return LineProgress(console, standing)


def _spent(gate: SharedGate) -> str:
    spent = gate.spent
    if not spent.calls:
        return ""
    cost = f", cost {spent.cost:.2f}" if gate.has_prices else ", cost n/a"
    flying = f" ({gate.in_flight} in flight)" if gate.in_flight else ""
    return f"{spent.calls:.0f} requests{flying}, {spent.tokens:,.0f} tokens{cost}"


def _run(evaluation: Evaluation, display: ProgressDisplay) -> None:
    """Show the progress until the evaluation stops. The first interrupt drains it, the second aborts it."""

    def interrupted(number: int, frame: object) -> None:
        (evaluation.abort if evaluation.draining else evaluation.drain)()

    for name in INTERRUPTS:
        signal.signal(name, interrupted)
    try:
        with display:
            for told in evaluation.run():
                try:
                    display.show(told)
                except BrokenPipeError:
                    silence_output()
                    evaluation.drain()
    finally:
        ignore_interrupts()  # what is left is to write and print the results


def _farewell(console: Console, evaluation: Evaluation, good: int, planned: int) -> int:
    if evaluation.stopped is Stop.DISK and evaluation.fault is not None:
        raise evaluation.fault
    if good == planned:
        return EXIT_WON
    why = evaluation.stopped.value if evaluation.stopped else "errors"
    text = f"{planned - good} of {planned} episodes have no result ({why}). The same command again continues."
    console.print(text, style="yellow", highlight=False, soft_wrap=True)
    return EXIT_INTERRUPTED if evaluation.stopped in (Stop.DRAINED, Stop.ABORTED) else EXIT_BROKEN
