"""`pddlego export`: training data from recorded episodes, or from the built-in model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pddlego.api.results import Episode, Evaluation
from pddlego.api.training import chat_rows, expert, preference_rows, setting_of, split_of, trajectory
from pddlego.cli.options import Runs
from pddlego.display.console import Console
from pddlego.errors import UsageError
from pddlego.evaluation.setup import parse_seeds
from pddlego.runs.folders import place_of, runs_folder
from pddlego.runs.store import check_output
from pddlego.util.files import write_whole
from pddlego.util.text import clean, count

Form = Literal["chat", "preference", "atif"]


def command(
    runs: Annotated[list[str] | None, typer.Argument(help="Run folders, their names or unique prefixes.")] = None,
    form: Annotated[Form, typer.Option("--format", help="chat, preference or atif.")] = "chat",
    output: Annotated[str | None, typer.Option("--output", "-o", help="A file. Default: standard output.")] = None,
    won: Annotated[bool, typer.Option("--won", help="Only episodes that were won.")] = False,
    accepted: Annotated[bool, typer.Option("--accepted", help="chat: only answers that were accepted.")] = False,
    thinking: Annotated[bool, typer.Option(help="Keep the reasoning of answers.")] = True,
    test_seeds: Annotated[bool, typer.Option("--test-seeds", help="Include the seeds of the split test.")] = False,
    game: Annotated[str | None, typer.Option("--expert", help="Play this game with the built-in model.")] = None,
    mode: Annotated[str | None, typer.Option(help="--expert: the mode. Default: the first one of the game.")] = None,
    seeds: Annotated[str | None, typer.Option(help="--expert: 60-999, … Default: those of no split.")] = None,
    folder: Runs = None,
) -> None:
    """Write training data as JSON lines: conversations, preferences, or trajectories (ATIF, the Agent Trajectory
    Interchange Format, 1.7).

    Episodes of test seeds are left out, unless --test-seeds is used.
    """
    if bool(runs) == bool(game):
        reason = "The episodes are those of runs, or those that the built-in model plays."
        raise UsageError("Name either runs or --expert GAME", reason, "Example: pddlego export --expert coin.")
    if accepted and form != "chat":
        raise UsageError(
            "--accepted needs --format chat", "The other formats show rejected answers.", "Leave one of them out."
        )
    if not game and (mode or seeds):
        raise UsageError("--mode and --seeds need --expert", "They say what it plays.", "Add --expert GAME.")
    episodes: Iterable[Episode]
    if game:
        chosen = None if seeds is None else parse_seeds(seeds, setting_of(game, mode))
        episodes = expert(game, mode, chosen)
    else:
        episodes = Evaluation([place_of(run, runs_folder(folder)) for run in runs or ()])
    lines, left_out = [], 0
    for episode in episodes:
        if not test_seeds and split_of(episode.recorded.played.setting, episode.seed) == "test":
            left_out += 1
        elif episode.won or not won:
            rows = _rows(episode, form, accepted, not thinking)
            lines += [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    if left_out:
        text = f"{count(left_out, 'episode')} of test seeds left out (--test-seeds includes them)."
        Console(stderr=True).print(text, style="yellow", highlight=False, soft_wrap=True)
    if output is None:
        Console().out("".join(lines), end="", highlight=False)
    else:
        write_whole(check_output(Path(output)), "".join(lines))
        Console().print(f"{count(len(lines), 'row')} in {clean(output)}", style="dim", highlight=False, soft_wrap=True)


def _rows(episode: Episode, form: Form, accepted: bool, without_thinking: bool) -> Iterator[dict[str, Any]]:
    if form == "chat":
        yield from chat_rows(episode, accepted_only=accepted, without_thinking=without_thinking)
    elif form == "preference":
        yield from preference_rows(episode, without_thinking=without_thinking)
    else:
        yield trajectory(episode, without_thinking=without_thinking)
