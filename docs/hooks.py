"""Hooks of the documentation site: the reference of commands is made from their help."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

MARK = "<!-- commands -->"
COMMANDS = (
    *("play", "eval", "report", "watch", "show", "replay", "resume", "solve", "check", "build", "corpus check"),
    *("games", "doctor", "config", "cache info", "cache clear"),
)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the mark by the help of every command."""
    if MARK not in markdown:
        return markdown
    return markdown.replace(MARK, "\n\n".join(f"## `{name}`\n\n```\n{_help(name)}\n```" for name in COMMANDS))


def _help(name: str) -> str:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "pddlego", *name.split(), "--help"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip().replace("python -m pddlego", "pddlego")
