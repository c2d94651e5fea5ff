"""`pddlego watch` and `pddlego show`."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType

from pddlego.cli.interrupts import is_typed_at, polite_kills
from pddlego.cli.main import EXIT_WON
from pddlego.display.app import App, run_app
from pddlego.display.export import gif, svg
from pddlego.display.frames import Film, Frame
from pddlego.display.live import Console, event_lines
from pddlego.display.screen import MIN_HEIGHT, MIN_WIDTH, screen
from pddlego.display.show import Place, Show
from pddlego.display.text import UNICODE, clean, glyphs_for
from pddlego.display.view import View, fold
from pddlego.display.watch import Watch, list_picture
from pddlego.errors import JournalError, UsageError
from pddlego.journal import EPISODES, write_whole
from pddlego.run_folders import find_journal, newest_run, place_of
from pddlego.tail import FolderTail, JournalTail


@dataclass(frozen=True)
class ShowOptions:
    """The arguments of `pddlego show`, as typed."""

    run: str
    seed: int | None
    step: int | None
    problem: bool
    svg: str | None
    gif: str | None
    size: str


def run_watch(run: str | None, runs: str, grid: int) -> int:
    """Follow until somebody has seen enough; on a pipe the list is printed once."""
    folder = newest_run(Path(runs)) if run is None else place_of(run, Path(runs))
    if not (folder / EPISODES).is_dir():
        why = f"It has no folder {EPISODES}/." if folder.is_dir() else "There is no such folder."
        raise UsageError(f"{folder} is no run folder", why, "Name one that 'pddlego play' or 'eval' made.")
    console = Console()
    watch = Watch(FolderTail(folder), glyphs_for(console.encoding), grid)
    if _is_terminal(console):
        _fill(watch, console)
    else:
        peeks = watch.peeks()
        console.print(list_picture(peeks, -1, str(folder), time.time(), 100, len(peeks) + 4, watch.glyphs, False))
    return EXIT_WON


def run_show(options: ShowOptions) -> int:
    """Step through an episode, or print or export a part of it."""
    tail = JournalTail(find_journal(place_of(options.run), options.seed))
    film = Film()
    film.add(tail.poll())
    if not film.frames:
        raise UsageError(f"{tail.path} is empty", "The episode has not begun.", "Look again later.")
    number = _number(film, options.step)
    console = Console()
    if options.problem and (options.svg is not None or options.gif is not None):
        raise UsageError("--problem makes no picture", "It prints PDDL.", "Use one of --problem, --svg and --gif.")
    if options.problem:
        print_problem(console, tail.path, film.frames[number].step)
    elif options.svg is not None or options.gif is not None:
        _export(console, film, number, options)
    elif _is_terminal(console):
        place = Place(frame=number) if options.step is not None else Place()
        _fill(Show(film, glyphs_for(console.encoding), place, lambda: film.add(tail.poll())), console)
    else:
        _print_lines(console, film, None if options.step is None else number)
    return EXIT_WON


def print_problem(console: Console, journal: Path, step: int) -> None:
    """The problem after a step, for other tools: all that the model made of what it saw, accepted or not."""
    # Imported here: whoever watches needs neither a game nor an agent.
    from pddlego.recorded import load_recorded
    from pddlego.resume import moment_at

    recorded = load_recorded(journal)
    if not recorded.episode.plans:
        why = f"Mode {recorded.episode.mode} has no problems."
        raise UsageError(f"There is no problem at step {step}", why, "Show an episode of mode edit or gen.")
    console.out(str(moment_at(recorded, step).latest), highlight=False)


def _number(film: Film, step: int | None) -> int:
    if step is None:
        return len(film.frames) - 1
    number = film.at(step)
    if number is None:
        why = f"The episode has the steps 0 to {film.frames[-1].step}."
        raise UsageError(f"There is no step {step}", why, "Choose another with --step.")
    return number


def _export(console: Console, film: Film, number: int, options: ShowOptions) -> None:
    match = re.fullmatch(r"(\d{1,3})x(\d{1,3})", options.size)
    width, height = (int(each) for each in match.groups()) if match else (0, 0)
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        why = f"It is columns x lines, at least {MIN_WIDTH}x{MIN_HEIGHT}, at most 999x999."
        raise UsageError(f"--size {options.size} is not possible", why, "Example: --size 120x36.")
    frames = film.frames

    def picture(frame: Frame) -> RenderableType:
        return screen(frame.after, width, height, frame.after.seconds, UNICODE)

    if options.svg is not None:
        view = frames[number].after
        title = f"pddlego: {view.title}, seed {view.seed}, step {frames[number].step}"
        try:
            write_whole(Path(options.svg), svg(picture(frames[number]), width, height, title))
        except JournalError as error:
            raise UsageError(error.what, error.why, "Choose another place.") from error
        console.print(f"The picture is in {clean(options.svg)}", style="dim", highlight=False, soft_wrap=True)
    if options.gif is not None:
        try:
            count = gif(map(picture, frames), width, height, Path(options.gif))
        except OSError as error:
            why = f"{error.strerror or error}."
            raise UsageError(f"Cannot write {options.gif}", why, "Choose another place.") from error
        said = f"The {count} pictures are in {clean(options.gif)}"
        console.print(said, style="dim", highlight=False, soft_wrap=True)


def _print_lines(console: Console, film: Film, number: int | None) -> None:
    """The episode, or one step of it, as lines."""
    glyphs = glyphs_for(console.encoding)
    view = View()
    for place, frame in enumerate(film.frames):
        for event in frame.events:
            view = fold(view, event, view.seconds)
            if number is None or place == number:
                for line, style in event_lines(event, view, glyphs):
                    console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)


def _is_terminal(console: Console) -> bool:
    return console.is_terminal and not console.is_dumb_terminal and is_typed_at()


def _fill(app: App, console: Console) -> None:
    """Fill the terminal."""
    polite_kills()
    if console.width < MIN_WIDTH or console.height < MIN_HEIGHT:
        why = f"It has {console.width} columns and {console.height} lines, and {MIN_WIDTH}x{MIN_HEIGHT} are needed."
        raise UsageError("The terminal is too small", why, "Make it larger.")
    run_app(app, console)
