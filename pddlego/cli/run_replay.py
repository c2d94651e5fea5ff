"""`pddlego replay`: plays recorded episodes again and compares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pddlego.cli import exits
from pddlego.cli.interrupts import polite_kills
from pddlego.display.console import Console
from pddlego.evaluation.recorded import Recorded, load_recorded
from pddlego.evaluation.replay import Replayed, replay
from pddlego.runs.folders import find_journals, place_of
from pddlego.util.text import clean


def run_replay(run: str, seed: int | None, java: str | None) -> int:
    """Play every episode again. Exit code 1 at the first difference."""
    polite_kills()
    console = Console()
    for journal in find_journals(place_of(run), seed):
        recorded = load_recorded(journal, java)
        with recorded.planner.make() as planner:
            replayed = replay(recorded, planner)
        for line, style in _replayed(journal, recorded, replayed):
            console.print(clean(line), style=style, markup=False, highlight=False, soft_wrap=True)
        if replayed.difference is not None:
            return exits.NOT_WON
    return exits.WON


def _replayed(journal: Path, recorded: Recorded, replayed: Replayed) -> Iterator[tuple[str, str]]:
    """What came of playing an episode again, in lines with their style."""
    different = replayed.difference
    if different is None:
        yield f"{journal.name}: the same, {replayed.same} events", "green"
        return
    yield f"{journal.name}: another one at step {different.step}, after {replayed.same} events that are the same", "red"
    yield f"  {different.kind}: {different.field}", ""
    yield f"  recorded: {different.recorded[:400]}", "red"
    yield f"  now:      {different.now[:400]}", "green"
    if recorded.changed:
        yield f"  These files have changed since: {', '.join(recorded.changed)}", "yellow"
