"""`pddlego export`: writes training data from recorded episodes, or from episodes of the built-in model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pddlego.api.results import Episode, Evaluation
from pddlego.api.splits import setting_of, split_of
from pddlego.api.training import chat_rows, expert, preference_rows, trajectory
from pddlego.cli.explaining import check_progress
from pddlego.cli.options import OfGames, result_filter
from pddlego.display.console import Console
from pddlego.errors import UsageError
from pddlego.evaluation.seeds import parse_seeds
from pddlego.evaluation.truth import EVERY_RESULT, ResultFilter, explain_losses
from pddlego.runs.folders import find_run
from pddlego.runs.store import check_output
from pddlego.util.files import cannot_write
from pddlego.util.limits import Heartbeat
from pddlego.util.text import clean, count

_Form = Literal["chat", "preference", "atif"]

_SEEDS = "Splits to export: train, dev, test or all [default: all but test]; with --expert: seeds such as 60-999."
_Only = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT", help="won, lost, an outcome, part of a cause, accepted (answers, for chat), or a list."
    ),
]


def command(
    runs: Annotated[list[str] | None, typer.Argument(help="Run folders, their names or unique prefixes.")] = None,
    form: Annotated[_Form, typer.Option("--format", help="chat, preference or atif.")] = "chat",
    output: Annotated[str | None, typer.Option("--output", "-o", help="A file. Default: standard output.")] = None,
    game: Annotated[str | None, typer.Option("--expert", help="Play this game with the built-in model.")] = None,
    mode: Annotated[
        str | None, typer.Option(help="Only these modes; --expert: the mode. Default: the game's first one.")
    ] = None,
    seeds: Annotated[str | None, typer.Option(help=_SEEDS)] = None,
    only_game: OfGames = None,
    only: _Only = None,
) -> None:
    """Write training data as JSON lines: conversations, preferences, or trajectories (ATIF, the Agent Trajectory
    Interchange Format, 1.7).

    Episodes of test seeds are left out unless --seeds names them. Rows are written as soon as their episode is read.
    """
    words = [word.strip() for word in (only or "").split(",")]
    won, accepted = "won" in words, "accepted" in words
    other_words = ",".join(word for word in words if word not in ("won", "accepted"))
    _check_options(bool(runs), game, bool(only_game or other_words), accepted, form)
    path = None if output is None else Path(output)
    if path is not None:
        check_output(path)
    selection = EVERY_RESULT if game else result_filter(other_words, only_game, mode)
    exports_split = _split_filter("all" if game else seeds)
    places = [find_run(run) for run in runs or ()]
    selected_journals = None if selection == EVERY_RESULT else _selected_journals(places, selection)
    episodes: Iterable[Episode]
    total: int | None
    if game:
        seed_numbers = None if seeds is None else parse_seeds(seeds, setting_of(game, mode))
        episodes, total = expert(game, mode, seed_numbers), None if seed_numbers is None else len(seed_numbers)
    else:
        episodes = evaluation = Evaluation(places)
        total = len(evaluation.results)
    progress = ExportProgress(total)

    def rows() -> Iterator[dict[str, Any]]:
        for episode in episodes:
            progress.episodes += 1
            if not exports_split(split_of(episode.recorded.played.setting, episode.seed)):
                progress.left_out += 1
                continue
            is_selected = selected_journals is None or episode.recorded.path.resolve() in selected_journals
            if is_selected and (episode.won or not won):
                for row in _rows(episode, form, accepted):
                    yield row
                    progress.rows += 1

    _save(rows(), progress, path)


def _save(rows: Iterator[dict[str, Any]], progress: ExportProgress, path: Path | None) -> None:
    """Write the rows, and say how many were written and what was left out."""
    errors = Console(stderr=True)
    with Heartbeat(lambda seconds: errors.print(str(progress), style="dim")):
        _write((json.dumps(row, ensure_ascii=False) + "\n" for row in rows), path)
    if progress.left_out:
        text = f"{count(progress.left_out, 'episode')} of other seeds left out (--seeds all includes them)."
        errors.print(text, style="yellow", soft_wrap=True)
    if path is not None:
        Console().print(f"{count(progress.rows, 'row')} in {clean(str(path))}", style="dim", soft_wrap=True)


def _split_filter(seeds: str | None) -> Callable[[str], bool]:
    """Return whether to export a split: those named in `seeds`, by default all but `test`. Raises `UsageError`."""
    if seeds is None:
        return lambda split: split != "test"
    names = [part.strip() for part in seeds.split(",")]
    if unknown := [name for name in names if name not in ("train", "dev", "test", "all")]:
        reason = "Recorded episodes are chosen by their splits: train, dev, test, or all."
        raise UsageError(f"--seeds {unknown[0]} is not possible", reason, "Name splits, with commas.")
    return lambda split: split in names or "all" in names


def _check_options(has_runs: bool, game: str | None, selects: bool, accepted: bool, form: _Form) -> None:
    """Raise `UsageError` for options that exclude each other. `selects`: options select recorded episodes."""
    if game and selects:
        reason = "--game, and --only except won and accepted, select recorded episodes."
        raise UsageError("--expert plays new episodes", reason, "Leave them out.")
    if has_runs == bool(game):
        reason = "The episodes are those of runs, or those that the built-in model plays."
        raise UsageError("Name either runs or --expert GAME", reason, "Example: pddlego export --expert coin.")
    if accepted and form != "chat":
        reason = "The other formats show rejected answers."
        raise UsageError("--only accepted needs --format chat", reason, "Leave one of them out.")


def _selected_journals(places: Iterable[Path], selection: ResultFilter) -> set[Path]:
    """The journals of the selected episodes. Raises `UsageError` if no episode is selected."""
    explained = [explain_losses(place, check_progress() if selection.cause else None) for place in places]
    selection.check_names(result.cell for results, _ in explained for result in results.values())
    journals = {
        journal.resolve()
        for results, causes in explained
        for journal, result in results.items()
        if selection.matches(result, causes)
    }
    if not journals:
        reason = f"No episode has all of the chosen values.{selection.hint(*(causes for _, causes in explained))}"
        raise UsageError("There is nothing to export", reason, "Choose others.")
    return journals


@dataclass
class ExportProgress:
    """The progress of an export. `total` is the number of episodes, if it is known."""

    total: int | None
    episodes: int = 0
    left_out: int = 0
    rows: int = 0

    def __str__(self) -> str:
        done = f"{self.episodes:,} of " if self.total is not None else ""
        episodes = self.episodes if self.total is None else self.total
        return f"{done}{count(episodes, 'episode')}, {count(self.rows, 'row')}"


def _write(lines: Iterator[str], path: Path | None) -> None:
    """Write each line at once to a file or to standard output. Raises `JournalError`."""
    first = next(lines, "")  # errors in the options are raised before the file is opened
    if path is None:
        console = Console()
        for line in chain([first], lines):
            console.out(line, end="")
        return
    try:
        with path.open("w", encoding="utf-8", buffering=1) as file:
            file.writelines(chain([first], lines))
    except OSError as error:
        raise cannot_write(path, error) from error


def _rows(episode: Episode, form: _Form, accepted: bool) -> Iterator[dict[str, Any]]:
    if form == "chat":
        yield from chat_rows(episode, accepted_only=accepted)
    elif form == "preference":
        yield from preference_rows(episode)
    else:
        yield trajectory(episode)
