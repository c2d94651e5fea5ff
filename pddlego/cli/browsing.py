"""Shows recorded episodes in the browser, or as lines, pictures, an HTML page, or the problem of a step."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import RenderableType
from rich.text import Text

from pddlego.cli.exits import end_without_terminal, is_typed_at
from pddlego.cli.parts import load
from pddlego.display import export
from pddlego.display.browser.app import Browser
from pddlego.display.columns import EPISODE_COLUMNS, episode_summary, plain_table
from pddlego.display.console import UNICODE, Console, glyphs_for
from pddlego.display.lines import event_lines
from pddlego.display.opened import Explanation, ShownEpisode, Sources
from pddlego.display.rows import cleaned
from pddlego.display.screens import MIN_HEIGHT, MIN_WIDTH, Canvas, Screen
from pddlego.display.steps import full_lines
from pddlego.episode.events import Answered, Asked, Event, Outcome
from pddlego.episode.trace import Step, Trace
from pddlego.errors import PddlegoError, UsageError
from pddlego.methods.registry import make_codec, screen_of
from pddlego.runs.journal import JournalTail
from pddlego.runs.listing import EpisodeList, journal_status
from pddlego.runs.store import is_locked
from pddlego.runs.summary import LastingError, Summary
from pddlego.util.files import cannot_write, write_whole
from pddlego.util.limits import Heartbeat
from pddlego.util.text import clean, count

if TYPE_CHECKING:  # only some views need code of games
    from pddlego.evaluation.truth import Causes


def is_terminal(console: Console) -> bool:
    """Whether both input and output are a terminal that can show screens."""
    return console.is_terminal and not console.is_dumb_terminal and is_typed_at()


def browse(app: Browser) -> None:
    """Run the browser until the user leaves it or its terminal is gone. Raises `typer.Exit` after a signal."""
    end_without_terminal()
    with contextlib.suppress(ImportError):  # Windows
        import termios

        with contextlib.suppress(termios.error):  # the terminal is gone
            termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)  # keys typed before there was a screen
    app.run()
    if app.return_code:
        raise typer.Exit(app.return_code)


def sources(console: Console) -> Sources:
    """How the browser reads and draws episodes on this terminal."""
    glyphs = glyphs_for(console.encoding)
    return Sources(make_codec(), screen_of, glyphs, explain_episode, saved_cause, causes_of, checker=checks_of)


def explain_episode(journal: Path, known: tuple[Mapping[Path, Summary], Causes] | None = None) -> Explanation:
    """The episode with checks of the model's facts, and its cause among the losses of its run, if that is known.

    `known`: the result of `explain_losses` for the run; it is read from the run folder if omitted. Raises
    `PddlegoError` if checks are impossible.
    """
    # Imported here, because other views need no code of games.
    from pddlego.evaluation.truth import Causes, check_episode, explain_losses

    trace, result = check_episode(journal)
    results, causes = known or explain_losses(journal.parent.parent, None)
    result = replace(result, cell=results[journal].cell) if journal in results else result
    causes = Causes({**results, journal: result}.values(), causes.unchecked - {result.cell})
    return Explanation(trace.timed, causes.error_of(result), result.measures.errors)


def saved_cause(journal: Path) -> LastingError | None:
    """The cause of a lost episode if it is known without checks."""
    from pddlego.evaluation import truth  # other views need no code of games

    return truth.cause_if_checked(journal)


def checks_of(journal: Path) -> Callable[[Event], Iterable[Event]]:
    """The checks of a running episode, event by event. Raises `PddlegoError` if it has no checks."""
    from pddlego.evaluation import replay  # other views need no code of games

    return replay.running_checker(journal)


def causes_of(run: Path, progress: Callable[[int, int], None] | None) -> Mapping[str, LastingError]:
    """The cause of each lost episode of a run (see `Sources.causes`). Raises `PddlegoError`."""
    from pddlego.evaluation.truth import explain_losses

    results, causes = explain_losses(run, progress)
    errors = {journal.name: causes.error_of(result) for journal, result in results.items()}
    return {name: error for name, error in errors.items() if error is not None}


def read_trace(journal: Path) -> tuple[Screen, Trace]:
    """The screen and the trace of a journal. Raises `UsageError` for a journal without events."""
    trace = Trace((cleaned(event), seconds) for event, seconds in JournalTail(journal, make_codec()).poll())
    if not len(trace):
        raise UsageError(f"{journal} is empty", "The episode has not begun.", "Look again later.")
    return screen_of(trace.started.played_by if trace.started is not None else ""), trace


def write_page(console: Console, path: Path, journals: Sequence[Path], step: int | None) -> None:
    """Write the episodes as one HTML file, with checks of facts where possible. Each opens at `step`."""
    # Imported here, because only pages need Jinja.
    from pddlego.cli.explaining import check_progress
    from pddlego.display.page import ListedEpisode, episode_page, render
    from pddlego.evaluation.truth import Causes, explain_losses

    listed, run_results = list[ListedEpisode](), dict[Path, tuple[Mapping[Path, Summary], Causes]]()
    runs = {run: EpisodeList(run) for run in {journal.parent.parent for journal in journals}}
    for episodes in runs.values():
        episodes.poll()
    errors, total = Console(stderr=True), count(len(journals), "episode")
    with Heartbeat(lambda seconds: errors.print(f"{len(listed):,} of {total} checked", style="dim")):
        for number, journal in enumerate(journals):
            explanation = Explanation(read_trace(journal)[1].timed)
            with contextlib.suppress(PddlegoError):
                run = journal.parent.parent
                checks = len(journals) > 1 and not is_locked(run)  # a cause may depend on the other episodes
                run_results[run] = run_results.get(run) or explain_losses(run, check_progress() if checks else None)
                explanation = explain_episode(journal, run_results[run])
            status = runs[journal.parent.parent].episodes.get(journal.name) or journal_status(
                journal, journal.stat().st_size
            )
            status = replace(status, cause=explanation.cause, modified_at=0.0)  # the page is not updated
            opened = ShownEpisode(explanation, screen_of, UNICODE)
            page = episode_page(f"episode-{number}", opened, None if step is None else min(step, len(opened.steps) - 1))
            listed.append(ListedEpisode(status, page))
    write_whole(path, render("page.html.j2", listed, title="pddlego"))
    console.print(f"The page is in {clean(str(path))}", style="dim", soft_wrap=True)


def print_list(console: Console, run: Path, journals: Sequence[Path]) -> None:
    """Print a line for each of the episodes of a run, with its state and the cause of its loss."""
    from pddlego.cli.explaining import check_progress

    episodes = EpisodeList(run)
    episodes.poll()
    if not is_locked(run):  # the facts of a run that is being played are checked when it has ended
        with contextlib.suppress(PddlegoError):
            episodes.set_causes(causes_of(run, check_progress()))
    rows = [episodes.episodes[journal.name] for journal in journals if journal.name in episodes.episodes]
    console.print(f"{run}: {episode_summary(rows)}")
    console.print(plain_table(EPISODE_COLUMNS, rows, console.width))


def print_problem(console: Console, journal: Path, step: int | None) -> None:
    """Print the problem after a step (None: the last one) as PDDL, including a problem that was not accepted."""
    # Imported here, because other views need no code of games and agents.
    from pddlego.evaluation.replay import load_recorded

    recorded = load_recorded(journal)
    step = recorded.trace.steps[index_of(recorded.trace, step)].number
    console.out(load("show.problem")(journal, recorded.trace, recorded.played.setting, step))


def index_of(trace: Trace, step: int | None) -> int:
    """The index of the step with a number, or of the last step for None. Raises `UsageError` for an unknown step."""
    numbers = [known_step.number for known_step in trace.steps]
    if step is None:
        return len(numbers) - 1
    if step not in numbers:
        reason = f"The episode has the steps 0 to {numbers[-1]}."
        raise UsageError(f"Unknown step {step}", reason, "Choose another with --step.")
    return numbers.index(step)


def export_pictures(console: Console, journal: Path, step: int | None, file: Path, size: str) -> None:
    """Write the screen of a step as SVG, or the screens of all steps as GIF, each as large as `size`."""
    match = re.fullmatch(r"(\d{1,3})x(\d{1,3})", size)
    width, height = map(int, match.groups()) if match else (0, 0)
    if width < MIN_WIDTH or height < MIN_HEIGHT:
        reason = f"It is columns x lines, at least {MIN_WIDTH}x{MIN_HEIGHT}, at most 999x999."
        raise UsageError(f"--size {size} is not possible", reason, "Example: --size 120x36.")
    screen, trace = read_trace(journal)
    index, steps, started = index_of(trace, step), trace.steps, trace.started

    def draw(step: Step) -> RenderableType:
        return screen.draw(step.after, Canvas(width, height, step.after.seconds, UNICODE))

    if file.suffix.lower() == ".svg":
        seed = "" if started is None or started.seed is None else f", seed {started.seed}"
        title = f"pddlego: {started.title if started is not None else ''}{seed}, step {steps[index].number}"
        write_whole(file, export.svg(draw(steps[index]), width, height, title))
        message = "The picture is"
    else:
        try:
            message = f"The {export.gif(map(draw, steps), width, height, file)} pictures are"
        except OSError as error:
            raise cannot_write(file, error) from error
    console.print(f"{message} in {clean(str(file))}", style="dim", soft_wrap=True)


def print_lines(
    console: Console, journal: Path, step: int | None, *, answers: bool = False, requests: bool = False
) -> None:
    """Print the lines of all steps, or of the step with a number; with `answers` and `requests` also these in full.

    The answers of a step are to its observation: in mode `act`, they bring the command of the next step.
    """
    glyphs, trace = glyphs_for(console.encoding), read_trace(journal)[1]
    for current in trace.steps if step is None else [trace.steps[index_of(trace, step)]]:
        for event in current.events:
            lines = [Text(line, style) for line, style in event_lines(event, current.after, glyphs)]
            if (answers and isinstance(event, Answered)) or (requests and isinstance(event, Asked)):
                lines = full_lines(event, current, glyphs)
            for line in lines:
                console.print(line, soft_wrap=True)
    is_lost = trace.ended is not None and trace.ended.outcome is not Outcome.WON
    if step is None and is_lost and (cause := saved_cause(journal)):
        console.print(f"     cause: {cause}", soft_wrap=True, highlight=False, markup=False)
    kind, name = (Asked, "request") if requests else (Answered, "answer")
    steps_with_one = [item.number for item in trace.steps if any(isinstance(event, kind) for event in item.events)]
    if (answers or requests) and step is not None and step not in steps_with_one:
        nearest = min(steps_with_one, key=lambda number: abs(number - step), default=None)
        where = "no step has one" if nearest is None else f"the nearest step that has one is {nearest}"
        console.print(f"step {step} has no {name}; {where}", soft_wrap=True)
