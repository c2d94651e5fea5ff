"""What planning is worth as worlds grow: houses of TextWorld, played by the built-in reader in three modes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

import pddlego
from benchmarks.table import show

ROOMS = (10, 20, 40, 80, 160)
MODES = ("edit", "gen", "act")
SEEDS = "10-14"
FIGURE = Path("docs/scale.svg")

MEASURED = {"steps": "commands", "calls": "requests", "characters": "characters sent", "seconds": "seconds"}


@dataclass(frozen=True)
class Size:
    """The means of some episodes in houses of one size."""

    rooms: int
    mode: str
    won: str
    means: dict[str, float]


def measured(rooms: int, mode: str, folder: Path) -> Size:
    """Play the seeds in one mode. Half of the rooms lie on the way to the coin."""
    evaluation = pddlego.evaluate(
        "textworld-coin",
        folder / f"{mode}-{rooms}",
        modes=mode,
        seeds=SEEDS,
        workers=1,
        max_steps=5 * rooms,
        set={"rooms": rooms, "distance": min(100, rooms // 2)},
    )
    rows = list(evaluation.wait().rows())
    won = [row for row in rows if row["outcome"] == "won"]
    means = {name: sum(float(row[name]) for row in rows) / len(rows) for name in MEASURED}
    return Size(rooms, mode, f"{len(won)}/{len(rows)}", means)


def draw(sizes: Sequence[Size], path: Path) -> None:
    """A small picture for each measure, with both axes logarithmic."""
    figure = Figure(figsize=(9.5, 2.8), layout="constrained")
    for axes, (name, label) in zip(figure.subplots(1, len(MEASURED)), MEASURED.items(), strict=True):
        for mode, marker in zip(MODES, "os^", strict=True):
            points = [(size.rooms, size.means[name]) for size in sizes if size.mode == mode]
            axes.plot(*zip(*points, strict=True), marker=marker, label=mode)
        axes.set(xscale="log", yscale="log", xlabel="rooms", title=label, xticks=ROOMS, xticklabels=ROOMS)
        axes.minorticks_off()
    figure.axes[0].legend()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Print the table, and draw the figure."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = [measured(rooms, mode, Path(folder)) for rooms in ROOMS for mode in MODES]
    head = ["rooms", "mode", "won", *MEASURED.values()]
    rows = [
        [str(size.rooms), size.mode, size.won, *(f"{size.means[name]:,.1f}" for name in MEASURED)] for size in sizes
    ]
    show("Coin Collector of TextWorld by number of rooms, means of five seeds", head, rows)
    draw(sizes, FIGURE)
