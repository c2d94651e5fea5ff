"""Lets a person edit a text in their editor."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pddlego.errors import UsageError
from pddlego.util.environment import for_children
from pddlego.util.files import read_run_file
from pddlego.util.text import count

Faults = Callable[[str], tuple[str, ...]]
"""Why a text cannot be used; empty if it can."""

MAX_EDITS = 20
"""How often an editor is opened for one text: a script as the editor may never make it right."""


def edit_text(text: str, faults: Faults, about: Iterable[str] = (), suffix: str = ".pddl") -> str | None:
    """Open `$VISUAL`, `$EDITOR` or vi on the text, again as long as it has faults, which stand above it as comments.

    `about` are comments, too. None if nothing was changed or the file was emptied. Raises `UsageError` if there is no
    editor, for a text that comes back as it was with its faults, and for one that has faults after `MAX_EDITS` edits.
    """
    head = tuple(about)
    messages = faults(text)
    draft, edits = text, 0
    while True:
        edits += 1
        before = _commented((*head, *messages)) + draft
        after = _edited(before, suffix)
        changed = _without_comments(after)
        if not changed.strip() or (changed.strip() == text.strip() and after == before):
            return None
        messages = faults(changed)
        if not messages:
            return None if changed.strip() == text.strip() else changed
        if changed == draft or edits == MAX_EDITS:
            more = f" (and {len(messages) - 1} more)" if len(messages) > 1 else ""
            what = f"The edited text cannot be used after {count(edits, 'edit')}"
            advice = f"Fix that and try again. Your text is in {_kept(changed, suffix)}."
            raise UsageError(what, f"{messages[0]}{more}", advice)
        messages = ("This cannot be used yet; empty the file to give up:", *messages)
        draft = changed


def _kept(text: str, suffix: str) -> str:
    """Write a text to a file that stays, and return the file's name."""
    number, name = tempfile.mkstemp(suffix, "pddlego-edit-")
    os.close(number)
    Path(name).write_text(text, encoding="utf-8")
    return name


def _edited(text: str, suffix: str) -> str:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="pddlego-") as folder:
        path = Path(folder) / f"edit{suffix}"
        path.write_text(text, encoding="utf-8")
        try:
            code = _run([*shlex.split(editor), str(path)])
        except (OSError, ValueError) as error:
            why = f"'{editor}': {getattr(error, 'strerror', None) or error}."
            raise UsageError("There is no editor", why, "Set EDITOR to one, such as nano.") from error
        if code != 0:
            raise UsageError("The editor failed", f"'{editor}' ended with code {code}.", "Nothing was changed.")
        try:
            return read_run_file(path).decode("utf-8", errors="replace")
        except FileNotFoundError:
            return ""  # to remove the file is to give up, as to empty it
        except OSError as error:
            raise UsageError("The edited text cannot be read", f"{error.strerror}.", "Use another EDITOR.") from error


def _run(command: list[str]) -> int:
    """Run an editor. When it is interrupted from outside it is ended politely, and the terminal is as it was."""
    with _terminal_as_it_was(), subprocess.Popen(command, env=for_children()) as editor:
        try:
            return editor.wait()
        except KeyboardInterrupt:
            editor.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                editor.wait(timeout=5)
            editor.kill()
            raise


@contextlib.contextmanager
def _terminal_as_it_was() -> Iterator[None]:
    """Puts the modes of the terminal back, if there is one."""
    try:
        import termios

        modes = termios.tcgetattr(sys.stdin.fileno())
    except (ImportError, OSError, ValueError, termios.error):
        yield
        return
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, modes)


def _commented(lines: Iterable[str]) -> str:
    return "".join(f"; {part}\n" for line in lines for part in line.splitlines())


def _without_comments(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith(";"))
