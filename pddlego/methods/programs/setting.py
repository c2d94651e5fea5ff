"""The settings of generalized planning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pddlego.errors import UsageError
from pddlego.methods.base import UpperBound, Variant, parse_variant
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.methods.programs.limits import candidates_of, first_programs, strategy_rounds
from pddlego.methods.programs.options import (
    DIRECT,
    HEURISTIC,
    MODES,
    NO_COT,
    NO_DEBUG,
    NO_HEURISTIC,
    NO_NAMES,
    NO_REFLECTION,
    NO_STRATEGY_DEBUG,
    PROGRAM,
    PSEUDOCODE_PARTS,
    SHOWN,
    ProgramOptions,
)
from pddlego.methods.programs.records import llm_genplan
from pddlego.methods.setting_files import prompt_texts
from pddlego.models.transcript import Conversation, TranscriptName, choose
from pddlego.pddl import Domain
from pddlego.planning import Planner
from pddlego.sandbox import Isolation, Sandbox
from pddlego.tasks import Tasks


@dataclass(frozen=True)
class Benchmark:
    """The domain and the tasks of a seed, as prompts show them, and the domain's own name.

    In `numeric` tasks, programs get the numbers of `:init`. `fixed_prompts` are the authors' texts that are sent in
    place of our prompts, by their names.
    """

    name: str
    domain: Domain
    tasks: Tasks
    numeric: bool = False
    fixed_prompts: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class ProgramSetting(PlanningSetting):
    """A planning setting whose programs run under this `isolation`. `baseline` is the heuristic of mode `plan`, and
    `authors` are the conversations of a paper's authors whose prompts are sent in place of ours. Strategies are words,
    or `pseudocode`."""

    isolation: Isolation = "required"
    baseline: str | None = None
    pseudocode: bool = False
    authors: tuple[Conversation, ...] = field(default=(), repr=False)

    def benchmark(self, seed: int, variant: Variant) -> Benchmark:
        """The domain and the tasks of a seed, as a mode shows them.

        Raises `SettingError`, and `UsageError` if the `authors` have no conversation of this seed and variant.
        """
        shown = self.nameless(seed) if NO_NAMES in variant.without else (self.domain, self.tasks(seed))
        fixed: dict[str, str] = {}
        if self.authors and variant.mode.name == PROGRAM:
            wanted = TranscriptName("--prompts", "gpt-4", seed=seed, parts=variant.without)
            turns = choose(self.authors, wanted).turns
            fixed = {f"programs/{turn.purpose}": turn.prompt for turn in turns if turn.purpose != "debug"}
        return Benchmark(self.domain.name, *shown, numeric=self.numeric is not None, fixed_prompts=fixed)

    def recordings(self, place: str) -> Sequence[Conversation] | None:
        return llm_genplan.cached_conversations(place, self.file.domain or self.name)

    def check_mode(self, variant: Variant) -> None:
        """Raise `UsageError` for numbers where heuristics or blind search plan, and if names must be hidden and the
        user's own tasks have no version without names, for parts that only a strategy in pseudocode has, and for the
        `authors` where nothing of theirs is sent."""
        unknown = [part for part in variant.without if part in PSEUDOCODE_PARTS and not self.pseudocode]
        if unknown:
            reason = f"-no-{unknown[0]} takes out a part that only a strategy in pseudocode has."
            raise UsageError(f"{variant} has no effect here", reason, "Add --set strategy=pseudocode.")
        if self.authors and variant.mode.name in (HEURISTIC, DIRECT):
            reason = "The authors' conversations ask for programs, and have no prompt for a heuristic."
            raise UsageError(f"--set prompts has no effect in mode {variant}", reason, f"Use mode {PROGRAM}.")
        if variant.mode.name in (HEURISTIC, DIRECT) or NO_HEURISTIC in variant.without:
            self.refuse_numbers(str(variant))
        if NO_NAMES not in variant.without or self.folder is None or self.nameless_folder is not None:
            return
        if self.folder.place != self.file.tasks:
            reason = "Names that are made up here are others than those that a record was made with."
            advice = "Add --set tasks_no_names=FOLDER: the same tasks without names (docs/programs.md)."
            raise UsageError(f"-no-{NO_NAMES} needs the tasks {self.folder.place} without names", reason, advice)

    def check(self, planner: Planner) -> None:
        """Raise `UsageError` if this machine cannot isolate programs as required."""
        with Sandbox(self.isolation) as sandbox:
            sandbox.layers()


def load(name: str, options: ProgramOptions) -> ProgramSetting:
    """The setting, with its prompts among its sources. Raises `UsageError` and `SettingError`."""
    options.check_prompts()
    fields = load_planning(name, options.tasks, options.tasks_no_names)
    prompts = ["tasks", "summarize", "strategy", "implement", "debug", "heuristic", "heuristic-again"]
    prompts += [] if fields["numeric"] is None else ["implement-numbers"]
    pseudocode = options.strategy == "pseudocode"
    if pseudocode:  # read only then, so that a run without it has the same files as before these prompts existed
        prompts += ["pseudocode", "follow", "reflect-strategy", "correct-strategy", "reflect", "correct"]
    fields["sources"] |= prompt_texts(f"programs/{prompt}" for prompt in prompts)
    setting = ProgramSetting(**fields, isolation=options.isolation, baseline=options.baseline, pseudocode=pseudocode)
    if options.prompts:
        authors = setting.recordings(options.prompts)
        if authors is None or options.tasks != options.prompts:
            reason, advice = (
                "They show the tasks of a clone.",
                "Add --tasks llm-genplan:PATH.",
            )
            raise UsageError(f"prompts={options.prompts} cannot be sent", reason, advice)
        texts = "\n".join(turn.prompt for conversation in authors for turn in conversation.turns)
        setting = replace(setting, authors=tuple(authors), sources={**setting.sources, "authors": texts})
    return setting


def upper_bound(setting: PlanningSetting, mode: str, options: ProgramOptions, retries: int) -> UpperBound:
    """The requests of a conversation that never succeeds; each holds the earlier ones."""
    variant = parse_variant(mode, MODES)
    if not variant.mode.asks_model:
        return UpperBound(0, 0)
    if variant.mode.name != PROGRAM:  # an estimate: the prompt shows two domains, and counterexamples
        return UpperBound(candidates_of(options, variant.mode.name == DIRECT), len(setting.domain.text) + 15_000)
    rounds = 0 if NO_DEBUG in variant.without else options.debug_rounds
    without, pseudocode = variant.without, options.strategy == "pseudocode"
    requests = 2 if pseudocode and NO_REFLECTION not in without else 1  # for each correction
    calls = (0 if NO_COT in without else 2) + first_programs(options, variant) * (1 + rounds * requests)
    if pseudocode and not {NO_COT, NO_STRATEGY_DEBUG} & set(without):
        calls += SHOWN + strategy_rounds(options) * (SHOWN + requests)
    return UpperBound(calls, len(setting.domain.text) + 2_500 * (SHOWN + calls))
