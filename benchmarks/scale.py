"""What planning is worth as worlds grow: houses of TextWorld, played by the built-in reader in three modes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import pddlego
from benchmarks.table import show
from pddlego.methods.textgames.events import Planned

ROOMS = (10, 20, 40, 80, 160)
MODES = ("edit", "gen", "act")
SEEDS = range(10, 15)
FIGURE = Path("docs/scale.svg")

MEASURED = {"steps": "commands", "calls": "requests", "characters": "characters sent", "seconds": "seconds"}


@dataclass(frozen=True)
class Size:
    """The means of some episodes in houses of one size."""

    rooms: int
    mode: str
    won: str
    means: dict[str, float]
    planning: float
    """Milliseconds per plan; 0 in a mode without plans."""


def measured(rooms: int, mode: str, folder: Path) -> Size:
    """Play the seeds in one mode. Half of the rooms lie on the way to the coin."""
    options: dict[str, Any] = {"max_steps": 5 * rooms, "set": {"rooms": rooms, "distance": rooms // 2}}
    for seed in SEEDS:  # makes the games, so that they are not made while an episode is timed
        pddlego.play("textworld-coin", "random", seed, **{**options, "max_steps": 1})
    evaluation = pddlego.evaluate(
        "textworld-coin",
        folder / f"{mode}-{rooms}",
        modes="act-no-sequences" if mode == "act" else mode,  # one command for each request, as in the paper
        seeds=SEEDS,
        workers=1,
        **options,
    )
    rows = list(evaluation.wait().rows())
    won = [row for row in rows if row["outcome"] == "won"]
    means = {name: sum(float(row[name]) for row in rows) / len(rows) for name in MEASURED}
    plans = [
        sum(rung.seconds for rung in event.tried)
        for episode in evaluation.episodes
        for event in episode.events
        if isinstance(event, Planned)
    ]
    return Size(rooms, mode, f"{len(won)}/{len(rows)}", means, 1000 * sum(plans) / len(plans) if plans else 0.0)


def draw(sizes: Sequence[Size], path: Path) -> None:
    """A small picture for each measure, with both axes logarithmic."""
    figure = Figure(figsize=(9.5, 2.8), layout="constrained")
    for axes, (name, label) in zip(figure.subplots(1, len(MEASURED)), MEASURED.items(), strict=True):
        for mode, (style, size_of_marker) in zip(MODES, (("o-", 9), ("s--", 5), ("^:", 5)), strict=True):
            points = [(size.rooms, size.means[name]) for size in sizes if size.mode == mode]
            axes.plot(*zip(*points, strict=True), style, markersize=size_of_marker, label=mode)
        axes.set(xscale="log", yscale="log", xlabel="rooms", title=label, xticks=ROOMS, xticklabels=ROOMS)
        axes.minorticks_off()
    figure.axes[0].legend()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Print the table, and draw the figure."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = [measured(rooms, mode, Path(folder)) for rooms in ROOMS for mode in MODES]
    head = ["rooms", "mode", "won", *MEASURED.values(), "ms per plan"]
    rows = [
        [
            *(str(size.rooms), size.mode, size.won),
            *(f"{size.means[name]:,.1f}" for name in MEASURED),
            f"{size.planning:.1f}" if size.planning else "",
        ]
        for size in sizes
    ]
    show("Coin Collector of TextWorld by number of rooms, means of five seeds", head, rows)
    draw(sizes, FIGURE)
