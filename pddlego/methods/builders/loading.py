"""Loads a description to build from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from pddlego.errors import SettingError
from pddlego.methods.base import Setting, UpperBound, parse_variant
from pddlego.methods.builders.options import MODES, TEXT, BuilderOptions
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.methods.setting_files import checked, read_setting
from pddlego.pddl import Atom, Domain, Problem
from pddlego.pddl.conditions import required_atoms
from pddlego.pddl.names import from_name
from pddlego.planning.validate import goal_holds
from pddlego.util import resources
from pddlego.util.text import natural


class Wording(BaseModel):
    """One way to say it all. `facts` has a sentence for each predicate, with its arguments as `{0}`, `{1}`; one that is
    empty is not said, because it follows. `kinds` says what the things of a type are called."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    domain: str
    objects: str = "There are {names}."
    goal: str = "In the end, {facts}."
    facts: dict[str, str]
    kinds: dict[str, str] = Field(default_factory=dict)


class TextFile(BaseModel):
    """What `envs/NAME.toml` may say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    about: str
    gold: str
    wording: tuple[Wording, ...] = Field(min_length=1)


@dataclass(frozen=True)
class TextSetting(Setting):
    """A description of a domain, and of a task for each seed; `gold` is what they describe."""

    gold: PlanningSetting = field(repr=False)
    wordings: tuple[Wording, ...] = field(repr=False)

    @property
    def domain(self) -> Domain:
        """The gold domain."""
        return self.gold.domain

    def task(self, seed: int) -> Problem:
        """The gold problem of a seed: small enough to be compared state by state, and with something to do."""
        tasks = [task.problem for task in self.gold.small_tasks(seed, "text")]
        return next((task for task in tasks if not goal_holds(self.domain, task)), tasks[0])

    def wording(self, seed: int) -> Wording:
        """The wording for a seed: they alternate."""
        return self.wordings[seed % len(self.wordings)]

    def description(self, seed: int) -> str:
        """The domain and the task of a seed in words."""
        wording, task = self.wording(seed), self.task(seed)
        return "\n\n".join((wording.domain.strip(), described(wording, task)))


def described(wording: Wording, task: Problem) -> str:
    """A problem in the words of a wording: its objects, what is true, and what is wanted."""
    names = _names(wording, task)
    facts = [sentence for fact in task.sorted_facts() if (sentence := _said(wording, fact))]
    wanted = [_said(wording, atom) for atom in required_atoms(task.goal)]
    description = ". ".join(fact[:1].upper() + fact[1:] for fact in facts)
    return " ".join(
        (wording.objects.format(names=names), f"{description}.", wording.goal.format(facts=" and ".join(wanted)))
    )


def _names(wording: Wording, task: Problem) -> str:
    """The objects by kind, in the words of the game."""
    kinds: dict[str, list[str]] = {}
    for obj in task.objects:
        kinds.setdefault(obj.type, []).append(obj.name)
    groups = []
    for kind, names in sorted(kinds.items()):
        called = ", ".join(from_name(name) for name in sorted(names, key=natural))
        groups.append(f"{wording.kinds.get(kind, f'these of the kind {from_name(kind)}')}: {called}")
    return "; ".join(groups)


def _said(wording: Wording, fact: Atom) -> str:
    return wording.facts.get(fact.predicate, "").format(*(from_name(arg) for arg in fact.args))


def _load_text(name: str) -> Mapping[str, Any]:
    """The fields of a `TextSetting`. Raises `UsageError` and `SettingError`."""
    table = read_setting(name, TEXT)
    file = checked(name, TextFile, table.tables)
    gold = PlanningSetting(**load_planning(file.gold))
    for number, wording in enumerate(file.wording, start=1):
        unsaid = sorted(set(gold.domain.predicates_by_name) - set(wording.facts))
        if unsaid:
            reason = f"Wording {number} does not say {', '.join(unsaid)}."
            raise SettingError(f"envs/{name}.toml is wrong", reason, "Add a sentence to its facts; empty for none.")
    return {
        "name": name,
        "title": file.title,
        "about": file.about,
        "max_steps": None,
        "seeds": gold.seeds,
        "all_seeds": gold.all_seeds,
        "sources": {**table.sources, **gold.sources},
        "gold": gold,
        "wordings": file.wording,
    }


LISTED = 12_000
"""Characters of a description, a domain and a problem in a question (an estimate)."""

_MOST_COMPONENTS = 40
"""Components of a domain and a problem, at most ten actions three times each (an estimate)."""


def load(name: str, options: BuilderOptions) -> TextSetting:
    """The setting, with its prompts among its sources. Raises `UsageError` and `SettingError`."""
    from pddlego.methods.builders.components import COMPONENTS

    fields = _load_text(name)
    names = ("component", "review", *(f"kinds/{kind}" for kind in COMPONENTS))
    prompts = {f"prompts/builders/{name}.j2": resources.read("prompts", f"builders/{name}.j2") for name in names}
    return TextSetting(**{**fields, "sources": {**fields["sources"], **prompts}})


def upper_bound(setting: TextSetting, mode: str, options: BuilderOptions, retries: int) -> UpperBound:
    """Upper bound: every component with all retries, and four opinions per round."""
    without = parse_variant(mode, MODES).without
    rounds = options.rounds if options.feedback == "model" and "review" not in without else 0
    calls = _MOST_COMPONENTS * (1 + retries) + rounds * (4 + 1 + retries)
    return UpperBound(calls, LISTED)
