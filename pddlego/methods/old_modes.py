"""Names of modes in runs that were recorded before the modes were renamed."""

from __future__ import annotations

from pddlego.errors import UsageError

RENAMED = {
    "act-cot": "act+cot",
    "full-steps": "full+steps",
    "plan-by-model-cot": "plan-by-model+cot",
    "build-whole": "build+whole",
    "build-by-action": "build+by-action",
    "tos-human": "tos+human",
    "tos-own-tests": "tos+own-tests",
}
"""The names of today by the old ones."""

REMOVED = {"full-own-goals": "full"}
"""The modes as which episodes of removed modes are shown and counted. They cannot be played again."""


def current_name(mode: str) -> str:
    """The name of today of a mode without parts that are removed from it; other names are returned unchanged."""
    return RENAMED.get(mode) or REMOVED.get(mode) or mode


def refuse_removed(mode: str) -> None:
    """Raise `UsageError` if an episode in this mode cannot be played again."""
    if mode.partition("-no-")[0] in REMOVED:
        reason = f"Mode {mode} was removed."
        raise UsageError("The episode cannot be played again", reason, "'pddlego show' and 'report' still read it.")
