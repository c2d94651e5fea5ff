"""`pddlego games`: lists settings."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from pddlego.display.console import Console
from pddlego.errors import PddlegoError
from pddlego.methods.base import Setting
from pddlego.methods.registry import first_mode, method_of
from pddlego.methods.setting_files import setting_names
from pddlego.util.text import clean


def command() -> None:
    """List games and other settings, with their limits and splits."""
    table = Table("name", "what", "steps", "seeds", box=None, pad_edge=False)
    for name in setting_names():
        try:
            setting = _load(name)
        except PddlegoError as error:
            table.add_row(Text(clean(name)), Text(clean(error.sentence), "red"), "", "")
            continue
        seeds = setting.all_seeds
        splits = ", ".join(
            f"{split} {split_seeds.start}-{split_seeds.stop - 1}" for split, split_seeds in setting.seeds.items()
        )
        text = f"{seeds.start}-{seeds.stop - 1}" + (f" ({splits})" if splits else "")
        steps = "" if setting.max_steps is None else str(setting.max_steps)
        what = Text(clean(f"{setting.title}: {setting.about}"))
        if setting.missing:
            what.append(f" To play it: {clean(setting.missing)}", "yellow")
        table.add_row(Text(clean(name)), what, steps, text)
    Console().print(table)


def _load(name: str) -> Setting:
    """The setting with a name, read by the method of its first mode. Raises `PddlegoError`."""
    player = method_of(name, first_mode(name))
    return player.load(name, player.options())
