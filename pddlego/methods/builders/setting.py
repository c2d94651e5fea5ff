"""Settings of the kind `text`: descriptions to build from, with the gold files that they describe."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from pydantic import BaseModel, Field

from pddlego.errors import SettingError
from pddlego.methods.base import Setting, UpperBound, parse_variant
from pddlego.methods.builders.draft import components_of, prompt_of
from pddlego.methods.builders.options import MODES, TEXT, BuilderOptions
from pddlego.methods.planning_settings import PlanningFile, PlanningSetting, load_planning, own_planning
from pddlego.methods.setting_files import prompt_texts, read_setting, validated
from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import Term, required_atoms
from pddlego.pddl.costs import values_of
from pddlego.pddl.names import from_name
from pddlego.pddl.numbers import TOTAL_COST
from pddlego.pddl.rules import Level
from pddlego.planning.validation import goal_holds
from pddlego.util.text import natural


class _Wording(BaseModel, extra="forbid", frozen=True):
    """One way to describe a domain and its tasks.

    `facts` has a sentence for each predicate, with its arguments as `{0}`, `{1}`; it is empty for facts that follow
    from others. `numbers` has one for each function, with the number after its arguments. `kinds` names the objects of
    each type.
    """

    domain: str
    objects: str = "There are {names}."
    goal: str = "In the end, {facts}."
    facts: dict[str, str]
    numbers: dict[str, str] = Field(default_factory=dict)
    kinds: dict[str, str] = Field(default_factory=dict)

    def description(self, task: Problem) -> str:
        """A problem in words: its objects, its facts, and its goal."""
        facts = [sentence for fact in task.sorted_facts() if (sentence := self._sentence(fact))]
        values = sorted(values_of(task).items(), key=lambda item: natural(str(item[0])))
        facts += [self._number(term, value) for term, value in values]
        goals = [self._sentence(atom) for atom in required_atoms(task.goal)]
        state = ". ".join(fact[:1].upper() + fact[1:] for fact in facts)
        goal = self.goal.format(facts=" and ".join(goals))
        return f"{self.objects.format(names=self._names(task))} {state}. {goal}"

    def _sentence(self, fact: Atom) -> str:
        return self.facts.get(fact.predicate, "").format(*(from_name(arg) for arg in fact.args))

    def _number(self, term: Term, value: Fraction) -> str:
        return self.numbers[term.head].format(*(from_name(arg.head) for arg in term.parts or ()), f"{float(value):g}")

    def _names(self, task: Problem) -> str:
        kinds: dict[str, list[str]] = {}
        for obj in task.objects:
            kinds.setdefault(obj.type, []).append(obj.name)
        groups = []
        for kind, names in sorted(kinds.items()):
            listed = ", ".join(from_name(name) for name in sorted(names, key=natural))
            groups.append(f"{self.kinds.get(kind, f'these of the kind {from_name(kind)}')}: {listed}")
        return "; ".join(groups)


class _TextFile(BaseModel, extra="forbid", frozen=True):
    """The contents of `envs/NAME.toml`."""

    title: str
    about: str
    gold: str | PlanningFile
    level: Literal["classical", "numbers", "time"] = "classical"
    wording: tuple[_Wording, ...] = Field(min_length=1)


@dataclass(frozen=True)
class TextSetting(Setting):
    """A description of a domain, and of one task for each seed. `gold` is the domain with its tasks as PDDL.

    `level` is the level of PDDL that the description needs.
    """

    gold: PlanningSetting = field(repr=False)
    wordings: tuple[_Wording, ...] = field(repr=False)
    level: Level = Level.CLASSICAL

    @property
    def domain(self) -> Domain:
        """The gold domain."""
        return self.gold.domain

    def task(self, seed: int) -> Problem:
        """The gold problem of a seed: it can be compared state by state, and its goal is not true at the beginning."""
        tasks = [task.problem for task in self.gold.small_tasks(seed, "text")]
        return next((task for task in tasks if not goal_holds(self.domain, task)), tasks[0])

    def description(self, seed: int) -> str:
        """The domain and the task of a seed in words. The wordings alternate."""
        wording = self.wordings[seed % len(self.wordings)]
        return f"{wording.domain.strip()}\n\n{wording.description(self.task(seed))}"


def load(name: str, options: BuilderOptions) -> TextSetting:
    """Load a setting. Raises `UsageError` and `SettingError`."""
    table = read_setting(name, TEXT)
    file = validated(name, _TextFile, table)
    level = Level[file.level.upper()]
    own = file.gold
    gold = PlanningSetting(**load_planning(own)) if isinstance(own, str) else own_planning(name, own, level)
    if level is Level.CLASSICAL:
        gold.refuse_numbers("build")
    for number, wording in enumerate(file.wording, start=1):
        missing = sorted(set(gold.domain.predicates_by_name) - set(wording.facts))
        missing += sorted(set(gold.domain.functions_by_name) - {*wording.numbers, TOTAL_COST.head})
        if missing:
            reason = f"Wording {number} does not say {', '.join(missing)}."
            raise SettingError(f"envs/{name}.toml is wrong", reason, "Add a sentence to its facts; empty for none.")
    prompts = ("component", "review", *(f"kinds/{prompt_of(kind, level)}" for kind in components_of(level)))
    return TextSetting(
        name=name,
        title=file.title,
        about=file.about,
        max_steps=None,
        seeds=gold.seeds,
        all_seeds=gold.all_seeds,
        sources={**table.sources, **gold.sources, **prompt_texts(f"builders/{prompt}" for prompt in prompts)},
        gold=gold,
        wordings=file.wording,
        level=level,
    )


def upper_bound(setting: TextSetting, mode: str, options: BuilderOptions, retries: int) -> UpperBound:
    """The most requests of an episode: each component with all its retries, and in each round four opinions and one
    revision. The numbers of components and of characters are estimates."""
    without = parse_variant(mode, MODES).without
    rounds = options.rounds if options.feedback == "model" and "review" not in without else 0
    components, characters = 40, 12_000
    return UpperBound(components * (1 + retries) + rounds * (4 + 1 + retries), characters)
