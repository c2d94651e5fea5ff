"""`pddlego export`: writes training data from recorded episodes, or from episodes of the built-in model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pddlego.api.failures import Failures
from pddlego.api.hub import HubRow, write_folder
from pddlego.api.results import Episode, Evaluation
from pddlego.api.training import chat_rows, expert, preference_rows, setting_of, split_of, trajectory
from pddlego.cli.explaining import check_progress
from pddlego.cli.options import OfCause, OfGames, OfOutcome, OnlyLost, Runs, result_filter
from pddlego.display.console import Console
from pddlego.errors import UsageError
from pddlego.evaluation.setup import parse_seeds
from pddlego.evaluation.truth import EVERY_RESULT, ResultFilter, explain_losses
from pddlego.runs.folders import find_run, runs_folder
from pddlego.runs.store import check_output
from pddlego.util.files import cannot_write
from pddlego.util.limits import Heartbeat
from pddlego.util.text import clean, count

_Form = Literal["chat", "preference", "atif", "failures", "hub"]
_HUB: tuple[_Form, ...] = ("chat", "preference", "failures")
"""The formats whose rows a data set has."""
_LOST: tuple[_Form, ...] = ("failures", "hub")
"""The formats with rows about lost episodes."""


def command(
    runs: Annotated[list[str] | None, typer.Argument(help="Run folders, their names or unique prefixes.")] = None,
    form: Annotated[_Form, typer.Option("--format", help="chat, preference, atif, failures or hub.")] = "chat",
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="A file (hub: a new folder). Default: standard output.")
    ] = None,
    won: Annotated[bool, typer.Option("--won", help="Only episodes that were won.")] = False,
    accepted: Annotated[bool, typer.Option("--accepted", help="chat: only answers that were accepted.")] = False,
    thinking: Annotated[bool, typer.Option(help="Keep the reasoning of answers.")] = True,
    test_seeds: Annotated[bool, typer.Option("--test-seeds", help="Include the seeds of the split test.")] = False,
    game: Annotated[str | None, typer.Option("--expert", help="Play this game with the built-in model.")] = None,
    mode: Annotated[
        str | None, typer.Option(help="Only these modes; --expert: the mode. Default: the game's first one.")
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="--expert: 60-999, … Default: those of no split.")] = None,
    only_game: OfGames = None,
    lost: OnlyLost = False,
    outcome: OfOutcome = None,
    cause: OfCause = None,
    replays: Annotated[str | None, typer.Option("--counterfactual", help="failures: the folder of replays.")] = None,
    folder: Runs = None,
) -> None:
    """Write training data as JSON lines: conversations, preferences, trajectories (ATIF, the Agent Trajectory
    Interchange Format, 1.7), or failures: lost episodes with the step and the fact where they went wrong. --format hub
    writes a folder with all but the trajectories and a card, for datasets.load_dataset and the Hugging Face Hub.

    Episodes of test seeds are left out, unless --test-seeds is used. Each row is written when its episode was read.
    """
    if game:
        _check_expert(form, filtered=bool(only_game or lost or outcome or cause))
    _check_options(bool(runs), game, accepted, seeds, form, replays)
    _check_hub(form, output, test_seeds)
    wanted = EVERY_RESULT if game else result_filter(lost, outcome, cause, only_game, mode)
    places = [find_run(run, runs_folder(folder)) for run in runs or ()]
    selected = None if wanted == EVERY_RESULT else _chosen(places, wanted)
    replayed = find_run(replays, runs_folder(folder)) if replays else None
    failures = {place.resolve(): Failures(place, check_progress(), replayed) for place in places if form in _LOST}
    episodes: Iterable[Episode]
    total: int | None
    if game:
        chosen = None if seeds is None else parse_seeds(seeds, setting_of(game, mode))
        episodes, total = expert(game, mode, chosen), None if chosen is None else len(chosen)
    else:
        episodes = evaluation = Evaluation(places)
        total = len(evaluation.results)
    progress = ExportProgress(total)

    def rows() -> Iterator[HubRow]:
        for episode in episodes:
            progress.episodes += 1
            if not test_seeds and split_of(episode.recorded.played.setting, episode.seed) == "test":
                progress.left_out += 1
            elif (episode.won or not won) and (selected is None or episode.recorded.path.resolve() in selected):
                known = failures.get(episode.recorded.path.parent.parent.resolve())
                for kind in _HUB if form == "hub" else (form,):
                    for row in _rows(episode, kind, accepted, not thinking, known):
                        yield kind, episode, row
                        progress.rows += 1

    _save(rows(), progress, form, output, places)


def _save(
    rows: Iterator[HubRow], progress: ExportProgress, form: _Form, output: str | None, places: Iterable[Path]
) -> None:
    """Write the rows, and say how many were written and what was left out."""
    errors, hint = Console(stderr=True), "" if form == "hub" else " (--test-seeds includes them)"
    with Heartbeat(lambda seconds: errors.print(str(progress), style="dim")):
        if form == "hub" and output is not None:
            write_folder(Path(output), [Path.home(), Path.cwd(), *places], rows)
        else:
            _write((json.dumps(row, ensure_ascii=False) + "\n" for _, _, row in rows), output)
    if progress.left_out:
        text = f"{count(progress.left_out, 'episode')} of test seeds left out{hint}."
        errors.print(text, style="yellow", soft_wrap=True)
    if output is not None:
        rows_written = f"{progress.rows:,} {'row' if progress.rows == 1 else 'rows'}"
        Console().print(f"{rows_written} in {clean(output)}", style="dim", soft_wrap=True)


def _check_options(
    has_runs: bool, game: str | None, accepted: bool, seeds: str | None, form: _Form, replays: str | None
) -> None:
    """Raise `UsageError` for options that exclude each other."""
    if has_runs == bool(game):
        reason = "The episodes are those of runs, or those that the built-in model plays."
        raise UsageError("Name either runs or --expert GAME", reason, "Example: pddlego export --expert coin.")
    if form not in _LOST and replays:
        raise UsageError("--counterfactual needs --format failures", "Other rows have no replays.", "Leave it out.")
    if accepted and form != "chat":
        reason = "The other formats show rejected answers."
        raise UsageError("--accepted needs --format chat", reason, "Leave one of them out.")
    if not game and seeds:
        raise UsageError("--seeds needs --expert", "It says what it plays.", "Add --expert GAME.")


def _check_hub(form: _Form, output: str | None, test_seeds: bool) -> None:
    """Raise `UsageError` for options that a data set does not have."""
    if form == "hub" and output is None:
        example = "Example: pddlego export night --format hub -o FOLDER."
        raise UsageError("--format hub needs --output", "It writes a folder.", example)
    if form == "hub" and test_seeds:
        reason = "A published data set must not have the seeds with which models are compared."
        raise UsageError("--test-seeds does not go with --format hub", reason, "Leave it out.")


def _check_expert(form: _Form, filtered: bool) -> None:
    """Raise `UsageError` for options that select recorded episodes."""
    if form == "failures":
        raise UsageError("The expert has no failures", "It loses no episode.", "Name runs in place of --expert.")
    if filtered:
        reason = "--game, --lost, --outcome and --cause select recorded episodes."
        raise UsageError("--expert plays new episodes", reason, "Leave them out.")


def _chosen(places: Iterable[Path], wanted: ResultFilter) -> set[Path]:
    """The journals of the selected episodes."""
    explained = [explain_losses(place, check_progress() if wanted.cause else None) for place in places]
    wanted.check_names(result.cell for results, _ in explained for result in results.values())
    chosen = {
        journal.resolve()
        for results, causes in explained
        for journal, result in results.items()
        if wanted.matches(result, causes)
    }
    if not chosen:
        reason = f"No episode has all of the chosen values.{wanted.hint(*(causes for _, causes in explained))}"
        raise UsageError("There is nothing to export", reason, "Choose others.")
    return chosen


@dataclass
class ExportProgress:
    """The progress of an export. `total` is the number of episodes, if it is known."""

    total: int | None
    episodes: int = 0
    left_out: int = 0
    rows: int = 0

    def __str__(self) -> str:
        of = "" if self.total is None else f" of {self.total:,}"
        return f"{self.episodes:,}{of} episodes, {self.rows:,} rows"


def _write(lines: Iterator[str], output: str | None) -> None:
    """Write each line at once to a file or to standard output. Raises `JournalError`."""
    first = next(lines, "")  # errors in the options are raised before the file is opened
    if output is None:
        console = Console()
        for line in chain([first], lines):
            console.out(line, end="")
        return
    path = check_output(Path(output))
    try:
        with path.open("w", encoding="utf-8", buffering=1) as file:
            file.writelines(chain([first], lines))
    except OSError as error:
        raise cannot_write(path, error) from error


def _rows(
    episode: Episode, form: _Form, accepted: bool, without_thinking: bool, failures: Failures | None
) -> Iterator[dict[str, Any]]:
    if form == "chat":
        yield from chat_rows(episode, accepted_only=accepted, without_thinking=without_thinking)
    elif form == "preference":
        yield from preference_rows(episode, without_thinking=without_thinking)
    elif form == "failures" and failures is not None:
        yield from failures.row(episode, without_thinking=without_thinking)
    elif form == "atif":
        yield trajectory(episode, without_thinking=without_thinking)
