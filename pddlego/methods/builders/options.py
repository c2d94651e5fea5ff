"""What can be set of builders."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from pddlego.util.options import Options


class BuilderOptions(Options):
    """Of `feedback` by a model there are so many `rounds` at most, after checks and planner; a person looks with
    `--confirm files`."""

    model_config = ConfigDict(title="Building from text")

    feedback: Literal["none", "model"] = "none"
    rounds: int = Field(default=3, ge=0, le=20)


OPTIONS = BuilderOptions
