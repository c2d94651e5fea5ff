"""Hooks of the documentation site: the reference of commands is made from their help."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from pddlego.cli.commands import COMMANDS, loaded

MARK = "<!-- commands -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the mark by the help of every command."""
    if MARK not in markdown:
        return markdown
    return markdown.replace(MARK, "\n\n".join(f"## `{name}`\n\n```\n{_help(name)}\n```" for name in command_names()))


def command_names() -> list[str]:
    """Every command, in the order of the help; of a group of commands, such as `cache`, its commands."""
    grouped = {name: getattr(loaded(name), "commands", {}) for name in COMMANDS}
    return [f"{name} {part}".strip() for name, parts in grouped.items() for part in parts or [""]]


def _help(name: str) -> str:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "pddlego", *name.split(), "--help"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip().replace("python -m pddlego", "pddlego")
