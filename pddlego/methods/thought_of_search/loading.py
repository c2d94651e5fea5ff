"""Loads the setting of a search problem, from files or from a planning domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pddlego.errors import UsageError
from pddlego.methods.base import Setting, UpperBound, Variant
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.methods.setting_files import SettingTable, prompt_texts, read_setting, validated
from pddlego.methods.shared_options import PLANNING
from pddlego.methods.thought_of_search.file_space import FileSpace, SearchFile
from pddlego.methods.thought_of_search.options import NO_CHECK, OWN_TESTS, SEARCH, SearchOptions
from pddlego.methods.thought_of_search.planning_space import PlanningSpace
from pddlego.methods.thought_of_search.records import autotos
from pddlego.methods.thought_of_search.search import SearchLimits
from pddlego.methods.thought_of_search.space import Space
from pddlego.models.transcript import Conversation
from pddlego.planning import Planner
from pddlego.sandbox import Isolation, Sandbox, SandboxLimits
from pddlego.sandbox.result import PATIENCE

_PROMPTS = (
    *("system", "successors", "goal", "feedback", "tests", "tests-form"),
    *("planning-successors", "planning-goal", "planning-tests"),
)

_REPEATS = range(5)
"""Seeds of a setting from files: the paper repeats each dialogue five times."""

_RECORDED: Mapping[str, tuple[str, ...]] = {"val": (), "noval": (NO_CHECK,)}
"""The authors' names of variants in their recordings, with the parts that these leave out."""

_ANSWER, _QUESTION = 3_000, 2_500
"""Estimated characters of an answer, and of a question with the values that it shows."""


@dataclass(frozen=True)
class SearchSetting(Setting):
    """A setting of Thought of Search. `recorded_as` are its names in recorded conversations, and `fixed_prompts` the
    authors' texts that are sent in place of our prompts, by their names."""

    space: Space = field(repr=False)
    isolation: Isolation
    recorded_as: tuple[str, ...] = ()
    fixed_prompts: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def also_called(self) -> tuple[str, ...]:
        return self.recorded_as

    def recordings(self, place: str) -> Sequence[Conversation] | None:
        space = self.space.name if isinstance(self.space, FileSpace) else self.name
        return autotos.logged_dialogues(place, space, self.name)

    def recorded_variants(self, parts: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name, without in _RECORDED.items() if set(parts) == set(without))

    def check_mode(self, variant: Variant) -> None:
        """Raise `UsageError` for tasks with numbers: states are sets of facts."""
        if isinstance(self.space, PlanningSpace):
            self.space.setting.refuse_numbers(str(variant))

    def check(self, planner: Planner) -> None:
        """Raise `UsageError` if functions cannot be isolated as required, and `SettingError` for wrong files."""
        with Sandbox(self.isolation) as sandbox:
            sandbox.layers()
            with self.space.judge(sandbox, self.all_seeds[0]):
                pass


def call_limits(options: SearchOptions) -> SandboxLimits:
    """The limits of one call of a function."""
    return SandboxLimits(seconds=options.call_timeout, memory=options.memory, patience=options.patience or PATIENCE)


def search_limits(options: SearchOptions, evaluating: bool) -> SearchLimits:
    """The limits of one search, in the tests or in the evaluation."""
    seconds = options.eval_timeout if evaluating and options.eval_timeout is not None else options.search_timeout
    return SearchLimits(seconds, options.states, options.memory, options.patience or PATIENCE)


def most_answers(options: SearchOptions) -> int:
    """The maximum number of answers for both functions: one less than twice that of each, as the paper counts."""
    return max(2, 2 * options.answers - 1)


def load(name: str, options: SearchOptions) -> SearchSetting:
    """Load a setting, with its prompts among its sources. Raises `UsageError` and `SettingError`."""
    options.check_prompts()
    prompts = prompt_texts(f"thought_of_search/{prompt}" for prompt in _PROMPTS)
    table = read_setting(name)
    if table.kind == PLANNING and (options.problem or options.prompts):
        what = f"{name} cannot be played with {options.problem or options.prompts}"
        raise UsageError(what, "It is a planning domain, which is not in that repository.", "Leave this option out.")
    if table.kind == PLANNING:
        fields = load_planning(name, options.tasks)
        planning = PlanningSetting(**fields)
        space = PlanningSpace(planning, options.sampled)
        common = {name: fields[name] for name in ("name", "title", "about", "max_steps", "seeds", "all_seeds")}
        return SearchSetting(
            **common,
            sources={**fields["sources"], **prompts},
            space=space,
            isolation=options.isolation,
            recorded_as=planning.also_called,
        )
    return _of_files(name, read_setting(name, SEARCH), prompts, options)


def _of_files(name: str, table: SettingTable, prompts: Mapping[str, str], options: SearchOptions) -> SearchSetting:
    file = validated(name, SearchFile, table)
    space = FileSpace.read(name, file, options.parity == "paper", options.problem)
    fixed = autotos.source_prompts(options.prompts, space.name) if options.prompts else {}
    texts: dict[str, Any] = {f"domains/{place}": space.texts[name] for name, place in space.places.items()}
    return SearchSetting(
        name=name,
        title=file.title or name.replace("-", " ").capitalize(),
        about=file.about or f"Solve {name} by searching.",
        max_steps=None,
        seeds={"all": _REPEATS},
        all_seeds=range(100_000),
        sources={**table.sources, **texts, **prompts, **{f"authors/{name}": text for name, text in fixed.items()}},
        space=space,
        isolation=options.isolation,
        recorded_as=file.recorded_as,
        fixed_prompts=fixed,
    )


def upper_bound(setting: SearchSetting, mode: str, options: SearchOptions, retries: int) -> UpperBound:
    """The questions of a conversation that never succeeds. Each question includes the conversation before it."""
    calls = most_answers(options) + (3 if mode == OWN_TESTS else 0)
    texts = sum(len(text) for name, text in setting.sources.items() if name.startswith("envs/"))
    return UpperBound(calls, texts + calls * (_ANSWER + _QUESTION) // 2)
