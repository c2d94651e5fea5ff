"""Arguments that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Run = Annotated[str, typer.Argument(help="A run folder, a journal in its folder episodes/, or latest.")]
Runs = Annotated[str, typer.Option(help="Where run folders are.")]
Java = Annotated[
    str | None, typer.Option(help="A Java to use instead of the one that comes along.", envvar="PDDLEGO_JAVA")
]
