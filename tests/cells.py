"""Plays a fixed set of cells and writes down what came of each: `python -m tests.cells [FILE]`.

Every method and mode, with the built-in model and with its simulated errors. Nothing in the result depends on the
machine or on how events are stored, so a change of the code's structure must not change a line.
`tests/data/cells.tsv` holds the lines of the current code; `tests/test_cells.py` compares.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pddlego
from tests.scale import PATIENCE

DATA = Path(__file__).parent / "data" / "cells.tsv"

GAMES = ("coin", "cooking-easy", "cooking-hard", "mapreader", "twc", "paper-coin", "paper-cooking-easy")
ABLATIONS = ("feedback", "tolerance", "replanning", "remedies", "ladder", "prompts")
NOISY = "reader+noise:0.2,seed=1"
FULL = ("full", "full-edit", "full+steps", "full-no-schemas")
PROBLEMS = ("24game", "blocksworld", "deduction")
GRAPHPLAN = ("graphplan", "graphplan-no-prune", "graphplan-no-sort")
TASKS = ("delivery", "forest", "gripper", "miconic", "ferry", "spanner")
BUILDS = ("build", "build+whole", "build+by-action", "build-problem")
TEXTS = ("text-blocks", "text-logistics", "text-gripper", "text-ferry", "text-coin")


@dataclass(frozen=True)
class Part:
    """Cells of one call of `pddlego.evaluate`."""

    name: str
    games: tuple[str, ...]
    modes: tuple[str, ...]
    seeds: str
    models: tuple[str, ...] = ("reader",)
    options: dict[str, Any] = field(default_factory=dict)


PYPERPLAN = {"planner": "pyperplan"}
"""The default of some modes is `auto`, and which engine of that finds a plan may depend on the machine."""

PARTS = (
    Part("games", GAMES, ("edit", "gen"), "0-3", ("reader", NOISY)),
    Part("commands", ("coin", "cooking-easy"), ("act", "random"), "0-3"),
    Part("ablations", ("coin",), tuple(f"edit-no-{part}" for part in ABLATIONS), "0-2", (NOISY,)),
    Part("domain", ("coin",), ("edit-no-domain", "gen-no-domain"), "0-2"),
    Part("learn", ("coin", "cooking-easy", "twc"), ("learn", "learn-no-opinions"), "0-1", ("reader", NOISY)),
    Part("full", ("coin", "cooking-easy"), FULL, "0-2", ("reader", NOISY)),
    Part("heuristics", ("delivery", "spanner", "miconic"), ("heuristic", "heuristic-direct"), "0"),
    Part("programs", TASKS, ("program", "program-no-cot", "random"), "0-1", options={"set": ("horizon=50",)}),
    Part("planner", ("movie",), ("plan",), "0-1", options=PYPERPLAN),
    Part(
        "search",
        ("24game", "blocksworld", "deduction"),
        ("tos", "tos-no-check"),
        "0",
        options={"set": ("instances=5",)},
    ),
    Part("domains", ("gripper", "ferry"), ("tos",), "0-1"),
    Part("graphplan", ("logistics", "movie"), GRAPHPLAN, "0-4", options={"set": ("bound=none",)}),
    Part("plans", ("logistics", "gripper"), ("plan-by-model", "plan-by-model-no-feedback"), "0-2", ("reader", NOISY)),
    Part(
        "builders",
        TEXTS,
        BUILDS,
        "0",
        ("reader", NOISY),
        PYPERPLAN,
    ),
)

KEPT = ("command", "plan", "steps", "actions", "kind", "length", "solved", "total", "code", "valid")
"""Keys of events that say what was planned and done, and with what result."""

HEAD = ("part", "game", "mode", "model", "seed", "outcome", "score", "steps", "calls", "characters", "tokens", "plans")


def play(parts: Iterable[Part] = PARTS) -> Iterator[tuple[str, ...]]:
    """Play all cells. A row for each, sorted within its part."""
    with tempfile.TemporaryDirectory(prefix="pddlego-cells-") as folder:
        for number, part in enumerate(parts):
            run = Path(folder) / str(number)
            options = {"workers": os.cpu_count() or 1, "seeds": part.seeds, **part.options}
            pddlego.evaluate(part.games, run, modes=part.modes, models=part.models, **options).wait(PATIENCE)
            yield from sorted((part.name, *row(journal)) for journal in (run / "episodes").iterdir())


def row(journal: Path) -> tuple[str, ...]:
    """What an episode's journal says, without times."""
    events = [json.loads(line)["event"] for line in journal.read_text(encoding="utf-8").splitlines()]
    started, ended = events[0], events[-1]
    usage = ended["usage"]
    model = started["model"].rpartition("/")[2]
    plans = [[event["type"], {key: event[key] for key in KEPT if key in event}] for event in events]
    digest = hashlib.sha256(json.dumps([plan for plan in plans if plan[1]]).encode()).hexdigest()[:12]
    tokens = usage["tokens_in"] + usage["tokens_out"]
    numbers = (ended["score"], usage["steps"], usage["calls"], usage["characters"], tokens)
    names = (started["setting"], started["mode"], model, started["seed"], ended["outcome"])
    return (*map(str, (*names, *numbers)), digest)


def written(rows: Iterable[Sequence[str]]) -> str:
    """The rows as text, with a line of names above them."""
    return "".join("\t".join(cells) + "\n" for cells in (HEAD, *rows))


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else DATA).write_text(written(play()), encoding="utf-8")
