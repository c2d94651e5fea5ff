"""What can be set of Thought of Search."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from pddlego.methods.base import Mode
from pddlego.methods.shared_options import PLANNING, SandboxOptions, TaskOptions


class SearchOptions(TaskOptions, SandboxOptions):
    """`answers` is how many a model may give for each function. Time-outs are seconds of CPU time: of one call, of a
    search of the tests, and of a search that is evaluated (`eval_timeout`).

    `memory` is what the states of a search may take, and what the functions may have, in MiB; `states` is how many a
    search may meet besides. `instances` is how many are evaluated: the first ones. `sampled` states of a planning
    domain are looked at.
    """

    model_config = ConfigDict(title="Search spaces (mode tos)")

    answers: int = Field(default=10, ge=1, le=1_000)
    call_timeout: float = Field(default=1.0, gt=0, le=86_400)
    search_timeout: float = Field(default=600.0, gt=0, le=86_400)
    states: int | None = Field(default=None, ge=1, le=1_000_000_000)
    memory: int = Field(default=1024, ge=128, le=1_000_000)
    instances: int | None = Field(default=None, ge=1)
    sampled: int = Field(default=20, ge=1, le=10_000)


OPTIONS = SearchOptions


SEARCH = "search"
"""The kind of a setting that says what a search problem is."""

NO_CHECK, NO_SOUNDNESS, NO_COMPLETENESS, NO_GOAL_TESTS = "check", "soundness", "completeness", "goal-tests"

PARTS = {
    NO_CHECK: "no transition is looked at while searching: the paper's 'noval'",
    NO_SOUNDNESS: "no searches are run to find faults",
    NO_COMPLETENESS: "known successors are not checked for completeness",
    NO_GOAL_TESTS: "the goal test is not tested on known goals and known other states",
}

_TOS = "tos"

ABOUT = "the model writes the search space, unit tests correct it, and a search solves every instance"

MODES = (Mode(_TOS, ABOUT, SEARCH, PARTS), Mode(_TOS, ABOUT, PLANNING, PARTS))
