"""`pddlego games`: lists settings and modes, and describes a setting."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Annotated

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pddlego.cli.options import COMPLETIONS
from pddlego.display.console import Console
from pddlego.errors import PddlegoError
from pddlego.methods.base import Setting
from pddlego.methods.registry import first_mode, method_of, methods, modes_of
from pddlego.methods.setting_files import read_setting, setting_names
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
        rows: dict[tuple[str, str, str], list[str]] = {}
        for method in methods():
            for mode in method.modes:
                rows.setdefault((mode.name, mode.about, method.paper), []).append(mode.plays)
        table = _table("mode", "what the model writes", "kind of game", "paper")
        for (name, about, paper), kinds in rows.items():
            table.add_row(name, about, ", ".join(kinds), paper)
        console.print(table)
    else:
        _list(console)


def _list(console: Console) -> None:
    """Print the settings of each kind: those that are ready, then those that need an extra."""
    loaded = list(_loaded())
    for kind, group in groupby(sorted(loaded, key=lambda entry: entry[0]), lambda entry: entry[0]):
        members = [setting for _, setting in group]
        names = ", ".join(mode.name for mode in modes_of(kind))
        console.print(Text(f"{kind} (modes: {names})", "bold"), soft_wrap=True)
        table = _table()
        for setting in members:
            if not isinstance(setting, Setting):
                table.add_row(Text(clean(setting[0])), Text(clean(setting[1]), "red"))
            elif not setting.missing:
                table.add_row(setting.name, Text(clean(setting.title)))
        console.print(Padding(table, (0, 0, 0, 2)))
        waiting = sorted((s for s in members if isinstance(s, Setting) and s.missing), key=lambda s: s.missing)
        for missing, needing in groupby(waiting, lambda setting: setting.missing):
            console.print(Text(f"  after {clean(missing)}:", "yellow"), soft_wrap=True)
            console.print(Padding(", ".join(setting.name for setting in needing), (0, 0, 0, 4)))
        console.print()
    console.print("pddlego games GAME describes one; pddlego games --modes lists what a model can write.")


def _loaded() -> Iterator[tuple[str, Setting | tuple[str, str]]]:
    """Every setting with its kind; its name and the error if it cannot be read."""
    for name in setting_names():
        try:
            kind = read_setting(name).kind
            yield kind, _load(name)
        except PddlegoError as error:
            yield "damaged", (name, error.sentence)


def _describe(console: Console, name: str) -> None:
    """Print what a setting is, with its modes, seeds and parameters. Raises `PddlegoError`."""
    setting, kind = _load(name), read_setting(name).kind
    console.print(Text(clean(f"{setting.title} ({kind})"), "bold"))
    console.print(clean(setting.about))
    table = _table()
    for number, mode in enumerate(modes_of(kind)):
        table.add_row("" if number else "modes", mode.name, mode.about)
    seeds = {"all": setting.all_seeds, **setting.seeds}
    for number, (split, values) in enumerate(seeds.items()):
        table.add_row("" if number else "seeds", split, f"{values.start}-{values.stop - 1}")
    if setting.max_steps is not None:
        table.add_row("steps", str(setting.max_steps), "at most")
    for number, (parameter, value) in enumerate(setting.resolved().get("parameters", {}).items()):
        table.add_row("" if number else "parameters", parameter, f"{value} (--set {parameter}=VALUE)")
    if setting.missing:
        table.add_row("install", "", Text(clean(setting.missing), "yellow"))
    console.print(table)


def _table(*head: str) -> Table:
    return Table(*head, box=None, pad_edge=False, show_header=bool(head), header_style="bold")


def _load(name: str) -> Setting:
    """The setting with a name, read by the method of its first mode. Raises `PddlegoError`."""
    player = method_of(name, first_mode(name))
    return player.load(name, player.options())
