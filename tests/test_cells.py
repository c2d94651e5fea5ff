"""What every method achieves in the built-in model's hands is what it achieved before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pddlego.methods.base import base_mode
from pddlego.methods.registry import modes
from pddlego.methods.setting_files import setting_names
from tests.cells import DATA, HEAD, PARTS, Part, play, written
from tests.scale import scaled

SEED = HEAD.index("seed")


def is_playable(part: Part) -> bool:
    """Whether the methods of a part are here."""
    return {*map(base_mode, part.modes)} <= {mode.name for mode in modes()} and {*part.games} <= {*setting_names()}


def half(part: Part) -> range:
    """The first half of the seeds of a part, so that CI ends in time. `python -m tests.cells` plays all of them."""
    seeds = [int(seed) for seed in part.seeds.split("-")]
    return range(seeds[0], (seeds[0] + seeds[-1]) // 2 + 1)


@pytest.mark.parametrize("part", [*filter(is_playable, scaled([PARTS[1]], in_ci=PARTS))], ids=lambda part: part.name)
def test_cells_are_as_they_were(part: Part) -> None:
    head, *rows = DATA.read_text(encoding="utf-8").splitlines(keepends=True)
    seeds = half(part)
    expected = [row for row in rows if row.split("\t")[0] == part.name and int(row.split("\t")[SEED]) in seeds]
    assert expected
    some = replace(part, seeds=f"{seeds.start}-{seeds[-1]}")
    assert written(play([some])) == "".join((head, *expected))


def test_there_are_cells_of_everything() -> None:
    rows = DATA.read_text(encoding="utf-8").splitlines()[1:]
    assert {row.split("\t")[0] for row in rows} == {part.name for part in PARTS}
    assert len(rows) >= 280
