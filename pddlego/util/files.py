"""Atomic, durable file writes, and reading files."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, Literal

from pddlego.errors import TOO_MANY_FILES, JournalError, UsageError, is_too_many_files


def append(file: FileIO, path: Path, data: bytes) -> None:
    """Write all of `data` to the end of an unbuffered file, or nothing. Raises `JournalError`.

    A nearly full disk may accept only a part of a line without an error; the next line would then continue that part.
    """
    size_before = os.fstat(file.fileno()).st_size
    try:
        while data:
            data = data[file.write(data) :]
    except OSError as error:
        with contextlib.suppress(OSError):
            os.ftruncate(file.fileno(), size_before)
        raise cannot_write(path, error) from error


def flush_to_disk(file: FileIO, path: Path) -> None:
    """Write the file's data to the disk, so that a power failure cannot lose them. Raises `JournalError`."""
    try:
        os.fsync(file.fileno())
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):  # a pipe or a device has no disk
            raise cannot_write(path, error) from error


MOST_IN_RUN = 200_000_000
"""Maximum size in bytes of a run's file that is read; a ledger of 500,000 requests is smaller."""


def open_run_file(path: Path, mode: Literal["rb", "ab", "xb"]) -> FileIO:
    """Open a file of a run, unbuffered. It must be a regular file, and for reading of at most `MOST_IN_RUN` bytes.

    Raises `OSError` otherwise, without waiting for a pipe and without changing the target of a link.
    """
    _check_regular(path)
    file = FileIO(path, mode, opener=_open_no_link)
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or (mode == "rb" and status.st_size > MOST_IN_RUN):
        file.close()
        raise OSError(None, _NOT_REGULAR if not stat.S_ISREG(status.st_mode) else f"It has over {MOST_IN_RUN:,} bytes")
    return file


def read_run_file(path: Path) -> bytes:
    """The bytes of a file of a run. Raises `OSError` as `open_run_file`."""
    with open_run_file(path, "rb") as file:
        return file.readall()


def run_lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file of a run, read one by one. Raises `OSError` as `open_run_file`."""
    with BufferedReader(open_run_file(path, "rb")) as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line[:-1]


_NOT_REGULAR = "It is a link, a pipe or a device, not a regular file"


def _check_regular(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise OSError(None, _NOT_REGULAR)


def _open_no_link(path: str, flags: int) -> int:
    """Open a path that may have become a link or a pipe since the check; Windows has neither flag."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o666)


def digest(path: Path) -> str:
    """SHA-256 of a run's file; empty if the file cannot be read."""
    import hashlib

    try:
        return hashlib.sha256(read_run_file(path)).hexdigest()
    except OSError:
        return ""


_MOST_READ = 50_000_000
"""Maximum size in bytes of a file that a user names; the largest PDDL file of a competition has about ten million."""


STANDARD_INPUT = Path("-")


def read_text(path: Path) -> str:
    """The text of a file that a user named, with line breaks as `\\n`, without a byte order mark.

    Raises `UsageError` as `read_source` does.
    """
    return read_source(path).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


_NOT_TEXT = frozenset(range(32)) - {*b"\t\n\r\f\x1b"}
"""Bytes that no text contains, in UTF-8 or in Latin-1."""


def read_source(path: Path) -> str:
    """The unchanged text of a UTF-8 or Latin-1 file, with any byte order mark. `-` is standard input.

    Raises `UsageError` if it cannot be read or is not text.
    """
    try:  # a size is no help: a device has no end, and a pipe has no size
        with open(0, "rb", closefd=False) if path == STANDARD_INPUT else path.open("rb") as file:
            data = file.read(_MOST_READ + 1)
        if len(data) > _MOST_READ:
            raise UsageError(f"{path} is too large", f"At most {_MOST_READ:,} bytes are read.", "Name another file.")
    except OSError as error:
        raise UsageError(f"{path} cannot be read", f"{error.strerror or error}.", "Check the name.") from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if _NOT_TEXT.intersection(data):
            raise UsageError(f"{path} is not a text file", f"{error}.", "Save it as UTF-8.") from error
        return data.decode("latin-1")  # never fails; comments of older domains contain Latin-1 letters


def cut_unfinished_line(path: Path) -> bytes:
    """Remove the unfinished last line, which a killed process left, from a run's file; returns the whole lines.

    Raises `JournalError`.
    """
    if not path.exists():
        return b""
    try:
        data = read_run_file(path)
    except OSError as error:
        raise cannot_read(path, error) from error
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)
    return data[:whole]


def write_whole(place: Path, text: str) -> None:
    """Write a file atomically: after a crash it has either its new or its old text. Raises `JournalError`.

    A device or a pipe is written to directly, because replacing it by a file would break other programs.
    """
    place = place.resolve()  # write the target of a link, and keep the link
    try:
        if place.exists() and not place.is_file():
            place.write_text(text, encoding="utf-8")
        else:
            _replace(place, text)
    except OSError as error:
        raise cannot_write(place, error) from error


def check_writable(place: Path) -> None:
    """Raise `JournalError` before a long computation if `write_whole` could not write this file."""
    import tempfile  # slow to import

    place = place.resolve()
    try:
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if place.is_file() or not place.exists():
            tempfile.TemporaryFile(dir=place.parent).close()
    except OSError as error:
        raise cannot_write(place, error) from error


def write_run_file(place: Path, text: str) -> None:
    """Write a file of a run atomically. Raises `JournalError`, also for a link or a device."""
    try:
        _check_regular(place)
        _replace(place, text)
    except OSError as error:
        raise cannot_write(place, error) from error


def _replace(place: Path, text: str) -> None:
    draft = place.with_name(f".{place.name}.new")
    draft.unlink(missing_ok=True)
    with open_run_file(draft, "xb") as file:
        append(file, draft, text.encode())
        flush_to_disk(file, draft)
    draft.replace(place)
    _flush_folder(place.parent)


def _flush_folder(folder: Path) -> None:
    """Write a folder's list of names to the disk, if the system supports it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def cannot_make(path: Path, error: OSError) -> UsageError:
    """The error of a folder that cannot be made; a link without a target on the way to it is named."""
    reason = f"{error.strerror or error}."
    for place in (path, *path.parents):
        if place.is_symlink() and not place.exists():
            reason = f"{place} is a link to {place.readlink()}, which does not exist."
    return UsageError(f"Cannot write {path}", reason, "Choose another place with PDDLEGO_RUNS.")


def cannot_read(path: Path, error: OSError) -> JournalError:
    return JournalError(f"{path} cannot be read", f"{error.strerror or error}.", "Restore it, or use another folder.")


def cannot_write(path: Path, error: OSError) -> JournalError:
    reason = f"{error.strerror or error}."
    advice = (
        "Free space, or choose another place." if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Choose another."
    )
    if error.errno == errno.ENOENT:
        advice = f"Make the folder {path.parent} first, or choose another place."
    advice = TOO_MANY_FILES if is_too_many_files(error) else advice
    return JournalError(f"Cannot write {path}", reason, advice)


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises `ValueError` for a text that is not TOML."""
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return table


def read_toml(path: Path, option: str) -> dict[str, Any]:
    """The tables of a file that the user named with `option`. Raises `UsageError`."""
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read", f"{error.strerror}.", f"Check {option}.") from error
    except ValueError as error:  # UnicodeDecodeError is one, too
        raise UsageError(f"{path} is not TOML", f"{error}.", "Fix the file.") from error
