"""A file is a text, a path or a value; what is none of them, or has errors, is explained."""

from __future__ import annotations

from pathlib import Path

import pytest

import pddlego
from pddlego import tools
from pddlego.errors import UsageError
from pddlego.pddl import parse_domain, parse_problem
from pddlego.planning import Plan, PlanStep
from tests.lamps import DOMAIN, PLAN, PROBLEM
from tests.tools.walk import WALK, WALK_TASK


def test_a_file_is_a_text_a_path_or_a_value(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(DOMAIN)
    (tmp_path / "p.pddl").write_text(PROBLEM)
    plan = Plan(tuple(map(PlanStep.read, PLAN.splitlines())))
    for domain in (DOMAIN, tmp_path / "d.pddl", str(tmp_path / "d.pddl"), parse_domain(DOMAIN)):
        for problem in (PROBLEM, tmp_path / "p.pddl", parse_problem(PROBLEM)):
            assert pddlego.check(domain, problem, plan) == tools.CheckResult(True, (), 3)
            assert pddlego.validate(domain, problem, PLAN) == tools.ValidationResult(True, 3)
            assert pddlego.compare(domain, problem, PROBLEM).verdict == "same"
    with pytest.raises(UsageError, match="cannot be read"):
        pddlego.check(tmp_path / "nowhere.pddl")


NO_PDDL = ["I cannot do that", "I cannot do that.\n", "", "/etc", "a" * 5000, "?", "sorry\r\n"]


@pytest.mark.parametrize("text", NO_PDDL)
def test_a_text_without_pddl_is_not_a_path(text: str) -> None:
    assert not tools.check(text).ok
    assert not tools.check(DOMAIN, text).ok
    for result in (tools.repair(text), tools.repair(text, DOMAIN), *tools.repair_files(text, text)):
        assert (result.ok, result.text, result.repairs) == (False, text, ())
        assert result.findings


@pytest.mark.parametrize("name", ["depot.pdl", "my tasks/depot.txt"])
def test_a_name_that_is_read_as_a_text_is_explained(name: str) -> None:
    for files in ((name, PROBLEM), (DOMAIN, name)):
        with pytest.raises(UsageError, match=f"'{name}' was read as PDDL text"):
            tools.solve(*files)
    with pytest.raises(UsageError, match=r"no \(define"):
        tools.solve(f"{name}\n(", PROBLEM)


def test_the_name_of_a_file_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamps").write_text(DOMAIN)
    assert tools.check("lamps").ok
    for missing in ("x.pddl", "nowhere/X.PDDL", Path("x")):
        with pytest.raises(UsageError, match="cannot be read"):
            tools.check(missing)
        with pytest.raises(UsageError, match="cannot be read"):
            tools.repair(missing)


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_lines_end_as_on_any_system(end: str, tmp_path: Path) -> None:
    broken = PROBLEM.replace("(at hall)", "; \u00fcber\n(at hal)")
    line = broken[: broken.index("(at hal)")].count("\n") + 1
    text = broken.replace("\n", end)
    (tmp_path / "p.pddl").write_bytes(text.encode("latin-1"))
    for file in (text, tmp_path / "p.pddl"):
        (finding,) = tools.check(DOMAIN, file).findings
        assert (finding.line, finding.column) == (line, 5)
        assert finding.source.startswith("(at hal)")
    repaired = tools.repair(text.replace("hal)", "hall)")[:-1], DOMAIN)
    assert repaired.text == text.replace("hal)", "hall)")


def test_other_values_are_refused_by_their_type() -> None:
    for value in (None, 5, b"(define"):
        with pytest.raises(UsageError, match="not a text, a path or a value"):
            pddlego.check(value)  # type: ignore[arg-type]
    assert pddlego.validate(DOMAIN, PROBLEM, pddlego.solve(DOMAIN, PROBLEM).plan or ()).valid


def test_a_plan_is_a_path_if_the_file_exists_or_the_name_has_a_suffix(tmp_path: Path) -> None:
    (tmp_path / "sas_plan").write_text("(go x y)\n(go y z)\n(rest)\n")
    for path in (tmp_path / "sas_plan", str(tmp_path / "sas_plan")):
        assert pddlego.validate(WALK, WALK_TASK, path).valid
    for missing in ("nowhere.plan", tmp_path / "nowhere"):
        with pytest.raises(UsageError, match="cannot be read"):
            pddlego.validate(WALK, WALK_TASK, missing)
    assert pddlego.validate(WALK, WALK_TASK.replace("(at z) ", ""), "rest").valid


def test_the_advice_for_a_file_with_errors_names_the_files(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("the domain.pddl", "p.pddl", "x.plan")]
    for name, text in zip(names, (DOMAIN, PROBLEM.replace("(at hall)", "(at hal)"), "go to ("), strict=True):
        Path(name).write_text(text)
    with pytest.raises(UsageError) as caught:
        tools.solve(names[0], names[1])
    assert caught.value.next_step == f"See: pddlego check '{names[0]}' {names[1]}."
    with pytest.raises(UsageError) as caught:
        tools.compare(DOMAIN, names[1], PROBLEM)
    assert caught.value.next_step == f"See: pddlego check DOMAIN {names[1]}."
    with pytest.raises(UsageError) as caught:
        tools.simulate(names[0], PROBLEM, names[2])
    assert caught.value.next_step == f"See: pddlego check '{names[0]}' PROBLEM --plan {names[2]}."
