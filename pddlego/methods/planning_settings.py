"""Settings of the kind `planning`: a domain with tasks from a generator or a folder.

Two lines are enough for a folder of tasks:

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

from pddlego.errors import SettingError, UsageError
from pddlego.methods.base import Setting
from pddlego.methods.setting_files import SettingHead, read_setting, validated
from pddlego.methods.shared_options import PLANNING
from pddlego.pddl import Domain, PddlSyntaxError, parse_domain
from pddlego.pddl.check import check_domain
from pddlego.pddl.conditions import Formula, in_short
from pddlego.pddl.perturb import anonymous
from pddlego.pddl.rules import Level
from pddlego.tasks import Split, Task, Tasks, llm_genplan
from pddlego.tasks.folder import TaskFolder, read_tasks
from pddlego.tasks.generators import GENERATORS, generate, parameters_of
from pddlego.util import resources
from pddlego.util.text import suggestion


class PlanningFile(SettingHead):
    """The content of `envs/NAME.toml`. A range is `[least, most]` of a parameter of the generator."""

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


@dataclass(frozen=True)
class PlanningSetting(Setting):
    """A domain with its tasks. `file` is the content of the setting file.

    `folder` holds the user's own tasks, and `nameless_folder` these tasks without names. `numeric` is the first part of
    the tasks that needs numbers other than action costs.
    """

    domain: Domain
    file: PlanningFile
    folder: TaskFolder | None = field(default=None, repr=False)
    nameless_folder: TaskFolder | None = field(default=None, repr=False)
    numeric: Formula | None = None

    @property
    def level(self) -> Level:
        """The level of PDDL at which the tasks are checked."""
        return Level.CLASSICAL if self.numeric is None else Level.NUMBERS

    def refuse_numbers(self, mode: str) -> None:
        """Raise `UsageError` if the tasks need numbers other than action costs, which this `mode` does not have."""
        if self.numeric is not None:
            reason = f"Its tasks have numbers that are not action costs, as in {in_short(str(self.numeric))}."
            advice = "Choose plan-by-model, program, plan or random (docs/pddl.md)."
            raise UsageError(f"{self.name} cannot be played in mode {mode}", reason, advice)

    @property
    def also_called(self) -> tuple[str, ...]:
        return (*self.file.recorded_as, self.domain.name)

    def tasks(self, seed: int) -> Tasks:
        """The tasks of a seed. Raises `SettingError` for invalid files."""
        if self.folder is not None:
            return self.folder.tasks(seed, self.domain, self.level)
        file = self.file
        training = self._made(file.training, file.training_tasks, f"training/{seed}")
        return Tasks(training, self._made(file.evaluation, file.evaluation_tasks, f"evaluation/{seed}"))

    def small_tasks(self, seed: int, purpose: str) -> tuple[Task, ...]:
        """Tasks that a search without a heuristic can solve, with the sizes in `[search]`, else in `[training]`.

        Each `purpose` has tasks of its own. Raises `SettingError` for invalid files.
        """
        if self.folder is not None:
            training = self.folder.tasks(seed, self.domain, self.level).training
            return tuple(sorted(training, key=lambda task: task.size)[: self.file.search_tasks])
        ranges = self.file.search or self.file.training
        return self._made(ranges, self.file.search_tasks, f"{purpose}/{seed}")

    def one_task(self, seed: int, number: int = 0) -> Task:
        """A task of a seed for methods that plan for one task, with a size in `[graphplan]`, else a small task.

        From a folder, it is the evaluation task of this number. Raises `SettingError` for invalid files.
        """
        if self.folder is not None:
            tasks = self.folder.tasks(seed, self.domain, self.level).evaluation
            if number >= len(tasks):
                reason = f"Seed {seed} of {self.folder.place} has {len(tasks)} evaluation task(s)."
                raise SettingError(f"Unknown task {number}", reason, "Numbers begin with 0.")
            return tasks[number]
        ranges = self.file.graphplan or self.file.search or self.file.training
        return self._made(ranges, number + 1, f"graphplan/{seed}")[number]

    def nameless(self, seed: int) -> tuple[Domain, Tasks]:
        """The domain and the tasks, with meaningless names such as `predicate0`."""
        if self.nameless_folder is not None:
            domain = self.nameless_folder.domain()
            return domain, self.nameless_folder.tasks(seed, domain, self.level)
        made, tasks = anonymous(self.domain), self.tasks(seed)

        def renamed(split: Split) -> tuple[Task, ...]:
            return tuple(Task(task.name, made.problem(task.problem)) for task in tasks.of(split))

        return made.domain, Tasks(renamed("training"), renamed("evaluation"))

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
    """The first action of a domain with the names of its parameters: an example of a step for prompts."""
    if not domain.actions:
        return "action object"
    action = domain.actions[0]
    return " ".join((action.name, *(parameter.name.lstrip("?") for parameter in action.parameters)))


def load_planning(name: str, tasks: str | None = None, tasks_no_names: str | None = None) -> dict[str, Any]:
    """The fields of the `PlanningSetting` of that name; `tasks` replaces its own tasks.

    Raises `UsageError` for an unknown name, and `SettingError` for an invalid file.
    """
    table = read_setting(name, PLANNING)
    file = validated(name, PlanningFile, table)
    own = tasks or file.tasks
    place = llm_genplan.place(own, file.domain)
    folder = read_tasks(place) if place else None
    hidden = tasks_no_names or (file.tasks_no_names if own == file.tasks else None)
    if hidden is None and place != own:  # a clone has the tasks without names, too
        hidden = own
    hidden = llm_genplan.place(hidden, file.domain, nameless=True)
    nameless = read_tasks(hidden) if hidden else None
    sources = dict(table.sources)
    if folder is not None:
        domain = folder.domain()
        if place == own != file.tasks:  # a clone is read by the name of the domain
            _check_same_domain(name, file, folder.place, domain)
        sources |= {"tasks": _digest(folder.place), **({"tasks_no_names": _digest(nameless.place)} if nameless else {})}
        seeds = {"all": range(folder.seeds[0], folder.seeds[-1] + 1)}
        all_seeds = seeds["all"]
        numeric = folder.numeric_part(domain)
        _check_domain(name, domain, Level.CLASSICAL if numeric is None else Level.NUMBERS)
    else:
        return _generated(name, file, sources)
    return {
        **_titles(name, file, domain, numeric),
        "seeds": seeds,
        "all_seeds": all_seeds,
        "sources": sources,
        "folder": folder,
        "nameless_folder": nameless,
    }


def own_planning(name: str, file: PlanningFile, level: Level) -> PlanningSetting:
    """The generated tasks that a table of the setting `name` describes, up to a `level` of PDDL.

    Only that setting can be played. Raises `SettingError` for an invalid table.
    """
    return PlanningSetting(**_generated(name, file, {}, level))


def _generated(name: str, file: PlanningFile, sources: Mapping[str, str], level: Level | None = None) -> dict[str, Any]:
    _check_generator(name, file)
    domain, text = _packaged_domain(file.domain)
    numeric = domain.numeric_part
    _check_domain(name, domain, level or (Level.CLASSICAL if numeric is None else Level.NUMBERS))
    return {
        **_titles(name, file, domain, numeric),
        "seeds": {"dev": range(10), "test": range(10, 60)},
        "all_seeds": range(100_000),
        "sources": {**sources, f"domains/{file.domain}.pddl": text},
    }


def _titles(name: str, file: PlanningFile, domain: Domain, numeric: Formula | None) -> dict[str, Any]:
    return {
        "name": name,
        "title": file.title or name.replace("-", " ").capitalize(),
        "about": file.about or f"Tasks of the domain {domain.name}.",
        "max_steps": None,
        "domain": domain,
        "file": file,
        "numeric": numeric,
    }


def _check_domain(name: str, domain: Domain, level: Level) -> None:
    defects = check_domain(domain, level)
    if defects:
        reason = f"{'; '.join(map(str, defects[:3]))}."
        if domain.durative and level is not Level.TIME:
            raise SettingError(f"The domain of {name} has time", reason, "Use a domain without durative actions.")
        raise SettingError(f"The domain of {name} is wrong", reason, "Fix it (see 'pddlego check').")


def _check_generator(name: str, file: PlanningFile) -> None:
    """Raise `SettingError` without a generator and its domain, and for wrong ranges."""
    where = f"envs/{name}.toml"
    if file.generator is None or file.generator not in GENERATORS or file.domain is None:
        reason = (
            f"It names no folder of tasks, and no generator with a domain; the generators are {', '.join(GENERATORS)}."
        )
        advice = suggestion(file.generator or "", GENERATORS, 'Add: tasks = "FOLDER".')
        raise SettingError(f"{where} has no tasks", reason, advice)
    wanted = set(parameters_of(file.generator))
    tables = [("training", file.training), ("evaluation", file.evaluation)]
    tables += [(split, ranges) for split, ranges in (("search", file.search), ("graphplan", file.graphplan)) if ranges]
    for split, ranges in tables:
        if set(ranges) != wanted or any(least > most or least < 0 for least, most in ranges.values()):
            reason = f"[{split}] gives a range [least, most] for each of: {', '.join(sorted(wanted))}."
            raise SettingError(f"{where} is wrong", reason, "Fix the file.")


def _check_same_domain(name: str, file: PlanningFile, place: str, domain: Domain) -> None:
    """Raise `SettingError` for tasks of another domain than the setting's.

    The same domain is spelled differently by different authors (`isHomeBase`, `home-base`), so two domains are the same
    if at least half of the setting's names are in the other.
    """
    if file.tasks:
        own = read_tasks(file.tasks).domain()
    elif file.domain:
        own, _ = _packaged_domain(file.domain)
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


def _packaged_domain(name: str | None) -> tuple[Domain, str]:
    """The domain `domains/NAME.pddl` and the text of its file. Raises `SettingError` for an invalid file."""
    text = resources.read("domains", f"{name}.pddl")
    try:
        return parse_domain(text), text
    except PddlSyntaxError as error:
        raise SettingError(
            f"domains/{name}.pddl is wrong", f"{'; '.join(error.faults[:3])}.", "Fix the file."
        ) from error


@lru_cache(maxsize=8)
def _digest(place: str) -> str:
    """A digest of all files of a folder of tasks."""
    digest = hashlib.sha256()
    for name, text in sorted(read_tasks(place).files.items()):
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()
