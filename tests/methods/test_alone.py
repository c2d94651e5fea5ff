"""A method needs no other one: its modules can be imported where the other methods are missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.scale import PATIENCE
from tests.without import METHODS

ALONE = """
import pkgutil, sys
from importlib import import_module
name, *others = sys.argv[1:]
sys.modules.update({f"pddlego.methods.{other}": None for other in others})  # as if they were missing
package = import_module(f"pddlego.methods.{name}")
for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
    import_module(module.name)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in METHODS if name != "textgames"])
def test_a_method_is_imported_without_the_others(name: str) -> None:
    """Not text games: some of their engines are packages that may not be installed."""
    command = [sys.executable, "-c", ALONE, name, *(other for other in METHODS if other != name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
