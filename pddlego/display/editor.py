"""Lets a person edit a text in their editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from pddlego.errors import UsageError

Faults = Callable[[str], tuple[str, ...]]
"""Why a text cannot be used; empty if it can."""


def edit_text(text: str, faults: Faults, about: Iterable[str] = (), suffix: str = ".pddl") -> str | None:
    """Open `$VISUAL`, `$EDITOR` or vi on the text, again as long as it has faults, which stand above it as comments.

    `about` are comments, too. None if nothing was changed or the file was emptied. Raises `UsageError` if there is no
    editor.
    """
    head = tuple(about)
    messages = faults(text)
    draft = text
    while True:
        before = _commented((*head, *messages)) + draft
        after = _edited(before, suffix)
        changed = _without_comments(after)
        if not changed.strip() or (changed.strip() == text.strip() and after == before):
            return None
        messages = faults(changed)
        if not messages:
            return None if changed.strip() == text.strip() else changed
        if after == before:
            return None  # nothing was mended: asking again would never end
        messages = ("This cannot be used yet; empty the file to give up:", *messages)
        draft = changed


def _edited(text: str, suffix: str) -> str:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="pddlego-") as folder:
        path = Path(folder) / f"edit{suffix}"
        path.write_text(text, encoding="utf-8")
        try:
            code = subprocess.run([*shlex.split(editor), str(path)], check=False).returncode
        except (OSError, ValueError) as error:
            why = f"'{editor}': {getattr(error, 'strerror', None) or error}."
            raise UsageError("There is no editor", why, "Set EDITOR to one, such as nano.") from error
        if code != 0:
            raise UsageError("The editor failed", f"'{editor}' ended with code {code}.", "Nothing was changed.")
        return path.read_text(encoding="utf-8", errors="replace")


def _commented(lines: Iterable[str]) -> str:
    return "".join(f"; {part}\n" for line in lines for part in line.splitlines())


def _without_comments(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith(";"))
