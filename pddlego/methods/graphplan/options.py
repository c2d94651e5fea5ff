"""What can be set of Graphplan, and the setting as it reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pddlego.methods.base import WorstCase, parse_variant
from pddlego.methods.graphplan.modes import MODES
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.pddl import Domain
from pddlego.pddl.corrupt import corrupted
from pddlego.planning.graphplan.values import MOST_QUESTIONS
from pddlego.refine.advice import PROMPTS
from pddlego.util import resources

LISTED = 12_000
"""Characters of facts and actions in a question (an estimate)."""


class GraphplanOptions(BaseModel):
    """`tasks` is a folder, or a tar archive of one, that takes the place of the setting's own tasks; `task` is the
    number of the task of the seed that is planned for.

    `corrupt` is the share of the domain's conditions that are lost, of which plans must be valid without; it is that of
    the setting where it is left out. The `coin` that says whether a level is pruned is tossed for each `level`, or once
    for a `pass`. Without `memo` nothing is remembered that was found impossible.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tasks: str | None = None
    task: int = Field(default=0, ge=0, le=10_000)
    corrupt: float | None = Field(default=None, ge=0, le=1)
    coin: Literal["level", "pass"] = "level"
    memo: bool = True


@dataclass(frozen=True)
class GraphplanSetting(PlanningSetting):
    """A planning setting that loses the `share` of its domain's conditions."""

    share: float = 0.0

    def given(self, seed: int) -> tuple[Domain, tuple[str, ...]]:
        """The domain that is planned with in a seed, and what was removed from it."""
        return (
            corrupted(self.domain, self.share, f"{self.name}/{seed}/{self.share}") if self.share else (self.domain, ())
        )

    def resolved(self) -> Mapping[str, Any]:
        return {"corrupt": self.share}


def load(name: str, options: GraphplanOptions) -> GraphplanSetting:
    """The setting, with its prompts among its sources. Raises `UsageError` and `SettingError`."""
    fields = load_planning(name, options.tasks)
    prompts = {f"prompts/graphplan/{each}.j2": resources.read("prompts", f"graphplan/{each}.j2") for each in PROMPTS}
    share = fields["file"].corrupt if options.corrupt is None else options.corrupt
    return GraphplanSetting(**{**fields, "sources": {**fields["sources"], **prompts}}, share=share)


def worst_case(setting: GraphplanSetting, mode: str, options: GraphplanOptions, retries: int) -> WorstCase:
    """As many questions as one planning call may ask."""
    nobody = len(parse_variant(mode, MODES).without) == len(MODES[0].parts)
    return WorstCase(0 if nobody else MOST_QUESTIONS, len(setting.text) + LISTED)


OPTIONS = GraphplanOptions
