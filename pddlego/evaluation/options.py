"""Everything that an evaluation is made of, as one value, and what of it a run folder records."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from pddlego.events import Limits
from pddlego.methods.base import Method, Setting
from pddlego.methods.registry import method, package_of
from pddlego.models.credentials import without_credentials
from pddlego.models.endpoint import ModelOptions
from pddlego.models.spending import Price, Spending
from pddlego.planning.make import PlannerOptions
from pddlego.refine.advice import prompt_digests
from pddlego.runs.cells import Cell, Matrix
from pddlego.runs.manifest import installed_version

DETERMINING = ("pddlego", "textworld-express", "fast-downward.translate", "pyperplan")
"""Packages whose version may change what an episode does: the agent, the game engine, the planner."""


@dataclass(frozen=True)
class Played:
    """A setting in one of its modes: who plays it, with what options, and the setting as that reads it."""

    method_name: str
    options: BaseModel
    setting: Any

    @property
    def method(self) -> Method:
        return method(self.method_name)


@dataclass(frozen=True)
class EvaluationOptions:
    """What to play and with what means. `played` says who plays each setting in each mode.

    `workers` episodes are played at once, `llm_jobs` requests are in flight at most, `planners` processes plan.
    `limits` are those of each episode, `budget` that of all. `executor` says where to play: in `threads` of this
    process, in `processes` of this machine, or on a `ray` cluster at `address`. With `carry` an episode begins with the
    domain of the last one before it that was won, of its setting, mode and model. Many fields, because every part of an
    evaluation reads some of them.
    """

    matrix: Matrix
    played: Mapping[tuple[str, str], Played]
    model: ModelOptions = field(default_factory=ModelOptions)
    planner: PlannerOptions = field(default_factory=PlannerOptions)
    limits: Limits = field(default_factory=lambda: Limits(None))
    retries: int = 5
    workers: int = 4
    llm_jobs: int = 16
    planners: int = 2
    budget: Spending = field(default_factory=Spending)
    prices: Mapping[str, Price] = field(default_factory=dict)
    executor: str = "threads"
    carry: bool = False
    address: str | None = None

    def cells(self) -> tuple[Cell, ...]:
        """Every episode, in the order in which they are played."""
        return self.matrix.cells()

    def played_in(self, cell: Cell) -> Played:
        """Who plays a cell. Raises `KeyError` for one of another evaluation."""
        return self.played[cell.setting, cell.mode]

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Every setting, as each of its methods reads it."""
        found = {(name, each.method_name): each.setting for (name, _), each in self.played.items()}
        return tuple(found.values())

    def configuration(self) -> dict[str, Any]:
        """Everything that determines an episode, for the run folder: games, limits, planner, endpoint.

        What an evaluation may be continued with (more seeds, modes, models or workers, other budgets) is left out.
        """
        return {
            "settings": self._settings(),
            "retries": self.retries,
            **({"carry": True} if self.carry else {}),
            "planner": self.planner.manifest() | ({"prompts": prompt_digests()} if self.planner.advisers else {}),
            "temperature": self.model.temperature,
            **({"reasoning_effort": self.model.reasoning_effort} if self.model.reasoning_effort else {}),
            **({"extra_body": dict(self.model.extra_body)} if self.model.extra_body else {}),
            "endpoint": without_credentials(self.model.base_url),
            "max_seconds": self.limits.seconds,
            "episode_calls": self.limits.calls,
            "episode_tokens": self.limits.tokens,
            "max_answer_tokens": self.model.max_tokens,
            "versions": {name: installed_version(name) for name in (*DETERMINING, *self._packages())},
        }

    def _packages(self) -> list[str]:
        """The packages that brought the methods."""
        brought = {package_of(played.method_name) for played in self.played.values()}
        return sorted(name for name in brought if name is not None)

    def _settings(self) -> dict[str, Any]:
        """Each setting by its name; of one that several methods play each by its name and theirs."""
        by_method = {(name, each.method_name): each for (name, _), each in self.played.items()}
        names = [name for name, _ in by_method]
        return {
            name if names.count(name) == 1 else f"{name} ({owner})": _recorded(each)
            for (name, owner), each in by_method.items()
        }


def _recorded(played: Played) -> dict[str, Any]:
    """What a run folder records of a setting and how it is played. Where Java is differs between machines."""
    texts = played.setting.sources
    digests = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in sorted(texts.items())}
    options = played.options.model_dump(mode="json", exclude={"java"}) | played.setting.resolved()
    return {"method": played.method_name, "options": options, **played.setting.manifest(), "files": digests}
