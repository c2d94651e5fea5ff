from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from pddlego.errors import SettingError
from pddlego.methods.planning_settings import PlanningSetting, load_planning
from pddlego.pddl import check
from pddlego.tasks import Tasks
from pddlego.tasks.folder import read_tasks
from pddlego.util import resources
from tests.scale import scaled

DOMAINS = ("delivery", "ferry", "forest", "gripper", "miconic", "spanner")

DOMAIN = "(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x) :precondition (and) :effect (p ?x)))"
TASK = "(define (problem q) (:domain d) (:objects o) (:init) (:goal (p o)))"

SIZES = {
    "delivery": ((7, 13), (50, 76)),
    "ferry": ((13, 20), (30, 50)),
    "forest": ((80, 90), (100, 121)),
    "gripper": ((22, 32), (62, 82)),
    "miconic": ((6, 28), (11, 145)),
    "spanner": ((12, 18), (43, 73)),
    "heavy": ((3, 10), (96, 226)),
}
"""Numbers of objects of the tasks that the paper was made with."""


def setting(name: str) -> PlanningSetting:
    return PlanningSetting(**load_planning(name))


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("seed", range(scaled(1, in_ci=3)))
def test_tasks_are_sound_and_as_large_as_the_papers(name: str, seed: int) -> None:
    made = setting(name)
    tasks = made.tasks(seed)
    assert len(tasks.evaluation) == 30
    for split, (least, most) in zip((tasks.training, tasks.evaluation), SIZES[name], strict=True):
        for task in split:
            assert least <= task.size <= most
            assert not check(made.domain, task.problem)


def test_the_same_seed_gives_the_same_tasks_and_another_gives_others() -> None:
    assert setting("ferry").tasks(3) == setting("ferry").tasks(3)
    assert setting("ferry").tasks(3) != setting("ferry").tasks(4)
    training = {task.problem for task in setting("ferry").tasks(3).training}
    assert not training & {task.problem for task in setting("ferry").tasks(3).evaluation}


COMPETITION = {
    "gripper": (6, 20),
    "miconic": (4, 50),
    "logistics": (10, 30),
    "movie": (45, 155),
    "blocks": (20, 40),
    "satellite": (20, 40),
    "zenotravel": (20, 30),
    "driverlog": (20, 30),
    "woodworking": (30, 42),
    "openstacks": (10, 30),
}
"""Numbers of objects of the problems of LLMs4Plan; ours may be a few more or fewer."""


@pytest.mark.parametrize("name", COMPETITION)
def test_tasks_of_the_competitions_are_sound_and_as_large(name: str) -> None:
    made, (least, most) = setting(name), COMPETITION[name]
    sizes = []
    for seed in range(scaled(10, in_ci=60)):
        task = made.one_task(seed)
        assert not check(made.domain, task.problem)
        sizes.append(task.size)
    assert least <= min(sizes)
    assert max(sizes) <= most
    assert len(set(sizes)) > 2
    assert made.one_task(3) == made.one_task(3)
    assert made.one_task(3) != made.one_task(3, 1)


def folder(place: Path, manifest: object = None) -> Path:
    for split in ("train", "eval"):
        for seed in (0, 1):
            (place / split / f"seed{seed}").mkdir(parents=True)
            for number in (10, 9, 1):
                (place / split / f"seed{seed}" / f"task{number}.pddl").write_text(TASK)
    (place / "domain.pddl").write_text(DOMAIN)
    if manifest is not None:
        (place / "manifest.json").write_text(json.dumps(manifest))
    return place


def names(tasks: Tasks) -> list[str]:
    return [task.name for task in tasks.training]


def test_a_folder_is_read_in_the_order_of_its_manifest_or_of_names(tmp_path: Path) -> None:
    result = read_tasks(str(folder(tmp_path, {"train/seed0": ["task9.pddl", "task1.pddl"]})))
    assert result.seeds == (0, 1)
    assert names(result.tasks(0, result.domain())) == ["task9.pddl", "task1.pddl"]
    assert names(result.tasks(1, result.domain())) == ["task1.pddl", "task9.pddl", "task10.pddl"]


def test_an_archive_is_read_and_nothing_is_unpacked(tmp_path: Path) -> None:
    packed = tmp_path / "tasks.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(folder(tmp_path / "x"), arcname=".")
        evil = tarfile.TarInfo("../../train/seed0/evil.pddl")
        archive.addfile(evil, io.BytesIO(b""))
    result = read_tasks(str(packed))
    assert names(result.tasks(0, result.domain())) == ["task1.pddl", "task9.pddl", "task10.pddl"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda place: (place / "domain.pddl").unlink(), "no domain.pddl"),
        (lambda place: (place / "domain.pddl").write_text("(define"), "domain.pddl"),
        (lambda place: (place / "train/seed0/task1.pddl").write_text("(define (problem"), "task1.pddl"),
        (lambda place: (place / "train/seed0/task1.pddl").write_text(TASK.replace("(p o)", "(q o)")), "task1.pddl"),
        (lambda place: (place / "train/seed0/task1.pddl").write_bytes(b"\xff\xfe"), "not text"),
        (lambda place: (place / "manifest.json").write_text("[1]"), "manifest.json"),
        (lambda place: (place / "manifest.json").write_text('{"train/seed0": ["x.pddl"]}'), "x.pddl"),
    ],
)
def test_what_is_wrong_with_a_folder_is_said(tmp_path: Path, change: object, says: str) -> None:
    place = folder(tmp_path)
    change(place)  # type: ignore[operator]
    read_tasks.cache_clear()
    with pytest.raises(SettingError) as refused:
        result = read_tasks(str(place))
        result.tasks(0, result.domain())
    assert says in refused.value.sentence


def test_tasks_of_another_domain_are_refused_with_both_names(tmp_path: Path) -> None:
    place = folder(tmp_path)
    text = resources.read("domains", "gripper.pddl")
    assert "(domain gripper)" in text
    for domain in ("gripper", "delivery"):  # its name alone makes no domain the setting's
        (place / "domain.pddl").write_text(text.replace("(domain gripper)", f"(domain {domain})"))
        read_tasks.cache_clear()
        with pytest.raises(SettingError) as refused:
            load_planning("delivery", str(place))
        assert f"of the domain '{domain}', and delivery is about 'delivery'" in refused.value.what
    assert load_planning("gripper", str(place))["domain"].name == "delivery"


def test_tasks_of_the_same_domain_may_spell_it_differently(tmp_path: Path) -> None:
    place = folder(tmp_path)
    text = resources.read("domains", "delivery.pddl")
    other = text.replace("(domain delivery)", "(domain newspapers)").replace("home-base", "depot")
    (place / "domain.pddl").write_text(other)
    assert load_planning("delivery", str(place))["domain"].name == "newspapers"


def test_a_seed_that_is_no_number_of_a_seed_holds_no_tasks(tmp_path: Path) -> None:
    packed = tmp_path / "tasks.tar"
    name = "seed" + "9" * 5_000
    with tarfile.open(packed, "w") as archive:
        for file, text in (("domain.pddl", DOMAIN), (f"train/{name}/a.pddl", TASK), (f"eval/{name}/a.pddl", TASK)):
            member = tarfile.TarInfo(file)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    with pytest.raises(SettingError, match="holds no tasks"):
        read_tasks(str(packed))


def test_a_seed_without_tasks_is_none(tmp_path: Path) -> None:
    result = read_tasks(str(folder(tmp_path)))
    with pytest.raises(SettingError, match="no seed 7"):
        result.tasks(7, result.domain())


def test_no_folder_and_no_archive(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    for place in ("nowhere", str(tmp_path / "a.txt"), str(tmp_path)):
        with pytest.raises(SettingError):
            read_tasks(place)


def test_the_folders_of_the_learning_track_are_read_as_they_are(tmp_path: Path) -> None:
    """Their tasks have the same names in several folders."""
    for place in ("training/easy", "testing/easy", "testing/hard"):
        (tmp_path / place).mkdir(parents=True)
        for number in ("p01", "p02"):
            (tmp_path / place / f"{number}.pddl").write_text(TASK)
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    result = read_tasks(str(tmp_path))
    assert result.seeds == (0,)
    tasks = result.tasks(0, result.domain())
    assert names(tasks) == ["easy-p01.pddl", "easy-p02.pddl"]
    assert [task.name for task in tasks.evaluation] == [
        "easy-p01.pddl", "easy-p02.pddl", "hard-p01.pddl", "hard-p02.pddl",
    ]  # fmt: skip
