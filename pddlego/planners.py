"""The planners, each a value that says what it can do: pddlego's own, and those of other packages.

An installed package adds a planner with an entry point in the group `pddlego.planners`, which names a `PlannerSpec`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib.metadata import EntryPoint

from pddlego.errors import EngineError, UsageError
from pddlego.util.resources import entry_points_of, is_offered
from pddlego.util.text import suggestion
from pddlego.util.unexpected import located

HEURISTICS = ("blind", "hadd", "hff", "hmax", "hsa", "landmark", "lmcut")


class Feature(str, Enum):
    """What a planner can do. All but the last two are parts of a task, which a planner without them cannot read."""

    NEGATION = "negation"
    LOGIC = "or, imply, exists, forall"
    CONDITIONAL = "conditional effects"
    DERIVED = "derived predicates"
    COSTS = "action costs"
    NUMBERS = "numbers"
    NUMBERS_IN_WHEN = "numbers in the condition of a when"
    UNSET = "numbers without a value in :init"
    TIME = "time"
    CONSTRAINTS = "constraints with time"
    OPTIMAL = "plans of least cost"
    PROOFS = "proofs that no plan exists"


@dataclass(frozen=True)
class PlannerSpec:
    """What a planner can do, and its function: `solve` is `module:function`, a `Solver` of `pddlego.planning.engines`.

    `limits` are features of `can` that it has only in part, with the reason. `greedy` are the heuristics that it has
    for searches that are not optimal. `package` is a module that it needs, and `install` the command that installs it.
    `in_auto`: the planner `auto` uses it for classical tasks. `is_parser`: it reads PDDL itself, and may fail to read
    what is valid; the others use Fast Downward's translator.
    """

    about: str
    solve: str
    can: frozenset[Feature]
    limits: Mapping[Feature, str] = field(default_factory=dict)
    greedy: tuple[str, ...] = ("hff",)
    package: str = ""
    install: str = ""
    in_auto: bool = False
    is_parser: bool = True

    def has_whole(self, feature: Feature) -> bool:
        """Whether the planner has a feature without limits."""
        return feature in self.can and feature not in self.limits


_CLASSICAL = frozenset(
    set(Feature) - {Feature.NUMBERS, Feature.NUMBERS_IN_WHEN, Feature.UNSET, Feature.TIME, Feature.CONSTRAINTS}
)
_NO_CYCLES = "no fact may follow from itself"
_ROUNDED = "not where numbers are rounded"

OWN: Mapping[str, PlannerSpec] = {
    "pyperplan": PlannerSpec(
        "Fast Downward's translator grounds the problem, and pyperplan searches",
        "engines:solve_strips",
        _CLASSICAL,
        {Feature.DERIVED: _NO_CYCLES},
        HEURISTICS,
        package="pyperplan",
        install="pip install ., in a copy of the repository, with its dependencies",
        is_parser=False,
    ),
    "fast-downward": PlannerSpec(
        "Fast Downward: the first search of LAMA, then lazy greedy search with FF; for optimal searches A* with LM-cut "
        "(or blind, with conditional effects or derived predicates)",
        "engines:solve_downward",
        _CLASSICAL,
        package="up_fast_downward",
        install="pip install '.[fast-downward]'",
        in_auto=True,
        is_parser=False,
    ),
    "mimir": PlannerSpec(
        "mimir: lazy greedy search with FF, then with the additive heuristic (Linux on x86-64, macOS, Windows)",
        "engines:solve_mimir",
        _CLASSICAL - {Feature.OPTIMAL} | {Feature.NUMBERS},
        {Feature.PROOFS: _ROUNDED},
        ("hff", "hadd"),
        package="pymimir",
        install="pip install '.[mimir]'",
        in_auto=True,
    ),
    "kairos": PlannerSpec(
        "Kairos, with a search of its own; for optimal searches it improves its plan in nine tenths of the time, and "
        "says whether it proved the best one",
        "engines:solve_kairos",
        frozenset(Feature),
        {Feature.OPTIMAL: "not always proved", Feature.PROOFS: _ROUNDED},
        package="kairos",
        install="pip install kairos-planner, which has wheels for Linux only",
    ),
    "graphplan": PlannerSpec(
        "Graphplan",
        "",  # a planning process asks models about its levels: see `planning.graphplan`
        _CLASSICAL,
        {Feature.DERIVED: _NO_CYCLES, Feature.COSTS: "it ignores them", Feature.OPTIMAL: "fewest levels"},
        tuple(name for name in HEURISTICS if name != "blind"),
        is_parser=False,
    ),
}
"""The planners of pddlego. Their modules are relative to `pddlego.planning`."""


def _guests() -> dict[str, EntryPoint]:
    """The planners of other packages, which are not imported."""
    offered = entry_points_of("planners") if is_offered("planners") else ()
    return {entry.name: entry for entry in sorted(offered, key=lambda entry: entry.name) if entry.name not in OWN}


def planner_names() -> tuple[str, ...]:
    """The names of all planners, pddlego's own first."""
    return (*OWN, *_guests())


def spec_of(name: str) -> PlannerSpec:
    """Return what is known of a planner.

    Raises `UsageError` for an unknown planner, and `EngineError` if its package cannot be loaded.
    """
    if name in OWN:
        return OWN[name]
    if (entry := _guests().get(name)) is None:
        known = ("auto", *planner_names())
        advice = suggestion(name, known, "Choose another planner; astar(lmcut) and bfs are searches.")
        raise UsageError(f"Unknown planner '{name}'", f"The planners are {', '.join(known)}.", advice)
    what, advice = f"The planner {name} cannot be loaded", "Fix or remove its package."
    try:
        spec = entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise EngineError(what, f"{entry.value}: {located(error)}.", advice) from error
    if not isinstance(spec, PlannerSpec):
        raise EngineError(what, f"{entry.value} is {str(spec)[:80]!r}, and not a PlannerSpec.", advice)
    return spec


def usable() -> dict[str, PlannerSpec]:
    """The planners by name, without those that cannot be loaded."""
    specs = dict(OWN)
    for name in _guests():
        with contextlib.suppress(EngineError):
            specs[name] = spec_of(name)
    return specs


def distribution_of(name: str | None) -> str | None:
    """The distribution that adds a planner; None for one of pddlego."""
    entry = _guests().get(name or "")
    return entry.dist.name if entry is not None and entry.dist is not None else None


def one_of(names: Iterable[str]) -> str:
    """The names as a list: `a, b or c`."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
