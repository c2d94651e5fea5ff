"""`pddlego cache info` and `pddlego cache clear`: manage cached answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer
from rich.filesize import decimal
from rich.table import Table
from rich.text import Text

from pddlego.cli import exits
from pddlego.cli.exits import handle_sigterm, is_typed_at
from pddlego.display.console import Console
from pddlego.errors import UsageError
from pddlego.models.cache import AnswerCache, default_path
from pddlego.util.text import clean, count

command = typer.Typer(
    help="Manage cached answers of models (--cache use).",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@command.command()
def info() -> None:
    """Show the location of the cache, and its entries by model."""
    handle_sigterm()
    console = Console()
    cache = AnswerCache(default_path())
    entries = cache.held()
    if not entries:
        console.print(f"{cache.path}: no cached answers.", soft_wrap=True)
        return
    size = decimal(cache.path.stat().st_size)
    console.print(f"{cache.path}, {size}", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    table.add_column("model")
    table.add_column("answers", justify="right")
    table.add_column("tokens", justify="right")
    table.add_column("first")
    table.add_column("last")
    for entry in entries:
        numbers = (f"{entry.answers:,}", f"{entry.tokens:,}", _minute(entry.first), _minute(entry.last))
        table.add_row(Text(clean(entry.model)), *numbers)
    console.print(table)


@command.command()
def clear(
    model: Annotated[str | None, typer.Option(help="Only the answers of this model.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Delete cached answers (asks for confirmation)."""
    handle_sigterm()
    cache = AnswerCache(default_path())
    what = "all answers" if model is None else f"all answers of {clean(model)}"
    if not yes and not is_typed_at():
        raise UsageError(
            f"Cannot ask for confirmation to remove {what}", "Standard input is not a terminal.", "Use --yes."
        )
    if not yes and not typer.confirm(f"Remove {what} in {cache.path}?"):
        raise typer.Exit(exits.NOT_WON)
    removed = cache.clear(model)
    Console().print(f"Removed: {count(removed, 'answer')}.")


def _minute(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
