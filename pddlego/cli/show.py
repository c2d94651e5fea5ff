"""`pddlego show`: shows an episode step by step, prints it, or writes pictures and pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pddlego.cli import options
from pddlego.errors import UsageError
from pddlego.runs.folders import EpisodeFilter, find_journal, find_journals, find_run, only_journal

if TYPE_CHECKING:
    from pddlego.evaluation.truth import ResultFilter


_OUTPUT = "FILE.svg or FILE.gif (extra 'gif'): a picture of the step, or of all; FILE.html: a page with all steps."

_READ_BY = {"--step": ("text", ".svg", ".html", "--problem"), "--size": (".svg", ".gif")}
"""The forms of output that read an option."""


def command(
    run: options.RunArgument,
    other: Annotated[str | None, typer.Argument(help="Another run, to see both episodes side by side.")] = None,
    game: options.OfGame = None,
    mode: options.OfMode = None,
    model: options.OfModel = None,
    seed: options.OfSeed = None,
    only: options.Only = None,
    step: Annotated[int | None, typer.Option(min=0, help="The step to open; on a pipe, the only one to print.")] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Print the answers of the model [default: only with --step].")
    ] = False,
    requests: Annotated[bool, typer.Option("--requests", help="Print the requests and the answers.")] = False,
    problem: Annotated[bool, typer.Option("--problem", help="Print the problem at that step as PDDL.")] = False,
    output: Annotated[str | None, typer.Option("--output", "-o", help=_OUTPUT)] = None,
    size: Annotated[str | None, typer.Option(help="Columns and lines of pictures. [default: 120x36]")] = None,
) -> None:
    """Step through an episode forwards and backwards: map, problem, goal ladder, plan, requests and answers.

    A lost episode opens at the step where it was lost. If several episodes match, the list of them is shown; -o
    FILE.html writes all of them.
    """
    from pddlego.cli import browsing
    from pddlego.display.browser.app import at_episodes, at_run
    from pddlego.display.console import Console

    form = _form(output, problem=problem, answers=answers, requests=requests)
    typed = {"--step": step is not None, "--size": size is not None}
    options.refuse_unread((name for name, is_typed in typed.items() if is_typed), form, _READ_BY)
    episode_filter, console, place = EpisodeFilter(game, mode, model, seed), Console(), find_run(run)
    journals = _journals(place, episode_filter, options.result_filter(only))
    exported, printed = output is not None, answers or requests
    if output is not None and form == ".html":
        more = find_journals(find_run(other), episode_filter) if other else []
        browsing.write_page(console, Path(output), [*journals, *more], step)
        return
    browses = browsing.is_terminal(console) and not (problem or exported or printed)
    if len(journals) > 1 and other is None and step is None and not (problem or exported or printed):
        filtered = journals if str(episode_filter) or only else ()
        app = at_run(place, browsing.sources(console), journals=filtered)
        browsing.browse(app) if browses else browsing.print_list(console, place, journals)
        return
    opened = [only_journal(place, journals)]
    opened += [find_journal(find_run(other), episode_filter)] if other else []
    if browses:
        for journal in opened:
            browsing.index_of(browsing.read_trace(journal)[1], step)
        browsing.browse(at_episodes(opened, browsing.sources(console), step))
        return
    if other is not None:
        raise UsageError(
            "Two episodes need a terminal", "They are shown side by side.", "Name one, or use -o FILE.html."
        )
    if problem:
        browsing.print_problem(console, opened[0], step)
    elif output is not None:
        browsing.export_pictures(console, opened[0], step, Path(output), size or "120x36")
    else:
        browsing.print_lines(console, opened[0], step, answers=printed or step is not None, requests=requests)


def _form(output: str | None, *, problem: bool, answers: bool, requests: bool) -> str:
    """The form of output: the ending of a file that can be written, `--problem`, or `text`. Raises `PddlegoError`."""
    chosen = {"-o": output is not None, "--problem": problem, "--answers": answers, "--requests": requests}
    names = [name for name, is_chosen in chosen.items() if is_chosen]
    if len(names) > 1:
        raise UsageError(f"{names[0]} and {names[1]} exclude each other", "Each is an output.", "Use one of them.")
    if output is None:
        return "--problem" if problem else "text"
    form = Path(output).suffix.lower()
    if form not in (".svg", ".gif", ".html"):
        raise UsageError(f"{output} is not possible (-o)", "It ends in .svg, .gif or .html.", "Name another file.")
    from pddlego.runs.store import check_output

    check_output(Path(output))
    return form


def _journals(place: Path, episode_filter: EpisodeFilter, selection: ResultFilter) -> list[Path]:
    """The selected journals. Raises `UsageError` if no journal matches."""
    if not selection.needs_results:
        return find_journals(place, episode_filter)
    from pddlego.cli.explaining import check_progress, explain_journals

    progress = check_progress() if selection.cause else None  # the list looks for causes in the background
    return list(explain_journals(place, episode_filter, selection, progress)[0])
