"""Loads the setting that Graphplan plans in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pddlego.errors import UsageError
from pddlego.methods.base import UpperBound, parse_variant
from pddlego.methods.graphplan.advisers import PROMPTS
from pddlego.methods.graphplan.options import BY_MODEL, MODES, GraphplanOptions
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.pddl import Domain
from pddlego.pddl.perturb import corrupted
from pddlego.planning import Planner
from pddlego.planning.graphplan.values import MOST_QUESTIONS
from pddlego.util import resources

LISTED = 12_000
"""Characters of facts and actions in a question, or of a problem with plans (an estimate)."""


@dataclass(frozen=True)
class GraphplanSetting(PlanningSetting):
    """A planning setting that loses the `share` of its domain's conditions.

    With `counts_actions` plans are compared with one that has the fewest actions.
    """

    share: float = 0.0
    counts_actions: bool = False

    def given(self, seed: int) -> tuple[Domain, tuple[str, ...]]:
        """The domain that is planned with in a seed, and what was removed from it."""
        return (
            corrupted(self.domain, self.share, f"{self.name}/{seed}/{self.share}") if self.share else (self.domain, ())
        )

    def resolved(self) -> Mapping[str, Any]:
        return {"corrupt": self.share}

    def check(self, planner: Planner) -> None:
        """Raises `UsageError` for a planner that does not find the fewest actions, where these are needed."""
        engine = planner.description["engine"]
        if self.counts_actions and engine not in (None, "pyperplan"):
            reason = f"Plans of {engine} may have more actions than are needed."
            raise UsageError("bound=actions needs the planner pyperplan", reason, "Leave --planner out.")


def load(name: str, options: GraphplanOptions) -> GraphplanSetting:
    """The setting, with its prompts among its sources. Raises `UsageError` and `SettingError`."""
    fields = load_planning(name, options.tasks)
    names = (*PROMPTS, "plan", "plan-again")
    prompts = {f"prompts/graphplan/{name}.j2": resources.read("prompts", f"graphplan/{name}.j2") for name in names}
    share = fields["file"].corrupt if options.corrupt is None else options.corrupt
    fields["sources"] |= prompts
    return GraphplanSetting(**fields, share=share, counts_actions=options.bound == "actions")


def upper_bound(setting: GraphplanSetting, mode: str, options: GraphplanOptions, retries: int) -> UpperBound:
    """As many questions as one planning call may ask, or as many plans as a model may write."""
    variant = parse_variant(mode, MODES)
    first, later = (1, retries) if variant.mode.name == BY_MODEL else (0, MOST_QUESTIONS)
    nothing_left = len(variant.without) == len(variant.mode.parts)
    return UpperBound(first if nothing_left else first + later, len(setting.text) + LISTED)
