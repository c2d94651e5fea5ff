"""What a shell completes, and the configuration file that can be filled in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pddlego.evaluation.config import groups, resolve
from pddlego.util.files import parse_toml
from tests.cli.command import run
from tests.scale import PATIENCE


def completed(words: str, folder: Path) -> list[str]:
    """What bash would offer for the last word."""
    environment = {**os.environ, "_PDDLEGO_COMPLETE": "complete_bash", "COMP_WORDS": words}
    environment |= {"COMP_CWORD": str(len(words.split(" ")) - 1)}
    program = str(Path(sys.executable).parent / "pddlego")
    done = subprocess.run(
        [program],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("pddlego pl", ["play"]),
        ("pddlego play cooking-h", ["cooking-hard"]),
        ("pddlego play coin --mode ed", ["edit", "edit+learn-actions"]),
        ("pddlego eval coin --modes edit,ge", ["edit,gen"]),
        ("pddlego play coin --model read", ["reader", "reader+noise:0.1"]),
        ("pddlego show lat", ["latest"]),
    ],
)
def test_values_are_completed(words: str, values: list[str], tmp_path: Path) -> None:
    assert completed(words, tmp_path) == values


def test_runs_and_their_models_are_completed(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "night"
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text('{"asked": [{"models": ["gpt-4o-mini"]}]}', encoding="utf-8")
    assert completed("pddlego show ni", tmp_path) == ["night"]
    assert completed("pddlego play coin --model gp", tmp_path) == ["gpt-4o-mini"]


def test_the_template_holds_every_option_with_its_default(tmp_path: Path) -> None:
    template = run("config", "--format", "toml", cwd=tmp_path).stdout
    assert set(parse_toml(template)) == set(groups())
    filled = re.sub(r"^# (\w+ = )", r"\1", template, flags=re.MULTILINE)
    path = tmp_path / "all.toml"
    path.write_text(filled, encoding="utf-8")
    assert resolve({}, {}, path).config == resolve({}, {}).config
