"""What can be set of builders."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from pddlego.methods.base import Mode
from pddlego.util.options import Options, option


class BuilderOptions(Options):
    """Of `feedback` by a model there are so many `rounds` at most, after checks and planner; a person looks with
    `--confirm files`."""

    model_config = ConfigDict(title="Building (mode build)")

    feedback: Literal["none", "model"] = "none"
    rounds: int = option(3, "Maximum rounds of a model's review.", ge=0, le=20)


OPTIONS = BuilderOptions


TEXT = "text"
"""The kind of settings that they play: a description, and the gold domain with tasks to judge by."""

PARTS = {
    "checks": "what checks find in a component does not go back: it is taken as it was written",
    "review": "no model looks at the whole when it is built",
}

MODES = (
    Mode("build", "the model builds domain and problem, component by component", TEXT, PARTS, ("files",)),
    Mode("build-whole", "the model writes whole files", TEXT, PARTS, ("files",)),
    Mode("build-by-action", "action by action, with a growing list of predicates", TEXT, PARTS, ("files",)),
    Mode("build-problem", "the domain is given, the problem built (LLM+P)", TEXT, PARTS, ("files",)),
)
