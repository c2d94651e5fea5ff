"""What commands import: `--help` loads the declaration of options only, and a report loads no engine.

Modules are counted, not seconds, so that the result does not depend on the machine.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import run
from tests.cli.test_check_and_solve import FERRY, TASK
from tests.scale import PATIENCE

_SLOW = {"asyncio", "fast_downward", "httpx2", "jinja2", "matplotlib", "mcp", "numpy", "openai", "prompt_toolkit"}
_SLOW |= {"kairos", "py4j", "pymimir", "pyperplan", "ray", "scipy", "tenacity", "textual", "textworld_express"}
"""Packages that are slow to load."""

_WORK = {"api.results", "api.training", "display", "episode", "models.limiter", "models.openai", "pddl", "planning"}
_WORK |= {"report", "sandbox", "tasks", "tools.results"}
"""Packages of ours that no option needs."""

_FAST = (
    "play",
    "eval",
    "config",
    "report",
    "runs",
    "watch",
    "view",
    "show",
    "resume",
    "check",
    "repair",
    "compare",
    "solve",
)
"""Commands whose help loads what declares their options, and nothing else."""


def loaded_by(*arguments: str, folder: Path | None = None) -> set[str]:
    """The modules that are loaded when a command has ended."""
    script = (
        "import sys\n"
        "from pddlego.cli import main\n"
        "try: main()\n"
        "except SystemExit as ended: code = ended.code\n"
        "print('\\n@', *sys.modules)\n"
        "sys.exit(code)"
    )
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE, cwd=folder)
    return set(done.stdout.rpartition("\n@")[2].split())


@pytest.mark.parametrize("name", _FAST)
def test_help_loads_what_declares_the_options(name: str) -> None:
    assert not loaded_by(name, "--help") & {"rich", *_SLOW, *(f"pddlego.{package}" for package in _WORK)}


def test_the_list_of_commands_loads_none_of_them() -> None:
    loaded = loaded_by("--help")
    assert "pydantic" not in loaded
    commands = {module for module in loaded if module.startswith("pddlego.cli.")}
    assert commands == {f"pddlego.cli.{name}" for name in ("commands", "exits", "parts", "retired")}


def test_the_list_of_games_loads_no_setting(tmp_path: Path) -> None:
    assert not loaded_by("games", folder=tmp_path) & {*_SLOW, "pddlego.pddl", "pddlego.planning", "pddlego.sandbox"}


def test_check_loads_no_engine_and_no_repair(tmp_path: Path) -> None:
    (tmp_path / "task.pddl").write_text(TASK)
    loaded = loaded_by("check", str(FERRY), "task.pddl", folder=tmp_path)
    ours = {"pddl.edit", "pddl.tolerant", "planning.compare", "planning.engines", "planning.plan_text"}
    assert "pddlego.pddl.check" in loaded
    assert not loaded & {*_SLOW, *(f"pddlego.{module}" for module in ours)}


def test_a_planning_process_loads_no_edits() -> None:
    script = "import sys, pddlego.planning.worker as worker; worker._preload('auto'); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert not set(done.stdout.split()) & {"pddlego.pddl.edit", "pydantic", "typer"}


def test_a_report_loads_no_engine(tmp_path: Path) -> None:
    played = run("play", "coin", "--seed", "1", cwd=tmp_path)
    assert played.returncode == 0, played.stdout + played.stderr
    assert not loaded_by("report", "latest", folder=tmp_path) & (_SLOW - {"asyncio", "jinja2", "numpy"})
