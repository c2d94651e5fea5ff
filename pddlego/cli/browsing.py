"""Opens the browser for runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from pddlego.cli.exits import is_typed_at
from pddlego.display.browser.app import Browser
from pddlego.display.browser.episode import Sources
from pddlego.display.console import Console, glyphs_for
from pddlego.episode.trace import TimedEvent
from pddlego.errors import UsageError
from pddlego.methods.registry import make_codec, renderer_of


def is_terminal(console: Console) -> bool:
    """Whether input and output are a terminal."""
    return console.is_terminal and not console.is_dumb_terminal and is_typed_at()


def browse(app: Browser) -> None:
    """Run the browser until the user leaves it. Raises `typer.Exit` after a signal."""
    app.run()
    if app.return_code:
        raise typer.Exit(app.return_code)


def sources(console: Console) -> Sources:
    """What episodes are shown with on this terminal."""
    return Sources(make_codec(), renderer_of, glyphs_for(console.encoding), checked)


def checked(journal: Path) -> Sequence[TimedEvent]:
    """A recorded episode with what can be found out about its model's claims. Raises `PddlegoError`."""
    # Imported here: looking at an episode needs neither a game nor a method's code.
    from pddlego.evaluation.replay import load_recorded

    recorded = load_recorded(journal)
    if recorded.played.method.measuring.checked is None:
        reason = f"The method {recorded.played.method_name} has none that are found out later."
        raise UsageError("There are no facts to check", reason, "See the events.")
    return recorded.checked().timed
