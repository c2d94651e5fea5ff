"""Hooks of the documentation site: the reference of commands is made from their help."""

from __future__ import annotations

from typing import Any

from pddlego.cli.commands import ALL_OPTIONS, COMMANDS, SETTINGS, load_command

MARK = "<!-- commands -->"

WIDTH = 98
"""Columns of the help, as in a terminal of 100 columns."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the mark by the help of every command."""
    if MARK not in markdown:
        return markdown
    return markdown.replace(MARK, "\n\n".join(f"## `{name}`\n\n```\n{_help(name)}\n```" for name in command_names()))


def command_names() -> list[str]:
    """Every command, in the order of the help; of a group of commands, such as `cache`, its commands."""
    names = []
    for name in COMMANDS:
        command = load_command(name)
        parts = getattr(command, "commands", {})
        names += [name] if not parts or getattr(command, "invoke_without_command", False) else []
        names += [f"{name} {part}" for part in parts]
    return names


def _help(name: str) -> str:
    group, _, part = name.partition(" ")
    command = load_command(group).commands[part] if part else load_command(group)
    context = command.make_context(
        f"pddlego {name}", [], resilient_parsing=True, **(SETTINGS | {"terminal_width": WIDTH})
    )
    context.meta[ALL_OPTIONS] = True
    return str(context.get_help()).strip()
