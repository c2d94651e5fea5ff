"""The arguments of `pddlego config`."""

from __future__ import annotations

import typer

from pddlego.cli.shared import ConfigFile


def config(config: ConfigFile = None) -> None:
    """Show what 'pddlego eval' would use: each value, and where it comes from."""
    from pddlego.cli.run_eval import run_config

    raise typer.Exit(run_config({}, config))
