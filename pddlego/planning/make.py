"""From a planner's name to the planner."""

from __future__ import annotations

from importlib.util import find_spec

from pydantic import ConfigDict

from pddlego.errors import UsageError
from pddlego.planning.process import ENGINES, ProcessPlanner
from pddlego.util.options import Options, option

MIN_MEMORY = 128
"""MiB below which no planner starts."""


class PlannerOptions(Options):
    """The planner of an episode. `timeout` is in seconds for each call, `memory` in MiB; 0 is no limit."""

    model_config = ConfigDict(title="Planner")

    engine: str = option(
        "pyperplan", "pyperplan, graphplan, or fast-downward (extra). The last two search in their way.", name="planner"
    )
    timeout: float = option(
        30.0, "Seconds that one planning call may take; 0: no limit.", name="planner_timeout", ge=0, le=1_000_000
    )
    memory: int = option(4096, "MiB that the planner may use; 0: no limit.", name="planner_memory", ge=0)

    def make(self) -> ProcessPlanner:
        """Start the planner. Raises `UsageError` for an unknown engine, missing packages, or too little memory."""
        if self.engine not in ENGINES:
            why = f"The planners are {', '.join(ENGINES)}."
            raise UsageError(f"There is no planner '{self.engine}'", why, "Choose one with --planner.")
        needed = ("unified_planning", "up_fast_downward") if self.engine == "fast-downward" else ()
        missing = [name for name in needed if find_spec(name) is None]
        if missing:
            why = f"Missing: {', '.join(missing)}."
            advice = "Install pddlego with its extra: pip install '.[fast-downward]'."
            raise UsageError("The planner fast-downward is not installed", why, advice)
        if 0 < self.memory < MIN_MEMORY:
            why = f"The planner itself needs about {MIN_MEMORY} MiB; --planner-memory is {self.memory}."
            raise UsageError("--planner-memory is too small", why, "Increase it, or use 0 for no limit.")
        return ProcessPlanner(self.engine, self.timeout, self.memory)
