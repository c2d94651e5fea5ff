"""The settings of Graphplan: planning settings whose domain may be damaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pddlego.errors import UsageError
from pddlego.methods.base import UpperBound, Variant, parse_variant
from pddlego.methods.graphplan.options import MODES, PLANS_BY_MODEL, GraphplanOptions
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.methods.setting_files import prompt_texts
from pddlego.pddl import Domain, Problem
from pddlego.pddl.perturb import corrupted, miscounted
from pddlego.planning import Planner, PlanStatus
from pddlego.planning.graphplan.values import MOST_QUESTIONS, Graphplan, Passed


@dataclass(frozen=True)
class GraphplanSetting(PlanningSetting):
    """A planning setting from whose domain the `share` of the conditions is removed: of each list of conditions, or of
    all lists `pooled`; or in which this share of the conditions on `numbers` is wrong.

    With `counts_actions`, plans are compared with a plan that has the fewest actions.
    """

    share: float = 0.0
    damage: str = "each"
    counts_actions: bool = False

    def damaged_domain(self, seed: int) -> tuple[Domain, tuple[str, ...]]:
        """The domain of a seed after the removal of conditions, and the removed conditions."""
        if not self.share:
            return self.domain, ()
        text = f"{self.name}/{seed}/{self.share}"
        if self.damage == "numbers":
            return miscounted(self.domain, self.share, text)
        return corrupted(self.domain, self.share, text, self.damage == "pooled")

    def check_mode(self, variant: Variant) -> None:
        """Raise `UsageError` for numbers where Graphplan plans, or where plans of the fewest actions are needed."""
        if variant.mode.name not in PLANS_BY_MODEL:
            self.refuse_numbers(str(variant))
        if self.counts_actions:
            self.refuse_numbers(f"{variant} with bound=actions")
        if self.damage == "numbers" and self.domain.numeric_part is None:
            reason = f"The domain of {self.name} has no numbers other than action costs."
            raise UsageError("damage=numbers is not possible", reason, "Choose damage=each or damage=pooled.")

    def resolved(self) -> Mapping[str, Any]:
        return {"corrupt": self.share}

    def check(self, planner: Planner) -> None:
        """Raise `UsageError` if the fewest actions are needed and the planner does not find them."""
        engine = planner.description["engine"]
        if self.counts_actions and engine not in (None, "pyperplan"):
            reason = f"Plans of {engine} may have more actions than are needed."
            raise UsageError("bound=actions needs the planner pyperplan", reason, "Leave --planner out.")


def load(name: str, options: GraphplanOptions) -> GraphplanSetting:
    """The setting, with its prompts among its sources. Raises `UsageError` and `SettingError`."""
    fields = load_planning(name, options.tasks)
    fields["sources"] |= prompt_texts(
        f"graphplan/{prompt}" for prompt in ("task", "prune", "sort", "plan", "plan-again")
    )
    share = fields["file"].corrupt if options.corrupt is None else options.corrupt
    return GraphplanSetting(**fields, share=share, damage=options.damage, counts_actions=options.bound == "actions")


def upper_bound(setting: GraphplanSetting, mode: str, options: GraphplanOptions, retries: int) -> UpperBound:
    """The most questions of one planning call, or the most plans that a model may write."""
    variant = parse_variant(mode, MODES)
    first, later = (1, retries) if variant.mode.name in PLANS_BY_MODEL else (0, MOST_QUESTIONS)
    nothing_left = len(variant.without) == len(variant.mode.parts)
    # An estimate: 12,000 characters list the facts and actions of a question, or a problem with plans.
    return UpperBound(first if nothing_left else first + later, len(setting.domain.text) + 12_000)


def shortest_plan(
    planner: Planner, domain: Domain, problem: Problem, seconds: float | None = None
) -> tuple[tuple[str, ...], ...] | None:
    """The actions of each level of a plan with the fewest levels, found by Graphplan without a model.

    None if no plan was found in time.
    """
    plans: list[tuple[tuple[str, ...], ...]] = []

    def watch(moment: object) -> None:
        if isinstance(moment, Passed) and moment.ending == "found":
            plans.append(moment.steps)

    result = planner.solve(domain, problem, Graphplan(watch=watch), seconds)
    if result.status is PlanStatus.ALREADY_TRUE:
        return ()
    return plans[-1] if plans else None
