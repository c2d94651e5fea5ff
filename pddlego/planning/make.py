"""From a planner's name to the planner."""

from __future__ import annotations

from importlib.util import find_spec

from pddlego.errors import UsageError
from pddlego.planning import ProcessPlanner

MIN_MEMORY = 128
"""MiB below which no planner starts."""


def make_planner(engine: str, timeout: float = 30.0, memory: int = 4096) -> ProcessPlanner:
    """The planner of a name. Raises `UsageError` if there is none of that name or its packages are missing."""
    if engine == "fast-downward":
        missing = [name for name in ("unified_planning", "up_fast_downward") if find_spec(name) is None]
        if missing:
            raise UsageError(
                "The planner fast-downward is not installed",
                f"Missing: {', '.join(missing)}.",
                "Install pddlego with its extra: pip install '.[fast-downward]'.",
            )
    if 0 < memory < MIN_MEMORY:
        why = f"The planner itself needs about {MIN_MEMORY} MiB, and {memory} were given."
        raise UsageError("--planner-memory is too small", why, "Give more, or 0 for no limit.")
    try:
        return ProcessPlanner(engine, timeout, memory)
    except ValueError as error:
        raise UsageError(f"'{engine}' is no planner", f"{error}.", "Choose one with --planner.") from error
