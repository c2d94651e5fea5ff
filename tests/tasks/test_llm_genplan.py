"""A clone in the layout of tomsilver/llm-genplan, with texts of our own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pddlego.errors import SettingError
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.tasks.folder import read_tasks
from pddlego.tasks.llm_genplan import place, task_files
from tests.llm_genplan import PDDL, written_clone


def load(tasks: str, setting: str = "ferry") -> PlanningSetting:
    read_tasks.cache_clear()
    return PlanningSetting(**load_planning(setting, tasks))


def test_a_clone_has_the_tasks_with_and_without_names(tmp_path: Path) -> None:
    setting = load(written_clone(tmp_path))
    assert setting.seeds == {"all": range(2)}
    tasks = setting.tasks(1)
    assert [task.name for task in tasks.training] == [f"problem{number}.pddl" for number in range(10)]
    assert len(tasks.evaluation) == 30
    domain, nameless = setting.nameless(0)
    assert domain.actions[0].name == "operator0"
    assert [task.size for task in nameless.training] == [task.size for task in setting.tasks(0).training]


@pytest.mark.parametrize(("name", "training"), [("hiking", 4), ("trapnewspapers", 5), ("heavypack-ablated", 10)])
def test_no_more_tasks_are_taken_than_in_the_paper(tmp_path: Path, name: str, training: int) -> None:
    clone = written_clone(tmp_path, (name,))
    names = list(task_files(f"{clone}:{name}"))
    assert sum(file.startswith("train/seed0/") for file in names) == training
    assert sum(file.startswith("eval/seed0/") for file in names) == 30


def test_only_a_clone_gets_the_name_of_a_domain() -> None:
    assert place("folder", "logistics") == "folder"
    assert place(None, "ferry") is None
    assert place("llm-genplan:p", "forest", nameless=True) == "llm-genplan:p:hiking-ablated"
    with pytest.raises(SettingError, match="has no tasks for logistics"):
        place("llm-genplan:p", "logistics")


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"has no llm_genplan/envs/.*/manyferry\.pddl") as raised:
        load(f"llm-genplan:{tmp_path}")
    assert "not a complete clone of tomsilver/llm-genplan" in raised.value.reason
    with pytest.raises(SettingError, match="No such folder"):
        load(f"llm-genplan:{tmp_path}/nowhere")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_a_hostile_clone_is_refused(tmp_path: Path) -> None:
    clone = written_clone(tmp_path / "clone")
    domain = tmp_path / "clone" / PDDL / "manyferry.pddl"
    domain.write_bytes(b"(define \xff)")
    with pytest.raises(SettingError, match="not UTF-8"):
        load(clone)
    domain.unlink()
    (tmp_path / "secret").write_text("(define)")
    domain.symlink_to(tmp_path / "secret")
    with pytest.raises(SettingError, match="leads out of the clone"):
        load(clone)
