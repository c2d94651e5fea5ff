"""Lost episodes as data for failure attribution: where an episode went wrong, why, and whether that is proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pddlego.api.results import Episode
from pddlego.api.training import trajectory
from pddlego.errors import UsageError
from pddlego.evaluation.truth import Causes, Progress, explain_losses
from pddlego.models.prompts import Prompts
from pddlego.runs.cells import Cell
from pddlego.runs.folders import CONTROL
from pddlego.runs.store import read_results, replayed_source, source_of
from pddlego.runs.summary import Summary


class Failures:
    """The losses of a run folder, with their lasting errors, and the replays of `pddlego counterfactual`.

    The replays are those in `counterfactual`, a folder, or else in the folder that `pddlego counterfactual` names after
    the run. Raises `UsageError` for a folder with the replays of another run.
    """

    def __init__(self, run: Path, progress: Progress | None = None, counterfactual: Path | None = None) -> None:
        results, self._causes = explain_losses(run, progress)
        self._results = {result.cell: result for result in results.values()}
        self._repeats = max((cell.repeat for cell in self._results), default=1)
        folder = counterfactual or run.parent / f"counterfactual-{run.name}"
        self._corrected, self._controls = (_replays(folder / name, source_of(run)) for name in ("1", f"1{CONTROL}"))
        if counterfactual is not None and not self._corrected:
            reason = "It has no replays of this run."
            raise UsageError(f"{counterfactual} is not a counterfactual of {run}", reason, "Name another folder.")

    def row(self, episode: Episode, *, without_thinking: bool = False) -> Iterator[dict[str, Any]]:
        """The row of an episode; nothing if it was not lost, or if no error of its model is known.

        `trajectory` is the episode in the form of `training.trajectory`. `first_error` is the error that ended the
        episode, else the oldest lasting one: the step after which it was made, and its text. `causes` are all lasting
        errors in the order of how much more frequent they are in lost episodes. `counterfactual` says whether the same
        model wins from that step with the error corrected, and without a correction (the control); null if it was not
        replayed.
        """
        result = self._results.get(episode.cell)
        if result is None or result.won or not result.counts or not result.measures.errors:
            return
        first = result.measures.errors[0]  # the one that `pddlego counterfactual` corrects first
        recorded = trajectory(episode, without_thinking=without_thinking)
        recorded["extra"].pop("first_error", None)  # it is the answer
        yield {
            "id": result.cell.label,
            "game": result.cell.setting,
            "mode": result.cell.mode,
            "model": result.cell.model,
            "seed": result.cell.seed,
            "outcome": result.outcome.value,
            "trajectory": recorded,
            "first_error": asdict(first),
            "causes": list(_causes(result, self._causes)),
            "counterfactual": self._counterfactual(result.cell),
        }

    def _counterfactual(self, cell: Cell) -> dict[str, Any] | None:
        replay = replace(cell, repeat=cell.repeat + self._repeats)  # as `pddlego counterfactual` counts them
        corrected, control = self._corrected.get(replay), self._controls.get(replay)
        if corrected is None and control is None:
            return None
        return {"corrected_is_won": corrected, "control_is_won": control}


def _replays(folder: Path, source: str) -> Mapping[Cell, bool]:
    """Whether each replay of a folder was won; empty if the folder has no replays of the source."""
    results = read_results(folder)[0] if replayed_source(folder) == source else []
    return {result.cell: result.won for result in results if result.counts}


def _causes(result: Summary, causes: Causes) -> Iterator[dict[str, Any]]:
    """The lasting errors of a lost episode with their shares in lost and won ones, the most telling first."""
    shares = {share.kind: share for share in causes.shares.get(result.cell.configuration, ())}
    for kind, share in shares.items():
        for error in result.measures.errors:
            if error.kind == kind:
                yield {**asdict(error), **{name: n for name, n in asdict(share).items() if name != "kind"}}


def question_of(row: Mapping[str, Any]) -> str:
    """The question to a judge of failures about a row: the trajectory with numbered steps, and what to name."""
    turns = [
        {"source": step["source"], "message": step["message"], "steps": list(_steps(step))}
        for step in row["trajectory"]["steps"]
    ]
    about = {name: row[name] for name in ("game", "mode", "outcome")}
    return Prompts("trainers").render("failures", turns=turns, **about)


def _steps(turn: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The commands of a turn of the agent with the responses of the game, by the number of the step."""
    results = turn.get("observation", {}).get("results", ())
    for call, result in zip(turn.get("tool_calls", ()), results, strict=False):
        number = call["tool_call_id"].split("_")[1]
        yield {"number": number, "command": call["arguments"]["command"], "response": result["content"]}
