"""Everything that an evaluation is made of, as one value, and what of it a run folder records."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pddlego.episodes import prompt_texts
from pddlego.evaluation.cells import Cell, Matrix
from pddlego.journal import installed_version
from pddlego.models.credentials import without_credentials
from pddlego.models.gate import Price, Spending
from pddlego.models.make import ModelOptions
from pddlego.settings import Setting

DETERMINING = ("pddlego", "textworld-express", "fast-downward.translate", "pyperplan")
"""Packages whose version may change what an episode does: the agent, the game engine, the planner."""


@dataclass(frozen=True)
class EvaluationOptions:
    """What to play and with what means. `seeds` are those of each setting; `model` is the model without its name.

    `workers` episodes are played at once, `llm_jobs` requests are in flight at most, `planners` processes plan. An
    episode may take `max_seconds`, None: as long as it does. `engine` says where to play: in `threads` of this process,
    in `processes` of this machine, or on a `ray` cluster at `address`.
    """

    settings: tuple[Setting, ...]
    modes: tuple[str, ...]
    models: tuple[str, ...]
    seeds: Mapping[str, tuple[int, ...]]
    repeats: int = 1
    workers: int = 4
    llm_jobs: int = 16
    planners: int = 2
    planner: str = "pyperplan"
    planner_timeout: float = 30.0
    planner_memory: int = 4096
    retries: int = 5
    replan_every_step: bool = False
    model: ModelOptions = field(default_factory=ModelOptions)
    limits: Spending = field(default_factory=Spending)
    prices: Mapping[str, Price] = field(default_factory=dict)
    java: str | None = None
    engine: str = "threads"
    address: str | None = None
    max_seconds: float | None = None

    def cells(self) -> tuple[Cell, ...]:
        """Every episode, in the order in which they are played."""
        return self.matrix.cells()

    @property
    def matrix(self) -> Matrix:
        """What is to be played."""
        return Matrix(self.seeds, self.modes, self.models, self.repeats)

    def configuration(self) -> dict[str, Any]:
        """Everything that determines an episode, for the run folder: games, limits, planner, endpoint.

        What an evaluation may be continued with (more seeds, modes, models or workers, other budgets) is left out.
        """
        return {
            "settings": {each.name: _setting(each) for each in self.settings},
            "retries": self.retries,
            "replan": "every-step" if self.replan_every_step else "on-surprise",
            "planner": {"engine": self.planner, "timeout": self.planner_timeout, "memory": self.planner_memory},
            "temperature": self.model.temperature,
            "endpoint": without_credentials(self.model.base_url),
            "max_seconds": self.max_seconds,
            "max_answer_tokens": self.model.max_tokens,
            "versions": {name: installed_version(name) for name in DETERMINING},
        }


def _setting(setting: Setting) -> dict[str, Any]:
    texts = {**setting.sources, **{f"prompts/{name}.j2": text for name, text in prompt_texts(setting.prompts)}}
    digests = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in sorted(texts.items())}
    return {**setting.manifest(), "files": digests}
