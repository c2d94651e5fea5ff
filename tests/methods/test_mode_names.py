"""The names of modes and variants: how many there are, and what becomes of old ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import pddlego
from pddlego.errors import UsageError
from pddlego.methods.base import base_mode
from pddlego.methods.old_modes import REMOVED, RENAMED
from pddlego.methods.registry import ablated, chosen_mode, methods, modes, parse_mode
from tests.cli.command import run_at_once

MOST_ROWS, MOST_VARIANTS = 20, 150


def test_modes_and_variants_are_few_enough_to_read(tmp_path: Path) -> None:
    """`pytest -s` prints the counts; `pddlego games --modes` lists the names."""
    variants = {name: "" for method in methods() for mode in method.modes for name in mode.variants}
    code, listed = run_at_once("games", "--modes", cwd=tmp_path, COLUMNS="400")
    names, parts = (block.splitlines()[1:] for block in listed.strip().split("\n\n"))
    sys.stdout.write(f"{len(names)} modes (at most {MOST_ROWS}), {len(variants)} variants (at most {MOST_VARIANTS})\n")
    assert code == 0
    assert len(names) <= MOST_ROWS
    assert len(variants) <= MOST_VARIANTS
    suffixes = {row.split()[0]: row.split()[1:] for row in parts}
    assert {name + part for name, found in suffixes.items() for part in ("", *found)} | {
        row.split()[0] for row in names
    } == {*variants}, "every variant is in the list, and nothing else"
    assert all(str(chosen_mode(name)) == name for name in variants)


@pytest.mark.method("textgames")
@pytest.mark.parametrize(
    ("typed", "now"),
    [
        *RENAMED.items(),
        ("act-cot-no-check", "act+cot-no-check"),
        ("full-own-goals", "full"),
        ("full-own-goals-no-schemas", "full"),
    ],
)
def test_an_old_name_is_refused_with_the_name_of_today(tmp_path: Path, typed: str, now: str) -> None:
    if base_mode(now) not in {mode.name for mode in modes()}:
        pytest.skip("the method of the mode is not here")
    for command in (("play", "coin", "--mode", typed), ("eval", "coin", "--modes", typed, "--seeds", "0")):
        code, printed = run_at_once(*command, cwd=tmp_path)
        assert code == 2
        (line,) = printed.splitlines()
        assert f"'{now}'" in line


@pytest.mark.method("textgames")
def test_parts_are_removed_alone_or_in_groups() -> None:
    assert str(chosen_mode("edit-no-tolerance-no-feedback")) == "edit-no-feedback-no-tolerance"
    with pytest.raises(UsageError, match="Unknown mode"):
        chosen_mode("edit-no-look-no-ladder")
    assert parse_mode("edit-no-look-no-ladder").without == ("ladder", "look"), "runs may have it"
    assert ablated(("edit", "full"), ("hint+detailed-goal",))[-1] == "full-no-detailed-goal-no-hint"
    with pytest.raises(UsageError, match="Unknown mode 'edit-no-ladder-no-look'"):
        ablated(("random", "edit", "act"), ("look+ladder",))


def aged(run: Path, new: str, old: str) -> Path:
    """The files of the run as if it had been played when the mode `new` had the name `old`."""
    for path in [path for path in run.rglob("*") if path.suffix in (".json", ".jsonl", ".csv", ".toml")]:
        text = path.read_text(encoding="utf-8").replace(f'"{new}"', f'"{old}"').replace(f",{new},", f",{old},")
        path.write_text(text, encoding="utf-8")
        path.rename(path.with_name(path.name.replace(f"-{new}-", f"-{old}-")))
    return run


@pytest.mark.method("textgames")
@pytest.mark.parametrize(
    ("old", "new"), [("full-steps", "full+steps"), ("act-cot", "act+cot"), ("full-own-goals", "full")]
)
def test_old_runs_are_read(tmp_path: Path, old: str, new: str) -> None:
    pddlego.evaluate("coin", tmp_path / "runs" / "old", modes=new, models="reader", seeds="12").wait(60)
    aged(tmp_path / "runs" / "old", new, old)
    code, printed = run_at_once("report", "old", cwd=tmp_path)
    assert (code, old in printed, "is gone" in printed) == (0, True, False)
    code, printed = run_at_once("show", "old", cwd=tmp_path)
    assert (code, "won after 21 steps" in printed) == (0, True)
    code, printed = run_at_once("replay", "old", cwd=tmp_path)
    assert (code, "identical" in printed, f"Mode {old} was removed" in printed) == (
        (2, False, True) if old in REMOVED else (0, True, False)
    )
