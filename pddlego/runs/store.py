"""The run folder of an evaluation: its configuration, a journal and one result line for each attempt.

    runs/NAME/manifest.json         the requested cells, and everything that determines an episode
    runs/NAME/episodes/LABEL.jsonl  the journal of a cell; `LABEL.2.jsonl` is that of its second attempt
    runs/NAME/results.jsonl         a summary for each attempt, appended when it ends
    runs/NAME/results.csv           the result table, written when an evaluation stops
    runs/NAME/carried/SERIES.*      the text that a next episode of a setting, mode and model could begin from

A finished episode survives a killed process: its journal is complete, and on the disk, before its result line is
written, and a missing result line is computed from the journal when the evaluation is continued. A damaged line
is reported, and costs at most the result of its cell.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from pddlego.episode.events import Accepted, Event, Usage
from pddlego.episode.trace import Trace
from pddlego.errors import JournalError, UsageError
from pddlego.models.limiter import Price, read_ledger
from pddlego.runs.cells import Cell, Matrix
from pddlego.runs.folders import CARRIED, EPISODES, LEDGER, MANIFEST, RESUMED, journal_parts
from pddlego.runs.journal import SCHEMA, Codec, JournalWriter, read_journal
from pddlego.runs.summary import Measure, Measures, Summary, dump_summary, load_summary, summarize
from pddlego.util.children import for_children
from pddlego.util.closing import Closeable
from pddlego.util.files import (
    append,
    cannot_make,
    cannot_write,
    check_writable,
    cut_unfinished_line,
    digest,
    flush_to_disk,
    open_run_file,
    read_run_file,
    run_lines,
    write_run_file,
)
from pddlego.util.text import count

RESULTS, TABLE, TRUTH = "results.jsonl", "results.csv", "truth.jsonl"

ASKED, _PRICES = "asked", "prices"
"""Keys of a manifest: all matrices that were requested, and the price list."""

_PACKAGES = ("pddlego", "fast-downward.translate", "pyperplan", "openai")
"""Packages whose versions a manifest records."""


def source_of(run: Path) -> str:
    """A text that identifies a run as the source of replays. Raises `UsageError` if its manifest cannot be read."""
    return f"{run.resolve()}, begun {read_manifest(run).get('created', '')}"


def replayed_source(folder: Path) -> str:
    """The run whose episodes a folder plays on (`source_of`); empty for a folder that is not there, or plays anew."""
    return str(read_manifest(folder).get(RESUMED, {}).get("source", "")) if (folder / MANIFEST).exists() else ""


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of a run folder. Raises `UsageError` if it cannot be read."""
    place = path / MANIFEST
    try:
        manifest = json.loads(read_run_file(place))
    except OSError as error:
        reason = f"{place.name}: {error.strerror}."
        raise UsageError(f"{path} is not a run folder", reason, "Check the path.") from error
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"{place.name} is not JSON.") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("configuration", {}), dict):
        raise _damaged(path, f"{place.name} holds no manifest.")
    schema = manifest.get("schema", SCHEMA)
    if schema != SCHEMA:
        what = f"{path} was written by another version of pddlego"
        reason = f"Its schema is {schema}; this version reads schema {SCHEMA}."
        raise UsageError(what, reason, "Use the version that wrote it.")
    return manifest


def read_configuration(path: Path) -> dict[str, Any]:
    """The configuration in a manifest; each of its `settings` has a method, options and digests of files.

    Empty if the manifest has no configuration. Raises `UsageError` if the manifest cannot be read or is invalid.
    """
    configuration: dict[str, Any] = read_manifest(path).get("configuration", {})
    try:
        for name, setting in dict(configuration.get("settings", {})).items():
            if not (isinstance(setting["method"], str) and isinstance(setting["options"], dict)):
                raise ValueError(f"setting '{name}' has no method or no options")
            dict(setting.get("files") or {})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"Its {MANIFEST} does not say what was played ({type(error).__name__}: {error})."
        raise _damaged(path, reason) from error
    return configuration


def recorded_setting(settings: Mapping[str, Any], name: str, method: str) -> Mapping[str, Any] | None:
    """The configuration of a setting for a method, among recorded `settings`; None if it is not recorded.

    A setting that several methods play is recorded once for each of them, as `NAME (METHOD)`.
    """
    of_method: Mapping[str, Any] | None = settings.get(f"{name} ({method})")
    return of_method if of_method is not None else settings.get(name)


def read_recorded_prices(path: Path) -> dict[str, Price]:
    """The recorded prices, by the name of the model. Raises `UsageError` for a manifest that cannot be read."""
    try:
        return TypeAdapter(dict[str, Price]).validate_python(read_manifest(path).get(_PRICES, {}))
    except ValueError as error:
        raise _damaged(path, f"{MANIFEST} holds no price list.") from error


def read_cells(path: Path) -> tuple[Cell, ...]:
    """The cells of all requested matrices, in playing order. Raises `UsageError` for a manifest that cannot be read."""
    return tuple(dict.fromkeys(cell for matrix in read_matrices(path) for cell in matrix.cells()))


def read_matrices(path: Path) -> list[Matrix]:
    """All requested matrices of a run folder. Raises `UsageError` for a manifest that cannot be read."""
    try:
        return _matrices().validate_python(read_manifest(path).get(ASKED, []))
    except ValueError as error:
        raise _damaged(path, f"{MANIFEST} has an invalid list of cells.") from error


@lru_cache(maxsize=1)
def _matrices() -> TypeAdapter[list[Matrix]]:
    return TypeAdapter(list[Matrix])


def _damaged(path: Path, reason: str) -> UsageError:
    return UsageError(f"{path} is damaged", reason, "Restore the file.")


def environment_manifest() -> dict[str, Any]:
    """The versions of Python and packages, and the git revision of the working directory (None outside of git)."""
    import platform

    packages = {name: installed_version(name) for name in _PACKAGES}
    return {"versions": {"python": platform.python_version(), **packages}, "git": _revision()}


def installed_version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _revision() -> str | None:
    command = ["git", "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False, env=for_children())
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def read_results(path: Path) -> tuple[list[Summary], tuple[str, ...]]:
    """The results in a run folder, and a warning for each damaged line. Raises `UsageError` for an unreadable file."""
    place = path / RESULTS
    try:
        summaries, damaged = _results_in(run_lines(place) if place.exists() else ())
    except OSError as error:
        raise UsageError(f"{place} cannot be read", f"{error.strerror}.", "Check the path.") from error
    warnings = [f"{place}: line {number} is damaged and left out." for number in damaged]
    if not (_ends_whole(place) or is_locked(path)):
        warnings.append(f"{place} was cut: its last line is left out. Evaluate again: results are made from journals.")
    return summaries, tuple(warnings)


def _ends_whole(place: Path) -> bool:
    """Whether a file is empty, not there, or ends with the end of a line."""
    with contextlib.suppress(OSError), open_run_file(place, "rb") as file:
        if size := file.seek(0, 2):
            file.seek(size - 1)
            return file.read(1) == b"\n"
    return True


def results_from(place: Path, start: int) -> tuple[list[Summary], int]:
    """The results in the whole lines after byte `start`, and the byte after these lines. Damaged lines are left out.

    A file that is shorter than `start` was replaced, and is read from its beginning.
    """
    try:
        with open_run_file(place, "rb") as file:
            start = start if start <= file.seek(0, 2) else 0
            file.seek(start)
            data = file.readall()
    except OSError:
        return [], start
    return _results_in(data.split(b"\n")[:-1])[0], start + data.rfind(b"\n") + 1


def _results_in(lines: Iterable[bytes]) -> tuple[list[Summary], list[int]]:
    """The results in the lines of a file, and the numbers of damaged lines."""
    summaries, damaged = [], []
    for number, line in enumerate(lines, start=1):
        try:
            summaries.append(load_summary(line))
        except ValueError:
            damaged.append(number)
    return summaries, damaged


def read_truth(path: Path) -> dict[str, Measures]:
    """The measures of the episodes of a run folder whose claims were checked, by the digest of the journal."""
    known: dict[str, Measures] = {}
    with contextlib.suppress(OSError):
        for line in run_lines(path / TRUTH):
            with contextlib.suppress(ValueError):
                summary = load_summary(line)
                known[summary.digest] = summary.measures
    return known


def append_summary(place: Path, summary: Summary, *, flush: bool) -> None:
    """Append a result to a file, and `flush` it to the disk. Raises `JournalError`."""
    try:
        with open_run_file(place, "ab") as file:
            append(file, place, dump_summary(summary).encode())
            if flush:
                flush_to_disk(file, place)
    except OSError as error:
        raise cannot_write(place, error) from error


def changed_journals(path: Path, summaries: Iterable[Summary]) -> tuple[str, ...]:
    """Warnings about journals that are missing or have changed since their results were written."""
    changed = []
    for summary in summaries:
        journal = path / EPISODES / journal_name(summary.cell, summary.attempt)
        if summary.digest and (now := digest(journal)) != summary.digest:
            what = "has changed since the episode ended" if now else "is gone or cannot be read"
            changed.append(f"{journal} {what}: its result is kept as it was written.")
    return tuple(changed)


def journal_name(cell: Cell, attempt: int) -> str:
    return f"{cell.label}.jsonl" if attempt == 1 else f"{cell.label}.{attempt}.jsonl"


def check_output(path: Path) -> Path:
    """The resolved path of a file to write.

    Raises `UsageError` for a file of a run, which must not be overwritten, and for a name that begins like an option,
    and `JournalError` for a file that cannot be written.
    """
    if path.name.startswith("-"):
        raise UsageError(f"{path} is not a file name", "It begins like an option.", "Write a name after the option.")
    path = path.resolve()
    folder, is_journal = path.parent, path.parent.name == EPISODES and path.suffix == ".jsonl"
    folder = folder.parent if is_journal else folder
    if (folder / MANIFEST).exists() and (is_journal or path.name in (MANIFEST, RESULTS, TABLE, TRUTH, LEDGER)):
        raise UsageError(f"{path} belongs to a run", f"It is a file of {folder}.", "Choose another file.")
    check_writable(path)
    return path


class Store(Closeable):
    """The run folder of an evaluation. Safe for many threads of one process; a lock refuses a second process.

    `configuration` is everything that determines an episode; a folder that was begun with another one is refused.
    A value may differ if the recorded episodes or the `requested` ones do not depend on it: `reads` returns whether
    episodes of matrices depend on the value at a path. The address of the endpoint may differ as long as none of its
    requests was answered.
    `codec` parses existing journals, and `measure_of` returns the measure for the episodes of a cell.
    """

    def __init__(
        self,
        path: Path,
        configuration: Mapping[str, Any],
        *,
        codec: Codec,
        measure_of: Callable[[Cell], Measure],
        about: Mapping[str, Any] | None = None,
        requested: Sequence[Matrix] = (),
        reads: Callable[[Sequence[str], Sequence[Matrix]], bool] = lambda path, matrices: True,
    ) -> None:
        self.path = path
        self._requested, self._reads = requested, reads
        self._codec, self.measure_of = codec, measure_of
        self._lock = threading.Lock()
        self._attempts: dict[Cell, Summary] = {}
        self._begun: dict[Cell, int] = {}  # the numbers of the last attempts that were begun
        self._all: list[Summary] = []
        self.warnings: tuple[str, ...] = ()
        try:
            (path / EPISODES).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_make(path, error) from error
        self._lock_file = _lock(path)
        try:
            plain_configuration = json.loads(json.dumps(configuration))
            if (path / MANIFEST).exists():
                self._check_configuration(plain_configuration)
            else:
                self._write_manifest(plain_configuration, about or {})
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._lock_file.close()

    # reading

    def recover(self, cells: Iterable[Cell]) -> None:
        """Read the results of earlier attempts, and write those that a killed process has not written.

        Damage is reported in `warnings`: a cell whose journal cannot be read is played again.
        """
        summaries, damaged = read_results(self.path)
        self.warnings += (*damaged, *changed_journals(self.path, summaries))
        for summary in summaries:
            self._note(summary)
        cut_unfinished_line(self.path / RESULTS)
        labels = {cell.label: cell for cell in cells}
        for journal in sorted((self.path / EPISODES).glob("*.jsonl")):
            label, attempt = journal_parts(journal)
            cell = labels.get(label)
            if cell is None or (cell in self._attempts and self._attempts[cell].attempt >= attempt):
                continue
            try:
                trace = read_journal(journal, self._codec)
            except JournalError as error:
                self.warnings += (f"{error.what}: {error.reason} Its cell is played again.",)
                self._begun[cell] = max(attempt, self._begun.get(cell, 0))
                continue
            _check_same(cell, journal, trace)
            measured = summarize(cell, attempt, trace, self.measure_of(cell))
            self.record(replace(measured, digest=digest(journal)))
        unfinished = [last.usage for cell, last in self._attempts.items() if cell.label in labels and not last.counts]
        if tokens := sum(usage.tokens for usage in unfinished):
            calls = count(sum(usage.calls - usage.from_cache for usage in unfinished), "request")
            what = f"{count(len(unfinished), 'unfinished episode')} will be played again from the beginning"
            self.warnings += (f"{what}, and paid again: {calls} and {tokens:,} tokens were sent for the last attempt.",)

    def plan(self, matrix: Matrix, prices: Mapping[str, Price] | None = None) -> None:
        """Add a requested matrix and prices to the manifest, for reports. New prices replace old ones."""
        manifest = read_manifest(self.path)
        asked, new = manifest.get(ASKED, []), _matrices().dump_python([matrix], mode="json")[0]
        changed = {**manifest, ASKED: asked if new in asked else [*asked, new]}
        if prices:
            changed[_PRICES] = {**manifest.get(_PRICES, {}), **{name: asdict(price) for name, price in prices.items()}}
        if changed != manifest:
            write_run_file(self.path / MANIFEST, json.dumps(changed, indent=2) + "\n")

    def finished(self, cell: Cell) -> Summary | None:
        """The last attempt at the cell if it counts as a result; None if the cell must be played (again)."""
        last = self._attempts.get(cell)
        return last if last is not None and last.counts else None

    @property
    def attempts(self) -> list[Summary]:
        """All attempts, including those that were repeated, in the order in which they ended."""
        with self._lock:
            return list(self._all)

    def results(self) -> list[Summary]:
        """The last attempt at each cell, sorted by cell."""
        with self._lock:
            return [self._attempts[cell] for cell in sorted(self._attempts)]

    # writing

    def begin(self, cell: Cell) -> tuple[int, JournalWriter]:
        """Begin a new attempt at the cell; returns its number and its journal."""
        with self._lock:
            last = self._attempts.get(cell)
            attempt = max(self._begun.get(cell, 0), last.attempt if last else 0) + 1
            self._begun[cell] = attempt
        return attempt, JournalWriter(self.path / EPISODES / journal_name(cell, attempt))

    def record(self, summary: Summary) -> None:
        """Append the result of an attempt, and flush it to the disk. Raises `JournalError`."""
        with self._lock:
            append_summary(self.path / RESULTS, summary, flush=True)
        self._note(summary)

    def keep_text(self, name: str, text: str) -> None:
        """Write a text that next episodes could begin from (`kept_text`). Raises `JournalError`."""
        folder = self.path / CARRIED
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise cannot_write(folder, error) from error
        write_run_file(folder / name, text)

    def _note(self, summary: Summary) -> None:
        with self._lock:
            self._all.append(summary)
            last = self._attempts.get(summary.cell)
            if last is None or last.attempt < summary.attempt:
                self._attempts[summary.cell] = summary

    def _write_manifest(self, configuration: Mapping[str, Any], about: Mapping[str, Any]) -> None:
        """Write the manifest of a new folder. Raises `UsageError` if the folder has episodes already."""
        if (self.path / RESULTS).exists() or any((self.path / EPISODES).iterdir()):
            reason = f"It holds episodes and no {MANIFEST}, so it is unknown how they were played."
            advice = "Restore the file, or use another folder with --run."
            raise UsageError(f"{self.path} is damaged", reason, advice)
        created = datetime.now().astimezone().isoformat(timespec="seconds")
        body = {"schema": SCHEMA, "created": created, "configuration": configuration, **about}
        write_run_file(self.path / MANIFEST, json.dumps(body, indent=2) + "\n")

    def _check_configuration(self, new: Mapping[str, Any]) -> None:
        """Raise `UsageError` for a configuration that differs from that of the manifest where both are used.

        Values that only the requested episodes depend on are added to the manifest.
        """
        old, recorded = read_configuration(self.path), read_matrices(self.path) if self._requested else []

        def is_used(path: Sequence[str], matrices: Sequence[Matrix]) -> bool:
            return not recorded or self._reads(path, matrices)

        def is_added(path: Sequence[str]) -> bool:
            return is_used(path, self._requested) and not is_used(path, recorded)

        def may_differ(path: Sequence[str]) -> bool:
            return not (is_used(path, self._requested) and is_used(path, recorded))

        merged, tolerated = _merged(old, new, is_added), _merged(old, new, may_differ)
        differences = list(_differences(tolerated, new))
        only_address = not any(_differences(_without_address(tolerated), _without_address(new)))
        if differences and only_address and not _has_answers(self.path):
            differences, merged = [], {**merged, "endpoint": new["endpoint"]}
        if differences:
            more = f"; and {len(differences) - 5} more" if len(differences) > 5 else ""
            what, reason = f"{self.path} was begun with another configuration", "; ".join(differences[:5])
            advice = "Use the old configuration to continue, or another folder with --run."
            raise UsageError(what, f"{reason}{more}.", advice)
        if merged != old:
            changed = {**read_manifest(self.path), "configuration": merged}
            write_run_file(self.path / MANIFEST, json.dumps(changed, indent=2) + "\n")


def _without_address(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration without the address of the endpoint."""
    return {**configuration, "endpoint": {**(configuration.get("endpoint") or {}), "base_url": None}}


def _has_answers(path: Path) -> bool:
    """Whether an endpoint, or the cache of its answers, may have answered a request of the run."""
    entries, damaged = read_ledger(path / LEDGER)
    return (
        bool(damaged)
        or any(entry.answered for entry in entries.values())
        or any(summary.usage.from_cache for summary in read_results(path)[0])
    )


def _check_same(cell: Cell, path: Path, trace: Trace) -> None:
    """Raise `JournalError` if a journal with the name of this cell contains an episode of another cell."""
    begun = trace.started
    if begun is not None and (begun.setting, begun.mode, begun.seed) != (cell.setting, cell.mode, cell.seed):
        reason = f"It is of {begun.setting}, {begun.mode}, seed {begun.seed}."
        raise JournalError(f"{path} is another episode", reason, "Remove it: its cell is played again.")


def _differences(old: Any, new: Any, path: str = "") -> Iterable[str]:
    """The differences between two JSON values, as `PATH was OLD and is now NEW`; a missing value counts as null."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(set(old) | set(new)):
            yield from _differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif old != new:
        yield f"{path} was {_short_json(old)} and is now {_short_json(new)}"


def _merged(old: Any, new: Any, takes: Callable[[tuple[str, ...]], bool], path: tuple[str, ...] = ()) -> Any:
    """The values of `old`, with those of `new` at the paths for which `takes` is true."""
    if isinstance(old, dict) and isinstance(new, dict):
        merged = {key: _merged(old.get(key), new.get(key), takes, (*path, key)) for key in {**old, **new}}
        return {key: value for key, value in merged.items() if value is not None or old.get(key, "") is None}
    return new if old != new and takes(path) else old


def _short_json(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "…"


def is_locked(path: Path) -> bool:
    """Whether a process is playing in the run folder."""
    if not (path / ".lock").exists():
        return False
    try:
        import fcntl

        with open_run_file(path / ".lock", "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):  # on Windows, or for a folder that cannot be read
        return False
    return False


def _lock(path: Path) -> FileIO:
    """Lock the run folder as long as the returned file is open.

    Raises `UsageError` if another process has locked it, and `JournalError` if the lock file cannot be written.
    """
    try:
        file = open_run_file(path / ".lock", "ab")
    except OSError as error:
        raise cannot_write(path / ".lock", error) from error
    try:
        import fcntl
    except ImportError:  # Windows has no such locks
        return file
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another process may hold the lock briefly in `is_locked`
            time.sleep(0.1)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        with contextlib.suppress(OSError):
            file.close()
        raise UsageError(
            f"{path} is in use", "Another pddlego evaluates there.", "Wait for it, or use another folder with --run."
        ) from error
    return file


class Recorder:
    """Records a new attempt at a cell. Its methods raise `JournalError` if a file cannot be written."""

    def __init__(self, cell: Cell, store: Store) -> None:
        self._cell, self._store = cell, store
        self._attempt, self._journal = store.begin(cell)
        self._trace = Trace()

    @property
    def usage(self) -> Usage:
        """What the attempt has used so far."""
        return self._trace.usage

    def keep(self, event: Event, seconds: float) -> None:
        """Append an event, which happened `seconds` after the start, to the journal."""
        self._journal.write(event, seconds)
        if not event.passing:
            self._trace.add(event, seconds)

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()

    def discard_untried(self) -> bool:
        """Remove the attempt, and return True, if the budget of the evaluation did not allow its first request."""
        ended = self._trace.ended
        if ended is None or ended.cause != "evaluation" or ended.usage.steps or ended.usage.calls:
            return False
        with contextlib.suppress(OSError):  # the next evaluation finds an attempt that the budget ended
            self._journal.path.unlink()
        return True

    def record(self) -> Summary:
        """The result of the attempt, after it was written to the results of the run folder."""
        measured = summarize(self._cell, self._attempt, self._trace, self._store.measure_of(self._cell))
        summary = replace(measured, digest=digest(self._journal.path))
        self._store.record(summary)
        return summary


def kept_text(folder: Path, summaries: Iterable[Summary], codec: Codec, kind: str, of_lost: bool = False) -> str:
    """The text of a `kind` (`Carried`) with which the last won episode that has one ended; empty without one.

    With `of_lost`, the last episode counts, won or lost.

    Raises `UsageError` and `JournalError` for a journal that cannot be read.
    """
    for summary in reversed([summary for summary in summaries if summary.won or of_lost]):
        text = last_text(read_journal(folder / EPISODES / journal_name(summary.cell, summary.attempt), codec), kind)
        if text:
            return text
    return ""


def first_text(trace: Trace, kind: str) -> str:
    """The text of a `kind` with which an episode began; empty if it began without one."""
    return begun_with(trace, kind) or ""


def begun_with(trace: Trace, kind: str) -> str | None:
    """The text of a `kind` that was handed to an episode, perhaps an empty one; None if none is handed on."""
    text = trace.started.details.get(kind) if trace.started is not None else None
    return None if text is None else str(text)


def last_text(trace: Trace, kind: str) -> str:
    """The text of a `kind` with which an episode ended; empty if it has none."""
    accepted = trace.last(Accepted, where=lambda event: event.kind == kind)
    return first_text(trace, kind) if accepted is None else accepted.text
