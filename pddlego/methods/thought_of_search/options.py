"""The options and modes of Thought of Search."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from pddlego.methods.base import Mode
from pddlego.methods.shared_options import PLANNING, SandboxOptions, TaskOptions


class SearchOptions(TaskOptions, SandboxOptions):
    """`answers` is the maximum number of answers for each function. Time limits are in seconds of CPU time: of one
    call, of one search in the tests, and of one search in the evaluation (`eval_timeout`).

    `problem` is a clone of the paper's repository, `autotos:PATH`: its unit tests and instances replace the setting's.
    `search_memory` limits the states of a search, and the functions, in MiB; `states` the number of states.
    `instances` is the number of instances, from the first. `sampled` is the number of states on which completeness is
    tested in planning settings. With `curve`, functions are evaluated at three points of the dialogue (the paper's
    Figure 3), and not only at its end.
    """

    model_config = ConfigDict(title="Search spaces (mode tos)")

    problem: str | None = None
    answers: int = Field(default=10, ge=1, le=1_000)
    call_timeout: float = Field(default=1.0, gt=0, le=86_400)
    search_timeout: float = Field(default=600.0, gt=0, le=86_400)
    states: int | None = Field(default=None, ge=1, le=1_000_000_000)
    memory: int = Field(default=1024, ge=128, le=1_000_000, validation_alias="search_memory")
    instances: int | None = Field(default=None, ge=1)
    sampled: int = Field(default=20, ge=1, le=10_000)
    curve: bool = False


SEARCH = "search"
"""The kind of the settings that describe a search problem in files."""

NO_CHECK, NO_SOUNDNESS, NO_COMPLETENESS, NO_GOAL_TESTS = "check", "soundness", "completeness", "goal-tests"

PARTS = {
    NO_CHECK: "no transition is looked at while searching: the paper's 'noval'",
    NO_SOUNDNESS: "no searches are run to find faults",
    NO_COMPLETENESS: "known successors are not checked for completeness",
    NO_GOAL_TESTS: "the goal test is not tested on known goals and known other states",
}

TOS, BY_PERSON, OWN_TESTS = "tos", "tos+human", "tos+own-tests"

ABOUT = "the model writes the search space, unit tests correct it, and a search solves every instance"

_BY_PERSON = "a person reads the functions and gives feedback, in place of tests (Thought of Search)"
_OWN_TESTS = "with unit tests and a partial check that the model writes"

_TOGETHER = ((NO_GOAL_TESTS, NO_SOUNDNESS, NO_COMPLETENESS),)
"""The parts without which the model gets no feedback."""

READ_BY = {
    "planner": (),
    **dict.fromkeys(("problem", "prompts"), (SEARCH,)),
    **dict.fromkeys(("tasks", "sampled"), (PLANNING,)),
}
"""The kinds of settings that read an option (`Method.read_by`)."""

MODES = (
    Mode(TOS, ABOUT, SEARCH, PARTS, together=_TOGETHER),
    Mode(TOS, ABOUT, PLANNING, PARTS, together=_TOGETHER),
    Mode(BY_PERSON, _BY_PERSON, SEARCH, confirms=("functions",), needs_person=True),
    Mode(BY_PERSON, _BY_PERSON, PLANNING, confirms=("functions",), needs_person=True),
    Mode(OWN_TESTS, _OWN_TESTS, SEARCH, PARTS),
    Mode(OWN_TESTS, _OWN_TESTS, PLANNING, PARTS),
)
