"""Reads settings of the kind `planning`: a domain with tasks, made by a generator of ours or read from a folder.

Two lines are enough for your own folder of tasks:

    kind = "planning"
    tasks = "path/to/folder"
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pydantic import Field

from pddlego.errors import SettingError
from pddlego.methods.base import Setting
from pddlego.methods.setting_files import SettingHead, checked, read_setting
from pddlego.methods.shared_options import PLANNING
from pddlego.pddl import Domain, PddlSyntaxError, TypedName, parse_domain
from pddlego.pddl.check import check_domain
from pddlego.pddl.perturb import anonymous
from pddlego.tasks import Split, Task, Tasks
from pddlego.tasks.folder import TaskFolder, read_tasks
from pddlego.tasks.generators import GENERATORS, generate, parameters_of
from pddlego.util import resources

SPLITS = {"dev": range(10), "test": range(10, 60)}
"""Seeds of tasks that are generated."""

ALL_SEEDS = range(100_000)


class PlanningFile(SettingHead):
    """What `envs/NAME.toml` may say. Ranges are `[least, most]`, of each parameter of the generator."""

    domain: str | None = None
    generator: str | None = None
    tasks: str | None = None
    tasks_no_names: str | None = None
    training_tasks: int = Field(10, ge=1, le=1_000)
    evaluation_tasks: int = Field(30, ge=1, le=10_000)
    training: dict[str, tuple[int, int]] = Field(default_factory=dict)
    evaluation: dict[str, tuple[int, int]] = Field(default_factory=dict)
    search: dict[str, tuple[int, int]] = Field(default_factory=dict)
    search_tasks: int = Field(10, ge=1, le=10_000)
    graphplan: dict[str, tuple[int, int]] = Field(default_factory=dict)
    corrupt: float = Field(0.0, ge=0, le=1)
    paper: dict[str, dict[str, float]] = Field(default_factory=dict)


@dataclass(frozen=True)
class PlanningSetting(Setting):
    """A domain with its tasks. `text` is the domain's file unchanged, `file` what the setting's own file says.

    `folder` holds the tasks, and `nameless_folder` the same without names, for a user's own folder.
    """

    domain: Domain
    text: str = field(repr=False)
    file: PlanningFile
    folder: TaskFolder | None = field(default=None, repr=False)
    nameless_folder: TaskFolder | None = field(default=None, repr=False)

    @property
    def also_called(self) -> tuple[str, ...]:
        return (*self.file.recorded_as, self.domain.name)

    def tasks(self, seed: int) -> Tasks:
        """The tasks of a seed. Raises `SettingError` for invalid files."""
        if self.folder is not None:
            return self.folder.tasks(seed, self.domain)
        return Tasks(self._generated(seed, "training"), self._generated(seed, "evaluation"))

    def small_tasks(self, seed: int, purpose: str) -> tuple[Task, ...]:
        """Tasks that a search without a heuristic can solve: as `[search]` says, else those for training.

        Those for one `purpose` are others than those for another. Raises `SettingError` for invalid files.
        """
        if self.folder is not None:
            training = self.folder.tasks(seed, self.domain).training
            return tuple(sorted(training, key=lambda task: task.size)[: self.file.search_tasks])
        ranges = self.file.search or self.file.training
        return self._made(ranges, self.file.search_tasks, f"{purpose}/{seed}")

    def one_task(self, seed: int, number: int = 0) -> Task:
        """The task of a seed for a planner that is given one: of the sizes in `[graphplan]`, else a small one.

        Of a folder it is that evaluation task of the seed. Raises `SettingError` for invalid files.
        """
        if self.folder is not None:
            tasks = self.folder.tasks(seed, self.domain).evaluation
            if number >= len(tasks):
                reason = f"Seed {seed} of {self.folder.place} has {len(tasks)} evaluation task(s)."
                raise SettingError(f"Unknown task {number}", reason, "Numbers begin with 0.")
            return tasks[number]
        ranges = self.file.graphplan or self.file.search or self.file.training
        return self._made(ranges, number + 1, f"graphplan/{seed}")[number]

    def nameless(self, seed: int) -> tuple[str, Domain, Tasks]:
        """The same with names that say nothing: the text of the domain, the domain, and the tasks."""
        if self.nameless_folder is not None:
            domain = self.nameless_folder.domain()
            return self.nameless_folder.domain_text, domain, self.nameless_folder.tasks(seed, domain)
        made, tasks = anonymous(self.domain), self.tasks(seed)

        def renamed(split: Split) -> tuple[Task, ...]:
            return tuple(Task(task.name, made.problem(task.problem)) for task in tasks.of(split))

        return made.domain.text, made.domain, Tasks(renamed("training"), renamed("evaluation"))

    def manifest(self) -> dict[str, Any]:
        return {"name": self.name, "domain": self.domain.name, "generator": self.file.generator}

    def _generated(self, seed: int, split: Split) -> tuple[Task, ...]:
        file = self.file
        ranges, number = (
            (file.training, file.training_tasks) if split == "training" else (file.evaluation, file.evaluation_tasks)
        )
        return self._made(ranges, number, f"{split}/{seed}")

    def _made(self, ranges: Mapping[str, tuple[int, int]], number: int, purpose: str) -> tuple[Task, ...]:
        file, split = self.file, purpose.partition("/")[0]
        assert file.generator is not None
        try:
            return tuple(
                Task(f"{split}-{task}", generate(file.generator, ranges, f"{file.generator}/{purpose}/{task}"))
                for task in range(number)
            )
        except (IndexError, ValueError) as error:
            reason = f"[{split}]: no task of {file.generator} can be made with these numbers ({error})."
            raise SettingError(f"envs/{self.name}.toml is wrong", reason, "Give larger ranges.") from error


def example_action(domain: Domain) -> str:
    """Return the first action of a domain with the names of its parameters, as prompts show the form of a plan."""
    return next((" ".join((action.name, *map(_bare, action.parameters))) for action in domain.actions), "action object")


def _bare(parameter: TypedName) -> str:
    return parameter.name.lstrip("?")


def load_planning(name: str, tasks: str | None = None, tasks_no_names: str | None = None) -> dict[str, Any]:
    """The fields of the setting `name`; `tasks` takes the place of its own tasks.

    Raises `UsageError` if the name is unknown, and `SettingError` if a file of it is wrong.
    """
    table = read_setting(name, PLANNING)
    file = checked(name, PlanningFile, table.tables)
    place = tasks or file.tasks
    folder = read_tasks(place) if place else None
    hidden = tasks_no_names or (file.tasks_no_names if place == file.tasks else None)
    nameless = read_tasks(hidden) if hidden else None
    sources = dict(table.sources)
    if folder is not None:
        domain, text = folder.domain(), folder.domain_text
        if place != file.tasks:
            _check_same_domain(name, file, folder.place, domain)
        sources |= {"tasks": _digest(folder.place), **({"tasks_no_names": _digest(nameless.place)} if nameless else {})}
        seeds = {"all": range(folder.seeds[0], folder.seeds[-1] + 1)}
        all_seeds = seeds["all"]
    else:
        _check_generator(name, file)
        text = resources.read("domains", f"{file.domain}.pddl")
        domain, seeds, all_seeds = _domain(f"domains/{file.domain}.pddl", text), SPLITS, ALL_SEEDS
        sources[f"domains/{file.domain}.pddl"] = text
    _check_domain(name, domain)
    return {
        "name": name,
        "title": file.title or name.replace("-", " ").capitalize(),
        "about": file.about or f"Tasks of the domain {domain.name}.",
        "max_steps": None,
        "seeds": seeds,
        "all_seeds": all_seeds,
        "sources": sources,
        "domain": domain,
        "text": text,
        "file": file,
        "folder": folder,
        "nameless_folder": nameless,
    }


def _check_generator(name: str, file: PlanningFile) -> None:
    """Raises `SettingError` if there is nothing to make tasks with."""
    where = f"envs/{name}.toml"
    if file.generator is None or file.generator not in GENERATORS or file.domain is None:
        reason = (
            f"It names no folder of tasks, and no generator with a domain; the generators are {', '.join(GENERATORS)}."
        )
        raise SettingError(f"{where} has no tasks", reason, 'Add: tasks = "FOLDER".')
    wanted = set(parameters_of(file.generator))
    tables = [("training", file.training), ("evaluation", file.evaluation)]
    tables += [(split, ranges) for split, ranges in (("search", file.search), ("graphplan", file.graphplan)) if ranges]
    for split, ranges in tables:
        if set(ranges) != wanted or any(least > most or least < 0 for least, most in ranges.values()):
            reason = f"[{split}] gives a range [least, most] for each of: {', '.join(sorted(wanted))}."
            raise SettingError(f"{where} is wrong", reason, "Fix the file.")


def _check_same_domain(name: str, file: PlanningFile, place: str, domain: Domain) -> None:
    """Raises `SettingError` for tasks of another domain than the setting's.

    The same domain is spelled differently by different authors (`isHomeBase`, `home-base`), so two domains are the same
    if at least half of the setting's names are in the other.
    """
    if file.tasks:
        own = read_tasks(file.tasks).domain()
    elif file.domain:
        own = _domain(f"domains/{file.domain}.pddl", resources.read("domains", f"{file.domain}.pddl"))
    else:
        return
    names, others = _names(own), _names(domain)
    if 2 * len(names & others) < len(names):
        what = f"The tasks {place} are of the domain '{domain.name}', and {name} is about '{own.name}'"
        reason = f"They share {len(names & others)} of the {len(names)} names of domain, actions and predicates."
        advice = 'Name tasks of that domain, or make a setting: kind = "planning" and tasks = "FOLDER".'
        raise SettingError(what, reason, advice)


def _names(domain: Domain) -> set[tuple[str, str, int]]:
    """The names of domain, actions and predicates without hyphens and underscores, with the number of parameters."""

    def bare(name: str) -> str:
        return name.replace("-", "").replace("_", "")

    actions = {("action", bare(action.name), len(action.parameters)) for action in domain.actions}
    predicates = {("predicate", bare(predicate.name), len(predicate.parameters)) for predicate in domain.predicates}
    return {("domain", bare(domain.name), 0), *actions, *predicates}


def _domain(file: str, text: str) -> Domain:
    try:
        return parse_domain(text)
    except PddlSyntaxError as error:
        raise SettingError(f"{file} is wrong", f"{'; '.join(error.faults[:3])}.", "Fix the file.") from error


def _check_domain(name: str, domain: Domain) -> None:
    """Raises `SettingError` for a domain that nothing can be planned in."""
    defects = check_domain(domain)
    if defects:
        defects_text = "; ".join(map(str, defects[:3]))
        raise SettingError(f"The domain of {name} is wrong", f"{defects_text}.", "Fix it (see 'pddlego check').")


@lru_cache(maxsize=8)
def _digest(place: str) -> str:
    """Of everything in a folder of tasks that was read."""
    digest = hashlib.sha256()
    for name, text in sorted(read_tasks(place).files.items()):
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()
