"""What an episode leaves for the next: the last domain of one that was won."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from pddlego.events import Accepted, Event, Outcome, Started
from pddlego.runs.codec import Codec
from pddlego.runs.folders import EPISODES
from pddlego.runs.journal import read_journal
from pddlego.runs.store import journal_name
from pddlego.runs.summary import Summary

DOMAIN = "domain"
"""The kind of `Accepted` that brings a domain, and where `Started.details` has the one that an episode began with."""


DOMAIN_FROM = "domain_from"
"""The option that names a run or a file with a domain to begin with, and the source that it becomes."""


def kept_domain(folder: Path, summaries: Iterable[Summary], codec: Codec, fits: Callable[[Summary], bool]) -> str:
    """The text of the last domain of the last episode that was won and `fits`; empty where there is none.

    Raises `UsageError` and `JournalError` for a journal that cannot be read.
    """
    for summary in reversed([each for each in summaries if each.outcome is Outcome.WON and fits(each)]):
        events = read_journal(folder / EPISODES / journal_name(summary.cell, summary.attempt), codec).events
        domain = last_domain(events)
        if domain:
            return domain
    return ""


def last_domain(events: Iterable[Event]) -> str:
    """The domain that an episode ended with; empty for one that has none of its own."""
    found = ""
    for event in events:
        if isinstance(event, Accepted) and event.kind == DOMAIN:
            found = event.text
        elif isinstance(event, Started):
            found = str(event.details.get(DOMAIN, ""))
    return found
