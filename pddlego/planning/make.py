"""From a planner's name to the planner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from pddlego.errors import UsageError
from pddlego.planning.graphplan.values import GraphSearch
from pddlego.planning.process import ProcessPlanner

MIN_MEMORY = 128
"""MiB below which no planner starts."""


@dataclass(frozen=True)
class PlannerOptions:
    """A planner by its name, the seconds that a call may take, and its memory in MiB (0: no limit).

    `prune` and `sort` name who is asked by graphplan, `kappas` and `levels` are as in `GraphSearch`.
    """

    name: str = "pyperplan"
    timeout: float = 30.0
    memory: int = 4096
    prune: str | None = None
    sort: str | None = None
    kappas: tuple[float, ...] = (1.0,)
    levels: int | None = None

    @property
    def graph(self) -> GraphSearch:
        return GraphSearch(self.prune is not None, self.sort is not None, self.kappas, levels=self.levels)

    def manifest(self) -> dict[str, Any]:
        """What a run folder records of it; of what is left as it is nothing, so that older folders say the same."""
        found: dict[str, Any] = {"engine": self.name, "timeout": self.timeout, "memory": self.memory}
        usual = PlannerOptions()
        for key in ("prune", "sort", "kappas", "levels"):
            value = getattr(self, key)
            if value != getattr(usual, key):
                found[key] = list(value) if isinstance(value, tuple) else value
        return found

    @classmethod
    def recorded(cls, manifest: Mapping[str, Any]) -> PlannerOptions:
        """What a run folder has recorded. Raises `KeyError`, `TypeError` and `ValueError` for anything else."""
        levels = manifest.get("levels")
        return cls(
            manifest["engine"],
            float(manifest["timeout"]),
            int(manifest["memory"]),
            prune=manifest.get("prune"),
            sort=manifest.get("sort"),
            kappas=tuple(map(float, manifest.get("kappas", (1.0,)))),
            levels=None if levels is None else int(levels),
        )

    @property
    def advisers(self) -> tuple[str, ...]:
        """The names of all who are asked."""
        return tuple(dict.fromkeys(name for name in (self.prune, self.sort) if name is not None))

    def make(self) -> ProcessPlanner:
        """The planner. Raises `UsageError`."""
        return make_planner(self.name, self.timeout, self.memory, self.graph)


def make_planner(
    engine: str, timeout: float = 30.0, memory: int = 4096, graph: GraphSearch | None = None
) -> ProcessPlanner:
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
        return ProcessPlanner(engine, timeout, memory, graph)
    except ValueError as error:
        raise UsageError(f"'{engine}' is no planner", f"{error}.", "Choose one with --planner.") from error
