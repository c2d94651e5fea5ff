"""Options that several methods share. Every command loads them, so this module imports nothing slow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field, field_validator

from pddlego.errors import UsageError
from pddlego.planners import one_of, planner_names
from pddlego.util.options import SET, Flag, Options, option

if TYPE_CHECKING:
    from pddlego.planning import ProcessPlanner

PLANNING = "planning"
"""The kind of settings that are a planning domain with tasks."""


class PlannerOptions(Options):
    """The planner of an episode. `timeout` is in seconds for each call, `memory` in MiB; 0 means no limit."""

    model_config = ConfigDict(title="Planner")

    engine: str | None = option(
        None,
        f"{one_of(('auto', *planner_names()))} (solve --planners).",
        Flag(default="pyperplan for text games, else auto"),
        name="planner",
    )
    timeout: float = option(30.0, "Seconds per planning call; 0: no limit.", ge=0, le=1_000_000)
    memory: int = option(4096, "Memory of the planner in MiB; 0: no limit.", ge=0)

    def make(self) -> ProcessPlanner:
        """Start the planner. Raises `UsageError` for an unknown engine, missing packages, or too little memory."""
        from pddlego.planning.process import make_planner

        return make_planner(self.engine, self.timeout, self.memory)


class PassOptions(Options):
    """Options of the planner Graphplan. `kappa` are the probabilities that a level is pruned, one for each pass (the
    paper's kappa_i); a pass without pruning follows. `levels` bounds the action levels of a graph."""

    kappa: tuple[Annotated[float, Field(ge=0, le=1)], ...] = option(
        (1.0,),
        "Probability that a level is pruned, one per pass: 0.8,0.64.",
        SET,
        min_length=1,
        max_length=100,
    )
    levels: int | None = option(None, "Maximum levels of the planning graph.", SET, ge=1, le=100_000)

    @field_validator("kappa", mode="before")
    @classmethod
    def _numbers(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(","))
        return tuple(value) if isinstance(value, list) else (value,) if isinstance(value, (int, float)) else value


class TaskOptions(Options):
    """`tasks` is a folder, or a tar archive of one, that replaces the setting's own tasks."""

    tasks: str | None = option(None, "Your own tasks: a folder or tar archive (docs/programs.md).")


class SandboxOptions(Options):
    """Options for running Python programs of a model. `eval_timeout` is CPU time in seconds; None: the tests' time-out.

    The limit of wall time is `patience` times that of CPU time (4 if it is None).
    With `parity = "paper"`, pddlego repeats the deviations of the paper's code (docs/programs.md, docs/search.md), and
    can send the authors' `prompts` of a clone of their repository.
    """

    isolation: Literal["required", "best-effort", "off"] = option("required", "Sandbox: required, best-effort or off.")
    eval_timeout: float | None = option(None, "Seconds of CPU time per evaluation task.", SET, gt=0, le=86_400)
    patience: float | None = Field(default=None, ge=1, le=1_000_000)
    parity: Literal["off", "paper"] = option("off", "paper: behave like the paper's code.", SET)
    prompts: str | None = option(None, "The authors' prompts: llm-genplan:PATH or autotos:PATH (docs/papers.md).", SET)

    def check_prompts(self) -> None:
        """Raise `UsageError` for prompts of a paper where pddlego does not behave like its code."""
        if self.prompts and self.parity != "paper":
            reason = "The authors' prompts leave open what pddlego's own prompts say."
            raise UsageError(f"prompts={self.prompts} needs the paper's rules", reason, "Add --set parity=paper.")
