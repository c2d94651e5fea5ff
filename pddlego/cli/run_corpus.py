"""`pddlego corpus check`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.table import Table
from rich.text import Text

from pddlego.cli import exits
from pddlego.cli.interrupts import polite_kills
from pddlego.display.console import Console
from pddlego.planning.corpus import CorpusReport, check_corpus, read_pairs
from pddlego.planning.make import make_planner
from pddlego.util.text import clean


def run_corpus(file: str) -> int:
    """Check a corpus. Exit code 1 if a result contradicts what was recorded."""
    polite_kills()
    pairs = list(read_pairs(Path(file)))
    with make_planner("pyperplan") as planner:
        report = check_corpus(pairs, planner)
    _show(Console(), report)
    return exits.NOT_WON if report.contradictions else exits.WON


def _show(console: Console, report: CorpusReport) -> None:
    total = len(report.checked)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_column(justify="right")
    for name, number in (
        ("pairs of a domain and a problem", total),
        ("read", report.readable),
        ("planned with", report.planned),
        ("planned with after repairs", report.repaired),
        ("refused", total - report.planned),
        ("contradictions to what was recorded", len(report.contradictions) - report.refused_though_recorded),
        ("refused, and a plan or a verdict is recorded", report.refused_though_recorded),
        *([("recorded verdicts that are none of ours", report.unknown)] if report.unknown else []),
    ):
        table.add_row(name, str(number), f"{100 * number / total:.1f}%" if total else "")
    console.print(table, highlight=False)
    _counts(console, "Refused, by class", report.refused)
    repairs = Counter(each for checked in report.checked for each in _kinds(checked.repairs))
    _counts(console, "Repairs, in pairs", repairs)
    for each in report.contradictions:
        why = f" ({each.refused}: {each.message})" if each.refused else ""
        console.print(Text(clean(f"{each.pair.id}: {each.contradiction}{why}"), "red"), soft_wrap=True)


def _kinds(repairs: tuple[str, ...]) -> set[str]:
    """The kinds of repairs of a pair."""
    return {each.partition(":")[0] for each in repairs}


def _counts(console: Console, title: str, counts: Counter[str]) -> None:
    if not counts:
        return
    console.print()
    console.print(Text(title, "bold"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, number in counts.most_common():
        table.add_row(Text(clean(name)), str(number))
    console.print(table, highlight=False)
