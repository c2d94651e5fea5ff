"""The same command gives the same journals, whatever the hash seed of the process is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.scale import PATIENCE, scaled

pytestmark = pytest.mark.slow

CELLS = ("coin", scaled("cooking-easy", in_ci="cooking-hard"), "--modes", "edit,gen")
SEED = "12"
MODEL = "reader+noise:0.3,seed=2"


def journals(tmp_path: Path, hash_seed: int) -> dict[str, list[Any]]:
    """Every event of every episode, without times."""
    name = f"hash-{hash_seed}"
    chosen = ("--seeds", SEED, "--models", MODEL)
    command = [sys.executable, "-m", "pddlego", "eval", *CELLS, *chosen, "--run", name]
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=PATIENCE)
    result = sorted((tmp_path / "runs" / name / "episodes").glob("*.jsonl"))
    return {item.name: [_timeless(json.loads(line)["event"]) for line in item.open()] for item in result}


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if not key.endswith("seconds")}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def test_the_hash_seed_changes_nothing(tmp_path: Path) -> None:
    first, other = (journals(tmp_path, seed) for seed in (0, 4))
    assert len(first) == 4
    assert other == first
