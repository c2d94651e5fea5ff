"""Lost episodes as data for failure attribution: where an episode went wrong, why, and whether that is proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pddlego.api.results import Episode
from pddlego.api.training import trajectory
from pddlego.errors import UsageError
from pddlego.evaluation.truth import Causes, Progress, explain
from pddlego.runs.cells import Cell
from pddlego.runs.folders import MANIFEST, RESUMED
from pddlego.runs.store import read_manifest, read_results
from pddlego.runs.summary import Summary


class Failures:
    """The losses of a run folder, with their lasting errors, and the replays of `pddlego counterfactual`.

    The replays are those in `counterfactual`, a folder, or else in the folder that `pddlego counterfactual` names after
    the run. Raises `UsageError` for a folder with the replays of another run.
    """

    def __init__(self, run: Path, progress: Progress | None = None, counterfactual: Path | None = None) -> None:
        results, self._causes = explain(run, progress)
        self._results = {result.cell: result for result in results.values()}
        self._repeats = max((cell.repeat for cell in self._results), default=1)
        folder = counterfactual or run.parent / f"counterfactual-{run.name}"
        source = f"{run.resolve()}, begun {read_manifest(run).get('created', '')}"
        self._corrected, self._controls = (self._replays(folder / name, source) for name in ("1", "1-control"))
        if counterfactual is not None and not self._corrected:
            reason = "It has no replays of this run."
            raise UsageError(f"{counterfactual} is not a counterfactual of {run}", reason, "Name another folder.")

    def row(self, episode: Episode, *, without_thinking: bool = False) -> Iterator[dict[str, Any]]:
        """The row of an episode; nothing if it was not lost, or if no error of its model is known.

        `trajectory` is the episode in the form of `training.trajectory`. `first_error` is the error that ended the
        episode, else the oldest lasting one: the step after which it was made, and its text. `causes` are all lasting
        errors in the order of how much more frequent they are in lost episodes. `counterfactual` says whether the
        episode is won from that step with the error corrected, and without a correction (the control); null if it was
        not replayed.
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
        key = (cell.setting, cell.mode, cell.seed, cell.repeat + self._repeats)
        corrected, control = self._corrected.get(key), self._controls.get(key)
        if corrected is None and control is None:
            return None
        return {"corrected_is_won": corrected, "control_is_won": control}

    @staticmethod
    def _replays(folder: Path, source: str) -> Mapping[tuple[str, str, int, int], bool]:
        """Whether each replay of a folder was won, if the folder belongs to the run."""
        if not (folder / MANIFEST).exists() or read_manifest(folder).get(RESUMED, {}).get("source") != source:
            return {}
        results = (result for result in read_results(folder)[0] if result.counts)
        return {(r.cell.setting, r.cell.mode, r.cell.seed, r.cell.repeat): r.won for r in results}


def _causes(result: Summary, causes: Causes) -> Iterator[dict[str, Any]]:
    """The lasting errors of a lost episode with their shares in lost and won ones, the most telling first."""
    shares = {share.kind: share for share in causes.shares.get(result.cell.configuration, ())}
    for kind, share in shares.items():
        for error in result.measures.errors:
            if error.kind == kind:
                yield {**asdict(error), **{name: n for name, n in asdict(share).items() if name != "kind"}}


def question_of(row: Mapping[str, Any]) -> str:
    """The trajectory of a row as a text, with numbered steps: what a judge of failures reads."""
    lines = [f"An agent plays {row['game']} and loses ({row['outcome']}). Its model answers in mode {row['mode']}.", ""]
    for step in row["trajectory"]["steps"]:
        if step["message"]:
            lines.append(f"[{step['source']}] {step['message']}")
        results = step.get("observation", {}).get("results", ())
        for call, result in zip(step.get("tool_calls", ()), results, strict=False):
            number = call["tool_call_id"].split("_")[1]
            lines += [f"Step {number}: > {call['arguments']['command']}", result["content"]]
    return "\n".join(lines)
