"""Results of the Python interface: episodes with their steps, and evaluations."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pddlego.errors import JournalError, UsageError, message_of
from pddlego.runs.cells import Cell
from pddlego.runs.summary import LOST_TO_ERRORS, summarize
from pddlego.util.text import count, one_line

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

    from pddlego.episode.events import Event, Outcome, Usage
    from pddlego.episode.trace import Step, TimedEvent
    from pddlego.evaluation.replay import Recorded, Replayed, SettingLoader
    from pddlego.evaluation.runner import Runner
    from pddlego.evaluation.setup import Setup
    from pddlego.evaluation.statistics import PairedComparison
    from pddlego.pddl import Problem
    from pddlego.report import Report
    from pddlego.runs.summary import Summary


@dataclass(frozen=True, repr=False)
class Episode:
    """An episode: what was played (`game`, `mode`, `model`, `seed`), its outcome, and its events.

    `timed` are the events with the seconds since the start. `attempt` counts from 1 how often the episode was begun.
    """

    cell: Cell
    recorded: Recorded
    configuration: Mapping[str, Any]
    attempt: int = 1

    @property
    def game(self) -> str:
        return self.cell.setting

    @property
    def mode(self) -> str:
        return self.cell.mode

    @property
    def model(self) -> str:
        return self.cell.model

    @property
    def seed(self) -> int:
        return self.cell.seed

    @property
    def timed(self) -> tuple[TimedEvent, ...]:
        return self.recorded.trace.timed

    @property
    def events(self) -> tuple[Event, ...]:
        """All events in order. The last one is `Ended`, unless the process was killed."""
        return self.recorded.trace.events

    @cached_property
    def summary(self) -> Summary:
        """The result, with the measures of the method."""
        return summarize(self.cell, self.attempt, self.recorded.trace, self.recorded.played.method.measuring.measured)

    @property
    def outcome(self) -> Outcome:
        return self.summary.outcome

    @property
    def won(self) -> bool:
        return self.summary.won

    @property
    def score(self) -> float:
        """The score of the game, from 0 to 1."""
        return self.summary.score

    @property
    def message(self) -> str:
        """The reason why the episode ended; empty if the outcome is enough."""
        return self.summary.message

    @property
    def usage(self) -> Usage:
        """Steps, calls, tokens and seconds."""
        return self.summary.usage

    @property
    def steps(self) -> int:
        return self.usage.steps

    @cached_property
    def trajectory(self) -> tuple[Step, ...]:
        """The steps, from the first response of the game on."""
        return tuple(self.recorded.trace.steps)

    @property
    def problem(self) -> Problem | None:
        """The last problem of the agent; None in modes without one."""
        return self.trajectory[-1].problem if self.trajectory else None

    @property
    def plan(self) -> tuple[str, ...] | None:
        """The actions of the last plan; None in modes without plans."""
        return self.trajectory[-1].plan if self.trajectory else None

    def first_difference(self, other: Episode) -> int | None:
        """The number of the first step at which the commands of two episodes differ; None if all commands are equal.

        If one episode is the beginning of the other, the number of the first additional step. Raises `UsageError` for
        an episode of another game or seed.
        """
        from pddlego.episode.trace import first_difference

        if (self.game, self.seed) != (other.game, other.seed):
            raise UsageError("Episodes of different games or seeds cannot be compared", f"{self!r} and {other!r}.", "")
        index = first_difference(self.trajectory, other.trajectory)
        longer = max(self.trajectory, other.trajectory, key=len)
        return None if index is None else longer[index].number

    def checked(self) -> tuple[Event, ...]:
        """The events with a check of the model's facts (`FactsChecked`) after each problem, as with `pddlego truth`.

        Raises `UsageError` if the built-in reader cannot read the game.
        """
        return self.recorded.checked().events

    def replay(self) -> Replayed:
        """Play the episode again with the recorded answers, and find the first difference.

        Raises `EngineError` if the engine fails.
        """
        from pddlego.evaluation.replay import replay

        with self.recorded.config.planner.make() as planner:
            return replay(self.recorded, planner)

    def save(self, folder: str | Path) -> Path:
        """Write the episode, as the first repeat of its cell, to a run folder for `pddlego show` and other commands.

        Raises `UsageError` if the folder is not empty, and `JournalError` if it cannot be written.
        """
        from pddlego.evaluation.assemble import open_store
        from pddlego.runs.cells import Matrix
        from pddlego.runs.store import Recorder

        path, cell = Path(folder), replace(self.cell, repeat=1)
        if path.is_dir() and any(path.iterdir()):
            raise UsageError(f"{path} is not empty", "An episode is saved alone.", "Name another folder.")
        matrix = Matrix({cell.setting: (cell.seed,)}, (cell.mode,), (cell.model,))
        with open_store(path, self.configuration, {}) as store:
            store.plan(matrix, {})
            recorder = Recorder(cell, store)
            for event, seconds in self.timed:
                recorder.keep(event, seconds)
            recorder.close()
            recorder.record()
        return path

    def __repr__(self) -> str:
        steps = f" after {count(self.steps, 'step')}" if self.steps else ""
        why = f": {one_line(self.message, 80)}" if self.outcome in LOST_TO_ERRORS else ""
        return f"<Episode {self.game} {self.mode} {self.model} seed {self.seed}: {self.outcome.value}{steps}{why}>"

    def html(self) -> str:
        """The episode as one HTML page: map, problem, request and answer of each step."""
        from pddlego.display.console import UNICODE
        from pddlego.display.opened import Explanation, ShownEpisode
        from pddlego.display.page import ListedEpisode, episode_page, render
        from pddlego.methods.registry import screen_of
        from pddlego.runs.listing import EpisodeStatus

        page = episode_page("episode", ShownEpisode(Explanation(self.timed), screen_of, UNICODE))
        status = EpisodeStatus(self.recorded.path).with_result(self.summary, 0.0)
        return render("page.html.j2", [ListedEpisode(status, page)], title="pddlego")

    def _repr_html_(self) -> str:
        page = escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 42rem; border: 1px solid #8884"></iframe>'


def _setting_loader() -> SettingLoader:
    """A loader for one pass over episodes: later passes see files that were changed meanwhile."""
    from pddlego.evaluation.replay import SettingLoader

    return SettingLoader()


def _is_program_over() -> bool:
    """Whether an exception has ended the program, which only waits for its threads."""
    return not threading.main_thread().is_alive() and getattr(sys, "last_type", None) is not None


_SLICE = 0.2
"""Seconds between two checks whether an asynchronous program that waits was cancelled."""


class Evaluation:
    """The episodes of one or several run folders, which may still be played.

    Iterating yields each episode when it has ended; most other methods wait until all episodes have ended. An
    interrupt, or the cancellation of an `async for`, stops the running episodes, which are recorded as interrupted.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        setup: Setup | None = None,
        on_episode: Callable[[Summary], None] | None = None,
    ) -> None:
        """Start to play the `setup`, if there is one, in the only folder. Raises `PddlegoError` if that fails."""
        self.folders = tuple(folders)
        self._results: list[Summary] = []
        self._on_episode = on_episode
        self._ended = setup is None
        self._changed = threading.Condition()
        self._fault: BaseException | None = None
        self._runner: Runner | None = None
        self._stopping = False
        self._cells = None if setup is None else set(setup.cells())
        if setup is None:
            self._results = self._load()
            return
        begun = threading.Event()
        self._thread = threading.Thread(target=self._play, args=(setup, begun), name="evaluation")
        self._thread.start()
        try:
            begun.wait()
        except KeyboardInterrupt:
            self.stop()
            raise
        if self._runner is None:
            self.wait()

    def _play(self, setup: Setup, begun: threading.Event) -> None:
        from pddlego.evaluation.assemble import evaluating
        from pddlego.evaluation.runner import WorkerDone

        try:
            with evaluating(setup, self.folders[0]) as running:
                self._runner = running.evaluation
                self._add(running.known.values())
                begun.set()
                for progress in running.evaluation.run():
                    if isinstance(progress, WorkerDone):
                        self._add([progress.summary])
                        self._call_hook(progress.summary)
                    if self._stopping or _is_program_over():
                        running.evaluation.abort()
            self._fault = running.evaluation.fault
        except BaseException as error:  # noqa: BLE001 -- raised again in the thread that waits
            self._fault = error
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()
            begun.set()
        if self._fault is not None and not threading.main_thread().is_alive():
            raise self._fault  # the program has ended without waiting for it: print it

    def _call_hook(self, summary: Summary) -> None:
        try:
            if self._on_episode is not None:
                self._on_episode(summary)
        except Exception as error:  # noqa: BLE001 -- the user's function must not end the evaluation
            text = f"on_episode({summary.cell.label}): {type(error).__name__}: {message_of(error)}"
            warnings.warn(text, stacklevel=2)

    def _add(self, results: Iterable[Summary]) -> None:
        with self._changed:
            self._results += results
            self._changed.notify_all()

    def stop(self) -> None:
        """Stop the running episodes, and begin no others. `evaluate` with the same folder continues.

        In the main thread, this waits for the end of the episodes.
        """
        self._stopping = True
        if self._runner is not None:
            self._runner.abort()
        if not self._ended and threading.current_thread() is threading.main_thread():
            self._thread.join()

    def wait(self, seconds: float | None = None) -> Evaluation:
        """Wait until all episodes have ended, at most so many seconds.

        Raises `PddlegoError` if results cannot be written, and `TimeoutError`.
        """
        self._wait(len(self._results), seconds, to_the_end=True)
        if not self._ended:
            raise TimeoutError(f"episodes are still running after {seconds} s")
        if self._fault is not None:
            raise self._fault
        return self

    def _wait(self, number: int, seconds: float | None = None, to_the_end: bool = False) -> bool:
        """Wait for the result with this index, and return whether there is one."""

        def is_over() -> bool:
            return self._ended or (len(self._results) > number and not to_the_end)

        try:
            with self._changed:
                self._changed.wait_for(is_over, seconds)
        except KeyboardInterrupt:
            self.stop()
            raise
        return len(self._results) > number

    def __iter__(self) -> Iterator[Episode]:
        number, loader = 0, _setting_loader()
        while self._wait(number):
            yield from self._read(self._results[number], loader)
            number += 1
        self.wait()

    async def __aiter__(self) -> AsyncIterator[Episode]:
        import asyncio

        number, loader = 0, _setting_loader()
        while not self._ended or number < len(self._results):
            try:
                has_next = await asyncio.to_thread(self._wait, number, _SLICE)
            except asyncio.CancelledError:
                self.stop()
                raise
            if has_next:
                for episode in self._read(self._results[number], loader):
                    yield episode
                number += 1
        self.wait()

    @property
    def results(self) -> list[Summary]:
        """The results of the last attempts at each episode, sorted."""
        self.wait()
        return self._load()

    def _load(self) -> list[Summary]:
        """The results of the cells in the folders. Warns about damaged files."""
        from pddlego.report import load_results
        from pddlego.runs.store import RESULTS, read_results

        for folder in self.folders:
            for warning in read_results(folder)[1]:
                warnings.warn(warning, stacklevel=3)
        # Without the file, the budget of an evaluation did not allow one request.
        results = load_results([path for path in self.folders if self._cells is None or (path / RESULTS).exists()])
        if not results:
            warnings.warn(f"{', '.join(map(str, self.folders))}: no episode has a result", stacklevel=3)
        return [summary for summary in results if self._cells is None or summary.cell in self._cells]

    @property
    def episodes(self) -> list[Episode]:
        """All episodes that have begun, sorted by game, mode, model and seed."""
        loader = _setting_loader()
        return [episode for summary in self.results for episode in self._read(summary, loader)]

    def _read(self, summary: Summary, loader: SettingLoader) -> Iterator[Episode]:
        """The episode of a result. Nothing, with a warning, if its journal is empty or damaged."""
        try:
            yield self._episode(summary, loader)
        except JournalError as error:
            warnings.warn(f"{summary.cell.label}: {error.what}. {error.reason}", stacklevel=3)

    def _episode(self, summary: Summary, loader: SettingLoader) -> Episode:
        from pddlego.evaluation.replay import load_recorded
        from pddlego.runs.folders import EPISODES
        from pddlego.runs.store import journal_name, read_configuration

        name = journal_name(summary.cell, summary.attempt)
        folder = next((folder for folder in reversed(self.folders) if (folder / EPISODES / name).is_file()), None)
        if folder is None:
            reason = f"No folder has {EPISODES}/{name}."
            raise JournalError("The journal of an episode is missing", reason, "Restore the file.")
        recorded = load_recorded(folder / EPISODES / name, loader=loader)
        return Episode(summary.cell, recorded, read_configuration(folder), summary.attempt)

    @property
    def report(self) -> Report:
        """All tables, comparisons and figures as values."""
        from pddlego.report import build_report

        self.wait()
        return build_report(self.folders)

    @property
    def table(self) -> str:
        """All numbers of each game, mode and model, as a Markdown table."""
        from pddlego.report.tables import all_numbers

        return all_numbers(self.report.rows).markdown()

    def compare(self) -> tuple[PairedComparison, ...]:
        """Paired comparisons of modes and models on common seeds: McNemar's test, and the difference of means."""
        return self.report.comparisons

    def rows(self) -> list[dict[str, Any]]:
        """A row for each episode with the columns of `results.csv`, with numbers as numbers, and `won`, `counts` (not
        lost to an error), `seconds`, `model_seconds`, `attempt`, `message` and `first_error`."""
        from pddlego.evaluation.table import as_values, columns

        results = self.results
        names = columns(results)
        return [
            {name: as_values(summary).get(name) for name in names}
            | {
                "won": summary.won,
                "counts": summary.counts,
                "seconds": summary.usage.seconds,
                "model_seconds": summary.usage.model_seconds,
                "attempt": summary.attempt,
                "message": summary.message,
                "first_error": summary.measures.first_error,
            }
            for summary in results
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a table of pandas. Raises `UsageError` if pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise UsageError("to_pandas() needs pandas", "It is not installed.", "Run: pip install pandas") from None
        return pandas.DataFrame(self.rows())

    def __repr__(self) -> str:
        ended = "" if self._ended else ", still running"
        won, number = sum(summary.won for summary in self._results), count(len(self._results), "episode")
        return f"<Evaluation {', '.join(map(str, self.folders))}: {number}, {won} won{ended}>"

    def _repr_html_(self) -> str:
        from pddlego.report.tables import all_numbers

        if not self._ended:
            return f"<pre>{escape(repr(self))}</pre>"
        return all_numbers(self.report.rows).html()
