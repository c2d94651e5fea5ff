"""Where a part of pddlego was removed, its command ends in three lines, and other commands work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pddlego
from tests.lamps import DOMAIN
from tests.scale import PATIENCE

PACKAGE = Path(pddlego.__file__).parent


@pytest.mark.parametrize(
    ("part", "command"),
    [
        ("tools/audit", ["audit", "pairs.jsonl"]),
        ("tools/editor", ["lsp"]),
        ("tools/mcp", ["mcp"]),
        pytest.param("methods/builders", ["build"], marks=pytest.mark.method("builders")),
    ],
)
def test_the_command_of_a_removed_part_ends_in_three_lines(part: str, command: list[str], tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "pddlego")
    shutil.rmtree(tmp_path / "pddlego" / part)
    (tmp_path / "domain.pddl").write_text(DOMAIN)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-m", "pddlego", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(program, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=PATIENCE)

    refused = run(*command)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 3, refused.stderr
    assert f"pddlego.{part.replace('/', '.')} is not installed" in refused.stderr
    assert f"  {command[0]} " not in run("--help").stdout
    assert run("check", "domain.pddl").returncode == 0
