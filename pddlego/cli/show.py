"""`pddlego show`: steps through an episode, or prints or exports a part of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from pddlego.cli.options import OfGame, OfMode, OfModel, OfSeed, RunArgument, Runs, choose_journal, place_named
from pddlego.cli.terminal import fill, is_terminal
from pddlego.display import export
from pddlego.display.console import UNICODE, Console, glyphs_for
from pddlego.display.frames import Frame, Timeline
from pddlego.display.lines import event_lines
from pddlego.display.screens import MIN_HEIGHT, MIN_WIDTH, Renderer, whole
from pddlego.display.show import Show, ShownPlace
from pddlego.display.view import View, fold_common
from pddlego.episode.events import Started
from pddlego.errors import UsageError
from pddlego.methods.registry import make_codec, renderer_of
from pddlego.runs.folders import EpisodeFilter, find_journal
from pddlego.runs.tail import JournalTail
from pddlego.util.files import cannot_write, write_whole
from pddlego.util.text import clean


def command(
    run: RunArgument,
    game: OfGame = None,
    mode: OfMode = None,
    model: OfModel = None,
    seed: OfSeed = None,
    step: Annotated[int | None, typer.Option(min=0, help="The first step to show; on a pipe, the only one.")] = None,
    problem: Annotated[bool, typer.Option("--problem", help="Print the problem at that step as PDDL.")] = False,
    svg: Annotated[str | None, typer.Option(help="Write the screen at that step to an SVG file.")] = None,
    gif: Annotated[str | None, typer.Option(help="Write the episode to a GIF file (extra 'gif').")] = None,
    size: Annotated[str, typer.Option(help="Columns and lines of the pictures.")] = "120x36",
    runs: Runs = None,
) -> None:
    """Step through an episode forwards and backwards: map, problem, goal ladder, plan, requests and answers."""
    which = EpisodeFilter(game, mode, model, seed)
    tail = JournalTail(find_journal(place_named(run, runs), which, choose_journal), make_codec())
    timed = list(tail.poll())
    started = timed[0][0] if timed else None
    picture = renderer_of(started.played_by if isinstance(started, Started) else "")
    film = picture.film()
    film.add(timed)
    if not film.frames:
        raise UsageError(f"{tail.path} is empty", "The episode has not begun.", "Look again later.")
    number = _number(film, step)
    console = Console()
    if problem and (svg is not None or gif is not None):
        raise UsageError("--problem makes no picture", "It prints PDDL.", "Use one of --problem, --svg and --gif.")
    if problem:
        _print_problem(console, tail.path, film.frames[number].step)
    elif svg is not None or gif is not None:
        _export(console, picture, film, number, svg_file=svg, gif_file=gif, size=size)
    elif is_terminal(console):
        place = ShownPlace(frame=number) if step is not None else ShownPlace()
        fill(Show(film, picture, glyphs_for(console.encoding), place, lambda: film.add(tail.poll())), console)
    else:
        _print_lines(console, picture, film, None if step is None else number)


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


def _number(film: Timeline, step: int | None) -> int:
    if step is None:
        return len(film.frames) - 1
    number = film.at(step)
    if number is None:
        reason = f"The episode has the steps 0 to {film.frames[-1].step}."
        raise UsageError(f"Unknown step {step}", reason, "Choose another with --step.")
    return number


def _export(
    console: Console,
    picture: Renderer,
    film: Timeline,
    number: int,
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
    frames = film.frames

    def drawn(frame: Frame) -> RenderableType:
        return whole(picture.screen, frame.after, width, height, frame.after.seconds, UNICODE)

    if svg_file is not None:
        view = frames[number].after
        seed = "" if view.seed is None else f", seed {view.seed}"
        title = f"pddlego: {view.title}{seed}, step {frames[number].step}"
        write_whole(Path(svg_file), export.svg(drawn(frames[number]), width, height, title))
        console.print(f"The picture is in {clean(svg_file)}", style="dim", highlight=False, soft_wrap=True)
    if gif_file is not None:
        try:
            count = export.gif(map(drawn, frames), width, height, Path(gif_file))
        except OSError as error:
            raise cannot_write(Path(gif_file), error) from error
        message = f"The {count} pictures are in {clean(gif_file)}"
        console.print(message, style="dim", highlight=False, soft_wrap=True)


def _print_lines(console: Console, picture: Renderer, film: Timeline, number: int | None) -> None:
    """The episode, or one step of it, as lines."""
    glyphs = glyphs_for(console.encoding)
    view = View()
    for place, frame in enumerate(film.frames):
        for event in frame.events:
            view = fold_common(view, event, view.seconds)
            if number is None or place == number:
                for line, style in event_lines(event, view, picture.describe, glyphs):
                    console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)
