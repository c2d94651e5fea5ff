"""The figures of the papers on the pages of the documentation: `python -m benchmarks figures [NAME…]`.

Each evaluation is played in a temporary folder, and its figures are written to `docs/figures` as SVG.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pddlego.report.build import build_report
from pddlego.report.plots import draw
from tests.shared import RECORDED

ROOT = Path(__file__).parent.parent
DIALOGUES = RECORDED / "game24" / "conversations.jsonl.gz"
MODELS = ("gpt4-mini", "gpt4", "llama3.1-405b", "llama3.1-70b", "deepseek-coderv2")
FERRY = RECORDED / "ferry"


@dataclass(frozen=True)
class Evaluation:
    """The arguments of `pddlego eval`, and the names of the figures that are kept."""

    arguments: Sequence[str]
    figures: Sequence[str]


EVALUATIONS = {
    "24game": Evaluation(
        (
            *("cards", "--modes", "tos,tos-no-check", "--set", "parity=paper", "--seeds", "0-4"),
            *("--models", ",".join(f"transcript:{DIALOGUES},model={name}" for name in MODELS)),
            *("--set", "curve=true", "--set", "instances=100", "--set", "eval_timeout=20"),
        ),
        ("accuracy-by-point", "feedback-by-phase", "errors-by-category"),
    ),
    "ferry": Evaluation(
        (
            *("ferry", "--modes", "program,program-no-cot", "--seeds", "0-9", "--tasks", str(FERRY / "tasks.tar.gz")),
            *("--models", f"transcript:{FERRY / 'conversations.jsonl.gz'},model=gpt-4"),
            *("--set", "curve=true", "--set", "hurry=true"),
        ),
        ("run-time", "debug-rounds"),
    ),
    "logistics": Evaluation(
        ("logistics", "--modes", "graphplan", "--ablate", "prune", "--models", "relaxed", "--seeds", "0-9"),
        ("actions-by-level",),
    ),
    "gallery": Evaluation(
        (
            *("coin", "twc", "--modes", "gen,edit", "--models", "reader+noise:0.3", "--seeds", "0-19"),
            *("--retries", "0"),
        ),
        ("success", "coin-steps"),
    ),
    "learned": Evaluation(
        (
            *("coin", "cooking-easy", "twc", "--modes", "learn,edit", "--models", "reader,reader+noise:0.3"),
            *("--seeds", "200-219", "--carry"),
        ),
        ("requests-by-episode",),
    ),
    "paper-coin": Evaluation(
        (
            *("paper-coin", "--modes", "act,edit", "--models", "reader+noise:0.3"),
            *("--seeds", "dev", "--repeats", "5"),
        ),
        ("paper-coin-steps", "input-length"),
    ),
}


def main(names: Sequence[str] = ()) -> None:
    """Play the evaluations of these names, or all, and write their figures."""
    if unknown := [name for name in names if name not in EVALUATIONS]:
        sys.exit(f"Unknown evaluation {', '.join(unknown)}; the evaluations are: {', '.join(EVALUATIONS)}")
    target = ROOT / "docs" / "figures"
    target.mkdir(exist_ok=True)
    for name in names or EVALUATIONS:
        wanted = EVALUATIONS[name]
        with tempfile.TemporaryDirectory() as folder:
            _make_cards(Path(folder))
            workers = () if "--carry" in wanted.arguments else ("--workers", "2")
            command = [sys.executable, "-m", "pddlego", "eval", *wanted.arguments, "--run", "figures", *workers]
            subprocess.run(command, cwd=folder, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
            report = build_report([Path(folder) / "runs" / "figures"])
            plots = {plot.name: plot for plot in draw(report, set())}
            for figure in wanted.figures:
                path = target / f"{name}-{figure.removeprefix(f'{name}-')}.svg"
                svg = plots[figure].svg().replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
                svg = svg.replace("<svg ", '<svg xmlns:xlink="http://www.w3.org/1999/xlink" ', 1)
                path.write_text(svg, encoding="utf-8")
                print(path.relative_to(ROOT))


def _make_cards(folder: Path) -> None:
    """The setting `cards` of docs/search.md: the authors' lists of the 24 Game."""
    files = {
        "goals": "24game_goals.jsonl",
        "non_goals": "24game_non_goals.jsonl",
        "successors": "24game_successors.jsonl",
        "soundness": "unittests.csv",
        "instances": "model_test.csv",
    }
    lines = [f'{kind} = "{RECORDED / "game24" / name}"' for kind, name in files.items()]
    (folder / "envs").mkdir()
    text = "\n".join(['extends = "24game"', 'space = "24game"', "[files]", *lines])
    (folder / "envs" / "cards.toml").write_text(text + "\n", encoding="utf-8")
