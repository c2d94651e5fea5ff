"""Checks the claims of models in recorded episodes, and keeps what it finds beside the journals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from pddlego.episode.events import Outcome
from pddlego.episode.trace import Trace
from pddlego.errors import JournalError, PddlegoError, UsageError
from pddlego.evaluation.replay import SettingLoader, load_recorded
from pddlego.evaluation.table import ALL_GAMES, Configuration, by_configuration
from pddlego.methods.registry import measuring_of
from pddlego.models.base import Model
from pddlego.runs.cells import NO_MODEL, Cell
from pddlego.runs.folders import EPISODES
from pddlego.runs.store import TRUTH, append_summary, journal_name, read_results, read_truth
from pddlego.runs.summary import LastingError, Measures, Summary, summarize
from pddlego.util.files import digest
from pddlego.util.text import suggestion

Progress = Callable[[int, int], None]
"""A function that is called after each check with the number of checked episodes, and of all that can be checked."""


def with_truth(folder: Path, results: Sequence[Summary], progress: Progress | None) -> list[Summary]:
    """The results of a run folder; their measures contain the lasting errors of the models.

    Each journal is checked once: `truth.jsonl` in the run folder keeps its measures. Episodes that cannot be checked,
    because their game has no reference or is not installed, keep their measures; without `progress` none is checked.
    """
    known = read_truth(folder)
    if progress is not None:
        missing = [result for result in results if result.digest not in known and _has_claims(result)]
        known |= _check_all(folder, missing, progress)
    return [replace(result, measures=known.get(result.digest, result.measures)) for result in results]


def _check_all(folder: Path, results: Sequence[Summary], progress: Progress) -> dict[str, Measures]:
    """The measures of the checked episodes, by the digest of the journal, without those that cannot be checked."""
    checked: dict[str, Measures] = {}
    impossible, loader = set[Configuration](), SettingLoader()
    sizes = Counter(result.cell.configuration for result in results)
    for result in results:
        if result.cell.configuration not in impossible:
            try:
                checked[result.digest] = _check(folder, result, loader)
                progress(len(checked), len(results) - sum(sizes[configuration] for configuration in impossible))
            except JournalError:  # only this journal is damaged
                continue
            except PddlegoError:
                impossible.add(result.cell.configuration)
    return checked


def last_attempts(folders: Iterable[Sequence[Summary]]) -> list[Summary]:
    """The last attempt at each cell, sorted by cell. If a cell is in several folders, the last folder counts."""
    last: dict[Cell, Summary] = {}
    for attempts in folders:
        last |= {attempt.cell: attempt for attempt in sorted(attempts, key=lambda attempt: attempt.attempt)}
    return [last[cell] for cell in sorted(last)]


@dataclass(frozen=True)
class ResultFilter:
    """A selection of results. `cause` is a part of the kind or text of the cause; a default value matches all."""

    games: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    lost: bool = False
    outcome: Outcome | None = None
    cause: str = ""

    def has(self, cell: Cell) -> bool:
        """Whether results of a cell may be selected."""
        chosen = zip(cell.configuration, (self.games, self.modes, self.models), strict=True)
        return all(not names or name in names for name, names in chosen)

    def check_names(self, cells: Iterable[Cell]) -> None:
        """Raise `UsageError` for a chosen game, mode or model that none of the cells has, unless there are no cells."""
        named = {"game": self.games, "mode": self.modes, "model": self.models}
        existing = zip(*(cell.configuration for cell in cells), strict=True)
        for (kind, chosen), known in zip(named.items(), map(sorted, map(set, existing)), strict=False):
            for name in chosen:
                if name not in known:
                    reason = f"The {kind}s are: {', '.join(known)}."
                    raise UsageError(
                        f"Unknown {kind} '{name}' (--{kind})", reason, suggestion(name, known, "Choose one.")
                    )

    def matches(self, result: Summary, causes: Causes) -> bool:
        """Whether a result is selected."""
        if (
            not self.has(result.cell)
            or (self.lost and (result.won or not result.counts))
            or self.outcome not in (None, result.outcome)
        ):
            return False
        if not self.cause:
            return True
        error = causes.error_of(result)
        return error is not None and any(self.cause.lower() in name.lower() for name in (error.kind, str(error)))

    def hint(self, *known: Causes) -> str:
        """A sentence with the kinds of the causes, for an error about a `cause` that selects nothing; else empty."""
        kinds = dict.fromkeys(kind for causes in known for counter in causes.caused.values() for kind in counter)
        return f" The causes are: {', '.join(kinds)}." if self.cause and kinds else ""

    @property
    def needs_results(self) -> bool:
        """Whether the selection depends on results, not only on cells."""
        return self.lost or self.outcome is not None or bool(self.cause)


EVERY_RESULT = ResultFilter()


def explain_losses(folder: Path, progress: Progress | None) -> tuple[dict[Path, Summary], Causes]:
    """The last attempt at each cell of a run folder with its lasting errors, by journal, and the causes of losses.

    Without `progress` nothing is checked: only known errors are used. Raises `UsageError` for unreadable results.
    """
    results = with_truth(folder, last_attempts([read_results(folder)[0]]), progress)
    causes = Causes(results, unchecked_cells([(folder, results)]) if progress is None else ())
    return {folder / EPISODES / journal_name(r.cell, r.attempt): r for r in results}, causes


def unchecked_cells(runs: Iterable[tuple[Path, Iterable[Summary]]]) -> Iterator[Cell]:
    """The cells of those results of run folders whose claims can be checked, and have not been checked yet."""
    for folder, results in runs:
        known = read_truth(folder)
        yield from (result.cell for result in results if result.digest not in known and _has_claims(result))


def cause_if_checked(journal: Path) -> LastingError | None:
    """The cause of a lost episode; None as long as it is not known, or the results are unreadable."""
    with suppress(PddlegoError):
        results, causes = explain_losses(journal.parent.parent, None)
        return causes.error_of(results[journal]) if journal in results else None
    return None


def check_episode(
    journal: Path, reference: Model | str | None = None, loader: SettingLoader | None = None
) -> tuple[Trace, Summary]:
    """An episode with checks of its model's claims, and its result, as the first attempt and repeat of its cell.

    The claims are compared with what the model `reference`, or the built-in model with this name, reads, if there is
    one. Raises `PddlegoError` if the episode cannot be checked.
    """
    recorded = load_recorded(journal, loader=loader)
    if isinstance(reference, str):
        reference = recorded.played.method.builtin_model(reference, recorded.cell, None)
    trace = recorded.checked(reference)
    return trace, summarize(recorded.cell, 1, trace, recorded.played.method.measuring.measured)


def _has_claims(result: Summary) -> bool:
    """Whether an episode has a result, and its method can check the claims of its model later."""
    setting, mode, model = result.cell.configuration
    has_claims = model != NO_MODEL and result.counts and bool(result.digest)
    return has_claims and measuring_of(setting, mode).checked is not None


def _check(folder: Path, result: Summary, loader: SettingLoader) -> Measures:
    """Check the claims of the model in an episode, keep the measures in the run folder, and return them.

    Raises `PddlegoError` for an episode that cannot be checked.
    """
    journal = folder / EPISODES / journal_name(result.cell, result.attempt)
    if not journal.is_file():
        raise JournalError(f"{journal} is missing", "The file was removed.", "Restore the file.")
    if digest(journal) != result.digest:  # what is left of a cut file has other numbers
        raise JournalError(f"{journal} has changed", "The episode ended with another text.", "Restore the file.")
    checked = check_episode(journal, loader=loader)[1]
    with suppress(JournalError):  # a folder that cannot be written is checked again
        append_summary(folder / TRUTH, replace(checked, digest=result.digest), flush=False)
    return checked.measures


@dataclass(frozen=True)
class ErrorShare:
    """How often a kind of lasting error occurs in the lost and in the won episodes of a configuration."""

    kind: str
    lost: int
    all_lost: int
    won: int
    all_won: int

    @property
    def difference(self) -> float:
        """The share of the lost episodes with the error minus that of the won episodes, from -1 to 1."""
        return self.lost / max(1, self.all_lost) - self.won / max(1, self.all_won)


class Causes:
    """Why episodes were lost: their lasting errors, ordered by how much more frequent they are in lost episodes.

    `shares` are the kinds of errors of each configuration, and of all games together; `caused` are the numbers of
    losses with a cause of each kind. The claims of the `unchecked` cells have not been checked.
    """

    def __init__(self, results: Iterable[Summary], unchecked: Iterable[Cell] = ()) -> None:
        self.unchecked = frozenset(unchecked)
        self._open = {cell.configuration for cell in self.unchecked}
        groups = by_configuration(result for result in results if result.counts and result.cell.model != NO_MODEL)
        together: dict[Configuration, list[list[Summary]]] = {}
        for (_, mode, model), group in groups.items():
            together.setdefault((ALL_GAMES, mode, model), []).append(group)
        groups |= {key: list(chain(*of_games)) for key, of_games in together.items() if len(of_games) > 1}
        self.shares = {configuration: _shares(group) for configuration, group in groups.items()}
        self.caused = {
            configuration: Counter(cause.kind for cause in map(self.error_of, group) if cause is not None)
            for configuration, group in groups.items()
        }

    def of(self, result: Summary) -> str:
        """The cause of a lost episode as text; empty for another one."""
        return str(self.error_of(result) or "")

    def error_of(self, result: Summary) -> LastingError | None:
        """The cause of a lost episode; None for a won one, for one without a result, and for a mode without a model.

        It is the error that ended the episode, else the lasting error whose kind explains most losses. An error that is
        as frequent in won episodes is a cause only if it is fatal. If nothing else is known, it is what ended the
        episode. None also as long as the cause depends on claims that have not been checked.
        """
        if result.won or not result.counts or result.cell.model == NO_MODEL or result.cell in self.unchecked:
            return None
        known = result.measures.errors
        if known and not any(error.fatal for error in known) and result.cell.configuration in self._open:
            return None
        ended = result.measures.ending or LastingError(result.outcome.value, result.message or result.outcome.value)
        differences = {share.kind: share.difference for share in self.shares.get(result.cell.configuration, ())}
        errors = [error for error in known if error.fatal or differences.get(error.kind, 0) > 0]
        return max(errors, key=lambda error: (error.fatal, differences.get(error.kind, 0.0)), default=ended)


def _shares(results: Sequence[Summary]) -> list[ErrorShare]:
    lost, won = ([result for result in results if result.won is is_won] for is_won in (False, True))
    in_lost, in_won = (
        Counter(error.kind for result in group for error in result.measures.errors) for group in (lost, won)
    )
    shares = [ErrorShare(kind, in_lost[kind], len(lost), in_won[kind], len(won)) for kind in in_lost]
    return sorted(shares, key=lambda share: (-share.difference, share.kind))
