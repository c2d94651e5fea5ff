"""`pddlego games`: lists settings and modes, and describes a setting."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Column, Table
from rich.text import Text

from pddlego.api.splits import setting_of
from pddlego.cli.options import COMPLETIONS
from pddlego.display.console import Console
from pddlego.errors import PddlegoError, UsageError
from pddlego.methods.base import BUILT_IN_MODEL, Mode
from pddlego.methods.registry import method_of, methods, modes_of
from pddlego.methods.setting_files import read_setting, setting_names
from pddlego.runs.cells import Cell
from pddlego.util import resources
from pddlego.util.text import clean


def command(
    game: Annotated[
        str | None, typer.Argument(help="Describe this game or setting.", autocompletion=COMPLETIONS["games"])
    ] = None,
    modes: Annotated[
        bool, typer.Option("--modes", help="List the modes: what the model writes, and for what.")
    ] = False,
) -> None:
    """List games and other settings by kind, or describe one: its modes, parameters and seeds."""
    console = Console()
    if game is not None:
        _describe(console, game)
    elif modes:
        _list_modes(console)
    else:
        _list(console)


def _list_modes(console: Console) -> None:
    """Print every mode, and then the parts that it can have or lack: each name is that of a mode and such a part."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    variants: dict[str, dict[str, None]] = {}
    for method in methods():
        for mode in method.modes:
            name = mode.name.partition("+")[0]
            if name == mode.name:
                rows.setdefault((name, mode.about, method.paper), []).append(mode.plays)
            parts = [variant.removeprefix(name) for variant in mode.variants if variant != name]
            variants.setdefault(name, {}).update(dict.fromkeys(parts))
    table = _table("mode", "what the model writes", "kind of game", "paper")
    for (name, about, paper), kinds in rows.items():
        table.add_row(name, about, ", ".join(kinds), paper)
    suffixes = _table("mode", Column("with another part, or without parts", overflow="fold"))
    for name, parts_of_mode in variants.items():
        if parts_of_mode:
            suffixes.add_row(name, " ".join(parts_of_mode))
    console.print(table)
    console.print()
    console.print(suffixes)


def _list(console: Console) -> None:
    """Print the settings of each kind: those that are ready, then those that need an extra."""
    kinds: dict[str, list[tuple[str, str, str]]] = {}
    for name in setting_names():
        try:
            kind, title, missing = _listed(name)
            kinds.setdefault(kind, []).append((name, title, missing))
        except PddlegoError as error:
            console.print(Text(clean(f"{name}: {error.sentence}"), "red"))
    for kind, settings in sorted(kinds.items()):
        names = ", ".join(mode.name for mode in modes_of(kind))
        console.print(Text(f"{kind} (modes: {names})", "bold"), soft_wrap=True)
        table, waiting = _table(), dict[str, list[str]]()
        for name, title, missing in settings:
            if missing:
                waiting.setdefault(missing, []).append(name)
            else:
                table.add_row(f"  {name}", Text(clean(title)))
        console.print(table)
        for missing, needing in waiting.items():
            console.print(Text(f"  after {clean(missing)}: {', '.join(needing)}", "yellow"))
        console.print()
    console.print("pddlego games GAME describes one; pddlego games --modes lists what a model can write.")


def _listed(name: str) -> tuple[str, str, str]:
    """The kind, the title and the missing requirements of a setting. Raises `PddlegoError`.

    A setting whose files are pddlego's own is valid: it is not loaded, because loading all of them takes a second.
    """
    table = read_setting(name)
    players = [method for method in methods() if any(mode.plays == table.kind for mode in method.modes)]
    if players and all(resources.is_shipped(*source.split("/")) for source in table.sources):
        return table.kind, table.tables["title"], players[0].missing(table.tables)
    setting = setting_of(name, None)
    return table.kind, setting.title, setting.missing


def _describe(console: Console, name: str) -> None:
    """Print what a setting is, with its modes, seeds and parameters. Raises `PddlegoError`."""
    setting, kind = setting_of(name, None), read_setting(name).kind
    console.print(Text(clean(f"{setting.title} ({kind})"), "bold"))
    console.print(clean(setting.about))
    seeds = {"all": setting.all_seeds, **setting.seeds}
    parts = {
        "modes": [(mode.name, mode.about + _by_whom(mode, name)) for mode in modes_of(kind)],
        "seeds": [(split, f"{values.start}-{values.stop - 1}") for split, values in seeds.items()],
        "steps": [("at most", str(setting.max_steps))] if setting.max_steps is not None else [],
        "parameters": [
            (parameter, f"{value} (--set {parameter}=VALUE)")
            for parameter, value in setting.resolved().get("parameters", {}).items()
        ],
        "install": [("", clean(setting.missing))] if setting.missing else [],
    }
    table = _table()
    for title, rows in parts.items():
        for number, row in enumerate(rows):
            table.add_row("" if number else title, *row)
    console.print(table)


def _by_whom(mode: Mode, name: str) -> str:
    """A remark if the built-in model cannot play a setting in a mode with a model."""
    if not mode.asks_model:
        return ""
    player = method_of(name, mode.name)
    cell = Cell(name, mode.name, BUILT_IN_MODEL, 0)
    try:
        built_in = player.builtin_model(BUILT_IN_MODEL, cell, player.load(name, player.options()))
    except UsageError:
        built_in = None
    return "" if built_in else " (needs a language model)"


def _table(*head: str | Column) -> Table:
    return Table(*head, box=None, pad_edge=False, show_header=bool(head), header_style="bold")
