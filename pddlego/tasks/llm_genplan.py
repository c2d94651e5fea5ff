"""Reads the tasks in a clone of the repository of Silver et al. (2024): `llm-genplan:PATH`.

`pg3/NAME.pddl` is a domain, `pg3/NAME/seedN/*.pddl` are its tasks for training, and `pg3/NAME_test/seedN/*.pddl` those
for evaluation. `NAME-ablated` is the domain without names. The authors' program takes the tasks in the order of the
file system; here they are in natural order.
"""

from __future__ import annotations

import re
from pathlib import Path

from pddlego.errors import SettingError
from pddlego.util.clone import Clone

KIND = "llm-genplan"
PREFIX = f"{KIND}:"

NAMES = {
    "delivery": "trapnewspapers",
    "ferry": "manyferry",
    "forest": "hiking",
    "gripper": "manygripper",
    "heavy": "heavypack",
    "miconic": "manymiconic",
    "spanner": "spannerlearning",
}
"""The authors' names of the domains, by ours."""

ABLATED = "-ablated"
_TASKS = "llm_genplan/envs/assets/pddl/pg3"
_EVALUATION = 30
_TRAINING = {"hiking": 4, "trapnewspapers": 5}
"""The numbers of tasks that the authors use; 10 for training in the other domains."""


def clone(path: str) -> Clone:
    return Clone(KIND, "tomsilver/llm-genplan", Path(path))


def place(tasks: str | None, domain: str | None, nameless: bool = False) -> str | None:
    """`tasks` with the authors' name of a domain appended if it is `llm-genplan:PATH`. Raises `SettingError`."""
    if tasks is None or not tasks.startswith(PREFIX):
        return tasks
    if domain not in NAMES:
        what = f"{tasks} has no tasks for {domain or 'this setting'}"
        raise SettingError(what, f"Its domains are {', '.join(NAMES)}.", "Choose one of these settings.")
    return f"{tasks}:{NAMES[domain]}{ABLATED if nameless else ''}"


def task_files(located: str) -> dict[str, str]:
    """The files of a `place` by their names in a folder of tasks. Raises `SettingError`."""
    path, _, name = located.removeprefix(PREFIX).rpartition(":")
    source = clone(path)
    files = {"domain.pddl": source.text(f"{_TASKS}/{name}.pddl")}
    most = {"train": _TRAINING.get(name.removesuffix(ABLATED), 10), "eval": _EVALUATION}
    for split, folder in (("train", f"{_TASKS}/{name}"), ("eval", f"{_TASKS}/{name}_test")):
        for seed in source.names(folder):
            if re.fullmatch(r"seed\d{1,6}", seed):
                for file in source.names(f"{folder}/{seed}", ".pddl")[: most[split]]:
                    files[f"{split}/{seed}/{file}"] = source.text(f"{folder}/{seed}/{file}")
    return files
