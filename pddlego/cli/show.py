"""`pddlego show`: shows an episode step by step, prints it, or writes pictures and pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pddlego.cli import options
from pddlego.errors import UsageError
from pddlego.runs.folders import EpisodeFilter, find_journal, find_journals, only_journal

if TYPE_CHECKING:
    from pddlego.evaluation.truth import ResultFilter


def command(
    run: options.RunArgument,
    other: Annotated[str | None, typer.Argument(help="Another run, to see both episodes side by side.")] = None,
    game: options.OfGame = None,
    mode: options.OfMode = None,
    model: options.OfModel = None,
    seed: options.OfSeed = None,
    lost: options.OnlyLost = False,
    outcome: options.OfOutcome = None,
    cause: options.OfCause = None,
    step: Annotated[int | None, typer.Option(min=0, help="The step at which to open; on a pipe, the only one.")] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Print the answers of the model; with --step always.")
    ] = False,
    requests: Annotated[bool, typer.Option("--requests", help="Print the requests and the answers.")] = False,
    problem: Annotated[bool, typer.Option("--problem", help="Print the problem at that step as PDDL.")] = False,
    svg: Annotated[str | None, typer.Option(help="Write the screen at that step to an SVG file.")] = None,
    gif: Annotated[str | None, typer.Option(help="Write the episode to a GIF file (extra 'gif').")] = None,
    html: Annotated[str | None, typer.Option(help="Write the episode to an HTML file, step by step.")] = None,
    size: Annotated[str, typer.Option(help="Columns and lines of the pictures.")] = "120x36",
    runs: options.Runs = None,
) -> None:
    """Step through an episode forwards and backwards: map, problem, goal ladder, plan, requests and answers.

    A lost episode opens at the step where it was lost. If several episodes match, the list of them is shown; --html
    writes all of them.
    """
    from pddlego.cli import browsing
    from pddlego.display.browser.app import at_episodes, at_run
    from pddlego.display.console import Console

    selection, console, place = EpisodeFilter(game, mode, model, seed), Console(), options.place_named(run, runs)
    journals = _journals(place, selection, options.result_filter(lost, outcome, cause))
    exported, printed = svg is not None or gif is not None, answers or requests
    _check_outputs(problem, exported, printed, html is not None)
    if html is not None:
        more = find_journals(options.place_named(other, runs), selection) if other else []
        browsing.write_page(console, Path(html), [*journals, *more], step)
        return
    browses = browsing.is_terminal(console) and not (problem or exported or printed)
    if len(journals) > 1 and other is None and step is None and not (problem or exported or printed):
        chosen = journals if str(selection) or lost or outcome or cause else ()
        app = at_run(place, browsing.sources(console), journals=chosen)
        browsing.browse(app) if browses else browsing.print_list(console, place, journals)
        return
    shown = [only_journal(place, journals)]
    shown += [find_journal(options.place_named(other, runs), selection)] if other else []
    if browses:
        for journal in shown:
            browsing.index_of(browsing.read_trace(journal)[1], step)
        browsing.browse(at_episodes(shown, browsing.sources(console), step))
        return
    if other is not None:
        raise UsageError("Two episodes need a terminal", "They are shown side by side.", "Name one, or use --html.")
    if problem:
        browsing.print_problem(console, shown[0], step)
    elif exported:
        browsing.export_pictures(console, shown[0], step, svg_file=svg, gif_file=gif, size=size)
    else:
        browsing.print_lines(console, shown[0], step, answers=printed or step is not None, requests=requests)


def _check_outputs(*chosen: bool) -> None:
    """Raise `UsageError` if several outputs were chosen."""
    if sum(chosen) > 1:
        reason = "--problem prints PDDL, --answers and --requests print lines, and --html is a page."
        raise UsageError("Too many outputs", reason, "Use one of them.")


def _journals(place: Path, selection: EpisodeFilter, wanted: ResultFilter) -> list[Path]:
    """The selected journals. Raises `UsageError` if no journal matches."""
    if not wanted.needs_results:
        return find_journals(place, selection)
    from pddlego.cli.explaining import check_progress, explain_journals

    progress = check_progress() if wanted.cause else None  # the list looks for causes in the background
    return list(explain_journals(place, selection, wanted, progress)[0])
