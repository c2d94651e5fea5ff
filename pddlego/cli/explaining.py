"""Progress of checks, and the choice of recorded episodes by their result."""

from __future__ import annotations

import math
import time
from pathlib import Path

from pddlego.display.console import Console
from pddlego.errors import UsageError
from pddlego.evaluation.truth import Causes, Progress, ResultFilter, explain_losses
from pddlego.runs.folders import EpisodeFilter, find_journals
from pddlego.runs.store import TRUTH, changed_journals, read_results
from pddlego.runs.summary import Summary
from pddlego.util.text import count

_FEW = 20
"""The number of checks up to which there is no message."""

_MESSAGE_SECONDS = 5.0
"""Seconds between two messages."""


def check_progress(
    doing: str = "Checking the facts of",
    note: str = f" (only once: {TRUTH} keeps them; Ctrl-C keeps those that are done)",
) -> Progress:
    """A function that reports on standard error how many episodes were checked. The first message has the note."""
    console, reported_at = Console(stderr=True), -math.inf

    def report(checked: int, total: int) -> None:
        nonlocal reported_at
        now = time.monotonic()
        if total > _FEW and now - reported_at >= _MESSAGE_SECONDS:
            text = f"{doing} {count(total, 'episode')}: {checked:,} done{note if checked == 1 else ''}"
            console.print(text, style="dim", soft_wrap=True)
            reported_at = now

    return report


def explain_journals(
    place: Path, episode_filter: EpisodeFilter, selection: ResultFilter, progress: Progress | None
) -> tuple[dict[Path, Summary], Causes]:
    """The results of the matching episodes, by journal, and the causes of the losses of the whole run.

    `place` is a run folder or a journal. Without `progress`, nothing is checked. Raises `UsageError` without a match.
    """
    folder = place.parent.parent if place.is_file() else place
    if not any(episode_filter.has(result.cell) for result in read_results(folder)[0]):
        find_journals(place, episode_filter)  # raises an error that lists the available values
    results, causes = explain_losses(folder, progress)
    matching = {
        journal: result
        for journal, result in results.items()
        if (journal.name == place.name or not place.is_file())
        and episode_filter.has(result.cell)
        and selection.matches(result, causes)
    }
    for warning in changed_journals(folder, matching.values()):
        Console(stderr=True).print(warning, style="yellow", soft_wrap=True)
    if not matching:
        finished = count(len(results), "finished episode")
        reason = f"It has {finished}, but none with these values.{selection.hint(causes)}"
        raise UsageError(f"{place} has no such episode", reason, "Leave an option out, or see all with 'pddlego show'.")
    return matching, causes
