"""The commands of methods and tools, and the parts that methods add to commands. Each is imported when it is used.

A package adds a command with an entry point in the group `pddlego.commands`: a function with annotated parameters, or a
`Typer` of subcommands. Help shows the summary of its package.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pddlego.errors import UsageError
from pddlego.util.unexpected import located

_OURS = {
    "audit": "pddlego.tools.audit.command_audit:command",
    "build": "pddlego.methods.builders.command_build:command",
    "counterfactual": "pddlego.methods.textgames.command_counterfactual:command",
    "lsp": "pddlego.tools.editor.command_lsp:command",
    "mcp": "pddlego.tools.mcp.command_mcp:command",
    "resume": "pddlego.methods.textgames.command_resume:command",
    "show.problem": "pddlego.methods.textgames.resume:problem_at",
    "solve.graphplan": "pddlego.methods.graphplan.command_solve:by_graphplan",
    "solve.heuristic": "pddlego.methods.programs.command_solve:by_model",
    "solve.program": "pddlego.methods.programs.command_solve:by_model",
}
"""The commands of our own methods and tools; `COMMAND.PART` is a part of a command."""

BUILT_IN = {name: place for name, place in _OURS.items() if find_spec(place.rpartition(".")[0])}
"""The commands and parts whose packages are installed."""

REMOVED = _OURS.keys() - BUILT_IN.keys()
"""The commands and parts whose packages are not installed."""


def load(name: str) -> Any:
    """Import a command or a part of one. Raises `UsageError` if its package is not installed."""
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return getattr(import_module(module), attribute)
    from pddlego.util.resources import entry_points_of

    entry = {entry.name: entry for entry in entry_points_of("commands")}.get(name)
    if entry is not None:
        try:
            return entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            reason = f"{entry.value}: {located(error)}."
            raise UsageError(f"The command '{name}' cannot be loaded", reason, "Fix or remove its package.") from error
    what, package = f"{name.replace('.', ' with ')} is not available", _OURS[name].rpartition(".")[0]
    raise UsageError(what, f"The package {package} is not installed.", "Install pddlego anew, with all of its parts.")


def guest_commands() -> dict[str, str]:
    """The commands of other packages by name, with the summary of each package."""
    from pddlego.util.resources import entry_points_of, is_offered

    if not is_offered("commands"):
        return {}
    offered = {entry.name: entry.dist for entry in entry_points_of("commands") if "." not in entry.name}
    return {name: str(dist.metadata.json.get("summary", "")) if dist else "" for name, dist in sorted(offered.items())}
