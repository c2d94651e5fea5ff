"""The modes and options of builders."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from pddlego.methods.base import Mode
from pddlego.util.options import SET, Options, option


class BuilderOptions(Options):
    """`feedback`: whether a model reviews the result after the checks and the planner, in at most `rounds` rounds.

    With `--confirm files`, a person reviews it, too.
    """

    model_config = ConfigDict(title="Building (mode build)")

    feedback: Literal["none", "model"] = option("none", "model: a model reviews the result.", SET)
    rounds: int = option(3, "Maximum rounds of a model's review.", SET, ge=0, le=20)


OPTIONS = BuilderOptions

TEXT = "text"
"""The kind of settings that builders play: descriptions, with gold files to compare with."""

_PARTS = {
    "checks": "components are not checked, but accepted as the model writes them",
    "review": "no model reviews the result",
}

MODES = (
    Mode("build", "the model builds domain and problem, component by component", TEXT, _PARTS, ("files",)),
    Mode("build+whole", "the model writes whole files", TEXT, _PARTS, ("files",)),
    Mode("build+by-action", "action by action, with a growing list of predicates", TEXT, _PARTS, ("files",)),
    Mode("build-problem", "the domain is given, the problem built (LLM+P)", TEXT, _PARTS, ("files",)),
)
