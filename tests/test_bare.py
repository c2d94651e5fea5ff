"""Where no other package is installed, the functions for PDDL work, and the command says what is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.scale import PATIENCE

ROOT = Path(__file__).parent.parent


def bare(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python without the folders of installed packages."""
    return subprocess.run([sys.executable, "-I", "-S", *arguments], capture_output=True, text=True, timeout=PATIENCE)


def test_the_functions_for_pddl_need_the_standard_library_only() -> None:
    done = bare("-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.bare import main; main()")
    assert done.returncode == 0, done.stderr


def test_the_command_names_the_missing_package_in_three_lines() -> None:
    done = bare("-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); from pddlego.cli import main; main()")
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 3, done.stderr
    assert "needs the package typer" in done.stderr and "pip install" in done.stderr
