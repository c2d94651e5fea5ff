"""`pddlego show`: shows an episode step by step, prints it, or writes pictures and pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pddlego.cli.options import OfGame, OfMode, OfModel, OfSeed, RunArgument, Runs, place_named
from pddlego.errors import UsageError
from pddlego.runs.folders import EpisodeFilter, find_journal, find_journals


def command(
    run: RunArgument,
    other: Annotated[str | None, typer.Argument(help="Another run, to see both episodes side by side.")] = None,
    game: OfGame = None,
    mode: OfMode = None,
    model: OfModel = None,
    seed: OfSeed = None,
    step: Annotated[int | None, typer.Option(min=0, help="The first step to show; on a pipe, the only one.")] = None,
    problem: Annotated[bool, typer.Option("--problem", help="Print the problem at that step as PDDL.")] = False,
    svg: Annotated[str | None, typer.Option(help="Write the screen at that step to an SVG file.")] = None,
    gif: Annotated[str | None, typer.Option(help="Write the episode to a GIF file (extra 'gif').")] = None,
    html: Annotated[str | None, typer.Option(help="Write the episode to an HTML file, step by step.")] = None,
    size: Annotated[str, typer.Option(help="Columns and lines of the pictures.")] = "120x36",
    runs: Runs = None,
) -> None:
    """Step through an episode forwards and backwards: map, problem, goal ladder, plan, requests and answers.

    If several episodes match, the list of them is shown; --html writes all of them.
    """
    from pddlego.cli import browsing
    from pddlego.display.browser.app import at_episodes, at_run
    from pddlego.display.console import Console
    from pddlego.runs.store import check_output

    selection, console = EpisodeFilter(game, mode, model, seed), Console()
    place = place_named(run, runs)
    journals = find_journals(place, selection)
    exported = svg is not None or gif is not None
    if problem + exported + (html is not None) > 1:
        raise UsageError("Too many outputs", "--problem prints PDDL, and --html is a page.", "Use one of them.")
    if html is not None:
        more = find_journals(place_named(other, runs), selection) if other else []
        browsing.write_page(console, check_output(Path(html)), [*journals, *more])
        return
    if browsing.is_terminal(console) and len(journals) > 1 and other is None and not (problem or exported):
        browsing.browse(at_run(place, browsing.sources(console), words=_words(selection)))
        return
    shown = [find_journal(place, selection), *([find_journal(place_named(other, runs), selection)] if other else [])]
    if browsing.is_terminal(console) and not (problem or exported):
        for journal in shown:
            browsing.index_of(browsing.read_trace(journal)[1], step)
        browsing.browse(at_episodes(shown, browsing.sources(console), step))
        return
    if other is not None:
        raise UsageError("Two episodes need a terminal", "They are shown side by side.", "Name one, or use --html.")
    journal = shown[0]
    screen, trace = browsing.read_trace(journal)
    index = browsing.index_of(trace, step)
    if problem:
        browsing.print_problem(console, journal, trace.steps[index].number)
    elif exported:
        browsing.export_pictures(console, screen, trace, index, svg_file=svg, gif_file=gif, size=size)
    else:
        browsing.print_lines(console, screen, trace, None if step is None else index)


def _words(selection: EpisodeFilter) -> str:
    """The text of the filter in the browser that selects the same episodes."""
    values = {"game": selection.game, "mode": selection.mode, "model": selection.model, "seed": selection.seed}
    return " ".join(f"{name}={value}" for name, value in values.items() if value is not None)
