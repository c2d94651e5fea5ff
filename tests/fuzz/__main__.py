"""Fuzzes every reader of text for so many seconds: `python -m tests.fuzz --seconds 60 --seed 1`."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from pddlego.methods.textgames.loading import load
from pddlego.planning import ProcessPlanner
from tests.fuzz.targets import Bench, fuzz, targets

ROUND = 200
"""Cases of one target before the next has its turn."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    known = tuple(load(name) for name in ("coin", "cooking-hard", "twc"))
    counts: Counter[str] = Counter()
    end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory() as folder, ProcessPlanner("pyperplan", 2.0, 1024) as planner:
        os.chdir(folder)
        bench = Bench(Path(folder), planner, known)
        turns = ((number, target) for number in itertools.count(arguments.seed) for target in targets())
        while time.monotonic() < end:
            number, target = next(turns)
            counts[target.name] += fuzz(target, bench, number, ROUND)
        os.chdir("/")
    text = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    sys.stdout.write(f"{text}: nothing but typed errors (seeds from {arguments.seed})\n")


if __name__ == "__main__":
    main()
