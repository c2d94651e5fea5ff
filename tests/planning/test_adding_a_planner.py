"""The page that adds a planner, followed literally; the package is found by its entry point."""

from __future__ import annotations

import doctest
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pddlego import tools
from pddlego.errors import EngineError
from pddlego.methods import registry
from pddlego.planners import OWN, Feature, PlannerSpec, distribution_of, planner_names
from pddlego.planning import Search
from pddlego.planning.engines import attempts
from tests.cli.command import run, run_process
from tests.pages import files_of, write_files
from tests.planners import close_kept

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-planner.md").read_text(encoding="utf-8")
FILES = files_of(PAGE)
LIFT = FILES["lift.pddl"], FILES["top.pddl"]
STRIPS = "(define (domain d) (:predicates (a) (b)) (:action go :precondition {} :effect (and (b))))"
GO = "(define (problem p) (:domain d) (:init (a)) (:goal (b)))"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The files of the page, and what pip makes of its `pyproject.toml`."""
    write_files(PAGE, tmp_path)
    about = tmp_path / "site" / "breadth-1.0.dist-info"
    about.mkdir(parents=True)
    (tmp_path / "breadth.py").rename(tmp_path / "site" / "breadth.py")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: breadth\nVersion: 1.0\n")
    entries = FILES["pyproject.toml"].partition('"pddlego.planners"]\n')[2].partition("\n\n")[0].replace('"', "")
    (about / "entry_points.txt").write_text(f"[pddlego.planners]\n{entries}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"), prepend=os.pathsep)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv("COLUMNS", "200")
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Forget which packages are installed, here and in the planning processes that the tests share."""
    registry.forget()
    close_kept()
    sys.modules.pop("breadth", None)


def changed(folder: Path, old: str, new: str) -> None:
    assert old in FILES["breadth.py"]
    (folder / "site" / "breadth.py").write_text(FILES["breadth.py"].replace(old, new))


def test_the_page_followed_literally(folder: Path) -> None:
    (block,) = re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    session = block.split("$ ")[1:]
    assert len(session) == 2
    for text in session:
        command, _, wanted = text.partition("\n")
        done = run(*command.split()[1:], cwd=folder)
        assert done.returncode == 0, done.stderr
        printed = done.stderr + done.stdout
        assert doctest.OutputChecker().check_output(wanted, printed, doctest.ELLIPSIS), f"{command}: {printed}"


def test_help_doctor_and_the_list_know_it(folder: Path, quick_doctor: None) -> None:
    printed = run_process("solve", "--help", cwd=folder).stdout
    assert "graphplan, breadth or program:FILE" in " ".join(printed.split())
    assert "graphplan, breadth: a plan in" in run("doctor", cwd=folder).stdout
    listed = json.loads(run("solve", "lift.pddl", "top.pddl", "--planners", "--format", "json", cwd=folder).stdout)
    answers = {answer["planner"]: answer for answer in listed["planners"]}
    assert [*answers] == [*OWN, "breadth"]
    assert answers["breadth"]["reason"] == ""
    assert answers["graphplan"]["reason"] == "no numbers"
    assert distribution_of("breadth") == "breadth"


@pytest.mark.method("programs")
def test_a_run_records_the_version_of_the_package(folder: Path) -> None:
    options = ("--mode", "plan", "--planner", "breadth", "--seed", "0", "--timeout", "0.02")
    run("play", "ferry", *options, cwd=folder)
    (manifest,) = folder.glob("runs/*/manifest.json")
    assert json.loads(manifest.read_text())["configuration"]["versions"]["breadth"] == "1.0"


def test_a_task_that_needs_a_feature_that_it_lacks_is_not_passed_to_it(folder: Path) -> None:
    changed(
        folder,
        "frozenset(Feature) - {Feature.TIME, Feature.CONSTRAINTS, Feature.OPTIMAL}",
        "frozenset({Feature.PROOFS})",
    )
    result = tools.solve(STRIPS.format("(or (a) (b))"), GO, planner="breadth")
    assert (result.status, result.plan) == ("invalid", None)
    assert result.message.startswith(
        "breadth has no or, imply, exists, forall, as in (or (a) (b)); use the planner auto"
    )
    assert tools.solve(STRIPS.format("(a)"), GO, planner="breadth").plan == ("(go)",)
    assert "use the planner auto, kairos or mimir" in tools.solve(*LIFT, planner="breadth").message


@pytest.mark.parametrize(
    ("proves", "status"), [("", "unsolvable"), (" - {Feature.PROOFS}", "bound")], ids=["proofs", "no proofs"]
)
def test_no_plan_is_a_proof_only_of_a_planner_with_proofs(folder: Path, proves: str, status: str) -> None:
    changed(folder, "Feature.OPTIMAL}", f"Feature.OPTIMAL}}{proves}")
    assert tools.solve(STRIPS.format("(b)"), GO, planner="breadth", why_seconds=0).status == status


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("return [][9]", "breadth failed: package breadth (breadth.py, line 20): IndexError: list index out of range"),
        ("return steps", "breadth returned \"(PlanStep(action='go', args=()),)\", and not a Plan"),
    ],
    ids=["an exception", "no plan"],
)
def test_an_error_of_the_planner_names_it(folder: Path, new: str, reason: str) -> None:
    changed(folder, "return Plan(steps)", new)
    result = tools.solve(STRIPS.format("(a)"), GO, planner="breadth")
    assert (result.status, result.message) == ("crashed", reason)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"""Breadth-first search."""', "1 / 0", "breadth:PLANNER: package breadth (breadth.py, line 1): ZeroDivision"),
        ("PLANNER = PlannerSpec(", "PLANNER = dict(about=", "breadth:PLANNER is \"{'about': "),
    ],
)
def test_a_package_that_cannot_be_loaded_harms_no_other_planner(folder: Path, old: str, new: str, reason: str) -> None:
    changed(folder, old, new)
    with pytest.raises(EngineError) as caught:
        tools.solve(*LIFT, planner="breadth")
    assert caught.value.reason.startswith(reason)
    assert tools.solve(STRIPS.format("(a)"), GO).plan == ("(go)",)
    listed = run("solve", "lift.pddl", "top.pddl", "--planners", cwd=folder)
    assert "breadth: no: The planner breadth cannot be loaded: breadth:PLANNER" in listed.stdout


def test_auto_uses_it_where_the_package_says_so(folder: Path) -> None:
    search = Search.parse("gbf(hff)", "auto")
    assert "breadth" not in [turn.engine for turn in attempts(search, 10)]
    changed(folder, "    limits=", "    in_auto=True,\n    limits=")
    sys.modules.pop("breadth", None)
    turns = attempts(search, 10)
    assert turns[-2].engine == "breadth"
    assert sum(turn.seconds for turn in turns[1:-1]) == pytest.approx(9.7)


def test_an_unknown_planner_is_compared_with_installed_ones(folder: Path) -> None:
    done = run("solve", "lift.pddl", "top.pddl", "--planner", "bredth", cwd=folder)
    assert done.returncode == 2
    assert "Did you mean 'breadth'?" in done.stderr


def test_a_package_replaces_none_of_our_planners(folder: Path) -> None:
    (entries,) = folder.glob("site/*/entry_points.txt")
    entries.write_text("[pddlego.planners]\nmimir = breadth:PLANNER\n")
    forget()
    assert planner_names() == tuple(OWN)


def test_the_value_needs_no_more_than_the_page_says() -> None:
    spec = PlannerSpec("about", "module:solve", frozenset({Feature.COSTS}), {Feature.COSTS: "whole numbers"})
    assert not spec.has_whole(Feature.COSTS)
    assert spec.greedy == ("hff",)
