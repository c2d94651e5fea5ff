"""The `openenv` taskset of verifiers, unmodified, against `pddlego serve`: an expert wins eight episodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scale import PATIENCE
from tests.trainers.expert_endpoint import expert_endpoint
from tests.trainers.serving import served

pytestmark = [pytest.mark.beside("verifiers"), pytest.mark.slow]

CONFIG = """
model = "expert"
push = false
[client]
base_url = "{endpoint}"
api_key_var = "EXPERT_KEY"
[env.taskset]
id = "openenv"
base_url = "{server}"
resets = [{resets}]
[env.player.harness]
id = "null"
[env.player.runtime]
type = "subprocess"
"""


@pytest.mark.parametrize("mode", ["act", "edit"])
def test_eight_episodes(mode: str, tmp_path: Path) -> None:
    seeds = range(60, 68)
    with expert_endpoint("coin", mode, seeds) as endpoint, served("coin", "--mode", mode) as server:
        resets = ", ".join(f"{{seed = {seed}}}" for seed in seeds)
        (tmp_path / "eval.toml").write_text(CONFIG.format(endpoint=endpoint, server=server.url, resets=resets))
        command = [str(Path(sys.executable).with_name("vf-eval")), "@", "eval.toml"]
        environment = os.environ | {"EXPERT_KEY": "none"}
        subprocess.run(command, cwd=tmp_path, env=environment, timeout=4 * PATIENCE, check=True, capture_output=True)
    (traces,) = tmp_path.rglob("traces.jsonl")
    played = [trace for line in traces.read_text().splitlines() for trace in json.loads(line)["traces"]]
    rewards = [trace["rewards"]["openenv_reward"]["score"] for trace in played]
    assert rewards == [pytest.approx(1.0)] * 8
