"""Read a user's tasks: a folder, or a tar archive of one, with `domain.pddl`, `train/seedN/` and `eval/seedN/`.

`manifest.json` gives the order of the tasks of a folder: `{"train/seed0": ["task0.pddl", …]}`; without it they
are sorted by name. The layout of the learning track of the planning competition of 2023 is read, too: in seed 0,
`training/easy/p01.pddl` is the task `easy-p01.pddl` for training, and `testing/easy/p01.pddl` one for evaluation.
"""

from __future__ import annotations

import lzma
import re
import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from pddlego.errors import SettingError
from pddlego.pddl import Domain, PddlSyntaxError, Problem, parse_domain
from pddlego.pddl.check import check_reading
from pddlego.pddl.conditions import Formula
from pddlego.pddl.numbers import numeric_part
from pddlego.pddl.problem import read_problem
from pddlego.pddl.rules import Level
from pddlego.tasks import llm_genplan
from pddlego.util.text import natural

Split = Literal["training", "evaluation"]


@dataclass(frozen=True)
class Task:
    """A problem with a name that is unique in its split."""

    name: str
    problem: Problem

    @property
    def size(self) -> int:
        """The number of objects of the problem."""
        return len(self.problem.objects)


@dataclass(frozen=True)
class Tasks:
    """The tasks of one seed, each split in its order. A prompt shows the first two tasks for training."""

    training: tuple[Task, ...]
    evaluation: tuple[Task, ...]

    def of(self, split: Split) -> tuple[Task, ...]:
        return self.training if split == "training" else self.evaluation


SPLITS = ("train", "eval")
"""The folders of the tasks for training, and of those for evaluation."""

FORM = "It holds domain.pddl, train/seedN/*.pddl, eval/seedN/*.pddl, and manifest.json if the order matters."


_MANIFEST = TypeAdapter(dict[str, tuple[str, ...]])
"""The order of the tasks of each folder."""


@dataclass(frozen=True)
class TaskFolder:
    """The files of a user's tasks, by their names."""

    place: str
    files: Mapping[str, str]

    def domain(self) -> Domain:
        """The domain of the folder. Raises `SettingError` if it is invalid."""
        try:
            return parse_domain(self.files["domain.pddl"])
        except PddlSyntaxError as error:
            raise _wrong(f"{self.place}/domain.pddl", "; ".join(error.faults[:3])) from error

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds that have tasks for training and for evaluation."""
        seeds = [set(map(int, re.findall(rf"^{name}/seed(\d+)/", "\n".join(self.files), re.M))) for name in SPLITS]
        return tuple(sorted(set.intersection(*seeds)))

    def numeric_part(self, domain: Domain) -> Formula | None:
        """The first part of the domain, or of a goal, that needs numbers other than action costs."""
        texts = (text for name, text in self.files.items() if domain.functions and name.startswith(SPLITS))
        # Reading takes time, and only a goal with a comparison has numbers.
        compared = (text for text in texts if re.search("[<>=]", text.lower().partition(":goal")[2]))
        return domain.numeric_part or numeric_part(read_problem(text).problem.goal for text in compared)

    def tasks(self, seed: int, domain: Domain, level: Level = Level.CLASSICAL) -> Tasks:
        """The tasks of a seed. Raises `SettingError` for a file that is not a problem of the domain at this `level`."""
        tasks = Tasks(*(self._split(f"{name}/seed{seed}", domain, level) for name in SPLITS))
        if not (tasks.training and tasks.evaluation):
            raise SettingError(f"{self.place} has no seed {seed}", "Tasks are missing in train/ or eval/.", FORM)
        return tasks

    def _split(self, folder: str, domain: Domain, level: Level) -> tuple[Task, ...]:
        return tuple(Task(name, self._problem(f"{folder}/{name}", domain, level)) for name in self._order(folder))

    def _order(self, folder: str) -> tuple[str, ...]:
        """The file names of a folder in order. Raises `SettingError` if the manifest names a missing file."""
        own = [name.rpartition("/")[2] for name in self.files if name.startswith(f"{folder}/")]
        if (order := self._manifest().get(folder)) is None:
            return tuple(sorted(own, key=natural))
        missing = sorted(set(order) - set(own))
        if missing:
            raise _wrong(f"{self.place}/manifest.json", f"There is no {folder}/{missing[0]}")
        return order

    def _manifest(self) -> Mapping[str, tuple[str, ...]]:
        text = self.files.get("manifest.json", "{}")
        try:
            return _MANIFEST.validate_json(text)
        except ValidationError as error:
            raise _wrong(f"{self.place}/manifest.json", error.errors()[0]["msg"]) from error

    def _problem(self, name: str, domain: Domain, level: Level) -> Problem:
        reading = read_problem(self.files[name])
        blocking = [str(defect) for defect in check_reading(domain, reading, level) if defect.blocking]
        if blocking:
            raise _wrong(f"{self.place}/{name}", "; ".join(blocking[:3]))
        return reading.problem


@lru_cache(maxsize=8)
def read_tasks(place: str) -> TaskFolder:
    """The tasks in a folder, an archive, or a clone (`llm_genplan.place`). Raises `SettingError`."""
    path = Path(place)
    try:
        if place.startswith(llm_genplan.PREFIX):
            files = llm_genplan.task_files(place)
        else:
            files = _of_archive(path) if path.is_file() else _of_folder(path)
    except (OSError, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise SettingError(f"The tasks {place} cannot be read", f"{error}.", FORM) from error
    except UnicodeDecodeError as error:
        raise SettingError(f"The tasks {place} are not text", f"{error}.", FORM) from error
    folder = TaskFolder(place, files)
    if "domain.pddl" not in files or not folder.seeds:
        what = "domain.pddl" if "domain.pddl" not in files else "seed with tasks in train/ and eval/"
        raise SettingError(f"{place} holds no tasks", f"There is no {what} in it.", FORM)
    return folder


def _task_file(name: str) -> str:
    """The name of a file in our form; empty if the file is not part of the tasks."""
    if match := re.fullmatch(r"(training|testing)/([^/]+)/([^/]+\.pddl)", name):
        return f"{'train' if match[1] == 'training' else 'eval'}/seed0/{match[2]}-{match[3]}"
    own = re.fullmatch(r"domain\.pddl|manifest\.json|(train|eval)/seed\d{1,6}/[^/]+\.pddl", name)
    return name if own else ""


def _of_folder(path: Path) -> dict[str, str]:
    if not path.is_dir():
        raise OSError(f"unknown folder {path}")
    files = [file for file in sorted(path.rglob("*")) if file.is_file()]
    names = {file: _task_file(file.relative_to(path).as_posix()) for file in files}
    return {name: file.read_text(encoding="utf-8") for file, name in names.items() if name}


def _of_archive(path: Path) -> dict[str, str]:
    """The task files of a tar archive, which is read in memory."""
    files: dict[str, str] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            name = _task_file(member.name.removeprefix("./"))
            if not member.isfile() or not name:
                continue
            opened: Any = archive.extractfile(member)
            files[name] = opened.read().decode("utf-8")
    return files


def _wrong(file: str, reason: str) -> SettingError:
    return SettingError(f"{file} is wrong", f"{reason}.", "Fix the file (see 'pddlego check').")
