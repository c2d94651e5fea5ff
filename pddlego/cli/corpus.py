"""`pddlego corpus check`: checks a corpus of PDDL files against the recorded results of a planner."""

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
from pddlego.planning.corpus import RECORDED_VERDICTS, CheckedPair, check_pair, read_pairs
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
        checked = [check_pair(pair, planner) for pair in pairs]
    _show(Console(), checked)
    raise typer.Exit(exits.NOT_WON if any(pair.contradiction for pair in checked) else exits.WON)


def _show(console: Console, checked: list[CheckedPair]) -> None:
    """Print the numbers of pairs, the classes of refused pairs, the kinds of repairs, and each contradiction."""
    total = len(checked)
    planned = [pair for pair in checked if not pair.refused]
    contradictions = [pair for pair in checked if pair.contradiction]
    refused_but_recorded = sum(bool(pair.refused) for pair in contradictions)
    unknown = sum((pair.pair.recorded_verdict or "") not in RECORDED_VERDICTS for pair in checked)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    table.add_column(justify="right")
    for name, number in (
        ("pairs of a domain and a problem", total),
        ("read", sum(pair.readable for pair in checked)),
        ("planned with", len(planned)),
        ("planned with after repairs", sum(bool(pair.repairs) for pair in planned)),
        ("refused", total - len(planned)),
        ("contradictions to what was recorded", len(contradictions) - refused_but_recorded),
        ("refused, and a plan or a verdict is recorded", refused_but_recorded),
        *([("unknown recorded verdicts", unknown)] if unknown else []),
    ):
        table.add_row(name, str(number), f"{100 * number / total:.1f}%" if total else "")
    console.print(table)
    _show_counts(console, "Refused, by class", Counter(pair.refused for pair in checked if pair.refused))
    repairs = Counter(kind for pair in checked for kind in {repair.partition(":")[0] for repair in pair.repairs})
    _show_counts(console, "Repairs, in pairs", repairs)
    for pair in contradictions:
        reason = f" ({pair.refused}: {pair.message})" if pair.refused else ""
        console.print(Text(clean(f"{pair.pair.id}: {pair.contradiction}{reason}"), "red"), soft_wrap=True)


def _show_counts(console: Console, title: str, counts: Counter[str]) -> None:
    if not counts:
        return
    console.print()
    console.print(Text(title, "bold"))
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, number in counts.most_common():
        table.add_row(Text(clean(name)), str(number))
    console.print(table)
