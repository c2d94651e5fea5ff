"""`pddlego show`: steps through an episode, or prints or exports a part of it."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from pddlego.cli.browsing import browse, checked, is_terminal, sources
from pddlego.cli.options import OfGame, OfMode, OfModel, OfSeed, RunArgument, Runs, place_named
from pddlego.display import export
from pddlego.display.browser.app import at_episodes, at_run
from pddlego.display.console import UNICODE, Console, glyphs_for
from pddlego.display.lines import event_lines
from pddlego.display.rows import cleaned
from pddlego.display.screens import MIN_HEIGHT, MIN_WIDTH, Canvas, Renderer
from pddlego.episode.trace import Step, TimedEvent, Trace
from pddlego.errors import PddlegoError, UsageError
from pddlego.methods.registry import make_codec, renderer_of
from pddlego.runs.folders import EpisodeFilter, find_journal, find_journals
from pddlego.runs.journal import JournalTail
from pddlego.runs.listing import status_of
from pddlego.runs.store import check_output
from pddlego.util.files import cannot_write, write_whole
from pddlego.util.text import clean


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
    which, console = EpisodeFilter(game, mode, model, seed), Console()
    place = place_named(run, runs)
    journals = find_journals(place, which)
    exported = svg is not None or gif is not None
    if problem + exported + (html is not None) > 1:
        raise UsageError("Too many outputs", "--problem prints PDDL, and --html is a page.", "Use one of them.")
    if html is not None:
        more = find_journals(place_named(other, runs), which) if other else []
        _write_page(console, check_output(Path(html)), [*journals, *more])
        return
    if is_terminal(console) and len(journals) > 1 and other is None and not (problem or exported):
        browse(at_run(place, sources(console), words=_words(which)))
        return
    shown = [find_journal(place, which), *([find_journal(place_named(other, runs), which)] if other else [])]
    if is_terminal(console) and not (problem or exported):
        for journal in shown:
            _index_of(_trace(journal)[1], step)
        browse(at_episodes(shown, sources(console), step))
        return
    if other is not None:
        raise UsageError("Two episodes need a terminal", "They are shown side by side.", "Name one, or use --html.")
    journal = shown[0]
    renderer, trace = _trace(journal)
    index = _index_of(trace, step)
    if problem:
        _print_problem(console, journal, trace.steps[index].number)
    elif exported:
        _export(console, renderer, trace, index, svg_file=svg, gif_file=gif, size=size)
    else:
        _print_lines(console, renderer, trace, None if step is None else index)


def _words(which: EpisodeFilter) -> str:
    """The filter of the list that has the same episodes."""
    values = {"game": which.game, "mode": which.mode, "model": which.model, "seed": which.seed}
    return " ".join(f"{name}={value}" for name, value in values.items() if value is not None)


def _trace(journal: Path) -> tuple[Renderer, Trace]:
    """The episode of a journal, and how it is shown. Raises `UsageError` for one that has not begun."""
    trace = Trace((cleaned(event), seconds) for event, seconds in JournalTail(journal, make_codec()).poll())
    if not len(trace):
        raise UsageError(f"{journal} is empty", "The episode has not begun.", "Look again later.")
    return renderer_of(trace.started.played_by if trace.started is not None else ""), trace


def _write_page(console: Console, path: Path, journals: Sequence[Path]) -> None:
    """The episodes step by step as one HTML file, with what is true of their facts where that can be found out."""
    # Imported here: Jinja is needed for nothing else.
    from pddlego.display.page import ListedEpisode, episode_page, render

    listed = []
    for number, journal in enumerate(journals):
        renderer, trace = _trace(journal)
        timed: Sequence[TimedEvent] = trace.timed
        with contextlib.suppress(PddlegoError):
            timed = checked(journal)
        status = status_of(journal, journal.stat().st_size)
        listed.append(ListedEpisode(status, episode_page(f"episode-{number}", timed, renderer)))
    write_whole(path, render("page.html.j2", listed, title="pddlego"))
    console.print(f"The page is in {clean(str(path))}", style="dim", highlight=False, soft_wrap=True)


def _print_problem(console: Console, journal: Path, step: int) -> None:
    """The problem after a step, for other tools: all that the model made of what it saw, accepted or not."""
    # Imported here: showing an episode needs neither a game nor an agent.
    from pddlego.cli.resume import recorded_game
    from pddlego.evaluation.replay import load_recorded
    from pddlego.methods.textgames.resume import moment_at

    played = recorded_game(load_recorded(journal))
    if not played.episode.plans:
        reason = f"Mode {played.episode.mode} has no problems."
        raise UsageError(f"Step {step} has no problem", reason, "Show an episode of mode edit or gen.")
    console.out(str(moment_at(played, step).latest), highlight=False)


def _index_of(trace: Trace, step: int | None) -> int:
    """The index of a step; of the last one for None. Raises `UsageError` for an unknown step."""
    numbers = [known.number for known in trace.steps]
    if step is None:
        return len(numbers) - 1
    if step not in numbers:
        reason = f"The episode has the steps 0 to {numbers[-1]}."
        raise UsageError(f"Unknown step {step}", reason, "Choose another with --step.")
    return numbers.index(step)


def _export(
    console: Console,
    renderer: Renderer,
    trace: Trace,
    index: int,
    *,
    svg_file: str | None,
    gif_file: str | None,
    size: str,
) -> None:
    match = re.fullmatch(r"(\d{1,3})x(\d{1,3})", size)
    width, height = map(int, match.groups()) if match else (0, 0)
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        reason = f"It is columns x lines, at least {MIN_WIDTH}x{MIN_HEIGHT}, at most 999x999."
        raise UsageError(f"--size {size} is not possible", reason, "Example: --size 120x36.")
    steps, started = trace.steps, trace.started

    def drawn(step: Step) -> RenderableType:
        return renderer.screen.draw(step.after, Canvas(width, height, step.after.seconds, UNICODE))

    if svg_file is not None:
        seed = "" if started is None or started.seed is None else f", seed {started.seed}"
        title = f"pddlego: {started.title if started is not None else ''}{seed}, step {steps[index].number}"
        write_whole(check_output(Path(svg_file)), export.svg(drawn(steps[index]), width, height, title))
        console.print(f"The picture is in {clean(svg_file)}", style="dim", highlight=False, soft_wrap=True)
    if gif_file is not None:
        try:
            count = export.gif(map(drawn, steps), width, height, check_output(Path(gif_file)))
        except OSError as error:
            raise cannot_write(Path(gif_file), error) from error
        message = f"The {count} pictures are in {clean(gif_file)}"
        console.print(message, style="dim", highlight=False, soft_wrap=True)


def _print_lines(console: Console, renderer: Renderer, trace: Trace, index: int | None) -> None:
    """The episode, or one step of it, as lines."""
    glyphs = glyphs_for(console.encoding)
    for step in trace.steps if index is None else [trace.steps[index]]:
        for event in step.events:
            for line, style in event_lines(event, step.after, renderer.describe, glyphs):
                console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)
