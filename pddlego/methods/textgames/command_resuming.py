"""Continues recorded episodes of text games with a correction by the user."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pddlego.cli.watching import prepare
from pddlego.display.console import Console
from pddlego.display.person import edit_text
from pddlego.errors import UsageError
from pddlego.evaluation.config import Run
from pddlego.evaluation.replay import Recorded, load_recorded
from pddlego.evaluation.setup import Continuation, make_continuing_setup
from pddlego.methods.registry import parse_mode
from pddlego.methods.textgames.events import Observed
from pddlego.methods.textgames.resume import (
    RecordedGame,
    check_not_over,
    knowledge_at,
    read_correction,
    recorded_game,
    restart_at,
    with_correction,
)
from pddlego.methods.textgames.world import Restart
from pddlego.models.endpoint import Access, Endpoint
from pddlego.pddl import Problem, check
from pddlego.runs.folders import RESUMED, runs_folder
from pddlego.util.text import clean


def resume(
    journal: Path,
    step: int,
    explicit: Mapping[str, Any],
    *,
    model: str | None,
    problem_file: str | None,
    edit: bool,
    confirm: str,
    pace: float,
) -> int:
    """Play a recorded episode on from a step, in a new run folder, and return the exit code.

    `explicit` contains the options that the user typed. The problem is replaced by the one in `problem_file`, or with
    `edit` the user edits it, after everything else has been checked.
    """
    console = Console()
    recorded = load_recorded(journal, {name: explicit[name] for name in ("java", "max_steps") if name in explicit})
    played = recorded_game(journal, recorded.trace, recorded.played.setting)
    restart = restart_at(played, step)
    check_not_over(played, step)
    continuation = _continuation(recorded, restart, explicit.get("max_steps", recorded.started.limits.steps))
    asks = parse_mode(recorded.cell.mode).mode.asks_model
    cell = replace(recorded.cell, model=model) if model and asks else recorded.cell
    endpoint, access = endpoint_again(console, recorded, model, explicit.get("base_url"))
    config = recorded.config.model_copy(update={"endpoint": endpoint, "run": Run(workers=1)})
    setup = make_continuing_setup({cell: continuation}, config, access)
    live = prepare(console, setup, confirm, pace)
    corrected = with_correction(restart, _corrected(played, restart, problem_file, edit))
    setup = replace(setup, continued={cell: replace(continuation, restart=corrected)})
    about = {RESUMED: {"source": corrected.source, "step": corrected.step}}
    return live.play(setup, runs_folder(explicit.get("runs")), f"{cell.label}-resumed", about)


def _continuation(recorded: Recorded, restart: Restart, steps: int | None) -> Continuation:
    """The episode after a restart, with at most `steps` in all. Raises `UsageError` if no step is left."""
    if steps is not None and restart.step >= steps:
        reason = f"The episode may take {steps} steps."
        raise UsageError(f"After step {restart.step} nothing is left", reason, "Raise --max-steps.")
    return Continuation(recorded.played, restart, replace(recorded.started.limits, steps=steps))


def endpoint_again(
    console: Console, recorded: Recorded, model: str | None, named: str | None
) -> tuple[Endpoint, Access]:
    """The recorded endpoint, or the one with the URL that the user `named`, and the key for it.

    With another `model`, the recorded URL is not used. The key is not sent to a URL that only the run folder names.
    """
    endpoint = recorded.config.endpoint
    base_url = named or (None if model else endpoint.base_url)
    key = os.environ.get("OPENAI_API_KEY")
    if key and base_url is not None and base_url != named:
        warning = (
            f"Your key is not sent to {base_url}, which only the run folder names: --base-url says that you mean it"
        )
        console.print(clean(warning), style="yellow", soft_wrap=True)
        key = None
    return endpoint.model_copy(update={"base_url": base_url}), Access(key)


def _corrected(played: RecordedGame, restart: Restart, file: str | None, edit: bool) -> Problem | None:
    """The user's problem; None without `file` and `edit`. Raises `UsageError` if it is invalid or unchanged."""
    if not edit and file is None:
        return None
    if not played.plans:
        reason = f"It was played in mode {played.started.mode}."
        raise UsageError("The episode has no problem to correct", reason, "Leave --problem and --edit out.")

    def faults(text: str) -> tuple[str, ...]:
        return read_correction(played, restart, text).faults

    if file is not None:
        try:
            text: str | None = Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = f"{getattr(error, 'strerror', None) or 'It is not a text file'}."
            raise UsageError(f"{file} cannot be read", reason, "Check --problem.") from error
    else:
        text = edit_text(str(restart.latest), faults, _about(played, restart))
    unchanged = "The file was left as it was, or emptied."
    if text is not None:
        corrected = read_correction(played, restart, text)
        unchanged = "The problem means what it did before." if corrected.problem == restart.latest else ""
    if text is None or unchanged:
        raise UsageError("Nothing was corrected", unchanged, "Leave --edit and --problem out to go on.")
    if corrected.faults:
        more = f" (and {len(corrected.faults) - 1} more)" if len(corrected.faults) > 1 else ""
        reason = f"{corrected.faults[0]}{more}"
        raise UsageError(f"{file} cannot be planned with", reason, "Fix it and try again.")
    return corrected.problem


def _about(played: RecordedGame, restart: Restart) -> Iterator[str]:
    """The comments above a problem that the user edits."""
    knowledge, step = knowledge_at(played, restart), restart.step
    yield f"{played.setting.title}, seed {played.seed}: the problem after step {step}."
    yield "Correct it, save, and leave the editor; the agent plans with it at once. Empty the file to give up."
    last = next((observed for observed in reversed(played.trace.all(Observed)) if observed.step <= step), None)
    if last is not None:
        yield f"The game's last answer{f' to {last.command}' if last.command else ''}:"
        yield last.read or last.text
    predicates = " ".join(str(predicate) for predicate in knowledge.domain.predicates)
    yield f"Predicates: {predicates}"
    for defect in check(knowledge.domain, restart.latest):
        yield f"Check: {defect.message}"
