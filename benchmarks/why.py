"""The picture of the browser at a lost episode in the README: `python -m benchmarks why`."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pddlego.cli.browsing import sources
from pddlego.display.browser.app import at_episodes
from pddlego.display.console import Console
from pddlego.runs.folders import EpisodeFilter, find_journals

ROOT = Path(__file__).parent.parent
EVAL = ("coin", "--modes", "edit-no-feedback", "--models", "reader+noise:0.5,kinds=missing-reverse")


def main(arguments: Sequence[str] = ()) -> None:
    """Play a run in a temporary folder, open a lost episode, and write the screen to docs/why.svg."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pddlego", "eval", *EVAL, "--seeds", "10-19", "--retries", "0", "--run", "why"]
        subprocess.run(command, cwd=folder, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        (journal,) = find_journals(Path(folder) / "runs" / "why", EpisodeFilter(seed=12))
        app = at_episodes([journal], sources(Console()))

        async def draw() -> str:
            async with app.run_test(size=(120, 30)) as pilot:
                for _ in range(100):
                    await pilot.pause(0.1)
                    if "cause:&#160;missing" in app.export_screenshot():
                        break
                return app.export_screenshot(title="pddlego show why --lost")

        (ROOT / "docs" / "why.svg").write_text(asyncio.run(draw()), encoding="utf-8")
