"""`pddlego corpus check`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from pddlego.cli import exits
from pddlego.cli.exits import handle_sigterm
from pddlego.display.console import Console
from pddlego.planning import ProcessPlanner
from pddlego.planning.corpus import CorpusReport, check_corpus, read_pairs
from pddlego.util.text import clean

command = typer.Typer(
    help="Check PDDL files written by language models.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@command.callback()
def _common() -> None:
    """Check PDDL files written by language models."""


@command.command()
def check(
    file: Annotated[str, typer.Argument(help="JSON lines with id, domain, problem, and optional records.")],
) -> None:
    """Read, repair and plan with every pair of a domain and a problem, and compare with what was recorded.

    Exit code: 0 no contradiction, 1 contradictions, 2 wrong usage.
    """
    handle_sigterm()
    pairs = list(read_pairs(Path(file)))
    with ProcessPlanner() as planner:
        report = check_corpus(pairs, planner)
    _show(Console(), report)
    raise typer.Exit(exits.NOT_WON if report.contradictions else exits.WON)


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
        *([("unknown recorded verdicts", report.unknown)] if report.unknown else []),
    ):
        table.add_row(name, str(number), f"{100 * number / total:.1f}%" if total else "")
    console.print(table, highlight=False)
    _counts(console, "Refused, by class", report.refused)
    repairs = Counter(kind for checked in report.checked for kind in _kinds(checked.repairs))
    _counts(console, "Repairs, in pairs", repairs)
    for checked in report.contradictions:
        reason = f" ({checked.refused}: {checked.message})" if checked.refused else ""
        console.print(Text(clean(f"{checked.pair.id}: {checked.contradiction}{reason}"), "red"), soft_wrap=True)


def _kinds(repairs: tuple[str, ...]) -> set[str]:
    """The kinds of repairs of a pair."""
    return {repair.partition(":")[0] for repair in repairs}


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
